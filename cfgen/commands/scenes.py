"""``cfgen scenes``: look at, check and import driving scenes."""

import argparse
import inspect
import json
import textwrap
from pathlib import Path

from cfgen.commands.options import add_options, parse_options, positive, seconds
from cfgen.errors import Shortfall


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("scenes", help="list, check, show or import driving scenes")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    action = actions.add_parser("list", help="one line per scene")
    action.add_argument("folder", type=Path)
    action.set_defaults(func=_list)

    action = actions.add_parser("check", help="name every fault; exit code 1 when a scene cannot be used")
    action.add_argument("folder", type=Path)
    action.set_defaults(func=_check)

    action = actions.add_parser("show", help="write a page with path, motion and speed of every scene")
    action.add_argument("folder", type=Path)
    action.add_argument("--out", type=Path, default=Path("scenes.html"), help="page (default scenes.html)")
    action.add_argument("--limit", type=positive, help="only the first N scenes")
    action.add_argument("--quiet", action="store_true", help="no progress")
    action.set_defaults(func=_show)

    action = actions.add_parser("import", help="cut scenes out of recorded drives, into the folder format")
    action.add_argument("reader", help="see 'cfgen scenes readers'")
    action.add_argument("source", type=Path, help="folder or file in the layout of the reader")
    action.add_argument(
        "--out", type=Path, required=True, help="folder for the scenes; what is there is kept"
    )
    action.add_argument("--every", type=seconds, default=3.0, metavar="3s", help="a scene every so often")
    action.add_argument("--limit", type=positive, help="at most N scenes, spread evenly over the source")
    action.add_argument(
        "--frames", type=moments_before, metavar="S,S", help="seconds before t0 (default 0,0.25 ... 2)"
    )
    action.add_argument("--lossless", action="store_true", help="video frames as PNG, not JPEG")
    add_options(action, "--option", "reader")
    action.add_argument("--quiet", action="store_true", help="no progress")
    action.set_defaults(func=_import)

    action = actions.add_parser("readers", help="what can be imported, with each reader's options")
    action.set_defaults(func=_readers)

    action = actions.add_parser("schema", help="print the JSON schema of scene.json")
    action.set_defaults(func=_schema)


def moments_before(text: str) -> tuple[float, ...]:
    """``0,0.1,0.2``: seconds before t0, as times relative to it."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected seconds like 0,0.1,0.2, found '{text}'") from None
    if not all(0 <= value <= 10 for value in values):
        raise argparse.ArgumentTypeError(f"expected 0 to 10 s before t0, found '{text}'")
    return tuple(-value for value in values)


def _list(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.folder import find_scenes, load_scene

    folders = find_scenes(arguments.folder)
    print(f"{'scene':<32} {'km/h':>5} {'cameras':>7} {'frames':>6} {'future':>7}  camera model and source")
    for path in folders:
        scene = load_scene(path).scene
        future = f"{scene.future.t[-1]:g} s" if scene.future else "none"
        front = f"{scene.front.model} {scene.front.width}x{scene.front.height}"
        print(
            f"{scene.scene_id:<32} {scene.speed * 3.6:5.0f} {len(scene.cameras):7} {len(scene.frames):6} {future:>7}  "
            f"{front}, {scene.source}"
        )
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.check import check_folder

    found = check_folder(arguments.folder)
    for path, faults in found.items():
        for fault in faults:
            print(f"{fault.level}: {path}: {fault.where}: {fault.what}")
    broken = sum(any(fault.level == "error" for fault in faults) for faults in found.values())
    odd = sum(bool(faults) for faults in found.values()) - broken
    print(
        f"{len(found)} scenes: {len(found) - broken - odd} without fault, {odd} with warnings, {broken} unusable"
    )
    if broken:
        raise Shortfall(f"{broken} of {len(found)} scenes cannot be used; the faults are above")
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.show import write_page

    shown = write_page(arguments.folder, arguments.out, arguments.limit, arguments.quiet)
    print(f"{shown} scenes in {arguments.out}: open it in a browser; the path should lie on the road")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.drive import FRAME_TIMES
    from cfgen.scenes.importing import import_scenes, open_reader

    options = parse_options(arguments.option, "--option")
    reader = open_reader(arguments.reader, arguments.source, options)
    summary = import_scenes(
        reader,
        arguments.out,
        every_s=arguments.every,
        limit=arguments.limit,
        lossless=arguments.lossless,
        frame_times=arguments.frames or FRAME_TIMES,
        quiet=arguments.quiet,
    )
    for name, reason in summary.failed.items():
        print(f"left out: {name}: {reason}")
    print(f"{summary.written} scenes written to {arguments.out}, {summary.kept} were there already")
    if summary.failed:
        raise Shortfall(f"{len(summary.failed)} could not be read; the reasons are above")
    print(f"Next: cfgen scenes check {arguments.out}, and look at cfgen scenes show {arguments.out}")
    return 0


def _readers(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.importing import READERS

    for name in READERS.names():
        print(f"{name}\n{textwrap.indent(inspect.getdoc(READERS.get(name)) or '', '    ')}\n")
    return 0


def _schema(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.format import json_schema

    print(json.dumps(json_schema(), indent=1))
    return 0
