"""Whether a planner's own trace hangs together, edge by edge."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from cfgen.core.faults import Fault
from cfgen.core.record import Record, Stored
from cfgen.records.base import Arm, Count, Identifier, Point3, Sha256
from cfgen.records.runs import Trace

#: image to scene, image to justification, justification to action, action to waypoints, justification to waypoints
Edge = Literal["E1", "E2", "E3", "E4", "E5"]


class Claims(Record):
    """What became of a trace's sentences: claims about the frame that are right or wrong, and those without one."""

    correct: Count
    incorrect: Count
    skipped: Count


class EdgeRating(Record):
    """What one person said of one trace at one time: True consistent, False inconsistent, None cannot tell."""

    at: str
    edges: dict[Edge, bool | None]
    note: str = ""

    @model_validator(mode="after")
    def _all_five(self) -> Self:
        if len(self.edges) != 5:
            raise ValueError("a rating of edges holds all five, null where the person cannot tell")
        return self


class EdgeRatingFile(Stored):
    """``edge_ratings/<rubric>/<rater>/<planner>/<case>.<arm>.<k>.json``: append-only; the last entry counts."""

    rater: Identifier
    rubric: Identifier
    planner: Identifier
    case_id: Identifier
    arm: Arm
    repeat: Count = 0
    history: tuple[EdgeRating, ...]


class TraceVerdict(Stored):
    """One rollout's trace under one checker and rubric; when checked, what that rubric answers and nothing else.

    ``faithfulness``: all five ``edges``, True for consistent. ``consistency``: ``consistent``, whether the action
    follows from the words. ``grounding``: ``claims``.
    """

    checker: Identifier
    rubric: str
    rubric_version: str
    rubric_hash: Sha256
    planner: Identifier
    case_id: Identifier
    arm: Arm
    repeat: Count
    #: what answered: a model's id, or the hash of a critic's weights; "": not known
    model: str = ""
    status: Literal["checked", "failed"]
    edges: dict[Edge, bool] = Field(default_factory=dict)
    #: P(CONSISTENT), of checkers that give one
    probabilities: dict[Edge, float] = Field(default_factory=dict)
    consistent: bool | None = None
    claims: Claims | None = None
    why: dict[Edge, str] = Field(default_factory=dict)
    confidence: str = ""
    reason: str = ""
    #: failed, and asking again could give an answer
    transient: bool = False
    #: failed, because cfgen or something it called broke on it
    fault: Fault | None = None
    #: what the checker was not shown whole
    notes: tuple[str, ...] = ()
    raw: str = ""

    @model_validator(mode="after")
    def _whole_or_nothing(self) -> Self:
        answers = [len(self.edges) == 5, self.consistent is not None, self.claims is not None]
        if sum(answers) != (self.status == "checked") or len(self.edges) not in (0, 5):
            raise ValueError(
                "a trace verdict holds one rubric's whole answer exactly when its status is checked"
            )
        return self


# --- known -------------------------------------------------------------------------------------
# Traces whose right verdict is known, and what a judge of edges made of them.

#: The five edges, and the other reading of the second. The paper contradicts itself on (z1, z2): sections 5.2, 6.1.1
#: and 8.1 hold the justification against the scene description ("E2-scene"), the judge of 8.3.2 and Table 6 against
#: the image ("E2").
Relation = Literal["E1", "E2", "E2-scene", "E3", "E4", "E5"]
#: Of one relation a judge counts as tested with so many known answers of either verdict.
ENOUGH_KNOWN = 20


class KnownTrace(Record):
    """One trace and what is known of its edges: True consistent, False broken, left out where nothing is known.

    Attributes:
        arm: whose frame is shown. drive: the block of its scene.
        kind: "consistent", or how it was made inconsistent. target: the relation that was broken; "" for none.
        edges: those that count, balanced over the pool. known: all of them.
        provenance: donor, margin in metres or m/s.
    """

    id: str
    case_id: Identifier
    arm: Arm
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
    traces: tuple[KnownTrace, ...]
    #: why a corruption was not taken -> how many
    dropped: dict[str, int]


class EdgeCount(Record):
    """Known answers about one relation: how many of either verdict, and how many came back wrong or not at all."""

    consistent: Count
    inconsistent: Count
    false_consistent: Count = 0
    false_inconsistent: Count = 0
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

    n: Count
    right: Count


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
    """``traces/<checker>/probes/<id>.json``: a judge of edges or a critic on known answers.

    One for every wording, model and pool.
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
    #: by relation, and "overall" by rule
    edges: dict[str, EdgeCount]
    kinds: dict[str, KindCount]
    faults: tuple[Fault, ...] = ()
    verdicts: tuple[ProbeVerdict, ...] = ()

    @property
    def untested(self) -> tuple[str, ...]:
        """The relations of this judge with too few known answers."""
        return tuple(name for name, count in self.edges.items() if name != "overall" and not count.enough)
