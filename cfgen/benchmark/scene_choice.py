"""Which scenes a build tries: all of a folder, or those that meet a condition."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from cfgen.core.disk_backed import folder_mtime_key, indexed, mtime_key
from cfgen.core.errors import CfgenError, InputError
from cfgen.core.faults import contained
from cfgen.core.files import read_json
from cfgen.records import Fault
from cfgen.records.base import Identifier
from cfgen.records.cases import Sampling
from cfgen.scenes.choosing import matching
from cfgen.scenes.folder import SCENE_FILE, load_scene, scene_hash, scene_names

#: Of more scenes only the ids are read before the first case; the rest of each is looked at when it is its turn.
AT_ONCE = 1000
_ID: TypeAdapter[str] = TypeAdapter(Identifier)


@dataclass
class Chosen:
    """scene_id -> folder and hash; folder -> what is wrong with those that do not load; what they had to meet."""

    folders: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    unusable: dict[str, str | Fault] = field(default_factory=dict)
    sampling: Sampling | None = None


def choose(source: Path, where: str, strict: bool, check_all: bool = False) -> Chosen:
    """
    Args:
        where: the condition that scenes must meet; "": none. check_all: look at every scene, however many they are.

    Raises:
        InputError: nothing to choose from, none that meets the condition, or none of it loads.
    """
    chosen = Chosen()
    if where:
        scenes, matched = matching(source, where)
        chosen.sampling = Sampling(
            where=where,
            found=len(scenes),
            unreadable=sum(bool(scene.wrong) for scene in scenes),
            matched=len(matched),
        )
        names = [scene.name for scene in matched]
        if not names:
            raise InputError(
                f"{source}: none of its {len(scenes)} scenes meets --where '{where}'; try cfgen scenes list"
            )
    else:
        names = scene_names(source)
    _take(chosen, source, names, strict, _LOOK if check_all or len(names) <= AT_ONCE else _GLANCE)
    if not chosen.folders:
        first = str(next(iter(chosen.unusable.values()), "the folder is empty"))
        raise InputError(
            f"{source}: expected scenes, found none that loads ({first}); try: cfgen scenes check {source}"
        )
    return chosen


def _take(chosen: Chosen, source: Path, names: Sequence[str], strict: bool, looking: "_Looking") -> None:
    """Those of a folder that changed since they were taken the last time are looked at."""
    wrong: dict[str, str | Fault] = {}

    def look(names: Sequence[str]) -> Iterator[tuple[str, str] | None]:
        for name in names:
            path = source / name
            result = contained(partial(looking.look, path), "reading a scene", {"folder": path.name}, strict)
            if not isinstance(result, tuple):
                wrong[name] = result
            yield result if isinstance(result, tuple) else None

    stamps = ((name, looking.stamp(f"{source}/{name}")) for name in names)
    above = str(source.resolve())
    for name, identity in indexed(source, looking.kind, stamps, look, complete=False).items():
        if identity is None:
            chosen.unusable[(source / name).name] = wrong[name]
            continue
        scene_id, content_hash = identity
        if scene_id in chosen.folders:
            chosen.unusable[(source / name).name] = (
                f"{source / name}: scene_id '{scene_id}' is also that of {chosen.folders[scene_id]}; rename one"
            )
            continue
        chosen.hashes[scene_id] = content_hash
        chosen.folders[scene_id] = above if name == "." else f"{above}/{name}"


def _stamp_of_record(folder: str) -> str:
    try:
        return mtime_key(os.stat(f"{folder}/{SCENE_FILE}"))  # noqa: PTH116 - paths as objects take four times as long
    except OSError:  # what is wrong with it is told when it is read
        return "?"


def _look(path: Path) -> tuple[str, str] | str:
    """Its id and hash, or what is wrong with it."""
    try:
        folder = load_scene(path)
        folder.image()
        return folder.scene.scene_id, scene_hash(folder)
    except CfgenError as error:
        return str(error)


def _glance(path: Path) -> tuple[str, str] | str:
    """Its id and no hash, or what is wrong: not what it shows, nor whether its images can be read."""
    try:
        scene_id = read_json(path / SCENE_FILE).get("scene_id")
        return _ID.validate_python(scene_id), ""
    except (CfgenError, ValidationError):
        return _look(path)


@dataclass(frozen=True)
class _Looking:
    """How scenes are looked at. ``kind``: changes with what ``look`` tells; ``stamp``: with what it depends on."""

    kind: str
    look: Callable[[Path], tuple[str, str] | str]
    stamp: Callable[[str], str]


_LOOK = _Looking("scenes 1", _look, folder_mtime_key)
_GLANCE = _Looking("scene ids 1", _glance, _stamp_of_record)
