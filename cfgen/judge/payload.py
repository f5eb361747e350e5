"""From a judge item to what is sent: encoded once, off the event loop, with nothing that names the case."""

from pathlib import Path

import cv2
import numpy as np

from cfgen.errors import InputError
from cfgen.files import write_bytes
from cfgen.judge.protocol import JudgeItem, Shown
from cfgen.judge.rubrics.hazard import HazardRubric
from cfgen.models.base import Ask, Form, Picture, Turn

#: Larger frames are shrunk: models see no more than this, px.
MAX_SIDE = 1536
JPEG_QUALITY = 92


class Pictures:
    """Encodes pictures; stored frames once for all planners, arms and repeats, in ``folder`` (None keeps nothing)."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def ask(self, item: JudgeItem, rubric: HazardRubric, form: Form) -> Ask:
        """The rubric's question about one item. Pictures are JPEG without metadata, in the rubric's order."""
        parts = tuple(p if isinstance(p, str) else self.picture(p) for p in rubric.prompt(item))
        return Ask(rubric.system(form), (Turn("user", parts),), form, rubric.schema, item.key)

    def picture(self, shown: Shown) -> Picture:
        """An image or a stored frame as JPEG."""
        if isinstance(shown, np.ndarray):
            return picture(shown)
        if self.folder is None:
            return picture(shown.pixels)
        path = self.folder / f"{shown.hash.removeprefix('sha256:')}.{MAX_SIDE}.{JPEG_QUALITY}.jpg"
        if path.is_file():
            return Picture(path.read_bytes())
        made = picture(shown.pixels)
        write_bytes(path, made.data)
        return made


def picture(pixels: np.ndarray) -> Picture:
    """(H, W, 3) uint8 RGB as JPEG, shrunk to MAX_SIDE."""
    longest = max(pixels.shape[:2])
    if longest > MAX_SIDE:
        size = tuple(max(1, round(side * MAX_SIDE / longest)) for side in pixels.shape[1::-1])
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    done, data = cv2.imencode(
        ".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
    )
    if not done:
        raise InputError(f"cannot encode a picture of shape {pixels.shape} as JPEG")
    return Picture(data.tobytes())
