"""A stored frame: whole in its file, or the difference from another picture that its file holds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.files import read_image


@dataclass(frozen=True)
class FrameFile:
    """Read when its pixels are wanted. ``hash`` names its content, not its place.

    ``source``: the picture that ``path`` tells the difference from, with its upper left at ``x``, ``y``; None: ``path``
    is the whole frame.
    """

    path: Path
    hash: str
    source: Path | None = None
    x: int = 0
    y: int = 0

    @cached_property
    def pixels(self) -> np.ndarray:
        """What :meth:`read` gives, kept."""
        return self.read()

    def read(self) -> np.ndarray:
        """(H, W, 3) uint8 RGB.

        Raises:
            InputError: a file of it is missing, no whole image, or does not fit the other.
        """
        return read_image(self.path) if self.source is None else self.over(read_image(self.source))

    def over(self, source: np.ndarray) -> np.ndarray:
        """The frame, from the pixels (H, W, 3) of its source."""
        return added(source, read_image(self.path), self.x, self.y, self.path)


#: Takes a frame and its pixels (H, W, 3) uint8 RGB while somebody holds them.
Held = Callable[[FrameFile, np.ndarray], None]
#: a frame (H, W, 3) uint8 RGB, or the file that holds it
FrameLike = np.ndarray | FrameFile


def difference(source: np.ndarray, changed: np.ndarray) -> tuple[int, int, np.ndarray]:
    """Of two pictures (H, W, 3) uint8, where they differ (x, y) and by how much modulo 256 (h, w, 3)."""
    apart = changed - source  # wraps round
    height, width, planes = apart.shape
    left, y, wide, h = cv2.boundingRect(apart.reshape(height, width * planes))
    x, w = left // planes, -(-(left + wide) // planes) - left // planes
    return x, y, apart[y : y + max(h, 1), x : x + max(w, 1)]  # equal ones: one pixel of zeros


def added(source: np.ndarray, apart: np.ndarray, x: int, y: int, path: Path) -> np.ndarray:
    """The picture that :func:`difference` told of; ``path`` is where that was read.

    Raises:
        InputError: it does not lie within ``source``.
    """
    h, w = apart.shape[:2]
    if y + h > source.shape[0] or x + w > source.shape[1]:
        raise InputError(
            f"{path}: expected a difference within {source.shape[1]}x{source.shape[0]} pixels, found {w}x{h} at "
            f"{x}, {y}; restore the file, or build the case again"
        )
    made = source.copy()
    made[y : y + h, x : x + w] += apart
    return made
