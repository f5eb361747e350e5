"""What an edit has changed, compressed as the rest of its frame was: the last step of every arm and inpainter.

A changed block of a frame that came out of a JPEG file goes through the same transform, quantization tables, chroma
subsampling and grid as the others, so that nothing of the file tells what was changed.
"""

from typing import Any

import cv2
import numpy as np

from cfgen.inpaint.region import Box
from cfgen.perception.lattice import BASIS, Lattice, Lattices, transform

#: From OpenCV's colour differences of floats, with grey at 0.5, to those of bytes.
_TO_BYTES = np.array([0, 127.5, 127.5], np.float32)
#: Ties are broken one way, or the last bits of a sum, which depend on where it lies in memory, would break them.
_TIE = 1e-4


def recompress_all(
    lattices: Lattices, before: np.ndarray, after: np.ndarray, within: Box
) -> tuple[np.ndarray, Box]:
    """``after`` (H, W, 3) uint8 as it would be had its changes from ``before`` been in front of the camera.

    ``within``: x0, y0, x1, y1 outside of which the two are the same; returned with it is where they may differ now.
    """
    for lattice in lattices:
        after = recompress(lattice, before, after, within)
        x0, y0, x1, y1 = within
        wide, high = 8 * lattice.sampling[0], 8 * lattice.sampling[1]
        height, width = after.shape[:2]
        within = max(x0 - wide, 0), max(y0 - high, 0), min(x1 + wide, width), min(y1 + high, height)
    return after, within


def differ(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(H, W) uint8: 1 where two pictures (H, W, 3) uint8 differ."""
    if not before.size:
        return np.zeros(before.shape[:2], np.uint8)
    delta = cv2.absdiff(before, after)
    return (np.maximum(np.maximum(delta[..., 0], delta[..., 1]), delta[..., 2]) > 0).astype(np.uint8)


def recompress(lattice: Lattice, before: np.ndarray, after: np.ndarray, within: Box) -> np.ndarray:
    """``after`` with the blocks that differ from ``before`` compressed as the frame was; the others as they are.

    Args:
        before, after: (H, W, 3) uint8 RGB, whole frames, the same outside ``within`` (x0, y0, x1, y1).
    """
    wide, high = 8 * lattice.sampling[0], 8 * lattice.sampling[1]
    col0, row0, col1, row1 = within
    region = np.s_[row0:row1, col0:col1]
    x, y, w, h = cv2.boundingRect(differ(before[region], after[region]))
    x, y = x + col0, y + row0
    if not w:
        return after
    x0, x1 = _outwards(x, x + w, wide, lattice.phase[0])
    y0, y1 = _outwards(y, y + h, high, lattice.phase[1])
    rows, cols = after.shape[:2]
    inside = np.s_[max(y0, 0) : min(y1, rows), max(x0, 0) : min(x1, cols)]
    rim = max(-y0, 0), max(y1 - rows, 0), max(-x0, 0), max(x1 - cols, 0)
    part = cv2.copyMakeBorder(after[inside], *rim, cv2.BORDER_REPLICATE)
    compressed = _decoded(lattice, part)
    touched = np.zeros(part.shape[:2], np.uint8)
    own = np.s_[rim[0] : touched.shape[0] - rim[1], rim[2] : touched.shape[1] - rim[3]]
    touched[own] = differ(before[inside], after[inside])
    blocks = touched.reshape((y1 - y0) // high, high, (x1 - x0) // wide, wide).max((1, 3))
    cv2.copyTo(compressed, np.repeat(np.repeat(blocks, high, 0), wide, 1), part)
    result = after.copy()
    result[inside] = part[own]
    return result


def _decoded(lattice: Lattice, part: np.ndarray) -> np.ndarray:
    """A part (h, w, 3) uint8 that is made of whole blocks, compressed and decoded."""
    # encoders and decoders hold whole numbers between their steps, and so does this
    planes: list[Any] = list(cv2.split(cv2.cvtColor(part.astype(np.float32), cv2.COLOR_RGB2YCrCb)))
    for plane, shift in zip(planes, _TO_BYTES, strict=True):
        plane += shift
        _whole(plane)
        plane -= np.float32(128)
    planes[0] = _whole(_quantized(planes[0], lattice.luma) + 128).astype(np.float32)
    height, width = part.shape[:2]
    size = width // lattice.sampling[0], height // lattice.sampling[1]
    for channel in (1, 2):
        full = planes[channel]
        small = cv2.resize(full, size, interpolation=cv2.INTER_AREA) if size != (width, height) else full
        small = _whole(_quantized(small, lattice.chroma) + 128).astype(np.float32)
        # decoders spread each chroma sample by a triangle, as this does
        planes[channel] = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
    for plane, shift in zip(planes, _TO_BYTES, strict=True):
        plane -= shift
    rgb: Any = cv2.cvtColor(cv2.merge(planes), cv2.COLOR_YCrCb2RGB)
    return _whole(rgb).astype(np.uint8)


def _whole(values: np.ndarray) -> np.ndarray:
    """Rounded and held between 0 and 255, in place."""
    values += values.dtype.type(0.5 + _TIE)
    np.floor(values, out=values)
    return np.clip(values, 0, 255, out=values)


def _quantized(plane: np.ndarray, table: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """A plane (h, w) of whole blocks after quantization of its coefficients."""
    steps = np.tile(np.array(table, float), (1, plane.shape[1] // 8))
    coefficients = transform(plane.astype(float), BASIS)
    blocks = coefficients.reshape(-1, *steps.shape)
    blocks /= steps
    blocks += 0.5 + _TIE
    np.floor(blocks, out=blocks)
    blocks *= steps
    return transform(coefficients, BASIS.T)


def _outwards(low: int, high: int, step: int, phase: int) -> tuple[int, int]:
    """An interval extended to lines of the lattice."""
    return (low - phase) // step * step + phase, -((phase - high) // step) * step + phase
