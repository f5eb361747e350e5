"""What is new in a frame, and where it stands on the road: from two images and the camera, nothing else."""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from cfgen.geometry.camera import centre, ground_points, rotation, unproject
from cfgen.judge.protocol import PastFrame
from cfgen.judge.settings import CHANGE
from cfgen.records import Camera


@dataclass(frozen=True)
class Change:
    """A localized change.

    Attributes:
        box: x0, y0, x1, y1 in pixels around the object without its shadow.
        base: (M, 2) m, ego x and y of the object's foot on the ground; empty when it meets no ground in view.
        width, height: m at the base's distance; NaN without a base.
        size_px: diagonal of what changed much, without what compression spreads around it, pixels.
    """

    box: tuple[int, int, int, int]
    base: np.ndarray
    width: float
    height: float
    size_px: float

    @property
    def side(self) -> float:
        """Horizontal middle of the box in pixels."""
        return (self.box[0] + self.box[2]) / 2


class NoChangeError(Exception):
    """The frames do not show one localized new element; the message says why."""


def find_change(original: np.ndarray, modified: np.ndarray, camera: Camera) -> Change:
    """Compare two frames (H, W, 3) uint8 RGB of one camera.

    Raises:
        NoChangeError: the frames differ in size, nowhere, or nearly everywhere.
    """
    if original.shape != modified.shape:
        raise NoChangeError(f"the frames differ in size: {original.shape[:2]} and {modified.shape[:2]}")
    mask = _main_part(_changed(original, modified))
    share = float(mask.mean())
    if share < CHANGE.least_share or not _is_more_than_grain(original, modified, mask):
        raise NoChangeError("the two frames show the same scene")
    if share > CHANGE.most_share:
        raise NoChangeError(f"{share:.0%} of the frame changed: that is not one added element")
    window = _window(mask)
    body = mask.copy()
    body[window] &= ~_shadow(original[window], modified[window])
    body = _main_part(body)
    body = _upright(body if body.sum() > CHANGE.least_body * mask.sum() else mask)
    rows, columns = np.flatnonzero(body.any(axis=1)), np.flatnonzero(body.any(axis=0))
    box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    base, width, height = _measure(body, box, camera)
    part = np.s_[box[1] : box[3], box[0] : box[2]]
    return Change(box, base, width, height, _diagonal(original[part], modified[part]))


def _diagonal(original: np.ndarray, modified: np.ndarray) -> float:
    """px, of the rows and columns in which more than a few pixels differ strongly."""
    difference = cv2.absdiff(original, modified).max(axis=2)
    strong = difference > CHANGE.strong_share * np.percentile(difference, 95)
    rows, columns = (np.flatnonzero(strong.mean(axis=axis) > CHANGE.strong_line) for axis in (1, 0))
    if not len(rows) or not len(columns):
        return math.hypot(*strong.shape)
    return math.hypot(rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1)


def find_velocity(change: Change, camera: Camera, past: Sequence[PastFrame]) -> tuple[float, float]:
    """m/s in the ego frame at t0 at which the change moves, by its bearing and size in history frames.

    How a camera pitches moves what is far off by many metres, its bearing and size hardly. 0 along or across the line
    of sight where they differ by less than pixels, and the distance at t0, tell.
    """
    if not len(change.base):
        return 0.0, 0.0
    sight = change.base.mean(axis=0) - centre(camera)[:2]
    reach, size = float(np.hypot(*sight)), change.size_px
    times, places = [0.0], [change.base.mean(axis=0)]
    for frame in past:
        with contextlib.suppress(NoChangeError):
            before = find_change(frame.original, frame.modified, frame.camera)
            cut = before.box[0] <= 1 or before.box[2] >= frame.original.shape[1] - 1
            if len(before.base) and not cut:
                eye = centre(frame.camera)[:2]
                way = before.base.mean(axis=0) - eye
                times.append(frame.t)
                places.append(eye + way / np.hypot(*way) * reach * size / before.size_px)
    span = -min(times)
    if span < CHANGE.least_span_s:
        return 0.0, 0.0
    velocity = np.polyfit(times, np.array(places), 1)[0]
    axes = np.array([sight, (-sight[1], sight[0])]) / reach
    seen = axes @ velocity
    closing = np.abs(seen[0] - axes[0, 0] * (np.hypot(*centre(past[0].camera)[:2] - centre(camera)[:2]) / -past[0].t))
    doubt = CHANGE.foot_px * reach / span * np.array([1 / size, 1 / camera.fx])
    doubt += CHANGE.least_mps + np.array([CHANGE.distance_share * closing, 0.0])
    seen[np.abs(seen) < doubt] = 0.0
    x, y = seen @ axes
    return float(x), float(y)


