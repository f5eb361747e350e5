"""Which vehicle that a detector saw stood where the hazard was in the 2 s before t0."""

import math
from collections.abc import Mapping

import numpy as np

from cfgen.geometry.box import box_corners, boxes_px
from cfgen.geometry.camera import centre, ground_points, project
from cfgen.geometry.path import EgoPath
from cfgen.hazards.spoiled import LEFT, STOOD, HistoryInconsistency
from cfgen.hazards.stood import ALONG, rows_off
from cfgen.perception.camera import CAR_M
from cfgen.perception.clear_ground import FAR_M
from cfgen.perception.view import BoxPx, SceneView
from cfgen.records import Camera, Placement, Scene, Size

#: What drives on a lane.
VEHICLES = frozenset(("car", "truck", "bus"))
#: By how much a vehicle's foot may be off to the side, m, which a vehicle may also pass by.
_ASIDE_M = 0.4
#: Who stands there, this high and at most this wide, m, is not driven past by less than this, m.
_PERSON, _PASSED_BY_M = (0.9, 1.2), 0.4
#: Where the motion is a guess, the way ahead is off by this angle, rad.
_GUESSED = 0.05
#: Of a vehicle farther than this, m, which overlaps what is drawn by this share of its width, it counts whether their
#: feet differ by more rows than poses are off.
_FAR_OFF_M, _OVERLAP = 50.0, 0.1
#: What is less than so far beyond it, m, has just driven off it.
JUST_OFF_M = 4.0
#: A vehicle ahead drives as fast as the own car: where there is no past frame, it was where it drove so long before, s.
_BEFORE_S = 2.0


def vehicle_conflict(
    scene: Scene,
    cameras: Mapping[float, Camera],
    views: Mapping[float, SceneView],
    placement: Placement,
    standing: Size,
) -> HistoryInconsistency | None:
    """Which vehicle took up ground that it did in any past frame, or had just left it; what crosses may follow it.

    Args:
        cameras, views: of the front camera by past times; cameras in the ego frame at t0.
        standing: what of it takes up ground.
    """
    path = EgoPath.from_scene(scene, FAR_M)
    for t, view in views.items():
        for thing in view.things or ():
            if thing.kind not in VEHICLES:
                continue
            if rule := _on_it(path, cameras[t], thing.box, placement.at(t), standing, JUST_OFF_M):
                return HistoryInconsistency(rule, t, placement.distance_m)
    return None


def vehicle_conflict_at_t0(
    scene: Scene, view: SceneView, placement: Placement, standing: Size
) -> HistoryInconsistency | None:
    """Which vehicle beyond something that stands in its lane must have driven through it in the last 2 s, by t0
    alone: for scenes without past frames."""
    if placement.vx or placement.vy or not scene.speed:
        return None
    path, off = EgoPath.from_scene(scene, FAR_M), max(_BEFORE_S * scene.speed, JUST_OFF_M)
    turned = 0.0 if scene.motion_known else _GUESSED
    for thing in view.things or ():
        if thing.kind in VEHICLES and (
            rule := _on_it(path, scene.front, thing.box, placement, standing, off, turned)
        ):
            return HistoryInconsistency(rule, 0.0, placement.distance_m)
    return None


def goes_across(placement: Placement, heading: float = 0.0) -> bool:
    """Whether it moves rather across a road of that ``heading``, rad, than along it."""
    turned = math.atan2(placement.vy, placement.vx) - heading
    return bool(placement.vx or placement.vy) and abs(math.sin(turned)) >= abs(math.cos(turned))


def _on_it(
    path: EgoPath,
    camera: Camera,
    box: BoxPx,
    placement: Placement,
    standing: Size,
    just_off_m: float,
    turned: float = 0.0,
) -> str:
    """The rule by which a vehicle, by its box, px, refuses it: takes up ground that it does, or did until just before
    and is at most ``just_off_m`` beyond; or "". At the box's foot is its near end. The way from one to the other may be
    ``turned``, rad."""
    foot, valid = ground_points(camera, [((box[0] + box[2]) / 2, box[3])])
    if not valid.all():
        return ""
    (s, place), (y, lateral) = path.locate(np.vstack([foot, [(placement.x, placement.y)]]))
    heading = float(path.at(np.array([place]), np.array([0.0]))[2][0])
    c, sn = abs(math.cos(placement.yaw - heading)), abs(math.sin(placement.yaw - heading))
    along = (c * standing.length + sn * standing.width) / 2
    across = (sn * standing.length + c * standing.width) / 2
    away = float(np.hypot(*(foot[0] - centre(camera)[:2])))
    beyond = 0.0 if goes_across(placement, heading) else max(ALONG * away, just_off_m)
    length, width, _ = CAR_M
    upright = standing.height > _PERSON[0] and max(standing.length, standing.width) < _PERSON[1]
    room = _PASSED_BY_M if upright else -_ASIDE_M
    if (
        abs(y - lateral) < across + width / 2 + room + turned * abs(s - place)
        and place - along - length < s < place + along + beyond
    ):
        return STOOD if s < place + along else LEFT
    return STOOD if away > _FAR_OFF_M and _as_far(camera, box, placement) else ""


def _as_far(camera: Camera, box: BoxPx, placement: Placement) -> bool:
    """Whether a far vehicle's box and what is drawn overlap, their feet on the same row as far as anybody can tell:
    which of both is nearer is not known."""
    corners = box_corners(placement.x, placement.y, placement.yaw, placement.size)
    [hazard_box], in_view = boxes_px(camera, corners)
    px, valid = project(camera, corners[0, :4])
    if not (in_view.all() and valid.all()):
        return False
    rows = rows_off(camera, (box[2] - box[0]) / CAR_M[1])
    shared = min(box[2], hazard_box[2]) - max(box[0], hazard_box[0])
    return bool(shared > _OVERLAP * (box[2] - box[0]) and abs(px[:, 1].mean() - box[3]) < rows)
