"""Means over more than was looked at: a judge corrected by people's ratings of a part, rates of scenes drawn unevenly.

The judge scores every case, people a part of them. Their mean is moved by what the judge's mean over all cases differs
from its mean over the rated ones, as far as it pays: PPI++ (Angelopoulos, Duchi and Zrnic 2023), where the rated cases
are among those that the judge scored. A judge that says nothing about people leaves their own mean, one that agrees
with them on every rated case its own.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from cfgen.metrics.intervals import CONFIDENCE, NOTHING, Blocks, Difference, Events, block_index, wilson
from cfgen.records import StratumOutcome

#: By simulation 95% intervals of 20 rated among 20 to 300 cases hold 92 to 97%, of 10 only 80 to 99%, of 3 47 to 100%.
FEWEST_RATED = 20


@dataclass(frozen=True)
class Corrected:
    """Three estimates of one mean.

    Attributes:
        judge: as the judge has it, over all of its cases. people: as they have it, over those that they rated.
        corrected: both together. It speaks of all cases, where those rated were drawn at random.
        trust: how much of the judge's difference between all and the rated cases is believed, 0 to 1.
    """

    judge: Difference
    people: Difference
    corrected: Difference
    trust: float


def corrected(
    judged: Events,
    rated: Events,
    blocks: Blocks | None = None,
    lowest: float = 0.0,
    fewest: int = FEWEST_RATED,
) -> Corrected:
    """Estimate the mean of what people would say of every case of ``judged``.

    Args:
        judged, rated: case -> event, or a difference of events; cases that people rated and the judge left out count
            for people alone.
        lowest: least value that an event can have: 0, or -1 for differences; the largest is 1.
        fewest: rated cases under which nothing is corrected, unless all were rated.
    """
    rated_cases = sorted(set(judged) & set(rated))
    all_cases = sorted(judged)
    judge, people = (_mean(events, blocks, lowest) for events in (judged, rated))
    if len(rated_cases) < fewest and rated_cases != all_cases:
        return Corrected(judge, people, NOTHING, 0.0)
    if not rated_cases or rated_cases == all_cases:
        return Corrected(judge, people, people if rated_cases else NOTHING, 0.0)
    y, f = (np.array([events[c] for c in rated_cases], float) for events in (rated, judged))
    everywhere = np.array([judged[c] for c in all_cases], float)
    trust = _trust(y, f)
    rest = y - trust * f
    value = float(rest.mean() + trust * everywhere.mean())
    # the two are uncorrelated at the slope; to judge a benchmark that is all there is, this errs on the wide side
    variance = _variance(rest, rated_cases, blocks) + trust**2 * _variance(everywhere, all_cases, blocks)
    interval = _interval(value, variance, rated_cases, blocks, lowest)
    return Corrected(judge, people, Difference(len(all_cases), *interval), trust)


def _trust(y: np.ndarray, f: np.ndarray) -> float:
    """The slope of people on the judge over the rated cases (N,), within 0 to 1; 1 where both say the same."""
    if np.array_equal(y, f):
        return 1.0
    cov = np.cov(y, f) if len(y) > 1 else np.zeros((2, 2))
    return float(np.clip(cov[0, 1] / cov[1, 1], 0.0, 1.0)) if cov[1, 1] > 1e-12 else 0.0


def _mean(events: Events, blocks: Blocks | None, lowest: float) -> Difference:
    if not events:
        return NOTHING
    cases = sorted(events)
    values = np.array([events[c] for c in cases], float)
    interval = _interval(float(values.mean()), _variance(values, cases, blocks), cases, blocks, lowest)
    return Difference(len(cases), *interval)


def _variance(values: np.ndarray, cases: list[str], blocks: Blocks | None) -> float:
    """Of the mean of ``values`` (N,), from what each block is off it."""
    sums = np.bincount(block_index(cases, blocks), weights=values - values.mean()) / len(values)
    return float((sums**2).sum()) * len(sums) / max(len(sums) - 1, 1)


def _interval(
    value: float, variance: float, cases: list[str], blocks: Blocks | None, lowest: float
) -> tuple[float, float, float]:
    """The value within its bounds and its 95% interval: Wilson's, of as many cases as the variance says.

    ``cases``: those that people rated; few blocks of them make Student's t.
    """
    span = 1.0 - lowest
    p = min(max((value - lowest) / span, 0.0), 1.0)
    t = float(stdtrit(max(len(set(block_index(cases, blocks))) - 1, 1), 0.5 + CONFIDENCE / 2))
    counted = p * (1 - p) * span**2 / variance if variance > 1e-12 and 0 < p < 1 else len(cases)
    low, high = wilson(p, max(counted, 1.0), t)
    return lowest + span * p, lowest + span * low, lowest + span * high


# --- weighted ----------------------------------------------------------------------------------
# Rates of the scenes that were drawn from, where some were drawn more often than others.
#
# Each case counts by the inverse of the probability with which its scene was tried (Horvitz and Thompson), divided by
# the cases of that scene; the weights sum to the scenes of the frame that can carry a hazard, as far as those tried
# tell.


@dataclass(frozen=True)
class WeightedRate:
    """A weighted share of ``n`` cases, with Wilson's interval of the ``effective`` cases that its variance is worth."""

    value: float
    low: float
    high: float
    n: int
    effective: float


