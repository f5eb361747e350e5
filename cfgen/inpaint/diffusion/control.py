"""A ControlNet beside SDXL: shown ground and hazard as geometry, it keeps what is painted at its place and size."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import SetupError
from cfgen.inpaint.diffusion import load
from cfgen.inpaint.diffusion.base import Task
from cfgen.inpaint.diffusion.depth import depth_picture, normal_picture

#: What it can be shown, by name.
SHOWN = {"depth": depth_picture, "normals": normal_picture}


def with_control(inpainter: str, pipe: Any, source: str, dtype: str) -> Any:
    """The inpainting pipeline with a ControlNet, a folder or a name on the Hub.

    Raises:
        SetupError: it cannot be had, or is of another kind.
    """
    import torch
    from diffusers import ControlNetModel, StableDiffusionXLControlNetInpaintPipeline

    try:
        net = ControlNetModel.from_pretrained(source, dtype=getattr(torch, dtype), use_safetensors=True)
        wide, own = net.config.cross_attention_dim, pipe.unet.config.cross_attention_dim
        if wide != own:
            raise ValueError(f"it reads texts {wide} wide, the model {own}")
        pipeline = StableDiffusionXLControlNetInpaintPipeline(
            **pipe.components, controlnet=net, add_watermarker=False
        )
    except Exception as error:  # the Hub's client raises many kinds, of several packages
        raise SetupError(
            f"inpainter '{inpainter}': control '{source}' cannot be loaded ({load.one_line(error)}); give a folder or "
            "a Hub name of a ControlNet for SDXL, for depth or, with control_shows=normals, for normals"
        ) from error
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def report(source: str, shows: str, scale: float) -> dict[str, Any]:
    """For the provenance."""
    folder = Path(source).expanduser()
    control = {"model": source, "shows": shows, "scale": scale}
    return {**control, "revision": load.fingerprint(folder)} if folder.is_dir() else control


def shown(pipe: Any, tasks: Sequence[Task], cell: int, shows: str) -> dict[str, Any]:
    """The call's arguments for pictures, masks and what is shown: this pipeline codes pictures itself."""
    import torch

    def stack(pictures: Sequence[np.ndarray]) -> Any:
        tensor = torch.from_numpy(np.ascontiguousarray(np.stack(pictures))).to(pipe._execution_device)
        return tensor.float() / 255

    stacks = [SHOWN[shows](task.request, task.size).transpose(2, 0, 1) for task in tasks]
    return {
        "image": stack([task.image().transpose(2, 0, 1) for task in tasks]) * 2 - 1,
        "mask_image": stack([task.mask(cell)[None] for task in tasks]),
        "control_image": stack(stacks),
    }
