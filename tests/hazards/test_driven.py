"""What drove through a standing hazard's place, by boxes of a car whose way is known."""

import numpy as np
import pytest

from cfgen.geometry.box import box_corners, boxes_px
from cfgen.geometry.frames import camera_at
from cfgen.hazards.occupancy import vehicle_conflict, vehicle_conflict_at_t0
from cfgen.perception.camera import CAR_M
from cfgen.perception.view import SceneView, Thing
from cfgen.records import Placement, Size
from tests.hazards import drawn

TIMES = tuple(np.arange(-2.0, 0, 0.25).tolist())
ROCKS = Size(length=1.7, width=2.5, height=0.4)


def spot(vx: float = 0.0, vy: float = 0.0) -> Placement:
    return Placement(
        zone="ego_lane", x=30.0, y=0.0, yaw=0.0, vx=vx, vy=vy, size=ROCKS, distance_m=30.0, lateral_m=0.0,
        required_decel=3.0, foot_px=(0.0, 0.0), box_px=(0.0, 0.0, 1.0, 1.0),
    )  # fmt: skip


def seen(way, kind="car", until=0.0, vx=0.0, vy=0.0) -> bool:
    """Whether a car whose near end is at ``way(t)``, m ahead and to the left at t0, is said to go through x = 30, or
    through what moves there at ``vx``, ``vy``."""
    scene = drawn.scene(10.0)
    size = Size(length=CAR_M[0], width=CAR_M[1], height=CAR_M[2])
    cameras, views = {t: camera_at(scene, scene.front.name, t) for t in TIMES}, {}
    for t, camera in cameras.items():
        x, y = way(t)
        [box], _ = boxes_px(camera, box_corners(x + size.length / 2, y, 0.0, size))
        things = (Thing(kind, tuple(box.tolist()), 0.9),) if t <= until else ()
        none = np.zeros((4, 4), bool)
        views[t] = SceneView(none, none, (camera.width, camera.height), things, {})
    return vehicle_conflict(scene, cameras, views, spot(vx, vy), ROCKS) is not None


@pytest.mark.parametrize(
    ("way", "through"),
    [
        (lambda t: (40 + 9 * t, 0.3), True),  # from 22 m to 38
        (lambda t: (30.0, 1.5), True),  # its wheels on them
        (lambda t: (45 + 2 * t, 0.3), False),  # beyond all along
        (lambda t: (15 + 2 * t, 0.0), False),  # before them: it hides them, and another test refuses
        (lambda t: (30 - 9 * t, 3.5), False),  # the other way, on its own lane
    ],
)
def test_a_car_that_stood_on_the_place_went_through(way, through):
    assert seen(way) == through


def test_one_frame_refuses():
    assert seen(lambda t: (29.0 if t == -2.0 else 60.0, 0.0)), "within a lead car that draws away"
    assert seen(lambda t: (33.0 if t == -2.0 else 60.0, 0.0)), "a lead car that just drove off it"
    assert not seen(lambda t: (36.0 if t == -2.0 else 60.0, 0.0))
    assert not seen(lambda t: (24.0 if t == -2.0 else 60.0, 0.0)), "before it"


def test_what_moves_meets_no_car_either():
    assert seen(lambda t: (25.0 if t == -2.0 else 60.0, 0.0), vx=2.0), "there it was at 26 m"
    assert not seen(lambda t: (32.0 if t == -2.0 else 60.0, 0.0), vx=2.0)


def test_what_crosses_may_come_behind_a_car_but_not_through_it():
    for far, through in ((28.0, True), (32.0, False)):
        assert seen(lambda t, far=far: (far if t == -1.0 else 60.0, -0.5), vy=0.5) == through


@pytest.mark.parametrize(
    ("x", "y", "speed", "vx", "through"),
    [
        (42.0, 0.2, 10.0, 0.0, True),  # 12 m farther on: 1.2 s ago
        (56.0, 0.2, 10.0, 0.0, False),  # before the 2 s
        (42.0, 3.5, 10.0, 0.0, False),  # on the next lane
        (42.0, 0.2, 0.0, 0.0, False),  # all stand
        (42.0, 0.2, 10.0, 1.0, False),  # what moves may have come behind it
    ],
)
def test_without_frames_a_car_right_beyond_came_through_it(x, y, speed, vx, through):
    scene = drawn.scene(speed)
    size = Size(length=CAR_M[0], width=CAR_M[1], height=CAR_M[2])
    [box], _ = boxes_px(scene.front, box_corners(x + size.length / 2, y, 0.0, size))
    none = np.zeros((4, 4), bool)
    view = SceneView(none, none, (640, 400), (Thing("car", tuple(box.tolist()), 0.9),), {})
    assert (vehicle_conflict_at_t0(scene, view, spot(vx=vx), ROCKS) is not None) == through


def test_where_the_way_is_guessed_a_car_farther_aside_came_through_it_too():
    scene = drawn.scene(10.0)
    [box], _ = boxes_px(scene.front, box_corners(44.2, 2.1, 0.0, Size(length=4.4, width=1.82, height=1.55)))
    none = np.zeros((4, 4), bool)
    view = SceneView(none, none, (640, 400), (Thing("car", tuple(box.tolist()), 0.9),), {})
    guessed = scene.model_copy(update={"motion_known": False})
    assert vehicle_conflict_at_t0(scene, view, spot(), ROCKS) is None
    assert vehicle_conflict_at_t0(guessed, view, spot(), ROCKS) is not None


@pytest.mark.parametrize(("aside", "refused"), [(1.1, True), (1.5, True), (1.8, False)])
def test_nobody_is_driven_past_by_a_hand(aside, refused):
    """A man of half a metre, a car of 1.82 m: 0.4 m between them are 1.56 m from middle to middle."""
    scene, man = drawn.scene(10.0), Size(length=0.4, width=0.5, height=1.75)
    [box], _ = boxes_px(scene.front, box_corners(32.2, aside, 0.0, Size(length=4.4, width=1.82, height=1.55)))
    none = np.zeros((4, 4), bool)
    view = SceneView(none, none, (640, 400), (Thing("car", tuple(box.tolist()), 0.9),), {})
    place = spot().model_copy(update={"size": man})
    found = vehicle_conflict(scene, {0.0: scene.front}, {0.0: view}, place, man)
    assert (found is not None) == refused
