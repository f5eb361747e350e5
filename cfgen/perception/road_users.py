"""Vehicles, people and animals in a frame: FastestDet (BSD-3-Clause, trained on COCO) in OpenCV's own ``cv2.dnn``.

It sees 352 x 352 pixels: what is small in the whole frame is found in windows of it, scaled up.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.hashing import hash_bytes
from cfgen.models.files import FILES, kept
from cfgen.perception.box_network import COCO, BoxNetwork, inside, one_of_each
from cfgen.perception.onnx_network import read_file
from cfgen.perception.view import BoxPx, SceneView, Thing

#: COCO's classes that move or are parked on roads; the others are not told.
KINDS = frozenset(
    [
        "person",
        "bicycle",
        "car",
        "motorcycle",
        "bus",
        "train",
        "truck",
        "cat",
        "dog",
        "horse",
        "sheep",
        "cow",
        "bear",
    ]
)
#: Least score of a thing.
LEAST = 0.6
#: Rows of square windows along the horizon: their height and the row's width, as shares of the frame's; and by how much
#: of its side each overlaps the next at least.
WINDOWS, OVERLAP = ((0.5, 1.0), (0.25, 0.5)), 0.25
#: Where the road ends in a window, as a share of its height from its top.
HORIZON = 0.45
#: A box this near to a window's edge, as a share of its side, may be a part of something larger: left to others.
EDGE = 0.02

_NAME = "fastestdet"


class RoadUserNetwork:
    """FastestDet, from a file of its own.

    Args:
        path: the ONNX file; "fastestdet" takes the one that ``cfgen models get fastestdet`` keeps.
        min_score: of a thing.

    Raises:
        InputError: the file is missing or another, or ``cv2.dnn`` cannot read it.
    """

    def __init__(self, path: str, min_score: float = LEAST) -> None:
        file, what = FILES[_NAME], "perception: option 'things'"
        data = read_file(kept(_NAME, what) if path == _NAME else Path(path), what, file.advice)
        digest = hash_bytes(data)
        if wrong := file.wrong(len(data), digest.removeprefix("sha256:")):
            raise InputError(f"{what}: {path}: {wrong}; {file.advice}")
        self.identity: Mapping[str, Any] = {"things": digest}
        self._net, self._least = BoxNetwork(what, data, file.advice), min_score

    def find(self, image: np.ndarray, road: SceneView | None = None) -> tuple[Thing, ...]:
        """What is in a frame, the most certain first: in the whole of it, and in windows along the horizon.

        Args:
            image: (H, W, 3) uint8 RGB. road: where its road ends is where distant traffic is looked for.
        """
        height, width = image.shape[:2]
        whole = (0, 0, width, height)
        things = [
            thing
            for window in (whole, *_windows(width, height, _far_end(road)))
            for thing in self._look(image, window)
        ]
        things.sort(key=lambda thing: (-thing.score, thing.box))
        return tuple(things[i] for i in one_of_each([thing.box for thing in things]))

    def _look(self, image: np.ndarray, window: tuple[int, int, int, int]) -> Iterator[Thing]:
        """What is in a window of the frame, but for boxes at an edge of it that is none of the frame."""
        x0, y0, x1, y1 = window
        boxes = self._net.look(image[y0:y1, x0:x1], self._least)
        for (a, b, c, d), score, kind in zip(boxes.box.tolist(), boxes.score, boxes.kind, strict=True):
            box = x0 + a, y0 + b, x0 + c, y0 + d
            if COCO[kind] in KINDS and not _at_an_edge(box, window, image.shape):
                yield Thing(COCO[kind], inside(box, image.shape), round(float(score), 3))


def _far_end(road: SceneView | None) -> float:
    """Where the road ends, as a share of the frame's height; a little above the middle where none is seen."""
    if road is None or not road.road.any():
        return 0.48
    return float(np.flatnonzero(road.road.any(1))[0] / len(road.road))


def _windows(width: int, height: int, horizon: float) -> list[tuple[int, int, int, int]]:
    """Squares along the horizon, larger ones first."""
    windows = []
    for tall, wide in WINDOWS:
        side = max(min(round(tall * height), width), 1)
        top = round(min(max(horizon * height - HORIZON * side, 0), height - side))
        room = max(round(wide * width), side) - side
        count = 1 + math.ceil(room / (side * (1 - OVERLAP)))
        for column in np.linspace(0, room, count) + (width - side - room) / 2:
            windows.append((round(column), top, round(column) + side, top + side))
    return windows


def _at_an_edge(box: BoxPx, window: tuple[int, int, int, int], shape: tuple[int, ...]) -> bool:
    x0, y0, x1, y1 = window
    near = EDGE * (x1 - x0)
    return bool(
        (x0 > 0 and box[0] < x0 + near)
        or (y0 > 0 and box[1] < y0 + near)
        or (x1 < shape[1] and box[2] > x1 - near)
        or (y1 < shape[0] and box[3] > y1 - near)
    )
