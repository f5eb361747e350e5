"""Lane lines as a network would see them, painted from a camera of known mounting."""

import cv2
import numpy as np

from cfgen.geometry.camera import project, resized
from cfgen.records import Camera

#: Left and right line of the own lane and one more to the left, m to the left of the camera.
LINES = (5.35, 1.85, -1.65)
NEAR_M, FAR_M = 5.0, 90.0


def paint(
    camera: Camera,
    size: tuple[int, int] = (640, 360),
    lines: tuple[float, ...] = LINES,
    curvature: float = 0.0,
    dashed: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """(road, lanes), (h, w) bool each, of lines that bend alike, 1/m, on a grid of width x height ``size``."""
    grid = resized(camera, *size)
    x = np.geomspace(NEAR_M, FAR_M, 400)
    bend = curvature * x**2 / 2
    road, lanes = np.zeros(size[::-1], np.uint8), np.zeros(size[::-1], np.uint8)
    edges = [
        _pixels(grid, x, y + bend) for y in (max(lines, default=2.0) + 0.5, min(lines, default=-2.0) - 0.5)
    ]
    cv2.fillPoly(road, [np.rint(np.vstack([edges[0], edges[1][::-1]]) * 16).astype(np.int32)], 1, shift=4)
    thick = max(1, round(size[0] / 200))
    for y in lines:
        px = _pixels(grid, x, y + bend)
        parts = [px[i : i + 24] for i in range(0, len(px), 40)] if dashed else [px]
        for part in parts:
            cv2.polylines(lanes, [np.rint(part * 16).astype(np.int32)], False, 1, thick, shift=4)
    return road > 0, lanes > 0


def _pixels(grid: Camera, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    px, valid = project(grid, np.column_stack([x, y, np.zeros_like(x)]))
    return px[valid & (np.abs(px) < 4000).all(1)]
