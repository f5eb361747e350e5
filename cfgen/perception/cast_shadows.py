"""Which way shadows lie on the road: the axis that their edges keep to, in one frame or over those of a scene."""

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from cfgen.geometry.camera import ground_points
from cfgen.geometry.frames import pose_at
from cfgen.perception.colour import luminance, to_linear
from cfgen.perception.views import SceneViews
from cfgen.records import Camera

_WIDTH = 640
#: Pixels (at that width) from an edge to its bright and its dark side.
_REACH = 4.0
#: Rows around the road that edges on it may depend on: reach, blur and slope.
_MARGIN = 24
#: Ground beyond this is seen too flat to tell a direction, m.
_FAR_M = 45.0
#: Edges this close to the ego's heading may be seams, ruts and paint, rad.
_ALONG = math.radians(4)
#: Most that one pixel's edge counts for, m.
_MOST_M = 0.5
#: Frames nearer than this in time show the same ground, s; so far back shadows are looked for, s.
_APART_S, _BACK_S = 0.45, 2.1


@dataclass(frozen=True)
class ShadowAxis:
    """Edges of shadows on the road.

    Attributes:
        angle: rad from the ego's x axis to its left, in [-pi/2, pi/2]: shadows fall along it, one way or the other.
        unison: in [0, 1], how far the edges agree.
        length: metres of edge that it rests on, by weight.
    """

    angle: float
    unison: float
    length: float


def shadow_axis(image: np.ndarray, camera: Camera, road: np.ndarray, lanes: np.ndarray) -> ShadowAxis:
    """The axis of the shadows in a frame (H, W, 3) uint8; length 0 where there is no edge.

    ``road`` and ``lanes`` are bool, on a grid of their own that covers the frame. An edge is a shadow's when its dark
    side is bluer: there the sky lights the road alone. Wear, tar and patches are as yellow as the rest.
    """
    scale = min(1.0, _WIDTH / image.shape[1])
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    inner = _inner(road, lanes, small.shape[:2])
    rows = np.flatnonzero(inner.any(1))
    if not len(rows):
        return ShadowAxis(0.0, 0.0, 0.0)
    lum, blue, slope = _looked_at(small, max(int(rows[0]) - _MARGIN, 0), int(rows[-1]) + 1 + _MARGIN)
    steep = np.maximum(np.hypot(slope[..., 0], slope[..., 1]), 1e-6)
    at = np.argwhere(inner & (steep > 0.03))[:, ::-1].astype(np.float32)
    v, u = at[:, 1].astype(int), at[:, 0].astype(int)
    there, normal = steep[v, u], slope[v, u] / steep[v, u, None]
    crest = (there >= _sampled(steep, at + normal)) & (there >= _sampled(steep, at - normal))
    at, normal = at[crest], normal[crest]
    if not len(at):
        return ShadowAxis(0.0, 0.0, 0.0)
    bright, dark = at + _REACH * normal, at - _REACH * normal
    step = _sampled(lum, bright) - _sampled(lum, dark)
    bluer = (_sampled(blue, dark) - _sampled(blue, bright)) / np.maximum(step, 1e-3)
    weight = _rises(step, 0.3, 0.5) * (1 - _rises(step, 2.0, 2.4))
    weight = weight * _rises(bluer, 0.09, 0.16) * (1 - _rises(bluer, 0.45, 0.6))
    return _axis(camera, (at + 0.5) / scale - 0.5, normal / scale, weight)


