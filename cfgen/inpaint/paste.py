"""Putting an edited crop back into its frame, and taking the hazard out as a layer."""

import cv2
import numpy as np

from cfgen.inpaint.region import FEATHER, Box

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
