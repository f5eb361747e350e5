"""What a planner gives, checked on both sides of the process border: its answers, and what its exceptions tell.

Shipped to planners' environments, so it keeps to Python 3.9 and NumPy.
"""

from __future__ import annotations

import builtins
import errno
import http.client
import socket
import ssl
import urllib.error
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cfgen.core.errors import MACHINE, CfgenError
from cfgen.core.sanitize import MAX_CHARS, plain_json, plain_numbers, plain_text, visible
from cfgen.planners.client import Response

if TYPE_CHECKING:
    from cfgen.records import Failure

#: keys of :data:`cfgen.records.FAILURES`, which has words for them
KINDS = ("answer", "error", "died", "timeout", "unreachable", "unavailable", "machine", "fault", "")
_FIELDS = ("text", "waypoints", "t", "report")
#: of a reason, characters
_LONGEST = 1000


class PlanFaultError(CfgenError):
    """The planner's answer is not a plan. Counts against the planner, unless ``kind`` is a transient one.

    ``kind``: a key of :data:`cfgen.records.FAILURES`; anything else is read as "answer". ``retry_after_s``: how long
    the planner asked to be left alone.
    """

    def __init__(self, reason: object, kind: Failure = "answer", retry_after_s: float | None = None) -> None:
        words = reason if isinstance(reason, str) else words_of(reason)
        super().__init__(visible(" ".join(plain_text(words, _LONGEST)[0].split())))
        self.kind: Failure = kind if isinstance(kind, str) and kind in KINDS else "answer"
        self.retry_after_s = retry_after_s


@dataclass(frozen=True)
class CheckedResponse(Response):
    """An answer that came through the door: plain text, float64 arrays or None, a report of JSON values.

    ``notes``: what had to be changed for that.
    """

    notes: tuple[str, ...] = ()


def check_response(answer: Any, limit: int = MAX_CHARS) -> CheckedResponse:
    """The one door for what a planner gives: text, a :class:`Response`, or an object or mapping with its fields.

    Text longer than ``limit`` characters is cut, with a note.

    Raises:
        PlanFaultError: none of these, or a field that cannot be read; names what was expected and found.
    """
    if isinstance(answer, CheckedResponse):
        return answer
    if isinstance(answer, PlanFaultError):
        raise answer
    if isinstance(answer, (str, bytes)):
        answer = Response(text=answer)  # type: ignore[arg-type]
    fields = _fields(answer)
    text, cut = _text(fields["text"], limit)
    report = fields["report"] if fields["report"] is not None else {}
    content, changed = plain_json(report, limit)
    if not isinstance(content, dict):
        raise PlanFaultError(f"answer: 'report': expected an object, found {type(report).__name__}")
    notes = (*(f"text: {n}" for n in cut), *(f"report: {n}" for n in changed))
    return CheckedResponse(
        text, _numbers(fields["waypoints"], "waypoints"), _numbers(fields["t"], "t"), content, notes
    )


def _fields(answer: Any) -> dict[str, Any]:
    try:
        if isinstance(answer, Mapping):
            return {f: answer.get(f) for f in _FIELDS}
        if hasattr(answer, "text") or hasattr(answer, "waypoints"):
            return {f: getattr(answer, f, None) for f in _FIELDS}
    except Exception as error:  # properties of somebody else's object
        why = f"{type(error).__name__}: {words_of(error)}"
        raise PlanFaultError(
            f"answer: expected readable fields, found {type(answer).__name__} ({why})"
        ) from error
    raise PlanFaultError(f"answer: expected text or a Response, found {type(answer).__name__}")


def _text(value: Any, limit: int) -> tuple[str, tuple[str, ...]]:
    if value is None:
        return "", ()
    if not isinstance(value, (str, bytes)):
        raise PlanFaultError(f"answer: 'text': expected a string, found {type(value).__name__}")
    return plain_text(value, limit)


def _numbers(value: Any, field: str) -> np.ndarray | None:
    if value is None:
        return None
    try:
        return plain_numbers(value)
    except Exception as error:  # conversions of somebody else's array may raise anything
        raise PlanFaultError(f"answer: '{field}': expected numbers ({words_of(error)})") from error


