"""Qwen-Image-Edit, with a mask and without: large editors that read the picture before they follow an order.

Apache-2.0."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from PIL import Image
from pydantic import Field

from cfgen.inpaint.align import align, astray
from cfgen.inpaint.diffusion.base import FULL, DiffusionEngine, Task
from cfgen.inpaint.diffusion.canvas import from_canvas, settled, to_canvas
from cfgen.inpaint.diffusion.editor import Editor
from cfgen.inpaint.diffusion.load import DiffusionOptions, Guidance, Steps


class QwenImageEditOptions(DiffusionOptions):
    model: str = "Qwen/Qwen-Image-Edit"
    steps: Steps = 40
    guidance: Guidance = 4.0
    #: the pipeline has no other
    resolution: Literal[1024] = 1024
    batch_size: int = 1


class QwenImageEdit(Editor):
    """Qwen-Image-Edit on this machine.

    Text and picture are encoded together, so no encoding serves twice."""

    name = "qwen-image-edit"
    Options = QwenImageEditOptions
    pipeline = "QwenImageEditInpaintPipeline"

    def canvas(self, height: int, width: int) -> tuple[int, int]:
        from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_inpaint as module

        return settled(lambda ratio: module.calculate_dimensions(1024 * 1024, ratio)[:2], height, width)

    def call_arguments(self, engine: DiffusionEngine, tasks: Sequence[Task]) -> dict[str, Any]:
        guidance = self.settings.guidance
        arguments: dict[str, Any] = {"prompt": [task.prompt for task in tasks], "true_cfg_scale": guidance}
        if guidance > 1:
            arguments["negative_prompt"] = [
                task.negative or " " for task in tasks
            ]  # none at all switches it off
        return arguments


class QwenImageEditPlusOptions(QwenImageEditOptions):
    model: str = "Qwen/Qwen-Image-Edit-2511"
    #: mean change (8 bit) left outside the mask from which on an answer is refused; 0: none is
    max_drift: float = Field(default=20.0, ge=0, le=255)


class QwenImageEditPlus(QwenImageEdit):
    """Qwen-Image-Edit of 2509 or later on this machine.

    It takes no mask and paints the whole picture anew: only what is inside the mask is pasted, and what is outside is
    the ruler by which an answer is laid over its crop; one that is another picture, or bent, is refused. The crop,
    with the guide's insert where there is one, is the picture that the order is about, and an edit of less than full
    strength also starts from it. Pictures go in one by one."""

    name = "qwen-image-edit-plus"
    Options = QwenImageEditPlusOptions
    pipeline = "QwenImageEditPlusPipeline"

    def canvas(self, height: int, width: int) -> tuple[int, int]:
        from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_plus as module

        return settled(lambda ratio: module.calculate_dimensions(1024 * 1024, ratio), height, width)

    def call(self, engine: DiffusionEngine, tasks: Sequence[Task], **how: Any) -> list[Any]:
        images, noises = [], how.pop("generator")
        for task, noise in zip(tasks, noises, strict=True):
            picture = Image.fromarray(task.image())
            arguments = self.call_arguments(engine, [task])
            if self.start(engine, task) < FULL:
                arguments["latents"] = self._noised_latents(engine, task, picture, noise)
            images.append(engine.pipe(**arguments, image=picture, generator=noise, **how).images[0])
        return images

    def _noised_latents(self, engine: DiffusionEngine, task: Task, picture: Image.Image, noise: Any) -> Any:
        """The picture's latents under as much noise as the edit starts with."""
        from diffusers.utils.torch_utils import randn_tensor

        pipe, sigma = engine.pipe, self.start(engine, task)
        pixels = pipe.image_processor.preprocess(picture).to(pipe._execution_device, pipe.vae.dtype)
        latents = pipe._encode_vae_image(pixels.unsqueeze(2), noise)
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
