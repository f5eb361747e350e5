"""A crop on a canvas of a shape that an image service accepts, and the way back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

#: Width over height by the names that the service knows.
RATIOS = {
    "1:1": 1.0,
    "2:3": 2 / 3,
    "3:2": 3 / 2,
    "3:4": 3 / 4,
    "4:3": 4 / 3,
    "9:16": 9 / 16,
    "16:9": 16 / 9,
    "21:9": 21 / 9,
}
#: A small crop is enlarged at most this much: beyond it there is nothing to see.
MAX_ENLARGE = 4.0
#: An answer's width over height may differ this much from what was sent and still count as the same shape.
_SAME_SHAPE = 0.02


@dataclass(frozen=True)
class Letterbox:
    """Where a crop lies on its canvas, pixels of the canvas.

    Attributes:
        crop: height and width of the crop. ratio: name of the canvas's shape.
        width, height: of the canvas. x0, y0, inner_width, inner_height: the crop's rectangle on it.
    """

    crop: tuple[int, int]
    ratio: str
    width: int
    height: int
    x0: int
    y0: int
    inner_width: int
    inner_height: int

    @property
    def report(self) -> dict[str, Any]:
        inner = [self.x0, self.y0, self.inner_width, self.inner_height]
        return {
            "ratio": self.ratio,
            "sent": [self.width, self.height],
            "crop_at": inner,
            "padding": "mirrored",
        }

    def wrap(self, crop: np.ndarray) -> np.ndarray:
        """(H, W, 3) uint8 of the crop to the canvas's size; what is left over is filled with its mirror image."""
        size = (self.inner_width, self.inner_height)
        larger = self.inner_width > crop.shape[1]
        inner = cv2.resize(crop, size, interpolation=cv2.INTER_CUBIC if larger else cv2.INTER_AREA)
        right, bottom = self.width - self.x0 - size[0], self.height - self.y0 - size[1]
        return cv2.copyMakeBorder(inner, self.y0, bottom, self.x0, right, cv2.BORDER_REFLECT)

    def mappings(self, answer: np.ndarray) -> Mapping[str, np.ndarray]:
        """The crop's part of an answer of any size, (H, W, 3) uint8 at the crop's size, by how it was found.

        An answer of the canvas's shape is only scaled. Of another shape it may have been squeezed, cut to fill, or
        shrunk to fit: then there is one result for each, and the pixels must tell.
        """
        high, wide = answer.shape[:2]
        across, down = wide / self.width, high / self.height
        if abs(across / down - 1) <= _SAME_SHAPE:
            return {"scaled": self._unwrap(answer, across, down)}
        return {
            "squeezed": self._unwrap(answer, across, down),
            "cut to fill": self._unwrap(answer, max(across, down), max(across, down)),
            "shrunk to fit": self._unwrap(answer, min(across, down), min(across, down)),
        }

    def _unwrap(self, answer: np.ndarray, across: float, down: float) -> np.ndarray:
        """With the canvas scaled by ``across`` and ``down`` and centred in the answer."""
        high, wide = answer.shape[:2]
        x0 = (wide - self.width * across) / 2 + self.x0 * across
        y0 = (high - self.height * down) / 2 + self.y0 * down
        rows, columns = self.crop
        step_x, step_y = self.inner_width * across / columns, self.inner_height * down / rows
        shrink = max(step_x, step_y)
        if shrink > 1:  # warping skips pixels: average first those that fall on one
            soft = cv2.GaussianBlur(answer, (0, 0), 0.42 * shrink)
            answer = soft if shrink > 1.25 else cv2.addWeighted(answer, 0.5, soft, 0.5, 0)
        shift = np.array([[step_x, 0, x0 + step_x / 2 - 0.5], [0, step_y, y0 + step_y / 2 - 0.5]])
        flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
        return cv2.warpAffine(answer, shift, (columns, rows), flags=flags, borderMode=cv2.BORDER_REPLICATE)


def fit(height: int, width: int, side: int) -> Letterbox:
    """The canvas for a crop of that size with the least padding, its longer side about ``side`` pixels."""
    shape = width / height
    ratio = min(RATIOS, key=lambda name: max(RATIOS[name] / shape, shape / RATIOS[name]))
    target = RATIOS[ratio]
    canvas_width, canvas_height = max(width, height * target), max(height, width / target)
    scale = min(side / max(canvas_width, canvas_height), MAX_ENLARGE)
    full_width, full_height = round(canvas_width * scale), round(canvas_height * scale)
    inner_width = min(round(width * scale), full_width)
    inner_height = min(round(height * scale), full_height)
    x0, y0 = (full_width - inner_width) // 2, (full_height - inner_height) // 2
    return Letterbox((height, width), ratio, full_width, full_height, x0, y0, inner_width, inner_height)
