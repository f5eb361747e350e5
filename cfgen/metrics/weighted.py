"""Rates of the scenes that were drawn from, where some were drawn more often than others.

Each case counts by the inverse of the probability with which its scene was tried (Horvitz and Thompson), divided by
the cases of that scene; the weights sum to the scenes of the frame that can carry a hazard, as far as those tried tell.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from cfgen.metrics.paired import Blocks, Events
from cfgen.metrics.rates import CONFIDENCE, wilson
from cfgen.records import StratumOutcome


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
