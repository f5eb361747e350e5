"""How one plan differs from another, seen from a place on the road."""

from dataclasses import dataclass

import numpy as np

from cfgen.geometry.path import path_of_plan, travelled
from cfgen.geometry.trajectory import speeds
from cfgen.records import Plan

HALF_CAR_M = 0.95
#: Below these, two plans cannot be told apart on the plots: m along, m beside, m/s.
SAME_ALONG_M, SAME_BESIDE_M, SAME_SPEED = 0.8, 0.25, 0.6


@dataclass(frozen=True)
class Response:
    """What the modified plan does differently before it comes to the changed place.

    Attributes:
        distinct: the plans can be told apart at all.
        slowed: m/s shed against the original before the place. held_back: m behind the original there or at the end.
        hurried: m/s gained before the place.
        towards: m by which it passes closer to the place, negative when farther; NaN without a place.
        shift: m to the left of the original, where the difference is largest before the place.
        in_the_way: the original plan would touch what stands there before it ends.
        gap: m left beside it when the modified plan passes; negative when it would touch it.
        arrival: share of the original's speed that is left when it gets there; 0 when it never gets there.
    """

    distinct: bool
    slowed: float
    held_back: float
    hurried: float
    towards: float
    shift: float
    in_the_way: bool
    gap: float
    arrival: float

    @property
    def brakes(self) -> bool:
        return self.slowed >= 1.0 and self.held_back >= 0.8 and self.slowed > self.hurried


def compare(original: Plan, modified: Plan, base: np.ndarray) -> Response:
    """As far as the shorter plan goes. ``base`` (M, 2): ground points of the element, m; (0, 2) when there are none."""
    n = min(len(original.waypoints), len(modified.waypoints))
    a, b = np.array(original.waypoints)[:n], np.array(modified.waypoints)[:n]
    path = path_of_plan(a)
    along, beside = travelled(a), travelled(b)
    va, vb = speeds(a), speeds(b)
    s_b, l_b = (np.concatenate([[0.0], v]) for v in path.locate(b[:, :2]))
    distinct = _distinct(along, beside, l_b, va, vb)
    near, low, high = _extent(path.locate(base)) if len(base) else (np.inf, np.nan, np.nan)
    arrives = np.flatnonzero(s_b >= near - 1.0)
    end = int(arrives[0]) if len(arrives) else n
    before = slice(0, max(end, 1) + 1)
    change = (vb - va)[before]
    at_original = np.interp(near, along, va) if near < along[-1] else va[-1]
    offset = float(l_b[end])
    return Response(
        distinct=distinct,
        slowed=float(max(-change.min(), 0.0)),
        held_back=float((along - beside)[end]),
        hurried=float(max(change.max(), 0.0)),
        towards=_gap(0.0, low, high) - _gap(offset, low, high),
        shift=float(l_b[before][np.abs(l_b[before]).argmax()]),
        in_the_way=bool(near < along[-1] and _gap(0.0, low, high) < 0.1),
        gap=_gap(offset, low, high),
        arrival=float(vb[end] / max(at_original, 0.5)) if len(arrives) else 0.0,
    )


def _distinct(along: np.ndarray, beside: np.ndarray, l_b: np.ndarray, va: np.ndarray, vb: np.ndarray) -> bool:
    reach = max(SAME_ALONG_M, 0.015 * along[-1])
    return bool(
        np.abs(along - beside).max() > reach
        or np.abs(l_b).max() > SAME_BESIDE_M
        or np.abs(va - vb).max() > SAME_SPEED
    )


def _extent(located: tuple[np.ndarray, np.ndarray]) -> tuple[float, float, float]:
    """Nearest arc length, and the right and left ends beside the path, of ground points."""
    along, beside = located
    return float(np.percentile(along, 5)), float(beside.min()), float(beside.max())


def _gap(offset: float, low: float, high: float) -> float:
    """m between the car's side and the element when the car's middle passes at ``offset``; negative is contact."""
    middle, half = (low + high) / 2, (high - low) / 2
    return float(abs(offset - middle) - half - HALF_CAR_M)
