"""Real things that stand nearer to the camera than a hazard and hide some of it."""

import math
from collections.abc import Iterator

import cv2
import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import centre, ground_points, project
from cfgen.perception.detection import Prompt, Segmenter
from cfgen.perception.mask_shapes import box_around, polygon, share_above_horizon
from cfgen.records import Camera, Placement

#: Points asked about at most.
ASKED = 32
#: Something stands nearer when it meets the ground this much nearer: metres, and share of the distance.
NEARER_M, NEARER_SHARE = 0.3, 0.04
#: A gap no wider than this between two places where a thing meets the ground is bridged, m: between the wheels.
GAP_M = 3.2
#: From its nearest to its farthest foot a single object, such as a car, is no deeper than this, m.
COMPACT_M = 7.0
#: What fills more of the frame than this is no single thing.
MOST = 0.5
#: A segment of which more is plain ground is a marking or a shadow, unless more than _TALL of it is above the horizon.
FLAT, _TALL = 0.5, 0.03


def nearer_things(
    segmenter: Segmenter,
    image: np.ndarray,
    camera: Camera,
    placement: Placement,
    clear_road: np.ndarray | None = None,
    driven: np.ndarray | None = None,
    where: np.ndarray | None = None,
) -> np.ndarray:
    """(H, W) bool: pixels of things that stand nearer than the hazard, among those that reach into ``where``.

    A segment is taken to stand where its lowest pixels meet the ground; what hangs in the air unsupported counts as
    behind.

    Args:
        image: (H, W, 3) uint8 RGB, the original frame. camera: for the frame in which the placement stands.
        plain: (H, W) bool, what looks like plain ground; None where that is not known.
        driven: (H, W) bool, the ground segment that the car drives on, which is no thing.
        where: (H, W) bool, the pixels that matter; None for the hazard's box.
    """
    hidden = np.zeros(image.shape[:2], bool)
    corners = box_corners(placement.x, placement.y, placement.yaw, placement.size)[0]
    px, valid = project(camera, corners)
    if not valid.all():
        return hidden
    where = polygon(hidden.shape, px) if where is None else where
    eye = centre(camera)[:2]
    away = float(np.hypot(*(corners[:4, :2] - eye).T).min())
    limit = away - max(NEARER_M, NEARER_SHARE * away)
    for mask in _segments(segmenter, image, where if driven is None else where & ~driven):
        if not _is_flat(mask, camera, clear_road):
            hidden |= mask & _stands_within(mask, camera, limit)
    return hidden


def share_hidden(hidden: np.ndarray, camera: Camera, placement: Placement) -> float:
    """Share of the hazard's box in the frame that lies in ``hidden`` (H, W) bool."""
    px, valid = project(camera, box_corners(placement.x, placement.y, placement.yaw, placement.size)[0])
    box = polygon(hidden.shape, px) if valid.all() else np.zeros_like(hidden)
    return float(hidden[box].mean()) if box.any() else 0.0


def _segments(segmenter: Segmenter, image: np.ndarray, where: np.ndarray) -> Iterator[np.ndarray]:
    """Every confident segment in ``where`` (H, W) bool, each asked for in the middle of what is not known yet."""
    if not where.any():
        return
    x0, y0, x1, y1 = (int(v) for v in box_around(where))
    open_ = where[y0:y1, x0:x1].astype(np.uint8)
    radius = max(1, round(0.7 * math.sqrt(int(open_.sum()) / ASKED)))
    for _ in range(ASKED):
        depth = cv2.distanceTransform(np.pad(open_, 1), cv2.DIST_L2, 3)[1:-1, 1:-1]
        if depth.max() < 1.5:
            return
        v, u = np.unravel_index(int(depth.argmax()), depth.shape)
        cv2.circle(open_, (int(u), int(v)), radius, 0, -1)
        at = (float(u + x0), float(v + y0))
        for segment in segmenter.segment(image, [Prompt(inside=(at,))])[0]:
            if segment.score >= segmenter.min_score and segment.mask.mean() <= MOST:
                open_[segment.mask[y0:y1, x0:x1]] = 0
                yield segment.mask


def _is_flat(mask: np.ndarray, camera: Camera, clear_road: np.ndarray | None) -> bool:
    """Whether a segment lies on the ground; where that is not known, all does that stays below the horizon."""
    if share_above_horizon(mask, camera) > _TALL:
        return False
    return clear_road is None or not mask.any() or float(clear_road[mask].mean()) > FLAT


def _stands_within(mask: np.ndarray, camera: Camera, limit: float) -> np.ndarray:
    """(W,) bool: columns in which the segment (H, W) bool meets the ground within ``limit`` metres of the camera.

    A thing no deeper than COMPACT_M is nearer or not as a whole. Of a longer one, such as a wall that recedes, each
    column counts for itself, but a gap between two lower parts stands where they do.
    """
    cols = np.flatnonzero(mask.any(0))
    lowest = np.full(mask.shape[1], -1.0)
    lowest[cols] = mask.shape[0] - 1 - mask[::-1, cols].argmax(0)
    near = np.zeros(mask.shape[1], bool)
    if not len(cols):
        return near
    middle, in_view = ground_points(camera, [(float(np.median(cols)), float(lowest.max()) + 0.5)])
    if not in_view[0]:
        return near
    gap = min(GAP_M * _pixels_per_metre(camera, middle[0]), 2.0 * mask.shape[1])
    from scipy.ndimage import grey_closing  # slow to import

    lowest = grey_closing(lowest, size=max(3, round(gap)), mode="constant", cval=-1.0)
    places, valid = ground_points(camera, np.column_stack([cols, lowest[cols] + 0.5]))
    if not valid.any():
        return near
    away = np.hypot(*(places - centre(camera)[:2]).T)
    first, last = np.percentile(away[valid], (10, 90))
    near[cols] = first < limit if last - first <= COMPACT_M else valid & (away < limit)
    return near


def _pixels_per_metre(camera: Camera, place: np.ndarray) -> float:
    """Across the line of sight, at a place (2,) on the ground."""
    sight = place - centre(camera)[:2]
    across = np.array([-sight[1], sight[0]]) / max(float(np.hypot(*sight)), 1e-6)
    ends, valid = project(camera, [(*(place - across / 2), 0.0), (*(place + across / 2), 0.0)])
    return float(np.hypot(*(ends[1] - ends[0]))) if valid.all() else 0.0
