"""One sun for a drive: what its other scenes show of the sun, each glanced at, as it counts in this one."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np

from cfgen.geometry.camera import project
from cfgen.geometry.frames import whole_motion
from cfgen.geometry.path import EgoPath
from cfgen.perception.cast_shadows import shadow_axis
from cfgen.perception.light_probe import probe_light
from cfgen.perception.sun_signs import SunSigns, sun_signs
from cfgen.records import Scene

#: Scenes before and after that are looked at.
SIDE = 5
#: Half the width of what is road because the car drives there, and how far ahead, m.
_HALF_M, _FAR_M = 1.5, 60.0
#: What a glance at another scene weighs; how far headings stray where it weighs half of that, rad.
_SHARE, _HALVED = 0.5, math.radians(20)
#: How far recorded headings stray in a second, and how far a car may turn in each that is not recorded, rad.
_STRAYS, _LOST = math.radians(2), math.radians(8)
#: Most that may be missing between two scenes, s.
_UNKNOWN_S = 5.0


class Turn(NamedTuple):
    """How far a car turned left, rad, and how far off that may be, rad²."""

    angle: float
    variance: float


def glance(scene: Scene, image: np.ndarray) -> SunSigns:
    """What the front frame at t0, (H, W, 3) uint8, says of the sun; its road is what the car drives over."""
    road = _driven_over(scene, image.shape[:2])
    shadows = shadow_axis(image, scene.front, road, np.zeros_like(road))
    return sun_signs(probe_light(image, scene.front), shadows, behind=0.0)


def turn(earlier: Scene, later: Scene, gap_s: float) -> Turn | None:
    """Between two scenes ``gap_s`` apart; None where their motions are guesses or far from meeting."""
    before, after = whole_motion(earlier), whole_motion(later)
    known = min(gap_s, before.t[-1])
    unknown_s = max(gap_s + after.t[0] - known, 0.0)
    if not (earlier.motion_known is True and later.motion_known is True) or unknown_s > _UNKNOWN_S:
        return None
    since = max(known - gap_s, after.t[0])
    angle = _heading(before.t, before.poses, known) - _heading(after.t, after.poses, since)
    return Turn(angle, _STRAYS**2 * gap_s + (_LOST * unknown_s) ** 2)


def seen_from(signs: SunSigns, turned: Turn) -> SunSigns:
    """Another scene's signs as they count in one from which its car has turned; the less surely, the less they say."""
    return signs.turned(turned.angle, _SHARE / (1 + turned.variance / _HALVED**2))


def _heading(times: Sequence[float], poses: Sequence[Sequence[float]], t: float) -> float:
    return float(np.interp(t, times, np.unwrap([pose[2] for pose in poses])))


def _driven_over(scene: Scene, shape: tuple[int, ...]) -> np.ndarray:
    """(H, W) bool: the strip of ground before the car that it will drive over."""
    path, ahead = EgoPath.from_scene(scene, _FAR_M), np.arange(3.0, _FAR_M)
    rims = []
    for lateral in (_HALF_M, -_HALF_M):
        x, y, _ = path.at(ahead, lateral)
        px, valid = project(scene.front, np.column_stack([x, y, np.zeros_like(x)]))
        rims.append(px[valid])
    strip = np.zeros(shape, np.uint8)
    if len(rims[0]) and len(rims[1]):
        outline = np.vstack([rims[0], rims[1][::-1]])
        cv2.fillPoly(strip, [np.rint(np.clip(outline, -1e4, 1e4)).astype(np.int32)], 1)
    return strip > 0
