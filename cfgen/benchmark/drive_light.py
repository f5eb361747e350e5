"""What the scenes of a build that are of one drive tell each other of the sun."""

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from cfgen.core.errors import CfgenError
from cfgen.geometry.frames import whole_motion
from cfgen.perception.light import LightClues, neighbor_clues
from cfgen.perception.settings import LIGHT
from cfgen.records import Scene, recording_of
from cfgen.scenes.folder import load_scene

#: Scenes that are remembered.
_REMEMBERED = 64


class DriveLight:
    """Scenes of a drive stand next to each other by their names.

    Args:
        folders: scene_id -> its folder.
    """

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = folders
        self._scene = lru_cache(_REMEMBERED)(self._load)

    def neighbors(self, scene: Scene) -> list[LightClues]:
        """What the scenes before and after it show, turned into this one; nothing where its drive is unknown."""
        return [*self._along(scene, -1), *self._along(scene, 1)]

    def _along(self, scene: Scene, step: int) -> Iterator[LightClues]:
        """Of the next few scenes in one direction, as far as motions reach from one to the next."""
        index, angle, last = self._order.get(scene.scene_id), 0.0, scene
        if index is None:
            return
        for name in self._names[index + step :: step][: LIGHT.neighbors]:
            neighbor, clues = self._scene(name)
            if neighbor is None or recording_of(neighbor) != recording_of(scene):
                return
            turn = turn_between(last, neighbor) if step > 0 else turn_between(neighbor, last)
            if turn is None:
                return
            last, angle = neighbor, angle + step * turn
            if clues is not None:
                yield clues.turned(angle)

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self._folders)

    @cached_property
    def _order(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self._names)}

    def _load(self, name: str) -> tuple[Scene | None, LightClues | None]:
        """None for what cannot be read: whose own case it is says so."""
        scene = None
        try:
            folder = load_scene(Path(self._folders[name]))
            scene = folder.scene
            return scene, neighbor_clues(scene, folder.image())
        except CfgenError:
            return scene, None


def turn_between(earlier: Scene, later: Scene) -> float | None:
    """How far the car turned left from t0 of one scene to t0 of another, rad.

    None where their order or motions are unknown, or too much of the drive between them is missing.
    """
    start, end = drive_time(earlier), drive_time(later)
    if start is None or end is None or end <= start:
        return None
    if not (earlier.motion_known is True and later.motion_known is True):
        return None
    before, after, gap = whole_motion(earlier), whole_motion(later), end - start
    recorded = min(gap, before.t[-1])
    if gap + after.t[0] - recorded > LIGHT.missing_s:
        return None
    headings = [
        float(np.interp(t, motion.t, np.unwrap([pose[2] for pose in motion.poses])))
        for motion, t in ((before, recorded), (after, max(recorded - gap, after.t[0])))
    ]
    return headings[0] - headings[1]


def drive_time(scene: Scene) -> float | None:
    """s from the start of its drive, where it tells."""
    times = (scene.extra.get(key) for key in ("t0_in_drive_s", "t0_log_s"))
    return next((float(t) for t in times if isinstance(t, int | float)), None)
