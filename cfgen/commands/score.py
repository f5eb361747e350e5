"""``cfgen score``."""

import argparse
from pathlib import Path

from cfgen.commands.options import add_options, names, parse_options, positive


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("score", help="run a planner on a benchmark and judge its answers")
    parser.add_argument("bench", type=Path)
    parser.add_argument(
        "--planner",
        required=True,
        help="a name (cruise, logged, ...), package.module:Class, or a .jsonl file of outputs",
    )
    parser.add_argument("--name", help="name under which its answers are kept (default: from --planner)")
    add_options(parser, "--planner-option", "planner")
    parser.add_argument("--judge", default="offline", help="who judges (default offline)")
    add_options(parser, "--judge-option", "judge")
    parser.add_argument(
        "--arms",
        type=names,
        default=("original", "hazard"),
        help="default original,hazard; also rerun,null,nuisance",
    )
    parser.add_argument("--repeats", type=positive, default=1, help="times each question is asked")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds for one answer")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=_score)


def _score(arguments: argparse.Namespace) -> int:
    from cfgen.score import ScoreOptions, score

    summary = score(
        ScoreOptions(
            bench=arguments.bench,
            planner=arguments.planner,
            name=arguments.name,
            planner_options=parse_options(arguments.planner_option, "--planner-option"),
            judge=arguments.judge,
            judge_options=parse_options(arguments.judge_option, "--judge-option"),
            arms=arguments.arms,
            repeats=arguments.repeats,
            timeout_s=arguments.timeout,
            quiet=arguments.quiet,
        )
    )
    print(f"{summary.planner}: {summary.rollouts} answers, {sum(summary.failures.values())} failed")
    for reason, count in sorted(summary.failures.items()):
        print(f"{count:>6}  {reason}")
    verdicts = ", ".join(f"{count} {status}" for status, count in sorted(summary.verdicts.items()))
    print(f"{summary.judge}: {verdicts}")
    print(f"Next: cfgen report {arguments.bench}")
    return 0
