"""``cfgen report``."""

import argparse
from pathlib import Path

from cfgen.commands.options import names


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("report", help="tables, plots and a page from what was scored")
    parser.add_argument("bench", type=Path)
    parser.add_argument(
        "--out", type=Path, help="report folder (default: BENCH-report, beside the benchmark)"
    )
    parser.add_argument("--planners", type=names, metavar="A,B", help="only these planners (default: all)")
    parser.set_defaults(func=_report)


def _report(arguments: argparse.Namespace) -> int:
    from cfgen.report import report

    written = report(arguments.bench, arguments.out, arguments.planners)
    print(written.leaderboard.markdown())
    print(
        f"{written.cases} cases. Open {written.out / 'index.html'}; tables are beside it as .md, .csv, .json, .tex"
    )
    return 0
