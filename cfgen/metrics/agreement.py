"""How far two raters agree: accuracy, Cohen's kappa, recall of every score, each with a bootstrap interval.

Kappa is undefined (None) where chance explains everything: both raters gave the same single score throughout. Where
only one of them is constant it is 0 whatever the data, and has no interval.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cfgen.records import Comparison

Interval = tuple[float, float]


@dataclass(frozen=True)
class Agreement:
    """``confusion[i][j]``: how often the reference said ``labels[i]`` and the other ``labels[j]``.

    ``recall[i]`` is the share of the reference's ``labels[i]`` that the other found; None where there are none.
    """

    n: int
    labels: tuple[int, ...]
    accuracy: float | None
    accuracy_interval: Interval | None
    kappa: float | None
    kappa_interval: Interval | None
    quadratic: float | None
    quadratic_interval: Interval | None
    confusion: tuple[tuple[int, ...], ...]
    recall: tuple[float | None, ...]
    recall_interval: tuple[Interval | None, ...]


def agreement(
    reference: Sequence[int],
    other: Sequence[int],
    labels: Sequence[int] = (0, 1, 2),
    seed: int = 0,
    resamples: int = 2000,
) -> Agreement:
    """Compare two raters of the same examples.

    Args:
        reference, other: (N,) labels in the same order.
        labels: every possible label, in order; quadratic weights use their positions.
        resamples: bootstrap draws over examples for the 95% intervals.

    Raises:
        ValueError: the raters differ in length, or a value is not a label.
    """
    table = confusion(reference, other, labels)
    n = int(table.sum())
    none = (None,) * len(labels)
    if n == 0:
        return Agreement(0, tuple(labels), None, None, None, None, None, None, _rows(table), none, none)
    drawn = np.random.default_rng(seed).multinomial(n, table.ravel() / n, size=resamples)
    drawn = drawn.reshape(resamples, *table.shape)
    rows = table.sum(axis=1)
    varied = all((table.sum(axis=axis) > 0).sum() > 1 for axis in (0, 1))
    return Agreement(
        n=n,
        labels=tuple(labels),
        accuracy=float(np.trace(table) / n),
        accuracy_interval=_interval(np.trace(drawn, axis1=1, axis2=2) / n),
        kappa=kappa(table),
        kappa_interval=_interval(_kappas(drawn, quadratic=False)) if varied else None,
        quadratic=kappa(table, quadratic=True),
        quadratic_interval=_interval(_kappas(drawn, quadratic=True)) if varied else None,
        confusion=_rows(table),
        recall=tuple(float(table[i, i] / rows[i]) if rows[i] else None for i in range(len(rows))),
        recall_interval=tuple(_interval(share) for share in _recalls(drawn).T),
    )


def confusion(reference: Sequence[int], other: Sequence[int], labels: Sequence[int]) -> np.ndarray:
    """(L, L) int counts, reference by row.

    Raises:
        ValueError: the raters differ in length, or a value is not a label.
    """
    if len(reference) != len(other):
        raise ValueError(
            f"agreement: expected as many ratings from both, found {len(reference)} and {len(other)}"
        )
    index = {label: i for i, label in enumerate(labels)}
    strange = sorted({*reference, *other} - set(index))
    if strange:
        raise ValueError(f"agreement: expected labels {list(labels)}, found {strange}")
    table = np.zeros((len(index), len(index)), int)
    for a, b in zip(reference, other, strict=True):
        table[index[a], index[b]] += 1
    return table


def kappa(table: np.ndarray, quadratic: bool = False) -> float | None:
    """Cohen's kappa of a confusion table (L, L), plain or with quadratic weights; None where undefined."""
    value = float(_kappas(table[None], quadratic)[0])
    return None if np.isnan(value) else value


def _kappas(tables: np.ndarray, quadratic: bool) -> np.ndarray:
    """(R,) kappas of (R, L, L) tables, NaN where undefined: 1 - observed / expected disagreement."""
    size = tables.shape[-1]
    gap = np.subtract.outer(np.arange(size), np.arange(size)).astype(float)
    weights = gap**2 if quadratic else (gap != 0).astype(float)
    n = tables.sum(axis=(1, 2))
    expected = (
        np.einsum("ri,rj->rij", tables.sum(axis=2), tables.sum(axis=1)) / np.maximum(n, 1)[:, None, None]
    )
    chance = (weights * expected).sum(axis=(1, 2))
    seen = (weights * tables).sum(axis=(1, 2))
    return np.where(chance > 0, 1 - seen / np.where(chance > 0, chance, 1), np.nan)


def _recalls(tables: np.ndarray) -> np.ndarray:
    """(R, L) shares of each of the reference's labels that the other found, NaN where there are none."""
    rows = tables.sum(axis=2)
    found = np.diagonal(tables, axis1=1, axis2=2)
    return np.where(rows > 0, found / np.maximum(rows, 1), np.nan)


def _interval(values: np.ndarray) -> Interval | None:
    """Percentiles of the draws in which a figure is defined; None when that is fewer than half."""
    defined = values[~np.isnan(values)]
    if len(defined) < len(values) / 2:
        return None
    low, high = np.percentile(defined, [2.5, 97.5])
    return float(low), float(high)


def _rows(table: np.ndarray) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(v) for v in row) for row in table)


def consensus(ratings: Sequence[Sequence[int | None]]) -> list[int | None]:
    """The majority of several raters for each example; None where the top is tied or nobody answered.

    Args:
        ratings: one sequence per rater, all of the same examples; None is no answer.
    """
    found: list[int | None] = []
    for votes in zip(*ratings, strict=True):
        ranked = Counter(v for v in votes if v is not None).most_common(2)
        tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
        found.append(ranked[0][0] if ranked and not tied else None)
    return found


def pairwise(ratings: Sequence[Sequence[int]], labels: Sequence[int]) -> list[list[float | None]]:
    """Kappa of every pair of raters (as in the paper's Table 6); None on the diagonal and where undefined."""
    return [[None if a is b else kappa(confusion(a, b, labels)) for b in ratings] for a in ratings]


def comparison(reference: Sequence[int], other: Sequence[int]) -> Comparison:
    """As a record: accuracy, both kappas and recall with bootstrap intervals and confusion of two raters of a set."""
    found = agreement(reference, other)
    return Comparison(
        n=found.n,
        accuracy=found.accuracy,
        accuracy_interval=found.accuracy_interval,
        kappa=found.kappa,
        kappa_interval=found.kappa_interval,
        quadratic=found.quadratic,
        quadratic_interval=found.quadratic_interval,
        confusion=found.confusion,
        recall=found.recall,
        recall_interval=found.recall_interval,
    )
