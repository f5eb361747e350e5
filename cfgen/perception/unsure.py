"""Whether a network that sees road is sure enough of a scene to place things by it, or whether colours have to help."""

import numpy as np

from cfgen.geometry.camera import project
from cfgen.geometry.path import EgoPath
from cfgen.perception.view import SceneView
from cfgen.records import Camera

#: The car's path from and to, m ahead, and to either side of it: hazards stand there.
NEAR_M, FAR_M, HALF_M = 6.0, 45.0, 1.2
#: Of what is likely road there, this share must be sure.
SURE = 0.75
#: Less likely road than this share of the path in view: something stands there, or there is no road. That is sure.
_LEAST = 0.1


def sure_share(view: SceneView, camera: Camera, path: EgoPath) -> float:
    """Share of the likely road on the car's path that is sure road; 1.0 where there is next to none.

    Args:
        view: of the front frame at t0. camera, path: in the ego frame at t0.
    """
    s, lateral = np.meshgrid(np.arange(NEAR_M, FAR_M), np.linspace(-HALF_M, HALF_M, 5))
    x, y, _ = path.at(s.ravel(), lateral.ravel())
    px, valid = project(camera, np.column_stack([x, y, np.zeros_like(x)]))
    px = px[valid]
    seen = ((px >= 0) & (px < (camera.width, camera.height))).all(1)
    likely = view.is_likely_road(px[seen])
    if likely.sum() <= _LEAST * max(int(seen.sum()), 1):
        return 1.0
    return float(view.is_road(px[seen])[likely].mean())
