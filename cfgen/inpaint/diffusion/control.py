"""Depth and normals as a ControlNet is shown them, of what is known exactly: flat ground, and the hazard's box."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import SetupError
from cfgen.geometry.camera import centre, rotation, unproject
from cfgen.inpaint.diffusion import load
from cfgen.inpaint.diffusion.base import Task
from cfgen.inpaint.diffusion.canvas import to_canvas
from cfgen.inpaint.protocol import InpaintRequest
from cfgen.records import Placement

#: Coverage from which on the guide's insert is the object itself.
_SOLID = 0.5


def depth_picture(request: InpaintRequest, size: tuple[int, int]) -> np.ndarray:
    """(H, W, 3) uint8 at ``size``: one over the depth, 255 at the crop's nearest, 0 at the horizon and above.

    The hazard is its box, cut out along what the guide drew where there is one. Other things in the crop are not
    known, and lie outside the mask.
    """
    near = 1 / depth(request)
    codes = np.rint(255 * near / max(float(near.max()), 1e-9)).astype(np.uint8)
    return to_canvas(np.repeat(codes[..., None], 3, axis=2), size)


def normal_picture(request: InpaintRequest, size: tuple[int, int]) -> np.ndarray:
    """(H, W, 3) uint8 at ``size``: which way the same surfaces face, coloured as NormalBae does.

    Red tells left, green up, blue towards the camera, from -1 at 0 to 1 at 255. What is not known faces the camera.
    """
    vectors = normals(request)
    facing = np.where(vectors.any(axis=-1, keepdims=True), -vectors, np.array([0.0, 0.0, 1.0]))
    return to_canvas(np.rint(127.5 * (facing + 1)).astype(np.uint8), size)


def depth(request: InpaintRequest) -> np.ndarray:
    """(h, w) float: metres along the optical axis to the ground or the hazard's box, in the crop; inf for neither."""
    return _surface(request)[0]


def normals(request: InpaintRequest) -> np.ndarray:
    """(h, w, 3) float: unit vectors off ground and box, in the camera's axes (right, down, ahead); 0 for neither."""
    return _surface(request)[1]


def _surface(request: InpaintRequest) -> tuple[np.ndarray, np.ndarray]:
    camera = request.camera
    height, width = request.mask.shape
    v, u = np.mgrid[:height, :width]
    rays, valid = unproject(camera, np.column_stack([u.ravel(), v.ravel()]))
    directions = np.where(valid[:, None], rays, 0.0) @ rotation(camera)  # of the ego frame
    eye = centre(camera)
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.where(directions[:, 2] < 0, -eye[2] / directions[:, 2], np.inf)
    facing = np.tile([0.0, 0.0, 1.0], (len(directions), 1))
    if request.hazard.kind != "null":
        hit, face = _to_box(eye, directions, request.placement)
        if request.guide_alpha is not None:
            hit = np.where(request.guide_alpha.ravel() > _SOLID, hit, np.inf)
        facing = np.where((hit < along)[:, None], face, facing)
        along = np.minimum(along, hit)
    with np.errstate(invalid="ignore"):
        depth = np.where(np.isfinite(along), along * rays[:, 2], np.inf)
    depth = np.where(valid & (depth > 0), depth, np.inf)
    facing = np.where(np.isfinite(depth)[:, None], facing @ rotation(camera).T, 0.0)
    return depth.reshape(height, width), facing.reshape(height, width, 3)


def _to_box(eye: np.ndarray, directions: np.ndarray, placement: Placement) -> tuple[np.ndarray, np.ndarray]:
    """(N,) how far along rays from ``eye`` (3,) in directions ``ahead`` (N, 3) they enter the box; inf: never.

    And (N, 3) which way the face looks that they enter by."""
    c, s = np.cos(placement.yaw), np.sin(placement.yaw)
    own = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    start = own @ (eye - np.array([placement.x, placement.y, 0.0]))
    steps = directions @ own.T
    size = placement.size
    low = np.array([-size.length / 2, -size.width / 2, 0.0])
    high = np.array([size.length / 2, size.width / 2, size.height])
    with np.errstate(divide="ignore", invalid="ignore"):
        walls = np.stack([(low - start) / steps, (high - start) / steps])
    nearer = walls.min(0)
    enter, leave = np.nanmax(nearer, axis=1), np.nanmin(walls.max(0), axis=1)
    by = np.where(np.isnan(nearer), -np.inf, nearer).argmax(axis=1)
    face = np.where(np.arange(3) == by[:, None], -np.sign(steps), 0.0) @ own
    return np.where((enter <= leave) & (enter > 0), enter, np.inf), face


# --- control -----------------------------------------------------------------------------------
# A ControlNet beside SDXL: shown ground and hazard as geometry, it keeps what is painted at its place and size.

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