def _looked_at(small: np.ndarray, first: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log brightness (h, w), log of blue against red, and the slope (h, w, 2) of the first; of the rows ``first`` to
    ``end``, as sky and roofs tell nothing, and beyond them what the last of these show."""
    linear = np.maximum(to_linear(small[first:end]), 2e-3)
    lum = cv2.GaussianBlur(np.log(luminance(linear)), (0, 0), 1.5)
    blue = cv2.GaussianBlur(np.log(linear[..., 2] / linear[..., 0]), (0, 0), 2.0)
    slope = cv2.merge([cv2.Sobel(lum, cv2.CV_32F, *way, scale=1 / 8) for way in ((1, 0), (0, 1))])
    below = max(len(small) - end, 0)
    lum, blue, slope = (
        cv2.copyMakeBorder(plane, first, below, 0, 0, cv2.BORDER_REPLICATE) for plane in (lum, blue, slope)
    )
    return lum, blue, slope


def scene_shadows(views: SceneViews) -> ShadowAxis:
    """The axis of the shadows in the ego frame at t0, over the front camera's frame at t0 and those of 2 s before.

    The sun stands still while the car turns, so shadows keep to one axis of the ground and seams that follow the road
    do not.
    """
    scene, chosen = views.scene, [0.0]
    for t in reversed(views.times if scene.motion_known is True else []):
        if -_BACK_S <= t <= chosen[-1] - _APART_S:
            chosen.append(t)
    axes, turns = [], []
    for t in chosen:
        view = views.at(t)
        assert view is not None
        camera = scene.seen_cameras.get(t, scene.front)
        axes.append(shadow_axis(views.images[scene.front.name, t], camera, view.road, view.lanes))
        turns.append(float(pose_at(scene.history, t)[2]) if t else 0.0)
    return pooled(axes, turns)


def pooled(axes: Sequence[ShadowAxis], turns: Sequence[float]) -> ShadowAxis:
    """One axis of several frames' edges, by length; at least one frame.

    Args:
        axes: each in its own ego frame. turns: rad, heading of that frame in the one that is asked for.

    Frames overlap, so that of their summed length one in the square root of their number counts.
    """
    length = sum(axis.length for axis in axes)
    total = sum(
        cmath.rect(axis.unison * axis.length, 2 * (axis.angle + turn))
        for axis, turn in zip(axes, turns, strict=True)
    )
    found = cmath.phase(total) / 2, abs(total) / max(length, 1e-6), length / math.sqrt(len(axes))
    return ShadowAxis(*(round(value, 3) for value in found))


def _inner(road: np.ndarray, lanes: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """(h, w) bool: road away from its rim and from paint."""
    near = np.ones((7, 7), np.uint8)
    size = (shape[1], shape[0])
    ground = cv2.resize(road.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    paint = cv2.resize(lanes.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    inner: np.ndarray = (cv2.erode(ground, near) > 0) & (cv2.dilate(paint, near) == 0)
    return inner


def _axis(camera: Camera, px: np.ndarray, normal: np.ndarray, weight: np.ndarray) -> ShadowAxis:
    """The axis of edges at ``px`` (N, 2) with normals (N, 2), pixels, on the ground."""
    along = np.stack([-normal[:, 1], normal[:, 0]], -1)
    (here, seen), (there, also) = ground_points(camera, px - along), ground_points(camera, px + along)
    use = seen & also & (weight > 0)
    use[use] &= np.hypot(*here[use].T) < _FAR_M
    run, weight = there[use] - here[use], weight[use]
    if not len(run):
        return ShadowAxis(0.0, 0.0, 0.0)
    angle = np.arctan2(run[:, 1], run[:, 0])
    weight = weight * np.minimum(np.hypot(run[:, 0], run[:, 1]), _MOST_M)
    weight = weight * (1 - np.exp(-((np.sin(angle) / math.sin(_ALONG)) ** 2)))
    total, length = complex(np.sum(weight * np.exp(2j * angle))), float(weight.sum())
    # rounded, so that the last bits of a sum move nothing
    found = (float(np.angle(total)) / 2, abs(total) / max(length, 1e-6), length)
    return ShadowAxis(*(round(value, 3) for value in found))


def _sampled(plane: np.ndarray, at: np.ndarray) -> np.ndarray:
    """(N,) values of a plane at (N, 2) x, y, bilinear."""
    high = np.array(plane.shape[::-1]) - 1.0
    place = np.clip(at, 0, high)
    low = np.minimum(place.astype(int), np.maximum(high.astype(int) - 1, 0))
    x, y = low[:, 0], low[:, 1]
    right, below = np.minimum(x + 1, int(high[0])), np.minimum(y + 1, int(high[1]))
    a, b = (place - low).T
    top = plane[y, x] * (1 - a) + plane[y, right] * a
    found: np.ndarray = top * (1 - b) + (plane[below, x] * (1 - a) + plane[below, right] * a) * b
    return found


def _rises(values: np.ndarray, low: float, high: float) -> np.ndarray:
    return np.clip((values - low) / (high - low), 0, 1)
