"""Putting an edited crop back into its frame, and taking the hazard out as a layer."""

from typing import Any

import cv2
import numpy as np

from cfgen.inpaint.region import FEATHER, Box
from cfgen.perception.jpeg_grid import BASIS, JpegGrid, transform

#: Coverage from which on a result's alpha no longer holds back the paste.
_FULL = 0.125


def weights(mask: np.ndarray, alpha: np.ndarray | None) -> np.ndarray:
    """(H, W) float32 in [0, 1]: how much of the edited crop is pasted.

    It rises from 0 at the edge of ``mask`` (H, W) uint8 to 1 within FEATHER pixels, never beyond the mask; the
    crop's own border is no edge. Where ``alpha`` (H, W) is 0 nothing is pasted.
    """
    inner = cv2.distanceTransform((mask > 0).astype(np.uint8), cv2.DIST_L2, 3)
    weight = np.clip(inner / (FEATHER + 1), 0, 1)
    if alpha is not None:
        weight *= np.clip(alpha / _FULL, 0, 1)
    return weight.astype(np.float32)


def paste(frame: np.ndarray, crop: Box, edited: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """A copy of ``frame`` (H, W, 3) uint8 with ``edited`` blended in by ``weight``; bit-identical where it is 0."""
    x0, y0, x1, y1 = crop
    result = frame.copy()
    result[y0:y1, x0:x1] = blend(frame[y0:y1, x0:x1], edited, weight)
    return result


def blend(under: np.ndarray, over: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(H, W, 3) uint8: ``over`` where ``weight`` (H, W) is 1, exactly ``under`` where it is 0."""
    mixed = over.astype(np.float32)
    mixed -= under
    mixed *= cv2.merge([weight] * 3)  # faster than numpy's broadcast over three channels
    mixed += under
    mixed += np.float32(0.5)
    return np.clip(mixed, 0, 255, out=mixed).astype(np.uint8)


def layer_of(original: np.ndarray, result: np.ndarray, coverage: np.ndarray) -> np.ndarray:
    """(H, W, 4) uint8, straight alpha: drawn over ``original`` it gives ``result``, both (H, W, 3) uint8.

    They differ only where ``coverage`` (H, W) in [0, 1] is not 0. Colour is solved for from it; where it cannot
    explain the change (too dark or too bright for so little cover), alpha is raised until it can.
    """
    layer = np.zeros((*coverage.shape, 4), np.uint8)
    x, y, w, h = cv2.boundingRect((coverage > 0).astype(np.uint8))
    part = np.s_[y : y + h, x : x + w]
    base = original[part].astype(np.float32)
    change = result[part] - base
    room = np.maximum(np.where(change > 0, 255 - base, base), 1)
    needed = np.abs(change) / room
    needed = np.maximum(np.maximum(needed[..., 0], needed[..., 1]), needed[..., 2])
    alpha = np.ceil(np.clip(np.maximum(coverage[part], needed), 0, 1) * 255)
    colour = np.clip(np.rint(base + change * (255 / np.maximum(alpha, 1))[..., None]), 0, 255)
    layer[part] = np.dstack([np.where(alpha[..., None] > 0, colour, 0), alpha])
    return layer


def spread(crop_values: np.ndarray, crop: Box, height: int, width: int) -> np.ndarray:
    """A crop (h, w, ...) on an empty frame of height x width."""
    x0, y0, x1, y1 = crop
    full = np.zeros((height, width, *crop_values.shape[2:]), crop_values.dtype)
    full[y0:y1, x0:x1] = crop_values
    return full


# --- press -------------------------------------------------------------------------------------
# What an edit has changed, compressed as the rest of its frame was: the last step of every arm and inpainter.
#
# A changed block of a frame that came out of a JPEG file goes through the same transform, quantization tables, chroma
# subsampling and grid as the others, so that nothing of the file tells what was changed.

#: From OpenCV's colour differences of floats, with grey at 0.5, to those of bytes.
_TO_BYTES = np.array([0, 127.5, 127.5], np.float32)
#: Ties are broken one way, or the last bits of a sum, which depend on where it lies in memory, would break them.
_TIE = 1e-4


def differ(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(H, W) uint8: 1 where two pictures (H, W, 3) uint8 differ."""
    if not before.size:
        return np.zeros(before.shape[:2], np.uint8)
    delta = cv2.absdiff(before, after)
    return (np.maximum(np.maximum(delta[..., 0], delta[..., 1]), delta[..., 2]) > 0).astype(np.uint8)


def recompress(
    jpeg_grid: JpegGrid | None, before: np.ndarray, after: np.ndarray, within: Box
) -> tuple[np.ndarray, Box]:
    """``after`` with the blocks that differ from ``before`` compressed as the frame was; the others as they are.

    Args:
        before, after: (H, W, 3) uint8 RGB, whole frames, the same outside ``within`` (x0, y0, x1, y1).

    Returns:
        The picture, and outside of which box it is the same as ``before``.
    """
    if jpeg_grid is None:
        return after, within
    wide, high = 8 * jpeg_grid.sampling[0], 8 * jpeg_grid.sampling[1]
    col0, row0, col1, row1 = within
    region = np.s_[row0:row1, col0:col1]
    rows, cols = after.shape[:2]
    within = max(col0 - wide, 0), max(row0 - high, 0), min(col1 + wide, cols), min(row1 + high, rows)
    x, y, w, h = cv2.boundingRect(differ(before[region], after[region]))
    x, y = x + col0, y + row0
    if not w:
        return after, within
    x0, x1 = _outwards(x, x + w, wide)
    y0, y1 = _outwards(y, y + h, high)
    inside = np.s_[max(y0, 0) : min(y1, rows), max(x0, 0) : min(x1, cols)]
    rim = max(-y0, 0), max(y1 - rows, 0), max(-x0, 0), max(x1 - cols, 0)
    part = cv2.copyMakeBorder(after[inside], *rim, cv2.BORDER_REPLICATE)
    compressed = _decoded(jpeg_grid, part)
    touched = np.zeros(part.shape[:2], np.uint8)
    own = np.s_[rim[0] : touched.shape[0] - rim[1], rim[2] : touched.shape[1] - rim[3]]
    touched[own] = differ(before[inside], after[inside])
    blocks = touched.reshape((y1 - y0) // high, high, (x1 - x0) // wide, wide).max((1, 3))
    cv2.copyTo(compressed, np.repeat(np.repeat(blocks, high, 0), wide, 1), part)
    result = after.copy()
    result[inside] = part[own]
    return result, within


def _decoded(jpeg_grid: JpegGrid, part: np.ndarray) -> np.ndarray:
    """A part (h, w, 3) uint8 that is made of whole blocks, compressed and decoded."""
    # encoders and decoders hold whole numbers between their steps, and so does this
    planes: list[Any] = list(cv2.split(cv2.cvtColor(part.astype(np.float32), cv2.COLOR_RGB2YCrCb)))
    for plane, shift in zip(planes, _TO_BYTES, strict=True):
        plane += shift
        _rounded(plane)
        plane -= np.float32(128)
    planes[0] = _rounded(_quantized(planes[0], jpeg_grid.luma) + 128).astype(np.float32)
    height, width = part.shape[:2]
    size = width // jpeg_grid.sampling[0], height // jpeg_grid.sampling[1]
    for channel in (1, 2):
        full = planes[channel]
        small = cv2.resize(full, size, interpolation=cv2.INTER_AREA) if size != (width, height) else full
        small = _rounded(_quantized(small, jpeg_grid.chroma) + 128).astype(np.float32)
        # decoders spread each chroma sample by a triangle, as this does
        planes[channel] = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
    for plane, shift in zip(planes, _TO_BYTES, strict=True):
        plane -= shift
    rgb: Any = cv2.cvtColor(cv2.merge(planes), cv2.COLOR_YCrCb2RGB)
    return _rounded(rgb).astype(np.uint8)


def _rounded(values: np.ndarray) -> np.ndarray:
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


def _outwards(low: int, high: int, step: int) -> tuple[int, int]:
    """An interval extended to lines of the JPEG grid."""
    return low // step * step, -(-high // step) * step
