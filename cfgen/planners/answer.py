"""From a planner's answer to a plan on the common grid, or to one line that says why not."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cfgen.core.errors import CfgenError
from cfgen.core.plain import MAX_CHARS, plain_json, plain_numbers, plain_text, visible
from cfgen.geometry.trajectory import resample
from cfgen.planners.parser import parse
from cfgen.planners.protocol import Response
from cfgen.records import FAILURES, PLAN_DT, PLAN_STEPS, Failure, Plan

#: A car does not get farther than this in 6 s.
MAX_RANGE_M = 1000.0
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
        self.kind: Failure = kind if isinstance(kind, str) and kind in FAILURES else "answer"
        self.retry_after_s = retry_after_s


def end_of(code: int | None) -> tuple[str, Failure]:
    """How a process ended, in words, and whether it was the machine (out of memory, shutting down) that ended it."""
    if code is None or code >= 0:
        return f"exit code {code}", "died"
    try:
        words = f"signal {signal.Signals(-code).name}"
    except ValueError:
        words = f"signal {-code}"
    if -code == signal.SIGKILL:
        words += " (out of memory?)"
    return words, "machine" if -code in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP) else "died"


@dataclass(frozen=True)
class Received(Response):
    """An answer that came through the door: plain text, float64 arrays or None, a report of JSON values.

    ``notes``: what had to be changed for that.
    """

    notes: tuple[str, ...] = ()


def received(answer: Any, limit: int = MAX_CHARS) -> Received:
    """The one door for what a planner gives: text, a :class:`Response`, or an object or mapping with its fields.

    Text longer than ``limit`` characters is cut, with a note.

    Raises:
        PlanFaultError: none of these, or a field that cannot be read; names what was expected and found.
    """
    if isinstance(answer, Received):
        return answer
    if isinstance(answer, PlanFaultError):
        raise answer
    if isinstance(answer, str | bytes):
        answer = Response(text=answer)  # type: ignore[arg-type]
    fields = _fields(answer)
    text, cut = _text(fields["text"], limit)
    report = fields["report"] if fields["report"] is not None else {}
    content, changed = plain_json(report, limit)
    if not isinstance(content, dict):
        raise PlanFaultError(f"answer: 'report': expected an object, found {type(report).__name__}")
    notes = (*(f"text: {n}" for n in cut), *(f"report: {n}" for n in changed))
    return Received(
        text, _numbers(fields["waypoints"], "waypoints"), _numbers(fields["t"], "t"), content, notes
    )


def to_plan(answer: str | Response | PlanFaultError) -> tuple[str, Plan]:
    """The planner's words and its plan: (24, 3) x, y, theta, 0.25 s apart, in the ego frame at t0.

    Waypoints without times must be 24 at 0.25 s; with times, any rate and horizon are resampled.

    Raises:
        PlanFaultError: it is one, or not an answer, no waypoints, a wrong number of them, not finite, out of range,
            or times that do not increase; names what was expected and found.
    """
    answer = received(answer)
    parsed = parse(answer.text)
    faults = list(parsed.faults)
    if answer.waypoints is not None:
        faults = [f for f in faults if not f.startswith("<wp>")]
        points = answer.waypoints
    elif parsed.waypoints is not None:
        points = parsed.waypoints
    else:
        raise PlanFaultError(next((f for f in faults if f.startswith("<wp>")), "no waypoints"))
    waypoints = _on_grid(points, answer.t)
    rows = tuple((float(x), float(y), float(th)) for x, y, th in waypoints)
    return answer.text, Plan(waypoints=rows, trace=parsed.trace, faults=tuple(faults[:20]))


def _on_grid(points: np.ndarray, times: np.ndarray | None) -> np.ndarray:
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise PlanFaultError(f"waypoints: expected shape (T, 2) or (T, 3), found {points.shape}")
    if times is None and len(points) != PLAN_STEPS:
        raise PlanFaultError(
            f"waypoints: expected {PLAN_STEPS} ({PLAN_DT} s apart), found {len(points)}; "
            "another rate or horizon needs times"
        )
    if not np.isfinite(points[:, :2]).all():
        raise PlanFaultError("waypoints: expected finite x and y, found NaN or infinity")
    if np.abs(points[:, :2]).max() > MAX_RANGE_M:
        raise PlanFaultError(
            f"waypoints: expected |x|, |y| <= {MAX_RANGE_M:g} m, found {np.abs(points[:, :2]).max():.3g} m"
        )
    t = np.arange(1, PLAN_STEPS + 1) * PLAN_DT if times is None else times
    if t.shape != (len(points),):
        raise PlanFaultError(
            f"t: expected one time for each of {len(points)} waypoints, found shape {t.shape}"
        )
    if not np.isfinite(t).all() or (np.diff(t) <= 0).any() or t[0] < 0:
        raise PlanFaultError("t: expected finite times that increase from 0, found others")
    headed = _with_heading(points)
    if times is None:
        return headed
    try:
        return resample(t, headed)
    except CfgenError as error:
        raise PlanFaultError(str(error)) from error


def _with_heading(points: np.ndarray) -> np.ndarray:
    """Fill missing or non-finite theta with the direction of travel (kept while standing)."""
    theta = points[:, 2] if points.shape[1] == 3 else np.full(len(points), np.nan)
    steps = np.diff(points[:, :2], axis=0, prepend=np.zeros((1, 2)))
    travel = np.arctan2(steps[:, 1], steps[:, 0])
    last = 0.0
    filled = np.empty(len(points))
    for i, value in enumerate(theta):
        if not np.isfinite(value):
            value = travel[i] if np.hypot(*steps[i]) > 0.05 else last
        filled[i] = last = value
    return np.column_stack([points[:, :2], filled])


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
    if not isinstance(value, str | bytes):
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
