"""After the edit: which pixels of it are the hazard and its shadow, so that nothing else of it is pasted."""

from dataclasses import dataclass

import cv2
import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import horizon_rows, project
from cfgen.perception.detection import BoxPx, Prompt, Segment, Segmenter
from cfgen.perception.mask_shapes import box_around, disc, iou, polygon, touching, widened
from cfgen.records import Camera, Placement

#: A pixel counts as changed above this, 8 bit, and above this multiple of what the model changed around the object.
CHANGED, OVER_REST, MOST = 12.0, 2.5, 40.0
#: Share of the strongest change from which a pixel beside the segment is of the object.
CERTAIN = 0.35
#: Below this agreement between a segment and the change nothing is known about the object.
MIN_FIT = 0.3
#: Share of its light that the ground loses from where on to where shadow is counted in full; channels alike within.
SHADE, SAME = (0.03, 0.08), 0.25
#: Around the placement's box this share of its height may be the object's; the rest of the mask is left as it was.
_REST = 0.15
#: Share of the object's height that is its base, and the margins in pixels: a share of its height, and at least.
_BASE, _MARGIN, _LEAST = 0.25, 0.03, 2.0


@dataclass(frozen=True, eq=False)
class Matte:
    """What to paste of an edited crop.

    Attributes:
        alpha: (h, w) float32 in [0, 1].
        object: (h, w) bool, the hazard alone.
        score: what the segmenter thinks of the segment. fit: how well it agrees with what changed, 0 to 1.
    """

    alpha: np.ndarray
    object: np.ndarray
    score: float
    fit: float


def refine(
    segmenter: Segmenter,
    before: np.ndarray,
    after: np.ndarray,
    mask: np.ndarray,
    camera: Camera,
    placement: Placement,
) -> Matte | None:
    """The hazard and its shadow in an edited crop; None when no segment agrees with the change.

    Args:
        before, after: (h, w, 3) uint8 RGB. mask: (h, w) uint8, nonzero where pixels may change.
        camera: of the crop, for the frame in which the placement stands.
    """
    corners, valid = project(camera, box_corners(placement.x, placement.y, placement.yaw, placement.size)[0])
    if not valid.all():
        return None
    allowed = mask > 0
    solid = polygon(mask.shape, corners)
    if not solid.any():
        return None
    rest = allowed & ~widened(solid, _REST * float(np.ptp(np.flatnonzero(solid.any(1)))))
    after_toned = _in_tone(before, after, rest)
    change = _change(before, after_toned, allowed, rest)
    segment = _object(segmenter, after, allowed, change, _clipped(corners, mask.shape))
    if segment is None:
        return None
    body, score, fit = segment
    height = float(np.ptp(np.flatnonzero(body.any(1)))) + 1
    margin = max(_LEAST, _MARGIN * height)
    # thin ends that the segmenter's coarse mask lost
    body = touching(body | ((change > CERTAIN) & widened(body, margin)), body)
    shade = _shadow(before, after_toned, camera, allowed & ~body)
    base = _base(body, height, margin) | widened(polygon(mask.shape, corners[:4]), margin)
    shade *= widened(touching((shade > 0.3) & ~body, base), 2)
    alpha = np.maximum(_feathered(body, height), cv2.GaussianBlur(shade, (0, 0), 1.0))
    alpha = np.maximum(alpha, _between(body, shade > 0.3))
    return Matte(np.where(allowed, alpha, 0).astype(np.float32), body & allowed, score, fit)


