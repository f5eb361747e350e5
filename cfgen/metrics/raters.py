"""How far several raters agree who did not all rate everything: an answer that is missing, or UNKNOWN, is None."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

#: one sequence per rater, all of the same examples
Ratings = Sequence[Sequence[int | None]]


def krippendorff_alpha(
    ratings: Ratings, labels: Sequence[int] = (0, 1, 2), level: Literal["nominal", "ordinal"] = "nominal"
) -> float | None:
    """Krippendorff's alpha (2011, Computing Krippendorff's Alpha-Reliability): 1 - observed / expected disagreement.

    Args:
        labels: every possible label, in order. level: ordinal counts how many ratings lie between two labels.

    Returns None where nothing was rated twice, or all ratings are one and the same.
    """
    counts = _counts(ratings, labels)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return None
    each = counts.sum(axis=1)[:, None, None]
    pairs = counts[:, :, None] * counts[:, None, :] - np.eye(len(labels)) * counts[:, :, None]
    seen = (pairs / (each - 1)).sum(axis=0)
    total = seen.sum(axis=0)
    chance = (np.outer(total, total) - np.diag(total)) / max(total.sum() - 1, 1)
    apart = _apart(total, level)
    expected = float((apart * chance).sum())
    return 1 - float((apart * seen).sum()) / expected if expected > 0 else None


def gwet_ac1(ratings: Ratings, labels: Sequence[int] = (0, 1, 2)) -> float | None:
    """Gwet's AC1 (2008), which stays put where nearly all answers are alike; None where nothing was rated twice."""
    counts = _counts(ratings, labels)
    counts = counts[counts.sum(axis=1) >= 1]
    twice = counts[counts.sum(axis=1) >= 2]
    if not len(twice):
        return None
    each = twice.sum(axis=1)
    seen = float(((twice * (twice - 1)).sum(axis=1) / (each * (each - 1))).mean())
    share = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    chance = float((share * (1 - share)).sum()) / (len(labels) - 1)
    return (seen - chance) / (1 - chance)


def _counts(ratings: Ratings, labels: Sequence[int]) -> np.ndarray:
    """(N, L) how many raters gave each example each label.

    Raises:
        ValueError: a rating is not a label, or the raters differ in length.
    """
    votes = list(zip(*ratings, strict=True))
    strange = sorted({v for one in votes for v in one if v is not None} - set(labels))
    if strange:
        raise ValueError(f"agreement: expected labels {list(labels)}, found {strange}")
    return np.array([[one.count(label) for label in labels] for one in votes], float).reshape(
        len(votes), len(labels)
    )


def _apart(total: np.ndarray, level: str) -> np.ndarray:
    """(L, L) squared distance of two labels, given how often each was used."""
    if level == "nominal":
        return 1.0 - np.eye(len(total))
    upto = np.cumsum(total) - total / 2
    return np.subtract.outer(upto, upto) ** 2
