"""A plan that clears a hazard: by braking, or by a shift within free road."""

from collections.abc import Callable, Iterator

import cv2
import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.records import PLAN_DT, Placement, Point3, Size

#: The response begins after this, s; brakes with this, m/s^2; and shifts within this, s.
REACTION_S, BRAKE, SHIFT_S = 0.5, 4.0, 2.5
#: Shifts that are tried, m to the left: the smallest first.
SHIFTS = tuple(side * m for m in np.arange(0.75, 3.76, 0.5) for side in (1, -1))
#: Waypoints of a plan, and looks at contact between two of them.
WAYPOINTS, _LOOKS = 24, 2
#: The car: its middle ahead of the rear axle, m, and its size with room to spare.
_MIDDLE_M, _CAR = 1.4, Size(length=4.8, width=2.0, height=1.5)


def clearing_plan(
    path: EgoPath,
    speed: float,
    placement: Placement,
    standing: Size,
    free: Callable[[Array, Array], np.ndarray],
) -> tuple[Point3, ...] | None:
    """(24, 3) x, y, theta every 0.25 s, in the ego frame at t0, without contact in 6 s; None: neither braking with
    4 m/s^2 after 0.5 s nor a shift at constant speed clears it.

    Args:
        speed: of the car at t0, m/s. standing: what of the hazard takes up ground; it moves on as it does.
        free: whether the road is free at s and lateral (N,), m along the path and to its left: (N,) bool.
    """
    t = np.arange(1, WAYPOINTS * _LOOKS + 1) * PLAN_DT / _LOOKS
    for s, lateral in _candidates(speed, t):
        if lateral.any() and not all(
            free(s, lateral + side).all() for side in (-_CAR.width / 2, _CAR.width / 2)
        ):
            continue
        poses = _poses(path, s, lateral)
        if not any(
            _contact(pose, placement.at(float(at)), standing) for pose, at in zip(poses, t, strict=True)
        ):
            rows = poses[_LOOKS - 1 :: _LOOKS].round(3)
            return tuple((float(x), float(y), float(theta)) for x, y, theta in rows)
    return None


def _candidates(speed: float, t: Array) -> Iterator[tuple[Array, Array]]:
    """s and lateral (N,), m, of braking and of each shift."""
    braking = np.clip(t - REACTION_S, 0.0, speed / BRAKE)
    yield speed * np.minimum(t, REACTION_S) + speed * braking - BRAKE * braking**2 / 2, np.zeros_like(t)
    part = np.clip((t - REACTION_S) / SHIFT_S, 0.0, 1.0)
    smooth = part**3 * (10 - 15 * part + 6 * part**2)
    for shift in SHIFTS:
        yield speed * t, shift * smooth


def _poses(path: EgoPath, s: Array, lateral: Array) -> Array:
    """(N, 3) x, y, theta of the rear axle."""
    x, y, heading = path.at(s, lateral)
    driven = np.diff(s, prepend=0.0)
    turn = np.arctan2(np.diff(lateral, prepend=0.0), np.maximum(driven, 1e-3))
    return np.column_stack([x, y, heading + np.where(driven > 0.05, turn, 0.0)])


def _contact(pose: Array, hazard: Placement, standing: Size) -> bool:
    x, y, theta = pose
    middle = x + _MIDDLE_M * np.cos(theta), y + _MIDDLE_M * np.sin(theta)
    car, thing = (
        box_corners(*at, size)[0, :4, :2].astype(np.float32)
        for at, size in (((*middle, theta), _CAR), ((hazard.x, hazard.y, hazard.yaw), standing))
    )
    return bool(cv2.intersectConvexConvex(car, thing)[0] > 0)
