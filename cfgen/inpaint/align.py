"""Lays a redrawn crop over the original: where the surroundings moved, faded or were drawn anew is measured there.

Image services return pictures of their own size in which everything may sit a few pixels off. What was not to
change is the ruler: outside the mask the answer should be the original.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from cfgen.inpaint.settings import ALIGNMENT


@dataclass(frozen=True, eq=False)
class Aligned:
    """An answer laid over its crop.

    Attributes:
        image: (H, W, 3) uint8. drift: mean absolute difference (8 bit) left outside the mask.
        report: JSON values: what was measured and what was corrected.
    """

    image: np.ndarray
    drift: float
    report: dict[str, Any]


def align(mappings: Mapping[str, np.ndarray], crop: np.ndarray, mask: np.ndarray) -> Aligned:
    """The mapping that fits the surroundings best; residual shift, scale, turn and tone are taken out when certain.

    Args:
        mappings: candidates (H, W, 3) uint8 by name. crop: (H, W, 3) uint8, the original.
        mask: (H, W) uint8, nonzero where pixels were to change.
    """
    around = _surroundings(mask)
    name, image = min(mappings.items(), key=lambda pair: drift(pair[1], crop, around)["mean"])
    raw = drift(image, crop, around)
    report: dict[str, Any] = {"mapping": name, "raw_drift": raw}
    if around.mean() >= ALIGNMENT.least_surroundings:
        image, report["residual"] = _registered(image, crop, around)
        image, report["tone"] = _toned(image, crop, around)
    report["drift"] = drift(image, crop, around)
    return Aligned(image, float(report["drift"]["mean"]), report)


def astray(
    aligned: Aligned, crop: np.ndarray, mask: np.ndarray, max_drift: float
) -> tuple[str, dict[str, Any]]:
    """Why an answer is of no use, "" where it is; and the tile around the mask that moved most.

    ``max_drift``: mean change (8 bit) outside the mask from which on it is another picture; 0: none is refused.
    """
    tile = worst_tile(aligned.image, crop, mask)
    if max_drift and aligned.drift > max_drift:
        why = f"the answer is another picture: {aligned.drift:.1f} of 255 off outside the mask, at most {max_drift:g}"
    elif max_drift and tile["shift_px"] > tile["bound_px"]:
        x, y = tile["at"]
        why = (
            f"the answer is bent: what was to stay is {tile['shift_px']:.1f} px off around ({x}, {y}) of the crop, "
            f"at most {tile['bound_px']:g}"
        )
    else:
        why = ""
    return why, tile


def drift(image: np.ndarray, crop: np.ndarray, around: np.ndarray) -> dict[str, float]:
    """Mean absolute difference (8 bit) over ``around`` (H, W) bool, and the share of its pixels visibly off."""
    off = cv2.absdiff(image, crop)[around]
    if not len(off):
        return {"mean": 0.0, "share": 0.0}
    return {
        "mean": round(float(off.mean()), 3),
        "share": round(float((off.max(1) > ALIGNMENT.visible).mean()), 4),
    }


def _surroundings(mask: np.ndarray) -> np.ndarray:
    """(H, W) bool: away from the mask by a little, where an answer has no business."""
    rim = max(3, round(0.01 * max(mask.shape)))
    return cv2.dilate((mask > 0).astype(np.uint8), np.ones((2 * rim + 1,) * 2, np.uint8)) == 0


def _registered(image: np.ndarray, crop: np.ndarray, around: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """The image with its residual shift, scale and turn taken out, if they are certain; and what was found."""
    residual = _residual(image, crop, around)
    if residual is None:
        return image, {"corrected": False, "why": "the surroundings cannot be matched"}
    warp, correlation = residual
    height, width = crop.shape[:2]
    middle = np.array([width / 2, height / 2])
    scale = [float(np.hypot(*warp[:, axis])) for axis in (0, 1)]
    turn = math.degrees(math.atan2(warp[1, 0] - warp[0, 1], warp[0, 0] + warp[1, 1]))
    shift = [float(v) for v in warp[:, :2] @ middle + warp[:, 2] - middle]
    report: dict[str, Any] = {
        "shift_px": [round(v, 2) for v in shift],
        "scale": [round(v, 4) for v in scale],
        "turn_deg": round(turn, 3),
        "correlation": round(correlation, 4),
    }
    side = max(height, width)
    why = _doubt(shift, scale, turn, correlation, side)
    bent = max(*(abs(s - 1) for s in scale), abs(math.radians(turn))) * side
    if not why and math.hypot(*shift) < 0.15 and bent < 0.3:
        why = "none to speak of"
    if not why:
        flags = cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
        moved = cv2.warpAffine(image, warp, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)
        before, after = drift(image, crop, around)["mean"], drift(moved, crop, around)["mean"]
        if after <= ALIGNMENT.gain * before:
            return moved, {"corrected": True, **report}
        why = "correcting it does not help"
    return image, {"corrected": False, "why": why, **report}


def _doubt(shift: list[float], scale: list[float], turn: float, correlation: float, side: int) -> str:
    if correlation < ALIGNMENT.min_correlation:
        return "the surroundings match too poorly"
    far = math.hypot(*shift) > ALIGNMENT.max_shift * side
    if far or max(abs(s - 1) for s in scale) > ALIGNMENT.max_scale or abs(turn) > ALIGNMENT.max_turn:
        return "too large to be believed"
    return ""


def _residual(image: np.ndarray, crop: np.ndarray, around: np.ndarray) -> tuple[np.ndarray, float] | None:
    """(2, 3) from crop to image pixels and the correlation it reaches; None when it fails.

    Phase correlation gives the start, enhanced correlation (Evangelidis and Psarakis, PAMI 2008) the rest.
    """
    shrink = min(1.0, ALIGNMENT.side / max(crop.shape[:2]))
    size = (round(crop.shape[1] * shrink), round(crop.shape[0] * shrink))
    ours, theirs = (
        cv2.cvtColor(cv2.resize(p, size, interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY).astype(np.float32)
        for p in (crop, image)
    )
    mask = cv2.resize(around.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)
    start = np.eye(2, 3, dtype=np.float32)
    start[:, 2] = _coarse_shift(ours, theirs, mask)
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 60, 1e-4)
    try:
        correlation, warp = cv2.findTransformECC(
            ours, theirs, start, cv2.MOTION_AFFINE, criteria, inputMask=mask, gaussFiltSize=5
        )
    except cv2.error:
        return None
    if not (np.isfinite(correlation) and np.isfinite(warp).all()):
        return None
    middle = np.array([size[0] / 2, size[1] / 2])
    shift = warp[:, :2] @ middle + warp[:, 2] - middle
    full = warp.astype(np.float64)
    full[:, 2] = shift / shrink + middle / shrink - full[:, :2] @ (middle / shrink)
    return full, float(correlation)


def _coarse_shift(ours: np.ndarray, theirs: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Pixels by which ``theirs`` is shifted against ``ours``, from what both show outside the mask."""
    window = cv2.createHanningWindow(ours.shape[::-1], cv2.CV_32F)
    flat = [np.where(mask > 0, p - p[mask > 0].mean(), 0).astype(np.float32) for p in (ours, theirs)]
    shift, response = cv2.phaseCorrelate(flat[0], flat[1], window)
    near = math.hypot(*shift) <= 2 * ALIGNMENT.max_shift * max(ours.shape)
    return np.array(shift if response > 0.05 and near else (0.0, 0.0), np.float32)


