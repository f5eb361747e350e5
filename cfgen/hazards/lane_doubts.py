"""Where the lanes in view speak against a place that the camera and the path allow."""

from cfgen.hazards.zones import LANE_WIDTH_M
from cfgen.perception.lanes import LanesSeen
from cfgen.perception.vehicle_sizes import CAR_M
from cfgen.records import Scene

#: A car fills at most this share of its lane: where the lane measures narrower, all things are drawn too large.
MOST_OF_LANE = 0.72
TOO_LARGE = "where a car would be drawn too large for its lane"
BENDS_AWAY = "where the lines leave the way that was guessed"
#: Lines that leave it there may be a little short, m.
_SLACK_M = 1.0


def lane_doubt(scene: Scene, seen: LanesSeen | None, s: float) -> str:
    """What the lanes in view say against a place ``s`` m along the path; "" for nothing."""
    if drawn_too_large(scene, seen, s):
        return TOO_LARGE
    # where the motion is known, so is the way
    ends = None if seen is None or scene.motion_known else seen.bends_at
    return BENDS_AWAY if ends is not None and s > ends + _SLACK_M else ""


def drawn_too_large(scene: Scene, seen: LanesSeen | None, s: float) -> bool:
    """Whether the own lane's lines lie so near to each other at ``s``, m along the path, that a car would fill it."""
    width = seen.width_at(s) if seen is not None else None
    told = float(scene.extra.get("lane_width_m", LANE_WIDTH_M)) / LANE_WIDTH_M
    return width is not None and width * MOST_OF_LANE < CAR_M[1] * min(told, 1.0)
