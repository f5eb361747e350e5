"""What rubrics about traces share: the answer of a planner that they are shown, and what they find.

A rubric about a trace owns its wording and reads the replies; an :class:`Asker` owns the model and its transport.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from cfgen.core.hashing import hash_json
from cfgen.core.sanitize import plain_text
from cfgen.judge.protocol import RubricId
from cfgen.models.base import Ask, ChatTurn, Form, Picture
from cfgen.models.untrusted_text import MAX_CHARS, quote
from cfgen.records import Camera, Claims, Edge, Fault, Trace
from cfgen.render.bev import bev
from cfgen.render.speed import speed_plot

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

    @classmethod
    def of(
        cls,
        frame: np.ndarray,
        trace: Trace,
        waypoints: np.ndarray,
        cameras: tuple[Camera, ...] = (),
        speed_mps: float | None = None,
    ) -> Self:
        """A trace over a frame (H, W, 3) uint8 RGB, its waypoints (24, 3) drawn alone."""
        return cls(
            frame=frame,
            bev=bev(waypoints),
            speed=speed_plot(waypoints),
            scene=trace.scene,
            justification=trace.justification,
            action=f"Longitudinal: {trace.longitudinal}\nLateral: {trace.lateral}",
            waypoints=waypoints,
            cameras=cameras,
            speed_mps=speed_mps,
        )

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


# --- reply -------------------------------------------------------------------------------------
# Named fields from a model's reply: tags after its thinking, or one JSON object.


#: a comma after the last of an object or a list
_COMMA = re.compile(r",\s*([}\]])")


def read_fields(raw: str, names: Sequence[str]) -> dict[str, str] | str:
    """Every field as text, or in one line why the reply cannot be used.

    As local models write: after ``<think>``, in a fence or between other words, with a comma too many.
    """
    _, _, text = raw.strip().rpartition("</think>")
    text = text.strip()
    if text.startswith("<think>"):
        return "the reply ends inside <think>; it was cut off"
    start, end = text.find("{"), text.rfind("}") + 1
    tagged = any(f"<{name}>" in text for name in names)
    if start == 0 or (start > 0 and end > start and not tagged):
        return _from_json(text[start : end or None], names)
    return _from_tags(text, names)


def _from_json(text: str, names: Sequence[str]) -> dict[str, str] | str:
    try:
        try:
            content = json.loads(text, strict=False)
        except ValueError:
            content = json.loads(_COMMA.sub(r"\1", text), strict=False)
    except (ValueError, RecursionError) as error:
        return f"the reply is broken JSON ({str(error)[:80]}); it was probably cut off"
    fields = {}
    for name in names:
        value = content.get(name)
        if not isinstance(value, str | int) or isinstance(value, bool):
            return f"the reply's field '{name}': expected text, found {type(value).__name__}"
        fields[name] = plain_text(str(value))[0]  # JSON can spell what UTF-8 cannot hold
    return fields


def _from_tags(text: str, names: Sequence[str]) -> dict[str, str] | str:
    """Only what follows the last ``</thinking>`` counts: thinking may quote. A tag given twice is no answer."""
    head, closed, tail = text.rpartition("</thinking>")
    if not closed and "<thinking>" in text:
        return "the reply ends inside <thinking>; it was cut off"
    answer = tail if closed else head + tail
    fields = {}
    for name in names:
        parts = answer.split(f"<{name}>")
        if len(parts) != 2 or parts[1].count(f"</{name}>") != 1:
            return f"expected <{name}>...</{name}> once in the reply, found {len(parts) - 1}"
        fields[name] = parts[1].split(f"</{name}>")[0]
    return fields


# --- one word ----------------------------------------------------------------------------------
# Rubrics that are answered with one word.

Answer = TypeVar("Answer")
_FREE: dict[str, Any] = {"type": "string"}


@dataclass(frozen=True)
class OneWordRubric(Generic[Answer]):
    """Wording, version and parser; knows nothing of transport. ``words`` maps lower-case words to what they mean."""

    name: str
    version: str
    wording: str
    words: Mapping[str, Answer]
    headings: tuple[str, ...] = ()

    @cached_property
    def id(self) -> RubricId:
        return RubricId(
            self.name, self.version, hash_json([self.name, self.version, self.wording, MAX_CHARS])
        )

    def system(self, form: Form = "tags") -> str:
        return self.wording

    async def one_word(
        self, asker: Asker, key: str, parts: Sequence[str | np.ndarray]
    ) -> tuple[Answer | None, TraceReply]:
        """What the model's word means and its reply; None, with the reason in the reply, where it cannot be read."""
        ask = Ask(self.wording, (ChatTurn("user", await asker.shown(parts)),), "tags", _FREE, key)
        text, none = await asker.answer(ask, lambda text: self.parse(text) is not None)
        meaning = self.parse(text)
        *choices, last = (word.upper() for word in self.words)
        unread = f"expected {', '.join(choices)} or {last}, found {text[:40]!r}"
        reason = none.reason or ("" if meaning is not None else unread)
        return meaning, replace(none, reason=reason, raw=text)

    def parse(self, raw: str) -> Answer | None:
        """None for anything but one of the words."""
        return self.words.get(re.sub(r"[^a-z]", "", raw.lower()))
