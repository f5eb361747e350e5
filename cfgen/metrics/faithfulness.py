"""Embodied faithfulness (Pinocchio, sections 6.1 and 8.3.2): five edges of a reasoning trace, judged one by one.

The overall verdict is derived from the edges here, in code; no judge is asked for it. People and judges are compared on
the edges as in the paper's Tables 1 and 6.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import hypot

from cfgen.metrics.agreement import confusion, consensus, kappa
from cfgen.metrics.intervals import Rate
from cfgen.records import Claims, Edge

#: E1 and E2 look at the frame, the others at the trace and the trajectory.
EDGES: dict[Edge, str] = {
    "E1": "image to scene",
    "E2": "image to justification",
    "E3": "justification to meta-action",
    "E4": "meta-action to waypoints",
    "E5": "justification to waypoints",
}

#: The rubric in which E2 holds the justification against the scene description instead of the image. The paper says
#: both: sections 5.2, 6.1.1 and 8.1 the one, section 8.3.2 and Table 6 the other.
OTHER_READING = "faithfulness-scene"


@dataclass(frozen=True)
class EdgeVerdicts:
    """One trace: ``edges[e]`` is True for consistent, False for inconsistent, None where the judge gave no verdict."""

    edges: Mapping[Edge, bool | None]

    @property
    def overall(self) -> bool | None:
        """Inconsistent as soon as one edge is; consistent when all five are; None when that is open."""
        values = [self.edges.get(edge) for edge in EDGES]
        if False in values:
            return False
        return None if None in values else True


@dataclass(frozen=True)
class ConsistencyRow:
    """One line of the paper's Tables 3 and 4: share of consistent traces for each edge and overall.

    ``unscored`` counts the traces without a verdict on that edge; they are in no denominator.
    """

    overall: Rate
    edges: dict[str, Rate]
    unscored: dict[str, int]


def consistency_row(verdicts: Iterable[EdgeVerdicts]) -> ConsistencyRow:
    verdicts = list(verdicts)
    by_name: dict[str, list[bool | None]] = {edge: [v.edges.get(edge) for v in verdicts] for edge in EDGES}
    by_name["overall"] = [v.overall for v in verdicts]
    decided = {name: [value for value in values if value is not None] for name, values in by_name.items()}
    rates = {name: Rate.of(sum(values), len(values)) for name, values in decided.items()}
    return ConsistencyRow(
        overall=rates.pop("overall"),
        edges=rates,
        unscored={name: len(values) - len(decided[name]) for name, values in by_name.items()},
    )


@dataclass(frozen=True)
class Balanced:
    """Balanced accuracy with its interval; None where one of the verdicts was never due.

    The interval joins the Wilson intervals of both recalls by the method of variance estimates recovery (Zou and
    Donner 2008); it takes known answers as independent.
    """

    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, consistent: tuple[int, int], inconsistent: tuple[int, int]) -> "Balanced":
        """From right answers out of so many, of either verdict."""
        a, b = Rate.of(*consistent), Rate.of(*inconsistent)
        if a.value is None or b.value is None:
            return cls(None, None, None)
        mean = (a.value + b.value) / 2
        below = hypot(a.value - (a.low or 0.0), b.value - (b.low or 0.0)) / 2
        above = hypot((a.high or 0.0) - a.value, (b.high or 0.0) - b.value) / 2
        return cls(mean, max(mean - below, 0.0), min(mean + above, 1.0))


# --- edge agreement ----------------------------------------------------------------------------
# People and a judge on the edges of traces: the Pinocchio paper's Tables 1 and 6.

#: trace -> its five edges
Verdicts = Mapping[str, Mapping[Edge, bool | None]]
OVERALL = "overall"


@dataclass(frozen=True)
class EdgeAgreement:
    """One line of Table 1 and one block of Table 6.

    Attributes:
        same, n: traces on which the judge says what the majority of the people says, of those with a majority.
        ties: traces that the people are split on. consensus_kappa: of judge and majority.
        pairs: kappa of every two raters, the judge among them under ``judge``; None where undefined.
        people, with_judge: mean and half the range of the kappas among people, and of the judge with each of them.
    """

    edge: str
    same: int
    n: int
    ties: int
    consensus_kappa: float | None
    pairs: dict[tuple[str, str], float | None]
    people: tuple[float, float] | None
    with_judge: tuple[float, float] | None


def edge_agreement(
    people: Mapping[str, Verdicts], judge: Verdicts, name: str = "judge"
) -> list[EdgeAgreement]:
    """For every edge, and overall by rule, on the traces that somebody rated."""
    traces = sorted({trace for verdicts in people.values() for trace in verdicts})
    return [_edge_row(edge, traces, people, judge, name) for edge in (*EDGES, OVERALL)]


def _edge_row(
    edge: str, traces: Sequence[str], people: Mapping[str, Verdicts], judge: Verdicts, name: str
) -> EdgeAgreement:
    votes_by_rater = {
        rater: [_of(verdicts, trace, edge) for trace in traces] for rater, verdicts in people.items()
    }
    judged = [_of(judge, trace, edge) for trace in traces]
    majority = consensus(list(votes_by_rater.values())) if votes_by_rater else []
    decided = [(m, j) for m, j in zip(majority, judged, strict=True) if m is not None and j is not None]
    every = {**votes_by_rater, name: judged}
    pairs = {(a, b): _kappa(every[a], every[b]) for a, b in combinations(every, 2)}
    return EdgeAgreement(
        edge=edge,
        same=sum(m == j for m, j in decided),
        n=len(decided),
        ties=_ties(majority, list(votes_by_rater.values())),
        consensus_kappa=_kappa([m for m, _ in decided], [j for _, j in decided]),
        pairs=pairs,
        people=spread([k for pair, k in pairs.items() if name not in pair]),
        with_judge=spread([k for pair, k in pairs.items() if name in pair]),
    )


def _ties(majority: Sequence[int | None], votes: Sequence[Sequence[int | None]]) -> int:
    """Traces that people are split on."""
    return sum(
        m is None and any(v is not None for v in answers)
        for m, answers in zip(majority, zip(*votes, strict=True), strict=True)
    )


def spread(kappas: Sequence[float | None]) -> tuple[float, float] | None:
    """Mean and half the range, as the paper's Table 1 gives them; None where none is defined."""
    defined = [k for k in kappas if k is not None]
    return (sum(defined) / len(defined), (max(defined) - min(defined)) / 2) if defined else None


