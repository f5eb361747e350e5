"""How far two raters agree: accuracy, Cohen's kappa, recall of every score, each with its interval.

Shares have Wilson's interval. Those of kappa are quantiles over tables drawn from what the ratings leave likely: a
Dirichlet distribution of the counts and of part of an answer more. For the lower end that is one answer spread evenly
over the table, mostly disagreement; for the upper end one on which both agree, and a quarter spread evenly. So
they keep their width where all answers agree, and where a score is rare; a bootstrap has nothing to draw there. With
one and the same part for both ends they miss kappas above them (as a single Beta does where Clopper and Pearson take
two): by simulation 95% held 90 to 94% at scores of 5% among 66 answers, this 94 to 96% (quadratic 92 to 96%).

Kappa is undefined (None) where chance explains everything: both raters gave the same single score throughout. Where
only one of them is constant it is 0 whatever the data, and has no interval.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cfgen.metrics.rates import Rate
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
        resamples: tables drawn for the 95% intervals of the kappas.

    Raises:
        ValueError: the raters differ in length, or a value is not a label.
    """
    table = confusion(reference, other, labels)
    n = int(table.sum())
    none = (None,) * len(labels)
    if n == 0:
        return Agreement(0, tuple(labels), None, None, None, None, None, None, _rows(table), none, none)
    drawn = _drawn(table, seed, resamples)
    rows, hits = table.sum(axis=1).tolist(), np.diag(table).tolist()
    varied = all((table.sum(axis=axis) > 0).sum() > 1 for axis in (0, 1))
    return Agreement(
        n=n,
        labels=tuple(labels),
        accuracy=float(np.trace(table) / n),
        accuracy_interval=_wilson(int(np.trace(table)), n),
        kappa=kappa(table),
        kappa_interval=_interval(drawn, quadratic=False) if varied else None,
        quadratic=kappa(table, quadratic=True),
        quadratic_interval=_interval(drawn, quadratic=True) if varied else None,
        confusion=_rows(table),
        recall=tuple(hit / row if row else None for hit, row in zip(hits, rows, strict=True)),
        recall_interval=tuple(_wilson(hit, row) for hit, row in zip(hits, rows, strict=True)),
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
    pairs = np.einsum("ri,rj->rij", tables.sum(axis=2), tables.sum(axis=1))
    expected = pairs / np.where(n > 0, n, 1)[:, None, None]
    chance = (weights * expected).sum(axis=(1, 2))
    seen = (weights * tables).sum(axis=(1, 2))
    return np.where(chance > 0, 1 - seen / np.where(chance > 0, chance, 1), np.nan)


def _wilson(hits: int, n: int) -> Interval | None:
    found = Rate.of(hits, n)
    return None if found.low is None or found.high is None else (found.low, found.high)


def _drawn(table: np.ndarray, seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, L, L) tables that the counts leave likely, for the lower and for the upper end of an interval."""
    rng, even = np.random.default_rng(seed), np.full(table.shape, 1 / table.size)
    more = (even, 0.25 * even + np.eye(len(table)) / len(table))
    low, high = (rng.dirichlet((table + one).ravel(), size=n).reshape(n, *table.shape) for one in more)
    return low, high


def _interval(drawn: tuple[np.ndarray, np.ndarray], quadratic: bool) -> Interval | None:
    low, high = (k[~np.isnan(k)] for k in (_kappas(tables, quadratic) for tables in drawn))
    if not len(low) or not len(high):
        return None
    return float(np.percentile(low, 2.5)), float(np.percentile(high, 97.5))


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
    """As a record: accuracy, both kappas and recall with intervals and confusion of two raters of a set."""
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
