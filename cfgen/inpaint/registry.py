"""Inpainters by name."""

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cfgen.core.errors import InputError, install_command
from cfgen.core.registry import Registry
from cfgen.inpaint.protocol import Inpainter

INPAINTERS = Registry(
    "inpainter",
    "cfgen.inpainters",
    {
        "composite": "cfgen.inpaint.composite.inpainter:Composite",
        "nano-banana": "cfgen.inpaint.gemini_image.inpainter:NanoBanana",
        "sdxl": "cfgen.inpaint.diffusion.sdxl:Sdxl",
        "flux2-klein": "cfgen.inpaint.diffusion.flux2_klein:Flux2Klein",
        "qwen-image-edit": "cfgen.inpaint.diffusion.qwen_image_edit:QwenImageEdit",
        "pathtrace": "cfgen.inpaint.pathtrace.inpainter:PathTrace",
    },
)


#: built-in inpainters that need more than the base install: the extra, and a package that shows whether it is there
_EXTRAS = {
    "pathtrace": ("pathtrace", "bpy"),
    "sdxl": ("sdxl", "diffusers"),
    "flux2-klein": ("sdxl", "diffusers"),
    "qwen-image-edit": ("sdxl", "diffusers"),
    "nano-banana": ("gemini", "google.genai"),
}


def missing_extra(name: str) -> str:
    """The command that installs what inpainter ``name`` lacks here; empty where it lacks nothing known."""
    extra, package = _EXTRAS.get(name, ("", ""))
    elsewhere = name == "pathtrace" and os.environ.get("CFGEN_BLENDER_PYTHON")
    if not extra or elsewhere:
        return ""
    try:
        found = importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # the package around it
        found = False
    return "" if found else install_command(extra)


def create_inpainter(
    name: str, options: Mapping[str, Any] | None = None, cache: Path | None = None
) -> Inpainter:
    """An inpainter with its options.

    ``cache``: where it may keep what it paid for, if it does and its options name no other place.

    Raises:
        InputError: unknown name, or an option that it does not take.
    """
    given = dict(options or {})
    made: Inpainter = INPAINTERS.create(name, given)
    if cache is not None and "cache" in made.needs.terms and "cache" not in given:
        made = INPAINTERS.create(name, {**given, "cache": str(cache)})
    return made


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
