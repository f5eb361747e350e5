"""sRGB to linear light and back, fast enough for whole frames; a frame made small in linear light."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import cv2
import numpy as np

from cfgen.geometry.camera import horizon_rows
from cfgen.perception.settings import LIGHT
from cfgen.records import Camera

#: Luminance of linear sRGB primaries.
LUMA = np.array([0.2126, 0.7152, 0.0722], np.float32)

_CODES = np.arange(256) / 255.0
_TO_LINEAR = np.where(_CODES <= 0.04045, _CODES / 12.92, ((_CODES + 0.055) / 1.055) ** 2.4).astype(np.float32)
_STEPS = 4096
_ROOTS = (np.arange(_STEPS) / (_STEPS - 1)) ** 2
_TO_CODE = (255 * np.where(_ROOTS <= 0.0031308, _ROOTS * 12.92, 1.055 * _ROOTS ** (1 / 2.4) - 0.055)).astype(
    np.float32
)


def to_linear(image: np.ndarray) -> np.ndarray:
    """(H, W, 3) uint8 sRGB to float32 linear light in [0, 1]."""
    return cv2.LUT(np.ascontiguousarray(image), _TO_LINEAR)


def to_code(linear: np.ndarray) -> np.ndarray:
    """Linear light (...) to float32 sRGB codes in [0, 255], not rounded; clips."""
    index = np.sqrt(np.clip(linear, 0, 1)) * (_STEPS - 1) + 0.5
    return _TO_CODE[index.astype(np.intp)]


def level(values: np.ndarray, percent: float, otherwise: np.ndarray) -> float:
    """Percentile of ``values``; of ``otherwise`` where there are none."""
    return float(np.percentile(values if values.size else otherwise, percent))


def luminance(linear: np.ndarray) -> np.ndarray:
    """(..., 3) linear RGB to (...) luminance."""
    # no matrix product: its last bits follow from where the array lies in memory
    sums: np.ndarray = linear[..., 0] * LUMA[0] + linear[..., 1] * LUMA[1] + linear[..., 2] * LUMA[2]
    return sums


@dataclass(frozen=True, eq=False)
class LightProbe:
    """A frame made small, in linear light.

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
        """Whether next to nothing is bright: woods that the sun breaks through are as dark but for its patches."""
        return bool((np.percentile(self.lum, (80, 95)) < LIGHT.night).all())

    def sky(self) -> np.ndarray:
        """(h, w) bool: bright and not yellowish above the horizon; empty when that is too little to be the sky."""
        sky = (self.rows < -2) & (self.lum > 0.06)
        sky &= self.linear[..., 2] >= 0.95 * self.linear[..., 0]
        return sky if sky.mean() > 0.02 else np.zeros_like(sky)

    def band(self, top: float, bottom: float) -> np.ndarray:
        """(h, w) bool: rows from ``top`` to ``bottom`` below the horizon, shares of the height."""
        return (self.rows > top * self.height) & (self.rows < bottom * self.height)


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
