"""Whether a vehicle that a detector saw stood where the hazard was in the 2 s before t0."""

import math
from collections.abc import Mapping

import numpy as np

from cfgen.geometry.camera import centre, ground_points
from cfgen.geometry.path import EgoPath
from cfgen.perception.clear_ground import FAR_M
from cfgen.perception.vehicle_sizes import CAR_M
from cfgen.perception.view import SceneView
from cfgen.records import Camera, Placement, Scene, Size

#: What drives on a lane.
VEHICLES = frozenset(("car", "truck", "bus"))
#: By how much a vehicle's foot is off: of its distance, as bumps and pitch have it; and to the side, m, which a vehicle
#: may also pass by.
_ALONG, _ASIDE_M = 0.06, 0.4
#: What is less than so far beyond it, m, has just driven off it.
_JUST_OFF_M = 4.0
#: A vehicle ahead drives as fast as the own car: where there is no past frame, it was where it drove so long before, s.
_BEFORE_S = 2.0


def driven_through(
    scene: Scene,
    cameras: Mapping[float, Camera],
    views: Mapping[float, SceneView],
    placement: Placement,
    standing: Size,
) -> bool:
    """Whether a vehicle took up ground that it did in any past frame, or had just left it; what crosses may follow it.

    Args:
        cameras, views: of the front camera by past times; cameras in the ego frame at t0.
        standing: what of it takes up ground.
    """
    path = EgoPath.from_scene(scene, FAR_M)
    return any(
        thing.kind in VEHICLES and _on_it(path, cameras[t], thing.box, placement.at(t), standing, _JUST_OFF_M)
        for t, view in views.items()
        for thing in view.things or ()
    )


def just_driven_through(scene: Scene, now: SceneView, placement: Placement, standing: Size) -> bool:
    """Whether a vehicle beyond something that stands in its lane must have driven through it in the last 2 s, by t0
    alone: for scenes without past frames."""
    if placement.vx or placement.vy or not scene.speed:
        return False
    path, off = EgoPath.from_scene(scene, FAR_M), max(_BEFORE_S * scene.speed, _JUST_OFF_M)
    return any(
        thing.kind in VEHICLES and _on_it(path, scene.front, thing.box, placement, standing, off)
        for thing in now.things or ()
    )


def _on_it(
    path: EgoPath,
    camera: Camera,
    box: tuple[float, float, float, float],
    placement: Placement,
    standing: Size,
    just_off_m: float,
) -> bool:
    """Whether a vehicle, by its box, px, takes up ground that the hazard does, or did until just before: is at most
    ``just_off_m`` beyond. At the box's foot is its near end."""
    foot, valid = ground_points(camera, [((box[0] + box[2]) / 2, box[3])])
    if not valid.all():
        return False
    (s, place), (y, beside) = path.locate(np.vstack([foot, [(placement.x, placement.y)]]))
    heading = float(path.at(np.array([place]), np.array([0.0]))[2][0])
    c, sn = abs(math.cos(placement.yaw - heading)), abs(math.sin(placement.yaw - heading))
    along = (c * standing.length + sn * standing.width) / 2
    across = (sn * standing.length + c * standing.width) / 2
    off = max(_ALONG * float(np.hypot(*(foot[0] - centre(camera)[:2]))), just_off_m)
    turned = math.atan2(placement.vy, placement.vx) - heading
    beyond = (
        off if abs(math.sin(turned)) < abs(math.cos(turned)) or not (placement.vx or placement.vy) else 0.0
    )
    length, width, _ = CAR_M
    return bool(
        abs(y - beside) < across + width / 2 - _ASIDE_M
        and place - along - length < s < place + along + beyond
    )
