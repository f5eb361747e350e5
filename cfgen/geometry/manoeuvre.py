"""What a plan does along and across its lane, and by what margin it keeps or breaks a named manoeuvre.

Between keeping and breaking lies a band in which nothing is said: a known answer must not hang on a threshold.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from cfgen.geometry.path import EgoPath
from cfgen.records import PLAN_DT

#: m/s: a car that is slower than this says nothing about slowing, stopping or keeping its speed.
LEAST_SPEED = 3.0
#: rad: where the lane itself turns more than this within the plan, leaving it and following it look alike.
MOST_BEND = 0.3
#: What words may claim besides the vocabulary: to one side, no matter how.
ASIDE = ("to the left", "to the right")
#: What words that keep the speed claim; the action "set speed tracking" may converge to another speed.
SAME_SPEED = "the same speed"
#: Steps over which the speed at the end is taken, half a second.
_END = 2


@dataclass(frozen=True)
class Done:
    """What waypoints do, by differences of the waypoints themselves.

    Attributes:
        start, end, slowest, fastest: m/s; the first is the car's speed at t0.
        left, right: farthest beside the lane's middle to either side, m, 0 or more. aside: at the end, m to the left.
        turned: heading at the end against t0, rad to the left. bend: the same of the lane over the way driven, rad.
    """

    start: float
    end: float
    slowest: float
    fastest: float
    left: float
    right: float
    aside: float
    turned: float
    bend: float

    @classmethod
    def of(cls, waypoints: np.ndarray, speed: float, lane: EgoPath) -> Self:
        """``waypoints`` (N, >= 2) m, ego frame at t0, 0.25 s apart; ``speed`` at t0, m/s; ``lane``: its middle."""
        xy = np.vstack([np.zeros(2), np.asarray(waypoints, float)[:, :2]])
        steps = np.diff(xy, axis=0)
        way = np.hypot(*steps.T)
        v = way / PLAN_DT
        s, aside = lane.locate(xy[1:])
        bend = np.interp(np.clip(s[-1], 0.0, lane.length_m), lane.s, lane.heading) - lane.heading[0]
        moving = np.flatnonzero(way > 0.05)
        turned = float(np.arctan2(*steps[moving[-1]][::-1])) if len(moving) else 0.0
        return cls(
            start=float(speed),
            end=float(v[-_END:].mean()),
            slowest=float(v.min()),
            fastest=float(v.max()),
            left=float(max(aside.max(), 0.0)),
            right=float(max(-aside.min(), 0.0)),
            aside=float(aside[-1]),
            turned=turned,
            bend=float(bend),
        )


@dataclass(frozen=True)
class Margin:
    """Whether a manoeuvre is ``kept`` (None: too near the line to tell), and the figure that shows it.

    ``by``: how far the figure lies beyond the line that tells keeping from breaking, in ``unit``.
    """

    kept: bool | None
    by: float = 0.0
    unit: str = ""
    words: str = ""


_OPEN = Margin(None)


def keeps_action(longitudinal: str, lateral: str, done: Done) -> Margin:
    """Both meta-actions together: broken as soon as one of them is, kept only where both are.

    An action without a figure of its own (gap search, merge, pull over; speed adapt at a steady speed) is neither.
    """
    both = keeps_longitudinal(longitudinal, done), keeps_lateral(lateral, done)
    broken = [m for m in both if m.kept is False]
    if broken:
        return max(broken, key=lambda m: m.by)
    return min(both, key=lambda m: m.by) if all(m.kept for m in both) else _OPEN


def keeps_longitudinal(action: str, done: Done) -> Margin:
    """Whether the speeds carry out a longitudinal meta-action of the papers' vocabulary."""
    v0 = done.start
    if v0 < LEAST_SPEED:
        return _OPEN
    lines = {
        # action: the figure, what keeps it at most (or at least), what breaks it
        "stop": ("slowest", done.slowest, 0.35 * v0, 0.75 * v0),
        "yield": ("slowest", done.slowest, v0 - max(1.5, 0.15 * v0), v0 - 0.3),
        "follow lead vehicle": ("end", done.end, v0 + 1.0, v0 + 4.0),
        "pass": ("end", -done.end, -v0 - 1.0, -v0 + 1.5),
        "set speed tracking": ("change", _change(done), max(1.0, 0.1 * v0), max(4.0, 0.7 * v0)),
        SAME_SPEED: ("change", _change(done), max(1.0, 0.1 * v0), max(3.0, 0.25 * v0)),
    }
    if action == "speed adapt":
        kept = _change(done) >= 1.5
        words = f"speed changes by {_change(done):.1f} m/s"
        return Margin(True, _change(done) - 1.5, "m/s", words) if kept else _OPEN
    if action not in lines:
        return _OPEN
    name, figure, most, least = lines[action]
    words = f"{action}: {name} speed {abs(figure):.1f} m/s, {v0:.1f} at t0"
    if name == "change":
        words = f"{action}: speed leaves {v0:.1f} m/s by {figure:.1f}"
        if action != SAME_SPEED and figure >= least and done.slowest > v0 - least:
            return _OPEN  # gathering speed may be converging to a target
    return _between(figure, most, least, "m/s", words)


def keeps_lateral(action: str, done: Done) -> Margin:
    """Whether the way carries out a lateral meta-action; sideways is measured from the lane's middle."""
    side = -1 if action.endswith("right") else 1
    there, away = (done.left, done.right) if side > 0 else (done.right, done.left)
    straight = abs(done.bend) <= MOST_BEND
    if action.startswith("turn"):
        turned = side * done.turned
        words = f"{action}: heading turns {turned:+.2f} rad to that side"
        found = _between(-turned, -0.5, -0.1, "rad", words)
        return found if straight or found.kept is False else _OPEN
    if not straight:
        return _OPEN
    if action == "lane keeping":
        off = max(done.left, done.right)
        return _between(off, 0.6, 2.2, "m", f"{action}: {off:.1f} m beside the lane's middle")
    words = f"{action}: {there:.1f} m to that side, {away:.1f} m to the other"
    if action in ASIDE:
        return _between(-there, -0.5, -0.1, "m", words)
    if action.startswith("lane change"):
        if 2.2 <= side * done.aside <= 6.0:
            return Margin(True, side * done.aside - 2.2, "m", words)
        return Margin(False, 2.2 - there, "m", words) if there <= 0.8 else _OPEN
    if action.startswith("out-of-lane nudge"):
        if 1.2 <= there <= 4.5 and away <= 0.5:
            return Margin(True, there - 1.2, "m", words)
        return Margin(False, 1.2 - there, "m", words) if there <= 0.3 else _OPEN
    if action.startswith("in-lane nudge"):
        if 0.3 <= there <= 1.0 and away <= 0.3:
            return Margin(True, there - 0.3, "m", words)
        if there >= 2.2 or (there <= 0.1 and away >= 0.3):
            return Margin(False, max(there - 1.0, away), "m", words)
    return _OPEN


def _between(figure: float, most: float, least: float, unit: str, words: str) -> Margin:
    """Kept up to ``most``, broken from ``least`` on; both measured from the middle between them."""
    line = (most + least) / 2
    kept = True if figure <= most else False if figure >= least else None
    return Margin(kept, 0.0 if kept is None else abs(figure - line), unit, words)


def _change(done: Done) -> float:
    return max(done.fastest - done.start, done.start - done.slowest, 0.0)
