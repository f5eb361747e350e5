"""sRGB to linear light and back, fast enough for whole frames."""

import cv2
import numpy as np

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
    found: np.ndarray = linear[..., 0] * LUMA[0] + linear[..., 1] * LUMA[1] + linear[..., 2] * LUMA[2]
    return found
