"""Segmenters and detectors by name."""

from collections.abc import Mapping
from typing import Any

from cfgen.core.registry import Extra, Registry
from cfgen.perception.detection import Detector, Segmenter

SEGMENTERS = Registry(
    "segmenter",
    "cfgen.masks",
    {
        "segment-anything": "cfgen.perception.segment_anything:SegmentAnything",
        "sam2": "cfgen.perception.sam2:Sam2",
        "sam3": "cfgen.perception.sam3:Sam3",
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
        "grounding-dino": "cfgen.perception.grounding_dino:GroundingDino",
        "sam3": "cfgen.perception.sam3:Sam3Detector",
    },
    extras={"grounding-dino": Extra("sam", "transformers"), "sam3": Extra("sam", "transformers")},
)


def create_segmenter(name: str, options: Mapping[str, Any] | None = None) -> Segmenter:
    """A segmenter with its options; its weights load at first use.

    Raises:
        InputError: unknown name, an option that it does not take, or a checkpoint that is not there.
        MissingExtraError: its packages are not installed.
    """
    made: Segmenter = SEGMENTERS.create(name, options or {})
    return made


def create_detector(name: str, options: Mapping[str, Any] | None = None) -> Detector:
    """A detector with its options. Raises as :func:`create_segmenter`."""
    made: Detector = DETECTORS.create(name, options or {})
    return made
