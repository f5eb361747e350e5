"""A server on loopback that speaks as much of the Gemini and OpenAI interfaces as judges use.

As a module it runs alone, for the benchmark: ``python -m tests.judge.fake_gemini PORT LATENCY_S``.
"""

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

FIELDS = (
    "change_identified",
    "element_type",
    "element_position",
    "reasoning_score",
    "waypoints_score",
    "overall_score",
    "explanation",
)


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Response:
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


def verdict(reasoning="2", waypoints="2", overall="2", explanation="It brakes."):
    values = ("yes", "a deer", "ahead", reasoning, waypoints, overall, explanation)
    return json.dumps(dict(zip(FIELDS, values, strict=True)))


def gemini(text, finish="STOP", **counts):
    usage = {"promptTokenCount": 5000, "candidatesTokenCount": 100, **counts}
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": finish}
    return Response(json.dumps({"candidates": [candidate], "usageMetadata": usage}).encode())


def fault(status, message="no", headers=None, details=()):
    error = {"error": {"code": status, "message": message, "status": "X", "details": list(details)}}
    return Response(json.dumps(error).encode(), status, headers or {})


def openai(text, finish="stop"):
    said = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return Response(json.dumps({"model": "m", "choices": [said], "usage": usage}).encode())


class FakeServer:
    """``answer`` gets each generate request and its running number, and returns a Response; all are kept.

    Files and batch jobs are served too: a job answers each of its lines with ``answer`` after ``polls`` polls and ends
    in ``states`` (the last one from then on), without the rows that ``lost`` names by job and row.
    """

    def __init__(
        self, answer: Callable[[Request, int], Response] | None = None, latency: float = 0.0, polls=1
    ):
        self.answer = answer or (lambda request, number: gemini(verdict()))
        self.latency, self.polls = latency, polls
        self.requests: list[Request] = []
        self.jobs: dict[str, dict] = {}
        self.states = ["SUCCEEDED"]
        self.lost: set[tuple[int, int]] = set()
        self.keep = True
        self.most_at_once = 0
        self._files: dict[str, bytes] = {}
        self._parts: list[bytes] = []
        self._asked = 0
        self._now = 0
        self._loop = asyncio.new_event_loop()

    def __enter__(self):
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        started.wait()
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def _run(self, started):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 26)
        )
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader, writer):
        try:
            while (request := await _request(reader)) is not None:
                response = await self._respond(request)
                head = {"content-length": str(len(response.body)), "content-type": "application/json"}
                lines = "".join(f"{k}: {v}\r\n" for k, v in {**head, **response.headers}.items())
                writer.write(f"HTTP/1.1 {response.status} X\r\n{lines}\r\n".encode() + response.body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _respond(self, request):
        if self.keep:
            self.requests.append(request)
        path = request.path
        if path.startswith("/upload/") and not path.startswith("/upload/here"):
            return Response(b"{}", headers={"x-goog-upload-url": f"{self.url}/upload/here"})
        if path.startswith("/upload/here"):
            self._parts.append(request.body)  # a large file comes in several
            if "finalize" not in request.headers["x-goog-upload-command"]:
                return Response(b"", headers={"x-goog-upload-status": "active"})
            name = f"files/f{len(self._files)}"
            self._files[name] = b"".join(self._parts)
            self._parts.clear()
            body = json.dumps(
                {"file": {"name": name, "uri": f"{self.url}/{name}", "state": "ACTIVE"}}
            ).encode()
            return Response(body, headers={"x-goog-upload-status": "final"})
        if "batchGenerateContent" in path:
            return self._new_job(request)
        if "/batches/" in path:
            return self._poll("batches/" + path.split("/batches/")[1].split("?")[0])
        if ":download" in path:
            return Response(self._files["files/" + path.split("files/")[1].split(":")[0]])
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        number, self._asked = self._asked, self._asked + 1
        await asyncio.sleep(self.latency)
        self._now -= 1
        return self.answer(request, number)

    def _new_job(self, request):
        number = len(self.jobs)
        name = f"batches/b{number}"
        source = request.json["batch"]["inputConfig"]
        if "fileName" in source:
            lines = self._files[source["fileName"]].decode().splitlines()
        else:
            rows = source["requests"]["requests"]
            lines = [json.dumps({"key": r["metadata"]["key"], "request": r["request"]}) for r in rows]
        state = self.states[min(number, len(self.states) - 1)]
        self.jobs[name] = {
            "lines": lines,
            "polls": 0,
            "inline": "fileName" not in source,
            "state": state,
            "number": number,
        }
        return self._job(name, "PENDING")

    def _job(self, name, state, **more):
        metadata = {"state": f"BATCH_STATE_{state}", **more}
        return Response(json.dumps({"name": name, "metadata": metadata}).encode())

    def _poll(self, name):
        job = self.jobs[name]
        job["polls"] += 1
        if job["polls"] <= self.polls:
            return self._job(name, "RUNNING")
        if job["state"] in ("FAILED", "CANCELLED"):
            return self._job(name, job["state"])
        if "output" not in job:
            job["output"] = self._output(name, job)
        return self._job(name, job["state"], output=job["output"])

    def _output(self, name, job):
        rows = []
        for place, line in enumerate(job["lines"]):
            if (job["number"], place) in self.lost:
                continue
            asked = json.loads(line)
            inner = Request("POST", "", {}, json.dumps(asked["request"]).encode())
            response = self.answer(inner, self._asked)
            self._asked += 1
            kind = "response" if response.status == 200 else "error"
            content = json.loads(response.body)
            rows.append({"key": asked["key"], kind: content.get("error", content)})
        if job["inline"]:
            rows = [{"metadata": {"key": row.pop("key")}, **row} for row in rows]
            return {"inlinedResponses": {"inlinedResponses": rows}}
        file = f"files/{name.replace('/', '-')}"
        self._files[file] = "\n".join(map(json.dumps, rows)).encode()
        return {"responsesFile": file}


async def _request(reader):
    line = await reader.readline()
    if not line:
        return None
    method, path, _ = line.decode().split(" ", 2)
    headers = {}
    while line := (await reader.readline()).decode().strip():
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path, headers, body)


if __name__ == "__main__":
    with FakeServer(latency=float(sys.argv[1])) as server:
        server.keep = False
        print(server.port, flush=True)
        sys.stdin.read()
