"""Small operations on masks that the uses share."""

from functools import lru_cache

import cv2
import numpy as np

from cfgen.geometry.camera import horizon_rows
from cfgen.records import Camera


def disc(radius: float) -> np.ndarray:
    """A round kernel, uint8."""
    side = 2 * max(round(radius), 0) + 1
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))


def widened(mask: np.ndarray, radius: float) -> np.ndarray:
    """(H, W) bool: the mask (H, W) bool and all within ``radius`` pixels of it."""
    return cv2.dilate(mask.astype(np.uint8), disc(radius)) > 0


def polygon(shape: tuple[int, ...], points: np.ndarray) -> np.ndarray:
    """(H, W) bool: the convex hull of pixels (N, 2), which may lie outside the picture."""
    mask: np.ndarray = np.zeros(shape, np.uint8)
    if not len(points):
        return mask > 0
    limit = 8.0 * max(shape)
    hull = cv2.convexHull(np.clip(points, -limit, limit).round().astype(np.int32))
    cv2.fillConvexPoly(mask, hull, 1)
    return mask > 0


def touching(mask: np.ndarray, seed: np.ndarray) -> np.ndarray:
    """(H, W) bool: the connected parts of ``mask`` that share a pixel with ``seed``, both (H, W) bool."""
    _, labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    touches = np.zeros(labels.max() + 1, bool)
    touches[labels[mask & seed]] = True
    touches[0] = False
    parts: np.ndarray = touches[labels]
    return parts


def box_around(mask: np.ndarray) -> tuple[float, float, float, float]:
    """x0, y0, x1, y1 of what is set in a mask (H, W) bool; all 0 when nothing is."""
    x, y, w, h = cv2.boundingRect(mask.astype(np.uint8))
    return float(x), float(y), float(x + w), float(y + h)


def iou(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Intersection over union of two boxes x0, y0, x1, y1."""
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    shared = max(width, 0.0) * max(height, 0.0)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    return shared / union if union > 0 else 0.0


def share_above_horizon(mask: np.ndarray, camera: Camera) -> float:
    """Share of what is set in a mask (H, W) bool that lies above the horizon; 0 when nothing is set."""
    return float(_sky(camera)[mask].mean()) if mask.any() else 0.0


@lru_cache(maxsize=16)
def _sky(camera: Camera) -> np.ndarray:
    """(H, W) bool: above the horizon."""
    horizon = np.nan_to_num(horizon_rows(camera, np.arange(camera.width)), nan=-1.0)
    above: np.ndarray = np.arange(camera.height)[:, None] < horizon
    return above
