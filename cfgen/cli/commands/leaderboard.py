"""``cfgen leaderboard``."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cfgen.cli.options import (
    add_network,
    add_options,
    add_rubric,
    add_runtime,
    add_startup,
    add_writable,
    judge_options,
    names,
    parse_options,
    positive,
    seconds,
)
from cfgen.core.plain import visible
from cfgen.library.arguments import FLOORS

if TYPE_CHECKING:
    from cfgen.sharing.leaderboard.board import Added


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("leaderboard", help="a static site out of bundles of many planners")
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)

    add = kinds.add_parser("add", help="take bundles that verify")
    add.add_argument("board", type=Path, help="leaderboard's folder; begun where there is none")
    add.add_argument("bundles", type=Path, nargs="+", metavar="BUNDLE", help="of cfgen export bundle")
    add.add_argument("--title", default="", help="of a new leaderboard (default: its folder's name)")
    add.set_defaults(func=_add)

    check = kinds.add_parser("check", help="derive every entry's figures and hashes again")
    check.add_argument("board", type=Path)
    check.set_defaults(func=_check)

    remove = kinds.add_parser("remove", help="take an entry out")
    remove.add_argument("board", type=Path)
    remove.add_argument("entry", help="as 'cfgen leaderboard add' and the site's addresses name it")
    remove.set_defaults(func=_remove)

    page = kinds.add_parser("page", help="write the site")
    page.add_argument("board", type=Path)
    page.add_argument("--out", type=Path, required=True, metavar="DIR", help="new folder, or an earlier site")
    page.add_argument(
        "--bundles", action="store_true", help="with the bundles, answers and all, for others to check"
    )
    page.set_defaults(func=_page)

    again = kinds.add_parser("rejudge", help="judge the answers of self-reported entries by a judge of yours")
    again.add_argument("board", type=Path)
    again.add_argument("bench", type=Path, help="the benchmark that they were scored on")
    again.add_argument("--entries", type=names, default=(), metavar="A,B", help="only these")
    _judge(again)
    again.set_defaults(func=_rejudge)

    run = kinds.add_parser("run", help="ask a planner on a benchmark of yours, judge it, and add it as rerun")
    run.add_argument("board", type=Path)
    run.add_argument("bench", type=Path, help="a benchmark, such as a private split")
    run.add_argument("--planner", required=True, help="a name, package.module:Class, cmd:..., or a URL")
    run.add_argument("--name", help="under which its answers are kept (default: from --planner)")
    add_options(run, "--planner-option", "planner")
    run.add_argument("--arms", type=names, default=("original", "hazard"), help="default original,hazard")
    run.add_argument("--floor", choices=FLOORS, default="", help="what the response is held against")
    run.add_argument("--repeats", type=positive, default=1, help="times each question is asked")
    run.add_argument("--timeout", type=seconds, default=120.0, metavar="S", help="seconds for one answer")
    add_startup(run)
    add_runtime(run)
    add_writable(run)
    _judge(run)
    run.set_defaults(func=_run)


def _judge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge", default="offline", help="who judges (default offline)")
    add_options(parser, "--judge-option", "judge")
    add_rubric(parser)
    parser.add_argument(
        "--votes", type=positive, metavar="K", help="replies of each judge model to each item"
    )
    parser.add_argument("--retry-failed", action="store_true", help="ask again what that could mend")
    add_network(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _add(arguments: argparse.Namespace) -> int:
    import cfgen

    done = cfgen.add_bundles(arguments.board, arguments.bundles, title=arguments.title)
    for added in done.added:
        _tell(added)
    for failed in done.failed:
        print(f"cfgen: error: {visible(failed)}", file=sys.stderr)
    if not done.added:
        return 2
    print(f"Next: cfgen leaderboard page {arguments.board} --out site")
    return 1 if done.failed else 0


def _tell(added: "Added") -> None:
    entry = added.entry
    if not added.before:
        print(f"{entry.entry}: added, {entry.kind}")
    elif added.before == entry.kind:
        print(f"{entry.entry}: was there already, byte for byte, as {entry.kind}; not added again")
    else:
        print(f"{entry.entry}: the same byte for byte as the {added.before} one, which is {entry.kind} now")


def _check(arguments: argparse.Namespace) -> int:
    import cfgen

    board = cfgen.open_board(arguments.board)
    faults, count = board.faults(), len(board.names())
    for fault in faults:
        print(visible(fault))
    print(f"{count - len(faults)} of {count} entries verify")
    return 1 if faults else 0


def _remove(arguments: argparse.Namespace) -> int:
    import cfgen

    board = cfgen.open_board(arguments.board)
    board.remove(arguments.entry)
    left = len(board.names())
    print(f"{arguments.entry}: removed; {_count(left, 'entry is', 'entries are')} left")
    return 0


def _page(arguments: argparse.Namespace) -> int:
    import cfgen

    made = cfgen.write_leaderboard(arguments.board, arguments.out, bundles=arguments.bundles)
    print(
        f"{made.out}/index.html: {_count(made.rows, 'entry', 'entries')} in {_count(made.tables, 'table', 'tables')}"
    )
    return 0


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _rejudge(arguments: argparse.Namespace) -> int:
    import cfgen
    from cfgen.judge.run import JudgeOptions
    from cfgen.sharing.leaderboard.again import rejudge

    given = arguments
    options = JudgeOptions(
        given.bench,
        judge=given.judge,
        judge_options=judge_options(given),
        rubric=given.rubric,
        retry_failed=given.retry_failed,
        offline=given.offline,
        allow_hosts=given.allow_hosts,
        quiet=given.quiet,
    )
    done = rejudge(cfgen.open_board(given.board), options, given.entries)
    for added in done.added:
        _tell(added)
    for failed in done.failed:
        print(visible(failed))
    return 1 if done.failed else 0


def _run(arguments: argparse.Namespace) -> int:
    import cfgen
    from cfgen.rollouts.options import ScoreOptions
    from cfgen.sharing.leaderboard.again import rerun

    given = arguments
    options = ScoreOptions(
        given.bench,
        given.planner,
        name=given.name,
        planner_options=parse_options(given.planner_option, "--planner-option"),
        judge=given.judge,
        judge_options=judge_options(given),
        rubric=given.rubric,
        arms=tuple(dict.fromkeys(("original", *given.arms))),
        repeats=given.repeats,
        floor=given.floor,
        timeout_s=given.timeout,
        startup_timeout_s=given.startup_timeout,
        retry_failed=given.retry_failed,
        offline=given.offline,
        allow_hosts=given.allow_hosts,
        python=given.python or "",
        planner_network=given.planner_network,
        planner_memory=given.planner_memory,
        writable=given.writable,
        quiet=given.quiet,
    )
    _tell(rerun(cfgen.open_board(given.board, create=True), options))
    return 0
