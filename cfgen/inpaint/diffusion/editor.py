"""What the newer editors share: a transformer that follows orders, and pictures in and out as they are."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from cfgen.inpaint.diffusion import load
from cfgen.inpaint.diffusion.base import Diffusion, Engine, Task


class Editor(Diffusion):
    """One pipeline of diffusers. Latents outside the mask are held to the crop's, cell by cell."""

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
        return self.settings.steps - int(self.settings.steps * (1 - task.strength))

    def paint(self, engine: Engine, tasks: Sequence[Task]) -> list[np.ndarray]:
        import torch

        with torch.inference_mode():
            made = engine.pipe(
                **self.told(engine, tasks),
                image=[Image.fromarray(task.image()) for task in tasks],
                mask_image=[Image.fromarray(task.mask(self.cell)) for task in tasks],
                strength=tasks[0].strength,
                num_inference_steps=self.settings.steps,
                generator=self.generators(tasks),
                output_type="np",
            ).images
        return [picture * np.float32(255) for picture in made]

    def told(self, engine: Engine, tasks: Sequence[Task]) -> dict[str, Any]:
        """The call's arguments for prompts and guidance."""
        raise NotImplementedError
