"""Carry the layer that an inpainter produced at t0 to other frames, by the hazard's pose in the world.

The layer becomes a board that stands on the ground at the hazard's place and faces each camera: its foot goes
through the camera, its scale follows the distance.
"""

import math
from typing import Any

import cv2
import numpy as np

from cfgen.core.errors import InpaintRefusedError
from cfgen.geometry.camera import centre, project
from cfgen.inpaint.region import View
from cfgen.records import Camera, Placement


def board(camera: Camera, placement: Placement) -> np.ndarray:
    """(3, 3) homography from metres on the board (right, up; origin at the foot) to pixels.

    The board stands upright through the hazard's foot, square to the line of sight.

    Raises:
        InpaintRefusedError: the camera does not see all of it: it is above the foot, or the board reaches behind it.
    """
    foot = np.array([placement.x, placement.y, 0.0])
    sight = foot[:2] - centre(camera)[:2]
    sight /= max(float(np.hypot(*sight)), 1e-9)
    right = np.array([sight[1], -sight[0], 0.0])
    half = max(placement.size.length, placement.size.width) / 2
    square = np.array([(-half, 0), (half, 0), (half, 1), (-half, 1)]) * (1, placement.size.height)
    points = foot + square[:, :1] * right + square[:, 1:] * np.array([0.0, 0.0, 1.0])
    px, valid = project(camera, points)
    matrix = homography(square, px) if valid.all() else None
    if matrix is None:
        raise InpaintRefusedError(
            f"the hazard at x = {placement.x:.1f} m is not wholly in front of camera '{camera.name}'"
        )
    return matrix


def carry(layer: np.ndarray, source: View, target: View) -> np.ndarray:
    """The layer (h, w, 4) uint8 of ``source``'s crop as it looks in ``target``'s crop: (H, W, 4) uint8, straight."""
    home = board(source.crop_camera, source.placement)
    away = board(target.crop_camera, target.placement)
    warp = away @ np.linalg.inv(home)
    flat: Any = layer.astype(np.float32)
    flat[..., :3] *= flat[..., 3:] / 255
    x0, y0 = source.crop[:2]
    u, v = source.placement.foot_px
    shrink = magnification(warp, (u - x0, v - y0))
    if shrink < 1:  # what shrinks to less than a pixel is one mean
        shrink = max(shrink, 1 / max(layer.shape))
        flat = cv2.GaussianBlur(flat, (0, 0), 0.5 * math.sqrt(max(1 / shrink**2 - 1, 1e-4)))
    x0, y0, x1, y1 = target.crop
    warped: Any = cv2.warpPerspective(flat, warp, (x1 - x0, y1 - y0), flags=cv2.INTER_LINEAR)
    alpha = warped[..., 3:]
    warped[..., :3] *= 255 / np.maximum(alpha, 1e-3)
    return np.clip(np.rint(warped * (alpha >= 0.5)), 0, 255).astype(np.uint8)


def homography(flat: np.ndarray, px: np.ndarray) -> np.ndarray | None:
    """(3, 3) that takes four points (4, 2) of a plane to pixels (4, 2); None where they fall on one line or point."""
    if not np.isfinite(px).all():
        return None
    matrix = cv2.getPerspectiveTransform(flat.astype(np.float32), px.astype(np.float32))
    return matrix if np.linalg.matrix_rank(matrix) == 3 else None


def magnification(warp: np.ndarray, at: tuple[float, float]) -> float:
    """Linear magnification of a homography (3, 3) about a pixel."""
    u, v = at
    around = np.array([(u, v, 1), (u + 1, v, 1), (u, v + 1, 1)]) @ warp.T
    p, q, r = around[:, :2] / around[:, 2:]
    return math.sqrt(abs(float((q - p)[0] * (r - p)[1] - (q - p)[1] * (r - p)[0])))
