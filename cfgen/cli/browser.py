"""``cfgen app`` and ``cfgen campaign``: people who place, curate and rate in the browser."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App

from cfgen.app.transport import Transport, check_ready, is_loopback
from cfgen.cli.parsing import add, group
from cfgen.core.errors import InputError
from cfgen.core.options import (
    Addressable,
    Bench,
    Count,
    Names,
    Natural,
    Place,
    Range,
    checked,
    key_value,
    split,
)

if TYPE_CHECKING:
    from cfgen.app.accounts import Account

#: cases of the demo benchmark that is built where there is none yet
DEMO_CASES = 8


RatedRepeats = Annotated[Count, "Repeats that are rated."]


def register(app: App) -> None:
    add(app, serve_app, name="app")
    campaign = group("campaign", "Plan who rates which answers, and move ratings in and out.")
    add(campaign, _create)
    add(campaign, _export)
    add(campaign, _import)
    add(campaign, _show)
    app.command(campaign)


# --- app -------------------------------------------------------------------------------------------------


@checked
def serve_app(
    bench: Annotated[
        Place | None, Addressable(), "Benchmark directory (default: bench, built small if there is none)."
    ] = None,
    *,
    host: Annotated[
        str, "Address to listen on (default: $GRADIO_SERVER_NAME, else this machine only, 127.0.0.1)."
    ] = "",
    port: Annotated[
        int,
        Range("a port from 0 to 65535", lambda value: 0 <= value <= 65535),
        "Port to listen on (default: $GRADIO_SERVER_PORT, else 7860).",
    ] = 0,
    users: Annotated[
        Place | None,
        "Ask for a login; the file has a line for each account, passwords hashed. $CFGEN_APP_USERS holds such lines "
        "too: [ROLE/]NAME:PASSWORD with the role rater, curator or manager (default).",
    ] = None,
    add_user: Annotated[
        str,
        "ROLE/NAME: write an account to --users, its password asked for or from $CFGEN_APP_PASSWORD, and end.",
    ] = "",
    open: Annotated[bool, "With --host: let in whoever can reach it, without a login."] = False,  # noqa: A002
    behind_proxy: Annotated[
        Names,
        "Addresses of proxies that speak TLS for it: what they say of a client's address is believed, nobody else's.",
    ] = (),
    certificate: Annotated[Place | None, "With --host: file of the TLS certificate, PEM."] = None,
    certificate_key: Annotated[Place | None, "Its private key, PEM."] = None,
    allow_host: Annotated[Names, "Further host names in the browser's address, as behind a proxy."] = (),
    rooms: Annotated[
        Names, "Open only these rooms: curate, place, rate; rate alone keeps raters blind."
    ] = (),
    rate_arms: Annotated[
        Names,
        "Versions whose answers are rated, mixed and hidden which (default: hazard and the control scenes).",
    ] = (),
    rate_repeats: RatedRepeats = 1,
    rate_rubric: Annotated[
        str,
        "Rate the edges of single answers instead: faithfulness (E2 against the image), faithfulness-scene.",
    ] = "",
    campaign: Annotated[Place | None, "Who rates what, from 'cfgen campaign create'."] = None,
    inpainter_options: Annotated[
        Names, "NAME.KEY=VALUE: an option of an inpainter that is not the benchmark's own; repeatable."
    ] = (),
) -> int:
    """Place hazards, curate and rate in the browser."""
    file = None if users is None else Path(users)
    if add_user:
        return _add_user(file, add_user)
    accounts = _accounts(file)
    from cfgen.app.api import ROOMS, Api
    from cfgen.app.campaigns.create import load

    transport = _transport(split(behind_proxy), certificate, certificate_key)
    host, port = _address(host, port, bool(accounts), open, transport)

    if campaign and rate_rubric:
        raise InputError("--rate-rubric: a campaign has a rubric of its own; leave one of both out")
    check_ready(host, port)
    from cfgen.app.server import serve

    folder = Path(bench) if bench else _demo(Path("bench"))
    api = Api(
        folder,
        split(rooms) or ROOMS,
        split(rate_arms),
        rate_repeats,
        options_by_inpainter(split(inpainter_options)),
        load(Path(campaign)) if campaign else None,
        rate_rubric,
    )
    scheme = "https" if certificate else "http"
    print(f"{folder}: open {scheme}://{host}:{port}  (stop with Ctrl-C)", flush=True)
    space = os.environ.get("SPACE_HOST")  # what a hosted Gradio space sets
    hosts = [*([space] if space else []), *split(allow_host)]
    serve(api, host, port, accounts, hosts, transport=transport)
    return 0


def _transport(
    proxies: Sequence[str], certificate: "Place | None", certificate_key: "Place | None"
) -> Transport:
    if bool(certificate) != bool(certificate_key):
        raise InputError("--certificate and --certificate-key: expected both or neither")
    files = [Path(file) if file else None for file in (certificate, certificate_key)]
    for file in filter(None, files):
        if not file.is_file():
            raise InputError(f"{file}: expected a PEM file, found none")
    return Transport(tuple(proxies), *files)


def _address(host: str, port: int, logins: bool, everybody: bool, transport: Transport) -> tuple[str, int]:
    host = host or os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1"
    if is_loopback(host):
        return host, port or int(os.environ.get("GRADIO_SERVER_PORT") or 7860)
    if not (logins or everybody):
        raise InputError(
            f"--host {host}: others can reach it there, and there is no login; give --users FILE, or "
            "say --open to let everybody in"
        )
    in_clear = not (transport.proxies or transport.certificate)
    if in_clear and logins:
        raise InputError(
            f"--host {host}: passwords, sessions, frames and ratings would travel in clear; give --certificate FILE "
            "and --certificate-key FILE, or --behind-proxy ADDRESS of a proxy that speaks TLS"
        )
    if in_clear:
        print("cfgen: warning: frames, names and ratings travel in clear", file=sys.stderr)
    return host, port or int(os.environ.get("GRADIO_SERVER_PORT") or 7860)


def _accounts(file: Path | None) -> list["Account"]:
    """Of the file and the environment."""
    from cfgen.app import accounts

    listed = accounts.read_file(file) if file else []
    if file and not listed:
        raise InputError(
            f"{file}: holds no account; add one with: cfgen app --users {file} --add-user manager/NAME"
        )
    listed += accounts.read(os.environ.get("CFGEN_APP_USERS", "").splitlines(), "CFGEN_APP_USERS")
    accounts.Logins(listed)  # no name twice
    return listed


def _add_user(file: Path | None, name: str) -> int:
    from getpass import getpass

    from cfgen.app import accounts

    if file is None:
        raise InputError("--add-user: expected --users FILE to write to, found none; give one")
    try:
        password = os.environ.get("CFGEN_APP_PASSWORD") or getpass(f"password of {name}: ")
    except EOFError as error:
        raise InputError(
            "--add-user: expected a password, and there is no terminal to ask for it; set $CFGEN_APP_PASSWORD"
        ) from error
    names = [account.name for account in accounts.read_file(file)] if file.exists() else []
    account = accounts.add(file, name, password)
    replaced = "; the earlier password is replaced" if account.name in names else ""
    print(f"{file}: {account.name} may log in as {account.role}{replaced}")
    return 0


def _demo(bench: Path) -> Path:
    """``bench``, built on the demo scenes where there is nothing."""
    from cfgen.library import build

    if not bench.exists():
        print(
            f"no benchmark given and no folder '{bench}': building {DEMO_CASES} demo cases there", flush=True
        )
        build(bench, n=DEMO_CASES)
    return bench


def options_by_inpainter(texts: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """``NAME.KEY=VALUE`` as options by inpainter."""
    from cfgen.inpaint.registry import INPAINTERS

    options: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, _, pair = text.partition(".")
        if name not in INPAINTERS.names() or "=" not in pair:
            names = ", ".join(INPAINTERS.names())
            raise InputError(
                f"inpainter_options: expected NAME.KEY=VALUE with one of {names}, found '{text[:60]}'"
            )
        options.setdefault(name, {}).update([key_value(pair)])
    return options


# --- campaign --------------------------------------------------------------------------------------------

CampaignFile = Annotated[Place, "The file that 'cfgen campaign create' wrote."]


@checked
def _create(
    bench: Bench,
    *,
    raters: Annotated[str, "How many raters, or their names with commas between them."] = "3",
    overlap: Annotated[
        float,
        Range("a share from 0 to 1", lambda value: 0 <= value <= 1),
        "Share of the answers that all rate.",
    ] = 0.3,
    gold: Annotated[Natural, "Answers with known scores, mixed in for everybody."] = 12,
    training: Annotated[Natural, "Answers with feedback first, on other scenes."] = 4,
    arms: Annotated[Names, "Versions whose answers are rated (default: all there are)."] = (),
    repeats: RatedRepeats = 1,
    seed: Annotated[int, "Seed of the assignment."] = 0,
    out: Annotated[Place, "File to write."] = Path("campaign.json"),
) -> int:
    """Share a benchmark's answers out among raters."""
    from cfgen.app.campaigns.create import create

    seats = int(raters) if raters.isdecimal() else split(raters)
    campaign = create(Path(bench), Path(out), seats, overlap, gold, training, split(arms), repeats, seed)
    kinds = [item.kind for item in campaign.items]
    shared = sum(item.kind == "answer" and not item.seats for item in campaign.items)
    print(
        f"{out}: {kinds.count('answer')} answers, {shared} of them for all of {len(campaign.seats)} raters, "
        f"{kinds.count('gold')} known ones mixed in, {kinds.count('training')} for training; "
        f"next: cfgen app {bench} --campaign {out} --users FILE"
    )
    return 0


