"""Polygons on the ground, as scenes tell their road."""

import cv2
import numpy as np
from numpy.typing import ArrayLike

from cfgen.geometry.lens import Array


def crossing_edges(polygon: ArrayLike) -> tuple[int, int] | None:
    """Two edges of a polygon (N, 2) that cross each other, by the numbers of their first points; None for no such two.

    Edges that touch or lie on each other do not cross: so a polygon may lead to an island and back.
    """
    points = np.asarray(polygon, float)
    ahead = np.roll(points, -1, 0)
    from_start = _side(points[:, None], ahead[:, None], points[None])
    from_end = _side(points[:, None], ahead[:, None], ahead[None])
    apart = from_start * from_end < 0  # the ends of edge j lie on either side of edge i
    pairs = np.argwhere(np.triu(apart & apart.T))
    return (int(pairs[0, 0]), int(pairs[0, 1])) if len(pairs) else None


def distance(polygon: ArrayLike) -> float:
    """How far a polygon (N, 2) m is from the origin, m; 0 inside."""
    points = np.asarray(polygon, np.float32)[:, None]
    return max(-float(cv2.pointPolygonTest(points, (0.0, 0.0), True)), 0.0)


def _side(a: Array, b: Array, c: Array) -> Array:
    """(N, N) on which side of the lines from ``a`` to ``b`` points ``c`` lie: left positive."""
    side: Array = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        c[..., 0] - a[..., 0]
    )
    return np.where(np.abs(side) < 1e-6, 0.0, side)
