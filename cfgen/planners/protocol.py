"""What a planner is asked and what it may answer. A planner is any object with ``needs`` and ``plan``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from cfgen.planners import client
from cfgen.planners.client import Requirements, Response, TimedImage
from cfgen.records import Camera, Hazard, Motion, Placement, Trace

__all__ = ["Observation", "Planner", "Requirements", "Response", "TimedImage", "Truth"]


@dataclass(frozen=True)
class Truth:
    """What was put where; None fields mean that the frame is untouched. Given to scripted responders only."""

    hazard: Hazard | None
    placement: Placement | None


@dataclass(frozen=True)
class Observation(client.Observation):
    """One question to a planner, as cfgen has it; what reaches a planner's process is :class:`client.Observation`.

    Attributes:
        truth: see :class:`Truth`.
        logged: the recorded future, for the ``logged`` planner and scripted responders only.
    """

    cameras: Mapping[str, Camera]
    history: Motion
    instruction: str = ""
    trace: Trace | None = None
    truth: Truth | None = None
    logged: Motion | None = None


@runtime_checkable
class Planner(Protocol):
    """``plan`` answers a batch in order: the papers' text (``str``) or a :class:`Response` for each observation.

    An attribute ``needs`` holds its :class:`Requirements`; without it, the plain ones.
    A :class:`cfgen.planners.answer.PlanFaultError` in its place (or raised, for the whole batch) is a recorded
    failure.
    """

    def plan(self, observations: Sequence[Observation]) -> Sequence[str | Response]: ...
