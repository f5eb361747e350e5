"""The one door for what a planner gives, on both sides of the process border.

Shipped to planners' environments, so it keeps to Python 3.9 and NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cfgen.core.errors import CfgenError
from cfgen.core.sanitize import MAX_CHARS, plain_json, plain_numbers, plain_text, visible
from cfgen.planners.client import Response

if TYPE_CHECKING:
    from cfgen.records import Failure

#: keys of :data:`cfgen.records.FAILURES`, which has words for them
KINDS = ("answer", "error", "died", "timeout", "unreachable", "unavailable", "machine", "fault", "")
_FIELDS = ("text", "waypoints", "t", "report")
#: of a reason, characters
_LONGEST = 1000


class PlanFaultError(CfgenError):
    """The planner's answer is not a plan. Counts against the planner, unless ``kind`` is a transient one.

    ``kind``: a key of :data:`cfgen.records.FAILURES`; anything else is read as "answer". ``retry_after_s``: how long
    the planner asked to be left alone.
    """

    def __init__(self, reason: object, kind: Failure = "answer", retry_after_s: float | None = None) -> None:
        words = reason if isinstance(reason, str) else words_of(reason)
        super().__init__(visible(" ".join(plain_text(words, _LONGEST)[0].split())))
        self.kind: Failure = kind if isinstance(kind, str) and kind in KINDS else "answer"
        self.retry_after_s = retry_after_s


@dataclass(frozen=True)
class CheckedResponse(Response):
    """An answer that came through the door: plain text, float64 arrays or None, a report of JSON values.

    ``notes``: what had to be changed for that.
    """

    notes: tuple[str, ...] = ()


def check_response(answer: Any, limit: int = MAX_CHARS) -> CheckedResponse:
    """The one door for what a planner gives: text, a :class:`Response`, or an object or mapping with its fields.

    Text longer than ``limit`` characters is cut, with a note.

    Raises:
        PlanFaultError: none of these, or a field that cannot be read; names what was expected and found.
    """
    if isinstance(answer, CheckedResponse):
        return answer
    if isinstance(answer, PlanFaultError):
        raise answer
    if isinstance(answer, (str, bytes)):
        answer = Response(text=answer)  # type: ignore[arg-type]
    fields = _fields(answer)
    text, cut = _text(fields["text"], limit)
    report = fields["report"] if fields["report"] is not None else {}
    content, changed = plain_json(report, limit)
    if not isinstance(content, dict):
        raise PlanFaultError(f"answer: 'report': expected an object, found {type(report).__name__}")
    notes = (*(f"text: {n}" for n in cut), *(f"report: {n}" for n in changed))
    return CheckedResponse(
        text, _numbers(fields["waypoints"], "waypoints"), _numbers(fields["t"], "t"), content, notes
    )


def _fields(answer: Any) -> dict[str, Any]:
    try:
        if isinstance(answer, Mapping):
            return {f: answer.get(f) for f in _FIELDS}
        if hasattr(answer, "text") or hasattr(answer, "waypoints"):
            return {f: getattr(answer, f, None) for f in _FIELDS}
    except Exception as error:  # properties of somebody else's object
        why = f"{type(error).__name__}: {words_of(error)}"
        raise PlanFaultError(
            f"answer: expected readable fields, found {type(answer).__name__} ({why})"
        ) from error
    raise PlanFaultError(f"answer: expected text or a Response, found {type(answer).__name__}")


def _text(value: Any, limit: int) -> tuple[str, tuple[str, ...]]:
    if value is None:
        return "", ()
    if not isinstance(value, (str, bytes)):
        raise PlanFaultError(f"answer: 'text': expected a string, found {type(value).__name__}")
    return plain_text(value, limit)


def _numbers(value: Any, field: str) -> np.ndarray | None:
    if value is None:
        return None
    try:
        return plain_numbers(value)
    except Exception as error:  # conversions of somebody else's array may raise anything
        raise PlanFaultError(f"answer: '{field}': expected numbers ({words_of(error)})") from error


def words_of(value: object) -> str:
    """``str`` of what may be anything."""
    try:
        return str(value)
    except Exception:
        return f"{type(value).__name__} without words"
