"""Shadows drawn on a road in metres, mirrored houses, published suns, and what wins where signs differ."""

import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import ground_points, horizon_rows, mounted
from cfgen.geometry.path import EgoPath
from cfgen.perception.light import CONFIDENT, LightClues, estimate_light, shadow_axis, sun_by_time
from cfgen.records import Camera
from cfgen.scenes.folder import find_scenes, load_scene

CAMERA = Camera(width=640, height=360, fx=560, fy=560, cx=319.5, cy=179.5, T_cam_ego=mounted(1.5, 0.04))
GROUND, SEEN = ground_points(CAMERA, np.stack(np.meshgrid(np.arange(640), np.arange(360)), -1).reshape(-1, 2))
HORIZON = round(float(horizon_rows(CAMERA, np.array([320.0]))[0]))
PATH = EgoPath(np.array([0.0, 80.0]), np.array([[0.0, 0.0], [80.0, 0.0]]), np.zeros(2), 80.0)
SCENES = Path(__file__).resolve().parents[2] / "scenarios" / "scenes"
LIT, SHADE = np.array([142.0, 140, 136]), np.array([52.0, 55, 62])
WHITE, GREY, BLUE = (255, 255, 255), (200, 200, 200), (120, 150, 205)
DENVER = {"latitude_deg": 39.742476, "longitude_deg": -105.1786, "heading_deg": 14.34}
NOON = "2003-10-17T19:30:30Z"


