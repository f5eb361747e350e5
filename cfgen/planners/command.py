"""``cmd:`` planners: any program that speaks JSON lines on stdin and stdout.

It first gets ``{"ask": "needs"}`` and answers ``{"needs": {...}}``; then one observation a line (see
:mod:`cfgen.planners.wire`), to each of which it answers one line with the same ``"id"``. No shell is involved.
"""

import contextlib
import json
import queue
import shlex
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import IO, Any

from cfgen.errors import InputError
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Needs, Observation, Response
from cfgen.planners.wire import decode, decode_needs, encode

#: An answer line may not be longer, bytes; a flood ends the program.
MAX_LINE = 16 * 2**20
STARTUP_TIMEOUT_S = 900.0


class Command:
    """Runs ``command`` and restarts it when it dies, hangs or floods.

    Raises:
        InputError: it cannot be started, or does not answer the first question.
    """

    def __init__(self, command: str, timeout_s: float) -> None:
        self._words = shlex.split(command)
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._errors: deque[str] = deque(maxlen=40)
        try:
            self.needs = self._start()
        except PlanFaultError as fault:
            self.close()
            raise InputError(f"planner 'cmd:{command}': {fault}") from fault

    def plan(self, observations: Sequence[Observation]) -> list[str | Response | PlanFaultError]:
        return [self._one(observation) for observation in observations]

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()

    def _one(self, observation: Observation) -> Response | PlanFaultError:
        try:
            if self._process is None:
                self._start()
            self._send(encode(observation))
            content = self._receive(self._timeout_s)
            if isinstance(content, dict) and content.get("id") != observation.token:
                raise PlanFaultError(
                    f"answer: expected id '{observation.token}', found {content.get('id')!r}"
                )
            return decode(content)
        except PlanFaultError as fault:
            # What it says next could belong to this question: start afresh.
            self.close()
            return fault

    def _start(self) -> Needs:
        self._errors.clear()
        self._lines = queue.Queue()
        try:
            process = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise PlanFaultError(f"cannot be started ({error.strerror}: {error.filename})") from error
        self._process = process
        threading.Thread(target=_read, args=(process.stdout, self._lines), daemon=True).start()
        threading.Thread(target=_keep, args=(process.stderr, self._errors), daemon=True).start()
        self._send({"ask": "needs"})
        content = self._receive(STARTUP_TIMEOUT_S)
        if not isinstance(content, dict) or "needs" not in content:
            raise PlanFaultError('expected {"needs": {...}} as its first line')
        return decode_needs(content["needs"])

    def _send(self, content: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(content).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._death() from None

    def _receive(self, timeout_s: float) -> Any:
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise PlanFaultError(f"hung: no line within {timeout_s:g} s; it was restarted") from None
        if line is None:
            raise self._death()
        if not line.endswith(b"\n"):
            raise PlanFaultError(f"expected a line of JSON, found {len(line)} bytes without an end")
        try:
            return json.loads(line)
        except (ValueError, RecursionError) as error:
            raise PlanFaultError(f"expected a line of JSON, found {line[:60]!r} ({error})") from error

    def _death(self) -> PlanFaultError:
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        time.sleep(0.05)  # let the last words on stderr arrive
        last = next((line for line in reversed(self._errors) if line.strip()), "nothing")
        return PlanFaultError(f"died: exit code {self._process.returncode}, last on stderr: {last[:200]}")


def _read(stream: IO[bytes], lines: "queue.Queue[bytes | None]") -> None:
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(MAX_LINE):
            lines.put(line)
    lines.put(None)


def _keep(stream: IO[bytes], errors: "deque[str]") -> None:
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(4096):
            errors.append(" ".join(line.decode("utf-8", "replace").split()))
