"""The app over HTTP, and the only file that knows Gradio: guard, addresses, and one page for each role.

The guard turns requests away before anything looks at them. A page at another address must not read or change a
benchmark through the browser of somebody who has the app open, neither by its own requests (Origin, Sec-Fetch-Site)
nor by a name that it lets point here (Host).
"""

import contextlib
import html
import ipaddress
import json
import os
import re
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from cfgen.app.accounts import ROOMS_OF, Account, Logins, Role, Session, Sessions, is_token
from cfgen.app.api import Api
from cfgen.app.transport import NO_PROXY, Transport, is_loopback, listening_socket
from cfgen.core.errors import CfgenError

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

    def __init__(self, listens: str = "127.0.0.1", extra: Iterable[str] = ()) -> None:
        names = {"localhost", listens, *extra}
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

        headers: dict[str, str] = {}
        for key, value in scope["headers"]:
            name = key.decode("latin-1").lower()
            headers[name] = (
                f"{headers[name]}, {value.decode('latin-1')}" if name in headers else value.decode("latin-1")
            )
        refused = refusal(self._hosts, scope["method"], scope["path"], headers)
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
    media_type = "application/x-www-form-urlencoded" if path == "/login" else "application/json"
    if headers.get("content-type", "").partition(";")[0].strip().lower() != media_type:
        return 415, f"expected {media_type}"
    return None


def _host(netloc: str) -> str | None:
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?", netloc)
    return match[1].lower().rstrip(".") if match else None


# --- addresses ------------------------------------------------------------------------------------

_YEAR_S = 365 * 24 * 3600
_LOGIN = (Path(__file__).parent / "assets" / "login.html").read_text()


