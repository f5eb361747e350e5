"""Synthetic failures of plans for verifiers to be tested on: the words and the action stay, the motion fails them.

After SEAL (section V-D, Figure 5), whose failures are motions that are imprecise or carry out another plan, and VEGAS
(section 4.1, appendix 10.2), whose verifier learns mistakes that an agent is likely to make: half of what was asked, or
the right thing at the wrong time. Whether a motion really fails is decided afterwards, by its margin.
"""

import random
from collections.abc import Callable

import numpy as np

from cfgen.planners.responders import TIMES
from cfgen.traces.sources import Source, acted
from cfgen.traces.wordings import MANOEUVRES

#: waypoints (24, 3) that fail a consistent trace, or why there are none
Fail = Callable[[Source, random.Random], np.ndarray | str]
#: s: when a manoeuvre begins that comes too late
_LATE_S = (4.0, 5.25)
#: of what was to be done, what a plan does that falls short
_SHORT = (0.02, 0.22)


def _along(source: Source) -> tuple[np.ndarray, np.ndarray]:
    """(25,) m along the lane and beside it, from t0 on."""
    s, aside = source.facts.lane.locate(source.said.waypoints[:, :2])
    return np.append(0.0, s), np.append(0.0, aside)


def _other_plan(source: Source, rng: random.Random) -> np.ndarray | str:
    """Another manoeuvre, carried out well: "a totally different plan"."""
    others = [name for name in sorted(MANOEUVRES) if name != source.manoeuvre]
    return acted(source.facts.base, rng.choice(others), rng.choice(("left", "right")))


def _short(source: Source, rng: random.Random) -> np.ndarray | str:
    """A little of it: the right thing, not enough of it."""
    s, aside = _along(source)
    steady, part = source.facts.base.speed * TIMES, rng.uniform(*_SHORT)
    return source.facts.base.follow(steady + part * (s - steady), part * aside)


def _late(source: Source, rng: random.Random) -> np.ndarray | str:
    """The same, begun when most of the plan is over."""
    s, aside = _along(source)
    begin, v = rng.uniform(*_LATE_S), source.facts.base.speed
    since = np.maximum(TIMES - begin, 0.0)
    s = np.where(since > 0, v * begin + np.interp(since, TIMES, s), v * TIMES)
    return source.facts.base.follow(s, np.interp(since, TIMES, aside))


def _half(source: Source, rng: random.Random) -> np.ndarray | str:
    """Of a manoeuvre along and across the lane one alone."""
    s, aside = _along(source)
    steady = source.facts.base.speed * TIMES
    if np.abs(aside).max() < 0.5 or np.abs(s - steady).max() < 2.0:
        return "it is of one part"
    return source.facts.base.follow(*((s, np.zeros_like(s)) if rng.random() < 0.5 else (steady, aside)))


FAILURES: dict[str, Fail] = {
    "another plan driven": _other_plan,
    "falls short": _short,
    "begins too late": _late,
    "half of it driven": _half,
}


def synthetic(kind: str) -> bool:
    """Whether a kind of a pool ("E4: falls short of the action") is one of these."""
    return any(f"{name} " in f"{kind} " for name in FAILURES)
