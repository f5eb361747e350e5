"""What a planner is asked and what it may answer. A planner is any object with ``needs`` and ``plan``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cfgen.core.errors import CfgenError
from cfgen.records import Camera, Hazard, Motion, Placement, Trace


@dataclass(frozen=True)
class Requirements:
    """What a planner declares; it decides what is loaded and how it is checked.

    Attributes:
        cameras: names of the cameras it wants.
        frame_times: seconds relative to t0 at which it wants images of each camera; 0.0 is "now".
        max_pixels: images larger than this are shrunk, keeping their aspect; None keeps them.
        input_pixels: area to which it shrinks images itself, if it does; hazards too small there are reported.
        batch_size: observations per ``plan`` call.
        deterministic: same observation and seed, same answer.
        accepts_trace: it plans for ``observation.trace`` when that is given (interventions).
        truth: scripted responders only: they are told what was added where (known-answer probes).
    """

    cameras: tuple[str, ...] = ("front",)
    frame_times: tuple[float, ...] = (0.0,)
    max_pixels: int | None = None
    input_pixels: int | None = None
    batch_size: int = 1
    deterministic: bool = True
    accepts_trace: bool = False
    truth: bool = False


@dataclass(frozen=True)
class TimedImage:
    """One image: ``pixels`` (H, W, 3) uint8 RGB, read-only; ``t`` its own time in s relative to t0."""

    t: float
    pixels: np.ndarray


@dataclass(frozen=True)
class Truth:
    """What was put where; None fields mean that the frame is untouched. Given to scripted responders only."""

    hazard: Hazard | None
    placement: Placement | None


@dataclass(frozen=True)
class Observation:
    """One question to a planner. Nothing in it tells which arm it comes from.

    Attributes:
        token: opaque; different for every question.
        seed: for the planner's own randomness; paired across the arms of a case.
        images: camera name -> images in time order, at the needed times that the scene has.
        cameras: camera name -> calibration at the size of its images.
        history: ego motion up to t = 0 in the ego frame at t0 (m, rad, m/s).
        instruction: navigation instruction, or "".
        trace: reasoning to plan for instead of its own; its empty fields are the planner's to fill. Given only
            to planners that accept one.
        truth: see :class:`Truth`.
        logged: the recorded future, for the ``logged`` planner and scripted responders only.
    """

    token: str
    seed: int
    images: Mapping[str, tuple[TimedImage, ...]]
    cameras: Mapping[str, Camera]
    history: Motion
    instruction: str = ""
    trace: Trace | None = None
    truth: Truth | None = None
    logged: Motion | None = None

    @property
    def yaw_rate(self) -> float:
        """Ego yaw rate over the last 0.5 s of history, rad/s; 0 when the history is shorter than a step."""
        t, poses = self.history.t, self.history.poses
        first = next(i for i, time in enumerate(t) if time >= -0.5 - 1e-6)
        return (poses[-1][2] - poses[first][2]) / (t[-1] - t[first]) if t[-1] > t[first] else 0.0

    @property
    def speed(self) -> float:
        """Ego speed at t0, m/s."""
        return self.history.v[-1]


@dataclass(frozen=True)
class Response:
    """An answer in parts, for planners that do not write the papers' text format.

    Attributes:
        text: reasoning in the papers' format or free text; parsed by cfgen.
        waypoints: (T, 2) or (T, 3) x, y[, theta] in the ego frame at t0, m and rad; None takes them from ``text``.
        t: (T,) s after t0 of the waypoints; None means 0.25, 0.5, ...
        report: anything the planner reports of itself (calls, cost, ...): JSON values.
    """

    text: str = ""
    waypoints: np.ndarray | None = None
    t: np.ndarray | None = None
    report: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Planner(Protocol):
    """``plan`` answers a batch in order: the papers' text (``str``) or a :class:`Response` for each observation.

    An attribute ``needs`` holds its :class:`Requirements`; without it, the plain ones.
    A :class:`cfgen.planners.answer.PlanFaultError` in its place (or raised, for the whole batch) is a recorded
    failure.
    """

    def plan(self, observations: Sequence[Observation]) -> Sequence[str | Response]: ...


def needs_of(planner: object) -> Requirements:
    """What a planner declares; the plain :class:`Requirements` where it declares nothing.

    Raises:
        CfgenError: it is no planner: its ``needs`` are something else, or it has no ``plan``.
    """
    needs = getattr(planner, "needs", Requirements())
    if not isinstance(needs, Requirements) or not callable(getattr(planner, "plan", None)):
        raise CfgenError(
            f"'{type(planner).__name__}' is no planner: expected a method 'plan(observations)' and, if it has one, an "
            "attribute 'needs' of type cfgen.Requirements"
        )
    return needs
