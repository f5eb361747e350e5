"""Editors that take no mask: they paint the whole picture anew, and what is outside the mask is their ruler."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from PIL import Image
from pydantic import Field

from cfgen.inpaint.align import align, astray
from cfgen.inpaint.diffusion.base import Engine, Task
from cfgen.inpaint.diffusion.canvas import from_canvas, to_canvas
from cfgen.inpaint.diffusion.editor import Editor
from cfgen.inpaint.diffusion.options import Options
from cfgen.inpaint.diffusion.sigmas import FULL


class UnmaskedOptions(Options):
    #: their pipelines have no other
    resolution: Literal[1024] = 1024
    batch_size: int = 1
    #: mean change (8 bit) left outside the mask from which on an answer is refused; 0: none is
    max_drift: float = Field(default=20.0, ge=0, le=255)


class Unmasked(Editor):
    """The crop, with the guide's insert where there is one, is the picture that the order is about.

    An edit of less than full strength also starts from it. Pictures go in one by one. An answer is laid over its crop
    by what should have stayed; one that is another picture, or bent, is refused.
    """

    #: whether its VAE takes pictures as films of one frame
    film = False

    def call(self, engine: Engine, tasks: Sequence[Task], **how: Any) -> list[Any]:
        images, noises = [], how.pop("generator")
        for task, noise in zip(tasks, noises, strict=True):
            picture = Image.fromarray(task.image())
            arguments = self.call_arguments(engine, [task])
            if self.start(engine, task) < FULL:
                arguments["latents"] = self._begun(engine, task, picture, noise)
            images.append(engine.pipe(**arguments, image=picture, generator=noise, **how).images[0])
        return images

    def _begun(self, engine: Engine, task: Task, picture: Image.Image, noise: Any) -> Any:
        """The picture's latents under as much noise as the edit starts with."""
        from diffusers.utils.torch_utils import randn_tensor

        pipe, sigma = engine.pipe, self.start(engine, task)
        pixels = pipe.image_processor.preprocess(picture).to(pipe._execution_device, pipe.vae.dtype)
        latents = pipe._encode_vae_image(pixels.unsqueeze(2) if self.film else pixels, noise)
        random_latents = randn_tensor(
            latents.shape, generator=noise, device=latents.device, dtype=latents.dtype
        )
        mixed = (1 - sigma) * latents + sigma * random_latents
        return pipe._pack_latents(mixed, 1, latents.shape[1], *latents.shape[-2:])

    def back(self, task: Task, picture: np.ndarray) -> tuple[np.ndarray | str, dict[str, Any]]:
        crop, mask = task.start(), task.request.mask
        small = to_canvas(np.clip(np.rint(picture), 0, 255).astype(np.uint8), mask.shape)
        laid = align({"resized": small}, crop, mask)
        why, tile = astray(laid, crop, mask, self.settings.max_drift)
        report = {**laid.report, "worst_tile": tile}
        return why or from_canvas(laid.image.astype(np.float32), crop, mask), report
