"""``cfgen stability``."""

import argparse
import json
from pathlib import Path

from cfgen.cli.options import names


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "stability",
        help="does the ranking of planners hold, and which cases carry it",
        description="Ranks of planners with intervals across benchmarks (build seed, inpainter), their judges and "
        "rubrics, and clusters of hazards; Kendall's tau of each two rankings; difficulty, discrimination and weight "
        "of each case.",
    )
    parser.add_argument("bench", nargs="+", help="benchmark directories")
    parser.add_argument("--planners", type=names, help="only these, with commas between them")
    parser.add_argument(
        "--event",
        choices=("overall", "reasoning", "waypoints", "trajectory"),
        default="overall",
        help="what counts as success: a judge's 2, or the drive alone (default overall)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures, unrounded")
    parser.set_defaults(func=_stability)


def _stability(arguments: argparse.Namespace) -> int:
    import cfgen
    from cfgen.core.files import write_bytes

    found = cfgen.stability(arguments.bench, event=arguments.event, planners=arguments.planners)
    print(found)
    if arguments.json:
        write_bytes(arguments.json, (json.dumps(found.rows(), indent=1, allow_nan=False) + "\n").encode())
    return 0
