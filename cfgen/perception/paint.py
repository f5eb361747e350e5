"""Whether a lane's line is dashed, by the picture itself: networks fill the gaps of dashes."""

import cv2
import numpy as np

from cfgen.geometry.camera import inside, project
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.records import Camera

#: Where a line is looked at: from and to, m along the path, and to either side of where it is expected; steps.
_NEAR_M, _FAR_M, _SIDE_M, _STEP_S, _STEP_Y = 6.0, 32.0, 0.8, 0.25, 0.05
#: Steps across that a line is wide, and to the middle of the bare road on either side of it.
_WIDE, _FLANK = 3, 7
#: Paint is this much brighter (log) than the road on both its sides; it strays this far from row to row, steps.
_BRIGHTER, _STRAY = 0.1, 4
#: A line is told of over this much of its length, m; and is dashed where at most this share of it is painted.
_LEAST_M, _SOLID = 10.0, 0.65
#: Paint that is left out for less than this is worn or shaded, m; a gap between two dashes is longer.
_GAP_M = 1.5


def painted(image: np.ndarray, camera: Camera, path: EgoPath, beside: float) -> np.ndarray:
    """(N,) bool: where a line is painted, near to far in steps of 0.25 m; empty where too little of it is in view.

    Args:
        image: (H, W, 3) uint8 RGB. beside: where the line is, m to the left of the path.
    """
    s = np.arange(_NEAR_M, _FAR_M, _STEP_S)
    y = beside + np.arange(-_SIDE_M, _SIDE_M, _STEP_Y)
    at_x, at_y, _ = path.at(np.repeat(s, len(y)), np.tile(y, len(s)))
    px, valid = project(camera, np.column_stack([at_x, at_y, np.zeros_like(at_x)]))
    seen = (valid & inside(camera, px, 2)).reshape(len(s), len(y)).all(1)
    if seen.sum() * _STEP_S < _LEAST_M:
        return np.zeros(0, bool)
    grid = np.where(np.isfinite(px), px, -1).astype(np.float32).reshape(len(s), len(y), 2)[seen]
    bright = cv2.remap(
        image[..., 0], grid[..., 0], grid[..., 1], cv2.INTER_LINEAR
    )  # red: yellow paint is bright, too
    ridge = _ridge(np.log(bright.astype(np.float64) + 8))
    # the line is where paint shows along the most rows; it may bend off the path
    where = np.argmax(ridge, 1)
    middle = np.median(where[ridge.max(1) > _BRIGHTER]) if (ridge.max(1) > _BRIGHTER).any() else 0
    drift = np.polynomial.Polynomial.fit(
        np.arange(len(where)), where, 2, w=np.clip(ridge.max(1), 0, None) + 1e-6
    )
    expected = drift(np.arange(len(where))) if np.ptp(where) else np.full(len(where), middle)
    near = np.abs(np.arange(ridge.shape[1]) - expected[:, None]) <= _STRAY
    return np.asarray(np.where(near, ridge, -np.inf).max(1) > _BRIGHTER)


def is_dashed(image: np.ndarray, camera: Camera, path: EgoPath, beside: float) -> bool:
    """Whether the line ``beside`` the path shows dashes, with a gap between two at least; False where that cannot be
    told."""
    paint = painted(image, camera, path, beside)
    if not paint.any() or paint.mean() >= _SOLID:
        return False
    steps = np.diff(np.flatnonzero(paint))
    return bool((steps * _STEP_S > _GAP_M).any())


def _ridge(rows: Array) -> Array:
    """How much brighter each point of each row is than both its flanks."""
    smooth = cv2.blur(rows, (_WIDE, 1))
    left, right = np.roll(smooth, _FLANK, 1), np.roll(smooth, -_FLANK, 1)
    ridge = smooth - np.maximum(left, right)
    ridge[:, :_FLANK] = ridge[:, -_FLANK:] = 0.0
    return np.asarray(ridge)
