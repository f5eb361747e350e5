"""``cfgen scenes``: look at, check and import driving scenes."""

import argparse
import json
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from cfgen.cli.commands.lists import needs
from cfgen.cli.options import add_options, add_perception, add_where, parse_options, positive, seconds
from cfgen.core.errors import InputError, Shortfall

if TYPE_CHECKING:
    from cfgen.perception.protocol import Perceiver
    from cfgen.scenes.anonymize import Anonymizer
    from cfgen.scenes.index import Tagged

#: how many of each cause are named
_EXAMPLES = 3
#: of frames that are kept
_FASTEST_HZ = 100


def register(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("scenes", help="list, check, show or import driving scenes")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    action = actions.add_parser("list", help="one line per scene")
    action.add_argument("folder", type=Path)
    add_where(action, "list")
    action.add_argument("--count", metavar="TAG", help="how many scenes have each value of this tag")
    action.set_defaults(func=_list)

    action = actions.add_parser("check", help="name every fault; exit code 1 when a scene cannot be used")
    action.add_argument("folder", type=Path)
    add_perception(action)
    _add_running(action)
    action.set_defaults(func=_check)

    action = actions.add_parser("tag", help="look at the front frames, for tags that --where can ask for")
    action.add_argument("folder", type=Path)
    add_perception(action)
    _add_running(action)
    action.set_defaults(func=_tag)

    action = actions.add_parser("show", help="write a page with path, motion and speed of every scene")
    action.add_argument("folder", type=Path)
    action.add_argument("--out", type=Path, default=Path("scenes.html"), help="page (default scenes.html)")
    action.add_argument("--limit", type=positive, help="only the first N scenes")
    add_perception(action)
    _add_running(action)
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
        "--frames",
        type=moments_before,
        metavar="S,S|NHz|all",
        help="seconds before t0, or a rate: 10Hz keeps 10 a second of the last 2 s, all whatever there is "
        "(default 4Hz; physical-ai-av: 10Hz, which is what planners made for its drives want)",
    )
    action.add_argument("--lossless", action="store_true", help="video frames as PNG, not JPEG")
    action.add_argument(
        "--by-reference",
        action="store_true",
        help="link to images that are files of their own instead of copying them; keep the source where it is",
    )
    action.add_argument(
        "--drive-on",
        choices=("left", "right"),
        default="",
        help="side that traffic keeps to (default: right)",
    )
    add_options(action, "--option", "reader")
    action.add_argument(
        "--anonymize",
        default="",
        metavar="NAME",
        help="blur faces and plates that this one finds (cfgen anonymizer list); coarse needs no model of faces",
    )
    add_options(action, "--anonymize-option", "anonymizer")
    add_perception(action)
    _add_running(action)
    action.set_defaults(func=_import)

    action = actions.add_parser("anonymize", help="a copy of scenes with faces and plates blurred")
    action.add_argument("folder", type=Path)
    action.add_argument("--out", type=Path, required=True, help="folder for the copy; what is there is kept")
    action.add_argument(
        "--with", dest="anonymize", default="coarse", metavar="NAME", help="who finds them (default coarse)"
    )
    add_options(action, "--anonymize-option", "anonymizer")
    action.add_argument("--quiet", action="store_true", help="no progress")
    action.set_defaults(func=_anonymize)

    action = actions.add_parser("readers", help="what can be imported, with each reader's options")
    action.set_defaults(func=_readers)

    action = actions.add_parser("schema", help="print the JSON schema of scene.json")
    action.set_defaults(func=_schema)


def _add_running(action: argparse.ArgumentParser) -> None:
    action.add_argument("--quiet", action="store_true", help="no progress")
    action.add_argument(
        "--strict", action="store_true", help="end at the first unexpected exception, with its traceback"
    )


def _perceiver(arguments: argparse.Namespace) -> "Perceiver":
    from cfgen.perception.registry import create_perceiver

    options = parse_options(arguments.perception_option, "--perception-option")
    return create_perceiver(arguments.perception, options)


def moments_before(text: str) -> tuple[float, ...]:
    """``0,0.1,0.2``: seconds before t0, as times relative to it; ``10Hz``: 10 a second of the last 2 s; ``all``: every
    frame of these, up to 100 a second."""
    if text.lower() == "all":
        text = f"{_FASTEST_HZ}Hz"
    if text.lower().endswith("hz"):
        rate = text[:-2]
        if not rate.isdecimal() or not 1 <= int(rate) <= _FASTEST_HZ:
            raise argparse.ArgumentTypeError(f"expected a rate from 1Hz to {_FASTEST_HZ}Hz, found '{text}'")
        return tuple(-round(step / int(rate), 4) for step in range(2 * int(rate) + 1))
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected seconds like 0,0.1,0.2, a rate like 10Hz, or all, found '{text}'"
        ) from None
    if not all(0 <= value <= 10 for value in values):
        raise argparse.ArgumentTypeError(f"expected 0 to 10 s before t0, found '{text}'")
    return tuple(-value for value in values)