def _toned(
    image: np.ndarray, crop: np.ndarray, around: np.ndarray
) -> tuple[np.ndarray, dict[str, Any] | None]:
    """The image with the surroundings' change of tone taken out, a factor and an offset a channel; None if none."""
    soft_image, soft_crop = (cv2.GaussianBlur(p, (0, 0), 3)[around].astype(np.float64) for p in (image, crop))
    factor, offset = np.ones(3), np.zeros(3)
    for channel in range(3):
        theirs, ours = soft_image[:, channel], soft_crop[:, channel]
        steep = ours.std() / theirs.std() if theirs.std() > 4 else 1.0
        factor[channel] = np.clip(steep, *ALIGNMENT.tone_factor)
        offset[channel] = np.median(ours - factor[channel] * theirs)
    moved = np.clip(image * factor + offset + 0.5, 0, 255).astype(np.uint8)
    shift = np.abs(np.median(soft_image * factor + offset - soft_image, axis=0)).max()
    if (
        shift > ALIGNMENT.tone_shift
        or drift(moved, crop, around)["mean"] >= ALIGNMENT.gain * drift(image, crop, around)["mean"]
    ):
        return image, None
    return moved, {
        "factor": [round(float(v), 3) for v in factor],
        "offset": [round(float(v), 2) for v in offset],
    }


# --- tiles -------------------------------------------------------------------------------------
# Whether the surroundings of an edit stayed where they were, tile by tile: a mean over all would hide a local warp.

#: Side of a tile and reach of the ring around the mask: share of the crop's longer side, and least pixels.
_TILE, _RING = (1 / 14, 20), (0.25, 48)


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
    bound = round(max(ALIGNMENT.max_tile_shift[0] * side, ALIGNMENT.max_tile_shift[1]), 2)
    before, after = (cv2.cvtColor(p, cv2.COLOR_RGB2GRAY) for p in (crop, image))
    flow = _flow(before, after)
    shift = np.hypot(flow[..., 0], flow[..., 1])
    off, residual = _explained(before, after, flow)
    ring = _near(mask, round(max(_RING[0] * side, _RING[1]))) & ~_near(mask, ALIGNMENT.rim)
    texture = _hold(before)
    step = round(max(_TILE[0] * side, _TILE[1]))
    worst, at, judged = 0.0, None, 0
    for y in range(0, mask.shape[0], step):
        for x in range(0, mask.shape[1], step):
            tile = np.s_[y : y + step, x : x + step]
            inside = ring[tile]
            if inside.mean() < ALIGNMENT.least or texture[tile][inside].mean() < ALIGNMENT.texture:
                continue
            judged += 1
            moved = float(np.median(shift[tile][inside]))
            explained = residual[tile][inside].mean() <= ALIGNMENT.explained * off[tile][inside].mean()
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
