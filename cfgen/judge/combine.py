"""From votes to a verdict, in code: no model adds up scores."""

from collections import Counter
from collections.abc import Sequence
from statistics import median_low
from typing import Literal

from cfgen.core.hashing import hash_json
from cfgen.judge.protocol import RubricId, VerdictKey
from cfgen.records import DIMENSIONS, Dimension, Fault, Score, Verdict, Vote

Scores = dict[Dimension, Score | None]

#: A vote with this flag was answered again and does not count.
SUPERSEDED = "superseded: asked again"


def overall_range(reasoning: Score, waypoints: Score) -> tuple[Score, Score]:
    """Lowest and highest overall score that the rubric allows given the other two.

    2 asks for both to be 2; 0 says that neither reacts. Two full scores may still contradict each other: 1.
    """
    if reasoning == waypoints == 2:
        return 1, 2
    if reasoning == waypoints == 0:
        return 0, 0
    return 0, 1


def inconsistency(scores: Scores) -> str:
    """Why the three scores cannot stand together, or ""."""
    reasoning, waypoints, overall = (scores.get(d) for d in DIMENSIONS)
    if reasoning is None or waypoints is None or overall is None:
        return ""
    low, high = overall_range(reasoning, waypoints)
    if low <= overall <= high:
        return ""
    allowed = str(low) if low == high else f"{low} or {high}"
    return f"inconsistent: overall {overall} with reasoning {reasoning}, waypoints {waypoints} (allows {allowed})"


#: what a verdict takes over from the vote that speaks for it
_SPOKEN = ("element_type", "element_position", "explanation")


def combine(
    key: VerdictKey,
    rubric: RubricId,
    judge: str,
    votes: Sequence[Vote],
    input_hash: str,
    bounds_overall: bool = True,
) -> Verdict:
    """Majority per dimension; ties go to the middle of the tied scores, rounded down, and are flagged.

    A verdict is unknown when most usable votes say so, and failed when fewer than half of the votes are usable.
    ``bounds_overall``: overall is kept within :func:`overall_range`.
    """
    counted = [v for v in votes if SUPERSEDED not in v.flags]
    usable = [v for v in counted if v.status != "failed"]
    scored = [v for v in usable if v.status == "scored"]
    status, reason = _status(counted, usable, scored)
    flags = _flags(counted)
    scores: Scores = {}
    if status == "scored":
        scores, split = _majority(scored)
        flags += split
        flags += _bound(scores) if bounds_overall else []
    speaker = _nearest(scored, scores) if status == "scored" else next(iter(usable), None)
    return Verdict(
        judge=judge,
        rubric=rubric.name,
        rubric_version=rubric.version,
        rubric_hash=rubric.hash,
        planner=key.planner,
        case_id=key.case_id,
        arm=key.arm,
        repeat=key.repeat,
        status=status,
        scores=scores,
        **({name: getattr(speaker, name) for name in _SPOKEN} if speaker else {}),
        reason=reason,
        transient=status == "failed" and any(v.transient for v in counted),
        flags=tuple(flags),
        votes=tuple(votes),
        input_hash=input_hash,
    )


def _flags(counted: Sequence[Vote]) -> list[str]:
    """Each vote's, once, and how their statuses are split."""
    flags = list(dict.fromkeys(f for v in counted for f in v.flags))
    statuses = Counter(v.status for v in counted)
    if len(statuses) > 1:
        flags.append("split: " + ", ".join(f"{n} {s}" for s, n in statuses.items()))
    return flags


def _status(
    counted: Sequence[Vote], usable: Sequence[Vote], scored: Sequence[Vote]
) -> tuple[Literal["scored", "unknown", "failed"], str]:
    """What the votes come to, and why where that is no score."""
    if 2 * len(usable) < len(counted) or not usable:
        return "failed", "; ".join(dict.fromkeys(v.reason for v in counted if v.status == "failed"))
    if 2 * len(scored) <= len(usable):
        return "unknown", next((v.reason or v.explanation for v in usable if v.status == "unknown"), "")
    return "scored", ""


def faulted(key: VerdictKey, rubric: RubricId, judge: str, fault: Fault) -> Verdict:
    """The verdict where ``fault`` came in the way of one."""
    return combine(key, rubric, judge, (), hash_json(None)).model_copy(
        update={"reason": f"fault: {fault}", "fault": fault}
    )


def _majority(votes: Sequence[Vote]) -> tuple[Scores, list[str]]:
    scores: Scores = {}
    flags = []
    for dimension in DIMENSIONS:
        counts: Counter[Score] = Counter(s for v in votes if (s := v.scores.get(dimension)) is not None)
        if not counts:  # a judge that leaves this one out
            continue
        top = max(counts.values())
        tied = sorted(s for s, n in counts.items() if n == top)
        scores[dimension] = median_low(tied)
        if len(counts) > 1:
            kind = "tie" if len(tied) > 1 else "split"
            tally = ", ".join(f"{n} x {s}" for s, n in sorted(counts.items()))
            flags.append(f"{kind}: {dimension} {tally} -> {scores[dimension]}")
    return scores, flags


def _bound(scores: Scores) -> list[str]:
    """Bring overall within what the other two allow; the flag that says so, if it was not."""
    reasoning, waypoints, overall = (scores.get(d) for d in DIMENSIONS)
    if reasoning is None or waypoints is None or overall is None:
        return []
    low, high = overall_range(reasoning, waypoints)
    bounded = low if overall < low else min(overall, high)
    if bounded == overall:
        return []
    scores["overall"] = bounded
    return [f"overall {overall} -> {bounded} by the rubric"]


def _nearest(votes: Sequence[Vote], scores: Scores) -> Vote:
    """The vote that agrees with the verdict in most dimensions speaks for it."""
    return max(votes, key=lambda v: sum(v.scores.get(d) == score for d, score in scores.items()))
