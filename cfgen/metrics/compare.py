"""Planner against planner on the same cases: paired difference, exact McNemar test, Holm correction, power."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, sqrt

from scipy.special import ndtri
from scipy.stats import binomtest

from cfgen.metrics.floor import Difference, Events, difference

ALPHA = 0.05


@dataclass(frozen=True)
class Pair:
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
        ahead, behind = (self.first, self.second) if self.difference.value > 0 else (self.second, self.first)
        points = 100 * abs(self.difference.value)
        return f"{ahead} is ahead of {behind} by {points:.1f} points on {n} cases (p = {self.p_holm:.2g})."


def compare_all(events: Mapping[str, Events], seed: int = 0) -> list[Pair]:
    """Every pair of planners; with repeats, a case counts as success where more than half of them succeed."""
    pairs = [_compare(a, b, events[a], events[b], seed) for a, b in combinations(events, 2)]
    corrected = holm([pair.p for pair in pairs])
    return [replace(pair, p_holm=p) for pair, p in zip(pairs, corrected, strict=True)]


def _compare(first: str, second: str, a: Events, b: Events, seed: int) -> Pair:
    shared = set(a) & set(b)
    first_only = sum(a[c] > 0.5 >= b[c] for c in shared)
    second_only = sum(b[c] > 0.5 >= a[c] for c in shared)
    p = mcnemar(first_only, second_only)
    return Pair(first, second, difference(a, [b], seed), first_only, second_only, p, p)


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


def cases_needed(gap: float, discordant: float, power: float = 0.8, alpha: float = ALPHA) -> int:
    """Cases for a paired test to see a difference of ``gap`` (share of cases) with the given power.

    Args:
        discordant: share of cases at which exactly one planner succeeds; at least ``gap``.

    The usual normal approximation for McNemar's test (Connor 1987).
    """
    discordant = max(discordant, gap)
    z_alpha, z_power = ndtri(1 - alpha / 2), ndtri(power)
    return ceil(((z_alpha * sqrt(discordant) + z_power * sqrt(discordant - gap**2)) / gap) ** 2)
