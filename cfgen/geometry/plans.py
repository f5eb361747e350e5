"""The path of a plan, and where along it the car is when."""

import numpy as np
from numpy.typing import ArrayLike

from cfgen.geometry.path import EgoPath

#: Steps shorter than this are standing still: they say nothing about direction, m.
_MIN_STEP_M = 0.05


def path_of_plan(waypoints: ArrayLike) -> EgoPath:
    """The line that a plan (N, 3) x, y, theta follows from the origin on; it goes straight on at both ends.

    A plan that stands still gives the straight line ahead.
    """
    xy = [np.zeros(2)]
    for point in np.asarray(waypoints, float)[:, :2]:
        if np.hypot(*(point - xy[-1])) >= _MIN_STEP_M:
            xy.append(point)
    if len(xy) == 1:
        xy.append(np.array([1.0, 0.0]))
    line = np.array(xy)
    step = np.diff(line, axis=0)
    chord = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    heading = np.concatenate([chord[:1], (chord[1:] + chord[:-1]) / 2, chord[-1:]])
    s = np.concatenate([[0.0], np.cumsum(np.hypot(*step.T))])
    return EgoPath(s, line, heading, float(s[-1]))


def travelled(waypoints: ArrayLike) -> np.ndarray:
    """(N + 1,) m driven at 0, dt ... N dt of a plan (N, >= 2) that starts at the origin."""
    xy = np.vstack([[0.0, 0.0], np.asarray(waypoints, float)[:, :2]])
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(xy, axis=0).T))])