def _of(verdicts: Verdicts, trace: str, edge: str) -> int | None:
    edges = verdicts.get(trace)
    if edges is None:
        return None
    value = EdgeVerdicts(edges).overall if edge == OVERALL else edges.get(edge)  # type: ignore[call-overload]
    return None if value is None else int(value)


def _kappa(a: Sequence[int | None], b: Sequence[int | None]) -> float | None:
    rated = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return kappa(confusion([x for x, _ in rated], [y for _, y in rated], (0, 1))) if rated else None


# --- grounding ---------------------------------------------------------------------------------
# Faithful GRPO's measures of a reasoning trace (sections 3.2 and A.1): consistency and grounding.


def grounding_score(claims: Claims) -> float | None:
    """R_S in 0..1: the share of right ones among the claims about the frame; None when there are none."""
    decided = claims.correct + claims.incorrect
    return claims.correct / decided if decided else None


def mean_grounding(traces: Sequence[Claims]) -> float | None:
    """Mean R_S over the traces that have one."""
    scores = [score for claims in traces if (score := grounding_score(claims)) is not None]
    return sum(scores) / len(scores) if scores else None


def inconsistency_rate(consistent: Sequence[bool | None]) -> float | None:
    """Share of NO among the consistency judge's YES and NO; None are answers that were neither."""
    decided = [c for c in consistent if c is not None]
    return decided.count(False) / len(decided) if decided else None
