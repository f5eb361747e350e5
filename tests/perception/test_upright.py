"""Frames of demo scenes, turned, black, or of a room: told in words; as they are, nothing is said."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.core.files import read_image
from cfgen.perception import upright
from cfgen.perception.upright import why_not_a_road_picture
from cfgen.perception.view import SceneView, Thing
from cfgen.scenes.readers.guess import guessed_camera

SCENES = Path(__file__).parents[2] / "scenarios" / "scenes"
FRAMES = ["rural_day_01", "arterial_day_02", "arterial_dusk_03"]


@pytest.fixture(scope="module", params=FRAMES)
def frame(request) -> np.ndarray:
    return read_image(SCENES / request.param / "frame.jpg")


def test_a_road_is_a_road(frame):
    assert why_not_a_road_picture(frame) == ""
    assert why_not_a_road_picture(np.ascontiguousarray(frame[:, ::-1])) == "", "the other side of the road"


def test_the_network_is_asked_about_ways_up_that_may_win_only(frame, monkeypatch):
    asked, see = [], upright._road
    monkeypatch.setattr(upright, "_road", lambda picture: asked.append(1) or see(picture))
    assert why_not_a_road_picture(frame) == ""
    assert len(asked) <= 2, "of five"


def test_a_camera_that_looks_down_on_a_road_is_not_told_to_be_turned():
    frame = read_image(SCENES / "residential_day_01" / "frame.jpg")
    down = cv2.resize(frame[400:500, 330:630], (960, 540), interpolation=cv2.INTER_AREA)
    why = why_not_a_road_picture(down)
    assert why.startswith("shows road up to its upper edge")
    assert "--option horizon_row=... below 0" in why
    assert why_not_a_road_picture(down, camera=guessed_camera(960, 540)) == why
    assert why_not_a_road_picture(down, camera=guessed_camera(960, 540, horizon_row=-60)) == "", "as stated"


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_one_is_told(frame, turns):
    turned = np.ascontiguousarray(np.rot90(frame, turns))
    squeezed = cv2.resize(turned, frame.shape[1::-1], interpolation=cv2.INTER_AREA)
    for picture in (turned, squeezed):
        why = why_not_a_road_picture(picture)
        assert "turned by" in why if turns != 2 else "upside down" in why


def test_what_shows_nothing_or_a_room_is_told(frame):
    assert "is black" in why_not_a_road_picture(frame // 20)
    room = np.full((360, 640, 3), (205, 190, 170), np.uint8)
    room[250:] = (150, 110, 80)
    room[60:200, 80:260] = (90, 120, 150)
    cv2.rectangle(room, (330, 150), (610, 330), (60, 50, 45), -1)
    cv2.rectangle(room, (40, 260), (300, 350), (160, 40, 40), -1)
    assert "cfgen's own network takes" in why_not_a_road_picture(room)


def test_who_looks_better_turned_is_told_to_be_turned_only_where_a_road_is_seen_then(frame, monkeypatch):
    """What is no road picture either way (a lake, a yard from above) is not said to be upside down."""
    down, see = np.ascontiguousarray(frame[::-1, ::-1]), upright._road
    assert "upside down" in why_not_a_road_picture(down)
    monkeypatch.setattr(upright, "_road", lambda picture: [plane * 0.1 for plane in see(picture)])
    assert why_not_a_road_picture(down).startswith(
        "does not look like a road from a car (cfgen's own network takes 0%"
    )


@pytest.mark.parametrize("darker", [12, 24])
def test_a_wet_night_is_a_road(frame, darker):
    """Little but lamps at the horizon and their long reflections below them: brighter below than above."""
    night = (frame // darker).astype(np.uint8)
    middle, unit = len(night) // 2, night.shape[1] / 640
    for x in (250, 330, 400):
        left, right = round((x - 4) * unit), round((x + 8) * unit)
        night[middle - 8 :, left:right] = 160
    assert why_not_a_road_picture(night) == ""


def test_water_and_sand_that_somebody_takes_for_road(monkeypatch):
    """No lane line and no vehicle, and our own network doubts it: what looks like no road picture is none."""
    shore = np.full((360, 640, 3), (190, 195, 200), np.uint8)
    shore[150:] = (150, 130, 100)
    shore[150:] += np.random.default_rng(0).integers(0, 60, (210, 640, 1), np.uint8)
    ground, none = np.mgrid[:90, :160][0] > 45, np.zeros((90, 160), bool)
    view = SceneView(ground, none, (640, 360), (), {})
    monkeypatch.setattr(upright, "_road", lambda picture: (np.full((90, 160), 0.55), none))
    assert "no lane line, no vehicle" in why_not_a_road_picture(shore, view)
    assert why_not_a_road_picture(shore) == "", "nobody who tells lane lines looked"
    car = Thing("car", (300.0, 160.0, 340.0, 190.0), 0.9)
    for backed in (replace(view, things=(car,)), replace(view, lanes=none | (np.arange(160) % 40 == 0))):
        assert why_not_a_road_picture(shore, backed) == ""
    monkeypatch.setattr(upright, "_road", lambda picture: (np.full((90, 160), 0.8), none))
    assert why_not_a_road_picture(shore, view) == ""
    lines = none | (np.arange(160) % 40 == 0)
    for sure, told in ((0.5, False), (0.35, True)):  # who denies it, denies it whatever its lines
        road = np.where(np.arange(160) // 10 == 6, 0.9, np.full((90, 160), sure))
        monkeypatch.setattr(upright, "_road", lambda picture, road=road: (road, lines))
        assert ("no lane line" in why_not_a_road_picture(shore, view)) is told
