"""Traces whose right verdict is known, and what a judge of edges made of them."""

from typing import Any, Literal

from pydantic import Field

from cfgen.core.faults import Fault
from cfgen.core.record import Record, Stored
from cfgen.records.base import Arm, Identifier, Point3, Sha256
from cfgen.records.runs import Trace
from cfgen.records.traces import Edge

#: The five edges, and the other reading of the second. The paper contradicts itself on (z1, z2): sections 5.2, 6.1.1
#: and 8.1 hold the justification against the scene description ("E2-scene"), the judge of 8.3.2 and Table 6 against
#: the image ("E2").
Relation = Literal["E1", "E2", "E2-scene", "E3", "E4", "E5"]
#: Of one relation a judge counts as tested with so many known answers of either verdict.
ENOUGH_KNOWN = 20


class KnownTrace(Record):
    """One trace and what is known of its edges: True consistent, False broken, left out where nothing is known.

    Attributes:
        arm: whose frame is shown. source: "scripted", a planner's name, or a file. drive: the block of its scene.
        kind: "consistent", or how it was made inconsistent. target: the relation that was broken; "" for none.
        edges: those that count, balanced over the pool. known: all of them.
        provenance: donor, margin in metres or m/s, model, second model.
    """

    id: str
    case_id: Identifier
    arm: Arm
    source: str
    drive: str
    kind: str
    target: Relation | Literal[""] = ""
    edges: dict[Relation, bool]
    known: dict[Relation, bool]
    trace: Trace
    waypoints: tuple[Point3, ...]
    seed: int
    provenance: dict[str, Any] = Field(default_factory=dict)


class KnownPool(Stored):
    """``traces/known/<id>.json``: known answers, balanced by relation and verdict; what was dropped, and why."""

    seed: int
    per_edge: int
    sources: tuple[str, ...]
    traces: tuple[KnownTrace, ...]
    #: why a corruption or a source was not taken -> how many
    dropped: dict[str, int]
    #: who confirmed what geometry cannot, and who wrote corruptions; "" for nobody
    second: str = ""
    corruptor: str = ""
    spent: dict[str, float] = Field(default_factory=dict)


class EdgeCount(Record):
    """Known answers about one relation: how many of either verdict, and how many came back wrong or not at all."""

    consistent: int = Field(ge=0)
    inconsistent: int = Field(ge=0)
    false_consistent: int = Field(default=0, ge=0)
    false_inconsistent: int = Field(default=0, ge=0)
    #: of the consistent and of the inconsistent ones, how many got no verdict; they count as wrong
    unanswered: tuple[int, int] = (0, 0)

    @property
    def recalls(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Right ones out of so many: of the consistent, of the inconsistent."""
        return (
            (self.consistent - self.false_inconsistent - self.unanswered[0], self.consistent),
            (self.inconsistent - self.false_consistent - self.unanswered[1], self.inconsistent),
        )

    @property
    def enough(self) -> bool:
        return min(self.consistent, self.inconsistent) >= ENOUGH_KNOWN


class KindCount(Record):
    """Known answers of one kind: ``right`` of ``n`` on the relation that was broken, or on all that is consistent."""

    n: int = Field(ge=0)
    right: int = Field(ge=0)


class ProbeVerdict(Record):
    """What came back about one known trace; ``id`` is the trace's in its pool, the rest as in a trace verdict."""

    id: str
    edges: dict[Edge, bool] = Field(default_factory=dict)
    consistent: bool | None = None
    probabilities: dict[Edge, float] = Field(default_factory=dict)
    why: dict[Edge, str] = Field(default_factory=dict)
    confidence: str = ""
    reason: str = ""
    fault: Fault | None = None
    notes: tuple[str, ...] = ()
    raw: str = ""


class EdgeProbe(Stored):
    """``traces/<checker>/probes/<id>.json``: a judge of edges, a critic or a verifier on known answers.

    One for every wording, model and pool. Those without verdicts are older and lie at ``traces/<checker>/probe.json``.
    """

    checker: Identifier
    rubric: str
    rubric_hash: Sha256
    #: what answered: a model's id, or the hash of a critic's weights
    model: str
    pool: Sha256
    n: int
    #: traces without a usable reply
    failed: int
    #: by relation, and "overall" by rule; a verifier has "E4 and E5" and "overall" alone
    edges: dict[str, EdgeCount]
    kinds: dict[str, KindCount]
    sources: tuple[str, ...]
    faults: tuple[Fault, ...] = ()
    verdicts: tuple[ProbeVerdict, ...] = ()

    @property
    def untested(self) -> tuple[str, ...]:
        """The relations of this judge with too few known answers."""
        return tuple(name for name, count in self.edges.items() if name != "overall" and not count.enough)
