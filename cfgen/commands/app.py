"""``cfgen app``."""

import argparse
from pathlib import Path

from cfgen.errors import InputError


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("app", help="place hazards, curate, rate and compare in the browser")
    parser.add_argument(
        "bench", type=Path, nargs="?", default=Path("bench"), help="benchmark directory (default bench)"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: this machine only)"
    )
    parser.add_argument("--port", type=int, default=7860)
    parser.add_argument(
        "--auth", metavar="NAME:PASSWORD", action="append", default=[], help="ask for a login; repeatable"
    )
    parser.add_argument(
        "--scenes",
        type=Path,
        help="folder of the scenes it was built from, for topping it up (default: found)",
    )
    parser.set_defaults(func=_app)


def _app(arguments: argparse.Namespace) -> int:
    from cfgen.app.api import Api
    from cfgen.app.wiring import serve

    auth = [_login(text) for text in arguments.auth]
    api = Api(arguments.bench, arguments.scenes)
    print(f"{arguments.bench}: open http://{arguments.host}:{arguments.port}  (stop with Ctrl-C)", flush=True)
    serve(api, arguments.host, arguments.port, auth)
    return 0


def _login(text: str) -> tuple[str, str]:
    from cfgen.app.ledger import person

    name, colon, password = text.partition(":")
    if not colon or not password:
        raise InputError("--auth: expected NAME:PASSWORD, found no password")
    return person(name), password
