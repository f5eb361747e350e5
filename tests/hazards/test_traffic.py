"""Vehicles that a scene tells of keep hazards off their ways and out of their sight."""

import json

import numpy as np
import pytest

from cfgen.core.paths import scenarios_dir
from cfgen.geometry.box import box_corners, boxes_px
from cfgen.geometry.frames import camera_at
from cfgen.hazards.occupancy import LEFT, STOOD, Traffic
from cfgen.records import Placement, RoadUser, Size
from cfgen.scenes.format import SceneFile
from tests.hazards import drawn

ROCKS = Size(length=1.7, width=2.5, height=0.4)
CAR = {"x": 60.0, "y": 0.0, "theta": 0.0, "v": 10.0, "length_m": 4.5}
TIMES = (-2.0, -1.5, -1.0, -0.5)


def traffic(*cars: dict, curvature: float = 0.0) -> Traffic:
    scene = drawn.scene(10.0, curvature)
    return Traffic(scene.model_copy(update={"extra": {"traffic": [CAR | car for car in cars]}}))


def spot(x: float, y: float = 0.0, vx: float = 0.0, vy: float = 0.0) -> Placement:
    return Placement(
        zone="ego_lane", x=x, y=y, yaw=0.0, vx=vx, vy=vy, size=ROCKS, distance_m=x, lateral_m=y,
        required_decel=3.0, foot_px=(0.0, 0.0), box_px=(0.0, 0.0, 1.0, 1.0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("place", "rule"),
    [
        (spot(40.0), STOOD),  # under it two seconds ago
        (spot(35.0), LEFT),  # just behind it then
        (spot(30.0), None),
        (spot(40.0, y=3.5), None),  # the lane beside it
        (spot(40.0, y=-1.0, vy=0.5), STOOD),  # there it was half on the lane
        (spot(35.0, y=-0.5, vy=0.5), None),  # what crosses may follow it
    ],
)
def test_a_car_that_drives_ahead(place, rule):
    found = traffic({}).conflict(place, ROCKS, TIMES)
    assert (found and found.rule) == rule


def test_a_parked_car_left_nothing_and_one_that_comes_left_what_is_beyond_it():
    parked = traffic({"v": 0.0, "x": 40.0})
    assert parked.conflict(spot(36.0), ROCKS, TIMES) is None
    comes = traffic({"x": 20.0, "theta": np.pi})  # at 40 m two seconds ago, and before that beyond
    assert comes.conflict(spot(45.0), ROCKS, (-2.0,)).rule == LEFT
    assert comes.conflict(spot(36.0), ROCKS, (-2.0,)) is None


def test_what_drives_along_follows_the_bend_and_what_crosses_does_not():
    bend = 1 / 60
    on_the_bend = (float(60 * np.sin(0.5)), float(60 * (1 - np.cos(0.5))), 0.5)
    x, y, theta = on_the_bend
    told = traffic({"x": x, "y": y, "theta": theta}, {"x": 20.0, "y": 10.0, "theta": 2.0}, curvature=bend)
    (_, along), (_, across) = told.at(-1.0)
    before = 0.5 - 10.0 / 60
    np.testing.assert_allclose(along, (60 * np.sin(before), 60 * (1 - np.cos(before)), before), atol=0.05)
    np.testing.assert_allclose(across, (20 - 10 * np.cos(2.0), 10 - 10 * np.sin(2.0), 2.0))


def test_a_track_wins_over_its_speed():
    track = [[-2.0, 50.0, 1.0, 0.0], [-1.0, 52.0, 1.0, 0.0]]
    told = traffic({"track": track})
    assert told.at(-2.0)[0][1] == pytest.approx((50.0, 1.0, 0.0))
    assert told.at(-0.5)[0][1] == pytest.approx((56.0, 0.5, 0.0))
    assert told.at(-3.0)[0][1][0] == pytest.approx(30.0)  # before it, its speed again


@pytest.mark.parametrize(
    ("car", "expected"),
    [
        ({"x": 20.0}, "hidden"),  # the rocks lie low behind it
        ({"x": 20.0, "y": 1.7}, "partly"),
        ({"x": 20.0, "y": 6.0}, ""),
        ({"x": 45.0}, ""),  # beyond them
        ({"x": -2.0, "y": 3.0}, ""),  # beside the camera
    ],
)
def test_what_is_nearer_hides(car, expected):
    camera = drawn.CAMERA
    [box], _ = boxes_px(camera, box_corners(30.0, 0.0, 0.0, ROCKS))
    assert traffic(car).before(camera, 0.0, (30.0, 0.0), box) == expected


def test_a_scene_that_tells_nothing_and_one_that_tells_of_none():
    scene = drawn.scene(10.0)
    assert not Traffic(scene).known
    assert traffic().known
    assert traffic().at(-1.0) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([CAR, {"x": 3}], "traffic.1.y"),
        ([CAR | {"v": -3.0}], "traffic.0.v"),
        ([CAR | {"track": [[0, 1, 2, 3], [-1, 1, 2, 3]]}], "with t rising"),
        ([CAR | {"track": [[-2000, 50, 0, 0], [-1000, 55, 0, 0]]}], "expected t in s"),
        ([CAR | {"track": [[-1.0, -80, 0, 0]]}], "found (-80, 0) at t = -1 and (60, 0) at 0"),
        ("none", "'none'"),
    ],
)
def test_scene_json_names_a_wrong_vehicle(wrong, words):
    content = json.loads((scenarios_dir() / "scenes" / "urban_clear_04" / "scene.json").read_text())
    with pytest.raises(ValueError, match="traffic") as caught:
        SceneFile.model_validate(content | {"traffic": wrong}).record()
    assert words in str(caught.value)


def test_the_box_is_where_the_frame_shows_it():
    """Ego motion and traffic together: a car that keeps its distance stays in its place in the frame."""
    told = traffic({"x": 40.0})
    boxes = []
    for t in (-2.0, 0.0):
        [(one, (x, y, theta))] = told.at(t)
        camera = camera_at(told.scene, "front", t)
        boxes.append(boxes_px(camera, box_corners(x, y, theta, one.size))[0][0])
    np.testing.assert_allclose(*boxes, atol=0.5)


def test_a_vehicle_of_its_own_sizes():
    lorry = RoadUser.model_validate(CAR | {"length_m": 12.0})
    assert (lorry.size.width, lorry.size.height) == (2.5, 3.2)
    assert RoadUser.model_validate(CAR | {"width_m": 1.6, "kind": "hatch"}).size.width == 1.6