def _list(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.folder import find_scenes, load_scene

    unusable = 0
    if arguments.count:
        return _count(arguments)
    if arguments.where:
        from cfgen.scenes.sampling import matching

        scenes, matched = matching(arguments.folder, arguments.where)
        folders = [scene.folder for scene in matched]
        print(_matching(len(matched), scenes))
    else:
        folders = find_scenes(arguments.folder)
    print(f"{'scene':<32} {'km/h':>5} {'cameras':>7} {'frames':>6} {'future':>7}  camera model and source")
    for path in folders:
        try:
            scene = load_scene(path).scene
        except InputError as error:
            unusable += 1
            print(f"unusable: {error}")
            continue
        future = f"{scene.future.t[-1]:g} s" if scene.future else "none"
        front = f"{scene.front.model} {scene.front.width}x{scene.front.height}"
        print(
            f"{scene.scene_id:<32} {scene.speed * 3.6:5.0f} {len(scene.cameras):7} {len(scene.frames):6} {future:>7}  "
            f"{front}, {scene.source}"
        )
    if unusable:
        raise Shortfall(f"{unusable} of {len(folders)} scenes cannot be used; the reasons are above")
    return 0


def _matching(count: int, scenes: "list[Tagged]") -> str:
    wrong = [scene.wrong for scene in scenes if scene.wrong]
    lost = f"; {len(wrong)} have a record that cannot be read, the first: {wrong[0]}" if wrong else ""
    return f"{count} of {len(scenes)} scenes match{lost}"


def _count(arguments: argparse.Namespace) -> int:
    from collections import Counter

    from cfgen.scenes.condition import condition
    from cfgen.scenes.index import known_tags
    from cfgen.scenes.sampling import matching

    scenes, matched = matching(arguments.folder, arguments.where)
    condition(arguments.count).check(known_tags(scenes))
    counts: Counter[str] = Counter()
    for scene in matched:
        value = scene.tags.get(arguments.count)
        words = value if isinstance(value, list) else ["(none)" if value is None else value]
        counts.update(f"{round(w, 1):g}" if isinstance(w, float) else str(w) for w in words)
    print(_matching(len(matched), scenes))
    for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:>8}  {word}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from cfgen.perception.registry import seen_by
    from cfgen.perception.views import views_folder
    from cfgen.scenes.check import check_folder, in_lines, unusable

    perceiver = _perceiver(arguments)
    found = check_folder(arguments.folder, arguments.quiet, arguments.strict, perceiver, views_folder())
    for line in in_lines(found):
        print(line)
    broken = sum(unusable(faults) for faults in found.values())
    faulted = sum(any(fault.level == "fault" for fault in faults) for faults in found.values())
    odd = sum(bool(faults) for faults in found.values()) - broken
    print(
        f"{len(found)} scenes: {len(found) - broken - odd} without fault, {odd} with warnings, {broken} unusable"
        + (f", {faulted} of these because cfgen itself broke on them" if faulted else "")
        + f"; road seen by: {seen_by(perceiver.name)}"
    )
    if broken:
        raise Shortfall(f"{broken} of {len(found)} scenes cannot be used; the faults are above")
    return 0


