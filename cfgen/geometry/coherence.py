"""Whether a plan is a motion at all: one that some car could drive from where it is.

The bounds are wide: a plan may begin at a wrong speed, brake harder than tyres hold, be rounded or shake a little. What
they refuse is what no driver means: points in no order, leaps, instant stands, wild zigzags, a car that looks elsewhere
than it goes.
"""

import math
from functools import lru_cache

import numpy as np

from cfgen.geometry.driving import GRIP, MAX_JERK, CarState, DrivenPlan, drive
from cfgen.geometry.lens import Array
from cfgen.geometry.path import travelled
from cfgen.geometry.trajectory import headings
from cfgen.records import PLAN_DT

#: m by which plan and drive may differ along the way, besides this share of the way on which the car can stop.
_OFF_M, _OFF_SHARE = 2.0, 0.35
#: m that a plan may go backwards in all.
_BACK_M = 1.5
#: m by which waypoints may scatter about the line that is driven (root of the mean square, along or across): those
#: rounded to 1 m do by 0.3.
_SCATTER_M = 0.45
#: Pushes to one side and then the other, m/s^2, and how many times a motion may change between them: a swerve out and
#: back has two changes, and each overshoot adds one.
_PUSH, _MOST_CHANGES = 2.5, 4
#: A stand within less than this share of the way that the hardest braking takes is no braking, where the difference
#: can be told from a wrong first speed, m.
_STAND_SHARE, _STAND_M = 0.4, 0.4
#: rad by which headings may lie beside the way on the mean, where the car goes so far in half a second, m.
_ELSEWHERE, _GOING_M = 0.25, 0.5


def incoherent(plan: Array, start: CarState, driven: DrivenPlan | None = None) -> str:
    """Why ``plan`` (N, >= 2), m, ego frame at t0, 0.25 s apart, is no motion of a car at ``start``; "" if it is one.

    Headings (N, 3), rad, are read where there are any. ``driven``: what :func:`drive` made of it, where that is known.
    """
    driven = drive(plan, start) if driven is None else driven
    xy, line = np.vstack([np.zeros(2), np.asarray(plan, float)[:, :2]]), driven.line
    back = _backwards(line, driven)
    if back > _BACK_M:
        return f"it goes {back:.0f} m backwards"
    ramp = GRIP / MAX_JERK
    stopping = start.speed * ramp / 2 + start.speed**2 / (2 * GRIP)
    off = float(np.abs(travelled(driven.poses) - travelled(line[1:])).max())
    if off > _OFF_M + _OFF_SHARE * stopping:
        return f"a car that follows it is {off:.0f} m off along its way"
    if way := _stands_at_once(line, start):
        return f"it stands after {way:.1f} m from {start.speed:.0f} m/s"
    elsewhere = _elsewhere(xy, plan)
    if elsewhere > _ELSEWHERE:
        return f"its headings are {math.degrees(elsewhere):.0f} degrees beside its way"
    scatter = float(np.sqrt(((xy - line) ** 2).mean(axis=0)).max())
    if scatter > _SCATTER_M:
        return f"its waypoints scatter by {scatter:.1f} m"
    for name, pushes in (
        ("from side to side", driven.lateral),
        ("between throttle and brake", driven.acceleration),
    ):
        changes = _changes(pushes)
        if changes > _MOST_CHANGES:
            return f"it goes {changes} times {name}"
    return ""


def _backwards(xy: Array, driven: DrivenPlan) -> float:
    """m of the steps of the line that lead back, seen from the car that follows it."""
    heading = np.append(0.0, driven.poses[:-1, 2])
    forward = (np.diff(xy, axis=0) * np.column_stack([np.cos(heading), np.sin(heading)])).sum(axis=1)
    return float(-np.minimum(forward, 0.0).sum())


def _stands_at_once(xy: Array, start: CarState) -> float:
    """m to where it stands, if that is far less than the hardest braking takes; 0 if it is not.

    Plans that go on are the tracker's to judge: one that holds back is a wrong first speed.
    """
    way = float(np.hypot(*np.diff(xy, axis=0).T).sum())
    shortest = _hardest(start, max(len(xy) - 1, math.ceil(start.speed / GRIP / PLAN_DT) + 4))
    return max(way, 0.01) if shortest - way > _STAND_M and way < _STAND_SHARE * shortest else 0.0


@lru_cache(maxsize=4096)
def _hardest(start: CarState, steps: int) -> float:
    """m that a car goes which is to stand where it is."""
    return float(drive(np.zeros((steps, 2)), start).poses[-1, 0])


def _elsewhere(xy: Array, plan: Array) -> float:
    """rad between headings and the way, on the mean where the car moves; 0 where no heading is told (all are 0).

    Headings that follow from the waypoints, as those do that cfgen fills in, are on their way however these scatter.
    """
    step = xy[2:] - xy[:-2]
    moving = np.hypot(*step.T) > _GOING_M
    if np.shape(plan)[1] < 3 or not moving.any() or not np.any(theta := np.asarray(plan, float)[:-1, 2]):
        return 0.0
    off = theta - np.array([np.arctan2(step[:, 1], step[:, 0]), headings(xy)[1:-1]])
    return float(np.abs((off + math.pi) % (2 * math.pi) - math.pi).min(axis=0)[moving].mean())


def _changes(pushes: Array) -> int:
    """How often ``pushes`` (T,) change from beyond one bound to beyond the other."""
    strong = np.sign(pushes[np.abs(pushes) > _PUSH])
    return int((np.diff(strong) != 0).sum())
