"""LongCat-Image-Edit: follows orders about a whole picture. Apache-2.0."""

from collections.abc import Sequence
from typing import Any

from cfgen.inpaint.diffusion.base import Engine, Task
from cfgen.inpaint.diffusion.canvas import settled
from cfgen.inpaint.diffusion.editor import Unmasked, UnmaskedOptions
from cfgen.inpaint.diffusion.load import Guidance, Steps


class LongCatOptions(UnmaskedOptions):
    model: str = "meituan-longcat/LongCat-Image-Edit"
    steps: Steps = 50
    guidance: Guidance = 4.5


class LongCatImageEdit(Unmasked):
    """LongCat-Image-Edit on this machine. It takes no mask: only what it painted inside the mask is pasted.

    Text and picture are encoded together, so no encoding serves twice."""

    name = "longcat-image-edit"
    Options = LongCatOptions
    pipeline = "LongCatImageEditPipeline"

    def canvas(self, height: int, width: int) -> tuple[int, int]:
        from diffusers.pipelines.longcat_image import pipeline_longcat_image_edit as module

        return settled(lambda ratio: module.calculate_dimensions(1024 * 1024, ratio), height, width)

    def call_arguments(self, engine: Engine, tasks: Sequence[Task]) -> dict[str, Any]:
        return {
            "prompt": [task.prompt for task in tasks],
            "negative_prompt": [task.negative for task in tasks],
            "guidance_scale": self.settings.guidance,
        }
