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
from cfgen.core.hashing import hash_bytes
from cfgen.core.progress import Progress
from cfgen.core.registry import Registry
from cfgen.perception.box_network import inside, one_of_each
from cfgen.perception.onnx_network import read_file, silent
from cfgen.perception.road_users import RoadUserNetwork
from cfgen.perception.view import BoxPx, Thing
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
        "coarse": "cfgen.scenes.anonymize:Coarse",
        "yunet": "cfgen.scenes.anonymize:YuNet",
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
    anonymizer: Anonymizer = ANONYMIZERS.create(name, options)
    return anonymizer


def blurred(image: Image, regions: Sequence[Private]) -> Image:
    """A copy with every box averaged to a few cells, softly edged; pixels away from the boxes as they were."""
    out = image.copy()
    height, width = image.shape[:2]
    for region in regions:
        x0, y0, x1, y1 = region.box
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
        regions = self._by.find(image)
        self._frames += 1
        self._found.update(region.kind for region in regions)
        if not regions:
            return content
        blurry = blurred(image, regions)
        return blurry if isinstance(content, np.ndarray) else _encoded_as(content, blurry)

    def note(self, scene: Scene) -> Scene:
        """The scene, saying what was done."""
        note = {
            "by": self._by.name,
            **self._by.identity,
            "frames": self._frames,
            "faces": self._found["face"],
            "plates": self._found["plate"],
        }
        return scene.model_copy(update={"extra": {**scene.extra, TOLD: note}})


def _encoded_as(before: bytes, pixels: Image) -> bytes:
    """As ``before`` was: a JPEG with its own tables, else PNG."""
    with Pictures.open(io.BytesIO(before)) as picture:
        if not isinstance(picture, JpegImagePlugin.JpegImageFile):
            return png_bytes(pixels)
        tables, sampling = picture.quantization, JpegImagePlugin.get_sampling(picture)
    data = io.BytesIO()
    Pictures.fromarray(pixels).save(data, "JPEG", qtables=tables, subsampling=max(sampling, 0))
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
            noted = work.note(folder.scene)
            write_scene(target, noted, images)
            count.update({key: noted.extra[TOLD][key] for key in ("frames", "faces", "plates")}, scenes=1)
        progress.step(folder.scene.scene_id)
    return count


# --- who finds faces and plates: rules on people and vehicles, or YuNet ---

#: a false alarm costs a blurred spot, a miss a person's face
_LEAST, _LEAST_VEHICLE = 0.35, 0.5
_VEHICLES = frozenset(["car", "truck", "bus", "motorcycle"])
#: of a person's box: how far down the head reaches, and how wide it is for its height
_HEAD, _HEAD_WIDE = 0.22, 1.1
#: of a vehicle's box, where plates are: from and to, across and down
_PLATE = (0.22, 0.32, 0.78, 0.85)
#: a person of fewer pixels' height has no face, and a vehicle of fewer pixels' width no plate that can be read
_SMALLEST_PERSON, _SMALLEST_VEHICLE = 18, 32
#: sizes that YuNet learned; frames are looked at whole and enlarged
_YUNET_SCALES = (1.0, 2.0)


class Coarse:
    """No model of faces: the head part of every person and the plate part of every vehicle that FastestDet finds.

    Coarse by design: it blurs more than a face and less than every plate, and misses whom FastestDet misses."""

    name = "coarse"

    def __init__(self) -> None:
        self._things = RoadUserNetwork(_LEAST)
        self.identity: Mapping[str, Any] = dict(self._things.identity)

    def find(self, image: np.ndarray) -> Sequence[Private]:
        things = self._things.find(image, everywhere=True)
        return [*_heads(things), *plates(things)]


class YuNet:
    """YuNet (``cv2.FaceDetectorYN``) for faces; plates by the rule of ``coarse``.

    Options: path (ONNX file of YuNet), plates (whether they are blurred, too), score (least, default 0.5).
    """

    name = "yunet"

    def __init__(self, path: str, plates: bool = True, score: float = 0.5) -> None:
        what = "anonymizer 'yunet'"
        data = read_file(Path(path), what, "get YuNet from OpenCV's model zoo and give path=FILE")
        try:
            with silent():
                buffer = np.frombuffer(data, np.uint8)
                self._faces = cv2.FaceDetectorYN.create(
                    "onnx", buffer, np.empty(0, np.uint8), (320, 320), float(score)
                )
                self._faces.detect(np.zeros((320, 320, 3), np.uint8))
        except cv2.error as error:
            raise InputError(
                f"{what}: {path}: expected an ONNX file of YuNet, found one that cv2.FaceDetectorYN cannot read "
                f"({len(data)} bytes); get it from OpenCV's model zoo"
            ) from error
        self._things = RoadUserNetwork(_LEAST) if plates else None
        identity_of_things = self._things.identity if self._things else {}
        self.identity: Mapping[str, Any] = {
            "faces_by": hash_bytes(data),
            "score": float(score),
            **identity_of_things,
        }

    def find(self, image: np.ndarray) -> Sequence[Private]:
        detections = [(box, score) for scale in _YUNET_SCALES for box, score in self._look(image, scale)]
        detections.sort(key=lambda face: -face[1])
        distinct = one_of_each([box for box, _ in detections])
        faces = [Private("face", detections[i][0]) for i in distinct]
        return faces + (plates(self._things.find(image, everywhere=True)) if self._things else [])

    def _look(self, image: np.ndarray, scale: float) -> list[tuple[BoxPx, float]]:
        height, width = image.shape[:2]
        size = round(width * scale), round(height * scale)
        bgr = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
        with silent():
            self._faces.setInputSize(size)
            _, faces = self._faces.detect(cv2.resize(bgr, size) if scale != 1 else bgr)
        rows = [] if faces is None else faces[:, [0, 1, 2, 3, -1]].astype(float).tolist()
        return [
            (inside((x / scale, y / scale, (x + w) / scale, (y + h) / scale), image.shape), score)
            for x, y, w, h, score in rows
        ]


def _heads(things: Sequence[Thing]) -> list[Private]:
    heads = []
    for x0, y0, x1, y1 in (thing.box for thing in things if thing.kind == "person"):
        if y1 - y0 < _SMALLEST_PERSON:
            continue
        tall = _HEAD * (y1 - y0)
        half = min(_HEAD_WIDE * tall, x1 - x0) / 2
        middle = (x0 + x1) / 2
        heads.append(Private("face", (middle - half, y0, middle + half, y0 + tall)))
    return heads


def plates(things: Sequence[Thing]) -> list[Private]:
    """Where a plate may be on each vehicle."""
    left, top, right, bottom = _PLATE
    return [
        Private(
            "plate",
            (x0 + left * (x1 - x0), y0 + top * (y1 - y0), x0 + right * (x1 - x0), y0 + bottom * (y1 - y0)),
        )
        for x0, y0, x1, y1 in (t.box for t in things if t.kind in _VEHICLES and t.score >= _LEAST_VEHICLE)
        if x1 - x0 >= _SMALLEST_VEHICLE
    ]
