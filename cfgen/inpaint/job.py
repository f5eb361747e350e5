"""One hazard to put into one scene, and what comes of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.inpaint.protocol import InpaintResult
from cfgen.inpaint.region import View
from cfgen.perception.lattice import Lattices
from cfgen.perception.sun import Sun
from cfgen.records import Fault, Hazard, Placement, Scene

#: camera name and time of a frame, s relative to t0
FrameKey = tuple[str, float]
#: (H, W, 3) uint8 RGB by frame
Images = Mapping[FrameKey, np.ndarray]


@dataclass(frozen=True, eq=False)
class EditJob:
    """One hazard to put into one scene.

    Attributes:
        scene: the scene; its front camera at t0 is edited first.
        images: (H, W, 3) uint8 RGB by frame, the front at t0 among them; never written to.
        hazard: what to add; kind ``null`` adds nothing through the same steps.
        placement: where it is at t0.
        seed: decides everything random.
        sun: where it stands at t0, where somebody looked at the whole scene and its drive.
        mask: (H, W) uint8, nonzero where the front frame at t0 may change, instead of the projected box.
        lattices: by frame, what JPEG it went through; none for a frame that is missing here.
    """

    scene: Scene
    images: Images
    hazard: Hazard
    placement: Placement
    seed: int
    mask: np.ndarray | None = None
    sun: Sun | None = None
    lattices: Mapping[FrameKey, Lattices] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Edit:
    """What a job came to.

    Attributes:
        frames: by frame that sees the hazard, the front at t0 always: the image (H, W, 3) uint8 and its mask
            (H, W) uint8, 255 where it may differ from the original.
        placements: by the same frames, the hazard at that time with its foot and box in that camera's pixels.
        layer: (H, W, 4) uint8, straight alpha: the hazard and its shadow in the front frame at t0.
        report: JSON values for the provenance.
    """

    frames: dict[FrameKey, tuple[np.ndarray, np.ndarray]]
    placements: dict[FrameKey, Placement]
    layer: np.ndarray
    report: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class EditFailure:
    """Why a job has no edit, in one line.

    Attributes:
        put_off: it was not tried, and a later build is to try it.
        fault: set when it broke.
    """

    reason: str
    report: Mapping[str, Any] = field(default_factory=dict)
    put_off: bool = False
    fault: Fault | None = None


@dataclass(frozen=True, eq=False)
class Shown:
    """What of a view's edit shows in its crop.

    Attributes:
        alpha: (h, w) float32 in [0, 1], the hazard and its shadow; None for all that the inpainter gave.
        hidden: (h, w) bool, behind something real; None for nothing.
        report: JSON values for the provenance.
    """

    alpha: np.ndarray | None = None
    hidden: np.ndarray | None = None
    report: Mapping[str, Any] = field(default_factory=dict)


#: Decides what shows; the result is None where the layer of t0 is carried over.
Matte = Callable[[EditJob, View, InpaintResult | None], Shown]


def first_frame(job: EditJob) -> FrameKey:
    """The front frame at t0.

    Raises:
        InputError: the job has no image of it.
    """
    first = (job.scene.front.name, 0.0)
    if first not in job.images:
        raise InputError(
            f"scene '{job.scene.scene_id}': the frame of camera '{first[0]}' at t = 0 is missing"
        )
    return first
