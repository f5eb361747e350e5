"""What gives a drawn thing away at first glance: sun or none, nothing on the ground, neon, panes, one look for all."""

import math
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from cfgen.inpaint.composite import optics, sprites
from cfgen.inpaint.composite.draw import draw
from cfgen.inpaint.composite.harmonize import limit_saturation
from cfgen.inpaint.composite.inpainter import Composite, pick
from cfgen.inpaint.composite.light import estimate
from cfgen.inpaint.composite.reflections import sheen
from cfgen.inpaint.composite.relight import glazed
from cfgen.inpaint.protocol import Setting
from cfgen.perception.light import SceneLight, SunDirection
from tests.inpaint.composite.test_composite import (
    PINHOLE,
    make_hazard,
    make_placement,
    make_road,
)

LEFT = np.array([0.0, math.cos(0.7), math.sin(0.7)])


def light_of(image, light):
    return estimate(Setting(image, PINHOLE, make_placement(make_hazard("drum"), 10.0, 0.0), light=light))


def sun(vector, confidence, source, hardness) -> SceneLight:
    return SceneLight(SunDirection(vector, confidence, source), hardness)


def azimuth_of(towards) -> float:
    return math.degrees(math.atan2(towards[1], towards[0]))


@pytest.mark.parametrize(("seen", "drawn"), [(100, 100), (-170, -160), (10, 20)])
def test_a_sun_whose_side_is_not_sure_throws_a_hard_shadow_from_the_likeliest(seen, drawn):
    placement = make_placement(make_hazard("drum"), 10.0, 0.0)
    a = math.radians(seen)
    likeliest = np.array([0.8 * math.cos(a), 0.8 * math.sin(a), 0.6])
    light = light_of(make_road(grey=190), sun(likeliest, 0.2, "unknown", 0.9))
    assert light.report["light"] == "sun from an unknown side"
    assert azimuth_of(light.sun_dir) == pytest.approx(drawn, abs=0.1), (
        "straight ahead or behind it hardly shows"
    )
    assert light.sun_dir[2] == pytest.approx(0.6)
    assert light.sky + light.sun * light.sun_dir[2] == pytest.approx(np.ones(3))
    shade = draw(sprites.load("drum", "a"), PINHOLE, placement, light).shade[..., 1]
    assert shade.min() < 0.3, "as dark as any shadow"


def test_what_stands_on_an_overcast_road_takes_the_skys_sheen_away_before_its_foot():
    rgba = np.zeros((120, 80, 4), np.float32)
    rgba[20:80, 30:50] = (0.1, 0.1, 0.1, 1)
    free = np.ones(rgba.shape[:2], bool)
    shade = sheen(rgba, 1.0, free)[..., 0]
    assert shade[83, 40] < 0.8
    assert shade[83, 40] < shade[90, 40] < shade[100, 40]
    assert shade[: 80 - 8].min() > 0.99
    assert shade[:, :20].min() > 0.99
    assert sheen(rgba, 0.2, free)[83, 40] > 0.9, "little of a sunny road's light is the sky's"
    assert sheen(rgba, 0.0, free).min() == 1
    white = rgba + np.float32([0.8, 0.8, 0.8, 0]) * rgba[..., 3:]
    assert sheen(white, 1.0, free)[83, 40] > 0.9, "what is as bright as the sky takes nothing away"


@pytest.mark.parametrize("room", [6, 14, 25, 60])
def test_the_mirror_image_has_faded_out_where_pixels_may_no_longer_change(room):
    rgba = np.zeros((320, 200, 4), np.float32)
    rgba[20:170, 25:175] = (0.02, 0.02, 0.02, 1)
    free = np.zeros(rgba.shape[:2], bool)
    free[: 170 + room] = True
    below = sheen(rgba, 1.0, free)[170:, 100, 0]
    assert below[room - 4 :].min() > 0.985
    assert np.abs(np.diff(below)).max() < 0.035
    assert np.diff(below)[12:].min() > -1e-4, "it only gets fainter"


def test_colours_are_no_stronger_than_the_frames_own():
    neon = np.full((20, 20, 3), (190.0, 255.0, 30.0), np.float32)
    whole = np.ones((20, 20), np.float32)
    pale = limit_saturation(neon, whole, 40.0)
    assert np.ptp(pale, -1).max() < 0.55 * np.ptp(neon, -1).max()
    assert pale @ [0.299, 0.587, 0.114] == pytest.approx(neon @ [0.299, 0.587, 0.114], abs=0.5)
    assert np.array_equal(limit_saturation(neon, whole, 200.0), neon), "where the frame is as vivid it stays"
    assert limit_saturation(neon, 0 * whole, 40.0) == pytest.approx(neon, abs=1e-3)
    grey = np.full((20, 20, 3), 120.0, np.float32)
    assert np.array_equal(limit_saturation(grey, whole, 10.0), grey)


def test_what_is_put_into_a_shaken_frame_is_blurred_as_it_is():
    rng = np.random.default_rng(0)
    frame = np.full((300, 480, 3), 70, np.uint8)
    for _ in range(60):
        x, y = rng.integers(0, 440), rng.integers(0, 270)
        cv2.rectangle(frame, (x, y), (x + 30, y + 22), [int(rng.integers(20, 240))] * 3, -1)
    frame = cv2.GaussianBlur(frame, (0, 0), 0.7)
    assert optics.measure(frame).shake == (0, 0)
    shaken = optics.to_pixels(optics.smear(frame.astype(np.float32), np.array([6.0, 0.0])))
    found = optics.measure(shaken)
    assert found.shake[0] > 1
    assert found.shake[1] == 0
    dot = np.zeros((41, 41, 4), np.float32)
    dot[20, 20] = 1
    soft = optics.soften(dot, found)[..., 3]
    assert soft[20, 17] > 4 * soft[17, 20]
    assert optics.measure(cv2.rotate(shaken, cv2.ROTATE_90_CLOCKWISE)).shake[1] > 1


def test_panes_mirror_and_tyres_do_not():
    sprite = sprites.load("car", "hatch_red")
    layers = sprite._layers(sprite._nearest(math.pi, 0.06))
    height = layers.position[..., 2] / sprite.size[2]
    panes = layers.gloss > 1.2
    assert 0.05 < panes[layers.gloss.shape[0] // 20 :].mean() < 0.3
    assert height[panes].min() > 0.45
    dark = np.zeros((4, 4, 3), np.float32)
    matt, high = np.zeros((4, 4), np.float32), np.full((4, 4), 0.8, np.float32)
    assert glazed("car", matt, dark, high)[0].min() > 1
    assert glazed("car", matt, dark, 1 - high)[0].max() == 0
    assert glazed("car_overturned", matt, dark, 1 - high)[0].min() > 1
    assert glazed("pedestrian_walking", matt, dark, high)[0].max() == 0


def test_a_benchmark_shows_every_variant_of_a_model_before_one_again_and_none_of_another_size():
    names, hazard = sprites.list_variants("car"), make_hazard("car", variant="sedan_white")
    sizes = Composite().sizes(hazard)
    assert len(names) == len(sizes) > 3

    def shown(look, fits=None, prompt="a car"):
        asked = hazard.model_copy(update={"look": look, "prompt": prompt})
        placement = SimpleNamespace(size=sizes[look % len(sizes) if fits is None else fits])
        return pick(names, sizes, SimpleNamespace(hazard=asked, seed=5, placement=placement))

    assert [shown(k) for k in range(2 * len(names))] == 2 * names
    red = names.index("hatch_red")
    assert shown(red, prompt="a red car") == shown(red + 1, fits=red) == shown(None, fits=red) == "hatch_red"
