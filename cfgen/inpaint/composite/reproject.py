"""A sprite's view moved, point by point, to where another camera sees each point: nearer parts hide farther ones."""

import math
from dataclasses import dataclass

import cv2
import numpy as np

from cfgen.geometry.camera import centre, project
from cfgen.inpaint.composite.sprites import SpriteView
from cfgen.inpaint.region import board, magnification
from cfgen.inpaint.settings import REPROJECTION
from cfgen.records import Camera, Placement


@dataclass(frozen=True, eq=False)
class _Sheet:
    """What a reduced sprite picture (h, w) knows of its pixels.

    Attributes:
        rgba: (h, w, 4) float32 premultiplied.
        shift: (h, w, 2) true pixel less the board's; continued beyond the object.
        smooth: (h, w, 2) the same without jumps.
        jumps: (h, w) uint8, 1 where neighbours are parts apart: there is nothing halfway.
        near: (h, w) metres towards the camera from the object's foot; what is around the object, less than its rim.
        solid: (h, w) bool where the object is.
    """

    rgba: np.ndarray
    shift: np.ndarray
    smooth: np.ndarray
    jumps: np.ndarray
    near: np.ndarray
    solid: np.ndarray


def reproject(view: SpriteView, camera: Camera, placement: Placement, one_sheet: bool = False) -> np.ndarray:
    """(H, W, 4) float32 premultiplied: the sprite's view as the camera sees it at the placement.

    The sprite was taken 25 m away from one of a few directions. Its plane through the foot maps exactly; what is
    nearer or farther than that plane is shifted by its own parallax, so that wheels meet the road at any range.
    ``one_sheet``: it has no parts that hide each other (smoke).
    """
    step = 1 / view.ppm
    to_board = np.array(
        [[step, 0, (0.5 - view.foot[0]) * step], [0, -step, (view.foot[1] - 0.5) * step], [0, 0, 1]]
    )
    warp = board(camera, placement) @ to_board
    picture, rescale = _reduced(view.rgba, magnification(warp, view.foot))
    sheet = _sheet(view, picture, warp, camera, placement)
    warp = warp @ np.linalg.inv(rescale)
    x0, y0, x1, y1 = _target(warp, sheet.shift, camera)
    canvas = np.zeros((camera.height, camera.width, 4), np.float32)
    if x1 <= x0 or y1 <= y0:
        return canvas
    pixels = np.stack(np.meshgrid(np.arange(x0, x1), np.arange(y0, y1)), -1).astype(np.float32)
    canvas[y0:y1, x0:x1] = _looked_through(sheet, pixels, np.linalg.inv(warp), one_sheet)
    return canvas


def _looked_through(sheet: _Sheet, pixels: np.ndarray, back: np.ndarray, one_sheet: bool) -> np.ndarray:
    """(H, W, 4) premultiplied: what pixels ``seen`` (H, W, 2) show, nearest part in front."""
    at = mapped(back, pixels)
    for _ in range(2):
        at = mapped(back, pixels - _value(sheet.smooth, at))
    spare = _value(sheet.rgba, at, cv2.BORDER_CONSTANT)
    if one_sheet or _is_flat(sheet):
        return spare
    source, near = _splat(sheet, pixels, back)
    for _ in range(REPROJECTION.rounds):
        source, near = _closed(source, near, back, pixels)
    hit = np.isfinite(near)
    rgba = _value(sheet.rgba, source, cv2.BORDER_CONSTANT) * hit[..., None]
    return _filled(rgba, near, spare)


def _is_flat(sheet: _Sheet) -> bool:
    spread = sheet.shift[sheet.solid] - sheet.smooth[sheet.solid]
    return not len(spread) or float(np.abs(spread).max()) < REPROJECTION.flat


