"""Shadows drawn on a road in metres, and what wins where signs differ."""

import csv
import json
import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import ground_points, horizon_rows, mounted
from cfgen.perception.cast_shadows import ShadowAxis, pooled, scene_shadows, shadow_axis
from cfgen.perception.light_probe import probe_light
from cfgen.perception.sun import CONFIDENT, find_sun
from cfgen.perception.sun_shines import WEIGHTS
from cfgen.perception.view import SceneView
from cfgen.perception.views import Views
from cfgen.records import Camera, Frame, Motion, Scene
from cfgen.scenes.folder import find_scenes, load_scene

CAMERA = Camera(width=640, height=360, fx=560, fy=560, cx=319.5, cy=179.5, T_cam_ego=mounted(1.5, 0.04))
GROUND, SEEN = ground_points(CAMERA, np.stack(np.meshgrid(np.arange(640), np.arange(360)), -1).reshape(-1, 2))
SCENES = Path(__file__).resolve().parents[2] / "scenarios" / "scenes"
LIT, SHADE = np.array([142.0, 140, 136]), np.array([52.0, 55, 62])
TIMED = {"latitude_deg": 39.742476, "longitude_deg": -105.1786, "heading_deg": 14.34}
AFTERNOON = "2003-10-17T19:30:30Z"


def road(angle_deg: float | None, dark=SHADE, sky=(120, 150, 205)) -> tuple[np.ndarray, np.ndarray]:
    """A frame with bands of ``dark`` on the ground, along ``angle_deg`` from straight ahead to the left; its road."""
    mask = (SEEN & (np.abs(GROUND[:, 1]) < 6) & (GROUND[:, 0] < 60)).reshape(360, 640)
    image = np.full((360, 640, 3), sky, float)
    image[200:] = 90
    image[mask] = LIT
    if angle_deg is not None:
        angle = math.radians(angle_deg)
        across = GROUND[:, 1] * math.cos(angle) - GROUND[:, 0] * math.sin(angle)
        image[mask & (np.mod(across, 3.0) < 1.0).reshape(360, 640)] = dark
    noise = np.random.default_rng(3).normal(0, 1.5, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8), mask


def axis_of(angle_deg: float | None, **more) -> ShadowAxis:
    image, mask = road(angle_deg, **more)
    return shadow_axis(image, CAMERA, mask, np.zeros_like(mask))


@pytest.mark.parametrize("angle", [-70, -30, 15, 45, 80])
def test_the_axis_of_bands_of_shade(angle):
    found = axis_of(angle)
    apart = (math.degrees(found.angle) - angle + 90) % 180 - 90
    assert abs(apart) < 8
    assert found.unison > 0.55
    assert found.length > 20


def test_tar_is_dark_and_no_shadow():
    assert axis_of(30, dark=LIT * 0.4).length < 0.05 * axis_of(30).length


def test_a_plain_road_has_no_axis_and_no_road_has_none():
    assert axis_of(None).length < 1
    image, mask = road(30)
    assert shadow_axis(image, CAMERA, np.zeros_like(mask), np.zeros_like(mask)).length == 0


def test_a_disturbance_of_one_part_in_ten_thousand_moves_nothing():
    image, mask = road(30)
    once = find_sun(probe_light(image, CAMERA), shadow_axis(image, CAMERA, mask, ~mask))
    camera = CAMERA.model_copy(update={"fx": CAMERA.fx * 1.0001, "cy": CAMERA.cy * 1.0001})
    again = find_sun(probe_light(image, camera), shadow_axis(image, camera, mask, ~mask))
    assert float(once.direction @ again.direction) > math.cos(math.radians(3))
    assert once.source == again.source
    assert once.confidence == pytest.approx(again.confidence, abs=0.02)


class Painted:
    """Sees the road of :func:`road`."""

    name, options, identity, weaker, uses_camera = "painted", {}, {"version": "1"}, False, False

    def perceive(self, frames):
        mask = road(None)[1]
        return [SceneView(mask, mask & False, (640, 360), None, {"name": self.name}) for _ in frames]


