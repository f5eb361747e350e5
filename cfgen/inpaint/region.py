"""Which frames see a hazard, which of their pixels may change for it, and the crop around them."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import cv2
import numpy as np

from cfgen.core.errors import InpaintRefusedError
from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import centre, cropped, project
from cfgen.geometry.frames import camera_at
from cfgen.inpaint.protocol import InpainterRequirements
from cfgen.records import Camera, Placement, Scene

#: Smallest projected box that counts as seen, pixels.
MIN_AREA = 12.0
#: Width over which an edit fades out inside its mask, pixels.
FEATHER = 3

#: Ground nearer to the camera than this is left alone: the car's own hood hides it, m.
HOOD_M = 5.0

Box = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class FrameView:
    """One frame in which the hazard shows.

    Attributes:
        key: camera name and time, s relative to t0.
        camera: the whole frame's calibration, for points of the ego frame at t0.
        placement: the hazard at this frame's time, its pixels those of this camera.
        crop: x0, y0, x1, y1 of the crop in the frame.
        mask: (y1 - y0, x1 - x0) uint8, 255 where pixels may change.
    """

    key: tuple[str, float]
    camera: Camera
    placement: Placement
    crop: Box
    mask: np.ndarray

    @property
    def crop_camera(self) -> Camera:
        x0, y0, x1, y1 = self.crop
        return cropped(self.camera, x0, y0, x1 - x0, y1 - y0)

    def cut(self, image: np.ndarray) -> np.ndarray:
        """The crop of a whole frame (H, W, ...), a view of it."""
        x0, y0, x1, y1 = self.crop
        return image[y0:y1, x0:x1]


def views(
    scene: Scene,
    keys: Iterable[tuple[str, float]],
    placement: Placement,
    needs: InpainterRequirements,
    masks: Mapping[tuple[str, float], np.ndarray] = MappingProxyType({}),
) -> Iterator[FrameView]:
    """The frames among ``keys`` (camera name, t) that see the hazard at their own time, the front at t0 first.

    ``masks`` (H, W) uint8 by frame, nonzero where pixels may change, replace the projected ones.
    """
    first = (scene.front.name, 0.0)
    for key in sorted(keys, key=lambda k: (k != first, k)):
        name, t = key
        camera = camera_at(scene, name, t)
        box = None if placement.hidden_at(t) else seen_by(camera, placement.at(t))
        if box is None:
            continue
        allowed = masks[key] if key in masks else project_mask(camera, box, needs.shadow, needs.turn)
        crop = crop_box(allowed, needs)
        if crop is None:
            continue
        x0, y0, x1, y1 = crop
        yield FrameView(key, camera, box, crop, (allowed[y0:y1, x0:x1] > 0) * np.uint8(255))


def seen_by(camera: Camera, placement: Placement) -> Placement | None:
    """The placement with its foot and box in this camera's pixels, or None when too little of it is in view."""
    corners, valid = project(camera, box_of(placement))
    foot, foot_valid = project(camera, [(placement.x, placement.y, 0.0)])
    if not (valid.all() and foot_valid.all()):
        return None
    low, high = corners.min(0), corners.max(0)
    x0, y0 = np.clip(low, 0, (camera.width, camera.height))
    x1, y1 = np.clip(high, 0, (camera.width, camera.height))
    if (x1 - x0) * (y1 - y0) < MIN_AREA:
        return None
    box = (float(x0), float(y0), float(x1), float(y1))
    return placement.model_copy(update={"foot_px": (float(foot[0, 0]), float(foot[0, 1])), "box_px": box})


def box_of(placement: Placement) -> np.ndarray:
    """(8, 3) ego-frame corners of the hazard's box, the four on the ground first."""
    return box_corners(placement.x, placement.y, placement.yaw, placement.size)[0]


def project_mask(camera: Camera, placement: Placement, shadow: float, turn: float = 0.0) -> np.ndarray:
    """(H, W) uint8: 255 in the hull of the projected box, dilated, and on the ground within the shadow's reach.

    ``shadow`` is that reach beyond the box, as a multiple of the hazard's height; ``turn``, radians, how far the box
    may turn about its foot.
    """
    mask = np.zeros((camera.height, camera.width), np.uint8)
    yaws = [placement.yaw + t for t in ((-turn, 0.0, turn) if turn else (0.0,))]
    boxes = [box_of(placement.model_copy(update={"yaw": yaw})) for yaw in yaws]
    corners, valid = project(camera, np.concatenate(boxes))
    corners = corners[valid]
    height = float(np.ptp(corners[:, 1])) if len(corners) else 0.0
    rim = FEATHER + 2 + 0.04 * height
    square = np.array([(-rim, -rim), (rim, -rim), (rim, rim), (-rim, rim)])
    _fill(mask, (corners[:, None] + square).reshape(-1, 2))
    size = placement.size
    reach = math.hypot(size.length, size.width) / 2 + 0.15 + shadow * size.height
    away = np.array([placement.x, placement.y]) - centre(camera)[:2]
    reach = min(reach, max(float(np.hypot(*away)) - HOOD_M, 1.0))
    turns = np.linspace(0, 2 * math.pi, 32, endpoint=False)
    ring = np.array([placement.x, placement.y]) + reach * np.column_stack([np.cos(turns), np.sin(turns)])
    ground, valid = project(camera, np.column_stack([ring, np.zeros(32)]))
    _fill(mask, ground[valid])
    return mask


def _fill(mask: np.ndarray, points: np.ndarray) -> None:
    """Paint the convex hull of pixels (N, 2), which may lie outside the image."""
    if len(points) >= 3:
        limit = 8 * max(mask.shape)
        hull = cv2.convexHull(np.clip(points, -limit, limit).round().astype(np.int32))
        cv2.fillConvexPoly(mask, hull, 255)


def crop_box(mask: np.ndarray, needs: InpainterRequirements) -> Box | None:
    """The crop that holds the mask (H, W) with the context that an inpainter needs; None for an empty mask."""
    x, y, w, h = cv2.boundingRect(mask)
    if not w or not h:
        return None
    margin = needs.context * max(w, h)
    wide, high = max(w + 2 * margin, needs.min_side), max(h + 2 * margin, needs.min_side)
    if needs.square:
        wide = high = max(wide, high)
    x0, x1 = _span(x + w / 2, wide, mask.shape[1])
    y0, y1 = _span(y + h / 2, high, mask.shape[0])
    return x0, y0, x1, y1


def _span(middle: float, length: float, limit: int) -> tuple[int, int]:
    """Start and end of an interval of about ``length`` around ``middle``, moved inside [0, limit]."""
    size = min(math.ceil(length), limit)
    start = min(max(round(middle - size / 2), 0), limit - size)
    return start, start + size


# --- propagate ---------------------------------------------------------------------------------
# Carry the layer that an inpainter produced at t0 to other frames, by the hazard's pose in the world.
#
# The layer becomes a board that stands on the ground at the hazard's place and faces each camera: its foot goes
# through the camera, its scale follows the distance.


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


def carry(layer: np.ndarray, source: FrameView, target: FrameView) -> np.ndarray:
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