def _splat(sheet: _Sheet, pixels: np.ndarray, back: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Source (H, W, 2) that each pixel of ``seen`` shows, and its nearness (H, W), -inf where there is none.

    Every point of the sheet goes to the pixel it falls on, nearer ones last; the rest of the way to the pixel's
    centre is made on the sheet.
    """
    warp = np.linalg.inv(back)
    u, v = _lines(sheet, warp)
    grid = np.stack(np.meshgrid(u, v), -1)
    reach = cv2.dilate(sheet.solid.astype(np.uint8), np.ones((5, 5), np.uint8))
    torn = _nearest(sheet.jumps, grid)[..., None] > 0
    shift = np.where(torn, _nearest(sheet.shift, grid), _value(sheet.shift, grid))
    covered = _nearest(reach, grid) > 0
    near, points = _nearest(sheet.near, grid)[covered], grid[covered]
    exact = (mapped(warp, grid) + shift)[covered]
    pixel = np.rint(exact - pixels[0, 0]).astype(int)
    height, width = pixels.shape[:2]
    inside = ((pixel >= 0) & (pixel < (width, height))).all(1)
    exact, near, pixel, points = exact[inside], near[inside], pixel[inside], points[inside]
    low, high = (float(near.min()), float(near.max())) if len(near) else (0.0, 1.0)
    rank = ((near - low) * (REPROJECTION.levels / max(high - low, 1e-6))).astype(np.uint16)
    order = np.argsort(rank, kind="stable")
    flat = pixel[order, 1] * width + pixel[order, 0]
    winner = np.full(height * width, -1)
    winner[flat] = order
    hit = winner >= 0
    chosen = winner[hit]
    source = np.zeros((height * width, 2), np.float32)
    depth = np.full(height * width, -np.inf, np.float32)
    rest = pixels.reshape(-1, 2)[hit] - exact[chosen]
    source[hit] = mapped(back, (mapped(warp, points[chosen][None]) + rest[None].astype(np.float32)))[0]
    depth[hit] = near[chosen]
    return source.reshape(height, width, 2), depth.reshape(height, width)


def _lines(sheet: _Sheet, warp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns and rows of the sheet's points, fine enough to leave no cracks."""
    rows, cols = sheet.near.shape
    finer = max(1.0, REPROJECTION.density * magnification(warp, (cols / 2, rows / 2)))
    finer = min(finer, math.sqrt(REPROJECTION.most / (rows * cols)))
    u, v = (np.arange(0, n - 1 + 1e-6, 1 / finer, dtype=np.float32) for n in (cols, rows))
    return u, v


def _closed(
    source: np.ndarray, near: np.ndarray, back: np.ndarray, pixels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cracks a pixel wide closed from the farther one of two opposite neighbours, by going on along its surface."""
    low = np.float32(-1e3)
    depth = np.where(np.isfinite(near), near, low)
    # far points that show through a crack are cracks too
    depth = np.where(cv2.medianBlur(depth, 3) - depth > REPROJECTION.step, low, depth)
    border = cv2.dilate((depth > low).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    border[[0, -1]] = border[:, [0, -1]] = False
    rows, cols = np.nonzero(border & (depth == low))
    nearest, of = np.full(len(rows), np.inf, np.float32), np.zeros((2, len(rows)), int)
    for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
        ends = [(rows - dy, cols - dx), (rows + dy, cols + dx)]
        bridged = (depth[ends[0]] > low) & (depth[ends[1]] > low)
        for end in ends:
            better = bridged & (depth[end] < nearest)
            nearest, of = np.where(better, depth[end], nearest), np.where(better, end, of)
    crack = np.isfinite(nearest)
    rows, cols, of = rows[crack], cols[crack], of[:, crack]
    source, near = source.copy(), np.where(depth > low, depth, np.float32(-np.inf))
    if len(rows):
        step = mapped(back, np.stack([pixels[rows, cols], pixels[of[0], of[1]]]))
        source[rows, cols] = source[of[0], of[1]] + step[0] - step[1]
        near[rows, cols] = nearest[crack]
    return source, near


def _filled(rgba: np.ndarray, near: np.ndarray, spare: np.ndarray) -> np.ndarray:
    """``shown``, with what no stored view saw (``near`` -inf) made up from the farther side beside it.

    ``spare``, the object as one sheet, says whether the gap is inside of the object; one with the object on one
    side only is open.
    """
    missed = ~np.isfinite(near)
    gap = missed & (spare[..., 3] > 0.5)
    rows, cols = np.nonzero(gap)
    usable = (~missed & (rgba[..., 3] > 0.5)).astype(np.uint8)
    usable = cv2.erode(usable, np.ones((1, 5), np.uint8)) > 0  # rims are mixed with what they hide
    width = near.shape[1]
    at = np.arange(width)
    left_source = np.maximum.accumulate(np.where(usable, at, -1), 1)[rows, cols]
    right = np.minimum.accumulate(np.where(usable, at, width)[:, ::-1], 1)[:, ::-1][rows, cols]
    closed = (left_source >= 0) & (right < width)
    rows, cols, left_source, right = (a[closed] for a in (rows, cols, left_source, right))
    farther = near[rows, left_source] - near[rows, right]
    light = rgba[..., :3].sum(-1)
    darker = light[rows, left_source] <= light[rows, right]  # hollows are dark
    source = np.where(np.where(np.abs(farther) < REPROJECTION.step, darker, farther < 0), left_source, right)
    rgba[rows, cols] = rgba[rows, source]
    filled = np.zeros(near.shape, bool)
    filled[rows, cols] = True
    for _ in range(2):  # rows that took from different sides
        rgba = np.where(filled[..., None], cv2.medianBlur(rgba, 5), rgba)
    return rgba


def _sheet(
    view: SpriteView, picture: np.ndarray, warp: np.ndarray, camera: Camera, placement: Placement
) -> _Sheet:
    """``warp``: from the view's pixels to those of ``picture``'s target; ``picture``: the view made smaller."""
    size = picture.shape[1::-1]
    rows, cols = view.points.shape[:2]
    every = (np.stack(np.meshgrid(np.arange(cols), np.arange(rows)), -1) * 2 + 0.5).astype(np.float32)
    # of a picture made smaller still, only the points that it keeps
    few = min(cols, size[0]), min(rows, size[1])
    points, middles = (cv2.resize(a, few, interpolation=cv2.INTER_NEAREST) for a in (view.points, every))
    rows, cols = points.shape[:2]
    c, s = np.cos(placement.yaw), np.sin(placement.yaw)
    turned = points.reshape(-1, 3) @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    foot = np.array([placement.x, placement.y, 0.0])
    true, valid = project(camera, turned + foot)
    shift = np.nan_to_num(true.reshape(rows, cols, 2)) - mapped(warp, middles)
    sight = foot[:2] - centre(camera)[:2]
    near = -(turned[:, :2] @ (sight / max(float(np.hypot(*sight)), 1e-9)))
    raw, near, in_view = (
        cv2.resize(a.reshape(rows, cols, -1).astype(np.float32), size, interpolation=cv2.INTER_NEAREST)
        for a in (shift, near, valid)
    )
    solid = (picture[..., 3] > 0.5) & (in_view > 0)
    smooth = _continued(raw, solid.astype(np.float32))
    raw, near = _rimmed(raw, near, solid)
    even = cv2.blur(raw, (3, 3))
    jumps = cv2.dilate(np.abs(raw - even).max(-1), np.ones((3, 3))) > 1.0
    return _Sheet(picture, np.where(jumps[..., None], raw, even), smooth, jumps.astype(np.uint8), near, solid)


def _rimmed(shift: np.ndarray, near: np.ndarray, solid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shift and nearness with those of the object's rim carried on around it, behind whatever is solid there."""
    _, label = cv2.distanceTransformWithLabels(
        (~solid).astype(np.uint8), cv2.DIST_L2, 3, labelType=cv2.DIST_LABEL_PIXEL
    )
    where = np.zeros(int(label.max()) + 1, int)
    where[label[solid]] = np.flatnonzero(solid)
    source = np.where(solid, np.arange(solid.size).reshape(solid.shape), where[label])
    return shift.reshape(-1, 2)[source], near.ravel()[source] - np.where(solid, 0, REPROJECTION.rim).astype(
        np.float32
    )


def _continued(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Values (h, w, 2) where ``known`` (h, w) is 1, smoothed and continued everywhere."""
    weighted = values * mask[..., None]
    mean = weighted.sum((0, 1)) / max(float(mask.sum()), 1.0)
    reach = 0.02 * max(mask.shape) + 1.0
    weight = cv2.GaussianBlur(mask, (0, 0), reach)[..., None]
    return (cv2.GaussianBlur(weighted, (0, 0), reach) + 1e-3 * mean) / (weight + 1e-3)


def _target(warp: np.ndarray, shift: np.ndarray, camera: Camera) -> tuple[int, int, int, int]:
    """x0, y0, x1, y1 of the pixels that the sprite can reach, inside the image."""
    height, width = shift.shape[:2]
    edge = np.array([[(0, 0), (width, 0), (width, height), (0, height)]], np.float32)
    corners = mapped(warp, edge).reshape(-1, 2)
    margin = np.abs(shift).max((0, 1)) + 2
    if not (np.isfinite(corners).all() and np.isfinite(margin).all()):
        return 0, 0, 0, 0
    low = np.floor(corners.min(0) - margin).clip(0, (camera.width, camera.height)).astype(int)
    high = np.ceil(corners.max(0) + margin).clip(0, (camera.width, camera.height)).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _value(picture: np.ndarray, at: np.ndarray, border: int = cv2.BORDER_REPLICATE) -> np.ndarray:
    """Values of a picture (h, w, C) at pixels (H, W, 2) float32."""
    x, y = cv2.split(at)
    return cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=border)


def _nearest(picture: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Like `_value`, of the nearest pixel."""
    x, y = cv2.split(at)
    return cv2.remap(picture, x, y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)


def mapped(warp: np.ndarray, pixels: np.ndarray) -> np.ndarray:
    """Pixels (h, w, 2) float32 through a homography (3, 3); none give none, where OpenCV gives None."""
    return cv2.perspectiveTransform(pixels, warp) if pixels.size else pixels


def _reduced(picture: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """The picture shrunk by area to ``factor`` when below 1, and the 3x3 that takes its old pixels to the new."""
    height, width = picture.shape[:2]
    new = max(1, round(width * min(factor, 1))), max(1, round(height * min(factor, 1)))
    sx, sy = new[0] / width, new[1] / height
    small = picture if new == (width, height) else cv2.resize(picture, new, interpolation=cv2.INTER_AREA)
    return small, np.array([[sx, 0, (sx - 1) / 2], [0, sy, (sy - 1) / 2], [0, 0, 1]])
