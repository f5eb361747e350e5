"""Who finds faces and plates in frames: rules on people and vehicles, YuNet, or a network of one's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.hashing import hash_bytes
from cfgen.perception.box_network import BoxNetwork, inside, one_of_each
from cfgen.perception.onnx_network import read_file, silent
from cfgen.perception.things import ThingNetwork
from cfgen.perception.view import BoxPx, Thing
from cfgen.scenes.anonymize import Private

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

    Coarse by design: it blurs more than a face and less than every plate, and misses whom FastestDet misses.
    Options: things (file, or the kept "fastestdet").
    """

    name = "coarse"

    def __init__(self, things: str = "fastestdet") -> None:
        self._things = ThingNetwork(things, _LEAST)
        self.identity: Mapping[str, Any] = dict(self._things.identity)

    def find(self, image: np.ndarray) -> Sequence[Private]:
        things = self._things.find(image)
        return [*_heads(things), *plates(things)]


class YuNet:
    """YuNet (``cv2.FaceDetectorYN``) for faces; plates by the rule of ``coarse``, where ``things`` is given.

    Options: path (ONNX file of YuNet), things (as with coarse; "" blurs no plates), score (least, default 0.5).
    """

    name = "yunet"

    def __init__(self, path: str, things: str = "", score: float = 0.5) -> None:
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
        self._things = ThingNetwork(things, _LEAST) if things else None
        seen = self._things.identity if self._things else {}
        self.identity: Mapping[str, Any] = {"faces_by": hash_bytes(data), "score": float(score), **seen}

    def find(self, image: np.ndarray) -> Sequence[Private]:
        found = [(box, score) for scale in _YUNET_SCALES for box, score in self._look(image, scale)]
        found.sort(key=lambda one: -one[1])
        kept = one_of_each([box for box, _ in found])
        faces = [Private("face", found[i][0]) for i in kept]
        return faces + (plates(self._things.find(image)) if self._things else [])

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


class FacesAndPlates:
    """A network of one's own with the head of YOLOX or FastestDet whose classes are face and plate, in this order.

    Options: path (ONNX file), side (of its input, pixels), score (least, default 0.35).
    """

    name = "boxes"

    def __init__(self, path: str, side: int = 0, score: float = _LEAST) -> None:
        what, advice = "anonymizer 'boxes'", "give path=FILE with the classes face and plate"
        data = read_file(Path(path), what, advice)
        self._net, self._score = BoxNetwork(what, data, advice, side), float(score)
        if self._net.classes != 2:
            raise InputError(
                f"{what}: {path}: expected 2 classes (face, plate), found {self._net.classes}; {advice}"
            )
        self.identity: Mapping[str, Any] = {"boxes_by": hash_bytes(data), "score": self._score}

    def find(self, image: np.ndarray) -> Sequence[Private]:
        found = self._net.look(image, self._score)
        order = np.argsort(-found.score, kind="stable")
        boxes = [inside(tuple(found.box[i].tolist()), image.shape) for i in order]
        kinds = [("face", "plate")[int(found.kind[i])] for i in order]
        return [Private(kinds[i], boxes[i]) for i in one_of_each(boxes)]


def _heads(things: Sequence[Thing]) -> list[Private]:
    found = []
    for x0, y0, x1, y1 in (thing.box for thing in things if thing.kind == "person"):
        if y1 - y0 < _SMALLEST_PERSON:
            continue
        tall = _HEAD * (y1 - y0)
        half = min(_HEAD_WIDE * tall, x1 - x0) / 2
        middle = (x0 + x1) / 2
        found.append(Private("face", (middle - half, y0, middle + half, y0 + tall)))
    return found


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
