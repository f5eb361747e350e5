"""The metrics that ship: what the modified plan does when it is driven, by itself and against the original."""

import numpy as np

from cfgen.geometry.path import travelled
from cfgen.geometry.trajectory import speeds
from cfgen.metrics.clearance import Track, smallest_gap
from cfgen.metrics.kinematics import hardest_braking
from cfgen.records import Case, Placement


def smallest_gap_m(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """Smallest distance between the car and what stands there, to the plan's end."""
    return smallest_gap(Track.of(modified), placement)


def hardest_braking_ms2(
    original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case
) -> float:
    """Hardest deceleration in the modified plan."""
    return hardest_braking(speeds(modified))


def speed_change_ms(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """Speed at the end (6 s, or the shorter plan's), modified minus original: below 0 is slower."""
    n = min(len(original), len(modified))
    return float(speeds(modified)[n] - speeds(original)[n])


def held_back_m(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """Way driven in 6 s, or until the shorter plan ends, original minus modified."""
    n = min(len(original), len(modified))
    return float(travelled(original)[n] - travelled(modified)[n])
