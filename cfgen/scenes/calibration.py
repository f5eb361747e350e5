"""Whether a drive's stated calibration agrees with what its frames' lane lines say."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from cfgen.core.errors import InputError
from cfgen.geometry.camera import angles, centre
from cfgen.perception.frame_camera import LANE_M, SURE, FrameCamera, scene_cameras, typical
from cfgen.perception.protocol import Perceiver
from cfgen.perception.stands import LANES_M, HeightClue, height_clue, height_seen
from cfgen.perception.views import Views
from cfgen.records import Camera
from cfgen.scenes.folder import SceneFolder

#: A stated angle that is off by more is told, deg; of the yaw, which a driver's own path blurs by about _WANDER_DEG a
#: scene, what is beyond doubt.
_TOLERANCE_DEG, _WANDER_DEG = 0.5, 1.0
#: Frames of a scene that are looked at, s.
_TIMES = (0.0, -1.0, -2.0)


@dataclass
class _Drive:
    """Frames under one stated calibration."""

    first: Path
    camera: Camera
    scenes: int = 0
    seen: list[FrameCamera] = field(default_factory=list)
    #: what each scene's frame at t0 says of the height
    heights: list[HeightClue] = field(default_factory=list)
    #: how far the pitch of the scene that strays most is off the stated one, deg, and which it is
    strays: tuple[float, str] = (0.0, "")


class CalibrationCheck:
    """Looks at scenes one by one, then tells of each drive.

    Args:
        views_in: where views are kept by frame, as in a benchmark; None keeps them in memory only.
    """

    def __init__(self, perceiver: Perceiver, views_in: Path | None = None) -> None:
        self.views = Views.of(perceiver, views_in)
        self._drives: dict[str, _Drive] = {}

    def look(self, path: Path, folder: SceneFolder) -> None:
        """Take in the front frames of a scene; those that do not decode are somebody else's fault."""
        scene, camera = folder.scene, folder.scene.front
        own = {frame.t: frame for frame in folder.frames_at(camera.name, _TIMES) if frame}
        try:
            images = {(camera.name, t): folder.image(frame) for t, frame in own.items()}
        except InputError:
            return
        views = self.views.scene(scene, images)
        seen = scene_cameras(views)
        key = json.dumps([scene.source, camera.model_dump(mode="json")], sort_keys=True)
        drive = self._drives.setdefault(key, _Drive(path, camera))
        drive.scenes += 1
        drive.seen += seen.values()
        if 0.0 in seen:
            drive.heights.append(height_clue(camera, seen[0.0], views.now.things))
        here = typical(list(seen.values()))
        if here.pitch_deg is not None and here.confidence >= SURE:
            off = here.pitch_deg - math.degrees(angles(camera)[0])
            drive.strays = max(drive.strays, (off, scene.scene_id), key=lambda each: abs(each[0]))

    def told(self) -> dict[Path, str]:
        """What disagrees, by each drive's first scene."""
        found = {drive.first: _disagreement(drive) for drive in self._drives.values()}
        return {path: words for path, words in found.items() if words}


def _disagreement(drive: _Drive) -> str:
    """In words; empty where the drive's frames agree, or say nothing sure."""
    seen = typical(drive.seen)
    if seen.pitch_deg is None or seen.confidence < SURE:
        return ""
    pitch, yaw, _ = np.degrees(angles(drive.camera))
    parts = []
    if abs(seen.pitch_deg - pitch) > _TOLERANCE_DEG:
        parts.append(f"pitch {seen.pitch_deg:.1f} degrees where {pitch:.1f} is stated")
    doubt = _TOLERANCE_DEG + 2 * _WANDER_DEG / math.sqrt(drive.scenes)
    if seen.yaw_deg is not None and abs(seen.yaw_deg - yaw) > doubt:
        parts.append(f"yaw {seen.yaw_deg:.1f} degrees where {yaw:.1f} is stated")
    height = height_seen(drive.camera, drive.heights)
    if height is not None and height.sure:
        parts.append(height.in_words())
    elif seen.lane_width_m is not None and not LANES_M[0] <= seen.lane_width_m <= LANES_M[1]:
        parts.append(
            f"a lane {seen.lane_width_m:.1f} m wide from the stated {centre(drive.camera)[2]:.2f} m of height "
            f"({seen.camera_height_m:.2f} m would make it {LANE_M:g} m)"
        )
    if not parts:
        return ""
    sure = sum(one.confidence >= SURE for one in drive.seen)
    off, scene_id = drive.strays
    farthest = (
        f"; farthest off is {scene_id}, by {off:+.1f} degrees of pitch"
        if drive.scenes > 1 and scene_id
        else ""
    )
    return (
        f"the lane lines of {sure} frames in {drive.scenes} scenes under this calibration say {', and '.join(parts)} "
        f"(confidence {seen.confidence:.2f}{farthest}); correct the calibration where these are right"
    )
