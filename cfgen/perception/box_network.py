"""Networks that box things, read by OpenCV's own ``cv2.dnn``: the heads of FastestDet and YOLOX."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from cfgen.core.errors import InputError
from cfgen.perception.onnx_network import OpenCv, silent
from cfgen.perception.view import BoxPx

#: COCO's 80 classes, in the order in which networks that learned from it number them.
COCO = tuple(Path(__file__).with_name("coco_classes.txt").read_text().split("\n")[:-1])
#: Boxes that share this much of their union, or of the smaller one's area, are one thing.
SAME, WITHIN = 0.45, 0.8
#: What YOLOX puts around a picture that is not square.
_PAD = 114
_STRIDES = (8, 16, 32)


@dataclass(frozen=True, eq=False)
class Boxes:
    """``box`` (n, 4) float x0, y0, x1, y1 in pixels, ``score`` (n,) in [0, 1], ``kind`` (n,) int: its class."""

    box: np.ndarray
    score: np.ndarray
    kind: np.ndarray


class BoxNetwork:
    """A network from an ONNX file, told by its output: (1, 5 + C, h, w) is FastestDet's, (1, n, 5 + C) YOLOX's.

    Args:
        what: it is, for messages. data: the file. advice: what a user does about a file that does not serve.
        side: of its square input, pixels, a multiple of 32; 0: 352 for FastestDet, 416 for YOLOX.

    Attributes:
        head: "fastestdet" or "yolox". classes: how many it tells apart.

    Raises:
        InputError: ``cv2.dnn`` cannot read or run it or its output is neither head's.
    """

    def __init__(self, what: str, data: bytes, advice: str, side: int = 0) -> None:
        if side % 32 or side < 0:
            raise InputError(f"{what}: option 'side': expected a multiple of 32, found {side}")
        expected = f"{what}: expected an ONNX file with the head of FastestDet or YOLOX, found "
        try:
            with silent():
                net = OpenCv(data)
        except cv2.error as error:
            raise InputError(
                f"{expected}one that cv2.dnn cannot read ({len(data)} bytes); {advice}"
            ) from error
        found = "outputs " + ", ".join(net.names)
        for head, usual in (("fastestdet", 352), ("yolox", 416)) if len(net.names) == 1 else ():
            self.head, self.side = head, side or usual
            shape = _tried(net, self.side)
            if shape is None:
                continue
            found = "an output of " + " x ".join(map(str, shape))
            if _is_head(head, shape, self.side):
                self.classes = shape[1 if head == "fastestdet" else 2] - 5
                self._net = net
                return
        raise InputError(f"{expected}{found}; {advice}")

    def look(self, image: np.ndarray, min_score: float) -> Boxes:
        """Everything in a picture (H, W, 3) uint8 RGB with at least this score, overlapping boxes too."""
        if self.head == "fastestdet":
            return self._fastestdet(self._net.forward(self._squeezed(image))[0][0], image, min_score)
        return self._yolox(self._net.forward(self._padded(image))[0][0], image, min_score)

    def _squeezed(self, image: np.ndarray) -> np.ndarray:
        """For FastestDet: the picture is squeezed into the square."""
        way = cv2.INTER_AREA if min(image.shape[:2]) > self.side else cv2.INTER_LINEAR
        small = cv2.resize(image, (self.side, self.side), interpolation=way)
        return cv2.dnn.blobFromImage(small, 1 / 255.0, swapRB=True)

    def _fastestdet(self, answer: np.ndarray, image: np.ndarray, min_score: float) -> Boxes:
        """A cell answers with one box around itself."""
        height, width = image.shape[:2]
        _, rows, cols = answer.shape
        kind = answer[5:].argmax(0)
        best = np.take_along_axis(answer[5:], kind[None], 0)[0]
        score = np.clip(answer[0], 0, 1) ** 0.6 * np.clip(best, 0, 1) ** 0.4
        row, col = np.nonzero(score > min_score)
        at = answer[:, row, col].astype(float)
        x, y = (col + np.tanh(at[1])) / cols * width, (row + np.tanh(at[2])) / rows * height
        half_w, half_h = (0.5 * size / (1 + np.exp(-at[i])) for i, size in ((3, width), (4, height)))
        boxes = np.stack([x - half_w, y - half_h, x + half_w, y + half_h], 1)
        return Boxes(boxes, score[row, col], kind[row, col])

    def _padded(self, image: np.ndarray) -> np.ndarray:
        """For YOLOX: the picture keeps its shape, in the upper left of the square."""
        height, width = image.shape[:2]
        scale = self.side / max(height, width)
        size = max(round(width * scale), 1), max(round(height * scale), 1)
        way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        square = np.full((self.side, self.side, 3), _PAD, np.uint8)
        square[: size[1], : size[0]] = cv2.resize(image, size, interpolation=way)
        return cv2.dnn.blobFromImage(square, 1.0, swapRB=True)

    def _yolox(self, answer: np.ndarray, image: np.ndarray, min_score: float) -> Boxes:
        """Ge et al. 2021, as its exporter leaves it: offsets and logarithms of sizes in units of each grid's stride."""
        scale = self.side / max(image.shape[:2])
        kind = answer[:, 5:].argmax(1)
        score = answer[:, 4] * np.take_along_axis(answer[:, 5:], kind[:, None], 1)[:, 0]
        sure = score > min_score
        at, grid, stride = answer[sure, :4].astype(float), *(part[sure] for part in _grid(self.side))
        centre, half = (at[:, :2] + grid) * stride, np.exp(np.clip(at[:, 2:4], -20, 20)) * stride / 2
        return Boxes(np.concatenate([centre - half, centre + half], 1) / scale, score[sure], kind[sure])


