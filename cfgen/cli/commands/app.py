"""``cfgen app``."""

import argparse
import os
from pathlib import Path
from typing import Any

from cfgen.cli.options import names, parse_options, positive
from cfgen.core.errors import InputError

#: Cases of the demo benchmark that is built where there is none yet.
DEMO_CASES = 8


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("app", help="place hazards, curate, rate and compare in the browser")
    parser.add_argument(
        "bench",
        type=Path,
        nargs="?",
        help="benchmark directory (default: bench, built small if there is none)",
    )
    # what a hosted Gradio space sets
    host, port = os.environ.get("GRADIO_SERVER_NAME"), os.environ.get("GRADIO_SERVER_PORT")
    parser.add_argument(
        "--host", default=host or "127.0.0.1", help="address to listen on (default: this machine only)"
    )
    parser.add_argument("--port", type=int, default=int(port or 7860))
    parser.add_argument(
        "--auth", metavar="NAME:PASSWORD", action="append", default=[], help="ask for a login; repeatable"
    )
    parser.add_argument(
        "--scenes",
        type=Path,
        help="folder of the scenes it was built from, for topping it up (default: found)",
    )
    parser.add_argument(
        "--rooms",
        type=names,
        default=(),
        metavar="A,B",
        help="open only these rooms: curate,place,rate,compare,try; 'rate' alone keeps raters blind",
    )
    parser.add_argument(
        "--rate-arms",
        type=names,
        default=(),
        metavar="A,B",
        help="arms whose answers are rated, mixed and hidden which (default: hazard and the controls)",
    )
    parser.add_argument(
        "--rate-repeats", type=positive, default=1, metavar="K", help="repeats that are rated (default 1)"
    )
    parser.add_argument(
        "--inpainter-option",
        metavar="NAME.KEY=VALUE",
        action="append",
        default=[],
        help="an option of an inpainter that is not the benchmark's own; repeatable",
    )
    parser.set_defaults(func=_app)


def _app(arguments: argparse.Namespace) -> int:
    from cfgen.app.api import ROOMS, Api
    from cfgen.app.server import check_ready, serve

    auth = [_login(text) for text in arguments.auth]
    check_ready(arguments.host, arguments.port)
    bench = arguments.bench or _demo(Path("bench"))
    api = Api(
        bench,
        arguments.scenes,
        arguments.rooms or ROOMS,
        arguments.rate_arms,
        arguments.rate_repeats,
        _inpainter_options(arguments.inpainter_option),
    )
    print(f"{bench}: open http://{arguments.host}:{arguments.port}  (stop with Ctrl-C)", flush=True)
    serve(api, arguments.host, arguments.port, auth)
    return 0


def _demo(bench: Path) -> Path:
    """``bench``, built on the demo scenes where there is nothing."""
    import cfgen

    if not bench.exists():
        print(
            f"no benchmark given and no folder '{bench}': building {DEMO_CASES} demo cases there", flush=True
        )
        cfgen.build(bench, n=DEMO_CASES)
    return bench


def _inpainter_options(given: list[str]) -> dict[str, dict[str, Any]]:
    """By inpainter, its options."""
    from cfgen.inpaint.registry import INPAINTERS

    options: dict[str, dict[str, Any]] = {}
    for text in given:
        name, _, pair = text.partition(".")
        if name not in INPAINTERS.names() or "=" not in pair:
            known = ", ".join(INPAINTERS.names())
            raise InputError(
                f"--inpainter-option: expected NAME.KEY=VALUE with one of {known}, found '{text[:60]}'"
            )
        options.setdefault(name, {}).update(parse_options([pair], "--inpainter-option"))
    return options


def _login(text: str) -> tuple[str, str]:
    from cfgen.app.reviews import person

    name, colon, password = text.partition(":")
    if not colon or not password:
        raise InputError("--auth: expected NAME:PASSWORD, found no password")
    return person(name), password