def turning(
    degrees_a_second: float, axis_deg: float, now_deg: float | None, known: bool = True
) -> ShadowAxis:
    """The axis found in a car that turns left, from frames whose shadows keep to ``axis_deg`` of its frame at t0.

    ``now_deg`` is what the frame at t0 itself shows.
    """
    times = (-2.0, -1.5, -1.0, -0.5, 0.0)
    poses = tuple((0.0, 0.0, math.radians(degrees_a_second * t)) for t in times)
    motion = Motion(t=times, poses=poses, v=(10.0,) * 5)
    frames = tuple(Frame(t=t, image=f"{i}.png") for i, t in enumerate(times))
    scene = Scene(scene_id="turn", cameras=(CAMERA,), frames=frames, history=motion, motion_known=known)
    images = {("front", t): road(axis_deg - degrees_a_second * t)[0] for t in times[:-1]}
    images["front", 0.0] = road(now_deg)[0]
    return scene_shadows(Views.of(Painted()).scene(scene, images))


def test_shadows_of_the_frames_before_count_as_the_car_turned_since():
    found = turning(12, 35, now_deg=None)
    assert abs(math.degrees(found.angle) - 35) < 8
    assert found.unison > 0.5
    assert found.length > 20


def test_edges_that_turn_with_the_car_agree_less_than_shadows():
    turns = np.radians([-90, 0])
    seam = ShadowAxis(math.radians(35), 0.8, 20.0)
    assert pooled([seam, seam], turns).unison == pytest.approx(0)
    shadows = [ShadowAxis(math.radians(35 + 90 - 180), 0.8, 20.0), seam]
    found = pooled(shadows, turns)
    assert math.degrees(found.angle) == pytest.approx(35, abs=0.1)
    assert found.unison == pytest.approx(0.8, abs=0.01)
    assert found.length == pytest.approx(20 * math.sqrt(2), abs=0.01)


def test_where_the_motion_is_a_guess_only_the_frame_at_t0_counts():
    assert turning(12, 35, now_deg=None, known=False).length < 1
    alone = axis_of(-30)
    assert pooled([alone], [0.0]) == alone


@pytest.mark.parametrize(("angle", "side"), [(40, -1), (-40, 1)])
def test_shadows_that_lead_away_to_one_side_put_the_sun_behind_on_the_other(angle, side):
    image, mask = road(angle, sky=(255, 255, 255))
    found = find_sun(probe_light(image, CAMERA), shadow_axis(image, CAMERA, mask, np.zeros_like(mask)))
    assert found.source == "shadows"
    assert found.confidence >= CONFIDENT
    azimuth = math.degrees(math.atan2(found.direction[1], found.direction[0]))
    assert abs(azimuth - side * 140) < 20


@pytest.mark.parametrize(("above_px", "radius", "by"), [(100, 14, "sky"), (18, 8, "unknown")])
def test_a_burnt_out_patch_at_the_horizon_is_not_the_sun(above_px, radius, by):
    image, _ = road(None, sky=(200, 200, 200))
    horizon = round(float(horizon_rows(CAMERA, np.array([320.0]))[0]))
    cv2.circle(image, (320, horizon - above_px), radius, (255, 255, 255), -1)
    assert find_sun(probe_light(image, CAMERA)).source == by


@pytest.mark.parametrize(("sky", "by"), [((150, 190, 235), "sky"), ((205, 205, 208), "unknown")])
def test_a_sun_that_the_upper_edge_cuts_stands_in_a_blue_sky(sky, by):
    image, _ = road(None, sky=sky)
    cv2.circle(image, (200, 4), 34, (255, 255, 255), -1)
    found = find_sun(probe_light(image, CAMERA))
    assert found.source == by
    if by == "sky":
        assert math.degrees(math.atan2(found.direction[1], found.direction[0])) == pytest.approx(12, abs=2)


@pytest.mark.parametrize(("ground", "known"), [("left", True), ("right", False)])
def test_the_suns_side_is_where_things_are_dark_and_throw_their_shade_on_the_ground(ground, known):
    """Dark trees on the left against lit ones; shade on the ground before them, or before the others."""
    image, _ = road(None)
    image[100:165, :260], image[100:165, 380:] = (30, 34, 26), (120, 132, 80)
    image[176:228, slice(0, 260) if ground == "left" else slice(380, 640)] = SHADE
    found = find_sun(probe_light(image, CAMERA))
    assert (found.confidence >= CONFIDENT) == known
    assert (found.direction[1] > 0.5) or not known


