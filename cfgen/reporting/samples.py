"""Which of K samples of an answer was graded."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from cfgen.core.disk_backed import ListView
from cfgen.records import DIMENSIONS, Verdict

#: all of them, the first, the one nearest to the others, or the one with the best verdict
Select = Literal["mean", "first", "medoid", "best"]
Rank = tuple[bool, tuple[int, ...]]


def selected(
    verdicts: Sequence[Verdict], select: Select, plans: Mapping[tuple[str, int], np.ndarray | None]
) -> Sequence[Verdict]:
    """The verdicts that count: all of them, or one for each case.

    Args:
        plans: (case, repeat) -> waypoints (24, 3) of the answers that were judged, for the medoid.
    """
    if select == "mean":
        return verdicts
    if select == "best":
        best: dict[str, tuple[Rank, int]] = {}
        for i, verdict in enumerate(verdicts):
            rank = _rank(verdict)
            if verdict.case_id not in best or rank > best[verdict.case_id][0]:
                best[verdict.case_id] = rank, i
        return ListView(verdicts, (i for _, i in best.values()))
    chosen = medoids(plans) if select == "medoid" else {}
    return ListView(verdicts, (i for i, v in enumerate(verdicts) if v.repeat == chosen.get(v.case_id, 0)))


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


def _rank(verdict: Verdict) -> Rank:
    scores = tuple(verdict.scores.get(d) or 0 for d in reversed(DIMENSIONS))
    return verdict.status == "scored", scores
