"""``http://`` planners: a server that answers ``GET /needs`` and ``POST /plan``; see ``openapi.yaml``."""

import http.client
import json
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from cfgen.core.errors import InputError
from cfgen.core.hashing import hash_json
from cfgen.core.network import current, host_of
from cfgen.core.sanitize import MAX_CHARS, plain_json, visible
from cfgen.models.base import retry_after
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.network import OUT_OF_SERVICE, no_route
from cfgen.planners.protocol import Observation, Response
from cfgen.planners.serialization import decode, decode_needs, encode
from cfgen.planners.waiting import STARTUP_TIMEOUT_S
from cfgen.records import Failure

#: bytes of a reply beside its texts, for each answer in it
_BESIDES = 16 * 2**20
#: bytes read at once
_PIECE = 2**16


class Server:
    """A planner behind a URL. ``max_chars``: of a text, the rest is cut.

    Raises:
        InputError: its host may not be reached, or the server does not answer ``GET /needs``.
    """

    def __init__(
        self,
        url: str,
        timeout_s: float,
        max_chars: int = MAX_CHARS,
        startup_s: float = STARTUP_TIMEOUT_S,
    ) -> None:
        current().require(host_of(url), f"planner '{url}'")
        self._url = url.rstrip("/")
        self._timeout_s, self._max_chars = timeout_s, max_chars
        try:
            self.needs = decode_needs(self._call("/needs", None, min(timeout_s, startup_s), 1))
        except PlanFaultError as fault:
            raise InputError(f"planner '{url}': GET /needs: {fault}; is the server running?") from fault
        self.about = self._about(min(timeout_s, startup_s))

    def plan(self, observations: Sequence[Observation]) -> list[str | Response | PlanFaultError]:
        """One request for the batch; a batch that fails as a whole is asked again one by one."""
        body = {"observations": [encode(o) for o in observations]}
        try:
            content = self._call("/plan", body, self._timeout_s * len(observations), len(observations))
            return self._matched(content, observations)
        except PlanFaultError as fault:
            if len(observations) == 1 or fault.kind == "unreachable":
                return [fault] * len(observations)
            return [answer for observation in observations for answer in self.plan([observation])]

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

    def close(self) -> None:
        """Nothing to end: the server is somebody else's."""

    def _matched(
        self, content: Any, observations: Sequence[Observation]
    ) -> list[str | Response | PlanFaultError]:
        answers = content.get("answers") if isinstance(content, dict) else None
        if not isinstance(answers, list):
            raise PlanFaultError('expected {"answers": [...]}')
        by_id = {a["id"]: a for a in answers if isinstance(a, dict) and isinstance(a.get("id"), str)}
        matched: list[str | Response | PlanFaultError] = []
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
                raw = _read_body(reply, limit, answers * (_BESIDES + 6 * self._max_chars))
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
    kind: Failure = "answer"
    if isinstance(cause, ConnectionRefusedError | socket.gaierror) or no_route(cause):
        kind = "unreachable"
    elif isinstance(cause, ssl.SSLError):
        kind = "error"
    elif isinstance(cause, OSError | http.client.IncompleteRead):  # RemoteDisconnected is one as well
        kind = "unavailable"
    return PlanFaultError(f"connection failed ({cause or type(cause).__name__})", kind)
