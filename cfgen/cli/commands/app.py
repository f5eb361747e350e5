"""``cfgen app``."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfgen.cli.options import names, parse_options, positive
from cfgen.core.errors import InputError

if TYPE_CHECKING:
    from cfgen.app.accounts import Account

#: Cases of the demo benchmark that is built where there is none yet.
DEMO_CASES = 8


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("app", help="place hazards, curate and rate in the browser")
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
        "--auth",
        metavar="[ROLE/]NAME:PASSWORD",
        action="append",
        default=[],
        help="ask for a login; role rater, curator or manager (default); repeatable. Others on this machine can see "
        "a command line: rather give --users, or lines of the same form in $CFGEN_APP_USERS",
    )
    parser.add_argument(
        "--users",
        type=Path,
        metavar="FILE",
        help="ask for a login; a line for each account, passwords hashed",
    )
    parser.add_argument(
        "--add-user",
        metavar="ROLE/NAME",
        help="write an account to --users, its password asked for or from $CFGEN_APP_PASSWORD, and end",
    )
    parser.add_argument(
        "--open", action="store_true", help="with --host: let in whoever can reach it, without a login"
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[h for h in (os.environ.get("SPACE_HOST"),) if h],
        help="a further host name in the browser's address, as behind a proxy; repeatable",
    )
    parser.add_argument(
        "--rooms",
        type=names,
        default=(),
        metavar="A,B",
        help="open only these rooms: curate,place,rate; 'rate' alone keeps raters blind",
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
        "--rate-rubric",
        default="",
        metavar="NAME",
        help="rate the edges of single answers instead: faithfulness (E2 against the image), faithfulness-scene",
    )
    parser.add_argument(
        "--campaign", type=Path, metavar="FILE", help="who rates what, from 'cfgen campaign create'"
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
    if arguments.add_user:
        return _add_user(arguments)
    accounts = _accounts(arguments)
    from cfgen.app.guard import is_loopback

    if not (accounts or arguments.open or is_loopback(arguments.host)):
        raise InputError(
            f"--host {arguments.host}: others can reach it there, and there is no login; give --users FILE or "
            "--auth NAME:PASSWORD, or say --open to let everybody in"
        )
    from cfgen.app.api import ROOMS, Api
    from cfgen.app.campaigns.create import load
    from cfgen.app.server import check_ready, serve

    if arguments.campaign and arguments.rate_rubric:
        raise InputError("--rate-rubric: a campaign has a rubric of its own; leave one of both out")
    check_ready(arguments.host, arguments.port)
    bench = arguments.bench or _demo(Path("bench"))
    api = Api(
        bench,
        arguments.rooms or ROOMS,
        arguments.rate_arms,
        arguments.rate_repeats,
        _inpainter_options(arguments.inpainter_option),
        load(arguments.campaign) if arguments.campaign else None,
        arguments.rate_rubric,
    )
    print(f"{bench}: open http://{arguments.host}:{arguments.port}  (stop with Ctrl-C)", flush=True)
    serve(api, arguments.host, arguments.port, accounts, arguments.allow_host)
    return 0


def _accounts(arguments: argparse.Namespace) -> list["Account"]:
    """Of the command line, the file and the environment."""
    from cfgen.app import accounts

    found = [accounts.parse(text, "--auth") for text in arguments.auth]
    if arguments.users:
        found += accounts.read_file(arguments.users)
        if not found:
            raise InputError(
                f"{arguments.users}: holds no account; add one with: "
                f"cfgen app --users {arguments.users} --add-user manager/NAME"
            )
    found += accounts.read(os.environ.get("CFGEN_APP_USERS", "").splitlines(), "CFGEN_APP_USERS")
    accounts.Logins(found)  # no name twice
    return found


def _add_user(arguments: argparse.Namespace) -> int:
    from getpass import getpass

    from cfgen.app import accounts

    if arguments.users is None:
        raise InputError("--add-user: expected --users FILE to write to, found none; give one")
    try:
        password = os.environ.get("CFGEN_APP_PASSWORD") or getpass(f"password of {arguments.add_user}: ")
    except EOFError as error:
        raise InputError(
            "--add-user: expected a password, and there is no terminal to ask for it; set $CFGEN_APP_PASSWORD"
        ) from error
    there = [a.name for a in accounts.read_file(arguments.users)] if arguments.users.exists() else []
    account = accounts.add(arguments.users, arguments.add_user, password)
    again = "; the earlier password is replaced" if account.name in there else ""
    print(f"{arguments.users}: {account.name} may log in as {account.role}{again}")
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
