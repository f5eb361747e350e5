"""Whether a ranking of planners holds, and which cases carry it: Kendall's tau, ranks with intervals, item analysis."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau, rankdata

from cfgen.metrics.intervals import Blocks, Events, block_index, redrawn


@dataclass(frozen=True)
class Rank:
    """1 is best; planners alike share the mean of their ranks. ``low`` to ``high``: 95% of bootstrap draws."""

    value: float
    low: float
    high: float
    success: float


@dataclass(frozen=True)
class Item:
    """One case in the sense of classical item analysis.

    Attributes:
        success: share of planners that succeed at it (its difficulty, as test theory calls it: high is easy).
        discrimination: point-biserial correlation, over planners, of success at it with success at all other cases;
            None where either is the same for all.
        tau: Kendall's tau between the ranking on all cases and that without this one; None where either is all ties.
        moved: pairs of planners whose order changes without it, ties that come or go among them.
    """

    case_id: str
    success: float
    discrimination: float | None
    tau: float | None
    moved: int


def tau(first: Mapping[str, float], second: Mapping[str, float]) -> float | None:
    """Kendall's tau-b of the planners that both score; None under two of them, or where one has all alike."""
    shared = sorted(set(first) & set(second))
    if len(shared) < 2:
        return None
    statistic = kendalltau([first[p] for p in shared], [second[p] for p in shared]).statistic
    return None if np.isnan(statistic) else float(statistic)


def shared_table(events: Mapping[str, Events]) -> tuple[list[str], np.ndarray]:
    """Cases that every planner has, sorted, and (planners, cases) their events."""
    sets = [set(by_case) for by_case in events.values()]
    cases = sorted(set.intersection(*sets)) if sets else []
    rows = [[by_case[case] for case in cases] for by_case in events.values()]
    return cases, np.array(rows).reshape(len(sets), len(cases))


def ranks(
    events: Mapping[str, Events], blocks: Blocks | None = None, seed: int = 0, resamples: int = 2000
) -> dict[str, Rank]:
    """Rank of each planner by mean success on the shared cases, with a bootstrap interval over blocks of cases."""
    cases, table = shared_table(events)
    if not cases:
        return {}
    index = block_index(cases, blocks)
    sums = np.stack([np.bincount(index, weights=row) for row in (*table, np.ones(len(cases)))])
    samples = redrawn(sums, seed, resamples)
    means = np.round(samples[:-1] / samples[-1], 12)
    low, high = np.percentile(rankdata(-means, axis=0), [2.5, 97.5], axis=1)
    observed = table.mean(axis=1)
    value = rankdata(-np.round(observed, 12))
    return {
        planner: Rank(float(value[i]), float(low[i]), float(high[i]), float(observed[i]))
        for i, planner in enumerate(events)
    }


def items(events: Mapping[str, Events], raw: Mapping[str, Events] | None = None) -> list[Item]:
    """Difficulty, discrimination and weight in the ranking of every shared case, the ones that carry it first.

    ``raw``: where false alarms are taken off ``events``, what the share of planners that succeed is counted on.
    """
    cases, table = shared_table(events)
    if len(cases) < 2:
        return []
    total = table.sum(axis=1)
    rows = []
    for k, case in enumerate(cases):
        rest = total - table[:, k]
        full, without = (dict(zip(events, np.round(v, 12).tolist(), strict=True)) for v in (total, rest))
        rows.append(
            Item(
                case,
                float(np.mean([(raw or events)[p][case] for p in events])),
                _correlation(table[:, k], rest),
                tau(full, without),
                _moved(total, rest),
            )
        )
    return sorted(rows, key=lambda i: (-i.moved, 2.0 if i.tau is None else i.tau, i.case_id))


def _correlation(a: np.ndarray, b: np.ndarray) -> float | None:
    if np.ptp(a) < 1e-9 or np.ptp(b) < 1e-9:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def _moved(before: np.ndarray, after: np.ndarray) -> int:
    """Pairs whose sign of difference changes."""
    signs = [np.sign(np.round(v[:, None] - v[None, :], 9)) for v in (before, after)]
    return int(np.triu(signs[0] != signs[1], 1).sum())
