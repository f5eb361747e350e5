"""FLUX.1 Fill and FLUX.1 Kontext inpainting. Their weights are for non-commercial use and given out on request."""

from collections.abc import Sequence
from typing import Any

from cfgen.inpaint.diffusion.base import Engine, Task
from cfgen.inpaint.diffusion.editor import Editor
from cfgen.inpaint.diffusion.load import Guidance, Options, Steps


class _Flux(Editor):
    """Each text is encoded once."""

    def call_arguments(self, engine: Engine, tasks: Sequence[Task]) -> dict[str, Any]:
        import torch

        prompts = [task.prompt for task in tasks]
        if new := [text for text in dict.fromkeys(prompts) if text not in engine.texts]:
            embeds, pooled, _ = engine.pipe.encode_prompt(new, None)
            engine.texts.update(zip(new, zip(embeds, pooled, strict=True), strict=True))
        embeds, pooled = zip(*(engine.texts[text] for text in prompts), strict=True)
        return {
            "prompt_embeds": torch.stack(embeds),
            "pooled_prompt_embeds": torch.stack(pooled),
            "guidance_scale": self.settings.guidance,
        }


class FluxFillOptions(Options):
    model: str = "black-forest-labs/FLUX.1-Fill-dev"
    steps: Steps = 50
    guidance: Guidance = 30.0
    batch_size: int = 1


class FluxFill(_Flux):
    """FLUX.1 Fill on this machine: continues a caption.

    It is shown what is outside the mask, and paints that again as well."""

    name = "flux-fill"
    Options = FluxFillOptions
    pipeline = "FluxFillPipeline"
    instructed = False

    def call_arguments(self, engine: Engine, tasks: Sequence[Task]) -> dict[str, Any]:
        height, width = tasks[0].size
        return {**super().call_arguments(engine, tasks), "height": height, "width": width}


class FluxKontextOptions(Options):
    model: str = "black-forest-labs/FLUX.1-Kontext-dev"
    steps: Steps = 28
    guidance: Guidance = 2.5
    batch_size: int = 1


class FluxKontext(_Flux):
    """FLUX.1 Kontext on this machine: follows orders. The crop is also the model's reference picture."""

    name = "flux-kontext"
    Options = FluxKontextOptions
    pipeline = "FluxKontextInpaintPipeline"

    def call_arguments(self, engine: Engine, tasks: Sequence[Task]) -> dict[str, Any]:
        return {**super().call_arguments(engine, tasks), "_auto_resize": False}
