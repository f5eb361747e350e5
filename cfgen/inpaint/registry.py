"""Inpainters by name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cfgen.core.engines.pool import ask_model
from cfgen.core.errors import InputError
from cfgen.core.registry import Extra, Registry
from cfgen.inpaint.protocol import Answer, Inpainter, InpainterRequirements, InpaintRequest
from cfgen.records import Hazard, Size

INPAINTERS = Registry(
    "inpainter",
    "cfgen.inpainters",
    {
        "composite": "cfgen.inpaint.composite.inpainter:Composite",
        "nano-banana": "cfgen.inpaint.gemini_image.inpainter:NanoBanana",
        "sdxl": "cfgen.inpaint.diffusion.sdxl:Sdxl",
        "flux2-klein": "cfgen.inpaint.diffusion.flux2_klein:Flux2Klein",
        "qwen-image-edit": "cfgen.inpaint.diffusion.qwen_image_edit:QwenImageEdit",
        "qwen-image-edit-plus": "cfgen.inpaint.diffusion.qwen_image_edit:QwenImageEditPlus",
        "z-image": "cfgen.inpaint.diffusion.z_image:ZImage",
    },
    extras={
        "nano-banana": Extra("gemini", "google.genai"),
        "sdxl": Extra("sdxl", "diffusers"),
        "flux2-klein": Extra("sdxl", "diffusers"),
        "qwen-image-edit": Extra("sdxl", "diffusers"),
        "qwen-image-edit-plus": Extra("sdxl", "diffusers"),
        "z-image": Extra("sdxl", "diffusers"),
    },
)


def create_inpainter(
    name: str, options: Mapping[str, Any] | None = None, cache: Path | None = None
) -> Inpainter:
    """An inpainter with its options.

    ``cache``: where it may keep what it paid for, if it does and its options name no other place.

    Raises:
        InputError: unknown name, or an option that it does not take.
    """
    values = dict(options or {})
    inpainter: Inpainter = INPAINTERS.create(name, values)
    if cache is not None and "cache" in inpainter.needs.terms and "cache" not in values:
        inpainter = INPAINTERS.create(name, {**values, "cache": str(cache)})
    return inpainter


def create_guide(name: str, inpainter: Inpainter) -> Inpainter | None:
    """The inpainter whose inserts ``inpainter`` starts from, or None for no name.

    Raises:
        InputError: unknown name, or ``inpainter`` draws every frame itself and starts from nothing.
    """
    if not name:
        return None
    if inpainter.needs.every_frame:
        raise InputError(
            f"--guide {name}: inpainter '{inpainter.name}' draws for itself and takes no guide; leave --guide out, "
            "or choose a generative inpainter"
        )
    return create_inpainter(name)


# --- far ---------------------------------------------------------------------------------------
# An inpainter that another process holds: one that paints, on a card, for many that place and look at what came.


class RemoteInpainter:
    """As :class:`cfgen.inpaint.protocol.Inpainter`; every question goes there, about a hazard once."""

    name: str
    version: str
    options: Mapping[str, Any]
    needs: InpainterRequirements

    def __init__(self) -> None:
        self.name, self.version, self.options, self.needs = ask_model(("describe", ()))
        self._known: dict[tuple[str, str], Any] = {}

    def can_draw(self, hazard: Hazard) -> bool:
        return bool(self._about("can_draw", hazard))

    def sizes(self, hazard: Hazard) -> Sequence[Size]:
        answer: Sequence[Size] = self._about("sizes", hazard)
        return answer

    def inpaint(self, requests: Sequence[InpaintRequest]) -> Sequence[Answer]:
        answers: Sequence[Answer] = ask_model(("inpaint", (requests,)))
        return answers

    def _about(self, what: str, hazard: Hazard) -> Any:
        key = what, hazard.model_dump_json()
        if key not in self._known:
            self._known[key] = ask_model((what, (hazard,)))
        return self._known[key]


def answer_request(inpainter: Inpainter, request: tuple[str, tuple[Any, ...]]) -> Any:
    """What a :class:`RemoteInpainter` asks, where the inpainter is."""
    method, arguments = request
    if method == "describe":
        return inpainter.name, inpainter.version, dict(inpainter.options), inpainter.needs
    return getattr(inpainter, method)(*arguments)
