"""A sprite's view moved, point by point, to where another camera sees each point: nearer parts hide farther ones."""

from dataclasses import dataclass

import cv2
import numpy as np

from cfgen.geometry.camera import centre, project
from cfgen.inpaint.propagate import board, magnification
from cfgen.inpaint.sprites import View
from cfgen.records import Camera, Placement

#: Parts by depth from which each pixel's source is sought, and rounds of fixed-point iteration for each.
_PARTS, _ROUNDS = 3, 2
#: A source is found when another round moves it by less than this, sprite pixels.
_FOUND = 0.75
#: Parallax within the object below which all of it moves as one sheet, pixels.
_FLAT = 0.75
#: Parts this far apart are two, m; no part is as far away as this.
_STEP, _FAR = 0.25, 1e3


@dataclass(frozen=True, eq=False)
class _Sheet:
    """What a reduced sprite picture (h, w) knows of its pixels.

    Attributes:
        rgba: (h, w, 4) float32 premultiplied.
        shift: (h, w, 2) true pixel less the board's; continued beyond the object.
        smooth: (h, w, 2) the same without jumps.
        near: (h, w) metres towards the camera from the object's foot.
        solid: (h, w) bool where the object is.
    """

    rgba: np.ndarray
    shift: np.ndarray
    smooth: np.ndarray
    near: np.ndarray
    solid: np.ndarray


def reproject(view: View, camera: Camera, placement: Placement, one_sheet: bool = False) -> np.ndarray:
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
    drawn = np.zeros((camera.height, camera.width, 4), np.float32)
    if x1 <= x0 or y1 <= y0:
        return drawn
    seen = np.stack(np.meshgrid(np.arange(x0, x1), np.arange(y0, y1)), -1).astype(np.float32)
    drawn[y0:y1, x0:x1] = _looked_through(sheet, seen, np.linalg.inv(warp), one_sheet)
    return drawn


def _looked_through(sheet: _Sheet, seen: np.ndarray, back: np.ndarray, one_sheet: bool) -> np.ndarray:
    """(H, W, 4) premultiplied: what pixels ``seen`` (H, W, 2) show, nearest part in front."""
    at = mapped(back, seen)
    for _ in range(2):
        at = mapped(back, seen - _value(sheet.smooth, at))
    spare = _value(sheet.rgba, at, cv2.BORDER_CONSTANT)
    parts = [] if one_sheet else _parts(sheet)
    if not parts:
        return spare
    found = [_sought(sheet, seen, back, mapped(back, seen - _value(part, at))) for part in parts]
    nears = np.stack([near for _, near, _ in found])
    shown = np.zeros_like(spare)
    used: list[np.ndarray] = []
    for rank in np.argsort(-nears, axis=0):
        rgba, source = (
            np.take_along_axis(np.stack([f[i] for f in found]), rank[None, ..., None], 0)[0] for i in (0, 2)
        )
        again = [np.abs(source - other).max(-1) < 2 * _FOUND for other in used]
        fresh = ~np.any(again, axis=0)[..., None] if again else np.float32(1)
        shown += rgba * fresh * (1 - shown[..., 3:])
        used.append(source)
    near = nears.max(0)
    filled = _filled(shown, near, spare)
    # where one part ends before another, single pixels find the wrong one
    solid = np.isfinite(near) & (shown[..., 3] > 0.5)
    around = np.ones((3, 3), np.uint8)
    most = cv2.dilate(np.where(solid, near, np.float32(-_FAR)), around)
    least = cv2.erode(np.where(solid, near, np.float32(_FAR)), around)
    rim = cv2.dilate(((most - least > _STEP) & (most > -_FAR)).astype(np.uint8), around) > 0
    return np.where(rim[..., None], cv2.medianBlur(filled, 5), filled)


def _filled(shown: np.ndarray, near: np.ndarray, spare: np.ndarray) -> np.ndarray:
    """``shown``, changed in place: what no stored view saw (``near`` -inf) is made up from the farther side beside it.

    ``spare``, the object as one sheet, says whether the gap is inside of the object; one with the object on one
    side only is open.
    """
    missed = ~np.isfinite(near)
    gap = missed & (spare[..., 3] > 0.5)
    rows, cols = np.nonzero(gap)
    usable = (~missed & (shown[..., 3] > 0.5)).astype(np.uint8)
    usable = cv2.erode(usable, np.ones((1, 5), np.uint8)) > 0  # rims are mixed with what they hide
    width = near.shape[1]
    at = np.arange(width)
    left = np.maximum.accumulate(np.where(usable, at, -1), 1)[rows, cols]
    right = np.minimum.accumulate(np.where(usable, at, width)[:, ::-1], 1)[:, ::-1][rows, cols]
    closed = (left >= 0) & (right < width)
    rows, cols, left, right = (a[closed] for a in (rows, cols, left, right))
    source = np.where(near[rows, left] <= near[rows, right], left, right)
    shown[rows, cols] = shown[rows, source]
    return shown