class Web:
    """The routes over one :class:`Api`; ``cookie`` is the name that tells this app's from another's on the machine."""

    def __init__(self, api: Api, logins: Logins, cookie: str) -> None:
        self.api, self.logins, self.cookie = api, logins, cookie
        self.sessions = Sessions()
        self._looked_up = CapacityLimiter(2)  # a flood of passwords waits in line, nobody else behind it

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/session", self._session, methods=["POST"]),
            Route("/leave", self._leave, methods=["POST"]),
            Route("/call", self._call, methods=["POST"]),
            Route("/login", self._login_page, methods=["GET"]),
            Route("/login", self._login, methods=["POST"]),
            Route("/picture/{kind}/{owner}/{name:path}", self._picture),
        ]

    def role(self, cookies: Mapping[str, str]) -> Role | None:
        """Whose page is to be shown; None where a login comes first."""
        if not self.logins.accounts:
            return "manager"
        session = self.sessions.find(cookies.get(self.cookie))
        return session.role if session else None

    # --- who it is --------------------------------------------------------------------------------------------

    async def _session(self, request: Request) -> Response:
        """The page's token; where no login is asked for, a session begins here and gets its name."""
        body = await _json(request)
        session, cookie = self._session_of(request), None
        if session is None:
            if self.logins.accounts:
                return _text_response("log in first", 401)
            cookie, session = self.sessions.begin("", "manager")
        try:
            if body.get("name"):
                session.call_oneself(str(body["name"]))
        except CfgenError as error:
            answer = {"error": str(error)}
        else:
            answer = {}
        content = {
            "token": session.token,
            "name": session.name,
            "role": session.role,
            "bench": self.api.store.root.resolve().name,
            "login": bool(self.logins.accounts),
        }
        response = JSONResponse({**content, **answer}, headers={"Cache-Control": "no-store"})
        if cookie:
            self._give(request, response, cookie)
        return response

    async def _leave(self, request: Request) -> Response:
        session = self._session_of(request)
        if session is None or not is_token(session, request.headers.get("x-cfgen-token", "")):
            return _text_response("reload the page", 401)
        self.sessions.end(request.cookies.get(self.cookie))
        response = JSONResponse({})
        response.delete_cookie(self.cookie, path="/", httponly=True, samesite="lax")
        return response

    async def _login_page(self, request: Request) -> Response:
        return _login_form("") if self.logins.accounts else RedirectResponse("./", 303)

    async def _login(self, request: Request) -> Response:
        fields = parse_qs((await request.body())[:10_000].decode("utf-8", "replace"))
        name, password = (fields.get(k, [""])[0] for k in ("username", "password"))
        name, address = "_".join(name.split())[:120], request.client.host if request.client else ""
        wait_s = self.logins.wait(name, address)
        account = await to_thread.run_sync(
            self.logins.check, name, password, address, limiter=self._looked_up
        )
        if account is None and wait_s:
            return _login_form(f"Too many wrong passwords. Try again in {wait_s} s.", 429, wait_s)
        if account is None:
            return _login_form("Name or password is wrong.", 401)
        self.sessions.end(request.cookies.get(self.cookie))
        cookie, _ = self.sessions.begin(account.name, account.role)
        response = RedirectResponse("./", 303)
        self._give(request, response, cookie)
        return response

    def _session_of(self, request: Request) -> Session | None:
        return self.sessions.find(request.cookies.get(self.cookie))

    def _give(self, request: Request, response: Response, cookie: str) -> None:
        secure = request.url.scheme == "https"
        response.set_cookie(self.cookie, cookie, path="/", httponly=True, samesite="lax", secure=secure)

    # --- what it asks -----------------------------------------------------------------------------------------

    async def _call(self, request: Request) -> Response:
        session = self._session_of(request)
        if session is None or not is_token(session, request.headers.get("x-cfgen-token", "")):
            return _text_response("reload the page", 401)
        body = await _json(request)
        answer = await run_in_threadpool(self.api.call, body, session.name, session.role)
        return Response(_dumped(answer), media_type="application/json", headers={"Cache-Control": "no-store"})

    def _picture(self, request: Request) -> Response:
        session = self._session_of(request)
        if session is None:
            return _text_response("open the page first", 401)
        query = {**request.path_params, "as_small": "small" in request.query_params}
        try:
            data, kind = self.api.picture(**query, user=session.name, role=session.role)
        except (CfgenError, OSError):
            return _text_response("no such picture", 404)
        cacheable = "v" in request.query_params and query["kind"] != "rate"
        keep = f"private, max-age={_YEAR_S}, immutable" if cacheable else "no-store"
        return Response(data, media_type=kind, headers={"Cache-Control": keep})


def _text_response(words: str, status: int) -> Response:
    return Response(words, status, media_type="text/plain")


def _login_form(words: str, status: int = 200, wait: int = 0) -> Response:
    headers = {"Cache-Control": "no-store", **({"Retry-After": str(wait)} if wait else {})}
    return HTMLResponse(_LOGIN.replace("{words}", html.escape(words)), status, headers=headers)


async def _json(request: Request) -> dict[str, Any]:
    try:
        content = json.loads(await request.body())
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _dumped(answer: Any) -> bytes:
    import orjson

    return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)


# --- pages ----------------------------------------------------------------------------------------

_ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = ("common.js", "plots.js")
_START_S = 60.0
_END_S = 3.0


class Served:
    """An app that answers, until :meth:`close`."""

    def __init__(self, app: Any, listens: socket.socket, transport: Transport) -> None:
        import uvicorn

        host, self.server_port = listens.getsockname()[:2]
        scheme = "https" if transport.certificate else "http"
        self.local_url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.server_port}/"
        config = uvicorn.Config(
            app,
            log_level="error",
            server_header=False,
            timeout_graceful_shutdown=2,
            proxy_headers=bool(transport.proxies),
            forwarded_allow_ips=list(transport.proxies),
            ssl_certfile=transport.certificate,
            ssl_keyfile=transport.key,
        )
        self._server, self._listens = uvicorn.Server(config), listens
        self.thread = threading.Thread(target=self._server.run, args=([listens],), daemon=True)
        self.thread.start()
        end = time.monotonic() + _START_S
        while not self._server.started:
            if not self.thread.is_alive() or time.monotonic() > end:
                raise CfgenError(f"the app did not start on {self.local_url}; start it again")
            time.sleep(0.02)

    def close(self) -> None:
        self._server.should_exit = True
        self.thread.join(10)
        self._listens.close()