def _tried(net: OpenCv, side: int) -> tuple[int, ...] | None:
    """Shape of its answer to a picture of that side; None where it takes none."""
    try:
        with silent():
            return net.forward(np.zeros((1, 3, side, side), np.float32))[0].shape
    except cv2.error:
        return None


def _is_head(head: str, shape: tuple[int, ...], side: int) -> bool:
    if head == "fastestdet":
        return len(shape) == 4 and shape[0] == 1 and shape[1] > 5 and shape[2:] == (side // 16,) * 2
    return len(shape) == 3 and shape[:2] == (1, sum((side // s) ** 2 for s in _STRIDES)) and shape[2] > 5


def _grid(side: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, 2) cells as x, y and (n, 1) their strides, of YOLOX's three grids one after another."""
    cells, strides = [], []
    for stride in _STRIDES:
        count = side // stride
        y, x = np.mgrid[:count, :count]
        cells.append(np.stack([x.ravel(), y.ravel()], 1))
        strides.append(np.full((count * count, 1), stride))
    return np.concatenate(cells), np.concatenate(strides)


def inside(box: BoxPx, shape: tuple[int, ...]) -> BoxPx:
    """The part of a box inside a picture of that shape, to a tenth of a pixel."""
    x0, x1 = (round(min(max(v, 0.0), shape[1] - 1.0), 1) for v in (box[0], box[2]))
    y0, y1 = (round(min(max(v, 0.0), shape[0] - 1.0), 1) for v in (box[1], box[3]))
    return x0, y0, x1, y1


def one_of_each(boxes: Sequence[BoxPx]) -> list[int]:
    """Numbers of the boxes that are left when each thing keeps its first one: put the most certain first."""
    distinct: list[int] = []
    for i, box in enumerate(boxes):
        if not any(_same(box, boxes[rival]) for rival in distinct):
            distinct.append(i)
    return distinct


def _same(a: BoxPx, b: BoxPx) -> bool:
    width = max(min(a[2], b[2]) - max(a[0], b[0]), 0.0)
    height = max(min(a[3], b[3]) - max(a[1], b[1]), 0.0)
    shared = width * height
    area_a, area_b = ((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b))
    return shared > SAME * (area_a + area_b - shared) or shared > WITHIN * min(area_a, area_b)
