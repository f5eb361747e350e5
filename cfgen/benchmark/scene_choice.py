"""Which scenes a build tries: all of a folder, or those drawn from what meets conditions."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from pydantic import TypeAdapter, ValidationError

from cfgen.core.disk_backed import folder_mtime_key, indexed, mtime_key
from cfgen.core.errors import CfgenError, InputError
from cfgen.core.faults import contained
from cfgen.core.files import read_json
from cfgen.records import Fault
from cfgen.records.base import Identifier
from cfgen.records.cases import Sampling
from cfgen.scenes.choosing import draw
from cfgen.scenes.folder import SCENE_FILE, load_scene, scene_hash, scene_names

#: Of more scenes only the ids are read before the first case; the rest of each is looked at when it is its turn.
AT_ONCE = 1000
_ID: TypeAdapter[str] = TypeAdapter(Identifier)


class _Options(Protocol):
    @property
    def where(self) -> str: ...
    @property
    def quota(self) -> dict[str, Any]: ...
    @property
    def weights(self) -> dict[str, Any]: ...
    @property
    def n(self) -> int: ...
    @property
    def seed(self) -> int: ...


@dataclass(frozen=True)
class Draw:
    """What is asked of the scenes."""

    where: str
    quota: Mapping[str, int]
    weights: Mapping[str, float]
    n: int
    seed: int

    @classmethod
    def of(cls, options: _Options) -> Self:
        """
        Raises:
            InputError: a quota that is no whole number above 0, or a weight that is no number above 0.
        """
        for condition, count in options.quota.items():
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise InputError(f"--quota '{condition}': expected a whole number above 0, found {count!r}")
        for condition, weight in options.weights.items():
            if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < 1e6:
                raise InputError(
                    f"--weights '{condition}': expected a number above 0 and below 1,000,000, found {weight!r}"
                )
        if conflicts := set(options.quota) & set(options.weights):
            raise InputError(f"'{sorted(conflicts)[0]}': has a quota and a weight; give one of them")
        return cls(options.where, options.quota, options.weights, options.n, options.seed)

    @property
    def draws(self) -> bool:
        return bool(self.where or self.quota or self.weights)


@dataclass
class Chosen:
    """scene_id -> folder and hash; folder -> what is wrong with those that do not load; how they were drawn."""

    folders: dict[str, str] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    unusable: dict[str, str | Fault] = field(default_factory=dict)
    sampling: Sampling | None = None


def choose(source: Path, drawing: Draw, strict: bool, check_all: bool = False) -> Chosen:
    """
    Args:
        whole: look at every scene, however many they are.

    Raises:
        InputError: nothing to choose from, or none of it loads.
    """
    chosen = Chosen()
    if not drawing.draws:
        names = scene_names(source)
        looking = _LOOK if check_all or len(names) <= AT_ONCE else _GLANCE
        _take(chosen, source, names, strict, looking)
    else:
        frame, strata_folders = draw(
            source, drawing.where, drawing.quota, drawing.weights, drawing.n, drawing.seed
        )
        strata = []
        for stratum, folders in zip(frame.strata, strata_folders, strict=True):
            before = set(chosen.folders)
            _take(chosen, source, [str(path.relative_to(source)) for path in folders], strict, _LOOK)
            usable = tuple(sorted(set(chosen.folders) - before))
            strata.append(stratum.model_copy(update={"usable": usable}))
        chosen.sampling = frame.model_copy(update={"strata": tuple(strata)})
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
