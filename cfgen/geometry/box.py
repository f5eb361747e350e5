"""The box around an object that stands on the ground, and where a camera sees it."""

import numpy as np
from numpy.typing import ArrayLike

from cfgen.geometry.camera import project
from cfgen.geometry.lens import Array, Mask
from cfgen.records import Camera, Size

#: Corners in units of half length, half width and height: the four on the ground first.
_UNIT = np.array([(a, b, c) for c in (0, 1) for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))], float)


def box_corners(x: ArrayLike, y: ArrayLike, yaw: ArrayLike, size: Size) -> Array:
    """(N, 8, 3) ego-frame corners of N boxes at ``x``, ``y``, ``yaw`` (N,), the four on the ground first."""
    x, y, yaw = (np.asarray(v, float).reshape(-1, 1) for v in (x, y, yaw))
    along, left, up = (_UNIT * (size.length / 2, size.width / 2, size.height)).T
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack(
        [x + c * along - s * left, y + s * along + c * left, np.broadcast_to(up, (len(x), 8))], -1
    )


def boxes_px(camera: Camera, corners: Array) -> tuple[Array, Mask]:
    """(N, 4) x0, y0, x1, y1 around N boxes (N, 8, 3) in pixels, not clipped; validity (N,): every corner projects."""
    px, valid = project(camera, corners.reshape(-1, 3))
    px = px.reshape(-1, 8, 2)
    return np.concatenate([px.min(1), px.max(1)], 1), np.all(valid.reshape(-1, 8), axis=1)


def clip_boxes(camera: Camera, boxes: Array) -> Array:
    """(N, 4) boxes clipped to the frame."""
    limit = np.array([camera.width, camera.height] * 2, float)
    return np.clip(boxes, 0, limit)


def areas(boxes: Array) -> Array:
    """(N,) px^2 of boxes (N, 4)."""
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
