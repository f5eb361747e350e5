"""Whether a planner's own trace hangs together, edge by edge."""

from typing import Literal, Self

from pydantic import Field, model_validator

from cfgen.records.base import Arm, Identifier, Sha256, Stored

#: image to scene, image to justification, justification to action, action to waypoints, justification to waypoints
Edge = Literal["E1", "E2", "E3", "E4", "E5"]


class TraceVerdict(Stored):
    """One rollout's edges under one checker. ``edges``: True for consistent; all five when checked, else none."""

    checker: Identifier
    rubric: str
    rubric_version: str
    rubric_hash: Sha256
    planner: Identifier
    case_id: Identifier
    arm: Arm
    repeat: int = Field(ge=0)
    status: Literal["checked", "failed"]
    edges: dict[Edge, bool] = Field(default_factory=dict)
    #: P(CONSISTENT), of checkers that give one
    probabilities: dict[Edge, float] = Field(default_factory=dict)
    why: dict[Edge, str] = Field(default_factory=dict)
    confidence: str = ""
    reason: str = ""
    raw: str = ""

    @model_validator(mode="after")
    def _all_or_none(self) -> Self:
        if len(self.edges) != (5 if self.status == "checked" else 0):
            raise ValueError("a trace verdict has five edges exactly when its status is checked")
        return self
