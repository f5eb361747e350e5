"""Z-Image inpainting: a small model that continues a caption in eight steps. Apache-2.0."""

from collections.abc import Sequence
from typing import Any

from cfgen.inpaint.diffusion.base import DiffusionEngine, Task
from cfgen.inpaint.diffusion.editor import Editor
from cfgen.inpaint.diffusion.load import DiffusionOptions, Guidance, Steps


class ZImageOptions(DiffusionOptions):
    model: str = "Tongyi-MAI/Z-Image-Turbo"
    steps: Steps = 8
    #: only models that are not distilled heed it
    guidance: Guidance = 0.0


class ZImage(Editor):
    """Z-Image on this machine. Each text is encoded once."""

    name = "z-image"
    Options = ZImageOptions
    pipeline = "ZImageInpaintPipeline"
    instructed = False

    def call_arguments(self, engine: DiffusionEngine, tasks: Sequence[Task]) -> dict[str, Any]:
        texts = {"prompt_embeds": [task.prompt for task in tasks]}
        if self.settings.guidance > 0:
            texts["negative_prompt_embeds"] = [task.negative for task in tasks]
        prompts = dict.fromkeys(text for group in texts.values() for text in group)
        if new := [text for text in prompts if text not in engine.texts]:
            # a list of its own: the pipeline writes its template into the one that it is given
            embeds, _ = engine.pipe.encode_prompt([*new], do_classifier_free_guidance=False)
            engine.texts.update(zip(new, embeds, strict=True))
        arguments = {name: [engine.texts[text] for text in group] for name, group in texts.items()}
        return {**arguments, "guidance_scale": self.settings.guidance}
