"""Which scenes a build tries: all of a folder, or those drawn from what meets conditions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from cfgen.core.errors import CfgenError, InputError
from cfgen.core.faults import contained
from cfgen.core.kept import learn_changed, stamp_of_folder
from cfgen.records import Fault
from cfgen.records.sampling import Sampling
from cfgen.scenes.folder import find_scenes, load_scene, scene_hash
from cfgen.scenes.sampling import draw

#: changes with what is looked at of a scene
_LOOKED = "scenes 1"


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
        if both := set(options.quota) & set(options.weights):
            raise InputError(f"'{sorted(both)[0]}': has a quota and a weight; give one of them")
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


def choose(source: Path, drawing: Draw, strict: bool) -> Chosen:
    """
    Raises:
        InputError: nothing to choose from, or none of it loads.
    """
    chosen = Chosen()
    if not drawing.draws:
        _take(chosen, source, find_scenes(source), strict)
    else:
        frame, drawn = draw(source, drawing.where, drawing.quota, drawing.weights, drawing.n, drawing.seed)
        strata = []
        for stratum, folders in zip(frame.strata, drawn, strict=True):
            before = set(chosen.folders)
            _take(chosen, source, folders, strict)
            usable = tuple(sorted(set(chosen.folders) - before))
            strata.append(stratum.model_copy(update={"usable": usable}))
        chosen.sampling = frame.model_copy(update={"strata": tuple(strata)})
    if not chosen.folders:
        first = str(next(iter(chosen.unusable.values()), "the folder is empty"))
        raise InputError(
            f"{source}: expected scenes, found none that loads ({first}); try: cfgen scenes check {source}"
        )
    return chosen


def _take(chosen: Chosen, source: Path, paths: Sequence[Path], strict: bool) -> None:
    """Those of a folder that changed since they were taken the last time are looked at."""
    wrong: dict[str, str | Fault] = {}

    def look(names: Sequence[str]) -> Iterator[tuple[str, str] | None]:
        for name in names:
            path = source / name
            found = contained(partial(_look, path), "reading a scene", {"folder": path.name}, strict)
            if not isinstance(found, tuple):
                wrong[name] = found
            yield found if isinstance(found, tuple) else None

    found = ((str(path.relative_to(source)), stamp_of_folder(path)) for path in paths)
    for name, told in learn_changed(source, _LOOKED, found, look, whole=False).items():
        path = source / name
        if told is None:
            chosen.unusable[path.name] = wrong[name]
            continue
        scene_id, content_hash = told
        if scene_id in chosen.folders:
            chosen.unusable[path.name] = (
                f"{path}: scene_id '{scene_id}' is also that of {chosen.folders[scene_id]}; rename one"
            )
            continue
        chosen.hashes[scene_id] = content_hash
        chosen.folders[scene_id] = str(path.resolve())


def _look(path: Path) -> tuple[str, str] | str:
    """Its id and hash, or what is wrong with it."""
    try:
        folder = load_scene(path)
        folder.image()
        return folder.scene.scene_id, scene_hash(folder)
    except CfgenError as error:
        return str(error)
