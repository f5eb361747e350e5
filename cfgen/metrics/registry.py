"""Numbers for each case, by name: what a pair of plans did, from its trajectories alone.

A metric is a function of the original plan, the modified plan, the placement and the case. Every one that is
registered shows in the report: a row in its table, a column in its CSV of cases.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from cfgen.core.registry import Registry
from cfgen.metrics.intervals import Events, redrawn
from cfgen.records import Case, Placement

METRICS = Registry(
    "metric",
    "cfgen.metrics",
    {
        "smallest-gap-m": "cfgen.metrics.kinematics:smallest_gap_m",
        "hardest-braking-ms2": "cfgen.metrics.kinematics:hardest_braking_ms2",
        "speed-change-ms": "cfgen.metrics.kinematics:speed_change_ms",
        "held-back-m": "cfgen.metrics.kinematics:held_back_m",
    },
)

#: Takes the original and the modified plan, as a car drives them, each (N, 3) x, y, theta in m and rad in the ego frame
#: at t0, 0.25 s apart, first at 0.25 s, to the plan's own end, 6 s or less; where the hazard, or what stands in its
#: stead in that arm, is; the case. None where it cannot be said.
Metric = Callable[[np.ndarray, np.ndarray, Placement, Case], float | None]


@dataclass(frozen=True)
class Mean:
    """The mean over ``n`` cases and its 95% interval; None without cases, no interval where all are alike."""

    n: int
    value: float | None
    low: float | None
    high: float | None


def measure(
    metric: Metric, original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case
) -> float | None:
    """One number.

    Raises:
        TypeError: it answered with something else. ValueError: with NaN or infinity.
    """
    value = metric(original, modified, placement, case)
    if value is None:
        return None
    if not isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
        raise TypeError(f"expected a number or None, found {value!r}"[:200])
    if not math.isfinite(value):
        raise ValueError(f"expected a finite number or None, found {value}")
    return float(value)


def mean(values: Events, seed: int = 0, resamples: int = 4000) -> Mean:
    """Over cases, with a percentile bootstrap."""
    table = np.array([values[case] for case in sorted(values)])
    if not len(table):
        return Mean(0, None, None, None)
    if (table == table[0]).all():
        return Mean(len(table), float(table[0]), None, None)
    low, high = np.percentile(redrawn(table[None], seed, resamples)[0] / len(table), [2.5, 97.5])
    return Mean(len(table), float(table.mean()), float(low), float(high))


def over_repeats(values: Mapping[tuple[str, int], float]) -> dict[str, float]:
    """case -> the mean of its repeats."""
    by_case: dict[str, list[float]] = {}
    for (case_id, _), value in values.items():
        by_case.setdefault(case_id, []).append(value)
    return {case_id: sum(repeats) / len(repeats) for case_id, repeats in by_case.items()}
