"""From a planner's answer to a plan on the common grid, or to one line that says why not.

Its text may hold the papers' output format: ``<think>`` JSON, ``<action>`` meta-actions, ``<wp>[x, y, theta]</wp>``
waypoints. Reading is tolerant where the meaning is clear (quotes, case, synonyms of the meta-actions, missing theta),
exact where it is not. Every tolerance is named in ``faults``. What a planner wrote is data: nothing in it is executed.
"""

import ast
import json
import re
from dataclasses import dataclass

import numpy as np

from cfgen.core.errors import CfgenError
from cfgen.geometry.trajectory import resample
from cfgen.planners.protocol import Response
from cfgen.planners.response import CheckedResponse, PlanFaultError, check_response
from cfgen.planners.settings import LIMITS
from cfgen.records import LATERAL, LONGITUDINAL, PLAN_DT, PLAN_LEAST_STEPS, PLAN_STEPS, Plan, Trace

#: Longer texts are cut before parsing; a plan with its reasoning takes about 3,000 characters.
MAX_TEXT = 200_000

_TAG = {
    name: (
        re.compile(rf"<\s{{0,9}}{name}\s{{0,9}}>", re.I),
        re.compile(rf"<\s{{0,9}}/\s{{0,9}}{name}\s{{0,9}}>", re.I),
    )
    for name in ("think", "action", "wp")
}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
_FIELD = re.compile(
    r"""["']?(?P<key>scene|move_justification|justification)["']?\s*:\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)\s*(?=[,}]|$)""",
    re.DOTALL | re.IGNORECASE,
)

# Checked in order: the first pattern found in the planner's words decides.
_LONGITUDINAL_WORDS = (
    (r"\bstop|\bhalt", "stop"),
    (r"\byield|give way", "yield"),
    (r"lead|follow", "follow lead vehicle"),
    (r"\bgap", "gap search"),
    (r"\bpass|overtak", "pass"),
    (r"speed[ _-]*adapt|adapt|slow|decelerat|brak", "speed adapt"),
    (r"set[ _-]*speed|cruis|maintain|track", "set speed tracking"),
)
_LATERAL_WORDS = (
    (r"turn[ _-]*left|left[ _-]*turn", "turn left"),
    (r"turn[ _-]*right|right[ _-]*turn", "turn right"),
    (r"lane[ _-]*change[ _-]*left|change[^.]{0,20}left[ _-]*lane", "lane change left"),
    (r"lane[ _-]*change[ _-]*right|change[^.]{0,20}right[ _-]*lane", "lane change right"),
    (r"\bmerg|\bsplit", "merge"),
    (r"out[ _-]*of[ _-]*lane[ _-]*nudge[ _-]*left", "out-of-lane nudge left"),
    (r"out[ _-]*of[ _-]*lane[ _-]*nudge[ _-]*right", "out-of-lane nudge right"),
    (r"nudge[ _-]*(?:to[ _-]*the[ _-]*)?left", "in-lane nudge left"),
    (r"nudge[ _-]*(?:to[ _-]*the[ _-]*)?right", "in-lane nudge right"),
    (r"pull[ _-]*over|curb approach|kerb approach", "pull over"),
    (r"lane[ _-]*keep|keep[ _-]*lane|straight|cent(?:er|re)", "lane keeping"),
)


@dataclass(frozen=True)
class Parsed:
    """``waypoints``: (T, 3) x, y, theta in m and rad, theta NaN where it was not given; None when there are none."""

    trace: Trace
    waypoints: np.ndarray | None
    faults: tuple[str, ...]


def parse(text: str) -> Parsed:
    """Read a planner's text. Never raises: what cannot be read is empty and named in ``faults``."""
    faults: list[str] = []
    if len(text) > MAX_TEXT:
        faults.append(f"text: {len(text)} characters, only the first {MAX_TEXT} are read")
        text = text[:MAX_TEXT]
    scene, justification = _think(text, faults)
    longitudinal, lateral = _action(text, faults)
    trace = Trace(scene=scene, justification=justification, longitudinal=longitudinal, lateral=lateral)
    return Parsed(trace, _waypoints(text, faults), tuple(faults))


def canonical_action(words: str, axis: str) -> str:
    """A vocabulary entry for free words; ``axis`` is "longitudinal" or "lateral"; "" when none fits."""
    action = re.sub(r"\s+", " ", words.strip().lower())
    vocabulary, patterns = (
        (LONGITUDINAL, _LONGITUDINAL_WORDS) if axis == "longitudinal" else (LATERAL, _LATERAL_WORDS)
    )
    if action in vocabulary:
        return action
    return next((entry for pattern, entry in patterns if re.search(pattern, action)), "")


def _blocks(name: str, text: str) -> list[str]:
    """What stands between opening and closing tags, in order; one pass, however many tags are left open."""
    opening, closing = _TAG[name]
    bodies, at = [], 0
    while (start := opening.search(text, at)) and (end := closing.search(text, start.end())):
        bodies.append(text[start.end() : end.start()])
        at = end.end()
    return bodies


def _single(name: str, text: str, faults: list[str]) -> str | None:
    blocks = _blocks(name, text)
    if not blocks:
        faults.append(f"<{name}>: expected one block, found none")
        return None
    if len(blocks) > 1:
        faults.append(f"<{name}>: expected one block, found {len(blocks)}; the first counts")
    return blocks[0]


