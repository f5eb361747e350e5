"""``cfgen merge``."""

import argparse
from pathlib import Path


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("merge", help="make one benchmark of folders that hold parts of it")
    parser.add_argument("out", type=Path, metavar="OUT", help="a new folder")
    parser.add_argument(
        "shards",
        type=Path,
        nargs="+",
        metavar="SHARD",
        help="every folder of build --shard, or every copy of a benchmark that was scored with score --shard",
    )
    parser.set_defaults(func=_merge)


def _merge(arguments: argparse.Namespace) -> int:
    import cfgen

    made = cfgen.merge(arguments.out, arguments.shards)
    print(f"{len(made)} of {made.record.n} cases in {arguments.out}, from {len(arguments.shards)} folders")
    if not made.planners:
        print(
            f"Next: the command of the shards with --out {arguments.out} and without --shard: it makes what is missing "
            "and ends the benchmark"
        )
    return 0
