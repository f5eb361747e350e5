"""The tiny checkpoints that ``tools/gpu_smoke.py --tiny`` runs on, each made once in a folder."""

from pathlib import Path


def checkpoint(kind: str, folder: Path) -> Path:
    """A saved checkpoint of that kind of model; kept from one call to the next."""
    from tests import tiny_masks
    from tests.inpaint.diffusion import tiny_editors, tiny_sdxl

    if kind == "qwen":
        _small_qwen()
    where = folder / kind
    if kind == "sdxl":
        return where / "sdxl" if where.is_dir() else tiny_sdxl.tiny_sdxl(where, tiny_sdxl.clear_vae())
    makers = {
        "klein": tiny_editors.tiny_klein,
        "qwen": tiny_editors.tiny_qwen,
        "sam2": tiny_masks.tiny_sam2,
        "grounding-dino": lambda where: tiny_masks.tiny_grounding_dino(where, 2 * tiny_masks.SIDE),
    }
    return where if where.is_dir() else makers[kind](where)


def _small_qwen() -> None:
    """Its pipeline brings every picture to a megapixel, which takes a processor minutes: here to 64 x 64."""
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_inpaint as module

    real = getattr(module.calculate_dimensions, "whole", module.calculate_dimensions)

    def small(_area: int, ratio: float) -> tuple[int, int, None]:
        return real(64 * 64, ratio)

    small.whole = real
    module.calculate_dimensions = small
