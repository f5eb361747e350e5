"""The ground that the car drives on, as a segmenter sees it, and whether a hazard stands on it."""

import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import inside, project
from cfgen.geometry.path import EgoPath
from cfgen.perception.detection import Prompt, Segmenter
from cfgen.perception.mask_shapes import polygon, share_above_horizon
from cfgen.records import Camera, Placement, Size

#: Ground that shows what is driven on: m along the path.
AHEAD_M = (7.0, 9.0, 12.0)
#: Share of the points ahead that one segment must hold to be the ground ahead.
HOLDS = 0.6
#: Ground is at least this share of the frame, and no more than the other: the whole picture is no ground.
SHARES = (0.02, 0.7)
#: Ground does not rise above the horizon by more than this share of itself; the car ahead does.
RISES = 0.02


def ground_ahead(
    segmenter: Segmenter, image: np.ndarray, camera: Camera, path: EgoPath
) -> tuple[np.ndarray | None, np.ndarray]:
    """The ground segment (H, W) bool just ahead of the car, None when none is found with confidence.

    Also the pixels (N, 2) asked about. ``image`` (H, W, 3) uint8 RGB is the original frame.
    """
    x, y, _ = path.at(np.array(AHEAD_M))
    points, valid = project(camera, np.column_stack([x, y, np.zeros_like(x)]))
    points = points[valid & inside(camera, points, 2)]
    if not len(points):
        return None, points
    return _ground(segmenter, image, camera, points, points), points


def stands_on_ground(
    segmenter: Segmenter,
    image: np.ndarray,
    camera: Camera,
    placement: Placement,
    standing: Size,
    ground: np.ndarray,
    points: np.ndarray,
) -> float:
    """Share of the footprint, as far as it is in the frame, on the ground segment that the car drives on.

    Where the segment ahead ends before the footprint, at a shadow or a change of surface, the segment at the footprint
    counts if it holds the points ahead too.

    Args:
        standing: what of the hazard takes up ground. ground, points: as :func:`ground_ahead` gave them.
    """
    corners = box_corners(placement.x, placement.y, placement.yaw, standing)[0, :4]
    px, valid = project(camera, corners)
    foot = polygon(ground.shape, px) if valid.all() else np.zeros_like(ground)
    if not foot.any():
        return 0.0
    share = float(ground[foot].mean())
    if share >= 1:
        return share
    rows, cols = np.nonzero(foot)
    pick = np.linspace(0, len(rows) - 1, min(len(rows), 5)).astype(int)
    under = np.column_stack([cols[pick], rows[pick]]).astype(float)
    same = _ground(segmenter, image, camera, under, points)
    return share if same is None else max(share, float((ground | same)[foot].mean()))


def _ground(
    segmenter: Segmenter, image: np.ndarray, camera: Camera, prompts: np.ndarray, points: np.ndarray
) -> np.ndarray | None:
    """The largest confident segment at the points asked about (N, 2) that holds the points ahead (M, 2).

    The largest: a lane between its lines is a segment too, and the road that it is part of is what counts.
    """
    prompt = Prompt(inside=tuple((float(u), float(v)) for u, v in prompts))
    cols, rows = np.clip(np.round(points).astype(int), 0, (image.shape[1] - 1, image.shape[0] - 1)).T
    low, high = SHARES
    segments = [
        segment.mask
        for segment in segmenter.segment(image, [prompt])[0]
        if segment.score >= segmenter.min_score
        and low <= segment.mask.mean() <= high
        and segment.mask[rows, cols].mean() >= HOLDS
        and share_above_horizon(segment.mask, camera) <= RISES
    ]
    return max(segments, key=np.count_nonzero, default=None)
