"""A car painted on a road in metres, with its shade on one side."""

import math

import numpy as np
import pytest

from cfgen.geometry.camera import ground_points, mounted, project
from cfgen.perception.cast_shadows import ShadowAxis
from cfgen.perception.foot_shade import foot_shade, height_by
from cfgen.perception.light_probe import probe_light
from cfgen.perception.sun import CONFIDENT, find_sun
from cfgen.perception.sun_signs import by_feet
from cfgen.perception.view import SceneView, Thing
from cfgen.records import Camera

CAMERA = Camera(width=640, height=360, fx=560, fy=560, cx=319.5, cy=179.5, T_cam_ego=mounted(1.5, 0.04))
GROUND, SEEN = ground_points(CAMERA, np.stack(np.meshgrid(np.arange(640), np.arange(360)), -1).reshape(-1, 2))
X, Y = GROUND[:, 0].reshape(360, 640), GROUND[:, 1].reshape(360, 640)
ROAD = (SEEN.reshape(360, 640)) & (np.abs(Y) < 7) & (X < 60)
NEAR, HALF = 11.0, 0.9


def road_with_car(shaded: np.ndarray | None, all_dark: bool = False) -> tuple[np.ndarray, SceneView]:
    """A frame and its view: lit road, a car's rear at 11 m, ground ``shaded`` about it."""
    image = np.full((360, 640, 3), (225, 225, 225), np.uint8)
    image[ROAD] = (60, 62, 66) if all_dark else (150, 148, 144)
    if shaded is not None:
        image[ROAD & shaded] = (52, 55, 62)
    corners = [(NEAR, HALF, 0), (NEAR, -HALF, 0), (NEAR, 0, 1.5)]
    px, _ = project(CAMERA, np.array(corners, float))
    box = (float(px[0, 0]), float(px[2, 1]), float(px[1, 0]), float(px[0, 1]))
    x0, y0, x1, y1 = (round(v) for v in box)
    image[y0:y1, x0:x1] = (60, 20, 20)
    free = ROAD.copy()
    free[y0:y1, x0:x1] = False
    view = SceneView(free, ROAD & False, (640, 360), (Thing("car", box, 0.9),), {"name": "painted"})
    return image, view


LEFT = (X > NEAR - 0.2) & (X < NEAR + 4.4) & (Y > HALF) & (Y < HALF + 1.5)
BEFORE = (X < NEAR) & (X > NEAR - 2.1) & (np.abs(Y) < HALF)


@pytest.mark.parametrize(
    ("shaded", "side", "least"),
    [(LEFT, -90, 45), (BEFORE, 0, 45)],
    ids=["shade on the left: sun on the right", "shade before it: sun ahead"],
)
def test_a_car_shows_the_sun_by_its_shade(shaded, side, least):
    image, view = road_with_car(shaded)
    found = find_sun(probe_light(image, CAMERA), feet=foot_shade(image, CAMERA, view))
    azimuth = math.degrees(math.atan2(found.direction[1], found.direction[0]))
    assert abs((azimuth - side + 180) % 360 - 180) < least
    bare, again = road_with_car(None)
    assert not any(one.dark for one in foot_shade(bare, CAMERA, again))


def test_the_length_of_the_shade_tells_the_height_of_the_sun():
    image, view = road_with_car(LEFT)
    feet = foot_shade(image, CAMERA, view)
    rise = height_by(feet, np.array([0.0, -0.8, 0.6]))
    assert math.degrees(rise) == pytest.approx(45, abs=8)  # 1.5 m of shade of a car as high
    found = find_sun(probe_light(image, CAMERA), ShadowAxis(math.pi / 2, 0.9, 80.0), feet=feet)
    assert found.confidence >= CONFIDENT
    assert (found.height_by, found.direction[2] == pytest.approx(math.sin(rise), abs=0.15)) == (
        "shadows",
        True,
    )
    assert find_sun(probe_light(image, CAMERA)).height_by == "assumed"


def test_where_no_shade_is_seen_beyond_a_car_the_sun_stands_high():
    image, view = road_with_car(None)
    narrow = SceneView(view.road & (np.abs(Y) < HALF + 0.37), view.lanes, view.size, view.things, view.by)
    for seen, at_rim in ((view, False), (narrow, True)):
        feet = foot_shade(image, CAMERA, seen)
        beside = [one for one in feet if abs(one.towards) == math.pi / 2]
        assert {one.at_rim for one in beside} == {at_rim}
        assert 55 < math.degrees(height_by(feet, np.array([0.0, -0.8, 0.6]))) < 70
    assert by_feet(beside)[0].any() == 0, "what is hardly road does not tell the side"
    shaded = foot_shade(*(road := road_with_car(LEFT))[:1], CAMERA, road[1])
    long = height_by(shaded, np.array([0.0, -0.8, 0.6]))
    lit = [one for one in shaded if one.dark == 0]
    assert height_by([*lit, *shaded], np.array([0.0, -0.8, 0.6])) == long, "shade that is seen leads"


def test_a_car_that_stands_in_shade_itself_tells_nothing():
    image, view = road_with_car(None)
    image[ROAD & (X > 6) & (X < 20)] = (40, 42, 46)
    assert foot_shade(image, CAMERA, view) == ()
    assert foot_shade(image, CAMERA, SceneView(ROAD, ROAD & False, (640, 360), None, {})) == ()


def test_axes_that_agree_less_count_less_instead_of_not_at_all():
    image, _ = road_with_car(None)
    frame = probe_light(image, CAMERA)
    sure = [find_sun(frame, ShadowAxis(0.5, unison, 90.0)).confidence for unison in (0.5, 0.62, 0.72)]
    assert sure[0] < sure[1] < sure[2]


def test_the_sun_is_ahead_where_all_that_stands_up_is_black_before_a_bright_road():
    image, _ = road_with_car(None, all_dark=False)
    image[ROAD] = (235, 235, 235)
    image[:90] = 255
    ahead = []
    for grey in (14, 120):
        image[90:158] = grey
        ahead.append(find_sun(probe_light(image, CAMERA)).direction[0])
    assert ahead[0] > 0 > ahead[1]
