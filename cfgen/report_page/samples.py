"""Which of K samples of an answer was graded."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from cfgen.records import DIMENSIONS, Verdict

#: all of them, the first, the one nearest to the others, or the one with the best verdict
Select = Literal["mean", "first", "medoid", "best"]


def selected(
    verdicts: Iterable[Verdict], select: Select, plans: Mapping[tuple[str, int], np.ndarray | None]
) -> list[Verdict]:
    """The verdicts that count: all of them, or one for each case.

    Args:
        plans: (case, repeat) -> waypoints (24, 3) of the answers that were judged, for the medoid.
    """
    found = list(verdicts)
    if select == "mean":
        return found
    if select == "best":
        best: dict[str, Verdict] = {}
        for verdict in found:
            if verdict.case_id not in best or _rank(verdict) > _rank(best[verdict.case_id]):
                best[verdict.case_id] = verdict
        return list(best.values())
    chosen = medoids(plans) if select == "medoid" else {}
    return [v for v in found if v.repeat == chosen.get(v.case_id, 0)]


def medoids(plans: Mapping[tuple[str, int], np.ndarray | None]) -> dict[str, int]:
    """case -> the repeat whose plan has the smallest mean distance to the others', m over all waypoints.

    The lower one where two are as near. Answers without a plan take no part; a case with none of them is absent.
    """
    by_case: dict[str, list[tuple[int, np.ndarray]]] = defaultdict(list)
    for (case, repeat), plan in sorted(plans.items(), key=lambda item: item[0]):
        if plan is not None:
            by_case[case].append((repeat, plan[:, :2]))
    found = {}
    for case, samples in by_case.items():
        points = np.stack([plan for _, plan in samples])
        apart = np.linalg.norm(points[:, None] - points[None], axis=-1).mean(axis=(1, 2))
        found[case] = samples[int(apart.round(9).argmin())][0]
    return found


def _rank(verdict: Verdict) -> tuple[bool, tuple[int, ...]]:
    scores = tuple(verdict.scores.get(d) or 0 for d in reversed(DIMENSIONS))
    return verdict.status == "scored", scores
