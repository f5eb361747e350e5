"""From the bytes that an image service sent to what is pasted: decoded, laid over the crop, and cut out."""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from cfgen.inpaint.gemini_image.align import align
from cfgen.inpaint.gemini_image.letterbox import Letterbox
from cfgen.inpaint.gemini_image.matte import matte
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
    aligned = align(box.mappings(answer), request.image, request.mask)
    report = {"answer_size": [answer.shape[1], answer.shape[0]], **aligned.report}
    if max_drift and aligned.drift > max_drift:
        return f"the answer is another picture: {aligned.drift:.1f} of 255 off outside the mask, at most {max_drift:g}"
    if request.hazard.kind == "null":
        return Laid(aligned.image, None, report)
    alpha = matte(aligned.image, request.image, request.mask)
    if not alpha.any():
        return "the answer shows nothing new where it was asked for"
    return Laid(aligned.image, alpha, report)


def _decode(data: bytes) -> np.ndarray | str:
    """(H, W, 3) uint8 RGB, or why not."""
    try:
        with Image.open(io.BytesIO(data)) as file:
            if not all(_LEAST <= side <= _MOST for side in file.size):
                return f"the answer is a picture of {file.width} x {file.height} pixels"
            return np.asarray(file.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):  # PIL raises each of them
        return f"the answer is no whole picture ({len(data)} bytes)"
