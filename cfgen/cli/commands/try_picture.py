"""``cfgen try``: one picture, one hazard, one planner."""

import argparse
from pathlib import Path

from cfgen.cli.options import (
    add_network,
    add_options,
    add_runtime,
    add_startup,
    network,
    parse_options,
    positive,
    seconds,
)
from cfgen.core.network import limited
from cfgen.core.plain import visible


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "try",
        help="put a hazard into one picture and ask a planner before and after",
        description="The car has driven straight on; the picture stands for every frame that the planner wants.",
    )
    parser.add_argument("picture", type=Path)
    parser.add_argument("--planner", required=True, help="as cfgen score takes it")
    add_options(parser, "--planner-option", "planner")
    parser.add_argument(
        "--hazard", required=True, metavar="NAME", help="what appears: see cfgen hazards list"
    )
    parser.add_argument("--speed", type=_speed, default=10.0, metavar="M/S", help="of the car (default 10)")
    add_options(parser, "--camera", "camera that is known: fov_deg, camera_height_m, horizon_row, yaw_deg")
    parser.add_argument("--judge", default="offline", help="who judges (default offline); none for nobody")
    add_options(parser, "--judge-option", "judge")
    parser.add_argument("--out", type=Path, help="folder for what is made (default try-PICTURE-HAZARD)")
    parser.add_argument(
        "--perception", default="", metavar="NAME", help="who sees the road: see cfgen perception list"
    )
    parser.add_argument("--seed", type=_whole, default=0, help="another place for the hazard")
    parser.add_argument("--timeout", type=seconds, default=120.0, metavar="S", help="seconds for one answer")
    add_startup(parser)
    add_runtime(parser)
    add_network(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(func=_try)


def _speed(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 70:
        raise argparse.ArgumentTypeError(f"expected 0 to 70 m/s, found {text}")
    return value


def _whole(text: str) -> int:
    return 0 if text == "0" else positive(text)


def _try(arguments: argparse.Namespace) -> int:
    from cfgen.library.single import try_picture

    with limited(network(arguments)):
        tried = try_picture(
            arguments.picture,
            arguments.planner,
            arguments.hazard,
            out=arguments.out,
            planner_options=parse_options(arguments.planner_option, "--planner-option"),
            judge=arguments.judge,
            judge_options=parse_options(arguments.judge_option, "--judge-option"),
            speed=arguments.speed,
            camera=parse_options(arguments.camera, "--camera"),
            perception=arguments.perception,
            seed=arguments.seed,
            timeout_s=arguments.timeout,
            startup_timeout_s=arguments.startup_timeout,
            python=arguments.python or "",
            planner_network=arguments.planner_network,
            planner_memory=arguments.planner_memory,
            quiet=arguments.quiet,
        )
    for line in tried.lines():
        print(visible(line))
    print(f"Picture: {tried.panel}")
    print(f"Next: cfgen report {tried.run.bench.path}")
    return 0 if tried.before.plan and tried.after.plan else 1