@checked
def _export(
    bench: Bench,
    campaign: CampaignFile,
    *,
    out: Annotated[Place, "File to write."],
) -> int:
    """Write a campaign's ratings to a file."""
    from cfgen.app.campaigns.create import load
    from cfgen.app.campaigns.exchange import export

    print(f"{out}: {export(Path(bench), load(Path(campaign)), Path(out))} ratings")
    return 0


@checked
def _import(
    bench: Bench,
    file: Annotated[Place, "CSV."],
    *,
    campaign: Annotated[
        Place | None,
        "The file that 'cfgen campaign create' wrote: whose ratings, gold and training they are.",
    ] = None,
) -> int:
    """Add the ratings in a file to a benchmark: a campaign's, or any made elsewhere."""
    from cfgen.app.campaigns.create import load
    from cfgen.app.campaigns.exchange import import_ratings

    planned = load(Path(campaign)) if campaign else None
    print(f"{import_ratings(Path(bench), Path(file), planned)} ratings added")
    return 0


@checked
def _show(bench: Bench, campaign: CampaignFile) -> int:
    """Progress, agreement and known answers of a campaign."""
    from cfgen.app.campaigns.create import load
    from cfgen.app.campaigns.figures import figures
    from cfgen.storage.store import Store

    state = figures(Store(Path(bench)), load(Path(campaign)))
    if not state["progress"]:
        print("nobody has begun")
    if state["out"]:
        print(f"{state['out']} answers do not count: their cases are no longer in the benchmark")
    for row in state["progress"]:
        print(f"{row['rater']}: {row['done']} of {row['of']}, {row['seconds'] or '-'} s each (median)")
    for row in state["agreement"]:
        figures_shown = (f"{m} {_value(row[m], row[f'{m}_interval'])}" for m in ("alpha", "ac1"))
        print(f"{row['score']}: {', '.join(figures_shown)} on {row['n']} rated by several")
    gold = [row for row in state["gold"] if row["kind"] == "gold"]
    print(f"known answers scored right: {sum(g['given'] == g['expected'] for g in gold)} of {len(gold)}")
    undecided = sum(row["final"] is None for row in state["disputed"])
    print(f"disputed: {len(state['disputed'])}, of which {undecided} are not decided")
    return 0


def _value(value: float | None, interval: list[float] | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:.2f}" + (f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else "")
