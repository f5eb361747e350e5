"""Strict success (Pinocchio, Eq. 14): the share of cases that a judge scored exactly 2; by how much it exceeds false
alarms."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scipy.special import ndtri

from cfgen.metrics.intervals import (
    NOTHING,
    Blocks,
    Difference,
    Events,
    Rate,
    difference,
    rate_of,
    worst_difference,
)
from cfgen.records import DIMENSIONS, Dimension, FloorKind, Verdict

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
    for verdict in verdicts:
        status[verdict.status].add(verdict.case_id)
        if verdict.fault:
            broken.add(verdict.case_id)
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
        rates={name: rate_of(hits, blocks) for name, hits in by_dimension.items()},
    )


# --- floor -------------------------------------------------------------------------------------
# Response above the floor: what is credited for a hazard, minus what is credited to plans that never saw it.
#
# In a sham pair the judge sees the original frame and answer, the hazard's frame, and the answer that the planner gave
# in a control arm, as if it were that to the hazard. What succeeds there is a false alarm. The floor is declared before
# anything is scored; arms are paired by case.


@dataclass(frozen=True)
class Floor:
    """The hazard arm against its controls.

    Attributes:
        hazard: rate of the event in the hazard arm.
        controls: its rate in every control arm there is: the false alarms.
        kind: the floor that was declared.
        arms: those that the floor is made of. shared: the cases that the hazard and all of them have.
        headline: hazard minus the floor on those cases; nothing where the declared arm is not there.
        above: hazard minus each control, paired by case.
        worst: the control arm with the most events on the cases that all have; "" without controls.
        conservative: hazard minus the worst arm. With several arms it is too low on average.
        d_prime: hit rate against each control's false-alarm rate, in standard deviations.
    """

    hazard: Rate
    controls: dict[str, Rate]
    kind: FloorKind
    arms: tuple[str, ...]
    shared: tuple[str, ...]
    headline: Difference
    above: dict[str, Difference]
    worst: str
    conservative: Difference
    d_prime: dict[str, float]


def above_floor(
    hazard: Events,
    controls: Mapping[str, Events],
    kind: FloorKind = "mean",
    blocks: Blocks | None = None,
    seed: int = 0,
    resamples: int = 4000,
) -> Floor:
    """Compare the hazard arm with its controls; arms without any case are left out."""
    controls = {arm: events for arm, events in controls.items() if events}
    rates = {arm: Rate.of(sum(e.values()), len(e)) for arm, e in controls.items()}
    hit = Rate.of(sum(hazard.values()), len(hazard))
    arms = tuple(arm for arm in controls if kind in (arm, "mean", "worst"))
    floor = [controls[arm] for arm in arms]
    common = sorted(set(hazard).intersection(*controls.values())) if controls else []
    conservative = worst_difference(hazard, list(controls.values()), blocks, seed, resamples)
    return Floor(
        hazard=hit,
        controls=rates,
        kind=kind,
        arms=arms,
        shared=tuple(sorted(set(hazard).intersection(*floor))) if floor else (),
        headline=conservative if kind == "worst" else difference(hazard, floor, blocks) if floor else NOTHING,
        above={arm: difference(hazard, [events], blocks) for arm, events in controls.items()},
        worst=max(controls, key=lambda arm: _mean(controls[arm], common), default="") if common else "",
        conservative=conservative,
        d_prime={arm: d_prime(hit, rate) for arm, rate in rates.items() if hit.n},
    )


def d_prime(hit: Rate, false_alarm: Rate) -> float:
    """z(hits) - z(false alarms), with half an event added to each side so that 0 and 1 stay finite."""
    shares = [(rate.hits + 0.5) / (rate.n + 1) for rate in (hit, false_alarm)]
    return float(ndtri(shares[0]) - ndtri(shares[1]))


def _mean(events: Events, cases: list[str]) -> float:
    return sum(events[case] for case in cases) / len(cases)