def _think(text: str, faults: list[str]) -> tuple[str, str]:
    body = _single("think", text, faults)
    if body is None:
        before = re.split(r"<\s*(?:action|wp)\b", text, maxsplit=1, flags=re.IGNORECASE)[0]
        return "", _clean(before)
    fields = _json_fields(body, faults)
    scene = fields.get("scene", "")
    justification = fields.get("move_justification") or fields.get("justification", "")
    if not fields:
        faults.append("<think>: expected JSON with 'scene' and 'move_justification', found free text")
        return "", _clean(body)
    for name, value in (("scene", scene), ("move_justification", justification)):
        if not value:
            faults.append(f"<think>: field '{name}' is missing or empty")
    return _clean(scene), _clean(justification)


def _json_fields(body: str, faults: list[str]) -> dict[str, str]:
    inner = re.sub(r"^\s*```(?:json)?|```\s*$", "", body.strip())
    try:
        content = json.loads(inner, strict=False)
    except (ValueError, RecursionError):
        content = None
    if content is None and len(inner) < 20_000:
        try:
            content = ast.literal_eval(inner.strip())
            faults.append("<think>: expected JSON, found a Python literal; read as such")
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            content = None
    if isinstance(content, dict):
        return {str(k).strip().lower(): v for k, v in content.items() if isinstance(v, str)}
    fields = {m["key"].lower(): m["value"] for m in _FIELD.finditer(inner)}
    if fields:
        faults.append("<think>: expected JSON, found something close to it; fields taken by name")
    return fields


def _action(text: str, faults: list[str]) -> tuple[str, str]:
    body = _single("action", text, faults)
    if body is None:
        return "", ""
    result = []
    for axis in ("longitudinal", "lateral"):
        match = re.search(
            rf"\b{axis}\b[^:=\n]{{0,20}}[:=]([^\n]*?)(?=\blateral\b|\blongitudinal\b|\n|$)", body, re.I
        )
        words = match[1].strip(" \t\r,;.*\"'") if match else ""
        entry = canonical_action(words, axis) if words else ""
        if not words:
            faults.append(f"<action>: '{axis.capitalize()}:' is missing")
        elif not entry:
            faults.append(f"<action>: {axis} '{words[:60]}' is not in the vocabulary")
        elif entry != words.lower():
            faults.append(f"<action>: {axis} '{words[:60]}' read as '{entry}'")
        result.append(entry)
    return result[0], result[1]


def _waypoints(text: str, faults: list[str]) -> np.ndarray | None:
    rows = []
    for number, body in enumerate(_blocks("wp", text), 1):
        values = [float(v) for v in _NUMBER.findall(body[:500])]
        if len(values) not in (2, 3):
            faults.append(f"<wp> {number}: expected [x, y, theta], found {len(values)} numbers")
            return None
        if len(values) == 2:
            faults.append(f"<wp> {number}: theta is missing; taken from the path")
            values.append(float("nan"))
        rows.append(values)
    if not rows:
        faults.append("<wp>: expected waypoints, found none")
        return None
    return np.array(rows, float)


def _clean(words: str) -> str:
    """Printable single-spaced text; control characters become spaces."""
    printable = "".join(c if c.isprintable() else " " for c in words)
    return re.sub(r" +", " ", printable).strip()


# --- from an answer to a plan ---------------------------------------------------------------------

__all__ = ["CheckedResponse", "PlanFaultError", "check_response", "to_plan"]


def to_plan(answer: str | Response | PlanFaultError) -> tuple[str, Plan]:
    """The planner's words and its plan: (N, 3) x, y, theta, 0.25 s apart, in the ego frame at t0.

    Waypoints without times must be 24 at 0.25 s; with times, any rate is resampled, to the planner's own horizon of 2 s
    or more, and at most 6 s.

    Raises:
        PlanFaultError: it is one, or not an answer, no waypoints, a wrong number of them, not finite, out of range,
            or times that do not increase; names what was expected and found.
    """
    answer = check_response(answer)
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
    return answer.text, Plan(waypoints=rows, trace=parsed.trace, faults=tuple(faults[: LIMITS.remarks]))


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
    if np.abs(points[:, :2]).max() > LIMITS.range_m:
        raise PlanFaultError(
            f"waypoints: expected |x|, |y| <= {LIMITS.range_m:g} m, found {np.abs(points[:, :2]).max():.3g} m"
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
    steps = min(PLAN_STEPS, int(t[-1] / PLAN_DT + 1e-6))
    if steps < PLAN_LEAST_STEPS:
        raise PlanFaultError(
            f"t: expected a plan of {PLAN_LEAST_STEPS * PLAN_DT:g} s or more, found its last waypoint at {t[-1]:g} s; "
            "let the planner plan further"
        )
    try:
        return resample(t, headed, n=steps, max_extension_s=0.0)
    except CfgenError as error:
        raise PlanFaultError(str(error)) from error


def _with_heading(points: np.ndarray) -> np.ndarray:
    """Fill missing, non-finite or absurd theta with the direction of travel (kept while standing)."""
    theta = points[:, 2] if points.shape[1] == 3 else np.full(len(points), np.nan)
    steps = np.diff(points[:, :2], axis=0, prepend=np.zeros((1, 2)))
    travel = np.arctan2(steps[:, 1], steps[:, 0])
    last = 0.0
    filled = np.empty(len(points))
    for i, value in enumerate(theta):
        if not abs(value) <= LIMITS.heading_rad:
            value = travel[i] if np.hypot(*steps[i]) > 0.05 else last
        filled[i] = last = value
    return np.column_stack([points[:, :2], filled])
