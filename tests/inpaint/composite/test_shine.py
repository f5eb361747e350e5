"""Flames, smoke, the light of bright surroundings, and motion blur."""

import math

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import project
from cfgen.inpaint.composite import sprites
from cfgen.inpaint.composite.draw import _calmed, _shine, draw
from cfgen.inpaint.composite.light import estimate, look_around
from cfgen.inpaint.protocol import Setting
from tests.inpaint.composite.test_composite import (
    FRONT,
    PINHOLE,
    edit_of,
    make_hazard,
    make_light,
    make_placement,
    make_road,
)


def test_what_is_mirrored_has_no_seam_where_one_side_of_the_frame_is_dark():
    frame = make_road()
    frame[:, : frame.shape[1] // 2] //= 8
    light = look_around(frame, PINHOLE, np.full(3, 0.1, np.float32), 0.12, 1.1)
    assert np.ptp(light, axis=1).max() > 0.3
    steps = np.abs(np.diff(np.hstack([light, light[:, :1]]), axis=1))
    assert (steps <= 0.15 * np.ptp(light, axis=1, keepdims=True)).all()


@pytest.mark.parametrize("road", [(95, 95, 95), (40, 60, 110)])
def test_flames_keep_their_orange_whatever_the_colour_of_the_light_on_the_road(road):
    image = make_road()
    image[262:] = road
    hazard = make_hazard("fire", variant="heap")
    edit = edit_of(hazard, make_placement(hazard, 16.0, 0.0), images={FRONT: image})
    changed = edit.frames[FRONT][0].astype(int)
    flames = changed[(changed[..., 0] - changed[..., 2] > 60) & (changed[..., 0] > 150)]
    assert len(flames) > 800
    assert np.median(flames[:, 0] - flames[:, 1]) > 15
    assert np.median(flames[:, 1] - flames[:, 2]) > 15


@pytest.mark.parametrize(
    ("model", "burns"), [("fire", True), ("car_fire", True), ("police_car", False), ("tram", False)]
)
def test_a_car_on_fire_burns_and_beacons_do_not(model, burns):
    variant = sprites.list_variants(model)[0]
    sprite = sprites.load(model, variant)
    placement = make_placement(make_hazard(model, variant=variant), 16.0, 0.0)
    assert draw(sprite, PINHOLE, placement, make_light()).burns is burns


def test_flames_do_not_burn_out_in_a_camera_of_strong_contrast():
    sprite = sprites.load("car_fire", "sedan")
    levels = []
    for contrast in (1.0, 1.6):
        light = make_light(contrast=contrast)
        gain, white = _shine(sprite, light), float(light.ground.mean()) / light.albedo
        levels.append(0.7 * gain * white * (0.7 * gain / light.albedo) ** light.steepness)
    assert levels[1] == pytest.approx(levels[0], rel=0.05)


def test_smoke_is_drawn_without_the_speckle_of_few_paths():
    view = sprites.load("smoke", sprites.list_variants("smoke")[0]).view(math.pi)
    speckle = [np.abs(np.diff(rgba[..., 1], axis=1)).mean() for rgba in (_calmed(view.rgba)[0], view.rgba)]
    assert speckle[0] < 0.7 * speckle[1]
    car = sprites.load("van", "white").view(math.pi)
    assert np.array_equal(_calmed(car.rgba)[0], car.rgba)


def test_bright_surroundings_light_what_stands_in_the_shade():
    dim, hills = make_road(grey=25, sky=(150, 180, 215)), make_road(grey=25, sky=(150, 180, 215))
    dim[160:262] = (30, 40, 30)
    hills[160:262] = (150, 130, 90)
    gains, levels = [], []
    for image in (dim, hills):
        hazard = make_hazard("van", variant="white")
        placement = make_placement(hazard, 16.0, 0.0)
        gains.append(estimate(Setting(image, PINHOLE, placement)).bounce)
        edit = edit_of(hazard, placement, images={FRONT: image})
        (low, high), _ = project(PINHOLE, [(14.0, -0.5, 0.9), (14.0, 0.5, 1.6)])
        part = edit.frames[FRONT][0][round(high[1]) : round(low[1]), round(high[0]) : round(low[0])]
        levels.append(part.mean())
    assert 1 <= gains[0] < 1.3
    assert gains[1] > 1.5
    assert levels[1] > 1.1 * levels[0]


@pytest.mark.parametrize("speed", [0.0, 4.0, 12.0])
def test_what_crosses_is_blurred_along_its_way_by_as_far_as_it_goes(speed):
    hazard = make_hazard("water_barrier", variant="white")
    placement = make_placement(hazard, 10.0, 0.0, 0.0, vx=0.0, vy=-speed)
    edit = edit_of(hazard, placement, images={FRONT: make_road(grey=60)})
    (low, high), _ = project(PINHOLE, [(10.0, 0.0, 0.35), (10.0, 0.0, 0.65)])
    band = edit.frames[FRONT][0][round(high[1]) : round(low[1])].astype(float).mean((0, 2))
    edge = band[: round(low[0])]
    steep = np.abs(np.diff(edge)).max() / (edge.max() - edge.min())
    far, _ = project(PINHOLE, [(10.0, -0.005 * speed, 0.0)])
    way = abs(far[0, 0] - low[0])
    assert steep == pytest.approx(1 / math.hypot(way, 2.2), rel=0.35)
    upright = edit.frames[FRONT][0][:, round(low[0]) - 20 : round(low[0]) + 20].astype(float).mean((1, 2))
    assert np.abs(np.diff(upright)).max() > 25, "its top stays sharp"


def test_lamps_glow_at_night_and_spill_their_light_and_do_not_by_day():
    red, halo = [], []
    for road, sky in (((95, 95, 95), (190, 200, 215)), ((14, 14, 14), (6, 6, 8))):
        image = make_road(sky=sky)
        image[160:] = road
        hazard = make_hazard("car_braking", variant="sedan_grey")
        edit = edit_of(hazard, make_placement(hazard, 16.0, 0.0), images={FRONT: image})
        after = edit.frames[FRONT][0].astype(int)
        lamps = after[..., 0] - after[..., 2] > 60
        red.append(after[lamps][:, 0].max() / 255)
        around = cv2.dilate(lamps.astype(np.uint8), np.ones((9, 9))).astype(bool) & ~lamps
        halo.append(float(after[around][:, 0].mean() / np.median(image[262:])))
    assert red[1] > 0.95
    assert halo[1] > 2 * halo[0]
