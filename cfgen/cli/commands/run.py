"""``cfgen run``: a whole experiment from one file."""

import argparse
from functools import partial
from pathlib import Path

from cfgen.core.errors import Shortfall


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "run",
        help="build, score, judge and report as one file says",
        description="Says first what it takes: calls, money, time, disk. Run it again to go on after an interrupt.",
    )
    parser.add_argument("file", type=Path, metavar="experiment.yaml")
    parser.add_argument("--dry-run", action="store_true", help="only say what it takes")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=_run)


def _run(arguments: argparse.Namespace) -> int:
    from cfgen.library.execution import carry_out

    done = carry_out(arguments.file, arguments.dry_run, arguments.quiet, partial(print, flush=True))
    for run in done.runs:
        print(run)
    if done.report:
        print(f"\n{done.report.leaderboard}\nOpen {done.report.out / 'index.html'}")
    if done.shortfalls:
        raise Shortfall("; ".join(done.shortfalls))
    return 0
