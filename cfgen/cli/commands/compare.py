"""``cfgen compare``."""

import argparse
import json
from pathlib import Path

from cfgen.core.errors import Shortfall


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "compare",
        help="pair two runs case by case; fail by a stated rule",
        description="Pair two runs on the same cases: exact McNemar test, differences with intervals. A run is "
        "BENCH:PLANNER; B may be the name of another planner on the benchmark of A.",
    )
    parser.add_argument("a", metavar="A", help="what was before, for example bench:base")
    parser.add_argument("b", metavar="B", help="what is new, for example bench:candidate, or candidate")
    parser.add_argument("--judge", help="whose verdicts (default: who judged most of both)")
    parser.add_argument("--arm", default="hazard", help="default hazard")
    parser.add_argument(
        "--fail-if",
        metavar="RULE",
        action="append",
        default=[],
        help="exit with 1 where it holds: 'overall drop > 5', 'reasoning drop > 2 and p < 0.05'; repeatable",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures, unrounded")
    parser.set_defaults(func=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    import cfgen
    from cfgen.core.files import write_bytes
    from cfgen.library.comparison import Rule

    rules = [Rule.of(text) for text in arguments.fail_if]
    found = cfgen.compare(arguments.a, arguments.b, arm=arguments.arm, judge=arguments.judge)
    print(found)
    broken = found.broken(rules)
    if arguments.json:
        content = {
            "a": f"{found.a.bench.path}:{found.a.planner}",
            "b": f"{found.b.bench.path}:{found.b.planner}",
            "judge": found.judge,
            "arm": found.arm,
            "only_a": found.only_a,
            "only_b": found.only_b,
            "dimensions": found.rows(),
            "rules": [rule.text for rule in rules],
            "broken": broken,
        }
        write_bytes(arguments.json, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())
    if broken:
        raise Shortfall("; ".join(broken))
    return 0
