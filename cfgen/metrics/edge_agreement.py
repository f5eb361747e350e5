"""People and a judge on the edges of traces: the Pinocchio paper's Tables 1 and 6."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from cfgen.metrics.agreement import confusion, consensus, kappa
from cfgen.metrics.faithfulness import EDGES, EdgeVerdicts
from cfgen.records import Edge

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
    found = []
    for edge in (*EDGES, OVERALL):
        said = {rater: [_of(verdicts, trace, edge) for trace in traces] for rater, verdicts in people.items()}
        judged = [_of(judge, trace, edge) for trace in traces]
        majority = consensus(list(said.values())) if said else []
        known = [(m, j) for m, j in zip(majority, judged, strict=True) if m is not None and j is not None]
        ties = sum(
            m is None and any(v is not None for v in votes)
            for m, votes in zip(majority, zip(*said.values(), strict=True), strict=True)
        )
        every = {**said, name: judged}
        pairs = {(a, b): _kappa(every[a], every[b]) for a, b in combinations(every, 2)}
        found.append(
            EdgeAgreement(
                edge=edge,
                same=sum(m == j for m, j in known),
                n=len(known),
                ties=ties,
                consensus_kappa=_kappa([m for m, _ in known], [j for _, j in known]),
                pairs=pairs,
                people=spread([k for pair, k in pairs.items() if name not in pair]),
                with_judge=spread([k for pair, k in pairs.items() if name in pair]),
            )
        )
    return found


def spread(kappas: Sequence[float | None]) -> tuple[float, float] | None:
    """Mean and half the range, as the paper's Table 1 gives them; None where none is defined."""
    known = [k for k in kappas if k is not None]
    return (sum(known) / len(known), (max(known) - min(known)) / 2) if known else None


def _of(verdicts: Verdicts, trace: str, edge: str) -> int | None:
    edges = verdicts.get(trace)
    if edges is None:
        return None
    value = EdgeVerdicts(edges).overall if edge == OVERALL else edges.get(edge)  # type: ignore[call-overload]
    return None if value is None else int(value)


def _kappa(a: Sequence[int | None], b: Sequence[int | None]) -> float | None:
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return kappa(confusion([x for x, _ in both], [y for _, y in both], (0, 1))) if both else None
