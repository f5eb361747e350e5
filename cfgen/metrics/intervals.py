"""Shares, paired differences and their intervals, between blocks of cases that are alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, ndtri, stdtrit

from cfgen.records import Scene, recording_of

CONFIDENCE = 0.95
#: pairs; with it the 95% interval of 20 to 66 pairs holds at every agreement and effect in 93% or more
CONTINUITY = 0.25


def wilson(p: float, n: float, z: float) -> tuple[float, float]:
    """The score interval of a share ``p`` of ``n`` cases, ``z`` standard errors to each side.

    It ends at 0 and 1 exactly where the share does. ``n`` need not be whole.
    """
    centre, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return 0.0 if p == 0 else (centre - half) / scale, 1.0 if p == 1 else (centre + half) / scale


@dataclass(frozen=True)
class Rate:
    """A share of ``n`` cases with its Wilson interval; all three are None when there are no cases.

    ``hits`` may be fractional: with repeats, each case counts by the mean of its repeats.
    """

    hits: float
    n: int
    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, hits: float, n: int, confidence: float = CONFIDENCE) -> "Rate":
        """The Wilson score interval, as ``scipy.stats.binomtest(hits, n).proportion_ci(method="wilson")`` gives it."""
        if n == 0:
            return cls(hits, 0, None, None, None)
        low, high = wilson(hits / n, n, float(ndtri(0.5 + confidence / 2)))
        return cls(hits, n, hits / n, low, high)

    def percent(self, digits: int = 1) -> str:
        """``18.2``, or ``-`` without cases."""
        return "-" if self.value is None else f"{100 * self.value:.{digits}f}"

    def interval(self, digits: int = 1) -> str:
        """``10.7-29.1``, or ``-`` without cases."""
        if self.low is None or self.high is None:
            return "-"
        return f"{100 * self.low:.{digits}f}-{100 * self.high:.{digits}f}"


# --- paired ------------------------------------------------------------------------------------
# Differences between answers to the same cases, with intervals that hold for few cases and for rare events.
#
# Cases of one drive, or of one stretch of it, are alike. They form blocks, which vary as wholes.

#: case id -> event, 0..1 (the mean over repeats)
Events = Mapping[str, float]
#: case id -> the block it belongs to; empty: every case is one of its own
Blocks = Mapping[str, str]

#: Fewer drives say too little of how drives vary.
FEWEST_DRIVES = 10
#: s of a drive that make one block then
BLOCK_S = 20.0
#: numbers drawn at once; 4,000 draws of 100,000 blocks would be gigabytes
_AT_ONCE = 1_000_000
#: where scenes say when in their recording they were, s
_WHEN = ("t0_in_drive_s", "t0_log_s")


@dataclass(frozen=True)
class Difference:
    """A paired difference of means over ``n`` cases with its 95% interval; None without cases.

    ``p``: two-sided mid-p of McNemar's test, which takes cases as independent; with repeats, by the majority of them.
    """

    n: int
    value: float | None
    low: float | None
    high: float | None
    p: float | None = None


NOTHING = Difference(0, None, None, None)


def blocks_of(scenes: Mapping[str, Scene]) -> tuple[dict[str, str], str]:
    """The block of every case, and in words what a block is.

    Args:
        scenes: case id -> its scene. Its drive is its recording; see :func:`recording_of`.
    """
    drives = {case: recording_of(scene) for case, scene in scenes.items()}
    count = len(set(drives.values()))
    if count >= FEWEST_DRIVES:
        return drives, f"clustered by drive ({count} drives)"
    blocks = {case: f"{drive} {_stretch(scenes[case])}" for case, drive in drives.items()}
    n_blocks = len(set(blocks.values()))
    drives_are = "one drive is" if count == 1 else f"{count} drives are"
    few = "; so few say little" if n_blocks < FEWEST_DRIVES else ""
    return blocks, (
        f"clustered by {BLOCK_S:g} s of driving ({n_blocks} blocks{few}), as {drives_are} too few to tell how "
        "drives vary: they say nothing of other drives"
    )


def _stretch(scene: Scene) -> str:
    """Which stretch of its recording; a scene that does not know when it was is one of its own."""
    times = (scene.extra.get(name) for name in _WHEN)
    t = next((t for t in times if isinstance(t, int | float)), None)
    return scene.scene_id if t is None else f"{t // BLOCK_S:.0f}"


def rate_of(events: Events, blocks: Blocks | None = None) -> Rate:
    """The mean over cases as a share, with Wilson's interval of as many cases as its variance between blocks says."""
    rate = Rate.of(sum(events.values()), len(events))
    index = block_index(sorted(events), blocks) if events else np.zeros(0, int)
    if rate.value is None or len(set(index)) == rate.n:
        return rate
    cov = _covariance(np.array([[events[case] for case in sorted(events)]]), index)
    count = min(rate.value * (1 - rate.value) / cov[0, 0], rate.n) if cov[0, 0] > 1e-12 else rate.n
    low, high = wilson(rate.value, max(count, 1.0), _t(index))
    return replace(rate, low=low, high=high)


