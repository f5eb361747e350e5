"""Which exceptions of a planner's own code tell of the network, of a server that it asks, or of the machine.

Shipped to planners' environments, so it keeps to Python 3.9.
"""

from __future__ import annotations

import builtins
import errno
import http.client
import socket
import ssl
import urllib.error
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cfgen.core.errors import MACHINE

if TYPE_CHECKING:
    from cfgen.records import Failure

#: what a server, or one before it, says while it is out of service
OUT_OF_SERVICE = (408, 425, 429, 502, 503, 504)
#: what a service says beside these when it broke, or has too much to do
_BROKEN_SERVICE = (500, 529)
#: packages of clients, by whose words for it a lost connection is known
_CLIENTS = (
    "aiohttp", "anthropic", "botocore", "google", "grpc", "httpcore", "httpx", "huggingface_hub", "mistralai", "ollama",
    "openai", "requests", "tritonclient", "urllib3", "websockets", "zmq",
)  # fmt: skip
#: Python before 3.11 has no groups
_GROUP: tuple[type, ...] = tuple(filter(None, [getattr(builtins, "BaseExceptionGroup", None)]))
_LATE = ("timeout", "deadlineexceeded")
_LOST = (
    "connect", "network", "chunkedencoding", "clientpayload", "closeerror", "incompleteread", "maxretry",
    "protocolerror", "readerror", "serverdisconnected", "unavailable", "writeerror",
)  # fmt: skip


def transient_kind(error: BaseException) -> Failure | None:
    """How ``error`` counts where it, or what it was raised from, could go well another time; None where not.

    A lost connection or a service out of order is "unavailable", one that is too slow a "timeout", memory or a disk
    that ran out the "machine". Clients of other packages are known by status and name: none need be installed.
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
    names = [c.__name__.lower() for c in type(error).__mro__ if c.__module__.partition(".")[0] in _CLIENTS]
    status = _status(error) if names or isinstance(error, urllib.error.HTTPError) else None
    if status is not None:
        return "unavailable" if status in (*OUT_OF_SERVICE, *_BROKEN_SERVICE) else None
    if isinstance(error, (TimeoutError, socket.timeout)) or any(
        word in name for name in names for word in _LATE
    ):
        return "timeout"
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return "machine"
    # a file system that may not be written to is the planner's own business: it has a folder of its own
    if isinstance(error, OSError) and error.errno in MACHINE - {errno.EROFS}:
        return "machine"
    if isinstance(error, http.client.InvalidURL):
        return None
    lost_connection = (
        ConnectionError,
        socket.gaierror,
        socket.herror,
        ssl.SSLError,
        http.client.HTTPException,
    )
    if (
        isinstance(error, lost_connection)
        or no_route(error)
        or any(word in name for name in names for word in _LOST)
    ):
        return "unavailable"
    return None


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
