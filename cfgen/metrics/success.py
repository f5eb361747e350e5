"""Strict success (Pinocchio, Eq. 14): the share of examples that a judge scored exactly 2."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from cfgen.metrics.paired import Blocks, rate_of
from cfgen.metrics.rates import Rate
from cfgen.records import DIMENSIONS, Dimension, Verdict

#: The score that counts.
STRICT = 2


@dataclass(frozen=True)
class SuccessRow:
    """One line of the leaderboard.

    Attributes:
        n: cases in the denominator: scored ones and those where the planner failed, which count as no success.
        excluded: the judge could not name the change (UNKNOWN).
        judge_failed: the judge gave no usable reply.
        faults: cfgen broke on the answer or on the verdict.
        planner_failed: cases in ``n`` for which the planner gave no plan.
        missing: planned cases without a verdict.
        rates: strict success per dimension.
    """

    planner: str
    judge: str
    arm: str
    n: int
    excluded: int
    judge_failed: int
    planner_failed: int
    missing: int
    faults: int
    rates: dict[str, Rate]


def dimensions_scored(
    *attempts: Iterable[Verdict], otherwise: tuple[Dimension, ...] = DIMENSIONS
) -> tuple[Dimension, ...]:
    """What a judge scores, by its scored verdicts on all planners.

    Args:
        attempts: the first of these that holds a scored verdict is what is looked at.
        otherwise: where none does.
    """
    for verdicts in attempts:
        given: set[str] = set()
        scored = False
        for verdict in verdicts:
            if verdict.status == "scored":
                scored = True
                given.update(verdict.scores)
        if scored:
            return tuple(d for d in DIMENSIONS if d in given)
    return otherwise


def successes(
    verdicts: Iterable[Verdict], dimension: Dimension, scores: Collection[Dimension] = DIMENSIONS
) -> dict[str, float]:
    """Success of each case that counts, 0..1, the mean over its repeats; cases with nothing to count are absent.

    Empty where the judge leaves the dimension out.

    Args:
        scores: what the judge scores, for verdicts none of which is scored (:func:`dimensions_scored`).
    """
    hits: dict[str, list[bool]] = defaultdict(list)
    judged, scored = False, False
    for verdict in verdicts:
        if verdict.status == "scored":
            judged, scored = judged or dimension in verdict.scores, True
            hits[verdict.case_id].append(verdict.scores.get(dimension) == STRICT)
        elif verdict.status == "planner_failed":
            hits[verdict.case_id].append(False)
    if not (judged if scored else dimension in scores):
        return {}
    return {case: sum(values) / len(values) for case, values in hits.items()}


def success_row(
    planner: str,
    judge: str,
    arm: str,
    verdicts: Iterable[Verdict],
    expected: Iterable[str] = (),
    blocks: Blocks | None = None,
    scores: Collection[Dimension] = DIMENSIONS,
) -> SuccessRow:
    """Summarize the verdicts of one planner, judge and arm.

    Args:
        expected: ids of all cases that should have a verdict.
        blocks: case -> block, for the intervals.
        scores: what the judge scores, for verdicts none of which is scored.
    """
    verdicts = verdicts if isinstance(verdicts, Sequence) else list(verdicts)
    by_dimension = {name: successes(verdicts, name, scores) for name in DIMENSIONS}
    counted = {case for hits in by_dimension.values() for case in hits}
    status: dict[str, set[str]] = defaultdict(set)
    broken: set[str] = set()
    for verdict in verdicts:
        status[verdict.status].add(verdict.case_id)
        if verdict.fault:
            broken.add(verdict.case_id)
    seen = set().union(*status.values())
    unscored = seen - counted
    return SuccessRow(
        planner=planner,
        judge=judge,
        arm=arm,
        n=len(counted),
        excluded=len(unscored & status["unknown"]),
        judge_failed=len((unscored & status["failed"]) - status["unknown"] - broken),
        planner_failed=len(status["planner_failed"]),
        faults=len((unscored & broken) - status["unknown"]),
        missing=len(set(expected) - seen),
        rates={name: rate_of(hits, blocks) for name, hits in by_dimension.items()},
    )
