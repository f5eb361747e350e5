"""Planners outside Python: ``cmd:`` programs and ``http://`` servers.

A program speaks JSON lines on stdin and stdout: it first gets ``{"ask": "needs"}`` and answers ``{"needs": {...}}``;
then one observation a line (see :mod:`cfgen.planners.serialization`), to each of which it answers one line with the
same ``"id"``. No shell is involved. A server answers ``GET /needs`` and ``POST /plan``; see ``openapi.yaml``.
"""

import http.client
import json
import shlex
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from cfgen.core.hashing import hash_json
from cfgen.core.network import current, host_of
from cfgen.core.sanitize import MAX_CHARS, plain_json, visible
from cfgen.models.base import retry_after
from cfgen.planners.answer import CheckedResponse, PlanFaultError
from cfgen.planners.process import Answers, AskedPlanner, PlannerStartError
from cfgen.planners.protocol import Observation, Requirements
from cfgen.planners.response import OUT_OF_SERVICE, no_route, transient_kind
from cfgen.planners.runtime import Runtime, start
from cfgen.planners.serialization import decode, decode_needs, encode
from cfgen.planners.settings import LIMITS, PATIENCE
from cfgen.records import Failure


class Command(AskedPlanner):
    """Runs ``command`` and restarts it when it dies, hangs or floods. ``max_chars``: of a text, the rest is cut.

    It sees and reaches what ``runtime`` says.

    Raises:
        PlannerStartError: it cannot be started, or does not answer the first question.
    """

    def __init__(
        self,
        command: str,
        timeout_s: float,
        max_chars: int = MAX_CHARS,
        startup_s: float = PATIENCE.startup_s,
        runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    ) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise PlannerStartError(f"expected a command line ({error})") from error
        self._runtime = runtime
        self._timeout_s, self._max_chars, self._startup_s = timeout_s, max_chars, startup_s
        self._longest = LIMITS.besides_text + 6 * max_chars
        self.needs = self._start()

    def plan(self, observations: Sequence[Observation]) -> Answers:
        """One line after the other."""
        plan = super().plan
        return [answer for observation in observations for answer in plan([observation])]

    def _ask(self, observations: Sequence[Observation]) -> Answers:
        (observation,) = observations
        self._restart()
        try:
            self._send(encode(observation), self._timeout_s)
            content = self._receive(self._timeout_s)
            if isinstance(content, dict) and content.get("id") != observation.token:
                raise PlanFaultError(
                    f"answer: expected id '{observation.token}', found {content.get('id')!r}"
                )
            return [decode(content, self._max_chars)]
        except PlanFaultError:
            # What it says next could belong to this question: start afresh.
            self.close()
            raise

    def _start(self) -> Requirements:
        try:
            self._running = start(self._words, self._runtime)
        except OSError as error:
            raise PlannerStartError(f"cannot be started ({error.strerror}: {error.filename})") from error
        self._channel = self._running.channel()
        try:
            self._send({"ask": "needs"}, self._startup_s)
            content = self._receive(self._startup_s)
            if not isinstance(content, dict) or "needs" not in content:
                raise PlanFaultError('expected {"needs": {...}} as its first line')
            return decode_needs(content["needs"])
        except PlanFaultError as fault:
            self.close()
            raise PlannerStartError(str(fault)) from fault

    def _send(self, content: dict[str, Any], timeout_s: float) -> None:
        try:
            self._channel.write(json.dumps(content).encode() + b"\n", time.monotonic() + timeout_s)
        except TimeoutError:
            raise PlanFaultError(
                f"hung: it read no question within {timeout_s:g} s; it was restarted", "timeout"
            ) from None
        except OSError:
            raise self._exit_fault() from None

    def _receive(self, timeout_s: float) -> Any:
        try:
            line = self._channel.read_line(time.monotonic() + timeout_s, self._longest)
        except TimeoutError:
            raise PlanFaultError(
                f"hung: no line within {timeout_s:g} s; it was restarted", "timeout"
            ) from None
        if not line:
            raise self._exit_fault()
        if not line.endswith(b"\n"):
            raise PlanFaultError(
                f"answer: expected a line of at most {self._longest} bytes, found {len(line)} without an end; "
                "--max-answer-chars raises the limit"
            )
        try:
            return json.loads(line)
        except (ValueError, RecursionError) as error:
            raise PlanFaultError(f"expected a line of JSON, found {line[:60]!r} ({error})") from error


# --- servers --------------------------------------------------------------------------------------

