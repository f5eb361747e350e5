"""What is asked of whoever sees the road in a frame."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cfgen.geometry.path import EgoPath
from cfgen.perception.view import SceneView
from cfgen.records import Camera


@dataclass(frozen=True, eq=False)
class CameraFrame:
    """One picture to look at.

    Attributes:
        image: (H, W, 3) uint8 RGB.
        camera: as it stands for points of the frame in which ``path`` is.
        path: where the car drives from there on.
        t: when it was taken, s relative to t0.
    """

    image: np.ndarray
    camera: Camera
    path: EgoPath
    t: float = 0.0


class Perceiver(Protocol):
    """Sees road, lane lines and, where it can, vehicles and people. Same frame, same view.

    One with an attribute ``backed_by_colours`` that is true leaves scenes of whose road it is unsure to colours
    (:mod:`cfgen.perception.view`).
    """

    name: str
    #: options after defaults, JSON values, for the provenance
    options: Mapping[str, Any]
    #: named as weaker in every report: it guesses from colours
    weaker: bool
    #: whether calibration and path decide what it sees, besides the pixels
    uses_camera: bool

    @property
    def identity(self) -> Mapping[str, Any]:
        """Its weights' hash or its version, JSON values. Loads them."""
        ...

    def perceive(self, frames: Sequence[CameraFrame]) -> list[SceneView]:
        """What each frame shows."""
        ...
