"""What the scenes of a build that are of one drive tell each other of the sun."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from cfgen.core.errors import CfgenError
from cfgen.metrics.paired import recording_of
from cfgen.perception.drive_sun import SIDE, Turn, glance, seen_from, turn
from cfgen.perception.sun_signs import SunSigns
from cfgen.records import Scene
from cfgen.scenes.folder import SceneFolder, load_scene

#: Scenes that are remembered.
KEPT = 64


class DriveSuns:
    """Scenes of a drive stand next to each other by their names.

    Args:
        folders: scene_id -> its folder.
    """

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = folders
        self._scenes: OrderedDict[str, SceneFolder | None] = OrderedDict()
        self._glances: OrderedDict[str, SunSigns | None] = OrderedDict()

    def others(self, scene: Scene) -> list[SunSigns]:
        """What the scenes before and after it say, as it counts in this one; nothing of one whose drive is unknown."""
        return [*self._along(scene, -1), *self._along(scene, 1)]

    def _along(self, scene: Scene, step: int) -> Iterator[SunSigns]:
        """Of the next few scenes in one direction, as far as motions reach from one to the next."""
        began, index = when(scene), self._order.get(scene.scene_id)
        if began is None or index is None:
            return
        at, angle, variance, last = began, 0.0, 0.0, scene
        for name in self._names[index + step :: step][:SIDE]:
            folder = self._scene(name)
            if folder is None or recording_of(folder.scene) != recording_of(scene):
                return
            then = when(folder.scene)
            if then is None or (then - at) * step <= 0:
                return
            pair = (last, folder.scene) if step > 0 else (folder.scene, last)
            more = turn(*pair, abs(then - at))
            if more is None:
                return
            at, last = then, folder.scene
            angle, variance = angle + step * more.angle, variance + more.variance
            if (signs := self._glance(name, folder)) is not None:
                yield seen_from(signs, Turn(angle, variance))

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self._folders)

    @cached_property
    def _order(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self._names)}

    def _scene(self, name: str) -> SceneFolder | None:
        """None where it cannot be read: whose own case it is says so."""
        if name not in self._scenes:
            try:
                self._scenes[name] = load_scene(Path(self._folders[name]))
            except CfgenError:
                self._scenes[name] = None
            _forget(self._scenes)
        return self._scenes[name]

    def _glance(self, name: str, folder: SceneFolder) -> SunSigns | None:
        if name not in self._glances:
            try:
                self._glances[name] = glance(folder.scene, folder.image())
            except CfgenError:
                self._glances[name] = None
            _forget(self._glances)
        return self._glances[name]


def when(scene: Scene) -> float | None:
    """s from the start of its drive, where it tells."""
    told = (scene.extra.get(key) for key in ("t0_in_drive_s", "t0_log_s"))
    return next((float(t) for t in told if isinstance(t, int | float)), None)


def _forget(kept: OrderedDict[str, SunSigns | None] | OrderedDict[str, SceneFolder | None]) -> None:
    while len(kept) > KEPT:
        kept.popitem(last=False)
