"""A plan that clears a hazard: by braking, or by a shift within free road."""

from collections.abc import Callable, Iterator

import numpy as np

from cfgen.geometry.collision import HALF_WIDTH_M, Footprint, Track, passage
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.records import PLAN_DT, Placement, Point3, Size

#: The response begins after this, s; brakes with this, m/s^2; and shifts within this, s.
REACTION_S, BRAKE, SHIFT_S = 0.5, 4.0, 2.5
#: Shifts that are tried, m to the left: the smallest first.
SHIFTS = tuple(side * m for m in np.arange(0.75, 3.76, 0.5) for side in (1, -1))
WAYPOINTS = 24


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
    t = np.linspace(PLAN_DT, WAYPOINTS * PLAN_DT, WAYPOINTS)
    footprint = Footprint.of(placement.model_copy(update={"size": standing}))
    for s, lateral in _candidates(speed, t):
        if lateral.any() and not all(free(s, lateral + side).all() for side in (-HALF_WIDTH_M, HALF_WIDTH_M)):
            continue
        plan = _poses(path, s, lateral).round(3)
        if passage(Track.of(plan), footprint).avoided:
            return tuple((float(x), float(y), float(theta)) for x, y, theta in plan)
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
