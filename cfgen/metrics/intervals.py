"""Shares, paired differences and their intervals, between blocks of cases that are alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.special import ndtri, stdtrit

from cfgen.records import Scene, recording_of

CONFIDENCE = 0.95


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
    """A paired difference of means over ``n`` cases with its 95% interval; None without cases."""

    n: int
    value: float | None
    low: float | None
    high: float | None


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
    low, high = wilson(rate.value, max(count, 1.0), _t(int(index.max()) + 1))
    return replace(rate, low=low, high=high)


def difference(first: Events, subtrahends: Sequence[Events], blocks: Blocks | None = None) -> Difference:
    """Mean of ``first`` minus the mean of the others' means, on the cases that all have.

    The interval joins Wilson's of both means with their correlation (Newcombe 1998, method 10; as MOVER for any
    means, Zou and Donner 2008). Their variances and correlation are those between blocks, with Student's t for few of
    them. Where every case shows the same, it is as wide as Wilson's for no exception in so many cases.
    """
    cases = sorted(set(first).intersection(*subtrahends))
    if not cases or not subtrahends:
        return NOTHING
    minuend = np.array([first[case] for case in cases])
    subtrahend = np.mean([[events[case] for case in cases] for events in subtrahends], axis=0)
    value = float(minuend.mean() - subtrahend.mean())
    if len(set(minuend)) == len(set(subtrahend)) == 1:
        half = Rate.of(0, len(cases)).high or 0.0
        return Difference(len(cases), value, max(-1.0, value - half), min(1.0, value + half))
    index = block_index(cases, blocks)
    cov = _covariance(np.stack([minuend, subtrahend]), index)
    low, high = _joined(minuend.mean(), subtrahend.mean(), cov, len(cases), int(index.max()) + 1)
    return Difference(len(cases), value, float(max(-1.0, low)), float(min(1.0, high)))


def worst_difference(
    first: Events,
    subtrahends: Sequence[Events],
    blocks: Blocks | None = None,
    seed: int = 0,
    resamples: int = 4000,
) -> Difference:
    """Mean of ``first`` minus the largest of the others' means.

    The largest is found anew in every bootstrap draw of blocks. Of several alike it lies above each, so this errs on
    the low side: it is a conservative figure, no unbiased one.
    """
    if len(subtrahends) < 2:
        return difference(first, subtrahends, blocks)
    cases = sorted(set(first).intersection(*subtrahends))
    if not cases:
        return NOTHING
    table = np.array([[events[case] for case in cases] for events in (first, *subtrahends)])
    value = float(table[0].mean() - table[1:].mean(axis=1).max())
    if (table == table[:, :1]).all():
        half = Rate.of(0, len(cases)).high or 0.0
        return Difference(len(cases), value, max(-1.0, value - half), min(1.0, value + half))
    index = block_index(cases, blocks)
    sums = np.stack([np.bincount(index, weights=row) for row in (*table, np.ones(len(cases)))])
    samples = redrawn(sums, seed, resamples)
    means = samples[:-1] / samples[-1]
    low, high = np.percentile(means[0] - means[1:].max(axis=0), [2.5, 97.5])
    # of few cases a bootstrap is too sure: never narrower than against that arm alone
    against_worst = difference(first, [subtrahends[int(table[1:].mean(axis=1).argmax())]], blocks)
    assert against_worst.low is not None
    assert against_worst.high is not None
    return Difference(
        len(cases), value, float(min(low, against_worst.low)), float(max(high, against_worst.high))
    )


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
    """(A, A) covariance of the means of ``rows`` (A, N), from the sums of what each block is off them."""
    off = rows - rows.mean(axis=1, keepdims=True)
    sums = np.stack([np.bincount(index, weights=row) for row in off])
    count = sums.shape[1]
    return sums @ sums.T / rows.shape[1] ** 2 * count / max(count - 1, 1)


def _t(blocks: int) -> float:
    """Standard errors to each side of what so many blocks tell."""
    return float(stdtrit(max(blocks - 1, 1), 0.5 + CONFIDENCE / 2))


def _joined(a: float, b: float, cov: np.ndarray, n: int, blocks: int) -> tuple[float, float]:
    """Lowest and highest a - b. Each mean counts as if of as many independent cases as its variance says."""
    t = _t(blocks)
    (low_a, high_a), (low_b, high_b) = (
        wilson(p, p * (1 - p) / v if v > 1e-12 else n, t) for p, v in ((a, cov[0, 0]), (b, cov[1, 1]))
    )
    spread = sqrt(cov[0, 0] * cov[1, 1])
    r = float(np.clip(cov[0, 1] / spread, -1, 1)) if spread else 0.0

    def reach(x: float, y: float) -> float:
        return sqrt(max(x * x - 2 * r * x * y + y * y, 0.0))

    return a - b - reach(a - low_a, high_b - b), a - b + reach(high_a - a, b - low_b)
