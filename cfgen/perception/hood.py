"""Which bottom rows of a picture show the car itself: they stay the same while the car drives."""

import itertools
from collections.abc import Mapping

import cv2
import numpy as np

from cfgen.records import Camera

#: Without past frames the hood is taken to start here, as a share of the height.
FALLBACK = 0.92
#: Rows whose mean change over time stays below this (8 bit) do not show the road.
STILL = 2.5
_WIDTH = 160


def hood_row(camera: Camera, frames: Mapping[tuple[str, float], np.ndarray] | None) -> float:
    """First row of the car's own hood in the front camera's picture; its height when no hood shows.

    Args:
        frames: (H, W, 3) uint8 by camera and time. With fewer than three of this camera, or in a car that does not
            move, FALLBACK of the height.
    """
    times = sorted(t for name, t in frames or {} if name == camera.name)
    if frames is None or len(times) < 3:
        return FALLBACK * camera.height
    small = [_small(frames[camera.name, t]) for t in times]
    change = np.mean([np.abs(a - b).mean(1) for a, b in itertools.pairwise(small)], 0)
    if change.max() < 2 * STILL:
        return FALLBACK * camera.height
    still = 0
    while still < len(change) and change[-1 - still] < STILL:
        still += 1
    return camera.height * (1 - still / len(change))


def _small(image: np.ndarray) -> np.ndarray:
    height = max(round(image.shape[0] * _WIDTH / image.shape[1]), 1)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return cv2.resize(grey, (_WIDTH, height), interpolation=cv2.INTER_AREA).astype(np.float32)
