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
    """``answer`` gets each generate request and its running number, and returns a Response; all are kept."""

    def __init__(self, answer: Callable[[Request, int], Response] | None = None, latency: float = 0.0):
        self.answer = answer or (lambda request, number: gemini(verdict()))
        self.latency = latency
        self.requests: list[Request] = []
        self.keep = True
        self.most_at_once = 0
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
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        number, self._asked = self._asked, self._asked + 1
        await asyncio.sleep(self.latency)
        self._now -= 1
        return self.answer(request, number)


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
