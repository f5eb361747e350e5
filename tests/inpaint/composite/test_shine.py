"""Flames, smoke, the light of bright surroundings, and motion blur."""

import math

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import project
from tests.inpaint.composite.test_composite import (
    FRONT,
    PINHOLE,
    edit_of,
    make_hazard,
    make_placement,
    make_road,
)


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