def case_weights(
    scene_of: Mapping[str, str], stratum_of: Mapping[str, int], strata: Sequence[StratumOutcome]
) -> dict[str, float]:
    """case -> for how many scenes it stands.

    Args:
        scene_of: case -> scene, of the cases that count. stratum_of: scene -> place in ``strata``. A case of neither is
            left out.
    """
    per_scene = Counter(scene_of.values())
    counted = Counter(stratum_of[scene] for scene in per_scene if scene in stratum_of)
    weights = {}
    for case, scene in scene_of.items():
        if (place := stratum_of.get(scene)) is None:
            continue
        row = strata[place]
        if not row.p_selected:
            continue
        stands_for = row.with_case / row.p_selected  # scenes of the stratum that can carry a hazard
        weights[case] = stands_for / counted[place] / per_scene[scene]
    return weights


def weighted_rate(
    events: Events, weights: Mapping[str, float], strata: Mapping[str, int], blocks: Blocks | None = None
) -> WeightedRate | None:
    """The weighted mean of events; None without any.

    The variance is that between blocks within strata, linearized. It leaves out that scenes are drawn without putting
    them back, so it errs on the wide side.

    Args:
        strata: case -> its stratum. blocks: case -> block; None: each is its own.
    """
    cases = sorted(case for case in events if weights.get(case))
    if not cases:
        return None
    weight = np.array([weights[case] for case in cases])
    hit = np.array([events[case] for case in cases])
    value = float(weight @ hit / weight.sum())
    parts: dict[tuple[int, str], float] = {}
    for case, w, y in zip(cases, weight, hit, strict=True):
        key = strata[case], (blocks or {}).get(case, case)
        parts[key] = parts.get(key, 0.0) + float(w * (y - value) / weight.sum())
    variance = 0.0
    for stratum in {stratum for stratum, _ in parts}:
        own = np.array([part for (place, _), part in parts.items() if place == stratum])
        if len(own) > 1:
            variance += len(own) / (len(own) - 1) * float(((own - own.mean()) ** 2).sum())
        else:  # one block says nothing of how blocks vary: as if it were all chance
            variance += float(own[0] ** 2)
    kish = float(weight.sum() ** 2 / (weight**2).sum())
    effective = min(value * (1 - value) / variance, kish) if variance > 1e-12 else kish
    freedom = max(1, len(parts) - len({stratum for stratum, _ in parts}))
    low, high = wilson(value, max(effective, 1.0), float(stdtrit(freedom, 0.5 + CONFIDENCE / 2)))
    return WeightedRate(value, low, high, len(cases), effective)