def words_of(value: object) -> str:
    """``str`` of what may be anything."""
    try:
        return str(value)
    except Exception:
        return f"{type(value).__name__} without words"


# --- what exceptions tell -------------------------------------------------------------------------

#: what a server, or one before it, says while it is out of service
OUT_OF_SERVICE = (408, 425, 429, 502, 503, 504)
#: what a service says beside these when it broke, or has too much to do
_BROKEN_SERVICE = (500, 529)
#: Python before 3.11 has no groups
_GROUP: tuple[type, ...] = tuple(filter(None, [getattr(builtins, "BaseExceptionGroup", None)]))
#: packages of clients, which need not be installed, and parts of their names for a connection that was lost
_CLIENTS = (
    "aiohttp", "anthropic", "botocore", "google", "grpc", "httpcore", "httpx", "huggingface_hub", "mistralai", "ollama",
    "openai", "requests", "tritonclient", "urllib3", "websockets", "zmq",
)  # fmt: skip
_LOST = (
    "connect", "network", "protocolerror", "readerror", "writeerror", "incompleteread", "unavailable", "closeerror",
    "chunkedencoding", "clientpayload", "maxretry",
)  # fmt: skip
_LOST_CONNECTION = (
    ConnectionError,
    socket.gaierror,
    socket.herror,
    ssl.SSLError,
    http.client.HTTPException,
)


def transient_kind(error: BaseException) -> Failure | None:
    """How ``error`` counts where it, or what it was raised from, could go well another time; None where not.

    A lost connection or a service out of order is "unavailable", one that is too slow a "timeout", memory or a disk
    that ran out the "machine". Clients of other packages are known by status and name.
    """
    chain = list(_chain(error))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in chain):
        return None
    return next((kind for cause in chain if (kind := _own_kind(cause))), None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """``error``, what it was raised from or while handling, and the members of groups, each once."""
    waiting, visited = [error], set[int]()
    while waiting:
        link = waiting.pop(0)
        if id(link) in visited:
            continue
        visited.add(id(link))
        yield link
        before = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
        members = getattr(link, "exceptions", ()) if isinstance(link, _GROUP) else ()
        reason = getattr(link, "reason", None) if isinstance(link, urllib.error.URLError) else None
        waiting += [e for e in (before, reason, *members) if isinstance(e, BaseException)]


def _own_kind(error: BaseException) -> Failure | None:
    of_clients = [
        c.__name__.lower() for c in type(error).__mro__ if c.__module__.partition(".")[0] in _CLIENTS
    ]
    names = " ".join(of_clients)
    if isinstance(error, http.client.InvalidURL):
        return None
    status = _status(error) if names or isinstance(error, urllib.error.HTTPError) else None
    if status is not None:
        return "unavailable" if status in (*OUT_OF_SERVICE, *_BROKEN_SERVICE) else None
    if isinstance(error, (TimeoutError, socket.timeout)) or "timeout" in names or "deadlineexceeded" in names:
        return "timeout"
    # a file system that may not be written to is the planner's own business: it has a folder of its own
    full = isinstance(error, OSError) and error.errno in MACHINE - {errno.EROFS}
    if full or isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "machine"
    lost = isinstance(error, _LOST_CONNECTION) or no_route(error) or any(part in names for part in _LOST)
    return "unavailable" if lost else None


def no_route(error: object) -> bool:
    """Whether the network, not the server, is away."""
    return isinstance(error, OSError) and error.errno in (
        errno.ENETUNREACH,
        errno.EHOSTUNREACH,
        errno.EHOSTDOWN,
        errno.ENETDOWN,
    )


def _status(error: BaseException) -> int | None:
    """The HTTP status that a client's exception holds, wherever its package keeps it; that of gRPC by its name."""
    try:
        response = getattr(error, "response", None)
        holders = [(error, "status_code"), (error, "code"), (error, "status"), (response, "status_code")]
        for holder, name in holders:
            status = getattr(holder, name, None)
            status = status() if callable(status) else status
            if isinstance(status, int):
                return int(status)
            if getattr(status, "name", "") in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"):
                return 503
    except Exception:  # properties of somebody else's exception
        return None
    return None
