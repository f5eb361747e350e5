"""Embodied faithfulness (Pinocchio, sections 6.1 and 8.3.2): five edges of a reasoning trace, judged one by one.

The overall verdict is derived from the edges here, in code; no judge is asked for it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import hypot

from cfgen.metrics.rates import Rate
from cfgen.records import Edge

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

    @property
    def failing(self) -> tuple[Edge, ...]:
        return tuple(edge for edge in EDGES if self.edges.get(edge) is False)


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
    known = {name: [value for value in values if value is not None] for name, values in by_name.items()}
    rates = {name: Rate.of(sum(values), len(values)) for name, values in known.items()}
    return ConsistencyRow(
        overall=rates.pop("overall"),
        edges=rates,
        unscored={name: len(values) - len(known[name]) for name, values in by_name.items()},
    )


def balanced_accuracy(reference: Iterable[bool], other: Iterable[bool]) -> float | None:
    """Mean of the recalls of both classes (the paper's Table 2); None unless both classes occur."""
    pairs = list(zip(reference, other, strict=True))
    recalls = []
    for kind in (True, False):
        found = [b is kind for a, b in pairs if a is kind]
        if not found:
            return None
        recalls.append(sum(found) / len(found))
    return sum(recalls) / 2


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
