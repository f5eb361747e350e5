"""What an inpainter is asked: one hazard in one crop. Cropping and pasting back are cfgen's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from cfgen.records import Camera, Hazard, Placement


@dataclass(frozen=True)
class InpaintRequest:
    """One edit.

    Attributes:
        image: (H, W, 3) uint8 RGB crop of the frame.
        mask: (H, W) uint8, 255 where pixels may change, else 0.
        camera: calibration of this crop: its ``T_cam_ego`` takes points of the ego frame at t0 into the camera
            at this frame's time, its principal point is relative to the crop.
        hazard: what to add (prompt, size, model). For the null edit its kind is ``null``: change nothing but
            run the same steps.
        placement: where it is at this frame's time, in the ego frame at t0.
        t: s relative to t0 of this frame.
        seed: decides everything random, the same for all frames of a case.
        guide: (H, W, 3) uint8, another inpainter's insert to start from, or None.
    """

    image: np.ndarray
    mask: np.ndarray
    camera: Camera
    hazard: Hazard
    placement: Placement
    seed: int
    t: float = 0.0
    guide: np.ndarray | None = None


@dataclass(frozen=True)
class InpaintResult:
    """One answer.

    Attributes:
        image: (H, W, 3) uint8 RGB, the crop with the hazard; pixels outside the mask are ignored.
        alpha: (H, W) float32 in [0, 1], coverage of hazard and shadow, when the inpainter knows it; the paste
            uses it to leave the rest of the mask untouched.
        report: JSON values for the provenance: model, revision, sprite variant, light estimate, tokens, ...
    """

    image: np.ndarray
    alpha: np.ndarray | None = None
    report: Mapping[str, Any] = field(default_factory=dict)


class Inpainter(Protocol):
    """Batch first: results in the order of the requests. Raises InpaintRefusedError for a declined edit."""

    name: str
    version: str
    #: options after defaults, JSON values, for provenance
    options: Mapping[str, Any]

    def can_draw(self, hazard: Hazard) -> bool: ...

    def inpaint(self, requests: Sequence[InpaintRequest]) -> Sequence[InpaintResult]: ...
