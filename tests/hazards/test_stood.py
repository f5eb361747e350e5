"""A far car in a past frame that no detector sees: its dark end on the place, and something upright above it."""

from pathlib import Path

import numpy as np
import pytest

from cfgen.geometry.box import box_corners
from cfgen.geometry.frames import camera_at
from cfgen.hazards.occupancy import was_occupied
from cfgen.records import Size
from cfgen.scenes.folder import load_scene
from tests.hazards import drawn

CAR, ROCKS = Size(length=4.5, width=1.8, height=1.5), Size(length=1.7, width=2.5, height=0.4)
FAR_M = 90.0


def stood(image: np.ndarray, now: np.ndarray | None = None, y: float = 0.0) -> bool:
    footprint = box_corners(FAR_M, y, 0.0, ROCKS)[0, :4]
    now = drawn.road(seed=1) if now is None else now
    return was_occupied(image, drawn.CAMERA, footprint, now, drawn.CAMERA)


def car(x: float, y: float = 0.0, colour=(205, 205, 208)) -> np.ndarray:
    return drawn.put(drawn.road(), x, y, CAR, colour)


def test_a_car_of_a_dozen_pixels_is_seen_on_the_place():
    assert stood(car(FAR_M + 2))
    assert stood(car(FAR_M + 2, 1.2)), "half beside it"
    assert stood(car(FAR_M + 2, colour=(60, 62, 65)))


@pytest.mark.parametrize("night", [1, 4], ids=["day", "dusk"])
def test_where_no_detector_looks_cars_of_every_size_are_seen_and_right_beyond_it_too(night: int):
    def stood_at(x: float, at: float, **more) -> bool:
        image, now = drawn.put(drawn.road(), at, 0.0, CAR) // night, drawn.road(seed=1) // night
        footprint = box_corners(x, 0.0, 0.0, ROCKS)[0, :4]
        return was_occupied(image, drawn.CAMERA, footprint, now, drawn.CAMERA, **more)

    for x in (20.0, 45.0):
        assert stood_at(x, x + 2)
        assert not stood_at(x, x + 2, any_size=False), "a detector's"
    assert not stood_at(20.0, 26.0)
    assert stood_at(20.0, 26.0, beyond_m=4.0), "its near end 2.9 m beyond"
    assert not stood_at(20.0, 32.0, beyond_m=4.0)


@pytest.mark.parametrize(
    "plain",
    [
        drawn.road(),
        drawn.road(shade=(FAR_M - 5, FAR_M + 12)),
        drawn.road(shade=(20, 60)),
        car(FAR_M + 50),
        car(FAR_M + 2, 3.5),
        drawn.road() // 10,
    ],
    ids=["road", "shadow", "shadow before it", "car beyond", "car on the next lane", "night"],
)
def test_what_lies_flat_or_elsewhere_is_none(plain: np.ndarray):
    assert not stood(plain)


def test_what_is_there_at_t0_as_well_did_not_drive_away():
    assert not stood(car(FAR_M + 2), now=car(FAR_M + 2))


@pytest.mark.parametrize(
    ("name", "x", "y", "yaw", "size"),
    [
        ("lanelines_050", 83.9, 0.03, 0.01, (5.3, 2.3)),
        ("lanelines_050", 85.56, -0.19, 0.07, (2.4, 1.0)),
        ("lanelines_058", 93.7, 1.21, -0.08, (5.3, 2.3)),
    ],
)
def test_places_on_a_real_motorway_that_the_car_ahead_drove_over(real: Path, name, x, y, yaw, size):
    folder = load_scene(real / "udacity_lanelines" / "scenes" / name)
    scene, front = folder.scene, folder.scene.front
    images = {f.t: folder.image(f) for f in scene.frames}
    footprint = box_corners(x, y, yaw, Size(length=size[0], width=size[1], height=2.0))[0, :4]
    hit = [
        t
        for t, image in images.items()
        if t < 0 and was_occupied(image, camera_at(scene, front.name, t), footprint, images[0.0], front)
    ]
    assert hit
    beside = footprint - np.array([0.0, 5.5, 0.0])  # the shoulder
    assert not any(
        was_occupied(image, camera_at(scene, front.name, t), beside, images[0.0], front)
        for t, image in images.items()
    )
