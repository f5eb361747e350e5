"""What is asked of a segmenter and a detector. Pixels: (u, v), the centre of the top-left pixel is (0, 0)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

BoxPx = tuple[float, float, float, float]
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Prompt:
    """One thing to cut out: a box x0, y0, x1, y1 around it, points on it, points that are not on it."""

    box: BoxPx | None = None
    inside: Points = ()
    outside: Points = ()


@dataclass(frozen=True, eq=False)
class Segment:
    """``mask`` (H, W) bool; ``score``: what the model thinks its IoU with the true mask is, about 0 to 1."""

    mask: np.ndarray
    score: float


@dataclass(frozen=True, eq=False)
class Detection:
    """Something found by its name: box x0, y0, x1, y1, score in [0, 1], mask (H, W) bool where the model has one."""

    box: BoxPx
    score: float
    mask: np.ndarray | None = None


class Segmenter(Protocol):
    """Cuts things out of pictures. Same picture and prompt, same masks."""

    name: str
    #: options after defaults, JSON values, for the provenance
    options: Mapping[str, Any]
    #: segments with a lower score are no evidence: the placement's geometry serves then
    min_score: float

    @property
    def identity(self) -> Mapping[str, Any]:
        """The weights: model and revision or hash, JSON values. Loads them."""
        ...

    def segment(self, image: np.ndarray, prompts: Sequence[Prompt]) -> list[list[Segment]]:
        """For each prompt its segments, best first; ``image`` (H, W, 3) uint8 RGB is not written to afterwards."""
        ...


class Detector(Protocol):
    """Finds things by what they are called."""

    name: str
    options: Mapping[str, Any]
    #: detections with a lower score are left out
    threshold: float

    @property
    def identity(self) -> Mapping[str, Any]: ...

    def detect(self, image: np.ndarray, text: str) -> list[Detection]:
        """What ``text`` names in ``image`` (H, W, 3) uint8 RGB, best first."""
        ...
