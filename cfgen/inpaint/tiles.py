"""Whether the surroundings of an edit stayed where they were, tile by tile: a mean over all would hide a local warp."""

from typing import Any

import cv2
import numpy as np

#: Side of a tile and reach of the ring around the mask: share of the crop's longer side, and least pixels.
_TILE, _RING = (1 / 14, 20), (0.25, 48)
#: The mask's own neighbourhood tells nothing: what was added reaches into the flow there, pixels.
_RIM = 6
#: A tile is judged where so much of it lies in the ring, and where its weaker gradient, mean of squares (8 bit), is
#: strong enough to hold on to.
_LEAST, _TEXTURE = 0.5, 5.0
#: A flow is believed where it lowers the difference to this share: noise and new detail have a flow as well.
_EXPLAINED = 0.75
#: Median shift of a tile that is still none: share of the crop's longer side, and least pixels.
MAX_SHIFT = (0.005, 1.5)


def worst_tile(image: np.ndarray, crop: np.ndarray, mask: np.ndarray) -> dict[str, Any]:
    """The tile of the ring around the mask that moved most.

    Args:
        image: (H, W, 3) uint8, the answer laid over the crop. crop: (H, W, 3) uint8, the original.
        mask: (H, W) uint8, nonzero where pixels were to change.

    Returns:
        ``shift_px``, the median length of its optical flow (Kroeger et al., ECCV 2016), ``at``, its middle in the
        crop, ``bound_px``, and ``tiles``, how many were judged; shift 0 at None where none could be.
    """
    side = max(mask.shape)
    bound = round(max(MAX_SHIFT[0] * side, MAX_SHIFT[1]), 2)
    before, after = (cv2.cvtColor(p, cv2.COLOR_RGB2GRAY) for p in (crop, image))
    flow = _flow(before, after)
    shift = np.hypot(flow[..., 0], flow[..., 1])
    off, residual = _explained(before, after, flow)
    ring = _near(mask, round(max(_RING[0] * side, _RING[1]))) & ~_near(mask, _RIM)
    texture = _hold(before)
    step = round(max(_TILE[0] * side, _TILE[1]))
    worst, at, judged = 0.0, None, 0
    for y in range(0, mask.shape[0], step):
        for x in range(0, mask.shape[1], step):
            tile = np.s_[y : y + step, x : x + step]
            inside = ring[tile]
            if inside.mean() < _LEAST or texture[tile][inside].mean() < _TEXTURE:
                continue
            judged += 1
            moved = float(np.median(shift[tile][inside]))
            explained = residual[tile][inside].mean() <= _EXPLAINED * off[tile][inside].mean()
            if moved > worst and explained:
                worst, at = moved, [x + step // 2, y + step // 2]
    return {"shift_px": round(worst, 2), "at": at, "bound_px": bound, "tiles": judged}


def _flow(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(H, W, 2) float32: optical flow, pixels."""
    if min(before.shape) < 32:  # too small for its pyramid
        return np.zeros((*before.shape, 2), np.float32)
    empty = np.zeros((*before.shape, 2), np.float32)
    return np.asarray(cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM).calc(before, after, empty))


def _explained(before: np.ndarray, after: np.ndarray, flow: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(H, W) float32: how far the pictures differ as they lie, and with the flow taken back; lightly blurred."""
    x, y = np.meshgrid(*(np.arange(n, dtype=np.float32) for n in before.shape[::-1]))
    back = cv2.remap(
        after, x + flow[..., 0], y + flow[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    soft, softer, softest = (cv2.GaussianBlur(p.astype(np.float32), (0, 0), 1) for p in (before, after, back))
    return np.abs(soft - softer), np.abs(soft - softest)


def _near(mask: np.ndarray, reach: int) -> np.ndarray:
    """(H, W) bool: within ``reach`` pixels of the mask."""
    return cv2.distanceTransform((mask == 0).astype(np.uint8), cv2.DIST_L2, 3) <= reach


def _hold(gray: np.ndarray) -> np.ndarray:
    """(H, W) float32: the smaller eigenvalue of the structure tensor, scaled to 8-bit differences per pixel."""
    return cv2.cornerMinEigenVal(cv2.GaussianBlur(gray, (0, 0), 1).astype(np.float32), 9, ksize=3)
