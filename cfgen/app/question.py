"""One answer as a rater sees it: frames, what was said and planned, both plans in metres."""

from typing import Any

import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.trajectory import speeds
from cfgen.records import PLAN_DT, Case, Placement, Rollout, Trace
from cfgen.render.delta import delta_table
from cfgen.render.panel import spoken

#: m; the ego's body around its rear axle as the plots draw it: rear, front, half width
EGO_M = (-1.0, 3.8, 0.95)


def plans(before: Rollout, after: Rollout) -> dict[str, Any]:
    """Both plans in metres, their speeds in km/h, and the table of differences; nothing where one has no plan."""
    if before.plan is None or after.plan is None:
        return {}
    points = [np.array(r.plan.waypoints) for r in (before, after) if r.plan]
    return {
        "plans": [np.round(p, 2).tolist() for p in points],
        "speeds": [np.round(3.6 * speeds(p), 1).tolist() for p in points],
        "dt": PLAN_DT,
        "ego": EGO_M,
        "delta": delta_table(*points),
    }


def read(rollout: Rollout) -> dict[str, str]:
    """What was said, what was then planned, and the text as it came; ``said`` is all of it where nothing was parsed."""
    trace = rollout.plan.trace if rollout.plan else Trace()
    raw = spoken(rollout.text) or rollout.reason
    action = ", ".join(part for part in (trace.longitudinal, trace.lateral) if part)
    told = bool(trace.scene or trace.justification)
    return {
        "said": trace.scene or trace.justification or raw,
        "why": trace.justification if trace.scene else "",
        "planned": action,
        "raw": raw if told else "",
    }


def footprint(case: Case, arm: str) -> list[list[float]]:
    """Corners (4, 2) in m, ego frame, of what the frame of ``arm`` shows that the original does not; [] for nothing."""
    placement: Placement | None = None
    if arm == "hazard":
        placement = case.placement
    elif arm == "nuisance":
        placement = case.nuisance_placement
    elif arm in case.distance_placements:
        placement = case.distance_placements[arm]
    if placement is None:
        return []
    corners = box_corners(placement.x, placement.y, placement.yaw, placement.size)[0]
    found: list[list[float]] = np.round(corners[:4, :2], 2).tolist()
    return found
