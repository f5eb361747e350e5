"""Strict success (Pinocchio, Eq. 14): the share of cases that a judge scored exactly 2; minus the rate of
false alarms."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cfgen.metrics.intervals import Blocks, Difference, Events, Rate, difference, rate_of
from cfgen.records import DIMENSIONS, Dimension, Verdict

#: Begins the flag of a verdict on a case in which there is nothing to respond to.
_NOT_DUE = "no response due"
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
        not_due: cases in ``n`` whose original plan clears the hazard anyway: the planner has nothing to show there.
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
    not_due: int
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
        dimensions: set[str] = set()
        scored = False
        for verdict in verdicts:
            if verdict.status == "scored":
                scored = True
                dimensions.update(verdict.scores)
        if scored:
            return tuple(d for d in DIMENSIONS if d in dimensions)
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
    not_due: set[str] = set()
    for verdict in verdicts:
        status[verdict.status].add(verdict.case_id)
        if verdict.fault:
            broken.add(verdict.case_id)
        if any(flag.startswith(_NOT_DUE) for flag in verdict.flags):
            not_due.add(verdict.case_id)
    judged = set().union(*status.values())
    unscored = judged - counted
    return SuccessRow(
        planner=planner,
        judge=judge,
        arm=arm,
        n=len(counted),
        excluded=len(unscored & status["unknown"]),
        judge_failed=len((unscored & status["failed"]) - status["unknown"] - broken),
        planner_failed=len(status["planner_failed"]),
        faults=len((unscored & broken) - status["unknown"]),
        missing=len(set(expected) - judged),
        not_due=len(not_due & counted),
        rates={name: rate_of(hits, blocks) for name, hits in by_dimension.items()},
    )


# --- hits and false alarms -----------------------------------------------------------------------
# Youden's J of a response: the rate at which hazards are answered, minus that of the same credit where the object
# stands where no response is due. In a control pair the judge sees the original frame and answer, the hazard's frame,
# and the answer that the planner gave in a control arm, as if it were that to the hazard. Nothing is averaged.


@dataclass(frozen=True)
class ResponseRates:
    """How often hazards are answered, and how often the same response is credited without one.

    Attributes:
        hits: rate of the event in the hazard arm.
        controls: its rate in every control arm there is: of "nuisance" the false alarms, of "null" the sensitivity to
            editing, of "rerun" what the planner does without any change.
        difference: hits minus the false alarms of "nuisance" (Youden's J), paired by case; nothing without them.
    """

    hits: Rate
    controls: dict[str, Rate]
    difference: Difference

    @property
    def false_alarms(self) -> Rate:
        """That of the nuisance arm; without cases where there is none."""
        return self.controls.get("nuisance", Rate.of(0, 0))


def case_differences(hazard: Events, control: Events) -> dict[str, float]:
    """Case by case, the event in the hazard arm minus that in a control arm, where a case has both."""
    return {case: hazard[case] - control[case] for case in sorted(set(hazard) & set(control))}


def response(hazard: Events, controls: Mapping[str, Events], blocks: Blocks | None = None) -> ResponseRates:
    """Compare the hazard arm with its controls; arms without any case are left out."""
    rates = {arm: rate_of(events, blocks) for arm, events in controls.items() if events}
    return ResponseRates(
        rate_of(hazard, blocks), rates, difference(hazard, controls.get("nuisance", {}), blocks)
    )
