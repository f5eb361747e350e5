"""What shines mirrors what stands around it: the frame itself, as far as it goes, and behind the camera its mirror."""

import math
from dataclasses import dataclass

import cv2
import numpy as np

from cfgen.geometry.camera import centre, project
from cfgen.perception.colour import LUMA, to_linear
from cfgen.records import Camera

#: Rows and columns of the map of directions, and the sine of elevation of its first and last row.
_ROWS, _COLS, _SINES = 32, 96, (0.7, -0.4)
#: The frame is looked up at this width, pixels: mirrors in traffic are bent and dirty.
_WIDTH = 160
#: What is full in the frame is so many times as bright in truth.
_FULL, _BRIGHTER = 0.95, np.float32(2.5)
_FAR = 1e4
#: Columns over which what is mirrored runs together: a seam beside what a narrow frame shows would cut a hood in two.
_SEAM, _SEAM_REACH = 3.0, 10


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Light from all sides.

    Attributes:
        light: (32, 96, 3) float32 by sine of elevation, downwards, and azimuth from -pi; a white card in the light
            at the hazard's place is 1.
        turn: azimuth, radians, of the frame in which directions are given, in the ego frame.
        flip: that frame is mirrored, y by -y, before it is turned.
    """

    light: np.ndarray
    turn: float = 0.0
    flip: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surroundings) and self._told() == other._told()

    def __hash__(self) -> int:
        return hash(self._told())

    def _told(self) -> tuple[int, float, bool]:
        return id(self.light), self.turn, self.flip

    def seen(self, directions: np.ndarray) -> np.ndarray:
        """(H, W, 3) float32 light from unit vectors (H, W, 3)."""
        azimuth = np.arctan2(directions[..., 1], directions[..., 0]) * (-1 if self.flip else 1) + self.turn
        x = (azimuth / math.tau + 0.5) % 1 * _COLS
        top, bottom = _SINES
        y = (directions[..., 2] - top) / (bottom - top) * (_ROWS - 1)
        return cv2.remap(
            self.light,
            x.astype(np.float32),
            np.clip(y, 0, _ROWS - 1).astype(np.float32),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_WRAP,
        )


def look_around(
    image: np.ndarray, camera: Camera, ground: np.ndarray, albedo: float, contrast: float
) -> np.ndarray:
    """The ``light`` of :class:`Surroundings` that a frame (H, W, 3) uint8 shows.

    Args:
        ground: (3,) linear image RGB of ground of that ``albedo``. contrast: exponent of the camera's tone curve.
    """
    height, width = image.shape[:2]
    scale = min(_WIDTH / width, 1.0)
    size = max(round(scale * width), 1), max(round(scale * height), 1)
    frame = to_linear(cv2.resize(image, size, interpolation=cv2.INTER_AREA))
    frame = np.where(frame > _FULL, frame * _BRIGHTER, frame)
    sine = np.linspace(*_SINES, _ROWS)[:, None]
    azimuth = np.linspace(-math.pi, math.pi, _COLS, endpoint=False)[None]
    flat = np.sqrt(1 - sine**2)
    # what is behind is taken for what is ahead
    forward = np.maximum(np.abs(np.cos(azimuth)), 0.2) * flat
    ways = np.dstack(np.broadcast_arrays(forward, np.sin(azimuth) * flat, sine)).reshape(-1, 3)
    px, valid = project(camera, centre(camera) + _FAR * ways)
    # beyond the frame it goes on as at its edge
    at = np.where(valid[:, None] & np.isfinite(px), px, 0) * scale
    at = np.clip(at, 0, (size[0] - 1, size[1] - 1)).astype(np.float32).reshape(_ROWS, _COLS, 2)
    x, y = cv2.split(at)
    panorama = cv2.remap(frame, x, y, cv2.INTER_LINEAR)
    level = np.maximum(panorama, 1e-5) / max(float(ground @ LUMA), 1e-4)
    light = (albedo * level ** np.float32(1 / contrast)).astype(np.float32)
    around = np.hstack([light[:, -_SEAM_REACH:], light, light[:, :_SEAM_REACH]])
    even = cv2.GaussianBlur(around, (2 * _SEAM_REACH + 1, 1), _SEAM)
    return np.ascontiguousarray(even[:, _SEAM_REACH:-_SEAM_REACH])
