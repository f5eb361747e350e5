"""What planners answered and how judges and people scored it."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from cfgen.records.base import PLAN_STEPS, Arm, Identifier, Point3, Record, Score, Sha256, Stored
from cfgen.records.faults import Fault

#: Why an answer failed, in words; the first three are the planner's own doing.
FAILURES: dict[str, str] = {
    "answer": "gave an answer that is not a plan",
    "error": "broke on the question",
    "died": "died of the question",
    "timeout": "did not answer in time",
    "unreachable": "could not be reached",
    "unavailable": "had a server that was out of service",
    "machine": "was ended by the machine, or ran out of memory",
    "fault": "could not be asked, or not be understood, because cfgen broke",
    "": "failed",
}
Failure = Literal["", "answer", "error", "died", "timeout", "unreachable", "unavailable", "machine", "fault"]
#: What network and machine did: asked again before it counts.
TRANSIENT: tuple[Failure, ...] = ("timeout", "unreachable", "unavailable", "machine")
#: What asking again could mend; "" is that of records from before kinds were kept.
MENDABLE: tuple[Failure, ...] = (*TRANSIENT, "fault", "")

#: where a planner ran: in a process of its own, behind a URL, in the process that scored, or not recorded
Isolation = Literal["process", "server", "none", ""]


class Trace(Record):
    """What the planner said, parsed. Empty fields were not said."""

    scene: str = ""
    justification: str = ""
    longitudinal: str = ""
    lateral: str = ""


class Plan(Record):
    """A plan on the papers' grid: (24, 3) x, y, theta in the ego frame at t0, first point at 0.25 s."""

    waypoints: tuple[Point3, ...] = Field(min_length=PLAN_STEPS, max_length=PLAN_STEPS)
    trace: Trace = Trace()
    #: what the parser had to tolerate, in words
    faults: tuple[str, ...] = ()


class Rollout(Stored):
    """One answer of one planner for one arm of one case."""

    planner: Identifier
    planner_hash: Sha256
    case_id: Identifier
    arm: Arm
    repeat: int = Field(ge=0)
    seed: int
    status: Literal["ok", "failed"]
    #: why it failed, in one line; empty when ok
    reason: str = ""
    #: what kind of failure, a key of :data:`FAILURES`
    failure: Failure = ""
    #: what cfgen broke on; such an answer does not count against the planner
    fault: Fault | None = None
    #: the planner's words, unchanged but for what ``notes`` tell
    text: str = ""
    #: what had to be changed of the answer to keep it: cut text, lone surrogates, values that are not JSON
    notes: tuple[str, ...] = ()
    plan: Plan | None = None
    latency_s: float = 0.0
    #: what the planner reports of itself: calls, cost, candidates, ...
    report: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _plan_if_ok(self) -> Self:
        if (self.status == "ok") != (self.plan is not None):
            raise ValueError("a rollout has a plan exactly when its status is ok")
        return self

    @property
    def mendable(self) -> bool:
        """Whether it failed in a way that asking again could mend."""
        return self.status == "failed" and self.failure in MENDABLE


class PlannerRun(Stored):
    """``runs/<planner>/planner.json``: what was asked of a planner; its rollouts are expected to be there."""

    planner: Identifier
    planner_hash: Sha256
    #: as typed on the command line, without secrets
    spec: str
    arms: tuple[Arm, ...]
    repeats: int = Field(gt=0)
    seed: int
    needs: dict[str, Any] = Field(default_factory=dict)
    isolation: Isolation = ""
    #: what could be reached and how that was held, once for every way in which it was run; "": everything
    network: tuple[str, ...] = ()


class Vote(Record):
    """One reply of one judge model. Scores are None where it said UNKNOWN or the reply could not be read."""

    model: str
    status: Literal["scored", "unknown", "failed"]
    scores: dict[Literal["reasoning", "waypoints", "overall"], Score | None] = Field(default_factory=dict)
    element_type: str = ""
    element_position: str = ""
    explanation: str = ""
    flags: tuple[str, ...] = ()
    reason: str = ""
    #: the model was out of reach or said nothing: asking again could give a vote
    transient: bool = False
    raw: str = ""
    usage: dict[str, float] = Field(default_factory=dict)


class Verdict(Stored):
    """The combined judgement of one arm's rollout against the original arm's.

    ``status``: scored; unknown (the judge could not name the change: excluded and counted); failed (the judge
    gave no usable reply: counted); planner_failed (no plan to judge: counts against the planner).
    """

    judge: Identifier
    rubric: str
    rubric_version: str
    rubric_hash: Sha256
    planner: Identifier
    case_id: Identifier
    arm: Arm
    repeat: int = Field(ge=0)
    status: Literal["scored", "unknown", "failed", "planner_failed"]
    scores: dict[Literal["reasoning", "waypoints", "overall"], Score | None] = Field(default_factory=dict)
    element_type: str = ""
    element_position: str = ""
    explanation: str = ""
    reason: str = ""
    #: failed, and asking again could give a verdict
    transient: bool = False
    #: failed, because cfgen or something it called broke on it
    fault: Fault | None = None
    flags: tuple[str, ...] = ()
    #: what the judge was not shown whole
    notes: tuple[str, ...] = ()
    votes: tuple[Vote, ...] = ()
    #: hash of everything the judge was shown
    input_hash: Sha256

    @model_validator(mode="after")
    def _scored_has_all(self) -> Self:
        full = all(self.scores.get(d) is not None for d in ("reasoning", "waypoints", "overall"))
        if (self.status == "scored") != full:
            raise ValueError("a verdict has all three scores exactly when its status is scored")
        return self


class JudgeRun(Stored):
    """``verdicts/<judge>/judge.json``: who judged, with which wording and options."""

    judge: Identifier
    spec: str
    rubric: str
    rubric_version: str
    rubric_hash: Sha256
    options: dict[str, Any] = Field(default_factory=dict)
    #: what could be reached and how that was held, once for every way in which it was asked; "": everything
    network: tuple[str, ...] = ()


class Rating(Record):
    """One person's scores at one time; None means UNKNOWN."""

    at: str
    scores: dict[Literal["reasoning", "waypoints", "overall"], Score | None]
    note: str = ""


class RatingFile(Stored):
    """A rater's append-only history for one response; the last entry counts."""

    rater: Identifier
    planner: Identifier
    case_id: Identifier
    arm: Arm = "hazard"
    repeat: int = Field(default=0, ge=0)
    history: tuple[Rating, ...]


class Review(Record):
    """One curation decision."""

    at: str
    decision: Literal["accept", "reject", "flag", "clear"]
    reason: str = ""


class ReviewFile(Stored):
    rater: Identifier
    case_id: Identifier
    history: tuple[Review, ...]
