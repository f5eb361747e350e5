"""What the newer editors share: a transformer that follows orders, and pictures in and out as they are."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from PIL import Image
from pydantic import Field

from cfgen.core.errors import CfgenError
from cfgen.inpaint.align import align, astray
from cfgen.inpaint.diffusion import load
from cfgen.inpaint.diffusion.base import (
    FULL,
    Diffusion,
    Engine,
    Task,
    schedule,
    schedule_shift,
    unshifted_schedule,
)
from cfgen.inpaint.diffusion.canvas import from_canvas, to_canvas
from cfgen.inpaint.diffusion.load import Options

#: An edit that starts low takes at least so many steps of those that there are.
_LEAST_STEPS = 2


class Editor(Diffusion):
    """One pipeline of diffusers. Latents outside the mask are held to the crop's, cell by cell.

    An edit's strength is the sigma that it starts at.
    """

    #: its class in diffusers
    pipeline: str
    multiple, cell = 32, 16
    instructed = True

    def open(self) -> Engine:
        import diffusers

        weights = load.find_weights(self.name, self.settings)
        kind = getattr(diffusers, self.pipeline)
        pipe = load.load_pipeline(self.name, kind, weights, self.settings, self.dtype)
        load.add_loras(self.name, pipe, self.loras())
        load.put_on(pipe, self.settings, self.device, "transformer")
        return Engine(pipe, weights.revision)

    def steps_run(self, task: Task) -> int:
        steps = self.settings.steps
        return max(steps - int(steps * (1 - task.strength)), min(steps, _LEAST_STEPS))

    def too_few(self, strength: float) -> str:
        return ""

    def start(self, engine: Engine, task: Task) -> float:
        return 1.0 if task.strength >= FULL else task.strength

    def mu(self, engine: Engine, tokens: int) -> float:
        """What the pipeline derives from a canvas of so many tokens, to shift its sigmas by."""
        from diffusers.pipelines.flux.pipeline_flux import calculate_shift

        config = engine.pipe.scheduler.config
        names = ("base_image_seq_len", "max_image_seq_len", "base_shift", "max_shift")
        usual = (256, 4096, 0.5, 1.15)
        return float(calculate_shift(tokens, *(config.get(n, u) for n, u in zip(names, usual, strict=True))))

    def _sigmas(self, engine: Engine, task: Task) -> list[float]:
        cells = [side // engine.pipe.vae_scale_factor // 2 for side in task.size]
        bend = schedule_shift(engine.pipe.scheduler, self.mu(engine, cells[0] * cells[1]))
        return schedule(self.start(engine, task), self.steps_run(task), bend)

    def paint(self, engine: Engine, tasks: Sequence[Task]) -> list[np.ndarray]:
        import torch

        sigmas = self._sigmas(engine, tasks[0])
        with torch.inference_mode(), unshifted_schedule(engine.pipe):
            images = self.call(
                engine, tasks, sigmas=sigmas, num_inference_steps=len(sigmas),
                generator=self.generators(tasks), output_type="np",
            )  # fmt: skip
        if images[0].shape[:2] != tasks[0].size:
            raise CfgenError(
                f"inpainter '{self.name}': {self.pipeline} of diffusers brought a picture of {tasks[0].size} pixels "
                f"(height, width) to {images[0].shape[:2]}: it resizes; install the version in constraints.txt"
            )
        return [picture * np.float32(255) for picture in images]

    def call(self, engine: Engine, tasks: Sequence[Task], **how: Any) -> Sequence[Any]:
        """What the pipeline makes of the tasks, called with ``how`` besides."""
        images: Sequence[Any] = engine.pipe(
            **self.call_arguments(engine, tasks),
            image=[Image.fromarray(task.image()) for task in tasks],
            mask_image=[Image.fromarray(task.mask(self.cell)) for task in tasks],
            strength=1.0,
            **how,
        ).images
        return images

    def call_arguments(self, engine: Engine, tasks: Sequence[Task]) -> dict[str, Any]:
        """The call's arguments for prompts and guidance."""
        raise NotImplementedError


# --- unmasked ----------------------------------------------------------------------------------
# Editors that take no mask: they paint the whole picture anew, and what is outside the mask is their ruler.


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
