"""A plan as a car drives it: a kinematic bicycle that starts from the car's own state and has limits.

A plan is drawn: it may begin at a speed that the car does not have, or stand still at once. The drive is what comes of
following it. NAVSIM scores plans in the same way (Dauner et al. 2024, arXiv:2406.15349: LQR tracker and kinematic
bicycle, taken over from nuPlan); the bicycle and its limits are theirs, see the constants.

The tracker differs in one respect. NAVSIM's asks for the plan's speed a second ahead and never for its place, so that
a plan whose first speed is off stays off; contact would then depend on the tracker. Here the errors of place and speed
are fed back with the gains of the infinite-horizon LQR of a double integrator, which the bicycle is along and across.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from scipy.interpolate import BSpline

from cfgen.geometry.lens import Array
from cfgen.records import PLAN_DT, Motion

#: The bicycle, as in nuPlan and NAVSIM: m between the axles (a Chrysler Pacifica), rad at the wheels, rad/s.
WHEELBASE_M, MAX_STEER, MAX_STEER_RATE = 3.089, math.pi / 3, 0.5
#: What tyres hold on dry asphalt, braking and cornering together, and what an engine gives, m/s^2.
GRIP, MAX_ACCEL = 8.0, 4.0
#: A car brakes fully after 0.4 s, m/s^3.
MAX_JERK = 20.0
#: Weights of place, speed and acceleration; speed against acceleration as in NAVSIM. The gains are those of the LQR.
_Q_PLACE, _Q_SPEED, _R = 10.0, 10.0, 1.0
_K_PLACE = math.sqrt(_Q_PLACE / _R)
_K_SPEED = math.sqrt(_Q_SPEED / _R + 2 * _K_PLACE)
#: Weight of squared jerk against squared metres at the waypoints, s^6: waypoints rounded to 0.1 m are no manoeuvre.
#: It grows tenfold with every so many m of noise in the waypoints: those rounded to 1 m are none, either.
_SMOOTH, _NOISE_STEP, _MOST_STEPS = 1e-4, 0.08, 3
#: Third differences of white noise are so many times as large as it: the root of 1 + 9 + 9 + 1.
_THIRD = math.sqrt(20)
#: A plan that goes less than this in a step, m, stands.
_STANDS_M = 0.05
#: Steps of the simulation in a step of the plan.
_SUBSTEPS = 5
_DT = PLAN_DT / _SUBSTEPS
#: Below this speed steering is worked out as at it, m/s.
_SLOW = 1.0


@dataclass(frozen=True, slots=True)
class CarState:
    """The car at t0: speed, m/s; acceleration, m/s^2; curvature of its way, 1/m, positive to the left."""

    speed: float
    acceleration: float = 0.0
    curvature: float = 0.0

    @classmethod
    def of(cls, history: Motion) -> Self:
        """By the last second of recorded motion."""
        t, v = np.array(history.t), np.maximum(history.v, 0.0)
        speed = float(v[-1])
        recent = t >= t[-1] - 1.0
        if recent.sum() < 2:
            return cls(speed)
        poses = np.array(history.poses)[recent]
        way = float(np.hypot(*np.diff(poses[:, :2], axis=0).T).sum())
        turned = float(np.unwrap(poses[:, 2])[-1] - poses[0, 2])
        acceleration = float(np.polyfit(t[recent], v[recent], 1)[0])
        limit = GRIP / max(speed, _SLOW) ** 2
        curvature = float(np.clip(turned / way, -limit, limit)) if way > 1.0 else 0.0
        return cls(speed, float(np.clip(acceleration, -GRIP, MAX_ACCEL)), curvature)


@dataclass(frozen=True)
class DrivenPlan:
    """What comes of following a plan.

    Attributes:
        poses: (N, 3) x, y, theta on the plan's own grid, m and rad in the ego frame at t0: a plan that a car can drive.
        speed: (N + 1,) m/s at 0, 0.25 ... s. acceleration, lateral: (5 N,) m/s^2 along and to the left, every 0.05 s.
        off: (N,) m between plan and drive at the same time.
        line: (N + 1, 2) m, from the origin on: the smooth line through the waypoints that is followed. line_speed:
            (N + 1,) m/s on it. noise: m by which the waypoints scatter about a smooth motion.
    """

    poses: Array
    speed: Array
    acceleration: Array
    lateral: Array
    off: Array
    line: Array
    line_speed: Array
    noise: float

    @property
    def planned(self) -> Array:
        """(N, 3) the plan itself, without its noise: m, and rad along its line, kept where it stands."""
        step = np.diff(self.line, axis=0)
        going = np.where(np.hypot(*step.T) > _STANDS_M, np.arange(len(step)), -1)
        last = np.maximum.accumulate(going)
        heading = np.where(last < 0, 0.0, np.arctan2(step[last, 1], step[last, 0]))
        return np.column_stack([self.line[1:], heading])

    @property
    def off_m(self) -> float:
        """The largest distance between plan and drive."""
        return float(self.off.max())


def drive(plan: Array, start: CarState) -> DrivenPlan:
    """Follow ``plan`` (N, >= 2), x and y in m in the ego frame at t0, 0.25 s apart, from ``start``.

    The car does not reverse. The plan's own headings are not looked at.
    """
    xy = np.vstack([np.zeros(2), np.asarray(plan, float)[:, :2]])
    noise = scatter(xy)
    steps = min(math.floor(noise / _NOISE_STEP), _MOST_STEPS)
    line, line_velocity, place, velocity, acceleration = (
        matrix @ xy for matrix in _smoothing(len(xy), steps)
    )
    reference = np.hstack([place, velocity, acceleration]).tolist()
    states = np.array(_followed(reference, start))
    grid = states[_SUBSTEPS - 1 :: _SUBSTEPS]
    return DrivenPlan(
        poses=grid[:, :3],
        speed=np.append(start.speed, grid[:, 3]),
        acceleration=states[:, 4],
        lateral=states[:, 5],
        off=np.hypot(*(grid[:, :2] - xy[1:]).T),
        line=line,
        line_speed=np.hypot(*line_velocity.T),
        noise=noise,
    )


def scatter(xy: Array) -> float:
    """m by which points (N, 2), evenly apart in time, scatter about a smooth motion: the noisier of the two axes.

    By their third differences, of which a car's own motion has hardly any. The first point is left out: a plan may
    begin at a speed that the car does not have.
    """
    if len(xy) < 6:
        return 0.0
    return float(math.sqrt(math.pi / 2) * np.abs(np.diff(xy[1:], 3, axis=0)).mean(axis=0).max() / _THIRD)


@lru_cache(maxsize=32)
def _smoothing(n: int, steps: int) -> tuple[Array, ...]:
    """From ``n`` points to place and velocity (n, n) there, and to place, velocity and acceleration (5 (n - 1), n) at
    simulated steps.

    A cubic spline with a penalty on jerk: motion at constant acceleration passes unchanged.
    """
    t = PLAN_DT * np.arange(n)
    knots = np.concatenate([[t[0]] * 3, t, [t[-1]] * 3])
    basis = BSpline(knots, np.eye(n + 2), 3)
    design, jerk = basis(t), basis.derivative(3)(t[:-1] + PLAN_DT / 2)
    weight = _SMOOTH * 10**steps
    fit = np.linalg.solve(design.T @ design + weight * PLAN_DT * jerk.T @ jerk, design.T)
    fine = _DT * np.arange(_SUBSTEPS * (n - 1))
    slope = basis.derivative(1)
    return design @ fit, slope(t) @ fit, basis(fine) @ fit, slope(fine) @ fit, basis.derivative(2)(fine) @ fit


def _followed(reference: list[list[float]], start: CarState) -> list[tuple[float, ...]]:
    """x, y, theta, speed, acceleration and lateral acceleration after every step."""
    x = y = theta = lateral = 0.0
    v, a = start.speed, start.acceleration
    steer = math.atan(WHEELBASE_M * start.curvature)
    states: list[tuple[float, ...]] = []
    for px, py, vx, vy, ax, ay in reference:
        c, s = math.cos(theta), math.sin(theta)
        ux = ax + _K_PLACE * (px - x) + _K_SPEED * (vx - v * c)
        uy = ay + _K_PLACE * (py - y) + _K_SPEED * (vy - v * s)
        steer = _steered(steer, uy * c - ux * s, v)
        curvature = math.tan(steer) / WHEELBASE_M
        if abs(v * v * curvature) > GRIP:  # the tyres slide
            curvature = math.copysign(GRIP / (v * v), curvature)
        lateral = v * v * curvature
        a = _pushed(a, ux * c + uy * s, lateral)
        after = max(v + a * _DT, 0.0)
        a = (after - v) / _DT
        way = (v + after) / 2 * _DT
        turn = curvature * way
        x += way * math.cos(theta + turn / 2)
        y += way * math.sin(theta + turn / 2)
        theta, v = theta + turn, after
        states.append((x, y, theta, v, a, lateral))
    return states


def _steered(steer: float, lateral: float, v: float) -> float:
    """The next steering angle towards a wanted lateral acceleration, within grip, angle and rate."""
    lateral = min(max(lateral, -GRIP), GRIP)
    target = math.atan(WHEELBASE_M * lateral / max(v, _SLOW) ** 2)
    target = min(max(target, -MAX_STEER), MAX_STEER)
    return steer + min(max(target - steer, -MAX_STEER_RATE * _DT), MAX_STEER_RATE * _DT)


def _pushed(a: float, target: float, lateral: float) -> float:
    """The next acceleration towards the wanted one, within jerk and the grip that cornering leaves."""
    a += min(max(target - a, -MAX_JERK * _DT), MAX_JERK * _DT)
    grip = math.sqrt(max(GRIP**2 - lateral**2, 0.0))
    return min(max(a, -grip), grip, MAX_ACCEL)
