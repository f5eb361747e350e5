"""Frames by number: from a video file, or from a folder of images."""

from collections import OrderedDict
from pathlib import Path

import cv2
import numpy as np

from cfgen.errors import InputError
from cfgen.scenes.folder import Image

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png")
_KEPT = 16


class VideoFrames:
    """Random access to a video by decoding forwards, since raw streams cannot seek; the last frames are kept.

    Attributes:
        fps, count: as the container says; 0 where it does not (raw HEVC).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._capture = self._open()
        self.fps = max(0.0, float(self._capture.get(cv2.CAP_PROP_FPS)))
        self.count = max(0, int(self._capture.get(cv2.CAP_PROP_FRAME_COUNT)))
        self._next = 0
        self._kept: OrderedDict[int, Image] = OrderedDict()

    def read(self, index: int) -> Image:
        """(H, W, 3) uint8 RGB of frame ``index``.

        Raises:
            InputError: the video ends before it.
        """
        if index in self._kept:
            return self._kept[index]
        if index < self._next:
            self._capture.release()
            self._capture, self._next = self._open(), 0
        while self._next < index and self._capture.grab():
            self._next += 1
        done, bgr = self._capture.read()
        if not done:
            raise InputError(
                f"{self.path}: expected a frame {index}, found the video's end after {self._next}; "
                "the file is cut short, or its log belongs to another video"
            )
        self._next += 1
        pixels: Image = np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), np.uint8)
        self._kept[index] = pixels
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return pixels

    def _open(self) -> cv2.VideoCapture:
        capture = cv2.VideoCapture(str(self.path))
        if not capture.isOpened():
            raise InputError(
                f"{self.path}: expected a video, found something that does not decode; convert it to mp4 (H.264)"
            )
        return capture


def image_files(folder: Path) -> list[Path]:
    """Images in a folder, sorted by name.

    Raises:
        InputError: there are none.
    """
    found = sorted(p for p in folder.iterdir() if p.suffix.lower() in IMAGE_SUFFIXES)
    if not found:
        raise InputError(f"{folder}: expected images ({', '.join(IMAGE_SUFFIXES)}), found none")
    return found
