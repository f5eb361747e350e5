"""``cfgen study``."""

import argparse
from pathlib import Path


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "study",
        help="two checkpoints by changed and grounded reasoning",
        description="Win rates of B against A by stratum of changed and grounded reasoning, as in the Pinocchio "
        "paper's preliminary study. A and B are JSON files of samples, or BENCH:PLANNER.",
    )
    parser.add_argument("a", metavar="A", help="what was before: a JSON file, or BENCH:PLANNER")
    parser.add_argument("b", metavar="B", help="what is new")
    parser.add_argument(
        "--labels",
        type=Path,
        metavar="FILE",
        help="CSV: id, changed, grounded_a, grounded_b; what people say",
    )
    parser.add_argument(
        "--checker",
        default="",
        metavar="NAME",
        help="of BENCH:PLANNER: whose edges E1 and E2 say what is grounded",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write table, figures and plot there")
    parser.set_defaults(func=_study)


def _study(arguments: argparse.Namespace) -> int:
    import cfgen

    found = cfgen.study(arguments.a, arguments.b, labels=arguments.labels, checker=arguments.checker)
    print(found)
    if arguments.out:
        for path in found.write(arguments.out):
            print(path)
    return 0
