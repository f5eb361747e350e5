"""Where the lanes in view speak against a place that the camera and the path allow."""

import math

from cfgen.geometry.camera import centre
from cfgen.hazards.zones import LANE_WIDTH_M
from cfgen.perception.camera import CAR_M
from cfgen.perception.lanes import LanesSeen
from cfgen.perception.scene_camera import curves_up
from cfgen.records import Scene

#: A car fills at most this share of its lane: where the lane measures narrower, all things are drawn too large.
MOST_OF_LANE = 0.72
TOO_LARGE = "where a car would be drawn too large for its lane"
BENDS_AWAY = "where the lines leave the way that was guessed"
HILL = "farther than the road is level"
#: Things may be drawn in another size by this share, as far as the road's rise and fall over the last metres goes on.
_MOST_OFF = 0.3
#: A road that curves less than this, 1/m, is flat.
_FLAT = 1e-6
#: Lines that leave it there may be a little short, m.
_SLACK_M = 1.0


def lane_conflict(scene: Scene, lanes: LanesSeen | None, s: float) -> str:
    """What the lanes in view say against a place ``s`` m along the path; "" for nothing."""
    if drawn_too_large(scene, lanes, s):
        return TOO_LARGE
    if s > level_to_m(scene):
        return HILL
    # where the motion is known, so is the way
    ends = None if lanes is None or scene.motion_known else lanes.bends_at
    return BENDS_AWAY if ends is not None and s > ends + _SLACK_M else ""


def level_to_m(scene: Scene) -> float:
    """How far ahead the road is level enough, m, by how the car pitched on its way here; infinite where nothing tells.

    A road that curves up or down by k, 1/m, lies k s^2 / 2 off the plane under the car: a share of the camera's height
    by which what stands there is drawn too small or too large.
    """
    curved = abs(curves_up(scene, scene.seen_cameras))
    return math.sqrt(2 * _MOST_OFF * float(centre(scene.front)[2]) / curved) if curved > _FLAT else math.inf


def drawn_too_large(scene: Scene, lanes: LanesSeen | None, s: float) -> bool:
    """Whether the own lane's lines lie so near to each other at ``s``, m along the path, that a car would fill it."""
    width = lanes.width_at(s) if lanes is not None else None
    width_ratio = float(scene.extra.get("lane_width_m", LANE_WIDTH_M)) / LANE_WIDTH_M
    return width is not None and width * MOST_OF_LANE < CAR_M[1] * min(width_ratio, 1.0)