def road(angle_deg: float | None, dark=SHADE, sky=BLUE) -> np.ndarray:
    """A frame with bands of ``dark`` on the ground, along ``angle_deg`` from straight ahead to the left."""
    mask = (SEEN & (np.abs(GROUND[:, 1]) < 6) & (GROUND[:, 0] < 60)).reshape(360, 640)
    image = np.full((360, 640, 3), sky, float)
    image[200:] = 90
    image[mask] = LIT
    if angle_deg is not None:
        angle = math.radians(angle_deg)
        across = GROUND[:, 1] * math.cos(angle) - GROUND[:, 0] * math.sin(angle)
        image[mask & (np.mod(across, 3.0) < 1.0).reshape(360, 640)] = dark
    noise = np.random.default_rng(3).normal(0, 1.5, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def axis(angle_deg: float | None, **look):
    return shadow_axis(road(angle_deg, **look), CAMERA, PATH)


def azimuth_deg(vector: np.ndarray) -> float:
    return math.degrees(math.atan2(vector[1], vector[0]))


@pytest.mark.parametrize("angle", [-70, 15, 80])
def test_the_axis_of_bands_of_shade(angle):
    found = axis(angle)
    assert abs((math.degrees(found.angle) - angle + 90) % 180 - 90) < 8
    assert found.unison > 0.55
    assert found.length > 5


def test_tar_is_dark_and_no_shadow_and_a_plain_road_has_none():
    assert axis(30, dark=LIT * 0.4).length < 0.05 * axis(30).length
    assert axis(None).length < 1
    behind = EgoPath(PATH.s, -PATH.xy, PATH.heading + math.pi, 80.0)
    assert shadow_axis(road(30), CAMERA, behind).length == 0


def test_a_disturbance_of_one_part_in_ten_thousand_moves_nothing():
    light = estimate_light(road(30), CAMERA, PATH)
    camera = CAMERA.model_copy(update={"fx": CAMERA.fx * 1.0001, "cy": CAMERA.cy * 1.0001})
    disturbed = estimate_light(road(30), camera, PATH)
    assert float(light.sun.vector @ disturbed.sun.vector) > math.cos(math.radians(3))
    assert light.sun.source == disturbed.sun.source
    assert light.sun.confidence == pytest.approx(disturbed.sun.confidence, abs=0.02)


@pytest.mark.parametrize(("angle", "side"), [(40, -1), (-40, 1)])
def test_shadows_that_lead_away_to_one_side_put_the_sun_behind_on_the_other(angle, side):
    sun = estimate_light(road(angle, sky=WHITE), CAMERA, PATH).sun
    assert (sun.source, sun.confidence >= CONFIDENT) == ("shadows", True)
    assert abs(azimuth_deg(sun.vector) - side * 140) < 20


@pytest.mark.parametrize(("ground", "sure"), [("left", True), ("right", False)])
def test_the_suns_side_is_where_things_are_dark_and_throw_their_shade_on_the_ground(ground, sure):
    """Dark trees on the left against lit ones; shade on the ground before them, or before the others."""
    image = road(None)
    image[100:165, :260], image[100:165, 380:] = (30, 34, 26), (120, 132, 80)
    image[176:228, slice(0, 260) if ground == "left" else slice(380, 640)] = SHADE
    sun = estimate_light(image, CAMERA, PATH).sun
    assert (sun.confidence >= 0.45) == sure
    assert (sun.vector[1] > 0.5) or not sure


def test_frames_of_a_drive_that_show_the_suns_side_decide_for_one_that_does_not():
    plain, log = road(None, sky=WHITE), 2 * np.sin(np.radians(np.arange(-180.0, 180.0, 2.0)))
    neighbor = LightClues(log, 2.0, 0.0, 2.0)
    alone = estimate_light(plain, CAMERA, PATH)
    light = estimate_light(plain, CAMERA, PATH, neighbors=[neighbor.turned(math.radians(20))] * 4)
    assert (alone.sun.source, light.sun.source) == ("unknown", "drive")
    assert azimuth_deg(light.sun.vector) == pytest.approx(110, abs=8)
    assert light.hardness > alone.hardness


def test_rendered_scenes_are_lit_as_they_were_and_as_their_mirror_image():
    """Of 17 demo frames, none of which the weights were fitted to."""
    wrong = 0
    for path in find_scenes(SCENES)[1::4]:
        folder = load_scene(path)
        image, camera = folder.image(), folder.scene.front
        hardness = estimate_light(image, camera, EgoPath.from_scene(folder.scene)).hardness
        wrong += (hardness > 0.5) != (folder.scene.extra["sun"] is not None)
        if path.name.startswith("urban"):
            mirrored = estimate_light(np.ascontiguousarray(image[:, ::-1]), camera).hardness
            assert mirrored == pytest.approx(estimate_light(image, camera).hardness, abs=0.08)
    assert wrong <= 3


def test_what_lamps_light_at_night_is_not_lit_by_the_sun():
    image = np.full((360, 640, 3), (8, 8, 11), np.uint8)
    image[180:] = (30, 28, 26)
    image[230:300, 240:330] = image[160:180, 60:80] = (255, 240, 200)
    light = estimate_light(image, CAMERA, PATH)
    assert light.hardness < 0.1
    assert light.sky == "night"


def test_a_deep_blue_sky_over_a_dark_picture_is_of_a_sunny_day():
    def lit(sky, ground):
        image = np.full((360, 640, 3), sky, np.uint8)
        image[160:] = ground
        image[190:230, 400:] = image[120:165, :200] = 0.3 * ground  # some of it in shade
        return estimate_light(image, CAMERA).hardness

    day, dusk, night = (lit(*look) for look in (((20, 52, 95), 62), ((20, 52, 95), 14), ((22, 24, 30), 62)))
    assert day > 1.8 * max(dusk, night)


def test_nothing_to_tell_by_is_unknown():
    light = estimate_light(road(None, sky=WHITE), CAMERA, PATH)
    assert light.sun.source == "unknown"
    assert light.sun.confidence < CONFIDENT
    assert light.sky == "overcast"


def test_the_scene_wins_over_time_and_place_and_they_over_the_frame():
    image, plain = road(40, sky=WHITE), road(None, sky=WHITE)
    sun = estimate_light(image, CAMERA, PATH, DENVER, NOON).sun
    assert sun.source == "time and place"
    assert sun.vector[:2] / np.hypot(*sun.vector[:2]) == pytest.approx([-1, 0], abs=0.01)
    assert sun.disagreement_deg == pytest.approx(40, abs=20)
    assert estimate_light(plain, CAMERA, PATH, DENVER, NOON).sun.disagreement_deg is None
    stated = estimate_light(image, CAMERA, PATH, DENVER | {"sun": [0, 2, 0]}, NOON)
    assert (stated.sun.source, tuple(stated.sun.vector), stated.hardness) == ("annotated", (0, 1, 0), 1)
    night = estimate_light(image, CAMERA, PATH, DENVER, "2003-10-17T07:30:30Z")
    assert (night.sun.source, night.sun.vector, night.hardness) == ("time and place", None, 0)


def test_time_and_place_give_the_published_sun():
    """Reda and Andreas, Solar Position Algorithm (NREL/TP-560-34302), table A5.1, before refraction."""
    east = DENVER | {"heading_deg": 90.0}
    sun = sun_by_time("2003-10-17T12:30:30-07:00", east)
    assert azimuth_deg(sun) == pytest.approx(90 - 194.34024, abs=0.02)
    assert math.degrees(math.asin(sun[2])) == pytest.approx(39.872046, abs=0.02)
    assert sun_by_time(NOON, east | {"heading_deg": 270.0}) == pytest.approx(sun * (-1, -1, 1))


@pytest.mark.parametrize(
    ("timestamp", "place"),
    [("", DENVER), ("yesterday", DENVER), ("2003-10-17T19:30:30", DENVER), (NOON, {"latitude_deg": 1.0})],
)
def test_without_a_time_with_its_zone_and_a_whole_place_there_is_no_sun(timestamp, place):
    assert sun_by_time(timestamp, place) is None


def street(mirrors: float, shift: int = 0) -> np.ndarray:
    """Walls of different greys before a bright sky over a grey road that shows ``mirrors`` of them upside down."""
    rng = np.random.default_rng(2)
    walls = np.repeat(rng.integers(40, 220, 40), 16).astype(float)
    above = np.repeat(walls[None], HORIZON, 0)
    above[:60] = 230
    image = np.vstack([np.roll(above[::-1], shift, 1), np.full((360, 640), 230.0)])[: 360 - HORIZON]
    road = 110 * (1 - mirrors) + mirrors * image
    grey = np.vstack([above, road]) + rng.normal(0, 2, (360, 640))
    return np.repeat(cv2.GaussianBlur(np.clip(grey, 0, 255), (0, 0), 1).astype(np.uint8)[..., None], 3, 2)


@pytest.mark.parametrize(
    ("image", "sun", "wet"),
    [
        (street(0.5), None, True),
        (street(0.0), None, False),
        (street(0.5, shift=100), None, False),
        (street(0.5), [0, 0, 1], False),
    ],
    ids=["a mirror", "dull", "patches that mirror nothing", "shade on a sunny road"],
)
def test_a_road_that_shows_what_stands_along_it_upside_down_is_wet(image, sun, wet):
    wetness = estimate_light(image, CAMERA, PATH, {"sun": sun}).wetness
    assert (wetness > 0.9) if wet else (wetness < 0.05)
