"""From the bytes that an image service sent to what is pasted: decoded, laid over the crop, and cut out."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from cfgen.inpaint.align import align, astray
from cfgen.inpaint.gemini_image.letterbox import Letterbox
from cfgen.inpaint.gemini_image.matte import matte
from cfgen.inpaint.paste import blend
from cfgen.inpaint.protocol import InpaintRequest

#: An answer smaller than this, or larger, is none, pixels a side.
_LEAST, _MOST = 64, 8192


@dataclass(frozen=True, eq=False)
class Laid:
    """A usable answer as the crop lies: image (H, W, 3) uint8, and coverage (H, W) float32 of what was added.

    For the null edit the coverage is None: all of the mask is pasted, so that it shows what redrawing does.
    """

    image: np.ndarray
    alpha: np.ndarray | None
    report: dict[str, Any]


def lay(data: bytes, request: InpaintRequest, box: Letterbox, max_drift: float) -> Laid | str:
    """The answer laid over its crop, or why it is of no use."""
    answer = _decode(data)
    if isinstance(answer, str):
        return answer
    aligned = align(_mappings(answer, request.image, box), request.image, request.mask)
    why, tile = astray(aligned, request.image, request.mask, max_drift)
    if why:
        return why
    report = {"answer_size": [answer.shape[1], answer.shape[0]], **aligned.report, "worst_tile": tile}
    if request.hazard.kind == "null":
        return Laid(aligned.image, None, report)
    alpha = matte(aligned.image, request.image, request.mask)
    if not alpha.any():
        return "the answer shows nothing new where it was asked for"
    return Laid(aligned.image, alpha, report)


def _mappings(answer: np.ndarray, crop: np.ndarray, box: Letterbox) -> Mapping[str, np.ndarray]:
    """The crop's part of the answer by how it was found; what is transparent shows the crop."""
    mappings = box.mappings(np.ascontiguousarray(answer[..., :3]))
    if answer.shape[2] == 3:
        return mappings
    covers = box.mappings(np.repeat(answer[..., 3:], 3, axis=2))
    return {name: blend(crop, mappings[name], covers[name][..., 0] / np.float32(255)) for name in mappings}


def _decode(data: bytes) -> np.ndarray | str:
    """(H, W, 3) uint8 RGB as a viewer would turn it, or (H, W, 4) where parts are transparent; or why not."""
    try:
        with Image.open(io.BytesIO(data)) as file:
            if not all(_LEAST <= side <= _MOST for side in file.size):
                return f"the answer is a picture of {file.width} x {file.height} pixels"
            upright = ImageOps.exif_transpose(file)
            return np.asarray(upright.convert("RGBA" if upright.has_transparency_data else "RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):  # PIL raises each of them
        return f"the answer is no whole picture ({len(data)} bytes)"
