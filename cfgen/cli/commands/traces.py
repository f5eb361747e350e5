"""``cfgen traces``: does a planner's reasoning hang together?"""

import argparse
from pathlib import Path

from cfgen.cli.options import add_network, add_options, names, parse_options


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
    import cfgen

    found = cfgen.check_traces(
        arguments.bench,
        arguments.planner,
        arguments.judge,
        critic=arguments.critic,
        judge_options=parse_options(arguments.judge_option, "--judge-option"),
        rubric=arguments.rubric,
        arms=arguments.arms,
        retry_failed=arguments.retry_failed,
        strict=arguments.strict,
        offline=arguments.offline,
        allow_hosts=arguments.allow_hosts,
        quiet=arguments.quiet,
    )
    failed = [v for v in found if v.status == "failed"]
    faults = [v.fault for v in failed if v.fault]
    print(
        f"{found.judge}: {len(found) - len(failed)} answers checked, {len(failed) - len(faults)} without a usable "
        f"reply, {len(faults)} faults"
    )
    if again := sum(v.transient for v in failed):
        print(f"{again} could be mended by asking again: the same command with --retry-failed")
    for words in [*found.damaged, *map(str, faults)][:10]:
        print(f"  {words}")
    print(f"Next: cfgen report {arguments.bench}")
    nothing = bool(failed) and len(failed) == len(found)
    if nothing:
        print(f"Nothing was checked: {failed[0].reason}")
    return 1 if found.damaged or faults or nothing else 0