def _sought(
    sheet: _Sheet, seen: np.ndarray, back: np.ndarray, at: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From a first guess ``at`` (H, W, 2): colour (H, W, 4), nearness (H, W), -inf where no source, and source."""
    for _ in range(_ROUNDS):
        at = mapped(back, seen - _value(sheet.shift, at))
    # between two parts there is nothing halfway: the last rounds take either one's shift
    at = mapped(back, seen - _nearest(sheet.shift, at))
    again = mapped(back, seen - _nearest(sheet.shift, at))
    found = np.abs(again - at).max(-1) < _FOUND
    near = _nearest(sheet.near, at)
    rgba = _value(sheet.rgba, at, cv2.BORDER_CONSTANT) * found[..., None]
    return rgba, np.where(found, near, -np.inf), at


def _parts(sheet: _Sheet) -> list[np.ndarray]:
    """Shifts (h, w, 2) of the object's parts from near to far, each continued everywhere; none when it is flat."""
    spread = sheet.shift[sheet.solid] - sheet.smooth[sheet.solid]
    if not len(spread) or np.abs(spread).max() < _FLAT:
        return []
    parts = []
    low, high = sheet.near[sheet.solid].min(), sheet.near[sheet.solid].max()
    number = np.clip(_PARTS * (sheet.near - low) / max(high - low, 1e-6), 0, _PARTS - 1).astype(int)
    for which in range(_PARTS):
        inside = sheet.solid & (number == which)
        if inside.any():
            parts.append(_continued(sheet.shift, inside.astype(np.float32)))
    return parts


def _sheet(view: View, picture: np.ndarray, warp: np.ndarray, camera: Camera, placement: Placement) -> _Sheet:
    """``warp``: from the view's pixels to those of ``picture``'s target; ``picture``: the view made smaller."""
    size = picture.shape[1::-1]
    c, s = np.cos(placement.yaw), np.sin(placement.yaw)
    turned = view.points.reshape(-1, 3) @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    foot = np.array([placement.x, placement.y, 0.0])
    true, valid = project(camera, turned + foot)
    rows, cols = view.points.shape[:2]
    middles = np.stack(np.meshgrid(np.arange(cols), np.arange(rows)), -1) * 2 + 0.5
    shift = np.nan_to_num(true.reshape(rows, cols, 2)) - mapped(warp, middles.astype(np.float32))
    sight = foot[:2] - centre(camera)[:2]
    near = -(turned[:, :2] @ (sight / np.hypot(*sight)))
    raw, near, seen = (
        cv2.resize(a.reshape(rows, cols, -1).astype(np.float32), size, interpolation=cv2.INTER_NEAREST)
        for a in (shift, near, valid)
    )
    solid = (picture[..., 3] > 0.5) & (seen > 0)
    smooth = _continued(raw, solid.astype(np.float32))
    shift = np.where(solid[..., None], raw, smooth)
    even = cv2.blur(shift, (3, 3))
    jumps = cv2.dilate(np.abs(shift - even).max(-1), np.ones((3, 3))) > 1.0
    return _Sheet(picture, np.where(jumps[..., None], shift, even), smooth, near, solid)


def _continued(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Values (h, w, 2) where ``known`` (h, w) is 1, smoothed and continued everywhere."""
    weighted = values * known[..., None]
    mean = weighted.sum((0, 1)) / max(float(known.sum()), 1.0)
    reach = 0.02 * max(known.shape) + 1.0
    weight = cv2.GaussianBlur(known, (0, 0), reach)[..., None]
    return (cv2.GaussianBlur(weighted, (0, 0), reach) + 1e-3 * mean) / (weight + 1e-3)


def _target(warp: np.ndarray, shift: np.ndarray, camera: Camera) -> tuple[int, int, int, int]:
    """x0, y0, x1, y1 of the pixels that the sprite can reach, inside the image."""
    height, width = shift.shape[:2]
    edge = np.array([[(0, 0), (width, 0), (width, height), (0, height)]], np.float32)
    corners = mapped(warp, edge).reshape(-1, 2)
    margin = np.abs(shift).max((0, 1)) + 2
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
    """Pixels (h, w, 2) float32 through a homography (3, 3)."""
    return cv2.perspectiveTransform(pixels, warp)


def _reduced(picture: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """The picture shrunk by area to ``factor`` when below 1, and the 3x3 that takes its old pixels to the new."""
    height, width = picture.shape[:2]
    new = max(1, round(width * min(factor, 1))), max(1, round(height * min(factor, 1)))
    sx, sy = new[0] / width, new[1] / height
    small = picture if new == (width, height) else cv2.resize(picture, new, interpolation=cv2.INTER_AREA)
    return small, np.array([[sx, 0, (sx - 1) / 2], [0, sy, (sy - 1) / 2], [0, 0, 1]])
