"""Depth as a ControlNet is shown it, of what is known exactly: flat ground under the camera, and the hazard's box."""

import numpy as np

from cfgen.geometry.camera import centre, rotation, unproject
from cfgen.inpaint.diffusion.canvas import to_canvas
from cfgen.inpaint.protocol import InpaintRequest
from cfgen.records import Placement

#: Coverage from which on the guide's insert is the object itself.
_SOLID = 0.5


def depth_picture(request: InpaintRequest, size: tuple[int, int]) -> np.ndarray:
    """(H, W, 3) uint8 at ``size``: one over the depth, 255 at the crop's nearest, 0 at the horizon and above.

    The hazard is its box, cut out along what the guide drew where there is one. Other things in the crop are not
    known, and lie outside the mask.
    """
    near = 1 / depth(request)
    shown = np.rint(255 * near / max(float(near.max()), 1e-9)).astype(np.uint8)
    return to_canvas(np.repeat(shown[..., None], 3, axis=2), size)


def depth(request: InpaintRequest) -> np.ndarray:
    """(h, w) float: metres along the optical axis to the ground or the hazard's box, in the crop; inf for neither."""
    camera = request.camera
    height, width = request.mask.shape
    v, u = np.mgrid[:height, :width]
    rays, valid = unproject(camera, np.column_stack([u.ravel(), v.ravel()]))
    ahead = np.where(valid[:, None], rays, 0.0) @ rotation(camera)  # of the ego frame
    eye = centre(camera)
    with np.errstate(divide="ignore", invalid="ignore"):
        ground = np.where(ahead[:, 2] < 0, -eye[2] / ahead[:, 2], np.inf)
    along = ground
    if request.hazard.kind != "null":
        hit = _to_box(eye, ahead, request.placement)
        if request.guide_alpha is not None:
            hit = np.where(request.guide_alpha.ravel() > _SOLID, hit, np.inf)
        along = np.minimum(ground, hit)
    with np.errstate(invalid="ignore"):
        found = np.where(np.isfinite(along), along * rays[:, 2], np.inf)
    return np.where(valid & (found > 0), found, np.inf).reshape(height, width)


def _to_box(eye: np.ndarray, ahead: np.ndarray, placement: Placement) -> np.ndarray:
    """(N,) how far along rays from ``eye`` (3,) in directions ``ahead`` (N, 3) they enter the box; inf: never."""
    c, s = np.cos(placement.yaw), np.sin(placement.yaw)
    own = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    start = own @ (eye - np.array([placement.x, placement.y, 0.0]))
    steps = ahead @ own.T
    size = placement.size
    low = np.array([-size.length / 2, -size.width / 2, 0.0])
    high = np.array([size.length / 2, size.width / 2, size.height])
    with np.errstate(divide="ignore", invalid="ignore"):
        walls = np.stack([(low - start) / steps, (high - start) / steps])
    enter, leave = np.nanmax(walls.min(0), axis=1), np.nanmin(walls.max(0), axis=1)
    return np.where((enter <= leave) & (enter > 0), enter, np.inf)
