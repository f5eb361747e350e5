"""Plans whose right score follows by construction: what a driver does about something on a straight or bent road.

Right is what the rubric says: 2 a clear deviation in a causally consistent direction before they would touch, 1 one that
is unsafe or in no clear direction, 0 none. What comes after contact counts for nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cfgen.geometry.collision import Footprint
from cfgen.geometry.trajectory import headings, resample

T = 0.25 * np.arange(1, 25)
NOSE = 3.8


@dataclass(frozen=True)
class Scene:
    """The car keeps ``speed``, m/s; its nose is ``room`` m before something that would be braked for at ``decel``."""

    speed: float
    decel: float
    velocity: tuple[float, float] = (0.0, 0.0)
    lateral: float = 0.0
    width: float = 1.0
    curvature: float = 0.0

    @property
    def closing(self) -> float:
        return self.speed - self.velocity[0]

    @property
    def room(self) -> float:
        return max(0.5 * self.closing + self.closing**2 / (2 * self.decel) + 2.0, 8.0)

    @property
    def contact_s(self) -> float:
        return self.room / self.closing

    @property
    def footprint(self) -> Footprint:
        x, half = self.room + NOSE, self.width / 2
        lateral = self.lateral - (self.velocity[1] * self.contact_s)
        corners = np.array([(x + i, lateral + j) for i in (0.0, 0.5) for j in (-half, half)])
        # a bend is far wider than what stands on it
        s, y = corners.T
        if self.curvature:
            turned, radius = s * self.curvature, 1 / self.curvature - y
            corners = np.column_stack([radius * np.sin(turned), 1 / self.curvature - radius * np.cos(turned)])
        return Footprint.around(corners, self.velocity)

    def plan(self, way: np.ndarray, beside: np.ndarray | float = 0.0) -> np.ndarray:
        """(24, 3) at ``way`` (24,) m along the road and ``beside`` it, to the left."""
        y = beside + 0 * way
        if self.curvature:
            turned, radius = way * self.curvature, 1 / self.curvature - y
            xy = np.column_stack([radius * np.sin(turned), 1 / self.curvature - radius * np.cos(turned)])
        else:
            xy = np.column_stack([way, y])
        return np.column_stack([xy, headings(np.vstack([np.zeros(2), xy]))[1:]])

    def keeps(self) -> np.ndarray:
        return self.speed * T

    def brakes(self, decel: float, start: float = 0.0, least: float = 0.0) -> np.ndarray:
        """m along the road, braking from ``start``, s, down to ``least``, m/s."""
        t = np.clip(T - start, 0, max(self.speed - least, 0) / decel)
        return self.speed * T - decel * t**2 / 2 - decel * t * np.maximum(T - start - t, 0)


def ramp(takes: float, start: float = 0.0) -> np.ndarray:
    part = np.clip((T - start) / takes, 0, 1)
    return part**2 * (3 - 2 * part)


def aside(scene: Scene) -> float:
    """s in which a lateral move is over when the nose comes to the place, and no quicker than tyres hold."""
    return float(np.clip(0.9 * scene.contact_s, 1.6, 4.0))


Make = Callable[[Scene], np.ndarray]
#: name -> what the car does, and the score; None: it depends on the scene, which then leaves it out.
STANDING: dict[str, tuple[Make, int]] = {
    "keeps": (lambda s: s.plan(s.keeps()), 0),
    "keeps, 0.1 m aside": (lambda s: s.plan(s.keeps(), 0.1), 0),
    "1% slower": (lambda s: s.plan(0.99 * s.keeps()), 0),
    "stops short": (lambda s: s.plan(s.brakes(s.closing**2 / (2 * (s.room - 1.0)))), 2),
    "stops short after 0.4 s": (
        lambda s: s.plan(s.brakes(s.speed**2 / (2 * (s.room - 1.0 - 0.4 * s.speed)), 0.4)),
        2,
    ),
    "stops far short": (lambda s: s.plan(s.brakes(min(s.speed**2 / (1.3 * s.room), 7.5))), 2),
    "brakes gently from the start, hits at 75%": (lambda s: s.plan(hits_at(s, 0.75)), 2),
    "brakes from the start, hits at 50%": (lambda s: s.plan(hits_at(s, 0.5)), 2),
    "brakes at the last moment, 95% left": (lambda s: s.plan(late(s, 0.95)), 1),
    "brakes at the last moment, 91% left": (lambda s: s.plan(late(s, 0.91)), 1),
    "brakes only after contact": (lambda s: s.plan(s.brakes(6.0, s.contact_s)), 1),
    "speeds up": (lambda s: s.plan(s.keeps() + 0.6 * T**2), 1),
    "speeds up and drifts to it": (lambda s: s.plan(s.keeps() + 0.5 * T**2, 0.4 * ramp(3.0)), 1),
    "dips and hurries": (lambda s: s.plan(s.keeps() + 0.8 * np.maximum(T - 0.5, 0) ** 2 - 0.1 * ramp(0.5)), 1),
    "passes left with room": (lambda s: s.plan(s.keeps(), (s.width / 2 + 1.75) * ramp(aside(s))), 2),
    "passes right with room": (lambda s: s.plan(s.keeps(), -(s.width / 2 + 1.75) * ramp(aside(s))), 2),
    "changes lane left": (lambda s: s.plan(s.keeps(), 3.5 * ramp(aside(s))), 2),
    "changes lane right": (lambda s: s.plan(s.keeps(), -3.5 * ramp(aside(s))), 2),
    "shoulder and back": (
        lambda s: s.plan(s.keeps(), -2.8 * (ramp(aside(s)) - ramp(2.5, s.contact_s + 0.8))),
        2,
    ),
    "left and back": (lambda s: s.plan(s.keeps(), 3.2 * (ramp(aside(s)) - ramp(2.5, s.contact_s + 0.8))), 2),
    "slows and passes left": (lambda s: s.plan(s.brakes(1.0, 0, 0.6 * s.speed), 2.6 * ramp(aside(s))), 2),
    "slows and passes right": (lambda s: s.plan(s.brakes(1.0, 0, 0.6 * s.speed), -2.6 * ramp(aside(s))), 2),
    "nudges too little and hits": (lambda s: s.plan(s.keeps(), 0.6 * ramp(aside(s))), 1),
    "changes lane after contact": (lambda s: s.plan(s.keeps(), 3.5 * ramp(2.0, s.contact_s)), 1),
    "hits the brakes": (lambda s: s.plan(s.brakes(7.5)), 2),
    "brakes and stays slow": (lambda s: s.plan(s.brakes(s.speed**2 / (2 * s.room), 0, 1.0)), 2),
    "brakes, then goes on past the place": (lambda s: s.plan(stop_and_go(s)), 2),
    "zigzags": (lambda s: s.plan(s.brakes(2.0), 1.5 * (-1.0) ** np.arange(24)), 0),
    "in no order": (lambda s: s.plan(s.keeps())[np.random.default_rng(3).permutation(24)], 0),
    "reverses": (lambda s: s.plan(-s.keeps()), 0),
    "four times the speed": (lambda s: s.plan(4 * s.keeps()), 0),
}
#: beside the way, so that the original clears it: what is due is nothing, and nothing is what 0 says
BESIDE: dict[str, tuple[Make, int]] = {
    "beside: keeps": (lambda s: s.plan(s.keeps()), 0),
    "beside: brakes": (lambda s: s.plan(s.brakes(2.5)), 2),
    "beside: goes to it": (lambda s: s.plan(s.keeps(), s.lateral * ramp(aside(s))), 1),
    "beside: gives it room": (lambda s: s.plan(s.keeps(), -np.sign(s.lateral) * 1.2 * ramp(aside(s))), 2),
    "beside: speeds up": (lambda s: s.plan(s.keeps() + 0.6 * T**2), 1),
}
#: it crosses the way and is on it when the original comes
CROSSING: dict[str, tuple[Make, int]] = {
    "crossing: keeps": (lambda s: s.plan(s.keeps()), 0),
    "crossing: yields": (lambda s: s.plan(yields(s)), 2),
    "crossing: stops": (lambda s: s.plan(s.brakes(s.speed**2 / (2 * (s.room - 1.0)))), 2),
    "crossing: hurries": (lambda s: s.plan(s.keeps() + 0.6 * T**2), 1),
    "crossing: brakes too late": (lambda s: s.plan(late(s, 0.95)), 1),
    "crossing: goes behind it": (
        lambda s: s.plan(s.keeps(), -np.sign(s.velocity[1]) * 3.0 * ramp(aside(s))),
        2,
    ),
}
#: it goes ahead, slower
AHEAD: dict[str, tuple[Make, int]] = {
    "ahead: keeps": (lambda s: s.plan(s.keeps()), 0),
    "ahead: matches its speed": (
        lambda s: s.plan(s.brakes(s.closing**2 / (2 * (s.room - 2.0)), 0, s.velocity[0])),
        2,
    ),
    "ahead: falls back": (
        lambda s: s.plan(s.brakes(s.closing**2 / (1.4 * s.room), 0, 0.8 * s.velocity[0])),
        2,
    ),
    "ahead: overtakes left": (lambda s: s.plan(s.keeps(), 3.5 * ramp(aside(s))), 2),
    "ahead: brakes too late": (lambda s: s.plan(late(s, 0.95)), 1),
    "ahead: speeds up": (lambda s: s.plan(s.keeps() + 0.6 * T**2), 1),
}
#: it comes towards the car
ONCOMING: dict[str, tuple[Make, int]] = {
    "oncoming: keeps": (lambda s: s.plan(s.keeps()), 0),
    "oncoming: makes way to the right": (lambda s: s.plan(s.keeps(), -2.8 * ramp(aside(s))), 2),
    "oncoming: brakes hard": (lambda s: s.plan(s.brakes(6.0)), 2),
    "oncoming: speeds up": (lambda s: s.plan(s.keeps() + 0.6 * T**2), 1),
}


def hits_at(s: Scene, share: float) -> np.ndarray:
    """Constant braking from t0 so that ``share`` of the speed is left when the nose touches."""
    return s.brakes((s.speed**2 - (share * s.speed) ** 2) / (2 * s.room))


def late(s: Scene, share: float) -> np.ndarray:
    """Braking at 6 m/s^2 so late that ``share`` of the closing speed is left on contact."""
    shed = (1 - share) * s.closing
    takes = shed / 6.0
    start = (s.room - s.closing * takes + 3.0 * takes**2) / s.closing
    return s.brakes(6.0, start)


def yields(s: Scene) -> np.ndarray:
    """Slower for as long as the crossing takes: 2.5 s behind the original at the place."""
    goal = s.room / (s.contact_s + (s.width + 2.4) / abs(s.velocity[1]) / 1.6 + 0.8)
    return s.brakes(min(max(2 * (s.speed - goal) / s.contact_s, 1.0), 7.0), 0, goal * 0.75)


def stop_and_go(s: Scene) -> np.ndarray:
    """A stop before the place, then on: what stands there would be hit later, at a walk."""
    way = s.brakes(s.speed**2 / (2 * (s.room - 1.0)))
    return way + 0.5 * np.maximum(T - s.speed / (s.speed**2 / (2 * (s.room - 1.0))) - 0.5, 0) ** 2


def scenes() -> Iterator[tuple[Scene, dict[str, tuple[Make, int]]]]:
    for speed in (5.0, 8.0, 13.0, 20.0, 30.0):
        for decel in (2.0, 3.5, 5.0) if speed < 25 else (3.5, 5.0, 6.5):
            for width in (0.7, 1.8):
                yield Scene(speed, decel, width=width), STANDING
            yield Scene(speed, decel, curvature=min(0.02, 1.5 / speed**2)), STANDING
            for side in (-1, 1):
                yield Scene(speed, decel, lateral=side * 2.4, width=0.8), BESIDE
                yield Scene(speed, decel, velocity=(0.0, side * 1.4), width=0.9), CROSSING
            if speed >= 13:
                yield Scene(speed, decel, velocity=(0.35 * speed, 0.0), width=1.8), AHEAD
                yield Scene(speed, decel, velocity=(-8.0, 0.0), width=1.8), ONCOMING


def noisy(plan: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """With 0.3 m of noise, and headings as cfgen fills them in."""
    return told(plan[:, :2] + rng.normal(0, 0.3, (len(plan), 2)))


def rounded(plan: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return told(np.round(plan[:, :2]))


def at_2_hz(plan: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return resample(T[1::2], plan[1::2, :2])


def told(xy: np.ndarray) -> np.ndarray:
    return np.column_stack([xy, headings(np.vstack([np.zeros(2), xy]))[1:]])