def _in_tone(before: np.ndarray, after: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """(h, w, 3) float32: the edit without the shift in tone that the model gave to what it left alone."""
    shifted = after.astype(np.float32)
    if rest.any():
        shifted -= np.median(shifted[rest] - before[rest], axis=0)
    return shifted


def _change(before: np.ndarray, after: np.ndarray, allowed: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """(h, w) float32 in [0, 1]: by how much a pixel changed more than the model changes what it leaves alone."""
    moved = cv2.GaussianBlur(np.abs(after - before).max(2), (0, 0), 0.8)
    floor = OVER_REST * float(np.median(moved[rest])) if rest.any() else 0.0
    threshold = min(max(CHANGED, floor), MOST)
    return np.where(allowed, np.clip((moved - threshold) / 48, 0, 1), 0).astype(np.float32)


def _object(
    segmenter: Segmenter, after: np.ndarray, allowed: np.ndarray, change: np.ndarray, box: BoxPx
) -> tuple[np.ndarray, float, float] | None:
    """The segment (h, w) bool that explains the change best, its score, and how well it does."""
    if not change.any():
        return None
    best: tuple[float, Segment] | None = None
    for segments in segmenter.segment(after, _prompts(change, box)):
        for segment in segments:
            fit = _fit(segment.mask & allowed, segment.mask, change, box)
            if best is None or fit > best[0]:
                best = fit, segment
    if best is None or best[0] < MIN_FIT:
        return None
    return best[1].mask & allowed, best[1].score, best[0]


def _prompts(change: np.ndarray, box: BoxPx) -> list[Prompt]:
    """The placement's box, what changed most within it, and the box around all that changed with it."""
    x0, y0, x1, y1 = (round(v) for v in box)
    near = np.zeros(change.shape, bool)
    near[max(y0, 0) : y1 + 1, max(x0, 0) : x1 + 1] = True
    strong = change > 0.25
    if not (strong & near).any():
        strong = change > 0
    parts = touching(strong, near) if (strong & near).any() else strong
    depth = cv2.distanceTransform(parts.astype(np.uint8), cv2.DIST_L2, 3) * (1 + near)
    v, u = np.unravel_index(int(depth.argmax()), depth.shape)
    inside = ((float(u), float(v)),)
    around = box_around(parts)
    return [
        Prompt(box=box),
        Prompt(box=box, inside=inside),
        Prompt(box=around, inside=inside),
        Prompt(inside=inside),
    ]


def _fit(inner: np.ndarray, region: np.ndarray, change: np.ndarray, box: BoxPx) -> float:
    """0 to 1: how much of the segment changed, how much of the change it explains, and whether it is of the right size.

    What changed outside the placement's box may be shadow or a repainted road: it need not be explained.
    """
    if not inner.any():
        return 0.0
    inside = float(inner.sum()) / float(region.sum())
    changed = float((change[inner] > 0).mean())
    x0, y0, x1, y1 = (round(v) for v in box)
    near = np.zeros(change.shape, np.float32)
    near[max(y0, 0) : y1 + 1, max(x0, 0) : x1 + 1] = 1
    target = change * np.maximum(near, inner)
    explained = float(change[inner].sum()) / max(float(target.sum()), 1e-6)
    agreement = 2 * changed * explained / max(changed + explained, 1e-6)
    return inside * agreement * (0.4 + 0.6 * iou(box_around(inner), box))


def _shadow(before: np.ndarray, after: np.ndarray, camera: Camera, where: np.ndarray) -> np.ndarray:
    """(h, w) float32 in [0, 1]: ground that lost light evenly."""
    was = cv2.GaussianBlur(before, (0, 0), 1.2).astype(np.float32) + 4
    light_loss = (was - 4 - np.asarray(cv2.GaussianBlur(after, (0, 0), 1.2))) / was
    even = light_loss.max(2) - light_loss.min(2) < SAME
    low, high = SHADE
    share = np.clip((light_loss.mean(2) - low) / (high - low), 0, 1)
    horizon = np.nan_to_num(horizon_rows(camera, np.arange(where.shape[1])), nan=0.0)
    ground = np.arange(where.shape[0])[:, None] > horizon
    return np.where(where & even & ground, share, 0).astype(np.float32)


def _between(body: np.ndarray, shadow: np.ndarray) -> np.ndarray:
    """(h, w) bool: the thin seam where an object meets its shadow, whose mixed pixels look like neither."""
    closed = cv2.morphologyEx((body | shadow).astype(np.uint8), cv2.MORPH_CLOSE, disc(1)) > 0
    return closed & widened(shadow, 2) & widened(body, 2)


def _base(body: np.ndarray, height: float, margin: float) -> np.ndarray:
    """(h, w) bool: the lowest part of the object and a little around it."""
    rows = np.flatnonzero(body.any(1))
    lowest = body.copy()
    lowest[: int(rows[-1] - _BASE * height)] = False
    return widened(lowest, 2 * margin)


def _feathered(body: np.ndarray, height: float) -> np.ndarray:
    """(h, w) float32: 1 on the object, fading within a few pixels around it, as its soft edge did in the edit."""
    away = cv2.distanceTransform((~body).astype(np.uint8), cv2.DIST_L2, 5)
    width = float(np.clip(0.015 * height, 1.5, 5.0))
    return np.clip(1 - away / width, 0, 1).astype(np.float32)


def _clipped(corners: np.ndarray, shape: tuple[int, ...]) -> BoxPx:
    (x0, y0), (x1, y1) = corners.min(0), corners.max(0)
    height, width = shape[:2]
    return max(float(x0), 0.0), max(float(y0), 0.0), min(float(x1), width - 1.0), min(float(y1), height - 1.0)
