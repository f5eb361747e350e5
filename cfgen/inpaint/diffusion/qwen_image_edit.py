"""Qwen-Image-Edit inpainting: a large editor that reads the picture before it follows the order. Apache-2.0."""

from collections.abc import Sequence
from typing import Any, Literal

from cfgen.inpaint.diffusion.base import Engine, Task
from cfgen.inpaint.diffusion.editor import Editor
from cfgen.inpaint.diffusion.options import Guidance, Options, Steps

#: Rounding to whole cells changes the proportions: the second or third size stays as it is.
_MOST_ROUNDS = 8


class QwenImageEditOptions(Options):
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
        """The pipeline brings every picture to a megapixel of its proportions: one that it leaves as it is."""
        from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_inpaint as module

        wide, high = width, height
        for _ in range(_MOST_ROUNDS):
            before = wide, high
            wide, high, _ = module.calculate_dimensions(1024 * 1024, wide / high)
            if (wide, high) == before:
                break
        return high, wide

    def told(self, engine: Engine, tasks: Sequence[Task]) -> dict[str, Any]:
        told: dict[str, Any] = {
            "prompt": [task.prompt for task in tasks],
            "true_cfg_scale": self.settings.guidance,
        }
        if self.settings.guidance > 1:
            told["negative_prompt"] = [task.negative or " " for task in tasks]  # none at all switches it off
        return told
