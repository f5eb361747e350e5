"""The only file that knows Gradio: one tab for each room, one function behind them all, one address for pictures."""

import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cfgen.app.api import Api
from cfgen.core.errors import CfgenError, InputError, MissingExtraError

_ASSETS = Path(__file__).parent / "assets"
_YEAR_S = 365 * 24 * 3600


def serve(
    api: Api,
    host: str = "127.0.0.1",
    port: int = 7860,
    auth: Sequence[tuple[str, str]] = (),
    block: bool = True,
) -> Any:
    """Serve the app until interrupted; without ``block`` return the running Gradio app."""
    import gradio as gr

    app = _build(gr, api)
    threading.Thread(target=api.warm_up, daemon=True).start()
    app.launch(
        server_name=host,
        server_port=port or None,
        auth=list(auth) or None,
        app_kwargs={"routes": [_pictures(api, app), *_closed()]},
        css=(_ASSETS / "app.css").read_text(),
        head=f"<script>{(_ASSETS / 'common.js').read_text()}</script>",
        footer_links=[],
        ssr_mode=False,
        share=False,
        quiet=True,
        prevent_thread_lock=not block,
    )
    return app


def _build(gr: Any, api: Api) -> Any:
    def call(asked: dict, request: gr.Request) -> dict[str, Any]:
        user = _user(app, request)
        return {"ok": api.who(user)} if asked.get("do") == "who" else api.call(asked, user)

    def room(name: str) -> None:
        gr.HTML(
            value="",
            html_template=(_ASSETS / f"{name}.html").read_text(),
            js_on_load=(_ASSETS / f"{name}.js").read_text(),
            apply_default_css=False,
            elem_id=f"room-{name}",
            server_functions=[call],
        )

    with gr.Blocks(title="cfgen", analytics_enabled=False, fill_width=True) as app:
        room("top")
        with gr.Tabs(elem_id="rooms"):
            for name in api.rooms:
                with gr.Tab(name.capitalize(), id=name, render_children=True):
                    room(name)
    return app


def _pictures(api: Api, app: Any) -> Any:
    """``picture/<kind>/<owner>/<name>``. Gradio itself serves no file of the benchmark."""
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    def picture(request: Request) -> Response:
        if app.app.auth is not None and _user(app, request) is None:
            return Response("log in first", 401)
        try:
            data, kind = api.picture(**request.path_params, as_small="small" in request.query_params)
        except (CfgenError, OSError):
            return Response("no such picture", 404)
        keep = f"private, max-age={_YEAR_S}, immutable" if "v" in request.query_params else "no-store"
        headers = {"Cache-Control": keep, "X-Content-Type-Options": "nosniff"}
        return Response(data, media_type=kind, headers=headers)

    return Route("/picture/{kind}/{owner}/{name:path}", picture)


def _closed() -> list[Any]:
    """Gradio's own ways of handing out, fetching and taking in files, none of which the page uses."""
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    def closed(request: Request) -> Response:
        return Response("not here", 404)

    ways = ("file={rest:path}", "file/{rest:path}", "proxy={rest:path}", "upload", "upload_progress")
    return [Route(f"/gradio_api/{way}", closed, methods=["GET", "HEAD", "POST"]) for way in ways]


def _user(app: Any, request: Any) -> str | None:
    """Who is logged in, by the login's cookie; None where no login is asked for."""
    server = app.app
    cookies = (f"access-token-{server.cookie_id}", f"access-token-unsecure-{server.cookie_id}")
    token = next((request.cookies[name] for name in cookies if name in request.cookies), None)
    user: str | None = server.tokens.get(token)
    return user


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
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise InputError(
                f"--port {port}: cannot listen on {host} ({error.strerror}); choose another, e.g. --port {port + 1}"
            ) from error