def difference(first: Events, second: Events, blocks: Blocks | None = None) -> Difference:
    """Mean of ``first`` minus that of ``second``, on the cases that both have.

    The interval is Tango's (:func:`tango`) of as many cases as the variance between blocks says, with Student's t for
    few blocks. Of repeats, the discordant pairs are those whose variance is that of the shares; where every case shows
    the same difference, alikeness within blocks is that of the answers themselves.
    """
    cases = sorted(set(first) & set(second))
    if not cases:
        return NOTHING
    rows = np.array([[events[case] for case in cases] for events in (first, second)], float)
    gap, index = rows[0] - rows[1], block_index(cases, blocks)
    n, value = len(cases), float(gap.mean())
    discordant = max(float((gap**2).mean()), abs(value))
    effect = _design_effect(gap[None], index)
    if effect is None:
        effect = _design_effect(rows, index) or 1.0
    size = n / effect
    counts = (size * (discordant + value) / 2, size * (discordant - value) / 2)
    count = int(index.max()) + 1
    # of independent cases a variance with n - 1 below it (Miettinen and Nurminen 1985)
    z = _t(index) if count < n else float(ndtri(0.5 + CONFIDENCE / 2)) * sqrt(n / max(n - 1, 1))
    low, high = tango(*counts, size, z, CONTINUITY)
    first_only, second_only = (int(((x > 0.5) & (y <= 0.5)).sum()) for x, y in (rows, rows[::-1]))
    return Difference(n, value, low, high, mcnemar_mid_p(first_only, second_only))


def tango(b: float, c: float, n: float, z: float, continuity: float = 0.0) -> tuple[float, float]:
    """The score interval of a difference of paired proportions (Tango 1998, Stat. Med. 17:891), in -1..1.

    Args:
        b, c: pairs with the event in the first alone, and in the second alone; n: all pairs. None need be whole.
        z: standard errors to each side. continuity: of a pair, taken off the statistic (Laud 2025); 0 is Tango's own.
    """
    value = (b - c) / n

    def excess(delta: float) -> float:
        """The statistic at ``delta`` beyond ``z``: negative inside the interval."""
        linear = (2 * n - b + c) * delta - b - c
        root = sqrt(max(linear**2 + 8 * n * c * delta * (1 - delta), 0.0))
        share = max((root - linear) / (4 * n), 0.0)  # of c, most likely where the difference is delta
        spread = sqrt(max(n * (2 * share + delta * (1 - delta)), 0.0))
        return abs(b - c - n * delta) - continuity - z * spread

    low = float(brentq(excess, -1.0, value)) if excess(-1.0) > 0 > excess(value) else -1.0
    high = float(brentq(excess, value, 1.0)) if excess(1.0) > 0 > excess(value) else 1.0
    return low, high


def mcnemar_mid_p(b: int, c: int) -> float:
    """Two-sided mid-p of as uneven a split of independent discordant pairs (Fagerland et al. 2013); 1 without any."""
    few, n = min(b, c), b + c
    if b == c:
        return 1.0 - 0.5 * float(bdtr(b, n, 0.5) - bdtr(b - 1, n, 0.5)) if n else 1.0
    return float(bdtr(few, n, 0.5) + (bdtr(few - 1, n, 0.5) if few else 0.0))


def _design_effect(rows: np.ndarray, index: np.ndarray) -> float | None:
    """By how much alike cases of a block widen the variance of the means of ``rows`` (A, N), at least 1, the largest
    of them; None where no row varies."""
    blocks = int(index.max()) + 1
    alone = rows.var(axis=1) / (rows.shape[1] - 1) if rows.shape[1] > 1 else np.zeros(len(rows))
    if not (alone > 1e-12).any():
        return None
    if blocks in (1, rows.shape[1]):
        return 1.0
    between = np.diag(_covariance(rows, index))
    return max(1.0, float((between[alone > 1e-12] / alone[alone > 1e-12]).max()))


def redrawn(rows: np.ndarray, seed: int, resamples: int) -> np.ndarray:
    """(A, resamples): sums of ``rows`` (A, N) over N columns drawn with replacement, a few draws at a time."""
    rng, n = np.random.default_rng(seed), rows.shape[1]
    sums = np.empty((len(rows), resamples))
    step = max(1, _AT_ONCE // n)
    for start in range(0, resamples, step):
        picks = rng.integers(0, n, (min(step, resamples - start), n))
        sums[:, start : start + step] = rows[:, picks].sum(axis=2)
    return sums


def block_index(cases: Sequence[str], blocks: Blocks | None) -> np.ndarray:
    """(N,) int: the block of each case."""
    return np.unique([(blocks or {}).get(case, case) for case in cases], return_inverse=True)[1]


def _covariance(rows: np.ndarray, index: np.ndarray) -> np.ndarray:
    """(A, A) covariance of the means of ``rows`` (A, N): the jackknife that leaves out one block at a time, which a
    block with many of the cases cannot hide from."""
    off = rows - rows.mean(axis=1, keepdims=True)
    rest = rows.shape[1] - np.bincount(index)
    if len(rest) == 1:
        return np.zeros((len(rows), len(rows)))
    moved = np.stack([np.bincount(index, weights=row) for row in off]) / rest
    return moved @ moved.T * (len(rest) - 1) / len(rest)


def _t(index: np.ndarray) -> float:
    """Standard errors to each side of what blocks ``index`` (N,) tell; uneven ones as so many even ones (Kish)."""
    blocks = len(index) ** 2 / float((np.bincount(index) ** 2).sum())
    return float(stdtrit(max(blocks - 1, 1), 0.5 + CONFIDENCE / 2))
