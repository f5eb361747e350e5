"""The gate that looks again passes a thing on the road and refuses what only looks like one to the other gates."""

import cv2
import numpy as np
import pytest

from cfgen.benchmark.gates import GateInput, seen_again
from cfgen.perception.view import SceneView
from cfgen.records import Size
from tests.benchmark.test_quality_gates import CAMERA, CYCLIST, H, W, around, paint, placed, road

CAR = Size(length=4.5, width=1.8, height=1.5)


def look(image: np.ndarray) -> SceneView:
    """Road is grey and below row 200; on a grid of a quarter of the frame."""
    small = cv2.resize(image, (W // 4, H // 4), interpolation=cv2.INTER_AREA)
    grey = np.ptp(small.astype(int), axis=2) < 25
    grey[:50] = False
    return SceneView(grey, grey & False, (W, H), None, {"name": "grey"})


def judged(original, augmented, p, hazard=CYCLIST, eyes=look):
    return seen_again(GateInput(original, augmented, around(p), CAMERA, p, hazard, eyes))


@pytest.mark.parametrize("size", [CYCLIST.size, CAR])
def test_a_thing_on_the_road_passes(size):
    p = replace_size(placed(300, 230), size)
    result = judged(road(), paint(road(), p), p)
    assert result.passed, result
    assert result.value < 0.01


def replace_size(p, size):
    return p.model_copy(update={"size": size})


def test_a_change_elsewhere_is_refused():
    p = placed(300, 230)
    elsewhere = paint(road(), p)
    elsewhere[260:460, 20:220] = (120, 60, 60)
    result = judged(road(), elsewhere, p)
    assert "of the road away from it is seen no more" in result.reason
    assert result.value == pytest.approx(200 * 200 / (W * (H - 200)), rel=0.05)
    small = paint(road(), p)
    small[300:340, 20:60] = (120, 60, 60)
    assert judged(road(), small, p).passed
    unsure = road()
    unsure[440:, :200] = (120, 60, 60)
    sure = paint(road(), p)
    assert judged(unsure, sure, p).passed, "a little more road than before says nothing"
    unsure[300:] = (120, 60, 60)
    assert "more road is seen than before" in judged(unsure, sure, p).reason


def test_a_vehicle_through_which_the_road_is_seen_is_refused():
    p = replace_size(placed(260, 230, 100, 80), CAR)
    ghost = paint(road(), p, colour=(150, 150, 150))
    assert "road is still seen through it" in judged(road(), ghost, p).reason
    flat = replace_size(p, Size(length=2, width=1.8, height=0.1))
    assert judged(road(), ghost, flat).passed, "what is flat hides no road"
