"""``cfgen traces``: does a planner's reasoning hang together?"""

import argparse
from pathlib import Path

from cfgen.cli.options import add_network, add_options, names, network, parse_options
from cfgen.core.errors import InputError
from cfgen.core.network import limited


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "traces", help="check each answer of a planner edge by edge for consistency"
    )
    parser.add_argument("bench", type=Path)
    parser.add_argument("--planner", required=True, help="one that was scored")
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--judge", help="a model judge: gemini, openai, local, scripted")
    who.add_argument(
        "--critic", metavar="PATH", help="a local vision-language model, read at its verdict token"
    )
    add_options(parser, "--judge-option", "judge")
    parser.add_argument(
        "--rubric",
        default="faithfulness",
        metavar="NAME",
        help="what is asked: faithfulness (default), or another one about traces; see: cfgen rubric list",
    )
    parser.add_argument("--arms", type=names, default=("original", "hazard"), help="default original,hazard")
    parser.add_argument(
        "--retry-failed", action="store_true", help="ask again where there was no usable reply"
    )
    parser.add_argument("--strict", action="store_true", help="end at the first fault, with its traceback")
    add_network(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=_traces)


def _traces(arguments: argparse.Namespace) -> int:
    with limited(network(arguments)):
        return _check(arguments)


def _check(arguments: argparse.Namespace) -> int:
    from cfgen.judge.checker import Checker, CriticChecker
    from cfgen.judge.edges import ModelChecker
    from cfgen.judge.rubrics.registry import create_trace_rubric
    from cfgen.judge.traces import check_traces
    from cfgen.store import Store

    options = parse_options(arguments.judge_option, "--judge-option")
    rubric = create_trace_rubric(arguments.rubric)
    checker: Checker
    if arguments.critic:
        if arguments.rubric != "faithfulness":
            raise InputError(
                f"--critic answers the faithfulness rubric only, found --rubric {arguments.rubric}"
            )
        checker = CriticChecker(arguments.critic)
    else:
        checker = ModelChecker(arguments.judge, options, Store(arguments.bench).reply_cache, rubric)
    found, damaged = check_traces(
        arguments.bench,
        arguments.planner,
        checker,
        arguments.arms,
        arguments.quiet,
        arguments.retry_failed,
        arguments.strict,
    )
    failed = [v for v in found if v.status == "failed"]
    faults = [v.fault for v in failed if v.fault]
    print(
        f"{checker.name}: {len(found) - len(failed)} answers checked, {len(failed) - len(faults)} without a usable "
        f"reply, {len(faults)} faults"
    )
    if again := sum(v.transient for v in failed):
        print(f"{again} could be mended by asking again: the same command with --retry-failed")
    for words in [*damaged, *map(str, faults)][:10]:
        print(f"  {words}")
    print(f"Next: cfgen report {arguments.bench}")
    nothing = bool(failed) and len(failed) == len(found)
    if nothing:
        print(f"Nothing was checked: {failed[0].reason}")
    return 1 if damaged or faults or nothing else 0
