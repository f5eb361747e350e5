"""Frames by number: from a video file, or from a folder of images."""

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path

import cv2
import numpy as np
from PIL import ExifTags, ImageOps
from PIL import Image as Pillow

from cfgen.core.errors import InputError
from cfgen.core.files import check_no_pipe, read_image, reading, stand_in
from cfgen.scenes.folder import Image
from cfgen.scenes.readers.listing import is_visible

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
        self.fps = max(0.0, np.nan_to_num(float(self._capture.get(cv2.CAP_PROP_FPS))))
        self.count = max(0, int(np.nan_to_num(self._capture.get(cv2.CAP_PROP_FRAME_COUNT))))
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
        with reading(self.path, "a video", "restore the file"):
            check_no_pipe(self.path)
            self.path.open("rb").close()
        with reading(self.path, "a video", "rename the file if its name is unusual"):
            capture = cv2.VideoCapture(str(self.path))
        if not capture.isOpened():
            found = stand_in(self.path) or "something that does not decode; convert it to mp4 (H.264)"
            raise InputError(f"{self.path}: expected a video, found {found}")
        return capture


def image_files(folder: Path, suffixes: tuple[str, ...] = IMAGE_SUFFIXES) -> list[Path]:
    """Images in a folder, by their ``suffixes`` in lower case, sorted by name.

    Raises:
        InputError: there are none.
    """
    with reading(folder, "a folder of images", "get the frames, or check the path"):
        names = [p for p in folder.iterdir() if is_visible(p.name)]
    found = sorted(p for p in names if p.suffix.lower() in suffixes)
    if not found:
        raise InputError(f"{folder}: expected images ({', '.join(suffixes)}), found none")
    return found


def numbered_images(folder: Path) -> list[Path]:
    """Images in a folder whose names are numbers, sorted by them.

    Raises:
        InputError: there are none.
    """
    found = [path for path in image_files(folder) if path.stem.isascii() and path.stem.isdigit()]
    if not found:
        raise InputError(f"{folder}: expected images whose names are numbers, found none")
    return sorted(found, key=lambda path: int(path.stem))


def size_of(files: Iterable[Path]) -> tuple[int, int]:
    """Width and height, turned upright, of the first image that decodes.

    Raises:
        InputError: none does; says what is wrong with the first.
    """
    wrong: InputError | None = None
    for path in files:
        try:
            height, width = turned(path, read_image(path)).shape[:2]
        except InputError as error:
            wrong = wrong or error
        else:
            return width, height
    raise wrong or InputError("expected images, found none")


def turned(path: Path, pixels: Image) -> Image:
    """(H, W, 3) uint8 RGB ``pixels`` of a picture as its EXIF orientation (EXIF 2.32, tag 274) says; themselves where
    it says nothing."""
    way = _orientation(path)
    if way not in range(2, 9):
        return pixels
    bare = Pillow.fromarray(pixels)
    bare.getexif()[ExifTags.Base.Orientation] = way
    return np.asarray(ImageOps.exif_transpose(bare))


def upright(path: Path) -> Image | Path:
    """A JPEG or PNG file as a scene can hold it: itself, or its pixels where it has to be turned."""
    return turned(path, read_image(path)) if _orientation(path) in range(2, 9) else path


def _orientation(path: Path) -> int:
    """As its EXIF data tell; 1, upright, where they do not."""
    try:
        with Pillow.open(path) as picture:
            if picture.format == "TIFF":
                picture.load()  # is turned by that, and its orientation is gone then
            return int(picture.getexif().get(ExifTags.Base.Orientation, 1))
    except (OSError, ValueError, TypeError, SyntaxError):  # EXIF data that nobody can read tell nothing
        return 1
