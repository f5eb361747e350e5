"""``cfgen traces``: does a planner's reasoning hang together?"""

import argparse
from pathlib import Path

from cfgen.commands.options import add_options, names, parse_options
from cfgen.errors import InputError


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
        choices=("faithfulness", "consistency", "grounding"),
        default="faithfulness",
        help="five edges (default), whether the action follows from the words, or each sentence against the frame",
    )
    parser.add_argument("--arms", type=names, default=("original", "hazard"), help="default original,hazard")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=_traces)


def _traces(arguments: argparse.Namespace) -> int:
    from cfgen.judge.checker import Checker, CriticChecker
    from cfgen.judge.claims import ConsistencyChecker, GroundingChecker
    from cfgen.judge.edges import ModelChecker
    from cfgen.traces import check_traces

    options = parse_options(arguments.judge_option, "--judge-option")
    kinds = {"faithfulness": ModelChecker, "consistency": ConsistencyChecker, "grounding": GroundingChecker}
    checker: Checker
    if arguments.critic:
        if arguments.rubric != "faithfulness":
            raise InputError(
                f"--critic answers the faithfulness rubric only, found --rubric {arguments.rubric}"
            )
        checker = CriticChecker(arguments.critic)
    else:
        checker = kinds[arguments.rubric](arguments.judge, options)
    counts = check_traces(arguments.bench, arguments.planner, checker, arguments.arms, arguments.quiet)
    print(
        f"{checker.name}: {counts.get('checked', 0)} answers checked, {counts.get('failed', 0)} without a usable reply"
    )
    print(f"Next: cfgen report {arguments.bench}")
    return 0
