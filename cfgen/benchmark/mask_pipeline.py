"""What a segmenter and a detector add to a build: a further test of a place, what of an edit shows, further gates.

Without them nothing changes: the masks that follow from the placement serve.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import numpy as np

from cfgen.benchmark.drivable import ground_ahead, stands_on_ground
from cfgen.benchmark.mask_gates import detector_gates, noun
from cfgen.benchmark.mask_refine import refine
from cfgen.benchmark.occlusion import nearer_things, share_hidden
from cfgen.benchmark.recognized import FixedClasses, recognized
from cfgen.core.errors import InpaintRefusedError
from cfgen.core.identity_cache import IdentityCache
from cfgen.geometry.frames import camera_at
from cfgen.geometry.path import EgoPath
from cfgen.inpaint.job import Edit, EditJob, Shown, first_frame
from cfgen.inpaint.paste import spread
from cfgen.inpaint.protocol import InpaintResult
from cfgen.inpaint.region import View
from cfgen.perception.clear_ground import FAR_M
from cfgen.perception.colour_ground import ColourGround
from cfgen.perception.detection import Detector, Segmenter
from cfgen.perception.detector_registry import create_detector, create_segmenter
from cfgen.perception.protocol import Frame
from cfgen.perception.views import Views
from cfgen.records import Benchmark, Camera, GateResult, Hazard, Placement, Scene

#: Share of the hazard's box that nearer things may hide at t0.
MAX_HIDDEN = 0.5
#: Share of its footprint that must lie on the ground segment that the car drives on.
ON_GROUND = 0.8


class MaskPipeline:
    """The segmenter and the detector of a build, either of which may be missing."""

    def __init__(
        self,
        segmenter: Segmenter | None = None,
        detector: Detector | None = None,
        views: Views | None = None,
    ) -> None:
        self.segmenter, self.detector = segmenter, detector
        self._views = views or Views.of(ColourGround())
        self._frames = IdentityCache()

    @classmethod
    def of(cls, benchmark: Benchmark, views: Views | None = None) -> "MaskPipeline":
        """As the benchmark was asked for. Raises as :func:`cfgen.perception.detector_registry.create_segmenter`."""
        segmenter = detector = None
        if benchmark.masks:
            segmenter = create_segmenter(benchmark.masks, benchmark.masks_options)
        if benchmark.detector:
            detector = create_detector(benchmark.detector, benchmark.detector_options)
        return cls(segmenter, detector, views)

    @property
    def identity(self) -> dict[str, Any]:
        """Names, options and weights, for the provenance."""
        used = {"segmenter": self.segmenter, "detector": self.detector}
        return {
            part: {"name": model.name, **model.identity, "options": dict(model.options)}
            for part, model in used.items()
            if model is not None
        }

    def fault(self, scene: Scene, image: np.ndarray, hazard: Hazard) -> Callable[[Placement], str] | None:
        """A test of placements in the front frame at t0, ``image`` (H, W, 3) uint8: what is wrong with one, or ""."""
        if self.segmenter is None:
            return None
        frame = self._frame(scene, scene.front.name, 0.0, image)

        def wrong(placement: Placement) -> str:
            if hazard.kind != "nuisance" and frame.on_ground(placement, hazard) < ON_GROUND:
                return "not on the ground that the car drives on"
            hidden = share_hidden(frame.nearer(placement), frame.camera, placement)
            return "hidden by something nearer" if hidden > MAX_HIDDEN else ""

        return wrong

    def matte(self, job: EditJob, view: View, result: InpaintResult | None) -> Shown:
        """What of a frame's edit shows: the hazard and its shadow, less what stands before it.

        Raises:
            InpaintRefusedError: too much of it is hidden at t0.
        """
        if self.segmenter is None:
            return Shown()
        report: dict[str, Any] = {}
        refined = None
        unknown = result is not None and (result.alpha is None or result.guessed)
        if result is not None and unknown and job.hazard.kind != "null":
            before = view.cut(job.images[view.key])
            refined = refine(
                self.segmenter, before, result.image, view.mask, view.crop_camera, view.placement
            )
            report["object"] = refined and {"score": round(refined.score, 3), "fit": round(refined.fit, 3)}
        alpha = refined.alpha if refined else result.alpha if result else None
        frame = self._frame(job.scene, *view.key, job.images[view.key])
        hazard_pixels = view.mask > 0 if alpha is None else alpha > 1 / 255
        nearer = frame.nearer(view.placement, spread(hazard_pixels, view.crop, *frame.image.shape[:2]))
        hidden = share_hidden(nearer, view.camera, view.placement)
        if view.key == first_frame(job) and hidden > MAX_HIDDEN:
            raise InpaintRefusedError(f"{hidden:.0%} of it is hidden by something nearer")
        report["hidden"] = round(hidden, 3)
        return Shown(refined.alpha if refined else None, view.cut(nearer) if nearer.any() else None, report)

    def gates(self, job: EditJob, edit: Edit) -> tuple[GateResult, ...]:
        """What the detector says of the front frame at t0; nothing of an edit that adds nothing."""
        if self.detector is None or job.hazard.kind == "null":
            return ()
        front = first_frame(job)
        box = edit.placements[front].box_px
        if isinstance(self.detector, FixedClasses):
            return (recognized(self.detector, edit.frames[front][0], box, job.hazard),)
        return detector_gates(self.detector, self.segmenter, *edit.frames[front], box, noun(job.hazard.name))

    def _frame(self, scene: Scene, camera: str, t: float, image: np.ndarray) -> "_Frame":
        assert self.segmenter is not None
        segmenter, views = self.segmenter, self._views
        return self._frames.of(image, lambda picture: _Frame(segmenter, views, scene, camera, t, picture))


@dataclass(frozen=True, eq=False)
class _Frame:
    """One original frame (H, W, 3) uint8 and what is known of it; placements are in the ego frame at t0."""

    segmenter: Segmenter
    views: Views
    scene: Scene
    name: str
    t: float
    image: np.ndarray

    @cached_property
    def camera(self) -> Camera:
        return camera_at(self.scene, self.name, self.t)

    @cached_property
    def path(self) -> EgoPath:
        return EgoPath.since(self.scene, self.t, FAR_M)

    @cached_property
    def clear(self) -> np.ndarray | None:
        """(H, W) bool: road by its look; None when no road is in view."""
        [view] = self.views.see([Frame(self.image, self.camera, self.path)])
        if not view.road.any():
            return None
        return cv2.resize(view.road.astype(np.uint8), view.size, interpolation=cv2.INTER_NEAREST) > 0

    @cached_property
    def ahead(self) -> tuple[np.ndarray | None, np.ndarray]:
        return ground_ahead(self.segmenter, self.image, self.camera, self.path)

    def on_ground(self, placement: Placement, hazard: Hazard) -> float:
        """Share of the footprint on the ground that the car drives on; 1 where no segment of it is found."""
        ground, points = self.ahead
        if ground is None:
            return 1.0
        standing = hazard.model_copy(update={"size": placement.size}).standing
        return stands_on_ground(self.segmenter, self.image, self.camera, placement, standing, ground, points)

    def nearer(self, placement: Placement, where: np.ndarray | None = None) -> np.ndarray:
        """(H, W) bool: what stands nearer than the hazard and reaches into ``where`` (H, W) bool, or into its box."""
        return nearer_things(
            self.segmenter, self.image, self.camera, placement, self.clear, self.ahead[0], where
        )
