"""What happened when a planner was made to plan for reasoning that was not its own."""

from typing import Literal

from pydantic import Field

from cfgen.core.faults import Fault
from cfgen.core.record import Stored
from cfgen.records.base import Arm, Identifier
from cfgen.records.runs import Failure, Plan, Trace

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
