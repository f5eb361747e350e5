"""Baselines that look without understanding: what sets them off, and that they ship."""

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from cfgen.planners import baselines
from cfgen.planners.answer import check_response, to_plan
from cfgen.planners.registry import PLANNERS
from cfgen.planners.settings import BASELINES

LOOKING = ("edges", "brightness", "colors", "saliency", "random-network")


def frame(thing: bool) -> np.ndarray:
    """An even road under a sky; ``thing``: with a box of red and white stripes in the own lane."""
    image = np.full((320, 576, 3), (150, 180, 210), np.uint8)
    image[150:] = (100, 100, 102)
    if thing:
        stripes(image, 240, 165)
    return image


def stripes(image: np.ndarray, x: int, y: int) -> None:
    for k in range(6):
        cv2.rectangle(image, (x + 16 * k, y), (x + 16 * k + 7, y + 90), (210, 40, 30), -1)
        cv2.rectangle(image, (x + 16 * k + 8, y), (x + 16 * k + 15, y + 90), (250, 250, 250), -1)


def answer(name: str, image: np.ndarray) -> np.ndarray:
    planner = PLANNERS.get(name)()
    seen = SimpleNamespace(pixels=image)
    observation = SimpleNamespace(speed=12.0, yaw_rate=0.0, images={"front": [seen]}, logged=None)
    (text,) = planner.plan([observation])
    _, plan = to_plan(check_response(text))
    return np.array(plan.waypoints)


@pytest.mark.parametrize("name", ["edges", "brightness", "colors", "saliency"])
def test_they_brake_for_what_a_picture_shows_and_for_nothing_else(name: str):
    plain, changed = answer(name, frame(False)), answer(name, frame(True))
    assert plain[-1, 0] == pytest.approx(72.0), "constant speed"
    assert changed[-1, 0] == pytest.approx(12**2 / 6, abs=0.1), "stands after braking at 3 m/s^2"
    beside = frame(False)
    stripes(beside, 60, 20)
    if name != "saliency":
        assert answer(name, beside)[-1, 0] == pytest.approx(72.0), "out of the lane"


def test_the_random_network_is_the_same_in_every_process_and_answers_both_ways():
    rng = np.random.default_rng(0)
    frames = [cv2.resize(rng.integers(0, 255, (8, 16, 3), dtype=np.uint8), (576, 320)) for _ in range(20)]
    alarms = [baselines.RandomNetwork().alarm(image) for image in frames]
    assert alarms == [baselines.RandomNetwork().alarm(image) for image in frames]
    assert 0 < sum(alarms) < 20


def test_every_baseline_is_named():
    assert set(LOOKING) < set(BASELINES) < set(PLANNERS.names())
