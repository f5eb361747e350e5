"""``cfgen report``."""

import argparse
from pathlib import Path

from cfgen.cli.options import names
from cfgen.library.arguments import SELECTS


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("report", help="tables, plots and a page from what was scored")
    parser.add_argument("bench", type=Path)
    parser.add_argument(
        "--out", type=Path, help="report folder (default: BENCH-report, beside the benchmark)"
    )
    parser.add_argument("--planners", type=names, metavar="A,B", help="only these planners (default: all)")
    parser.add_argument(
        "--panels", type=_count, default=4, metavar="N", help="case panels per planner, or 'all' (default 4)"
    )
    parser.add_argument(
        "--pages",
        type=_count,
        default=5000,
        metavar="N",
        help="cases to show one by one, or 'all' (default 5000); every case counts in the figures",
    )
    parser.add_argument(
        "--select",
        choices=SELECTS,
        default="mean",
        help="which of several samples (--repeats) of an answer counts: the mean of all (default), the first, the one "
        "nearest to the others, or the best",
    )
    parser.add_argument(
        "--section",
        action="append",
        default=[],
        metavar="NAME",
        help="one more section, such as metrics, or 'all'; repeatable",
    )
    parser.add_argument("--strict", action="store_true", help="end at the first fault, with its traceback")
    parser.set_defaults(func=_report)


def _count(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number or 'all', found '{text}'")
    return int(text)


def _report(arguments: argparse.Namespace) -> int:
    import cfgen

    written = cfgen.report(
        arguments.bench,
        arguments.out,
        planners=arguments.planners,
        panels=arguments.panels,
        pages=arguments.pages,
        select=arguments.select,
        sections=arguments.section,
        strict=arguments.strict,
    )
    print(written.leaderboard.markdown())
    for words in written.headline:
        print(words)
    print(
        f"\n{written.cases} cases. Open {written.out / 'index.html'}; tables, plots and panels are beside it."
    )
    if written.faults:
        print(f"{written.faults} answers and verdicts are missing for faults; see the section Faults.")
    for words in written.left_out[:10]:
        print(f"Left out: {words}")
    if written.left_out:
        print(f"{len(written.left_out)} things were left out of the report")
    return 1 if written.left_out else 0