def serve(
    api: Api,
    host: str = "127.0.0.1",
    port: int = 7860,
    accounts: Sequence[Account] = (),
    hosts: Sequence[str] = (),
    block: bool = True,
    transport: Transport = NO_PROXY,
) -> Served:
    """Serve the app until interrupted; without ``block`` return what is running.

    Args:
        port: 0 for any that is free.
        accounts: who may log in; none: whoever can reach it is a manager.
        hosts: further names under which browsers may ask for it.
    """
    listens, before = listening_socket(host, port), threading.enumerate()
    threading.Thread(target=api.warm_up, daemon=True).start()
    served = Served(
        Guard(_pages(api, Logins(accounts), listens.getsockname()[1]), Hosts(host, hosts)), listens, transport
    )
    if block:
        try:
            while served.thread.is_alive():
                served.thread.join(0.5)
        except KeyboardInterrupt:
            pass  # this is how one ends it
        finally:
            served.close()
        api.close()
        end_with_threads(before)
    return served


def end_with_threads(before: Sequence[threading.Thread]) -> None:
    """End the process here, with 0, where a thread begun since ``before`` does not end by itself.

    An answer that nobody waits for any more may still be worked out in OpenCV: a thread there aborts the process
    when Python winds down around it.
    """
    end = time.monotonic() + _END_S
    for thread in set(threading.enumerate()) - set(before):
        thread.join(max(0.0, end - time.monotonic()))
        if thread.is_alive():
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
            os._exit(0)


def _pages(api: Api, logins: Logins, port: int) -> Any:
    """One app for all roles: its own routes, and the page of whoever asks."""
    import gradio as gr
    from fastapi import FastAPI
    from starlette.requests import HTTPConnection
    from starlette.responses import RedirectResponse

    web = Web(api, logins, f"cfgen-{port}")
    pages: dict[Role, Any] = {}
    for role in logins.roles() or ["manager"]:
        pages[role] = FastAPI(routes=web.routes(), openapi_url=None)
        blocks = _blocks(gr, [r for r in api.rooms if r in ROOMS_OF[role]])
        gr.mount_gradio_app(
            pages[role],
            blocks,
            path="/",
            css=(_ASSETS / "app.css").read_text(),
            head=f"<script>{''.join((_ASSETS / name).read_text() for name in _SCRIPTS)}</script>",
            footer_links=[],
            run_history=False,
            ssr_mode=False,
        )
    before = FastAPI(routes=web.routes(), openapi_url=None)

    @before.get("/")
    def log_in() -> Any:
        return RedirectResponse("login", 303)

    @contextlib.asynccontextmanager
    async def living(_: Any) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            for page in pages.values():
                await stack.enter_async_context(page.router.lifespan_context(page))
            yield

    before.router.lifespan_context = living

    async def page_of(scope: Any, receive: Any, send: Any) -> None:
        role = web.role(HTTPConnection(scope).cookies) if scope["type"] == "http" else None
        await (before if role is None else pages[role])(scope, receive, send)

    return page_of


def _blocks(gr: Any, rooms: Sequence[str]) -> Any:
    def room(name: str) -> None:
        gr.HTML(
            value="",
            html_template=(_ASSETS / f"{name}.html").read_text(),
            js_on_load=(_ASSETS / f"{name}.js").read_text(),
            apply_default_css=False,
            elem_id=f"room-{name}",
        )

    with gr.Blocks(title="cfgen", analytics_enabled=False, fill_width=True) as blocks:
        room("top")
        with gr.Tabs(elem_id="rooms"):
            for name in rooms:
                with gr.Tab(name.capitalize(), id=name, render_children=True):
                    room(name)
    return blocks
