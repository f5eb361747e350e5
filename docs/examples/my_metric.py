"""A metric: how soon the plan reacts."""

import numpy as np

from cfgen.records import PLAN_DT, Case, Placement

APART_M = 0.5


def reaction_s(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float | None:
    """Seconds until the modified plan is half a metre from the original; none where it never is."""
    n = min(len(original), len(modified))
    apart = np.linalg.norm(
        modified[:n, :2] - original[:n, :2], axis=1
    )  # m at 0.25, 0.5 ... 6 s or the plan's end
    late = np.flatnonzero(apart >= APART_M)
    return float((late[0] + 1) * PLAN_DT) if len(late) else None
