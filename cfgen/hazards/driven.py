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
#: Frames in a row in which one stands so near a standing hazard's place that it drove through it.
IN_A_ROW = 2
#: In one frame alone they meet where they overlap by more than its box is off, of its distance.
_SURELY = -0.02


def driven_through(
    scene: Scene,
    cameras: Mapping[float, Camera],
    views: Mapping[float, SceneView],
    placement: Placement,
    standing: Size,
) -> bool:
    """Whether a vehicle took up ground that it did, in any past frame; or, where it stands still, may have in two in a
    row.

    Args:
        cameras, views: of the front camera by past times; cameras in the ego frame at t0.
        standing: what of it takes up ground.
    """
    path = EgoPath.from_scene(scene, FAR_M)
    row = 0
    for t in sorted(views):
        then = placement.at(t)
        boxes = [thing.box for thing in views[t].things or () if thing.kind in VEHICLES]
        if any(_on_it(path, cameras[t], box, then, standing, _SURELY) for box in boxes):
            return True
        row = row + 1 if any(_on_it(path, cameras[t], box, then, standing, _ALONG) for box in boxes) else 0
        if row == IN_A_ROW and not (placement.vx or placement.vy):
            return True
    return False


def _on_it(
    path: EgoPath,
    camera: Camera,
    box: tuple[float, float, float, float],
    placement: Placement,
    standing: Size,
    slack: float,
) -> bool:
    """Whether a vehicle, by its box, px, takes up ground that the hazard does. Its near end is at the box's foot.

    ``slack``: by how much it may be off, of its distance.
    """
    foot, valid = ground_points(camera, [((box[0] + box[2]) / 2, box[3])])
    if not valid.all():
        return False
    (s, place), (y, beside) = path.locate(np.vstack([foot, [(placement.x, placement.y)]]))
    heading = float(path.at(np.array([place]), np.array([0.0]))[2][0])
    c, sn = abs(math.cos(placement.yaw - heading)), abs(math.sin(placement.yaw - heading))
    along = (c * standing.length + sn * standing.width) / 2
    across = (sn * standing.length + c * standing.width) / 2
    slack *= float(np.hypot(*(foot[0] - centre(camera)[:2])))
    length, width, _ = CAR_M
    return bool(
        abs(y - beside) < across + width / 2 - _ASIDE_M
        and place - along - length - slack < s < place + along + slack
    )
