"""From a judge item to what is sent: encoded once, off the event loop, with nothing that names the case."""

import contextlib
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.files import FrameFile, FrameLike, file_bytes, write_bytes
from cfgen.core.paths import seal, unseal
from cfgen.judge.protocol import JudgeItem
from cfgen.judge.rubrics.registry import Rubric
from cfgen.models.base import Ask, Form, Picture, Turn

#: Larger frames are shrunk: models see no more than this, px.
MAX_SIDE = 1536
JPEG_QUALITY = 92
#: Encoded frames kept in memory; about 0.6 MB each.
_AT_HAND = 256


class Pictures:
    """Encodes pictures; stored frames once for all planners, arms and repeats, in ``folder`` (None keeps nothing).

    What is kept counts where it was kept by this user: nobody can lay another picture there.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        # by content, so that a picture is also hashed and put into text once
        self._frame = lru_cache(maxsize=_AT_HAND)(self._load)

    def ask(self, item: JudgeItem, rubric: Rubric, form: Form) -> Ask:
        """The rubric's question about one item. Pictures are JPEG without metadata, in the rubric's order."""
        parts = tuple(p if isinstance(p, str) else self.picture(p) for p in rubric.prompt(item))
        return Ask(rubric.system(form), (Turn("user", parts),), form, rubric.schema, item.key)

    def picture(self, shown: FrameLike) -> Picture:
        """An image or a stored frame as JPEG."""
        return picture(shown) if isinstance(shown, np.ndarray) else self._frame(shown)

    def _load(self, frame: FrameFile) -> Picture:
        if self.folder is None:
            return _read(frame)
        path = self._path(self.folder, frame)
        with contextlib.suppress(OSError):
            if data := unseal(path.read_bytes(), path.name):
                return Picture(data)
        made = _read(frame)
        write_bytes(path, seal(made.data, path.name))
        return made

    def keep(self, frame: FrameFile, pixels: np.ndarray) -> None:
        """Encode a frame of which somebody holds the pixels, (H, W, 3) RGB: judging it decodes nothing then."""
        if self.folder is not None and not (path := self._path(self.folder, frame)).is_file():
            write_bytes(path, seal(picture(pixels).data, path.name))

    def _path(self, folder: Path, frame: FrameFile) -> Path:
        return folder / f"{frame.hash.removeprefix('sha256:')}.{MAX_SIDE}.{JPEG_QUALITY}.jpg"


def picture(pixels: np.ndarray) -> Picture:
    """(H, W, 3) uint8 RGB as JPEG, shrunk to MAX_SIDE."""
    return _jpeg(cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))


def _read(frame: FrameFile) -> Picture:
    """A stored frame as JPEG; OpenCV lets other threads run while it decodes, and knows no words for a broken file."""
    found = None
    if frame.source is None:
        with contextlib.suppress(OSError, InputError, cv2.error):
            found = cv2.imdecode(np.frombuffer(file_bytes(frame.path), np.uint8), cv2.IMREAD_COLOR)
    return picture(frame.read()) if found is None else _jpeg(found)


def _jpeg(bgr: np.ndarray) -> Picture:
    longest = max(bgr.shape[:2])
    if longest > MAX_SIDE:
        size = tuple(max(1, round(side * MAX_SIDE / longest)) for side in bgr.shape[1::-1])
        bgr = cv2.resize(bgr, size, interpolation=cv2.INTER_AREA)
    done, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not done:
        raise InputError(f"cannot encode a picture of shape {bgr.shape} as JPEG")
    return Picture(data.tobytes())
