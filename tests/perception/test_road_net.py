"""The road network that the package carries: the file is the card's, and what it calls road is road."""

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
import pytest

WEIGHTS = Path(str(files("cfgen.perception") / "weights"))
CARD = json.loads((WEIGHTS / "road_net.json").read_text())
SCENES = Path(__file__).resolve().parents[2] / "scenarios" / "scenes"
#: exact, from tools/road_net/demo_masks.py; these scenes took no part in training
MASKS = sorted((Path(__file__).parent / "road_masks").glob("*.png"))


def read() -> cv2.dnn.Net:
    return cv2.dnn.readNetFromONNX(str(WEIGHTS / CARD["network"]))


def logits(net: cv2.dnn.Net, bgr: np.ndarray) -> np.ndarray:
    height, width = CARD["input"]["shape"][2:]
    small = cv2.resize(bgr, (width, height), interpolation=cv2.INTER_AREA)
    net.setInput(small[..., ::-1].transpose(2, 0, 1)[None].astype(np.float32) / 255)
    return net.forward()


def road(net: cv2.dnn.Net, bgr: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logits(net, bgr)[0, 0])) >= CARD["thresholds"]["drivable"]


@pytest.fixture(scope="module")
def net() -> cv2.dnn.Net:
    return read()


@pytest.fixture(scope="module")
def judged(net) -> np.ndarray:
    """(scenes, 3): pixels rightly claimed, claimed, road."""
    rows = []
    for path in MASKS:
        frame, mask = (
            cv2.imread(str(SCENES / path.stem / "frame.jpg")),
            cv2.imread(str(path), cv2.IMREAD_GRAYSCALE),
        )
        claimed = road(net, frame)
        truth = cv2.resize(mask, claimed.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0
        rows.append([(claimed & truth).sum(), claimed.sum(), truth.sum()])
    return np.array(rows)


def test_the_file_is_the_one_that_the_card_describes():
    data = (WEIGHTS / CARD["network"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == CARD["sha256"]
    assert len(data) <= 2_000_000


def test_opencv_reads_it_and_answers_alike_twice(net):
    frame = np.random.default_rng(3).integers(0, 256, (120, 200, 3)).astype(np.uint8)
    first, again, fresh = logits(net, frame), logits(net, frame), logits(read(), frame)
    assert list(first.shape) == CARD["output"]["shape"]
    assert np.abs(first - again).max() <= 1e-4
    assert np.abs(first - fresh).max() <= 1e-4


def test_what_it_calls_road_is_road(judged):
    hits, claimed, _ = judged.sum(0)
    assert len(judged) >= 8
    assert hits / claimed >= 0.98


def test_no_scene_is_mistaken_and_half_of_the_road_is_found(judged):
    hits, claimed, truth = judged.T
    assert (hits / np.maximum(claimed, 1)).min() >= 0.93
    assert hits.sum() / truth.sum() >= 0.5


@pytest.mark.parametrize("shade", [0, 90, 200, 255])
def test_a_bare_wall_is_no_road(net, shade):
    assert road(net, np.full((90, 160, 3), shade, np.uint8)).mean() < 0.02


def test_a_frame_upside_down_shows_no_road(net):
    claimed = [road(net, cv2.imread(str(SCENES / path.stem / "frame.jpg"))[::-1]).mean() for path in MASKS]
    assert np.mean(claimed) < 0.02
