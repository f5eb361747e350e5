"""``cfgen planner``: list what can be scored, start a new one."""

import argparse
from pathlib import Path

from cfgen.cli.commands.lists import print_list


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("planner", help="list planners, or start a package for your own")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="names that --planner takes")
    listing.set_defaults(func=_list)
    init = commands.add_parser("init", help="write a small installable planner package")
    init.add_argument("folder", type=Path)
    init.set_defaults(func=_init)


def _list(arguments: argparse.Namespace) -> int:
    from cfgen.planners.registry import PLANNERS

    print_list(
        PLANNERS,
        {
            "package.module:Class": "a Python class",
            "cmd:PROGRAM ARGUMENTS": "a program that speaks JSON lines",
            "http://HOST:PORT": "a server",
            "outputs.jsonl": "answers made elsewhere",
        },
    )
    return 0


def _init(arguments: argparse.Namespace) -> int:
    from cfgen.planners.scaffold import write_package

    for path in write_package(arguments.folder):
        print(path)
    name = arguments.folder.resolve().name.replace("_", "-").lower()
    print(f"Next: pip install -e {arguments.folder} && cfgen score bench --planner {name}")
    print("in an environment of its own: the same, with --python VENV/bin/python")
    return 0
