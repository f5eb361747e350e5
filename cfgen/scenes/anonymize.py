"""Faces and plates in scenes' own frames, made unknowable before anything else looks at them.

It is done once, on the source: whatever is drawn, planned, judged or handed on later starts from the blurred frames, so
that every arm is blurred alike. The scene says by whom, with which weights, and how much was found.
"""

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np
from PIL import Image as Pictures
from PIL import JpegImagePlugin

from cfgen.core.errors import InputError
from cfgen.core.files import decode_image, file_bytes, png_bytes
from cfgen.core.progress import Progress
from cfgen.core.registry import Registry
from cfgen.perception.view import BoxPx
from cfgen.records import Scene
from cfgen.scenes.folder import SCENE_FILE, Image, find_scenes, load_scene, write_scene

#: where a scene keeps what was done to its frames
TOLD = "anonymized"
#: a region is averaged over so many cells a side before it is smoothed: nothing finer is left to be sharpened again
_CELLS = 4
#: by how much of its size a box is widened on each side; part of that is the soft edge
_MARGIN = 0.2

ANONYMIZERS = Registry(
    "anonymizer",
    "cfgen.anonymizers",
    {
        "coarse": "cfgen.scenes.anonymizers:Coarse",
        "yunet": "cfgen.scenes.anonymizers:YuNet",
        "boxes": "cfgen.scenes.anonymizers:FacesAndPlates",
    },
)


@dataclass(frozen=True)
class Private:
    """A face or a plate: ``kind`` and its box x0, y0, x1, y1, pixels."""

    kind: str
    box: BoxPx


class Anonymizer(Protocol):
    """Finds what tells who somebody is. ``identity``: hashes of its weights, and what else decides."""

    name: str
    identity: Mapping[str, Any]

    def find(self, image: np.ndarray) -> Sequence[Private]:
        """All of it in a frame (H, W, 3) uint8 RGB."""
        ...


def create_anonymizer(name: str, options: Mapping[str, Any]) -> Anonymizer:
    """
    Raises:
        InputError: unknown name or option, or a model file that is missing or does not serve.
    """
    made: Anonymizer = ANONYMIZERS.create(name, options)
    return made


def blurred(image: Image, found: Sequence[Private]) -> Image:
    """A copy with every box averaged to a few cells, softly edged; pixels away from the boxes as they were."""
    out = image.copy()
    height, width = image.shape[:2]
    for one in found:
        x0, y0, x1, y1 = one.box
        dx, dy = max(_MARGIN * (x1 - x0), 2), max(_MARGIN * (y1 - y0), 2)
        left, top = max(int(x0 - dx), 0), max(int(y0 - dy), 0)
        right, bottom = min(int(np.ceil(x1 + dx)), width), min(int(np.ceil(y1 + dy)), height)
        if right - left < 2 or bottom - top < 2:
            continue
        part = out[top:bottom, left:right]
        h, w = part.shape[:2]
        cells = cv2.resize(part, (min(_CELLS, w), min(_CELLS, h)), interpolation=cv2.INTER_AREA)
        smooth = cv2.resize(cells, (w, h), interpolation=cv2.INTER_LINEAR)
        cover = _cover(h, w, dx / 2, dy / 2)
        out[top:bottom, left:right] = np.round(part * (1 - cover) + smooth * cover).astype(np.uint8)
    return out


def _cover(h: int, w: int, soft_x: float, soft_y: float) -> np.ndarray:
    """(h, w, 1): 1 inside, falling to 0 over the soft edge."""

    def ramp(n: int, soft: float) -> np.ndarray:
        at = np.arange(n) + 0.5
        return np.clip(np.minimum(at, n - at) / max(soft, 1e-6), 0, 1)

    return (ramp(h, soft_y)[:, None] * ramp(w, soft_x)[None])[..., None]


class Anonymizing:
    """What one scene's frames become, and what is told of it."""

    def __init__(self, by: Anonymizer) -> None:
        self._by = by
        self._found: Counter[str] = Counter()
        self._frames = 0

    def picture(self, content: Image | bytes, name: str) -> Image | bytes:
        """A frame without what was found in it; one without such a thing as it is."""
        image = content if isinstance(content, np.ndarray) else decode_image(content, Path(name))
        found = self._by.find(image)
        self._frames += 1
        self._found.update(one.kind for one in found)
        if not found:
            return content
        made = blurred(image, found)
        return made if isinstance(content, np.ndarray) else _encoded_as(content, made)

    def told(self, scene: Scene) -> Scene:
        """The scene, saying what was done."""
        told = {
            "by": self._by.name,
            **self._by.identity,
            "frames": self._frames,
            "faces": self._found["face"],
            "plates": self._found["plate"],
        }
        return scene.model_copy(update={"extra": {**scene.extra, TOLD: told}})


def _encoded_as(before: bytes, made: Image) -> bytes:
    """As ``before`` was: a JPEG with its own tables, else PNG."""
    with Pictures.open(io.BytesIO(before)) as picture:
        if not isinstance(picture, JpegImagePlugin.JpegImageFile):
            return png_bytes(made)
        tables, sampling = picture.quantization, JpegImagePlugin.get_sampling(picture)
    data = io.BytesIO()
    Pictures.fromarray(made).save(data, "JPEG", qtables=tables, subsampling=max(sampling, 0))
    return data.getvalue()


def anonymize_scenes(source: Path, out: Path, by: Anonymizer, quiet: bool = False) -> Counter[str]:
    """Every scene of ``source`` in ``out``, its frames anonymized; those that are there already are kept.

    Returns:
        Counts of scenes, frames, faces and plates of those that were written.

    Raises:
        InputError: a scene that does not load, or one that was anonymized before.
    """
    if out.resolve() == source.resolve():
        raise InputError(f"{out}: is the source itself, which stays as it is; choose another --out")
    count: Counter[str] = Counter()
    places = find_scenes(source)
    progress = Progress("scenes", len(places), quiet)
    for place in places:
        folder = load_scene(place)
        target = out / place.relative_to(source) if place != source else out / folder.scene.scene_id
        if TOLD in folder.scene.extra:
            raise InputError(
                f"{place / SCENE_FILE}: was anonymized already by '{folder.scene.extra[TOLD].get('by')}'; start from "
                "the frames as they were"
            )
        if not (target / SCENE_FILE).is_file():
            work = Anonymizing(by)
            pictures = {f.image: f for f in folder.scene.frames}
            images: dict[str, Image | bytes | Path] = {
                name: work.picture(file_bytes(place / name), name) for name in pictures
            }
            told = work.told(folder.scene)
            write_scene(target, told, images)
            count.update({key: told.extra[TOLD][key] for key in ("frames", "faces", "plates")}, scenes=1)
        progress.step(folder.scene.scene_id)
    return count
