"""Networks that see the road, in OpenCV's own ``cv2.dnn``: ONNX in, (1, 2, h, w) logits of road and lane lines out."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.hashing import hash_bytes
from cfgen.models.files import FILES, kept
from cfgen.perception.onnx_network import OnnxNetwork, read_file
from cfgen.perception.protocol import CameraFrame
from cfgen.perception.road_users import INSTALL_AGAIN, RoadUserNetwork
from cfgen.perception.view import SceneView

#: Of our own network, with its card.
WEIGHTS = Path(__file__).parent / "weights"
#: How our own network's answer is read; another number where the same weights give another view.
READING = "2"
#: Islands of road smaller than this share of the frame are noise; so are holes of it.
SPECK = 0.0004
#: Paint is road within half as many cells of it.
_PAINT = 7
#: What is likely road between sure road is sure, up to this share of the frame's width.
_GAP = 0.09


@dataclass(frozen=True)
class Layout:
    """How a network wants its picture and gives its answer.

    Attributes:
        size: width and height of the input, RGB / 255, the whole frame resized.
        road, lanes: names of its outputs, (1, 2, h, w) logits each, background first.
        road_margin, lane_margin: what the logit of road, of line, must be above that of the background.
    """

    size: tuple[int, int]
    road: str
    lanes: str
    road_margin: float = 0.0
    lane_margin: float = 0.0


#: Known exports of TwinLiteNet's weights by sha256: upstream's own file, and one at its native 640 x 360.
TWINLITENET = {
    "sha256:9548df62a3c64c321eddfff531fe96400f6c8ce072f8334c46086c12d8d4e512": Layout(
        (320, 320), "drivable_area", "lanes"
    ),
    "sha256:f390fb6c7d71d35ca483c41a524b1cc622ae3fd2b055569fc20b8b904deed7b7": Layout(
        (640, 360), "drivable", "lane"
    ),
}


class RoadNetwork:
    """An ONNX file of a known layout.

    Args:
        things: who finds vehicles, people and animals: "fastestdet", or "" for nobody.

    Raises:
        InputError: ``cv2.dnn`` cannot read it, its outputs are not those of the layout, or nobody of that name finds
            things.
    """

    weaker, uses_camera, backed_by_colours = False, False, False

    def __init__(self, name: str, data: bytes, layout: Layout, advice: str, things: str = "") -> None:
        if things not in ("", "fastestdet"):
            raise InputError(
                f"perception '{name}': option 'things': expected fastestdet, or nothing to look for none, found "
                f"'{things}'"
            )
        self.name, self._layout = name, layout
        width, height = layout.size
        outputs = dict.fromkeys((layout.road, layout.lanes), (1, 2, height, width))
        self._net = OnnxNetwork(f"perception '{name}'", data, layout.size, outputs, advice)
        self._things = RoadUserNetwork() if things else None
        self.identity: Mapping[str, Any] = {
            "weights": hash_bytes(data),
            **(self._things.identity if self._things else {}),
        }

    def perceive(self, frames: Sequence[CameraFrame]) -> list[SceneView]:
        return [self._perceive(frame.image) for frame in frames]

    def _perceive(self, image: np.ndarray) -> SceneView:
        road = self._view(image, self.logits(image))
        return replace(road, things=self._things.find(image, road)) if self._things else road

    def logits(self, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far road, and lane line, are above the background, (h, w) float32 both, in (H, W, 3) uint8 RGB."""
        small = cv2.resize(image, self._layout.size, interpolation=cv2.INTER_AREA)
        return self._read(*self._net.forward(small))

    def _read(self, *answer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        road, lanes = answer
        return road[0, 1] - road[0, 0], lanes[0, 1] - lanes[0, 0]

    def _view(self, image: np.ndarray, logits: tuple[np.ndarray, np.ndarray]) -> SceneView:
        road, lanes = logits
        lines = lanes > self._layout.lane_margin
        surface, likely = _surface(road > 0, lines), None
        if self._layout.road_margin > 0:
            likely = without_specks(road > 0)  # it learned that paint is road
            surface = _whole(without_specks(road > self._layout.road_margin), likely)
        by = {"name": self.name, **self.identity}
        return SceneView(surface, lines, (image.shape[1], image.shape[0]), None, by, likely)


class TwinLiteNet(RoadNetwork):
    """Road and lane lines of TwinLiteNet (MIT licence, trained on BDD100K), from a file of its own.

    Args:
        path: the ONNX file; "" takes the one that ``cfgen models get twinlitenet`` keeps.
        things: as :class:`RoadNetwork` takes it.
    """

    def __init__(self, path: str = "", things: str = "fastestdet") -> None:
        self.options: Mapping[str, Any] = {}
        name, what = "twinlitenet", "perception 'twinlitenet': option 'path'"
        advice = FILES[name].advice
        file = Path(path) if path else kept(name, what)
        data = read_file(file, what, advice)
        digest = hash_bytes(data)
        layout = TWINLITENET.get(digest)
        if layout is None:
            wrong = FILES[name].wrong(len(data), digest.removeprefix("sha256:"))
            raise InputError(f"{what}: {file}: {wrong}; {advice}")
        super().__init__(name, data, layout, advice, things)


class RoadNet(RoadNetwork):
    """Road and lane lines of the small network that cfgen brings; it would rather miss road than take a verge for it.

    Args:
        things: as :class:`RoadNetwork` takes it.
    """

    backed_by_colours = True

    def __init__(self, things: str = "fastestdet") -> None:
        self.options: Mapping[str, Any] = {}
        card = json.loads((WEIGHTS / "road_net.json").read_text())
        _, _, height, width = card["input"]["shape"]
        road, lanes = (_logit(card["thresholds"][plane]) for plane in ("drivable", "lane"))
        name = card["output"]["name"]
        data = read_file(WEIGHTS / card["network"], "perception 'road-net'", INSTALL_AGAIN)
        if hash_bytes(data) != f"sha256:{card['sha256']}":
            raise InputError(
                f"perception 'road-net': {card['network']}: expected sha256 {card['sha256'][:12]}..., found "
                f"{hash_bytes(data)[7:19]}... of {len(data)} bytes; {INSTALL_AGAIN}"
            )
        layout = Layout((width, height), name, name, road, lanes)
        super().__init__("road-net", data, layout, INSTALL_AGAIN, things)
        self.identity = {**self.identity, "reading": READING}

    def _read(self, *answer: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        [logits] = answer
        return logits[0, 0], logits[0, 1]


def _logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def _surface(road: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """(h, w) bool: road, with the paint on it."""
    near_road = cv2.dilate(road.astype(np.uint8), np.ones((_PAINT, _PAINT), np.uint8)) > 0
    return without_specks(road | (lines & near_road))


def _whole(sure: np.ndarray, likely: np.ndarray) -> np.ndarray:
    """(h, w) bool: sure road without its gaps (shadows, glare, paint), and to its far end, as far as it is likely.

    A row of cells there is metres of road, and the network draws its road in by as much (tools/road_net/export.py).
    """
    size = round(_GAP * sure.shape[1]) | 1
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    surface = sure | ((cv2.morphologyEx(sure.astype(np.uint8), cv2.MORPH_CLOSE, disc) > 0) & likely)
    surface[:-1] |= surface[1:] & likely[:-1]
    return surface


def without_specks(road: np.ndarray) -> np.ndarray:
    """(h, w) bool without islands and holes smaller than SPECK of it."""
    min_cells = SPECK * road.size
    for filled in (True, False):
        count, labels, stats, _ = cv2.connectedComponentsWithStats(
            (road == filled).astype(np.uint8), connectivity=4
        )
        small = np.flatnonzero(stats[:, cv2.CC_STAT_AREA] < min_cells)
        small = small[small > 0] if count > 1 else small[:0]
        road = np.where(np.isin(labels, small), not filled, road)
    return road
