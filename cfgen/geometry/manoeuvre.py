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
class Manoeuvre:
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


def keeps_action(longitudinal: str, lateral: str, driven: Manoeuvre) -> Margin:
    """Both meta-actions together: broken as soon as one of them is, kept only where both are.

    An action without a figure of its own (gap search, merge, pull over; speed adapt at a steady speed) is neither.
    """
    margins = keeps_longitudinal(longitudinal, driven), keeps_lateral(lateral, driven)
    broken = [m for m in margins if m.kept is False]
    if broken:
        return max(broken, key=lambda m: m.by)
    return min(margins, key=lambda m: m.by) if all(m.kept for m in margins) else _OPEN


def keeps_longitudinal(action: str, driven: Manoeuvre) -> Margin:
    """Whether the speeds carry out a longitudinal meta-action of the papers' vocabulary."""
    v0 = driven.start
    if v0 < LEAST_SPEED:
        return _OPEN
    lines = {
        # action: the figure, what keeps it at most (or at least), what breaks it
        "stop": ("slowest", driven.slowest, 0.35 * v0, 0.75 * v0),
        "yield": ("slowest", driven.slowest, v0 - max(1.5, 0.15 * v0), v0 - 0.3),
        "follow lead vehicle": ("end", driven.end, v0 + 1.0, v0 + 4.0),
        "pass": ("end", -driven.end, -v0 - 1.0, -v0 + 1.5),
        "set speed tracking": ("change", _change(driven), max(1.0, 0.1 * v0), max(4.0, 0.7 * v0)),
        SAME_SPEED: ("change", _change(driven), max(1.0, 0.1 * v0), max(3.0, 0.25 * v0)),
    }
    if action == "speed adapt":
        braked = _change(driven) >= 1.5
        words = f"speed changes by {_change(driven):.1f} m/s"
        return Margin(True, _change(driven) - 1.5, "m/s", words) if braked else _OPEN
    if action not in lines:
        return _OPEN
    name, figure, upper, lower = lines[action]
    words = f"{action}: {name} speed {abs(figure):.1f} m/s, {v0:.1f} at t0"
    if name == "change":
        words = f"{action}: speed leaves {v0:.1f} m/s by {figure:.1f}"
        if action != SAME_SPEED and figure >= lower and driven.slowest > v0 - lower:
            return _OPEN  # gathering speed may be converging to a target
    return _between(figure, upper, lower, "m/s", words)


def keeps_lateral(action: str, driven: Manoeuvre) -> Margin:
    """Whether the way carries out a lateral meta-action; sideways is measured from the lane's middle."""
    side = -1 if action.endswith("right") else 1
    toward, away = (driven.left, driven.right) if side > 0 else (driven.right, driven.left)
    straight = abs(driven.bend) <= MOST_BEND
    if action.startswith("turn"):
        turned = side * driven.turned
        words = f"{action}: heading turns {turned:+.2f} rad to that side"
        margin = _between(-turned, -0.5, -0.1, "rad", words)
        return margin if straight or margin.kept is False else _OPEN
    if not straight:
        return _OPEN
    if action == "lane keeping":
        off = max(driven.left, driven.right)
        return _between(off, 0.6, 2.2, "m", f"{action}: {off:.1f} m beside the lane's middle")
    words = f"{action}: {toward:.1f} m to that side, {away:.1f} m to the other"
    if action in ASIDE:
        return _between(-toward, -0.5, -0.1, "m", words)
    return _keeps_shift(action, toward, away, side * driven.aside, words)


def _keeps_shift(action: str, toward: float, away: float, aside: float, words: str) -> Margin:
    """The same of a lane change or a nudge on a straight road: m to its side, to the other, and at the end."""
    if action.startswith("lane change"):
        if 2.2 <= aside <= 6.0:
            return Margin(True, aside - 2.2, "m", words)
        return Margin(False, 2.2 - toward, "m", words) if toward <= 0.8 else _OPEN
    if action.startswith("out-of-lane nudge"):
        if 1.2 <= toward <= 4.5 and away <= 0.5:
            return Margin(True, toward - 1.2, "m", words)
        return Margin(False, 1.2 - toward, "m", words) if toward <= 0.3 else _OPEN
    if action.startswith("in-lane nudge"):
        if 0.3 <= toward <= 1.0 and away <= 0.3:
            return Margin(True, toward - 0.3, "m", words)
        if toward >= 2.2 or (toward <= 0.1 and away >= 0.3):
            return Margin(False, max(toward - 1.0, away), "m", words)
    return _OPEN


def _between(figure: float, upper: float, lower: float, unit: str, words: str) -> Margin:
    """Kept up to ``most``, broken from ``least`` on; both measured from the middle between them."""
    line = (upper + lower) / 2
    verdict = True if figure <= upper else False if figure >= lower else None
    return Margin(verdict, 0.0 if verdict is None else abs(figure - line), unit, words)


def _change(driven: Manoeuvre) -> float:
    return max(driven.fastest - driven.start, driven.start - driven.slowest, 0.0)
