"""What of a redrawn crop is the hazard: the part that differs from the original by more than redrawing alone does.

Pasting only that leaves the road around it untouched, and lets the hazard be carried to other frames without a
piece of road around it.
"""

import cv2
import numpy as np

#: Difference (8 bit) from which on a pixel may belong to what was added, at least and at most.
LEAST, MOST = 8.0, 40.0
#: The threshold against the difference that redrawing left around the mask (its 95th percentile).
_ABOVE_NOISE = 1.6
#: Gaps up to this share of the mask's longer side are closed; specks below this share of its area are dropped.
_GAP, _SPECK = 0.03, 0.004
#: Below this share of the mask nothing was added.
MIN_SHARE = 0.004


def matte(image: np.ndarray, crop: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(H, W) float32 in [0, 1]: coverage of what was added inside the mask, 0 outside it.

    Args:
        image: (H, W, 3) uint8, the answer laid over the crop. crop: (H, W, 3) uint8, the original.
        mask: (H, W) uint8, nonzero where pixels may change.
    """
    allowed = mask > 0
    if not allowed.any():
        return np.zeros(mask.shape, np.float32)
    off = cv2.absdiff(cv2.GaussianBlur(image, (0, 0), 1.2), cv2.GaussianBlur(crop, (0, 0), 1.2)).max(2)
    around = off[cv2.dilate(mask, np.ones((7, 7), np.uint8)) == 0]
    noise = float(np.percentile(around, 95)) if len(around) else 0.0
    threshold = float(np.clip(_ABOVE_NOISE * noise, LEAST, MOST))
    body = _solid((off > threshold) & allowed, mask)
    if np.count_nonzero(body) < MIN_SHARE * np.count_nonzero(allowed):
        return np.zeros(mask.shape, np.float32)
    # what lies beside the body and is half as different is its edge or the soft end of its shadow
    near = cv2.dilate(body, np.ones((9, 9), np.uint8)) > 0
    edge = np.clip(off / threshold * 2 - 1, 0, 1) * near
    cover = np.maximum(cv2.GaussianBlur(body.astype(np.float32), (0, 0), 1.0), edge.astype(np.float32))
    return np.where(allowed, np.clip(cover, 0, 1), 0).astype(np.float32)


def _solid(differs: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(H, W) uint8, 1 on what differs, without specks, gaps closed and holes filled."""
    _, _, w, h = cv2.boundingRect((mask > 0).astype(np.uint8))
    gap = max(3, round(_GAP * max(w, h))) | 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (gap, gap))
    joined = cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_CLOSE, kernel)
    contours, _ = cv2.findContours(joined, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    min_area = _SPECK * np.count_nonzero(mask)
    solid = np.zeros(mask.shape, np.uint8)
    cv2.drawContours(solid, [c for c in contours if cv2.contourArea(c) >= min_area], -1, 1, cv2.FILLED)
    return solid & (mask > 0)
