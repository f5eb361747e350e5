"""Faithful GRPO's constrained optimization (section 3.3, Eq. 4-6): decoupled advantages and dual ascent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

#: The paper's settings (Table 6).
THRESHOLDS = {"consistency": 0.95, "semantic": 0.95, "spatial": 0.65}
DUAL_RATE, MAX_MULTIPLIER, LEAST_SAMPLES = 0.05, 5.0, 8
_EPSILON = 1e-6


def task_reward(accuracy: float, well_formed: bool) -> float:
    """R_task: half for the right answer, half for the format."""
    return 0.5 * accuracy + 0.5 * well_formed


def group_advantages(rewards: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """(N, G) rewards -> (N, G) advantages: less the mean and over the standard deviation of each prompt's group.

    Rollouts outside ``mask`` (N, G) take no part and get 0; so does a group of fewer than two, or of equals.
    """
    rewards = np.asarray(rewards, float)
    counted = np.ones(rewards.shape, bool) if mask is None else np.asarray(mask, bool)
    n = np.maximum(counted.sum(axis=1, keepdims=True), 1)
    mean = np.where(counted, rewards, 0).sum(axis=1, keepdims=True) / n
    gap = np.where(counted, rewards - mean, 0.0)
    return gap / (np.sqrt((gap**2).sum(axis=1, keepdims=True) / n) + _EPSILON)


def combined_advantages(
    task: np.ndarray,
    constraints: Mapping[str, np.ndarray],
    multipliers: Mapping[str, float],
    masks: Mapping[str, np.ndarray] | None = None,
) -> np.ndarray:
    """Eq. 6, then whitened over the batch: task advantage plus each constraint's own, weighted by its multiplier.

    Args:
        task: (N, G) task rewards. constraints: name -> (N, G) rewards. masks: name -> (N, G), where it applies.
    """
    total = group_advantages(task)
    for name, rewards in constraints.items():
        total = total + multipliers[name] * group_advantages(rewards, (masks or {}).get(name))
    return (total - total.mean()) / (total.std() + _EPSILON)


def constraint_score(rewards: np.ndarray, mask: np.ndarray) -> float | None:
    """Eq. 5: mean over the rollouts to which the constraint applies; None when it applies to none."""
    mask = np.asarray(mask, bool)
    return float(np.asarray(rewards, float)[mask].mean()) if mask.any() else None


@dataclass
class DualAscent:
    """The Lagrange multipliers (Eq. 4): they grow while a constraint is violated and shrink while it holds."""

    thresholds: Mapping[str, float] = field(default_factory=lambda: dict(THRESHOLDS))
    rate: float = DUAL_RATE
    limit: float = MAX_MULTIPLIER
    least_samples: int = LEAST_SAMPLES
    multipliers: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        self.multipliers = dict.fromkeys(self.thresholds, 1.0)

    def update(self, rewards: Mapping[str, np.ndarray], masks: Mapping[str, np.ndarray]) -> dict[str, float]:
        """One dual step from a batch; a constraint that applies to too few rollouts keeps its multiplier."""
        for name, threshold in self.thresholds.items():
            mask = np.asarray(masks[name], bool)
            score = constraint_score(rewards[name], mask)
            if score is not None and mask.sum() >= self.least_samples:
                moved = self.multipliers[name] + self.rate * (threshold - score)
                self.multipliers[name] = float(np.clip(moved, 0.0, self.limit))
        return dict(self.multipliers)
