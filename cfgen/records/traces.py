"""Whether a planner's own trace hangs together, edge by edge."""

from typing import Literal, Self

from pydantic import Field, model_validator

from cfgen.core.faults import Fault
from cfgen.core.record import Record, Stored
from cfgen.records.base import Arm, Identifier, Sha256

#: image to scene, image to justification, justification to action, action to waypoints, justification to waypoints
Edge = Literal["E1", "E2", "E3", "E4", "E5"]


class Claims(Record):
    """What became of a trace's sentences: claims about the frame that are right or wrong, and those without one."""

    correct: int = Field(ge=0)
    incorrect: int = Field(ge=0)
    skipped: int = Field(ge=0)
    #: left out before a judge was asked
    trivial: int = Field(ge=0)


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
    repeat: int = Field(default=0, ge=0)
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
    repeat: int = Field(ge=0)
    #: what answered: a model's id, or the hash of a critic's weights; "" in records from before it was kept
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
        given = [len(self.edges) == 5, self.consistent is not None, self.claims is not None]
        if sum(given) != (self.status == "checked") or len(self.edges) not in (0, 5):
            raise ValueError(
                "a trace verdict holds one rubric's whole answer exactly when its status is checked"
            )
        return self
