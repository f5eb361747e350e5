"""Qwen-Image-Edit inpainting: a large editor that reads the picture before it follows the order. Apache-2.0."""

from collections.abc import Sequence
from typing import Any, Literal

from cfgen.inpaint.diffusion.base import Engine, Task
from cfgen.inpaint.diffusion.editor import Editor
from cfgen.inpaint.diffusion.options import Guidance, Options, Steps


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

    def mu(self, engine: Engine, tokens: int) -> float:
        from diffusers.pipelines.qwenimage.pipeline_qwenimage_edit_inpaint import calculate_shift

        config = engine.pipe.scheduler.config
        names = ("base_image_seq_len", "max_image_seq_len", "base_shift", "max_shift")
        usual = (256, 4096, 0.5, 1.15)
        return float(calculate_shift(tokens, *(config.get(n, u) for n, u in zip(names, usual, strict=True))))

    def told(self, engine: Engine, tasks: Sequence[Task]) -> dict[str, Any]:
        told: dict[str, Any] = {
            "prompt": [task.prompt for task in tasks],
            "true_cfg_scale": self.settings.guidance,
        }
        if self.settings.guidance > 1:
            told["negative_prompt"] = [task.negative or " " for task in tasks]  # none at all switches it off
        return told