#: bytes read at once
_PIECE = 2**16


class Server(AskedPlanner):
    """A planner behind a URL. ``max_chars``: of a text, the rest is cut.

    Raises:
        InputError: its host may not be reached. PlannerStartError: the server does not answer ``GET /needs``.
    """

    def __init__(
        self,
        url: str,
        timeout_s: float,
        max_chars: int = MAX_CHARS,
        startup_s: float = PATIENCE.startup_s,
    ) -> None:
        current().require(host_of(url), f"planner '{url}'")
        self._url = url.rstrip("/")
        self._timeout_s, self._max_chars = timeout_s, max_chars
        try:
            self.needs = decode_needs(self._call("/needs", None, min(timeout_s, startup_s), 1))
        except PlanFaultError as fault:
            raise PlannerStartError(f"GET /needs: {fault}; is the server running?") from fault
        self.about = self._about(min(timeout_s, startup_s))

    def _ask(self, observations: Sequence[Observation]) -> Answers:
        """One request for the batch."""
        body = {"observations": [encode(o) for o in observations]}
        content = self._call("/plan", body, self._timeout_s * len(observations), len(observations))
        return self._matched(content, observations)

    def _about(self, limit: float) -> dict[str, str]:
        """What the server says of itself under ``GET /about``, JSON of any kind; {} from one that does not."""
        try:
            reply = self._call("/about", None, limit, 1)
        except PlanFaultError:
            return {}
        content = reply if isinstance(reply, dict) else {"about": reply}
        return {
            f"about {visible(str(name))[:100]}": hash_json(plain_json(value)[0])
            for name, value in content.items()
        }

    def _matched(self, content: Any, observations: Sequence[Observation]) -> Answers:
        answers = content.get("answers") if isinstance(content, dict) else None
        if not isinstance(answers, list):
            raise PlanFaultError('expected {"answers": [...]}')
        by_id = {a["id"]: a for a in answers if isinstance(a, dict) and isinstance(a.get("id"), str)}
        matched: list[CheckedResponse | PlanFaultError] = []
        for observation in observations:
            try:
                if observation.token not in by_id:
                    raise PlanFaultError(f"no answer with id '{observation.token}'")
                matched.append(decode(by_id[observation.token], self._max_chars))
            except PlanFaultError as fault:
                matched.append(fault)
        return matched

    def _call(self, path: str, body: dict[str, Any] | None, limit: float, answers: int) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=limit) as reply:
                raw = _read_body(reply, limit, answers * (LIMITS.besides_text + 6 * self._max_chars))
        except urllib.error.HTTPError as error:
            raise _http_fault(error) from error
        except (OSError, http.client.HTTPException) as error:
            raise _connection_fault(error, limit) from error
        try:
            return json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise PlanFaultError(f"reply: expected JSON ({error})") from error


def _read_body(reply: http.client.HTTPResponse, limit_s: float, limit: int) -> bytes:
    """The whole reply. A server that trickles is cut off as one that is silent is."""
    end = time.monotonic() + limit_s
    raw = bytearray()
    while piece := reply.read1(_PIECE):
        raw += piece
        if len(raw) > limit:
            raise PlanFaultError(
                f"reply: expected at most {limit} bytes, found more; --max-answer-chars raises the limit"
            )
        if time.monotonic() > end:
            raise TimeoutError
    if reply.length:  # fewer bytes came than were announced
        raise http.client.IncompleteRead(bytes(raw[:0]), reply.length)
    return bytes(raw)


def _http_fault(error: urllib.error.HTTPError) -> PlanFaultError:
    try:
        words = error.read(300).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        words = "(its words were lost)"
    kind: Failure = "unavailable" if error.code in OUT_OF_SERVICE else "error"
    return PlanFaultError(
        f"HTTP {error.code}: {words}",
        kind,
        retry_after({name.lower(): value for name, value in error.headers.items()}),
    )


def _connection_fault(error: OSError | http.client.HTTPException, limit_s: float) -> PlanFaultError:
    """What network and server did to a request, apart from a server that speaks no HTTP."""
    cause = getattr(error, "reason", None) or error
    if isinstance(cause, TimeoutError):
        return PlanFaultError(f"hung: no reply within {limit_s:g} s", "timeout")
    away = isinstance(cause, ConnectionRefusedError | socket.gaierror) or no_route(cause)
    kind: Failure = "unreachable" if away else transient_kind(cause) or "answer"
    return PlanFaultError(f"connection failed ({cause or type(cause).__name__})", kind)
