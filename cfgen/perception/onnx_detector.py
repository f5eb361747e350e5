"""Detectors with a fixed list of classes from an ONNX file, in OpenCV's own ``cv2.dnn``: part of the base install."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import InputError, did_you_mean
from cfgen.core.hashing import hash_bytes
from cfgen.perception.box_network import COCO, BoxNetwork, inside, one_of_each
from cfgen.perception.detection import Detection
from cfgen.perception.onnx_network import read_file
from cfgen.perception.road_users import FASTESTDET, INSTALL_AGAIN

#: Least score by head, as their makers' own demonstrations have it.
THRESHOLDS = {"fastestdet": 0.6, "yolox": 0.3}
_WHAT = "detector 'onnx'"


class OnnxDetector:
    """FastestDet or YOLOX, with COCO's classes or others.

    Args:
        path: the ONNX file; "fastestdet" takes the one that comes with cfgen.
        names: a file with a class a line, in the network's order; "" for COCO's 80.
        side: of the network's square input, pixels; 0: the usual one of its head.
        threshold: detections with a lower score are left out; 0: the usual one of its head.

    Attributes:
        classes: what it tells apart, in its order.

    Raises:
        InputError: the file is missing, cannot be read or has another head; its classes are not as many as the names,
            or none of them is one that a hazard can be seen as.
    """

    name = "onnx"

    def __init__(
        self, path: str = "fastestdet", names: str = "", side: int = 0, threshold: float = 0.0
    ) -> None:
        own = path == "fastestdet"
        advice = INSTALL_AGAIN if own else "name the file of a FastestDet or YOLOX, or leave the option out"
        file = FASTESTDET if own else Path(path)
        data = read_file(file, f"{_WHAT}: option 'path'", advice)
        self._net = BoxNetwork(_WHAT, data, advice, side)
        if not 0 <= threshold < 1:
            raise InputError(f"{_WHAT}: option 'threshold': expected 0 to 1, found {threshold}")
        self.classes = _names(names) if names else COCO
        if len(self.classes) != self._net.classes:
            raise InputError(
                f"{_WHAT}: {file.name} tells {self._net.classes} classes apart, {names or 'COCO'} names "
                f"{len(self.classes)}; name them all, a line each, with option 'names'"
            )
        self.threshold = threshold or THRESHOLDS[self._net.head]
        self.options: Mapping[str, Any] = {
            "head": self._net.head,
            "side": self._net.side,
            "threshold": self.threshold,
        }
        self.identity: Mapping[str, Any] = {
            "weights": hash_bytes(data),
            "classes": hash_bytes(_text(self.classes)),
        }

    def detect(self, image: np.ndarray, text: str) -> list[Detection]:
        """What is seen as one of the classes that ``text`` names, separated by commas; "" asks for everything.

        What is seen as something else, and more certainly so, is not told.
        """
        classes = {word.strip() for word in text.split(",")} if text else set(self.classes)
        return [detection for kind, detection in self.see(image) if kind in classes]

    def see(self, image: np.ndarray) -> list[tuple[str, Detection]]:
        """Each thing once with the class that it is most certainly of, best first; ``image`` (H, W, 3) uint8 RGB."""
        boxes = self._net.look(image, self.threshold)
        order = np.argsort(-boxes.score, kind="stable")
        boxes_px = [inside((*boxes.box[i].tolist(),), image.shape) for i in order]
        kept_ones = ((order[at], boxes_px[at]) for at in one_of_each(boxes_px))
        return [(self.classes[boxes.kind[i]], Detection(box, float(boxes.score[i]))) for i, box in kept_ones]


def _names(path: str) -> tuple[str, ...]:
    what = f"{_WHAT}: option 'names'"
    data = read_file(Path(path), what, "write a class a line")
    try:
        names = tuple(line.strip().lower() for line in data.decode().splitlines() if line.strip())
    except UnicodeDecodeError as error:
        raise InputError(f"{what}: {path}: expected text, a class a line, found something else") from error
    if not set(names) & set(COCO):
        near = did_you_mean(names[0], COCO) if names else ""
        raise InputError(
            f"{what}: {path}: expected classes by COCO's names (person, car, dog, ...), which the taxonomy uses; found "
            f"none of them, first '{names[0] if names else ''}'{near}; rename those that mean the same"
        )
    return names


def _text(names: tuple[str, ...]) -> bytes:
    return "\n".join(names).encode()
