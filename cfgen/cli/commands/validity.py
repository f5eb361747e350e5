"""``cfgen validate-real`` and ``cfgen import-pairs``."""

import argparse
import json
from pathlib import Path

from cfgen.cli.options import add_options, parse_options, positive


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "validate-real",
        help="score planners on real obstacles; hold that against inserts",
        description="Score planners on real frames of real obstacles matched with clear frames, and report how far "
        "that agrees with inserts of the same class, distance and speed in a benchmark.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="pairs.json and its scenes")
    parser.add_argument("--planner", action="append", required=True, help="as in cfgen score; repeatable")
    add_options(parser, "--planner-option", "planner")
    parser.add_argument("--bench", type=Path, help="benchmark on which they were scored under the same names")
    parser.add_argument("--out", type=Path, help="the pairs' benchmark (default: FOLDER-bench, beside it)")
    parser.add_argument("--judge", default="offline", help="who judges (default offline)")
    add_options(parser, "--judge-option", "judge")
    parser.add_argument(
        "--event",
        choices=("trajectory", "reasoning", "waypoints", "overall"),
        default="trajectory",
        help="what counts as an answer: the drive (default), or a judge's strict success",
    )
    parser.add_argument(
        "--match", choices=("hazard", "cluster"), default="hazard", help="what is alike (default hazard)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures, unrounded")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=_validate)
    _register_import(subparsers)


def _register_import(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "import-pairs", help="pairs of real frames out of a data set, for validate-real"
    )
    parser.add_argument("reader", choices=("lost-and-found", "road-obstacles"))
    parser.add_argument("source", type=Path, help="the data set's folder")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    parser.add_argument(
        "--clear", type=Path, metavar="CSV", help="columns obstacle, clear and maybe control: frame names"
    )
    parser.add_argument(
        "--hazard", default="Foreign Object Debris", help="class of all of them (default: %(default)s)"
    )
    parser.add_argument("--limit", type=positive, help="at most so many pairs")
    for flag, value, unit in (
        ("--fov-deg", 60.0, "horizontal field of view"),
        ("--camera-height-m", 1.5, "height of the camera"),
        ("--pitch-deg", 0.0, "> 0 looks down"),
        ("--speed-mps", 8.0, "speed of the car"),
    ):
        parser.add_argument(
            flag, type=float, default=value, help=f"road-obstacles: {unit} (default {value:g})"
        )
    parser.set_defaults(func=_import)


def _validate(arguments: argparse.Namespace) -> int:
    import cfgen
    from cfgen.core.files import write_bytes

    rows = []
    for planner in arguments.planner:
        found = cfgen.validate_real(
            arguments.folder,
            planner,
            bench=arguments.bench,
            out=arguments.out,
            planner_options=parse_options(arguments.planner_option, "--planner-option"),
            judge=arguments.judge,
            judge_options=parse_options(arguments.judge_option, "--judge-option"),
            event=arguments.event,
            match=arguments.match,
            quiet=arguments.quiet,
        )
        print(found)
        rows += found.rows()
    if arguments.json:
        write_bytes(arguments.json, (json.dumps(rows, indent=1, allow_nan=False) + "\n").encode())
    return 0


def _import(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.pair_readers import Options, import_pairs

    options = Options(
        clear=arguments.clear,
        hazard=arguments.hazard,
        limit=arguments.limit,
        fov_deg=arguments.fov_deg,
        camera_height_m=arguments.camera_height_m,
        pitch_deg=arguments.pitch_deg,
        speed_mps=arguments.speed_mps,
    )
    made = import_pairs(arguments.reader, arguments.source, arguments.out, options)
    print(f"{len(made.pairs)} pairs in {arguments.out}. Next, for example:")
    print(f"  cfgen validate-real {arguments.out} --planner cruise --bench BENCH")
    return 0
