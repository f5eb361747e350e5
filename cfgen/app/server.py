"""The only file that knows Gradio: one page for each role with a tab for each of its rooms, behind the guard."""

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from cfgen.app.accounts import ROOMS_OF, Account, Logins, Role
from cfgen.app.api import Api
from cfgen.app.guard import Guard, Hosts
from cfgen.core.errors import CfgenError, InputError, MissingExtraError

_ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = ("common.js", "plots.js")
_START_S = 60.0
_END_S = 3.0


class Served:
    """An app that answers, until :meth:`close`."""

    def __init__(self, app: Any, listens: socket.socket) -> None:
        import uvicorn

        host, self.server_port = listens.getsockname()[:2]
        self.local_url = f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}/"
        config = uvicorn.Config(app, log_level="error", server_header=False, timeout_graceful_shutdown=2)
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
) -> Served:
    """Serve the app until interrupted; without ``block`` return what is running.

    Args:
        port: 0 for any that is free.
        accounts: who may log in; none: whoever can reach it is a manager.
        hosts: further names under which browsers may ask for it.
    """
    listens, before = _bound(host, port), threading.enumerate()
    threading.Thread(target=api.warm_up, daemon=True).start()
    served = Served(
        Guard(_pages(api, Logins(accounts), listens.getsockname()[1]), Hosts(host, hosts)), listens
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

    from cfgen.app.web import Web

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


def _bound(host: str, port: int) -> socket.socket:
    """
    Raises:
        InputError: the port is taken.
    """
    listens = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listens.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listens.bind((host, port))
    except OSError as error:
        listens.close()
        raise InputError(
            f"--port {port}: cannot listen on {host} ({error.strerror}); choose another, e.g. --port {port + 1}"
        ) from error
    return listens


def check_ready(host: str, port: int) -> None:
    """Whether the app could start.

    Raises:
        MissingExtraError: Gradio is not installed.
        InputError: the port is taken.
    """
    try:
        import gradio  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the app", "app", error) from error
    _bound(host, port).close()
