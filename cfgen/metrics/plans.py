"""The metrics that ship: what the modified plan does, by itself and against the original."""

import numpy as np

from cfgen.geometry.trajectory import speeds
from cfgen.metrics.kinematics import encounter
from cfgen.records import Case, Placement


def contact(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """1 where the car touches what stands there, else 0: the mean is the share of cases."""
    return float(encounter(modified, placement).collides)


def smallest_gap_m(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """Smallest distance between the car and what stands there, over 6 s."""
    return encounter(modified, placement).min_gap_m


def hardest_braking_ms2(
    original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case
) -> float:
    """Hardest deceleration in the modified plan."""
    return encounter(modified, placement).planned_decel


def speed_change_ms(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """Speed at 6 s, modified minus original: below 0 is slower."""
    return float(speeds(modified)[-1] - speeds(original)[-1])


def held_back_m(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """Way driven in 6 s, original minus modified."""
    return _driven(original) - _driven(modified)


def _driven(plan: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(np.vstack([np.zeros(2), plan[:, :2]]), axis=0), axis=1).sum())
