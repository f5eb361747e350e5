"""Guided mode: an inpainter repaints another one's insert, so that size, pose and ground contact stay as placed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from cfgen.inpaint.protocol import Inpainter
from cfgen.inpaint.region import View
from cfgen.records import Hazard

#: How much of an insert is repainted where neither the hazard nor its taxonomy file says so (``repaint``).
DEFAULT_REPAINT = 0.45
#: Width of the ring around the insert that is repainted with it: share of the object's height, and bounds in pixels.
RING_SHARE, RING_PX = 0.05, (4.0, 24.0)
#: Coverage from which on an insert is an object that has a ring, and from which on it is a shadow worth repainting.
_SOLID, _SHADOW = 0.5, 0.03
#: Pixels of untouched picture that the mask holds around all that: gates look there for a shift of tone.
_MARGIN = 9


@dataclass(frozen=True, eq=False)
class Start:
    """What a guided edit starts from, in the whole front frame at t0.

    Attributes:
        image: (H, W, 3) uint8 RGB, the frame with the guide's insert.
        cover: (H, W) float32 in [0, 1], coverage of the insert; None for the null edit, which has none.
        mask: (H, W) uint8, nonzero where pixels may change: object, boundary ring and shadow; None leaves it to
            the placement.
        report: JSON values of the guide for the provenance.
    """

    image: np.ndarray
    cover: np.ndarray | None
    mask: np.ndarray | None
    report: Mapping[str, Any]

    def alpha(self, view: View) -> np.ndarray | None:
        """(h, w) float32 in the view's crop: how much is hazard or shadow, fading out across the ring."""
        if self.cover is None:
            return None
        return view.cut(np.maximum(self.cover, _ring(self.cover, self.report["ring_px"])))


def guide_start(image: np.ndarray, layer: np.ndarray, allowed: np.ndarray, height: float) -> Start:
    """The start that a guide's edit gives.

    Args:
        image: (H, W, 3) uint8, the edited frame. layer: (H, W, 4) uint8, the insert, straight alpha.
        allowed: (H, W) uint8, nonzero where the guide could change pixels.
        height: of the object in the picture, pixels.
    """
    cover = layer[..., 3] / np.float32(255)
    ring = float(np.clip(RING_SHARE * height, *RING_PX))
    touched = ((cover > _SHADOW) | (_ring(cover, ring) > 0)).astype(np.uint8)
    region = cv2.morphologyEx(touched, cv2.MORPH_CLOSE, _disc(round(ring)))
    mask = np.where((cv2.dilate(region, _disc(_MARGIN)) > 0) & (allowed > 0), 255, 0).astype(np.uint8)
    return Start(image, cover, mask, {"ring_px": round(ring, 1)})


def _disc(radius: int) -> np.ndarray:
    return cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1,) * 2)


def _ring(cover: np.ndarray, width: float) -> np.ndarray:
    """(H, W) float32: 1 on what is solid, falling to 0 over ``width`` pixels around it."""
    away = cv2.distanceTransform((cover < _SOLID).astype(np.uint8), cv2.DIST_L2, 5)
    return np.clip(1 - away / np.float32(width), 0, 1)


def repaint_share(hazard: Hazard) -> float:
    """Strength, in [0, 1], with which a guide's insert of this hazard is repainted."""
    return DEFAULT_REPAINT if hazard.repaint is None else hazard.repaint


def can_draw(hazard: Hazard, inpainter: Inpainter, guide: Inpainter | None) -> bool:
    """Whether the inpainter, and its guide if it has one, can draw the hazard."""
    return inpainter.can_draw(hazard) and (guide is None or guide.can_draw(hazard))