def test_a_dark_picture_of_a_deep_blue_sky_is_of_a_sunny_day_and_not_of_dusk():
    def shines(sky, ground):
        image = np.full((360, 640, 3), sky, np.uint8)
        image[160:] = ground
        image[190:230, 400:] = image[120:165, :200] = 0.3 * ground  # some of it in shade
        return find_sun(probe_light(image, CAMERA)).shines

    day, dusk, night = (
        shines(*seen) for seen in (((20, 52, 95), 62), ((20, 52, 95), 14), ((22, 24, 30), 62))
    )
    assert day > 1.8 * max(dusk, night)


def test_rendered_scenes_shine_as_they_were_lit_and_as_their_mirror_image():
    """Of 17 demo frames, none of which the fit saw."""
    wrong = 0
    for path in find_scenes(SCENES)[1::4]:
        folder = load_scene(path)
        image, camera = folder.image(), folder.scene.front
        shines = find_sun(probe_light(image, camera)).shines
        wrong += (shines > 0.5) != (folder.scene.extra["sun"] is not None)
        if path.name.startswith("urban"):
            turned = find_sun(probe_light(np.ascontiguousarray(image[:, ::-1]), camera)).shines
            assert turned == pytest.approx(shines, abs=0.08)
    assert wrong <= 3


def test_the_fit_reads_half_of_the_demo_frames_alone():
    with (SCENES.parents[1] / "tools" / "sun_fit" / "frames.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [SCENES.parents[1] / row["path"] for row in rows] == sorted(find_scenes(SCENES))
    assert sum(row["fitted"] == "1" for row in rows) == json.loads(WEIGHTS.read_text())["frames"] == 33


def test_what_lamps_light_at_night_is_not_lit_by_the_sun():
    image = np.full((360, 640, 3), (8, 8, 11), np.uint8)
    image[180:] = (30, 28, 26)
    image[230:300, 240:330] = image[160:180, 60:80] = (255, 240, 200)
    assert find_sun(probe_light(image, CAMERA)).shines < 0.1


def test_edges_along_the_road_may_be_seams_and_do_not_tell_where_the_sun_is():
    frame = probe_light(road(None, sky=(255, 255, 255))[0], CAMERA)
    sure = [find_sun(frame, ShadowAxis(math.radians(deg), 0.72, 60.0)).confidence for deg in (2, 30)]
    assert sure[0] < CONFIDENT <= sure[1]


def test_what_the_sun_lights_is_warmer_than_shade_and_under_clouds_all_is_alike():
    """No shadow on the road; beside it things stand half in shade, which is blue where the sky lights it alone."""
    odds = []
    for lit, shade in (((200, 185, 150), (40, 52, 70)), ((185, 185, 182), (52, 52, 50))):
        image, _ = road(None, sky=(120, 150, 205))
        image[210:, :200], image[210:, 420:] = lit, shade
        shines = find_sun(probe_light(image, CAMERA)).shines
        odds.append(shines / (1 - shines))
    assert odds[0] > 2 * odds[1]


def test_nothing_to_tell_by_is_unknown():
    image, _ = road(None, sky=(255, 255, 255))
    found = find_sun(probe_light(image, CAMERA))
    assert found.source == "unknown"
    assert found.confidence < CONFIDENT


def test_time_and_place_win_and_a_disagreement_is_told():
    image, mask = road(40, sky=(255, 255, 255))
    frame = probe_light(image, CAMERA)
    shadows = shadow_axis(image, CAMERA, mask, np.zeros_like(mask))
    found = find_sun(frame, shadows, TIMED, AFTERNOON)
    assert found.source == "time and place"
    assert found.direction[:2] / np.hypot(*found.direction[:2]) == pytest.approx([-1, 0], abs=0.01)
    assert found.apart == pytest.approx(40, abs=20)
    assert (
        find_sun(probe_light(road(None, sky=(255, 255, 255))[0], CAMERA), None, TIMED, AFTERNOON).apart
        is None
    )
    told = find_sun(frame, shadows, TIMED | {"sun": [0, 2, 0]}, AFTERNOON)
    assert (told.source, tuple(told.direction)) == ("told", (0, 1, 0))
    night = find_sun(frame, shadows, TIMED, "2003-10-17T07:30:30Z")
    assert (night.source, night.direction, night.confidence) == ("time and place", None, 1.0)
