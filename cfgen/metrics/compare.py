"""Planner against planner on the same cases: paired difference, exact McNemar test, Holm correction, power."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, sqrt

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom, binomtest

from cfgen.metrics.intervals import Blocks, Difference, Events, difference

ALPHA = 0.05


@dataclass(frozen=True)
class PairedRuns:
    """Two planners on the cases they share.

    Attributes:
        first_only, second_only: cases at which only one of the two succeeds, the ones that the test looks at.
        p: exact two-sided McNemar; p_holm: corrected for all pairs of the leaderboard.
    """

    first: str
    second: str
    difference: Difference
    first_only: int
    second_only: int
    p: float
    p_holm: float

    @property
    def distinct(self) -> bool:
        return self.p_holm < ALPHA

    def sentence(self) -> str:
        """What may be said of the two."""
        n = self.difference.n
        if not n or self.difference.value is None:
            return f"{self.first} and {self.second} share no case."
        if not self.distinct:
            return (
                f"{self.first} and {self.second} cannot be told apart on {n} cases (p = {self.p_holm:.2g})."
            )
        better, behind = (self.first, self.second) if self.difference.value > 0 else (self.second, self.first)
        points = 100 * abs(self.difference.value)
        return f"{better} is ahead of {behind} by {points:.1f} points on {n} cases (p = {self.p_holm:.2g})."


def compare_all(events: Mapping[str, Events], blocks: Blocks | None = None) -> list[PairedRuns]:
    """Every pair of planners; with repeats, a case counts as success where more than half of them succeed."""
    pairs = [_compare(a, b, events[a], events[b], blocks) for a, b in combinations(events, 2)]
    corrected = holm([pair.p for pair in pairs])
    return [replace(pair, p_holm=p) for pair, p in zip(pairs, corrected, strict=True)]


def _compare(first: str, second: str, a: Events, b: Events, blocks: Blocks | None) -> PairedRuns:
    shared = set(a) & set(b)
    first_only = sum(a[c] > 0.5 >= b[c] for c in shared)
    second_only = sum(b[c] > 0.5 >= a[c] for c in shared)
    p = mcnemar(first_only, second_only)
    return PairedRuns(first, second, difference(a, b, blocks), first_only, second_only, p, p)


def mcnemar(first_only: int, second_only: int) -> float:
    """Exact two-sided p of as uneven a split of the discordant cases; 1 when there are none."""
    n = first_only + second_only
    return float(binomtest(first_only, n).pvalue) if n else 1.0


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given."""
    corrected, running = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        running = max(running, min(1.0, (len(p) - rank) * p[i]))
        corrected[i] = running
    return corrected


def cases_needed(
    gap: float, discordant: float, power: float = 0.8, alpha: float = ALPHA, tests: int = 1
) -> int:
    """Cases for :func:`mcnemar` to see a difference of ``gap`` (share of cases) with the given power.

    Args:
        discordant: share of cases at which exactly one planner succeeds; at least ``gap``.
        tests: pairs that Holm's correction is over; the first of them is tested at ``alpha / tests``.

    The smallest number from which the exact test has that power, found from the normal approximation (Connor 1987).
    """
    discordant = max(discordant, gap)
    z_alpha, z_power = ndtri(1 - alpha / tests / 2), ndtri(power)
    n = ceil(((z_alpha * sqrt(discordant) + z_power * sqrt(discordant - gap**2)) / gap) ** 2)
    while mcnemar_power(n, gap, discordant, alpha / tests) < power:
        n += max(1, n // 200)
    return n


def mcnemar_power(n: int, gap: float, discordant: float, alpha: float = ALPHA) -> float:
    """Chance that the exact test on ``n`` cases gives p < ``alpha`` where the difference is ``gap``."""
    count = np.arange(n + 1)
    # the most that the weaker side may have for both tails together to stay below alpha
    limit = np.where(count > 0, binom.ppf(alpha / 2, np.maximum(count, 1), 0.5), 0) - 1
    share = (discordant + gap) / (2 * discordant)
    power = binom.cdf(limit, count, 1 - share) + binom.cdf(limit, count, share)
    return float((binom.pmf(count, n, discordant) * power).sum())
