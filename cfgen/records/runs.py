"""What planners answered and how judges and people scored it."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from cfgen.core.faults import Fault
from cfgen.core.record import Record, Stored
from cfgen.records.base import (
    PLAN_LEAST_STEPS,
    PLAN_STEPS,
    Arm,
    Count,
    Identifier,
    JudgedPair,
    Point3,
    Score,
    Sha256,
)

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
    """A plan on the papers' grid: (N, 3) x, y, theta in the ego frame at t0, 0.25 s apart, first at 0.25 s.

    N is 24, or less where the planner does not plan for 6 s: nothing is made up past its end.
    """

    waypoints: tuple[Point3, ...] = Field(min_length=PLAN_LEAST_STEPS, max_length=PLAN_STEPS)
    trace: Trace = Trace()
    #: what the parser had to tolerate, in words
    faults: tuple[str, ...] = ()


class Rollout(Stored):
    """One answer of one planner for one arm of one case."""

    planner: Identifier
    planner_hash: Sha256
    case_id: Identifier
    arm: Arm
    repeat: Count
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
    #: what the planner could see and how that was held, likewise; () is not recorded
    sight: tuple[str, ...] = ()
    #: what it consists of: name of a part -> hash or version; see :mod:`cfgen.planners.fingerprint`
    fingerprint: dict[str, str] = Field(default_factory=dict)
    #: mixed into the seeds of its questions, so that nobody can tell from a seed which question it is; "" is none
    salt: str = ""


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

    ``arm`` names the pair that was judged. A control's answer is judged as if it were the answer to the hazard, as
    "sham_rerun", "sham_null" or "sham_nuisance".

    ``status``: scored; unknown (the judge could not name the change: excluded and counted); failed (the judge
    gave no usable reply: counted); planner_failed (no plan to judge: counts against the planner).
    """

    judge: Identifier
    rubric: str
    rubric_version: str
    rubric_hash: Sha256
    planner: Identifier
    case_id: Identifier
    arm: JudgedPair
    repeat: Count
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
    def _scored_has_scores(self) -> Self:
        """A judge may leave dimensions out that it does not judge."""
        present = [score is not None for score in self.scores.values()]
        if (self.status == "scored") != (bool(present) and all(present)):
            raise ValueError("a verdict has scores, and all of them given, exactly when its status is scored")
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
    #: s that the answer was looked at, and s of pauses within; None where nobody measured
    seconds: float | None = None
    paused: float | None = None


class RatingFile(Stored):
    """A rater's append-only history for one response; the last entry counts."""

    rater: Identifier
    planner: Identifier
    case_id: Identifier
    arm: JudgedPair = "hazard"
    repeat: Count = 0
    history: tuple[Rating, ...]


class Review(Record):
    """One curation decision."""

    at: str
    decision: Literal["accept", "reject", "flag", "clear"]
    reason: str = ""
    #: the same for all that were decided in one go
    batch: str = ""


class ReviewFile(Stored):
    """A person's append-only history of decisions on one case."""

    rater: Identifier
    case_id: Identifier
    history: tuple[Review, ...] = ()


# --- interventions -----------------------------------------------------------------------------
# What happened when a planner was made to plan for reasoning that was not its own.

#: the stage of the trace that was replaced
Swap = Literal["longitudinal", "lateral", "justification"]


class Intervention(Stored):
    """One swap in one arm of one case. ``followed`` is None when the planner gave no plan for it."""

    planner: Identifier
    case_id: Identifier
    arm: Arm
    swap: Swap
    given: Trace
    followed: bool | None
    #: m, mean distance of the new waypoints from the planner's own and from those it should move towards
    from_own_m: float | None = Field(default=None, ge=0)
    from_target_m: float | None = Field(default=None, ge=0)
    reason: str = ""
    failure: Failure = ""
    fault: Fault | None = None
    plan: Plan | None = None
