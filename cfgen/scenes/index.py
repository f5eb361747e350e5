"""The tags of every scene below a folder, kept in the user's cache folder so that 200,000 scenes answer in seconds."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cfgen.core.disk_backed import indexed
from cfgen.core.errors import InputError
from cfgen.scenes.folder import SCENE_FILE, find_scenes
from cfgen.scenes.seen_tags import SeenTags
from cfgen.scenes.tags import Tags, tags_of

#: Changes with what is told of a scene.
_KIND = "tags 1"


@dataclass(frozen=True)
class Tagged:
    """A scene folder with its tags, or with what is wrong."""

    root: Path
    name: str
    tags: Tags
    wrong: str = ""

    @property
    def folder(self) -> Path:
        return self.root / self.name


def tagged_scenes(folder: Path) -> list[Tagged]:
    """All scenes below ``folder``, sorted; only those that changed since the last time are read.

    Raises:
        InputError: no such folder, or no scene in it.
    """
    if not folder.is_dir():
        find_scenes(folder)  # says what is wrong

    def learn(names: Sequence[str]) -> Iterator[tuple[Tags, str]]:
        return (_look(folder / name) for name in names)

    told = indexed(folder, _KIND, _found(str(folder)), learn)
    if not told:
        find_scenes(folder)
    seen = SeenTags.read(folder)
    return [Tagged(folder, name, seen.of(name) | tags, wrong) for name, (tags, wrong) in sorted(told.items())]


def _found(root: str, below: str = "") -> Iterator[tuple[str, str]]:
    """Scene folders as paths relative to ``root``, and a stamp that changes with their scene.json."""
    here = f"{root}/{below}" if below else root
    try:
        at = os.stat(f"{here}/{SCENE_FILE}")  # noqa: PTH116 - paths as objects take four times as long
        yield below or ".", f"{at.st_mtime_ns}-{at.st_size}"
        return
    except OSError:
        pass
    try:
        with os.scandir(here) as entries:
            inner = [entry.name for entry in entries if entry.name[0] != "." and entry.is_dir()]
    except OSError:
        return
    for name in inner:
        yield from _found(root, f"{below}/{name}" if below else name)


def _look(folder: Path) -> tuple[Tags, str]:
    path = folder / SCENE_FILE
    try:
        content = json.loads(path.read_bytes())
        return tags_of(content), ""
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, ZeroDivisionError) as error:
        return (
            {},
            f"{path}: cannot be read for its tags ({type(error).__name__}: {error}); try cfgen scenes check",
        )


def values_of(scenes: list[Tagged], name: str, at_most: int = 8) -> list[str]:
    """Values that a tag has, the commonest first."""
    counts: dict[str, int] = {}
    for scene in scenes:
        value = scene.tags.get(name)
        for one in value if isinstance(value, list) else [] if value is None else [value]:
            counts[str(one)] = counts.get(str(one), 0) + 1
    return sorted(counts, key=lambda value: (-counts[value], value))[:at_most]


def known_tags(scenes: list[Tagged]) -> set[str]:
    """
    Raises:
        InputError: none of the scenes can be read.
    """
    if all(scene.wrong for scene in scenes):
        raise InputError(scenes[0].wrong)
    return {name for scene in scenes for name in scene.tags}
