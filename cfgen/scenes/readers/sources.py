"""Where recordings lie: at or below a folder, as frames by number, or in tables of Hugging Face's datasets."""

import itertools
import json
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import cv2
import numpy as np
import yaml
from PIL import ExifTags, ImageOps
from PIL import Image as Pillow

from cfgen.core.errors import InputError, MissingExtraError
from cfgen.core.files import check_no_pipe, read_image, read_json, reading, stand_in
from cfgen.scenes.drive import Opener, Recording
from cfgen.scenes.folder import Image

T = TypeVar("T")


def openers(open_one: Callable[[T], Recording], items: Iterable[T]) -> list[Opener]:
    """One per item, named as the item."""
    return [Opener(str(item), partial(open_one, item)) for item in items]


def openers_below(
    source: Path, is_one: Callable[[Path, set[str]], bool], open_one: Callable[[Path], Recording]
) -> list[Opener]:
    """One opener for each folder at or below ``source`` that is a recording, sorted; links to folders are not followed.

    A folder that cannot be listed has one too: opening it says so.

    Args:
        is_one: of a folder and the names in it in lower case, so that a file in the wrong case is missed by name.
    """
    troubles: list[OSError] = []
    matches = [
        folder for folder, names in walk(source, troubles) if is_one(folder, {name.lower() for name in names})
    ]
    return openers(open_one, sorted(matches)) + unlisted(troubles)


def walk(source: Path, troubles: list[OSError]) -> Iterator[tuple[Path, list[str]]]:
    """Each folder at or below ``source`` with the names in it; what cannot be listed goes to ``troubles``."""
    for folder, subfolders, files in os.walk(source, onerror=troubles.append):
        subfolders[:] = [name for name in subfolders if is_visible(name)]
        yield Path(folder), [*subfolders, *filter(is_visible, files)]


def is_visible(name: str) -> bool:
    """False for ``._*`` and ``__MACOSX`` of Macs, ``.DS_Store`` and other hidden files and folders."""
    return not name.startswith(".") and name != "__MACOSX"


def keeps_left(place: str) -> dict[str, str]:
    """A scene's key of the side that traffic keeps to, where a data set's name of a place tells it is the left."""
    return {"drive_on": "left"} if place.lower().startswith(("singapore", "sg-")) else {}


def camera_names(requested: str, present: Iterable[str], front: str) -> list[str]:
    """Names of cameras, the front one first: those ``requested``, with commas between them, else those ``present``."""
    names = [name.strip() for name in requested.split(",") if name.strip()] or present
    return sorted({*names, front}, key=lambda name: (name != front, name))


def unlisted(troubles: Iterable[OSError]) -> list[Opener]:
    return [
        refused(
            str(error.filename),
            InputError(f"{error.filename}: cannot list the folder ({error.strerror}); fix its permissions"),
        )
        for error in troubles
    ]


def refused(name: str, error: InputError) -> Opener:
    """One that says what is wrong when it is opened."""
    return Opener(name, partial(_refuse, error))


def _refuse(error: InputError) -> NoReturn:
    raise error


# --- frames by number: from a video file, or from a folder of images ---

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
        decoded, bgr = self._capture.read()
        if not decoded:
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
            contents = stand_in(self.path) or "something that does not decode; convert it to mp4 (H.264)"
            raise InputError(f"{self.path}: expected a video, found {contents}")
        return capture


def image_files(folder: Path, suffixes: tuple[str, ...] = IMAGE_SUFFIXES) -> list[Path]:
    """Images in a folder, by their ``suffixes`` in lower case, sorted by name.

    Raises:
        InputError: there are none.
    """
    with reading(folder, "a folder of images", "get the frames, or check the path"):
        names = [p for p in folder.iterdir() if is_visible(p.name)]
    files = sorted(p for p in names if p.suffix.lower() in suffixes)
    if not files:
        raise InputError(f"{folder}: expected images ({', '.join(suffixes)}), found none")
    return files


def numbered_images(folder: Path) -> list[Path]:
    """Images in a folder whose names are numbers, sorted by them.

    Raises:
        InputError: there are none.
    """
    files = [path for path in image_files(folder) if path.stem.isascii() and path.stem.isdigit()]
    if not files:
        raise InputError(f"{folder}: expected images whose names are numbers, found none")
    return sorted(files, key=lambda path: int(path.stem))


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


def oriented_image(path: Path) -> Image | Path:
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


# --- tables as Hugging Face's datasets keeps them: Parquet files, or a ``save_to_disk`` folder ---

_AGAIN = "download or save the data set again"


