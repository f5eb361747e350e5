"""What a change can be by its outline and its colour: bodywork fills its outline, limbs and branches do not."""

from dataclasses import dataclass

import cv2
import numpy as np

#: Fewer pixels make an outline of noise.
_FEWEST = 300
#: OpenCV's hues, in 2 degrees: from yellow-green to teal.
_GREEN = (30, 85)
_COLOURED = 45


@dataclass(frozen=True)
class Shape:
    """``fill``: share of its convex outline that it fills, 0..1. ``green``: share of its pixels that are green."""

    fill: float
    green: float


def shape_of(body: np.ndarray, pixels: np.ndarray) -> Shape | None:
    """The shape of what is set in ``body`` (H, W) bool; ``pixels`` (H, W, 3) uint8 RGB. None when it is too small."""
    if body.sum() < _FEWEST:
        return None
    outline, _ = cv2.findContours(body.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = cv2.drawContours(np.zeros(body.shape, np.uint8), outline, -1, 1, cv2.FILLED)
    hull = cv2.convexHull(np.concatenate(outline))
    whole = cv2.fillConvexPoly(np.zeros(body.shape, np.uint8), hull, 1)
    hue, saturation, _ = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV))
    green = (hue[body] > _GREEN[0]) & (hue[body] < _GREEN[1]) & (saturation[body] > _COLOURED)
    return Shape(float(filled.sum() / whole.sum()), float(green.mean()))
