"""The past frames' cameras, held to the frame at t0 by what both show: poses and pitches told frame by frame tremble.

A tenth of a degree from one frame to the next makes what stands still hop over the road. How a camera turned between
two frames its own picture tells far better (:mod:`cfgen.perception.ego_turn`); so each past frame looks as t0 does, but
for the turns between them. A car pitches with the road, so what it pitched in all since tells how much higher or lower
it was on a hill.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from cfgen.geometry.camera import angles, as_matrix, centre, resized, rotation
from cfgen.geometry.frames import pose_at
from cfgen.perception.ego_turn import followed, grey, turn_of
from cfgen.perception.frame_camera import turned
from cfgen.perception.views import Images
from cfgen.records import Camera, Scene

#: Frames farther apart, s, show too little of the same; fewer points than this in both leave the turn to the poses.
_GAP_S, _FEWEST = 0.35, 60
#: A turn that is off the poses' by more between two frames, or pitches in all so far off, is another car's.
_MOST_YAW, _MOST_PITCH = math.radians(1.0), math.radians(3.0)
#: From so many frames and metres on they tell how the road curves up or down.
_FRAMES, _DRIVEN_M = 4, 10.0
#: On a road that curves up or down by more than this, 1/m, lane lines tell the slope of the road far ahead, not of that
#: on which things are put: there the stated pitch counts.
_HILL = 1 / 2500
#: Frames are looked at this wide. Angles are told in such steps, rad: another processor gives the same.
_WIDTH, _STEP = 640, math.radians(0.01)


def steadied(scene: Scene, images: Images, cameras: Mapping[float, Camera]) -> dict[float, Camera]:
    """``cameras`` of the front frames by time, in the ego frame of that time, those before t0 as they turned since.

    Where two frames do not tell, the turn between them is that of the poses, and the pitch as it is told for each. On
    hills t0's is the scene's own camera.
    """
    times = sorted((t for t in cameras if t <= 0), reverse=True)
    greys = {t: grey(images[scene.front.name, t], _WIDTH) for t in times}
    down, left, tilts = 0.0, 0.0, [0.0]
    turns: list[tuple[float, float]] = []
    for after, before in pairwise(times):
        told = _turn(scene, (before, greys[before]), (after, greys[after]))
        if told is None:
            down += angles(cameras[before])[0] - angles(cameras[after])[0]
        else:
            down, left = down + told[0], left + told[1]
        tilts.append(tilts[-1] + (told[0] if told else 0.0))
        turns.append((float(np.clip(down, -_MOST_PITCH, _MOST_PITCH)), left))
    curve = _curve(scene, times, tilts)
    now = scene.front if abs(curve) > _HILL else cameras[0.0]
    pitch, yaw, _ = angles(now)
    ups = curve / 2 * _driven(scene, times) ** 2
    found = {**cameras, 0.0: now}
    for t, up, turn in zip(times[1:], ups[1:], turns, strict=True):
        held = [_STEP * round(angle / _STEP) for angle in turn]
        found[t] = _raised(turned(cameras[t], pitch + held[0], yaw + held[1]), round(float(up), 3))
    return found


def curves_up(scene: Scene, cameras: Mapping[float, Camera]) -> float:
    """By how much the road curves up, 1/m, by how high ``cameras`` as :func:`steadied` stand over the plane of t0."""
    if not cameras:
        return 0.0
    first = min(cameras)
    driven = float(_driven(scene, [first])[0])
    up = float(centre(cameras[first])[2] - centre(cameras[0.0])[2])
    return 2 * up / driven**2 if driven >= _DRIVEN_M else 0.0


def _driven(scene: Scene, times: Sequence[float]) -> np.ndarray:
    """(T,) m, how far off the car was."""
    return np.array([float(np.hypot(*pose_at(scene.history, t)[:2])) for t in times])


def _curve(scene: Scene, times: Sequence[float], tilts: Sequence[float]) -> float:
    """By how much the road curved up under the car, 1/m, by how its camera tilted; a nod at t0 is none of it."""
    driven = _driven(scene, times)
    if len(times) <= _FRAMES or driven[-1] < _DRIVEN_M or not any(tilts):
        return 0.0
    return float(np.polyfit(driven[1:], tilts[1:], 1)[0])


def _raised(camera: Camera, up: float) -> Camera:
    """The camera ``up`` metres higher."""
    rot = rotation(camera)
    return camera.model_copy(
        update={"T_cam_ego": as_matrix(rot, -rot @ (centre(camera) + np.array([0.0, 0.0, up])))}
    )


def _turn(
    scene: Scene, before: tuple[float, np.ndarray], after: tuple[float, np.ndarray]
) -> tuple[float, float] | None:
    """How much farther down the earlier frame looks than the later one, and how much farther left than its pose says,
    rad; None where they do not tell."""
    (t0, first), (t1, second) = before, after
    if first.shape != second.shape or t1 - t0 > _GAP_S:
        return None
    points = followed(resized(scene.front, first.shape[1], first.shape[0]), first, second)
    if points is None or len(points) < _FEWEST:
        return None
    _, pitch, yaw = turn_of(points).angles
    off = float(pose_at(scene.history, t1)[2] - pose_at(scene.history, t0)[2] - yaw)
    return (-float(pitch), off) if abs(off) <= _MOST_YAW else None
