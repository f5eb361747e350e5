"""What is turned away before anything looks at it: other hosts' names, other pages' requests, ways that no page uses.

A page at another address must not read or change a benchmark through the browser of somebody who has the app open,
neither by its own requests (Origin, Sec-Fetch-Site) nor by a name that it lets point here (Host).
"""

import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]

#: The largest question of a page: a painted mask.
LARGEST_BODY = 4_000_000
#: What a page needs of Gradio, besides its start page.
_GRADIO = re.compile(
    r"/(assets|static|svelte)/[^\0]*|/(theme\.css|favicon\.ico|manifest\.json|robots\.txt)"
    r"|/gradio_api/(startup-events|theme\.css)"
)
_OWN = re.compile(r"/picture/[^\0]*|/login")
_CHANGES = ("/call", "/session", "/leave", "/login")
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self'; object-src 'none'; "
    "base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
#: On every answer.
HEADERS = (
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", _POLICY.encode()),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
)


class Hosts:
    """The names under which the app may be asked: numbers, ``localhost``, and those given.

    A page can make a name of its own point anywhere, so only names that are known here are answered.
    """

    def __init__(self, listens: str = "127.0.0.1", more: Iterable[str] = ()) -> None:
        names = {"localhost", listens, *more}
        if not is_loopback(listens):
            names |= {socket.gethostname(), f"{socket.gethostname()}.local"}
        self._names = {name.lower().rstrip(".") for name in names if name}

    def knows(self, netloc: str) -> bool:
        """Whether ``host[:port]`` is one of them; any port, for those who forward one."""
        host = _host(netloc)
        if host is None:
            return False
        try:
            ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            return host in self._names
        return True


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach it."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def refusal(hosts: Hosts, method: str, path: str, headers: dict[str, str]) -> tuple[int, str] | None:
    """Status and words for a request that is turned away; None for one that may go on.

    Args:
        headers: by lower-case name; one that came twice is joined with ", " and so fits nothing.
    """
    host = headers.get("host", "")
    if not hosts.knows(host):
        return 421, "this app does not answer to that host name; give it with --allow-host"
    if (origin := headers.get("origin")) is not None and origin.partition("://")[2] != host:
        return 403, "another page may not ask here"
    site = headers.get("sec-fetch-site", "none")
    enters = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    if site not in ("none", "same-origin") and not (enters and method == "GET" and path in ("/", "/login")):
        return 403, "another page may not ask here"
    if method == "POST":
        return _refused_change(path, headers)
    if method not in ("GET", "HEAD"):
        return 405, "only GET, HEAD and POST"
    if path == "/" or _GRADIO.fullmatch(path) or _OWN.fullmatch(path):
        return None
    return 404, "not here"


class Guard:
    """Any app behind :func:`refusal`; what it answers carries :data:`HEADERS`."""

    def __init__(self, app: App, hosts: Hosts) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        found: dict[str, str] = {}
        for key, value in scope["headers"]:
            name = key.decode("latin-1").lower()
            found[name] = (
                f"{found[name]}, {value.decode('latin-1')}" if name in found else value.decode("latin-1")
            )
        refused = refusal(self._hosts, scope["method"], scope["path"], found)
        if refused is None:
            await self._app(scope, receive, answer)
            return
        status, words = refused
        body = words.encode()
        head = [(b"content-type", b"text/plain"), (b"content-length", str(len(body)).encode())]
        head += [(b"connection", b"close")] if scope["method"] == "POST" else []
        await answer({"type": "http.response.start", "status": status, "headers": head})
        await answer({"type": "http.response.body", "body": body})


def _refused_change(path: str, headers: dict[str, str]) -> tuple[int, str] | None:
    if path not in _CHANGES:
        return 404, "not here"
    length = headers.get("content-length", "")
    if not length.isdigit():
        return 411, "how long is it?"
    if int(length) > LARGEST_BODY:
        return 413, f"expected at most {LARGEST_BODY} bytes, found {length}"
    wanted = "application/x-www-form-urlencoded" if path == "/login" else "application/json"
    if headers.get("content-type", "").partition(";")[0].strip().lower() != wanted:
        return 415, f"expected {wanted}"
    return None


def _host(netloc: str) -> str | None:
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?", netloc)
    return found[1].lower().rstrip(".") if found else None