class DataShard:
    """One file of rows in the data set ``root``; only what is asked for is read. A Parquet file is open for as long as
    that takes."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path, self._root = path, root
        self._group: tuple[int, str, Any] = (-1, "", None)

    def _parquet(self) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(self.path)

    @cached_property
    def _arrow(self) -> Any:
        import pyarrow as pa

        with pa.memory_map(str(self.path)) as source:
            head = source.read(6)
        opened = pa.memory_map(str(self.path))
        is_file = head == b"ARROW1"
        return (pa.ipc.open_file(opened) if is_file else pa.ipc.open_stream(opened)).read_all()

    @cached_property
    def schema(self) -> Any:
        with self._reading():
            check_no_pipe(self.path)
            if not self._is_parquet:
                return self._arrow.schema
            with self._parquet() as file:
                return file.schema_arrow

    def column(self, name: str) -> list[Any]:
        """Every value of a column that is small."""
        with self._reading():
            if not self._is_parquet:
                return list(self._arrow[name].to_pylist())
            with self._parquet() as file:
                return list(file.read(columns=[name])[name].to_pylist())

    def value(self, name: str, row: int) -> Any:
        """One value of a column that is large; its neighbours of the same row group are kept for the next call."""
        with self._reading():
            if not self._is_parquet:
                return self._arrow[name][row].as_py()
            group = int(np.searchsorted(self._ends, row, side="right"))
            if self._group[:2] != (group, name):
                with self._parquet() as file:
                    self._group = (group, name, file.read_row_group(group, columns=[name])[name])
            return self._group[2][row - (self._ends[group - 1] if group else 0)].as_py()

    def beside(self, name: str) -> Path:
        """A file that a row names; a table of others does not choose what else of this computer is read.

        Raises:
            InputError: it is not in the data set.
        """
        file = self.path.parent / name
        nearest = next(
            (p.parent for p in (self._root, *self._root.parents) if p.name == "snapshots"), self._root
        )
        with self._reading():
            inside = file.resolve().is_relative_to(nearest)
        if not inside:  # in the hub's cache, links lead from snapshots/ to blobs/
            raise InputError(
                f"{self.path}: expected images inside the data set {self._root}, found the path '{name[:200]}'; "
                "put the images there, or import the folder that holds both"
            )
        return file

    @cached_property
    def _ends(self) -> list[int]:
        """After how many rows each row group ends."""
        with self._parquet() as file:
            counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        return list(itertools.accumulate(counts))

    def image_columns(self) -> list[str]:
        """Columns of pictures, as the data set says or as they look."""
        metadata = json.loads((self.schema.metadata or {}).get(b"huggingface", b"{}"))
        features = (metadata.get("info") or {}).get("features") or {}
        columns = [
            n for n, kind in features.items() if isinstance(kind, dict) and kind.get("_type") == "Image"
        ]
        looks = [field.name for field in self.schema if str(field.type).startswith("struct<bytes: binary")]
        columns = [name for name in columns if name in self.schema.names] or looks
        return columns or [field.name for field in self.schema if self._names_pictures(field)]

    def _names_pictures(self, field: Any) -> bool:
        """Whether a column of words begins with the path of a picture."""
        if str(field.type) not in ("string", "large_string"):
            return False
        first = next((word for word in self.column(field.name) if word), "")
        return Path(first).suffix.lower() in (".jpg", ".jpeg", ".png")

    @property
    def _is_parquet(self) -> bool:
        return self.path.suffix == ".parquet"

    def _reading(self) -> Any:
        return reading(self.path, "a table (Parquet or Arrow)", _AGAIN)


def shards_of(source: Path, troubles: list[OSError]) -> list[DataShard]:
    """The files at or below ``source``, sorted.

    Raises:
        InputError: there are none.
    """
    try:
        import pyarrow  # noqa: F401 - says at once when it is missing
    except ImportError as error:
        raise MissingExtraError("reader 'hugging-face'", "hugging-face", error) from error
    root = (source if source.is_dir() else source.parent).resolve()
    if source.is_file():
        return [DataShard(source, root)]
    shards = [
        folder / name
        for folder, names in walk(source, troubles)
        for name in names
        if name.endswith(".parquet") or (name.endswith(".arrow") and "state.json" in names)
    ]
    if not shards:
        raise InputError(
            f"{source}: expected Parquet files, or a folder that save_to_disk wrote, found none; download the "
            "data set first, nothing is downloaded here"
        )
    return [DataShard(path, root) for path in sorted(shards)]


def license_of(source: Path) -> str:
    """What dataset_info.json or the card (README.md) says; empty where neither does."""
    folder = source if source.is_dir() else source.parent
    for base in (folder, *folder.parents[:2]):
        if (info := base / "dataset_info.json").is_file() and (
            license_name := read_json(info).get("license")
        ):
            return str(license_name)
        if (card := base / "README.md").is_file():
            parts = card.read_text(encoding="utf-8", errors="replace").split("---", 2)
            with reading(card, "a card that starts with YAML", "mend it, or give --options license="):
                front_matter = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0].strip() else None
                if isinstance(front_matter, dict) and front_matter.get("license"):
                    return str(front_matter["license"])
    return ""
