"""How far a guessed camera may be wrong: errors reckoned by hand, and who refuses what for it."""

import math

import pytest

from cfgen.geometry.camera import mounted
from cfgen.perception.camera_doubt import (
    GUESSED,
    MOST,
    SEEN_BY,
    THINGS_SOUGHT,
    TOLD,
    doubts,
    in_doubt,
    scale_error,
    sure_to_m,
    why_unsure,
)
from cfgen.perception.camera_fit import Clue, fit_camera
from cfgen.records import Camera

CAMERA = Camera(width=640, height=360, fx=560, fy=560, cx=319.5, cy=179.5, T_cam_ego=mounted(1.5, 0.0))


def told(pitch_error: float, height_error: float) -> dict:
    """Of a camera 1.5 m up whose pitch, rad, and height, m, are known so well, independent of each other."""
    clues = (Clue("pitch", 0.0, pitch_error), Clue("height", 1.5, height_error))
    return doubts(fit_camera(CAMERA, [()], clues))


@pytest.mark.parametrize("distance", [5.0, 12.0, 40.0])
def test_an_error_of_the_size_is_that_of_the_angle_below_the_horizon_and_of_the_height(distance):
    found = scale_error(told(0.01, 0.15), distance)
    assert found == pytest.approx(math.hypot(0.01 / (1.5 / distance), 0.15 / 1.5), rel=0.01)


def test_things_are_drawn_as_far_off_as_their_size_is_sure():
    kept = told(0.01, 0.15)
    farthest = sure_to_m({TOLD: kept})
    assert scale_error(kept, farthest) == pytest.approx(MOST)
    assert farthest == pytest.approx(1.5 / 0.01 * math.sqrt(MOST**2 - 0.1**2), rel=0.01)
    assert sure_to_m({TOLD: told(0.01, 0.6)}) == 0.0, "not even near ones"
    assert sure_to_m({}) == sure_to_m({TOLD: {"calibration": "given"}}) == math.inf
    assert sure_to_m({TOLD: "by hand"}) == math.inf


def test_a_scene_whose_camera_is_a_mere_guess_is_refused_with_what_to_do():
    why = why_unsure({TOLD: told(0.06, 0.2)})
    assert why.startswith(f"{GUESSED}: what is drawn 12 m away may be off by 50% in size (at most 20%)")
    assert "--option horizon_row=... --option camera_height_m=..." in why
    assert "things=fastestdet" in why
    assert why_unsure({TOLD: told(0.01, 0.2)}) == why_unsure({}) == why_unsure({TOLD: 3}) == ""


@pytest.mark.parametrize(
    ("name", "things", "advised"),
    [("twinlitenet", True, False), ("twinlitenet", False, True), ("road-net", True, True)],
)
def test_nobody_is_sent_to_do_again_what_was_done(name, things, advised):
    why = why_unsure({TOLD: told(0.06, 0.2) | {SEEN_BY: name, THINGS_SOUGHT: things}})
    assert "--option horizon_row=... --option camera_height_m=..." in why
    assert ("things=fastestdet" in why) == advised


def test_in_words():
    assert in_doubt(told(0.01, 0.15)) == ["sizes 12 m away good to 13%", "sizes 30 m away good to 22%"]
    assert in_doubt({"values": {}}) == []
    given = {"from": {"horizon_row": "given", "camera_height_m": "given"}}
    assert in_doubt(told(0.0001, 0.001) | given) == ["sizes are as right as what is given"]