def _changed(original: np.ndarray, modified: np.ndarray) -> np.ndarray:
    """(H, W) bool: where the frames differ by more than the pair's own noise."""
    a, b = (cv2.GaussianBlur(i, (3, 3), 0) for i in (original, modified))
    red, green, blue = cv2.split(cv2.absdiff(a, b))
    difference = cv2.max(cv2.max(red, green), blue)
    middle, upper_quartile = np.percentile(difference[::4, ::4], (50, 75))
    if upper_quartile == 0:
        return difference > CHANGE.exact_difference
    return difference > max(CHANGE.noisy_difference, CHANGE.noise_factor * middle)


def _is_more_than_grain(original: np.ndarray, modified: np.ndarray, mask: np.ndarray) -> bool:
    """Whether the change survives blurring: a thing does, grain and resampling do not."""
    window = _window(mask)
    a, b = (cv2.GaussianBlur(i[window], (0, 0), 2.0) for i in (original, modified))
    return (
        float((cv2.absdiff(a, b).max(axis=2) > CHANGE.coarse_difference).sum())
        >= CHANGE.least_share * mask.size
    )


def _main_part(mask: np.ndarray) -> np.ndarray:
    """The largest connected region and what lies near it or is nearly as large."""
    small = mask.astype(np.uint8)
    reach = max(3, round(0.006 * mask.shape[1])) | 1
    joined = cv2.dilate(small, np.ones((reach, reach), np.uint8))
    count, labels = cv2.connectedComponents(joined, connectivity=8)
    if count < 2:
        return mask
    sizes = np.bincount(labels[mask], minlength=count)
    sizes[0] = 0
    return mask & np.isin(labels, np.flatnonzero(sizes >= max(0.1 * sizes.max(), 1)))


def _window(mask: np.ndarray, margin: int = 8) -> tuple[slice, slice]:
    """Rows and columns around what is set in a mask."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return (
        slice(max(rows[0] - margin, 0), rows[-1] + 1 + margin),
        slice(max(columns[0] - margin, 0), columns[-1] + 1 + margin),
    )


def _shadow(original: np.ndarray, modified: np.ndarray) -> np.ndarray:
    """(H, W) bool: pixels that only got darker by a smooth, nearly colourless factor, as ground in shadow does."""
    a, b = (cv2.GaussianBlur(i, (5, 5), 0).astype(np.float32) for i in (original, modified))
    ratio = ((b + 4) / (a + 4)) ** 2.2
    mean = ratio.mean(axis=2)
    colour = (ratio.max(axis=2) - ratio.min(axis=2)) / np.maximum(mean, 0.02)
    local = cv2.blur(mean, (5, 5))
    rough = np.sqrt(np.maximum(cv2.blur(mean**2, (5, 5)) - local**2, 0)) / np.maximum(local, 0.02)
    return (mean > 0.12) & (mean < 0.98) & (colour < 0.35) & (rough < 0.2)


def _upright(body: np.ndarray) -> np.ndarray:
    """Without what reaches out to the sides along the ground only: the rest of a shadow."""
    rows = np.flatnonzero(body.any(axis=1))
    foot = int(rows[-1] + 1 - CHANGE.foot * (rows[-1] + 1 - rows[0]))
    columns = np.flatnonzero(body[:foot].any(axis=0))
    upright = np.zeros_like(body)
    upright[:, columns[0] : columns[-1] + 1] = body[:, columns[0] : columns[-1] + 1]
    return upright


def _measure(
    body: np.ndarray, box: tuple[int, int, int, int], camera: Camera
) -> tuple[np.ndarray, float, float]:
    """The foot on the ground, and width and height in metres at its distance.

    What stands upright meets the ground in one row; a pixel above that row would be placed too far away.
    """
    x0, y0, x1, y1 = box
    columns = np.flatnonzero(body[(y0 + y1) // 2 :].any(axis=0))
    scale = np.array([camera.width / body.shape[1], camera.height / body.shape[0]])
    feet = np.column_stack([columns, np.full(len(columns), y1 - 0.5)])
    ground, valid = ground_points(camera, (feet + 0.5) * scale - 0.5)
    valid &= np.hypot(ground[:, 0], ground[:, 1]) < CHANGE.farthest_m
    if not valid.any():
        return np.zeros((0, 2)), math.nan, math.nan
    base = ground[valid]
    corners = np.array([(x0 - 0.5, y1 - 0.5), (x1 - 0.5, y1 - 0.5), ((x0 + x1) / 2, y0)])
    rays, _ = unproject(camera, (corners + 0.5) * scale - 0.5)
    rays = rays @ rotation(camera)
    away = base.mean(axis=0) - centre(camera)[:2]
    reach = float(np.hypot(*away))
    per_ray = reach / np.maximum(rays[:, :2] @ (away / reach), 1e-6)
    points = centre(camera) + per_ray[:, None] * rays
    width = float(np.hypot(*(points[0, :2] - points[1, :2])))
    return base, width, float(max(points[2, 2], 0.0))
