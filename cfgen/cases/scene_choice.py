"""Which scenes a build tries: all of a folder, or those drawn from what meets conditions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from cfgen.core.errors import CfgenError, InputError
from cfgen.core.faults import contained
from cfgen.records import Fault
from cfgen.records.sampling import Sampling
from cfgen.scenes.folder import find_scenes, load_scene, scene_hash
from cfgen.scenes.sampling import draw


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
        _take(chosen, find_scenes(source), strict)
    else:
        frame, drawn = draw(source, drawing.where, drawing.quota, drawing.weights, drawing.n, drawing.seed)
        strata = []
        for stratum, folders in zip(frame.strata, drawn, strict=True):
            before = set(chosen.folders)
            _take(chosen, folders, strict)
            usable = tuple(sorted(set(chosen.folders) - before))
            strata.append(stratum.model_copy(update={"usable": usable}))
        chosen.sampling = frame.model_copy(update={"strata": tuple(strata)})
    if not chosen.folders:
        first = str(next(iter(chosen.unusable.values()), "the folder is empty"))
        raise InputError(
            f"{source}: expected scenes, found none that loads ({first}); try: cfgen scenes check {source}"
        )
    return chosen


def _take(chosen: Chosen, paths: Iterable[Path], strict: bool) -> None:
    for path in paths:
        inputs = {"folder": path.name}
        if wrong := contained(partial(_look, chosen, path), "reading a scene", inputs, strict):
            chosen.unusable[path.name] = wrong


def _look(chosen: Chosen, path: Path) -> str:
    try:
        folder = load_scene(path)
        folder.image()
        scene_id = folder.scene.scene_id
        if scene_id in chosen.folders:
            return f"{path}: scene_id '{scene_id}' is also that of {chosen.folders[scene_id]}; rename one"
        chosen.hashes[scene_id] = scene_hash(path)
        chosen.folders[scene_id] = str(path.resolve())
        return ""
    except CfgenError as error:
        return str(error)
