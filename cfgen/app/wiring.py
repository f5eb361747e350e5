"""The only file that knows Gradio: one tab for each room, one function behind them all."""

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cfgen.app.api import Api
from cfgen.errors import InputError, MissingExtraError

TABS = ("Curate", "Place", "Rate", "Compare", "Try")
_ASSETS = Path(__file__).parent / "assets"
#: Folders of the benchmark whose pictures the page shows; nothing else is served.
SERVED = ("cases", "rejected", "scenes")


def serve(
    api: Api,
    host: str = "127.0.0.1",
    port: int = 7860,
    auth: Sequence[tuple[str, str]] = (),
    block: bool = True,
) -> Any:
    """Serve the app until interrupted; without ``block`` return the running Gradio app."""
    import gradio as gr

    root = api.store.root.resolve()
    for folder in SERVED:
        (root / folder).mkdir(exist_ok=True)
    app = _build(gr, api)
    app.launch(
        server_name=host,
        server_port=port or None,
        auth=list(auth) or None,
        allowed_paths=[str(root / folder) for folder in SERVED],
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
            for tab in TABS:
                if (_ASSETS / f"{tab.lower()}.js").is_file():
                    with gr.Tab(tab, id=tab.lower(), render_children=True):
                        room(tab.lower())
    return app


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
