"""Qwen-Image-Edit, with a mask and without: large editors that read the picture before they follow an order.

Apache-2.0."""

from collections.abc import Sequence
from typing import Any, Literal

from cfgen.inpaint.diffusion.base import Engine, Task
from cfgen.inpaint.diffusion.canvas import settled
from cfgen.inpaint.diffusion.editor import Editor, Unmasked, UnmaskedOptions
from cfgen.inpaint.diffusion.load import Guidance, Options, Steps


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
        from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_inpaint as module

        return settled(lambda ratio: module.calculate_dimensions(1024 * 1024, ratio)[:2], height, width)

    def call_arguments(self, engine: Engine, tasks: Sequence[Task]) -> dict[str, Any]:
        return _qwen_arguments(tasks, self.settings.guidance)


class QwenImageEditPlusOptions(UnmaskedOptions):
    model: str = "Qwen/Qwen-Image-Edit-2511"
    steps: Steps = 40
    guidance: Guidance = 4.0


class QwenImageEditPlus(Unmasked):
    """Qwen-Image-Edit of 2509 or later on this machine.

    It takes no mask: only what it painted inside the mask is pasted."""

    name = "qwen-image-edit-plus"
    Options = QwenImageEditPlusOptions
    pipeline = "QwenImageEditPlusPipeline"
    film = True

    def canvas(self, height: int, width: int) -> tuple[int, int]:
        from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_plus as module

        return settled(lambda ratio: module.calculate_dimensions(1024 * 1024, ratio), height, width)

    def call_arguments(self, engine: Engine, tasks: Sequence[Task]) -> dict[str, Any]:
        return _qwen_arguments(tasks, self.settings.guidance)


def _qwen_arguments(tasks: Sequence[Task], guidance: float) -> dict[str, Any]:
    arguments: dict[str, Any] = {"prompt": [task.prompt for task in tasks], "true_cfg_scale": guidance}
    if guidance > 1:
        arguments["negative_prompt"] = [task.negative or " " for task in tasks]  # none at all switches it off
    return arguments
