"""A planner's own plan, driven otherwise: what it was stays in it, its first speed, its unevenness, its length."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from cfgen.geometry.path import EgoPath, path_of_plan, travelled
from cfgen.geometry.trajectory import speeds
from cfgen.planners.responders import TIMES, Baseline
from cfgen.records import PLAN_DT, Plan

_FINE = 25  # within one step of a plan
_STEP_M = 0.02
#: m/s^2 that a car on a dry road can brake
HARDEST_BRAKE = 8.0
#: m/s; what is shown is rounded to 0.1 km/h
_SAME = 0.001


@dataclass(frozen=True)
class PlannedDrive(Baseline):
    """The undisturbed drive of a planner's plan; ``waypoints`` (N, 3) are its own.

    Responders move along it as along any other (:mod:`cfgen.planners.responders`). What they change is added to what
    the planner drove, from the first moment on or not before a second step, so that both plans begin at one speed.
    """

    waypoints: np.ndarray

    @classmethod
    def by(cls, plan: Plan) -> Self:
        own = np.array(plan.waypoints)
        s = travelled(own)
        pace = float(s[-1] - s[-2])
        s = np.append(s, s[-1] + pace * np.arange(1, len(TIMES) - len(s) + 1))
        # the fastest: who can stop from that in time can stop
        return cls(path_of_plan(own), s, float(np.diff(s).max()) / PLAN_DT, own)

    def can_drive(self, waypoints: np.ndarray) -> bool:
        """Whether it begins as fast as the planner's own plan, and a car could brake so."""
        before, after = speeds(self.waypoints), speeds(waypoints)
        harder = (np.diff(after) - np.diff(before)) / PLAN_DT
        return abs(after[0] - before[0]) < _SAME and float(harder.min()) > -HARDEST_BRAKE

    def follow(self, s: np.ndarray | None = None, lateral: np.ndarray | float = 0.0) -> np.ndarray:
        """As a responder's, for as long as the planner plans; the steps are as long as ``s`` says, beside it too."""
        if s is None and np.isscalar(lateral):
            return self.waypoints
        s = self.s if s is None else s
        offsets = np.broadcast_to(lateral, s.shape)
        line = self._beside(s, offsets)
        steps = np.diff(s)[: len(self.waypoints)]
        xy, heading = _walk(line, steps)
        return np.column_stack([xy, heading])

    def _beside(self, s: np.ndarray, lateral: np.ndarray) -> EgoPath:
        along = np.arange(0.0, float(s.max()) + 10.0, _STEP_M)
        x, y, _ = self.path.at(along, np.interp(along, s, lateral))
        heading = np.unwrap(np.arctan2(np.gradient(y), np.gradient(x)))
        return EgoPath(along, np.column_stack([x, y]), heading, 0.0)

    def _braked(self, start: float, deceleration: float) -> np.ndarray:
        start = start if start >= 2 * PLAN_DT else 0.0
        t = np.linspace(0.0, TIMES[-1], _FINE * (len(TIMES) - 1) + 1)
        delay = 0.5 * deceleration * np.maximum(t - start, 0.0) ** 2
        return np.asarray(np.maximum.accumulate(np.interp(t, TIMES, self.s) - delay)[::_FINE])


def _walk(line: EgoPath, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points (N, 2) on ``line``, each as far from the one before as ``steps`` says, and its direction there (N,)."""
    points: list[np.ndarray] = []
    headings: list[float] = []
    at, point = 0, np.zeros(2)
    for step in steps:
        away = np.hypot(*(line.xy[at:] - point).T)
        beyond = int(np.argmax(away >= step)) if step > 0 else 0
        if beyond:
            low, high = away[beyond - 1], away[beyond]
            part = (step - low) / (high - low)
            point = line.xy[at + beyond - 1] * (1 - part) + line.xy[at + beyond] * part
            here_before = points[-1] if points else np.zeros(2)
            point = here_before + (point - here_before) * step / max(
                float(np.hypot(*(point - here_before))), 1e-9
            )
            at += beyond - 1
        points.append(point)
        headings.append(float(line.heading[at]))
    return np.array(points), np.array(headings)
