"""``cfgen scenes``: look at, check, import and blur driving scenes."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App

from cfgen import library
from cfgen.cli.parsing import add, group
from cfgen.core.errors import InputError, Shortfall
from cfgen.core.options import Count, Place, Quiet, Strict
from cfgen.library import PerceptionSettings, SceneFolder
from cfgen.options import PerceptionName, Where

if TYPE_CHECKING:
    from cfgen.scenes.check import SceneFault
    from cfgen.scenes.choosing import Tagged
    from cfgen.scenes.importing import ImportSummary

#: how many of each cause are named
_EXAMPLES = 3


def register(app: App) -> None:
    scenes = group("scenes", "List, check, show, import or blur driving scenes.")
    add(scenes, _list)
    add(scenes, library.check_scenes, _show_faults, name="check")
    add(scenes, _show)
    add(scenes, library.import_scenes, _show_import, name="import")
    add(scenes, library.anonymize_scenes, _show_anonymized, name="anonymize")
    add(scenes, _schema)
    app.command(scenes)


def _list(
    folder: SceneFolder,
    *,
    where: Where = "",
    count: Annotated[str, "How many scenes have each value of this tag."] = "",
) -> int:
    """One line per scene."""
    from cfgen.scenes.choosing import matching
    from cfgen.scenes.folder import find_scenes, load_scene

    root = Path(folder)
    if count:
        return _count(root, where, count)
    if where:
        scenes, matched = matching(root, where)
        folders = [scene.folder for scene in matched]
        print(_matching(len(matched), scenes))
    else:
        folders = find_scenes(root)
    print(f"{'scene':<32} {'km/h':>5} {'cameras':>7} {'frames':>6} {'future':>7}  camera model and source")
    unusable = 0
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
    suffix = f"; {len(wrong)} have a record that cannot be read, the first: {wrong[0]}" if wrong else ""
    return f"{count} of {len(scenes)} scenes match{suffix}"


def _count(folder: Path, where: str, tag: str) -> int:
    from collections import Counter

    from cfgen.scenes.choosing import condition, known_tags, matching

    scenes, matched = matching(folder, where)
    condition(tag).check(known_tags(scenes))
    counts: Counter[str] = Counter()
    for scene in matched:
        value = scene.tags.get(tag)
        values = value if isinstance(value, list) else ["(none)" if value is None else value]
        counts.update(f"{round(v, 1):g}" if isinstance(v, float) else str(v) for v in values)
    print(_matching(len(matched), scenes))
    for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count:>8}  {word}")
    return 0


def _show_faults(
    faults_of: "dict[Path, list[SceneFault]]", *, perception: str, perception_options: object
) -> int:
    from cfgen.perception.registry import create_perceiver, seen_by
    from cfgen.scenes.check import in_lines, unusable

    for line in in_lines(faults_of):
        print(line)
    broken = sum(unusable(faults) for faults in faults_of.values())
    faulted = sum(any(fault.level == "fault" for fault in faults) for faults in faults_of.values())
    odd = sum(bool(faults) for faults in faults_of.values()) - broken
    perceiver = create_perceiver(perception, dict(perception_options or {}))  # type: ignore[call-overload]
    print(
        f"{len(faults_of)} scenes: {len(faults_of) - broken - odd} without fault, {odd} with warnings, "
        f"{broken} unusable"
        + (f", {faulted} of these because cfgen itself broke on them" if faulted else "")
        + f"; road seen by: {seen_by(perceiver.name)}"
    )
    if broken:
        raise Shortfall(f"{broken} of {len(faults_of)} scenes cannot be used; the faults are above")
    return 0


def _show(
    folder: SceneFolder,
    *,
    out: Annotated[Place, "Page to write."] = Path("scenes.html"),
    limit: Annotated[Count | None, "Only the first N scenes."] = None,
    perception: PerceptionName = "",
    perception_options: PerceptionSettings = None,
    quiet: Quiet = False,
    strict: Strict = False,
) -> int:
    """Write a page with the path of every scene over its frames."""
    from cfgen.perception.registry import create_perceiver
    from cfgen.scenes.show import write_page

    perceiver = create_perceiver(perception, dict(perception_options or {}))
    count, undrawn = write_page(Path(folder), Path(out), limit, quiet, strict, perceiver)
    print(f"{count} scenes in {out}: open it in a browser; the path should lie on the road")
    if undrawn:
        raise Shortfall(f"{undrawn} of {count} scenes cannot be drawn; the page says why")
    return 0


def _show_import(
    summary: "ImportSummary", *, source: Path, out: Path, by_reference: bool, reader: str, options: object
) -> int:
    from cfgen.scenes.importing import open_log, size_of

    log = open_log(out, reader, source, dict(options or {}))  # type: ignore[call-overload]
    print(f"{summary.written} scenes written to {out}, {summary.kept} were there already")
    print(f"{size_of(summary.folders) / 1e6:.1f} MB on disk")
    if by_reference:
        print(
            f"{summary.linked} images link to {source}: keep it where it is; {summary.copied} lie inside "
            "other files there and were copied"
        )
    _show_by_cause("camera", [(name, words, _cause(name, words)) for name, words in summary.cameras.items()])
    _show_by_cause("note", [(name, words, _cause(name, words)) for name, words in summary.notes.items()])
    _show_by_cause("left out", [(name, why, _cause(name, why)) for name, why in summary.failed.items()])
    _show_by_cause("fault", [(fault.where, str(fault), fault.kind) for fault in summary.faults])
    if summary.failed or summary.faults:
        raise Shortfall(
            f"{len(summary.failed)} drives or scenes left out, {len(summary.faults)} faults; all are in {log.path}"
        )
    if not summary.written + summary.kept:
        raise Shortfall(f"{source}: has no drive that a scene can be cut from")
    print(f"Next: cfgen scenes check {out}, and look at cfgen scenes show {out}")
    return 0


def _show_by_cause(what: str, items: list[tuple[str, str, str]]) -> None:
    """Names and reasons, with how many more have the same cause."""
    causes: dict[str, list[tuple[str, str]]] = {}
    for name, reason, cause in items:
        causes.setdefault(cause, []).append((name, reason))
    for alike in sorted(causes.values(), key=len, reverse=True):
        for name, reason in alike[:_EXAMPLES]:
            print(f"{what}: {reason}" if name in reason else f"{what}: {name}: {reason}")
        if len(alike) > _EXAMPLES:
            print(f"{what}: ... and {len(alike) - _EXAMPLES} more like these, {len(alike)} in all")


def _cause(name: str, reason: str) -> str:
    """The reason without what differs from one drive to the next: paths, names and numbers."""
    words = (word for word in reason.replace(name, "").split() if "/" not in word)
    return re.sub(r"[0-9a-f]*\d[0-9a-f.]*", "#", " ".join(words))


def _show_anonymized(counts: dict[str, int], *, out: Path) -> int:
    print(
        f"{counts['scenes']} scenes written to {out}: {counts['faces']} faces and {counts['plates']} plates blurred in "
        f"{counts['frames']} frames; look at them before you trust it: no detector finds all"
    )
    return 0


def _schema() -> int:
    """Print the JSON schema of scene.json."""
    from cfgen.scenes.format import json_schema

    print(json.dumps(json_schema(), indent=1))
    return 0
