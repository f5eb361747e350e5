"""Strict success (Pinocchio, Eq. 14): the share of examples that a judge scored exactly 2."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

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


def successes(verdicts: Iterable[Verdict], dimension: Dimension) -> dict[str, float]:
    """Success of each case that counts, 0..1, the mean over its repeats; cases with nothing to count are absent."""
    hits: dict[str, list[bool]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.status == "scored":
            hits[verdict.case_id].append(verdict.scores.get(dimension) == STRICT)
        elif verdict.status == "planner_failed":
            hits[verdict.case_id].append(False)
    return {case: sum(values) / len(values) for case, values in hits.items()}


def success_row(
    planner: str, judge: str, arm: str, verdicts: Iterable[Verdict], expected: Iterable[str] = ()
) -> SuccessRow:
    """Summarize the verdicts of one planner, judge and arm.

    Args:
        expected: ids of all cases that should have a verdict.
    """
    verdicts = list(verdicts)
    by_dimension = {name: successes(verdicts, name) for name in DIMENSIONS}
    counted = by_dimension[DIMENSIONS[0]]
    status: dict[str, set[str]] = defaultdict(set)
    for verdict in verdicts:
        status[verdict.status].add(verdict.case_id)
    broken = {v.case_id for v in verdicts if v.fault}
    unscored = {v.case_id for v in verdicts} - set(counted)
    return SuccessRow(
        planner=planner,
        judge=judge,
        arm=arm,
        n=len(counted),
        excluded=len(unscored & status["unknown"]),
        judge_failed=len((unscored & status["failed"]) - status["unknown"] - broken),
        planner_failed=len(status["planner_failed"]),
        faults=len((unscored & broken) - status["unknown"]),
        missing=len(set(expected) - {v.case_id for v in verdicts}),
        rates={name: Rate.of(sum(hits.values()), len(hits)) for name, hits in by_dimension.items()},
    )