def _tag(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.index import tagged_scenes, values_of
    from cfgen.scenes.seen_tags import look
    from cfgen.scenes.tags import SEEN

    looked = look(arguments.folder, _perceiver(arguments), arguments.quiet, arguments.strict)
    scenes = tagged_scenes(arguments.folder)
    for name in sorted({name for scene in scenes for name in scene.tags if name.startswith(SEEN)}):
        having = sum(name in scene.tags for scene in scenes)
        print(f"{name:<16} {having:>6} scenes: {', '.join(values_of(scenes, name, at_most=6))}")
    for name, why in looked.failed.items():
        print(f"not looked at: {arguments.folder / name}: {why}")
    known = looked.scenes - looked.now - len(looked.failed)
    print(
        f"{looked.scenes} scenes: {looked.now} looked at, {known} known before, {len(looked.failed)} cannot be"
    )
    if looked.failed:
        raise Shortfall(
            f"{len(looked.failed)} of {looked.scenes} scenes cannot be looked at; they match no such tag"
        )
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.show import write_page

    perceiver = _perceiver(arguments)
    shown, undrawn = write_page(
        arguments.folder, arguments.out, arguments.limit, arguments.quiet, arguments.strict, perceiver
    )
    print(f"{shown} scenes in {arguments.out}: open it in a browser; the path should lie on the road")
    if undrawn:
        raise Shortfall(f"{undrawn} of {shown} scenes cannot be drawn; the page says why")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    from cfgen.core.faults import ends_the_run, fault_of
    from cfgen.scenes.contact_sheet import write_contact_sheet
    from cfgen.scenes.importing import import_scenes, open_log, open_reader, size_of

    options = parse_options(arguments.option, "--option")
    try:
        reader = open_reader(arguments.reader, arguments.source, options, _perceiver(arguments))
    except Exception as error:
        if arguments.strict or isinstance(error, InputError) or ends_the_run(error):
            raise
        raise Shortfall(str(fault_of(error, f"reader '{arguments.reader}' on {arguments.source}"))) from error
    log = open_log(arguments.out, arguments.reader, arguments.source, options)
    summary = import_scenes(
        reader,
        arguments.out,
        every_s=arguments.every,
        limit=arguments.limit,
        lossless=arguments.lossless,
        frame_times=arguments.frames,
        quiet=arguments.quiet,
        strict=arguments.strict,
        drive_on=arguments.drive_on,
        by_reference=arguments.by_reference,
        anonymizer=_anonymizer(arguments),
        log=log,
    )
    print(
        f"{summary.written} scenes written to {arguments.out}, {summary.kept} were there already"
        + (f", {log.unknown} of them without a record of their options" if log.unknown else "")
    )
    record = log.path
    sheet = record.with_suffix(".jpg")
    if shown := write_contact_sheet(summary.folders, sheet):
        print(
            f"{size_of(summary.folders) / 1e6:.1f} MB on disk; {sheet} shows {shown} of {len(summary.folders)}: the "
            "path lies on the lane where calibration and motion are right"
        )
    if arguments.by_reference:
        print(
            f"{summary.linked} images link to {arguments.source}: keep it where it is; {summary.copied} lie inside "
            "other files there and were copied"
        )
    _tell("camera", [(name, words, _cause(name, words)) for name, words in summary.cameras.items()])
    _tell("note", [(name, words, _cause(name, words)) for name, words in summary.notes.items()])
    _tell("left out", [(name, reason, _cause(name, reason)) for name, reason in summary.failed.items()])
    _tell("fault", [(fault.where, str(fault), fault.kind) for fault in summary.faults])
    if summary.failed or summary.faults:
        raise Shortfall(
            f"{len(summary.failed)} drives or scenes left out, {len(summary.faults)} faults; all are in {record}"
        )
    if not summary.written + summary.kept:
        raise Shortfall(f"{arguments.source}: has no drive that a scene can be cut from")
    print(f"Next: cfgen scenes check {arguments.out}, and look at cfgen scenes show {arguments.out}")
    return 0


def _anonymizer(arguments: argparse.Namespace) -> "Anonymizer | None":
    from cfgen.scenes.anonymize import create_anonymizer

    options = parse_options(arguments.anonymize_option, "--anonymize-option")
    if options and not arguments.anonymize:
        raise InputError("--anonymize-option: expected --anonymize NAME with it, found none")
    return create_anonymizer(arguments.anonymize, options) if arguments.anonymize else None


def _anonymize(arguments: argparse.Namespace) -> int:
    import cfgen

    done = cfgen.anonymize_scenes(
        arguments.folder,
        arguments.out,
        by=arguments.anonymize,
        options=parse_options(arguments.anonymize_option, "--anonymize-option"),
        quiet=arguments.quiet,
    )
    print(
        f"{done['scenes']} scenes written to {arguments.out}: {done['faces']} faces and {done['plates']} plates "
        f"blurred in {done['frames']} frames; look at them before you trust it: no detector finds all"
    )
    return 0


def _tell(what: str, items: list[tuple[str, str, str]]) -> None:
    """Names and reasons, with how many more have the same cause."""
    causes: dict[str, list[tuple[str, str]]] = {}
    for name, reason, cause in items:
        causes.setdefault(cause, []).append((name, reason))
    for group in sorted(causes.values(), key=len, reverse=True):
        for name, reason in group[:_EXAMPLES]:
            print(f"{what}: {reason}" if name in reason else f"{what}: {name}: {reason}")
        if len(group) > _EXAMPLES:
            print(f"{what}: ... and {len(group) - _EXAMPLES} more like these, {len(group)} in all")


def _cause(name: str, reason: str) -> str:
    """The reason without what differs from one drive to the next: paths, names and numbers."""
    words = (word for word in reason.replace(name, "").split() if "/" not in word)
    return re.sub(r"[0-9a-f]*\d[0-9a-f.]*", "#", " ".join(words))


def _readers(arguments: argparse.Namespace) -> int:
    from cfgen.core.registry import NO_WORDS, own_doc
    from cfgen.scenes.importing import READERS

    for entry in READERS.entries():
        words = entry.problem or own_doc(READERS.get(entry.name)) or NO_WORDS
        print(
            f"{entry.name}  (from: {entry.source}; needs: {needs(entry)})\n{textwrap.indent(words, '    ')}\n"
        )
    return 0


def _schema(arguments: argparse.Namespace) -> int:
    from cfgen.scenes.format import json_schema

    print(json.dumps(json_schema(), indent=1))
    return 0
