"""What is asked of a segmenter and a detector. Pixels: (u, v), the centre of the top-left pixel is (0, 0)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cfgen.core.registry import Extra, Registry

BoxPx = tuple[float, float, float, float]
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class MaskPrompt:
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

    def segment(self, image: np.ndarray, prompts: Sequence[MaskPrompt]) -> list[list[Segment]]:
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


# --- detector registry -------------------------------------------------------------------------
# Segmenters and detectors by name.

SEGMENTERS = Registry(
    "segmenter",
    "cfgen.masks",
    {
        "segment-anything": "cfgen.perception.segment_anything:SegmentAnything",
        "sam2": "cfgen.perception.segment_anything:Sam2",
        "sam3": "cfgen.perception.segment_anything:Sam3",
    },
    extras={
        "segment-anything": Extra("sam", "segment_anything"),
        "sam2": Extra("sam", "transformers"),
        "sam3": Extra("sam", "transformers"),
    },
)
DETECTORS = Registry(
    "detector",
    "cfgen.detectors",
    {
        "onnx": "cfgen.perception.onnx_detector:OnnxDetector",
        "grounding-dino": "cfgen.perception.text_detectors:GroundingDino",
        "sam3": "cfgen.perception.text_detectors:Sam3Detector",
    },
    extras={"grounding-dino": Extra("sam", "transformers"), "sam3": Extra("sam", "transformers")},
)


def create_segmenter(name: str, options: Mapping[str, Any] | None = None) -> Segmenter:
    """A segmenter with its options; its weights load at first use.

    Raises:
        InputError: unknown name, an option that it does not take, or a checkpoint that is not there.
        MissingExtraError: its packages are not installed.
    """
    segmenter: Segmenter = SEGMENTERS.create(name, options or {})
    return segmenter


def create_detector(name: str, options: Mapping[str, Any] | None = None) -> Detector:
    """A detector with its options. Raises as :func:`create_segmenter`."""
    detector: Detector = DETECTORS.create(name, options or {})
    return detector
