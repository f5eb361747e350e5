"""What the newer editors share: a transformer that follows orders, and pictures in and out as they are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from cfgen.core.errors import CfgenError
from cfgen.inpaint.diffusion import load
from cfgen.inpaint.diffusion.base import (
    FULL,
    Diffusion,
    DiffusionEngine,
    Task,
    schedule,
    schedule_shift,
    unshifted_schedule,
)

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

    def open(self) -> DiffusionEngine:
        import diffusers

        weights = load.find_weights(self.name, self.settings)
        kind = getattr(diffusers, self.pipeline)
        pipe = load.load_pipeline(self.name, kind, weights, self.settings, self.dtype)
        load.add_loras(self.name, pipe, self.loras())
        load.put_on(pipe, self.settings, self.device, "transformer")
        return DiffusionEngine(pipe, weights.revision)

    def steps_run(self, task: Task) -> int:
        steps = self.settings.steps
        return max(steps - int(steps * (1 - task.strength)), min(steps, _LEAST_STEPS))

    def too_few(self, strength: float) -> str:
        return ""

    def start(self, engine: DiffusionEngine, task: Task) -> float:
        return 1.0 if task.strength >= FULL else task.strength

    def mu(self, engine: DiffusionEngine, tokens: int) -> float:
        """What the pipeline derives from a canvas of so many tokens, to shift its sigmas by."""
        from diffusers.pipelines.flux.pipeline_flux import calculate_shift

        config = engine.pipe.scheduler.config
        names = ("base_image_seq_len", "max_image_seq_len", "base_shift", "max_shift")
        usual = (256, 4096, 0.5, 1.15)
        return float(calculate_shift(tokens, *(config.get(n, u) for n, u in zip(names, usual, strict=True))))

    def _sigmas(self, engine: DiffusionEngine, task: Task) -> list[float]:
        cells = [side // engine.pipe.vae_scale_factor // 2 for side in task.size]
        bend = schedule_shift(engine.pipe.scheduler, self.mu(engine, cells[0] * cells[1]))
        return schedule(self.start(engine, task), self.steps_run(task), bend)

    def paint(self, engine: DiffusionEngine, tasks: Sequence[Task]) -> list[np.ndarray]:
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

    def call(self, engine: DiffusionEngine, tasks: Sequence[Task], **how: Any) -> Sequence[Any]:
        """What the pipeline makes of the tasks, called with ``how`` besides."""
        images: Sequence[Any] = engine.pipe(
            **self.call_arguments(engine, tasks),
            image=[Image.fromarray(task.image()) for task in tasks],
            mask_image=[Image.fromarray(task.mask(self.cell)) for task in tasks],
            strength=1.0,
            **how,
        ).images
        return images

    def call_arguments(self, engine: DiffusionEngine, tasks: Sequence[Task]) -> dict[str, Any]:
        """The call's arguments for prompts and guidance."""
        raise NotImplementedError
