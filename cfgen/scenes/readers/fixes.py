"""Fixes of a satellite receiver: the way they tell of, and how another log's world lies on the earth."""

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from cfgen.scenes.drive import Place, raised

Array = NDArray[np.float64]
_EARTH_RADIUS_M = 6378137.0
#: Fixes farther apart than this do not tell the way between them, s.
_MAX_GAP_S = 3.0
#: Weight of a smooth way against fixes that are some 0.5 m off: turns and braking slower than half a second are kept.
_SMOOTH = 0.1
_STEP_S = 0.1
#: Below this speed the direction of travel is noise; the last one is kept.
_MOVING_MPS = 1.0
#: A way shorter than this does not tell how two worlds are turned against each other.
_TURNING_M = 20.0


def metres(fixes: Array) -> Array:
    """(N, 2) east and north of the first of ``fixes`` (N, 2 or more; latitude, longitude in degrees)."""
    north, east = np.radians(fixes[:, :2] - fixes[0, :2]).T * _EARTH_RADIUS_M
    return np.column_stack([east * math.cos(math.radians(fixes[0, 0])), north])


def poses_of_fixes(t: Array, fixes: Array) -> tuple[Array, Array, Array]:
    """Times (T,), poses (T, 4, 4) and speeds (T,) at 10 Hz of the longest stretch of fixes without a gap.

    The world is flat, x to the east, y to the north; the heading is the direction of travel.

    Args:
        t: (N,) s, increasing. fixes: (N, 2 or more) latitude, longitude in degrees.

    Raises:
        ValueError: fewer than five fixes without a gap.
    """
    from scipy.interpolate import make_smoothing_spline  # slow to import

    cuts = [0, *(np.flatnonzero(np.diff(t) > _MAX_GAP_S) + 1), len(t)]
    start, end = max(itertools.pairwise(cuts), key=lambda cut: t[cut[1] - 1] - t[cut[0]])
    if end - start < 5:
        raise ValueError(f"{end - start} fixes no more than {_MAX_GAP_S:g} s apart, of at least 5")
    t, xy = t[start:end], metres(fixes[start:end])
    grid = np.arange(t[0], t[-1] + 1e-9, _STEP_S)
    ways = [make_smoothing_spline(t, xy[:, axis], lam=_SMOOTH) for axis in (0, 1)]
    position = np.column_stack([way(grid) for way in ways])
    velocity = np.column_stack([way.derivative()(grid) for way in ways])
    moving = np.hypot(*velocity.T) > _MOVING_MPS
    theta = np.zeros(len(grid))
    if moving.any():
        heading = np.unwrap(np.arctan2(velocity[moving, 1], velocity[moving, 0]))
        theta = np.interp(grid, grid[moving], heading)
    speed = velocity[:, 0] * np.cos(theta) + velocity[:, 1] * np.sin(theta)
    return grid, raised(np.column_stack([position, theta])), speed


def turned_to_earth(t: Array, positions: Array, fix_t: Array, fixes: Array) -> Place | None:
    """Where ``positions`` (T, 2) of a world that is turned anyhow are on the earth; None where too short a way tells.

    Args:
        t, fix_t: s on one clock, increasing. fixes: (N, 2 or more) latitude, longitude in degrees.
    """
    both = (fix_t >= t[0]) & (fix_t <= t[-1])
    if both.sum() < 2:
        return None
    earth = metres(fixes[both])
    own = np.column_stack([np.interp(fix_t[both], t, positions[:, axis]) for axis in (0, 1)])
    if np.ptp(earth, axis=0).max() < _TURNING_M or np.ptp(own, axis=0).max() < _TURNING_M:
        return None
    a, b = own - own.mean(axis=0), earth - earth.mean(axis=0)
    angle = math.atan2(float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum()), float((a * b).sum()))
    c, s = math.cos(angle), math.sin(angle)
    return Place(float(fixes[both][0, 0]), float(fixes[both][0, 1]), east=(c, -s, 0.0), north=(s, c, 0.0))
