"""FLUX.2 klein inpainting: a small editor that follows orders in four steps. Its 4B weights are Apache-2.0."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from cfgen.inpaint.diffusion.base import DiffusionEngine, Task
from cfgen.inpaint.diffusion.editor import Editor
from cfgen.inpaint.diffusion.load import DiffusionOptions, Guidance, Steps


class Flux2KleinOptions(DiffusionOptions):
    model: str = "black-forest-labs/FLUX.2-klein-4B"
    steps: Steps = 4
    #: only base models, which are not distilled, heed it
    guidance: Guidance = 1.0
    #: the pipeline shrinks what is larger
    resolution: int = Field(default=1024, ge=32, le=1024)


class Flux2Klein(Editor):
    """FLUX.2 klein on this machine.

    The crop is also the model's reference picture. Each text is encoded once."""

    name = "flux2-klein"
    Options = Flux2KleinOptions
    pipeline = "Flux2KleinInpaintPipeline"

    def mu(self, engine: DiffusionEngine, tokens: int) -> float:
        from diffusers.pipelines.flux2.pipeline_flux2_klein_inpaint import compute_empirical_mu

        return float(compute_empirical_mu(image_seq_len=tokens, num_steps=self.settings.steps))

    def call_arguments(self, engine: DiffusionEngine, tasks: Sequence[Task]) -> dict[str, Any]:
        import torch

        pipe = engine.pipe
        texts = {"prompt_embeds": [task.prompt for task in tasks]}
        if self.settings.guidance > 1 and not pipe.config.is_distilled:
            texts["negative_prompt_embeds"] = [task.negative for task in tasks]
        prompts = dict.fromkeys(text for group in texts.values() for text in group)
        if new := [text for text in prompts if text not in engine.texts]:
            engine.texts.update(zip(new, pipe.encode_prompt(new)[0], strict=True))
        stacked = {k: torch.stack([engine.texts[text] for text in group]) for k, group in texts.items()}
        return {**stacked, "guidance_scale": self.settings.guidance}
