"""From a planner's answer to a plan on the common grid, or to one line that says why not."""

import signal

import numpy as np

from cfgen.core.errors import CfgenError
from cfgen.geometry.trajectory import resample
from cfgen.planners.parser import parse
from cfgen.planners.protocol import Response
from cfgen.planners.response import CheckedResponse, PlanFaultError, check_response
from cfgen.records import PLAN_DT, PLAN_LEAST_STEPS, PLAN_STEPS, Failure, Plan

__all__ = ["CheckedResponse", "PlanFaultError", "check_response", "describe_exit", "to_plan"]

#: A car does not get farther than this in 6 s.
MAX_RANGE_M = 1000.0
#: rad: no car turns more often; more is none that was given, and taken from the path
MAX_HEADING = 1000.0
#: of a text, that a plan tells
MAX_FAULTS = 20


def describe_exit(code: int | None) -> tuple[str, Failure]:
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
    return answer.text, Plan(waypoints=rows, trace=parsed.trace, faults=tuple(faults[:MAX_FAULTS]))


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
        if not abs(value) <= MAX_HEADING:
            value = travel[i] if np.hypot(*steps[i]) > 0.05 else last
        filled[i] = last = value
    return np.column_stack([points[:, :2], filled])
