"""How scripted responders move: the undisturbed drive, and what it becomes near an object on the road.

Distances along and beside the undisturbed path in metres, s and left of it; times in seconds after t0.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from cfgen.geometry.frames import interpolate
from cfgen.geometry.path import EgoPath, path_of_plan, travelled
from cfgen.geometry.trajectory import headings, resample
from cfgen.records import PLAN_DT, PLAN_STEPS, Motion, Placement

#: Half the car's width and what a driver leaves beside it, m.
HALF_CAR_M = 0.95
GAP_M = 0.8
#: Between the origin under the rear axle and a standing object, m: the car's front and some room.
STOP_SHORT_M = 5.0
REACTION_S = 0.25
HARD_BRAKE = 4.0

TIMES = PLAN_DT * np.arange(PLAN_STEPS + 1)


@dataclass(frozen=True)
class Target:
    """An object seen from the path: its near side ``near``, its middle's offset ``lateral`` and half width, m."""

    near: float
    far: float
    lateral: float
    half_width: float
    zone: str
    height: float

    @classmethod
    def of(cls, placement: Placement, base: "Baseline") -> Self:
        """From the object's corners on the ground, measured along the undisturbed path."""
        c, s = np.cos(placement.yaw), np.sin(placement.yaw)
        half = np.array([placement.size.length, placement.size.width]) / 2
        corners = np.array([(i, j) for i in (-1, 1) for j in (-1, 1)]) * half
        xy = corners @ np.array([[c, s], [-s, c]]) + (placement.x, placement.y)
        along, offsets = base.path.locate(xy)
        low, high = float(offsets.min()), float(offsets.max())
        return cls(
            float(along.min()),
            float(along.max()),
            (low + high) / 2,
            (high - low) / 2,
            placement.zone,
            placement.size.height,
        )

    @property
    def free_side(self) -> int:
        """+1 when passing on the left is shorter, else -1."""
        return -1 if self.lateral > 0 else 1

    @property
    def clear_offset(self) -> float:
        """How far beside the path the car has to be to pass it with a gap, m to the left."""
        return self.lateral + self.free_side * (self.half_width + HALF_CAR_M + GAP_M)


@dataclass(frozen=True)
class Baseline:
    """The undisturbed drive: the path, and ``s`` (25,) m along it at 0, 0.25 ... 6 s."""

    path: EgoPath
    s: np.ndarray
    speed: float

    @classmethod
    def of(cls, history: Motion, logged: Motion | None) -> Self:
        """The recorded future, or the history's last twist continued."""
        if logged is not None and logged.t[-1] >= TIMES[-1] - 2.0:
            waypoints = resample(logged.t, logged.poses)
        else:
            t, poses = np.array(history.t[-3:]), np.array(history.poses[-3:])
            waypoints = interpolate(t, poses, TIMES[1:])
        return cls(path_of_plan(waypoints), travelled(waypoints), history.v[-1])

    def reaches(self, target: Target, before_s: float = TIMES[-1]) -> bool:
        """Whether the undisturbed drive comes to the object within ``before_s``, close enough to touch it."""
        in_time = np.interp(before_s, TIMES, self.s) > target.near
        return bool(in_time) and abs(target.lateral) < target.half_width + HALF_CAR_M

    def follow(self, s: np.ndarray | None = None, lateral: np.ndarray | float = 0.0) -> np.ndarray:
        """Waypoints (24, 3) at ``s`` (25,) along the path and ``lateral`` beside it."""
        x, y, _ = self.path.at(self.s if s is None else s, lateral)
        xy = np.column_stack([x, y])
        return np.column_stack([xy, headings(xy)])[1:]

    def brake_before(self, target: Target) -> np.ndarray:
        """Stop short of it with constant deceleration."""
        room = max(target.near - STOP_SHORT_M - self.speed * REACTION_S, 0.5)
        return self.follow(self._braked(REACTION_S, self.speed**2 / (2 * room)))

    def brake_after(self, target: Target) -> np.ndarray:
        """Brake only when a tenth of the speed can still be shed before the object."""
        start = float(np.interp(target.near, self.s, TIMES)) - 0.1 * self.speed / HARD_BRAKE
        return self.follow(self._braked(max(start, 0.0), HARD_BRAKE))

    def speed_up(self, _: Target) -> np.ndarray:
        return self.follow(self.s + 0.5 * 1.5 * TIMES**2)

    def steer_at(self, target: Target) -> np.ndarray:
        """Line up with the object and hurry."""
        s = self.s + 0.5 * 0.8 * TIMES**2
        return self.follow(s, self.offset(s, target.lateral, target.near))

    def steer_round(self, target: Target) -> np.ndarray:
        """Pass on the nearer free side and stay there, at the same speed."""
        return self.follow(self.s, self.offset(self.s, target.clear_offset, target.near - 3.0))

    def _braked(self, start: float, deceleration: float) -> np.ndarray:
        """Constant deceleration from ``start`` on; never ahead of the undisturbed drive."""
        s0 = float(np.interp(start, TIMES, self.s))
        v0 = float(np.interp(start, TIMES, np.gradient(self.s, PLAN_DT)))
        t = np.clip(TIMES - start, 0.0, v0 / deceleration)
        return np.minimum(self.s, s0 + v0 * t - 0.5 * deceleration * t**2)

    def offset(self, s: np.ndarray, offset: float, by: float) -> np.ndarray:
        """A smooth shift from 0 at the car to ``offset`` at ``by`` metres along the path."""
        part = np.clip(s / max(by, 3.0), 0.0, 1.0)
        return offset * part**2 * (3 - 2 * part)
