"""From a crop to the resolution a model was trained at and back, without moving or changing what the model kept.

Enlarging interpolates linearly, which adds no overshoot that 8 bits would cut; shrinking is its least-squares
inverse. The way back therefore undoes the way there: a model that changes nothing returns the crop itself.
"""

from collections.abc import Callable
from functools import lru_cache

import cv2
import numpy as np

from cfgen.inpaint.settings import CANVAS


def canvas_size(height: int, width: int, side: int, multiple: int) -> tuple[int, int]:
    """Height and width of nearly ``side`` squared pixels in the crop's proportions, multiples of ``multiple``."""
    scale = side / (height * width) ** 0.5
    high, wide = (max(round(n * scale / multiple), 1) * multiple for n in (height, width))
    while high * wide > side * side and max(high, wide) > multiple:  # some pipelines would shrink it again
        high, wide = (high - multiple, wide) if high > wide else (high, wide - multiple)
    return high, wide


def settled(sized: Callable[[float], tuple[int, int]], height: int, width: int) -> tuple[int, int]:
    """Height and width, nearly in a crop's proportions, that a pipeline leaves as they are.

    ``sized``: the width and height that it brings a picture to, by width over height."""
    wide, high = width, height
    for _ in range(CANVAS.most_rounds):
        before = wide, high
        wide, high = sized(wide / high)
        if (wide, high) == before:
            break
    return high, wide


def to_canvas(crop: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A crop (h, w, 3) uint8 at ``size`` (H, W), uint8."""
    if size[0] >= crop.shape[0] and size[1] >= crop.shape[1]:
        return cv2.resize(crop, size[::-1], interpolation=cv2.INTER_LINEAR)  # the same, and quicker
    return _coded(_resampled(crop, size))


def mask_to_canvas(mask: np.ndarray, size: tuple[int, int], margin: int) -> np.ndarray:
    """A mask (h, w) uint8 at ``size`` (H, W), 255 or 0, wider by ``margin`` pixels."""
    large = cv2.resize(mask, size[::-1], interpolation=cv2.INTER_LINEAR)
    kernel = np.ones((2 * margin + 1,) * 2, np.uint8)
    return cv2.dilate(np.where(large > 127, 255, 0).astype(np.uint8), kernel)


def from_canvas(image: np.ndarray, crop: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """A model's picture (H, W, 3) float32 in [0, 255] at the size of its ``crop`` (h, w, 3) uint8.

    A shift of tone that the model gave what it should have kept, outside ``mask`` (h, w) uint8, is carried into the
    mask and taken back, so that it does not end at the mask's border. (h, w, 3) uint8.
    """
    small = _resampled(image, crop.shape[:2])
    outside = (cv2.dilate(mask, np.ones((2 * CANVAS.near + 1,) * 2, np.uint8)) == 0).astype(np.float32)
    shift = np.clip(crop - small, -CANVAS.most, CANVAS.most).astype(np.float32) * outside[..., None]
    return _coded(small + _spread(shift, outside))


def _spread(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(h, w, 3) float32: premultiplied ``values`` where ``weight`` (h, w) is 1, smoothly carried on where it is 0.

    Coarser and coarser means fill what finer ones leave open (push and pull).
    """
    averages = values / np.maximum(weight, 1e-6)[..., None]
    if min(weight.shape) <= 2 or float(weight.min()) > 0.999:
        mean = values.sum((0, 1)) / max(float(weight.sum()), 1e-6)
        return np.where(weight[..., None] > 0, averages, mean)
    half = _spread(cv2.pyrDown(values), cv2.pyrDown(weight))
    height, width = weight.shape
    open_ = cv2.resize(half, (width, height), interpolation=cv2.INTER_LINEAR)
    return averages * weight[..., None] + open_ * (1 - weight[..., None])


def _resampled(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(H, W, 3) float32 of an image (h, w, 3); rows first, so that shrinking leaves less for the columns."""
    height, width = image.shape[:2]
    rows = _resampler(height, size[0]) @ image.reshape(height, -1).astype(np.float32)
    turned = rows.reshape(size[0], width, -1).transpose(1, 0, 2)
    cols = _resampler(width, size[1]) @ turned.reshape(width, -1)
    return cols.reshape(size[1], size[0], -1).transpose(1, 0, 2)


@lru_cache(maxsize=256)
def _resampler(n: int, m: int) -> np.ndarray:
    """(m, n) float32: n samples to m over the same stretch, pixel centres aligned."""
    if m == n:
        return np.eye(n, dtype=np.float32)
    if m < n:
        up = _resampler(m, n).astype(np.float64)
        return np.linalg.solve(up.T @ up + CANVAS.ridge * np.eye(m), up.T).astype(np.float32)
    at = np.clip((np.arange(m) + 0.5) * n / m - 0.5, 0, n - 1)
    lower = np.minimum(at.astype(int), n - 2)
    matrix = np.zeros((m, n))
    matrix[np.arange(m), lower] = 1 - (at - lower)
    matrix[np.arange(m), lower + 1] = at - lower
    return matrix.astype(np.float32)


def _coded(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)
