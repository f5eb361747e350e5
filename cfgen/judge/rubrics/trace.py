"""What rubrics about traces share: the answer of a planner that they are shown, and what they find.

A rubric about a trace owns its wording and reads the replies; an :class:`Asker` owns the model and its transport.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from cfgen.judge.protocol import RubricId
from cfgen.models.base import Ask, Form, Picture
from cfgen.models.quote import quote
from cfgen.records import Camera, Claims, Edge, Fault

#: what the planner is taken to have been asked, for rubrics that want a question
QUESTION = "What should the car do over the next six seconds, and why?"


@dataclass(frozen=True)
class TraceItem:
    """One answer of a planner, in parts. Images (H, W, 3) uint8 RGB; ``waypoints`` (24, 3) m, rad."""

    frame: np.ndarray
    bev: np.ndarray
    speed: np.ndarray
    scene: str
    justification: str
    action: str
    waypoints: np.ndarray
    #: what the planner saw through, and its speed at t0, m/s; where they are known
    cameras: tuple[Camera, ...] = ()
    speed_mps: float | None = None

    def texts(self) -> tuple[str, str, str, str]:
        """The four quoted texts scene, justification, action, waypoints."""
        points = "\n".join(f"[{x:.2f}, {y:.2f}, {theta:.3f}]" for x, y, theta in self.waypoints)
        return quote(self.scene), quote(self.justification), quote(self.action), quote(points)

    @property
    def words(self) -> dict[str, str]:
        """What the planner said, by the names under which verdicts speak of it."""
        return {"scene": self.scene, "justification": self.justification}


@dataclass(frozen=True)
class TraceReply:
    """One answer about a trace; ``reason`` says why there is none. Fields as in :class:`cfgen.records.TraceVerdict`."""

    model: str
    edges: dict[Edge, bool] = field(default_factory=dict)
    consistent: bool | None = None
    claims: Claims | None = None
    why: dict[Edge, str] = field(default_factory=dict)
    probabilities: dict[Edge, float] = field(default_factory=dict)
    confidence: str = ""
    reason: str = ""
    transient: bool = False
    fault: Fault | None = None
    notes: tuple[str, ...] = ()
    raw: str = ""

    @property
    def usable(self) -> bool:
        return bool(self.edges) or self.consistent is not None or self.claims is not None


class Asker(Protocol):
    """Asks one model; ``id`` and ``form`` are the model's."""

    @property
    def id(self) -> str: ...

    @property
    def form(self) -> Form: ...

    async def answer(self, ask: Ask, fits: Callable[[str], bool]) -> tuple[str, TraceReply]:
        """The text of the reply, or "" and an answer that says why there is none."""
        ...

    async def shown(self, parts: Sequence[str | np.ndarray]) -> tuple[str | Picture, ...]:
        """Words as they are, images (H, W, 3) uint8 RGB encoded."""
        ...


@runtime_checkable
class TraceRubric(Protocol):
    """A rubric about one answer of a planner by itself: ``cfgen analyze traces``. ``id`` hashes every word."""

    @property
    def id(self) -> RubricId: ...

    @property
    def headings(self) -> tuple[str, ...]:
        """What is shown, in its order."""
        ...

    def system(self, form: Form = "json") -> str: ...

    async def check_trace(self, asker: Asker, key: str, item: TraceItem) -> TraceReply:
        """Ask what there is to ask of ``item``; a reply that cannot be used is a reason, never a guess."""
        ...
