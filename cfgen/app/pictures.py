"""Pictures for the page: small ones travel inside an answer, whole frames have an address of their own.

Only frames have one: no record, verdict, run or rating, and nothing outside the benchmark.
"""

import base64
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

import cv2
import numpy as np

from cfgen.app.case_index import place_of
from cfgen.app.reviews import identifier
from cfgen.benchmark.frames import frame_file
from cfgen.core.errors import InputError
from cfgen.core.files import FrameFile, png_bytes, read_record
from cfgen.records import Case
from cfgen.storage.store import Store

#: What the page may show of a case folder, besides ``frames/``; mask and layer it gets as outlines.
_FRONT = ("original.png", "augmented.png")
_SMALL_PX = 160
_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}


def data_url(pixels: np.ndarray) -> str:
    """Lossless ``data:`` URL of (H, W, 3 or 4) uint8."""
    return "data:image/png;base64," + base64.b64encode(png_bytes(pixels)).decode()


def case_url(folder: Path, name: str, stored: str = "") -> str:
    """Address, relative to the page's, of the frame ``name`` in a case's folder; ``stored``: the file behind it."""
    return _url("case", folder.name, name, folder / (stored or name))


def scene_url(folder: Path, name: str) -> str:
    """The same for a frame of a scene."""
    return _url("scene", folder.name, name, folder / name)


def _url(kind: str, owner: str, name: str, path: Path) -> str:
    # the time of writing makes the address new when the picture is, so that browsers may keep what they have
    return f"picture/{kind}/{quote(owner)}/{quote(name)}?v={path.stat().st_mtime_ns:x}"


def case_picture(store: Store, case_id: str, name: str) -> FrameFile:
    """The frame behind a :func:`case_url`.

    Raises:
        InputError, StoreError: no such case, or nothing of it that is shown under this name.
    """
    if name not in _FRONT and not name.startswith("frames/"):
        raise InputError(f"picture '{name[:80]}': expected a frame of the case, found something else")
    folder = place_of(store, case_id)
    record = folder / "case.json"
    case = read_record(record, Case) if record.is_file() else None
    if case is None or name not in case.patches:
        return FrameFile(_inside(store, folder, name), "")
    return frame_file(store, case, name, folder)


def scene_picture(store: Store, scene_id: str, name: str) -> FrameFile:
    """The frame behind a :func:`scene_url`.

    Raises:
        InputError: no such scene or frame.
    """
    return FrameFile(_inside(store, store.scene_dir(identifier(scene_id, "scene")), name), "")


@lru_cache(maxsize=1000)
def small(frame: FrameFile, mtime: int) -> bytes:
    """JPEG of a picture at a width for a strip of frames; ``mtime`` is new when the file is."""
    return _jpeg(cv2.cvtColor(frame.read(), cv2.COLOR_RGB2BGR))


@lru_cache(maxsize=100)
def shrunk(png: bytes) -> bytes:
    """The same of an encoded picture."""
    pixels = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    assert pixels is not None, "cfgen encoded it"
    return _jpeg(pixels)


def _jpeg(pixels: np.ndarray) -> bytes:
    height = max(1, round(pixels.shape[0] * _SMALL_PX / pixels.shape[1]))
    thumbnail = cv2.resize(pixels, (_SMALL_PX, height), interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", thumbnail)[1].tobytes()


def whole(frame: FrameFile) -> tuple[bytes, str]:
    """A picture's file, made where only a difference is stored, and its media type."""
    if frame.source is not None:
        return png_bytes(frame.read()), "image/png"
    return frame.path.read_bytes(), _TYPES[frame.path.suffix.lower()]


def _inside(store: Store, folder: Path, name: str) -> Path:
    """``folder / name`` if that is a picture that really lies there, links followed."""
    try:
        path = (folder / name).resolve()
        home = store.root.resolve() / folder.relative_to(store.root)
        if (
            ".." not in Path(name).parts
            and path.is_relative_to(home)
            and path.suffix.lower() in _TYPES
            and path.is_file()
        ):
            return path
    except (OSError, ValueError):  # a name that no file can have
        pass
    raise InputError(f"picture '{name[:80]}': expected a frame of '{folder.name}', found none")
