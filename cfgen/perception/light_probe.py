"""A frame at a glance: small, in linear light, with its horizon. What the light is read from."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import cv2
import numpy as np

from cfgen.geometry.camera import horizon_rows
from cfgen.perception.colour import luminance, to_linear
from cfgen.records import Camera

#: At night a fifth of the picture at most is brighter than the first, and a twentieth than the second (linear, 0 to 1):
#: woods that the sun breaks through are as dark, but for the patches that it lights.
_NIGHT_80, _NIGHT_95 = 0.1, 0.5


@dataclass(frozen=True, eq=False)
class LightProbe:
    """A frame made small.

    Attributes:
        linear: (h, w, 3) float32 linear RGB. lum: (h, w) its luminance.
        scale: small pixels per frame pixel.
        horizon: (w,) row of the horizon in each column.
        camera: calibration of the whole frame.
    """

    linear: np.ndarray
    lum: np.ndarray
    scale: float
    horizon: np.ndarray
    camera: Camera

    @property
    def height(self) -> int:
        return int(self.lum.shape[0])

    @cached_property
    def rows(self) -> np.ndarray:
        """(h, w): rows below the horizon, negative above it."""
        return np.arange(self.height)[:, None] - self.horizon[None, :]

    @property
    def is_night(self) -> bool:
        """Whether next to nothing is bright."""
        most, nearly_all = np.percentile(self.lum, (80, 95))
        return bool(most < _NIGHT_80 and nearly_all < _NIGHT_95)

    def sky(self) -> np.ndarray:
        """(h, w) bool: bright and not yellowish above the horizon; empty when that is too little to be the sky."""
        found = (self.rows < -2) & (self.lum > 0.06)
        found &= self.linear[..., 2] >= 0.95 * self.linear[..., 0]
        return found if found.mean() > 0.02 else np.zeros_like(found)


def probe_light(image: np.ndarray, camera: Camera) -> LightProbe:
    """A frame (H, W, 3) uint8 about 320 pixels wide."""
    height, width = image.shape[:2]
    scale = min(1.0, max(320 / width, 4 / height))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    linear = to_linear(small)
    rows = _horizon(camera, width)
    # a horizon out of the frame leaves a strip of either side to read haze and whites from
    rows = np.clip(np.where(np.isfinite(rows), rows, 0.45 * height), 0.05 * height, 0.9 * height) * scale
    columns = np.interp(np.arange(linear.shape[1]), np.linspace(0, linear.shape[1] - 1, 9), rows)
    return LightProbe(linear, luminance(linear), scale, columns, camera)


@lru_cache(maxsize=64)
def _horizon(camera: Camera, width: int) -> np.ndarray:
    return horizon_rows(camera, np.linspace(0, width - 1, 9))
