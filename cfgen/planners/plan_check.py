"""Does a trajectory do what its own words say? A verifier without a model, for ``verified:`` planners.

Edges E4 and E5 of the Pinocchio paper (meta-action and justification to waypoints), by measurement alone.
"""

import re
from typing import NamedTuple

import numpy as np

from cfgen.geometry.trajectory import speeds
from cfgen.records import PLAN_DT, Plan

#: m/s: less change than this is keeping the speed; below STANDING it stands
KEEPS, STANDING = 1.0, 0.7
#: m/s^2: no car brakes or gathers speed harder, with room for waypoints rounded to 0.1 m
MOST_MS2 = 14.0
#: m aside from where it would be: a nudge, a lane
NUDGE_M, LANE_M = 0.35, 2.0

_SLOWS = re.compile(
    r"\b(brak|slow|stop|halt|yield|decelerat|gives? way|reduc\w* (?:its |the )?speed|wait)", re.I
)
_KEEPS = re.compile(r"\b(keep|maintain|hold|continue)\w* (?:\w+ ){0,3}(speed|pace|course)|\bcruis", re.I)
_SPEEDS_UP = re.compile(r"\b(accelerat|speed\w* up|overtak|pass(?:es|ing)?\b)", re.I)


#: What denies the words right after it, in the same part of a sentence: "no need to brake", "without slowing".
_NOT = re.compile(
    r"\b(?:no|not|never|without|neither|nor|cannot|unnecessary|\w+n['’]t)\b"
    r"(?:(?!\b(?:but|however|so|and|then|therefore)\b)[^.,;:!?\n]){0,40}$",
    re.I,
)


class Check(NamedTuple):
    """``score`` in [0, 1]: the share of the claims that the waypoints keep; ``broken``: the others, in words."""

    score: float
    broken: tuple[str, ...]


def check_plan(plan: Plan, speed: float, yaw_rate: float = 0.0) -> Check:
    """Compare meta-actions and justification with the motion. No claim at all scores 0.5.

    A motion that no car can make, such as a stop on the spot, breaks every claim about it: it scores 0.

    ``speed`` m/s and ``yaw_rate`` rad/s at t0 say where the lane goes: lateral motion is what leaves that arc.
    """
    motion = _Motion(np.array(plan.waypoints), speed, yaw_rate)
    claims = {
        **_longitudinal(plan.trace.longitudinal, motion),
        **_lateral(plan.trace.lateral, motion),
        **_words(plan.trace.justification, motion),
    }
    if not motion.drivable:
        return Check(0.0, ("no car can drive it",))
    if not claims:
        return Check(0.5, ("nothing is claimed",))
    broken = tuple(claim for claim, holds in claims.items() if not holds)
    return Check(1 - len(broken) / len(claims), broken)


def follows_action(action: str, plan: Plan, speed: float, yaw_rate: float = 0.0) -> bool:
    """Whether the waypoints do what one meta-action says; an action outside the vocabulary is never kept."""
    motion = _Motion(np.array(plan.waypoints), speed, yaw_rate)
    claims = {**_longitudinal(action, motion), **_lateral(action, motion)}
    return bool(claims) and all(claims.values())


class _Motion:
    def __init__(self, waypoints: np.ndarray, speed: float, yaw_rate: float) -> None:
        profile = np.append(speed, speeds(waypoints)[-len(waypoints) :])
        self.end, self.slowest, self.fastest = profile[-1], profile.min(), profile.max()
        self.start = speed
        #: m/s of change from one waypoint to the next, the first against the speed at t0
        self.drivable = bool(np.abs(np.diff(self._steps(waypoints, speed))).max() <= MOST_MS2 * PLAN_DT)
        along = np.hypot(waypoints[:, 0], waypoints[:, 1])
        expected = along * np.sin(yaw_rate / max(speed, 1.0) * along / 2)
        aside = waypoints[:, 1] - expected
        self.left, self.right, self.aside_end = aside.max(), -aside.min(), aside[-1]
        self.heading_change = float(waypoints[-1, 2])

    @staticmethod
    def _steps(waypoints: np.ndarray, speed: float) -> np.ndarray:
        """(25,) m/s at t0 and over each step as it stands, without smoothing."""
        way = np.hypot(*np.diff(waypoints[:, :2], axis=0, prepend=np.zeros((1, 2))).T)
        return np.append(speed, way / PLAN_DT)

    @property
    def slows(self) -> bool:
        return bool(self.slowest < self.start - KEEPS or (self.start < STANDING and self.end < STANDING))


def _longitudinal(action: str, motion: _Motion) -> dict[str, bool]:
    steady = abs(motion.end - motion.start) <= max(2 * KEEPS, 0.15 * motion.start)
    holds = {
        "stop": motion.slowest < max(STANDING, 0.3 * motion.start),
        "yield": motion.slows,
        "follow lead vehicle": motion.fastest < motion.start + 4,
        "gap search": True,
        "pass": not motion.slows,
        "speed adapt": abs(motion.end - motion.start) > KEEPS / 2 or motion.slows,
        "set speed tracking": steady or motion.end > motion.start,
    }
    return {f"longitudinal: {action}": bool(holds[action])} if action in holds else {}


def _lateral(action: str, motion: _Motion) -> dict[str, bool]:
    side = 1 if action.endswith("left") else -1
    moved = motion.left if side > 0 else motion.right
    if action.startswith("turn"):
        holds = side * motion.heading_change > 0.3
    elif action.startswith(("lane change", "out-of-lane")):
        holds = moved > LANE_M / 2
    elif action.startswith("in-lane nudge"):
        holds = NUDGE_M / 2 < moved < LANE_M
    elif action == "lane keeping":
        holds = abs(motion.aside_end) < LANE_M
    elif action == "pull over":
        holds = max(motion.left, motion.right) > NUDGE_M
    else:
        return {}
    return {f"lateral: {action}": bool(holds)}


def _words(justification: str, motion: _Motion) -> dict[str, bool]:
    affirmed = {
        name: [not _NOT.search(justification[: m.start()]) for m in words.finditer(justification)]
        for name, words in (("slows", _SLOWS), ("speeds up", _SPEEDS_UP), ("follows_action", _KEEPS))
    }
    if any(affirmed["slows"]):
        return {"says it slows": motion.slows}
    if any(affirmed["speeds up"]):
        return {"says it speeds up": bool(motion.fastest > motion.start + KEEPS / 2)}
    if affirmed["slows"]:
        return {"says it does not slow": not motion.slows}
    if any(affirmed["follows_action"]):
        return {"says it follows_action its speed": not motion.slows}
    if affirmed["speeds up"]:
        return {"says it does not speed up": bool(motion.fastest <= motion.start + KEEPS)}
    return {}
