"""``cmd:`` planners: any program that speaks JSON lines on stdin and stdout.

It first gets ``{"ask": "needs"}`` and answers ``{"needs": {...}}``; then one observation a line (see
:mod:`cfgen.planners.serialization`), to each of which it answers one line with the same ``"id"``. No shell is involved.
"""

import contextlib
import io
import json
import queue
import shlex
import threading
from collections.abc import Sequence
from typing import IO, Any, cast

from cfgen.core import confine
from cfgen.core.errors import InputError
from cfgen.core.sanitize import MAX_CHARS
from cfgen.planners.answer import PlanFaultError, describe_exit
from cfgen.planners.protocol import Observation, Requirements, Response
from cfgen.planners.runtime import Running, Runtime, start
from cfgen.planners.serialization import decode, decode_needs, encode
from cfgen.planners.waiting import STARTUP_TIMEOUT_S

#: bytes of an answer's line beside its text; a longer line ends the program
_BESIDES = 16 * 2**20
#: lines that wait to be read; a program that floods has to wait
_WAITING = 16


class Command:
    """Runs ``command`` and restarts it when it dies, hangs or floods. ``max_chars``: of a text, the rest is cut.

    It sees and reaches what ``runtime`` says.

    Raises:
        InputError: it cannot be started, or does not answer the first question.
    """

    def __init__(
        self,
        command: str,
        timeout_s: float,
        max_chars: int = MAX_CHARS,
        startup_s: float = STARTUP_TIMEOUT_S,
        runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    ) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise InputError(f"planner 'cmd:{command}': expected a command line ({error})") from error
        self._runtime = runtime
        self._timeout_s, self._max_chars, self._startup_s = timeout_s, max_chars, startup_s
        self._longest = _BESIDES + 6 * max_chars
        self._process: Running | None = None
        self._lines = _Lines()
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
            self._lines.over.set()
            process.stop()

    def renew(self) -> None:
        """Whatever it remembers goes: the next question is put to a new process."""
        self.close()

    def _one(self, observation: Observation) -> Response | PlanFaultError:
        try:
            if self._process is None:
                self._restart()
            self._send(encode(observation), self._timeout_s)
            content = self._receive(self._timeout_s)
            if isinstance(content, dict) and content.get("id") != observation.token:
                raise PlanFaultError(
                    f"answer: expected id '{observation.token}', found {content.get('id')!r}"
                )
            return decode(content, self._max_chars)
        except PlanFaultError as fault:
            # What it says next could belong to this question: start afresh.
            self.close()
            return fault

    def _restart(self) -> None:
        try:
            self._start()
        except PlanFaultError as fault:
            raise PlanFaultError(f"cannot be started again: {fault}", "unreachable") from fault

    def _start(self) -> Requirements:
        self._lines = _Lines()
        try:
            process = start(self._words, self._runtime, echo_stderr=False)
        except OSError as error:
            raise PlanFaultError(f"cannot be started ({error.strerror}: {error.filename})") from error
        self._process = process
        stdout = io.BufferedReader(cast(io.RawIOBase, process.source))
        threading.Thread(target=_read, args=(stdout, self._lines, self._longest), daemon=True).start()
        self._send({"ask": "needs"}, self._startup_s)
        content = self._receive(self._startup_s)
        if not isinstance(content, dict) or "needs" not in content:
            raise PlanFaultError('expected {"needs": {...}} as its first line')
        return decode_needs(content["needs"])

    def _send(self, content: dict[str, Any], timeout_s: float) -> None:
        """Written aside, since a program that does not read would hold us for good."""
        assert self._process is not None
        data, broken = json.dumps(content).encode() + b"\n", threading.Event()
        writer = threading.Thread(target=_write, args=(self._process.sink, data, broken), daemon=True)
        writer.start()
        writer.join(timeout_s)
        if writer.is_alive():
            raise PlanFaultError(
                f"hung: it read no question within {timeout_s:g} s; it was restarted", "timeout"
            )
        if broken.is_set():
            raise self._exit_fault()

    def _receive(self, timeout_s: float) -> Any:
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise PlanFaultError(
                f"hung: no line within {timeout_s:g} s; it was restarted", "timeout"
            ) from None
        if line is None:
            raise self._exit_fault()
        if len(line) >= self._longest:
            raise PlanFaultError(
                f"answer: expected a line of at most {self._longest} bytes, found more; --max-answer-chars raises "
                "the limit"
            )
        if not line.endswith(b"\n"):
            raise PlanFaultError(f"expected a line of JSON, found {len(line)} bytes without an end")
        try:
            return json.loads(line)
        except (ValueError, RecursionError) as error:
            raise PlanFaultError(f"expected a line of JSON, found {line[:60]!r} ({error})") from error

    def _exit_fault(self) -> PlanFaultError:
        assert self._process is not None
        code = self._process.exit_code(2.0)
        if code == confine.OVER_MEMORY:
            limit = f"{self._runtime.memory / 1e9:g} GB"
            return PlanFaultError(f"died: took more than the {limit} that --planner-memory gives it", "died")
        words, kind = describe_exit(code)
        return PlanFaultError(f"died: {words}, last on stderr: {self._process.last_line}", kind)


class _Lines(queue.Queue[bytes | None]):
    """What one run of the program wrote; ``over``: nobody reads it any more."""

    def __init__(self) -> None:
        super().__init__(_WAITING)
        self.over = threading.Event()

    def add(self, line: bytes | None) -> bool:
        while not self.over.is_set():
            with contextlib.suppress(queue.Full):
                self.put(line, timeout=0.2)
                return True
        return False


def _read(stream: IO[bytes], lines: _Lines, longest: int) -> None:
    with contextlib.suppress(OSError, ValueError):
        while (line := stream.readline(longest)) and lines.add(line):
            pass
    lines.add(None)


def _write(stream: IO[bytes], data: bytes, broken: threading.Event) -> None:
    try:
        remaining = memoryview(data)
        while remaining:
            remaining = remaining[stream.write(remaining) :]
    except (OSError, ValueError):
        broken.set()
