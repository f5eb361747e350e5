"""Vehicles, people and animals in a frame: FastestDet (BSD-3-Clause, trained on COCO) in OpenCV's own ``cv2.dnn``.

It comes with cfgen. It sees 352 x 352 pixels: what is small in the whole frame is found in windows of it, scaled up.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.hashing import hash_bytes
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
#: of its side each overlaps the next at least. Where only the own lane counts, the one around the road's far end: of 37
#: vehicles up to 70 m ahead there in 33 demo scenes the whole frame shows 11, with it 33, with all windows 35.
WINDOWS, OVERLAP = ((0.5, 1.0), (0.25, 0.5)), 0.25
FAR_END = (0.35, 0.35)
#: Where the road ends in a window, as a share of its height from its top; and in the frame where none is seen.
HORIZON, NO_ROAD_ROW = 0.45, 0.48
#: A box this near to a window's edge, as a share of its side, may be a part of something larger: left to others.
EDGE = 0.02

#: Its file and what it must be.
FASTESTDET = Path(__file__).parent / "weights" / "fastestdet.onnx"
FASTESTDET_SHA256 = "sha256:31cb14c017fce347cb4c846ec62fdf00d76bb3beecdf4be21e7116ac67feb880"
INSTALL_AGAIN = "install cfgen again: this file comes with it"


class RoadUserNetwork:
    """FastestDet.

    Args:
        min_score: of a thing.

    Raises:
        InputError: its file is missing or another, or ``cv2.dnn`` cannot read it.
    """

    def __init__(self, min_score: float = LEAST) -> None:
        what = "perception: things 'fastestdet'"
        data = read_file(FASTESTDET, what, INSTALL_AGAIN)
        if (digest := hash_bytes(data)) != FASTESTDET_SHA256:
            raise InputError(
                f"{what}: {FASTESTDET.name}: expected {FASTESTDET_SHA256[:19]}..., found {digest[:19]}... of "
                f"{len(data)} bytes; {INSTALL_AGAIN}"
            )
        self.identity: Mapping[str, Any] = {"things": digest}
        self._net, self._least = BoxNetwork(what, data, INSTALL_AGAIN), min_score

    def find(
        self, image: np.ndarray, road: SceneView | None = None, everywhere: bool = False
    ) -> tuple[Thing, ...]:
        """What is in a frame, the most certain first: in the whole of it, and in the window around the road's far end.

        Args:
            image: (H, W, 3) uint8 RGB. road: where its road ends is where distant traffic is looked for.
            everywhere: look in windows all along the horizon, at five times the cost.
        """
        height, width = image.shape[:2]
        end = _far_end(road)
        rows = WINDOWS if everywhere else (FAR_END,)
        windows = [(0, 0, width, height), *(w for row in rows for w in _windows(width, height, end, *row))]
        things = [thing for window in windows for thing in self._look(image, window)]
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


def _far_end(road: SceneView | None) -> tuple[float, float]:
    """Where the road ends: column and row, as shares of the frame's width and height."""
    if road is None or not road.road.any():
        return 0.5, NO_ROAD_ROW
    row = int(np.flatnonzero(road.road.any(1))[0])
    return float(np.flatnonzero(road.road[row]).mean()) / road.road.shape[1], row / len(road.road)


def _windows(
    width: int, height: int, end: tuple[float, float], tall: float, wide: float
) -> list[tuple[int, int, int, int]]:
    """A row of squares, x0, y0, x1, y1 px, around the road's far end."""
    side = max(min(round(tall * height), width), 1)
    top = round(min(max(end[1] * height - HORIZON * side, 0), height - side))
    room = max(round(wide * width) if wide > tall else side, side) - side
    first = min(max(end[0] * width - (side + room) / 2, 0), width - side - room)
    count = 1 + math.ceil(room / (side * (1 - OVERLAP)))
    return [(round(x), top, round(x) + side, top + side) for x in first + np.linspace(0, room, count)]


def _at_an_edge(box: BoxPx, window: tuple[int, int, int, int], shape: tuple[int, ...]) -> bool:
    x0, y0, x1, y1 = window
    near = EDGE * (x1 - x0)
    return bool(
        (x0 > 0 and box[0] < x0 + near)
        or (y0 > 0 and box[1] < y0 + near)
        or (x1 < shape[1] and box[2] > x1 - near)
        or (y1 < shape[0] and box[3] > y1 - near)
    )
