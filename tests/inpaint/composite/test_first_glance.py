"""What gives a drawn thing away at first glance: sun or none, nothing on the ground, neon, panes, one paint for all."""

import math
from dataclasses import replace
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import project
from cfgen.inpaint.composite import optics, sprites
from cfgen.inpaint.composite.draw import draw
from cfgen.inpaint.composite.harmonize import _shown, limit_saturation
from cfgen.inpaint.composite.inpainter import Composite, looks_of, pick
from cfgen.inpaint.composite.light import estimate
from cfgen.inpaint.composite.reflections import sheen, sheen_rows
from cfgen.inpaint.composite.relight import PAINTS, glazed, paints_of, repainted
from cfgen.inpaint.edit import EditJob, make_edits
from cfgen.inpaint.protocol import Setting
from cfgen.perception.colour import luminance
from cfgen.perception.light import SceneLight, SunDirection
from tests.inpaint.composite.test_composite import (
    PINHOLE,
    make_hazard,
    make_light,
    make_placement,
    make_road,
    make_scene,
)

LEFT = np.array([0.0, math.cos(0.7), math.sin(0.7)])


def light_of(image, light):
    return estimate(Setting(image, PINHOLE, make_placement(make_hazard("drum"), 10.0, 0.0), light=light))


def sun(vector, confidence, source, hardness) -> SceneLight:
    return SceneLight(SunDirection(vector, confidence, source), hardness)


#: Models, and whether what is dark in them is hair or clothes.
DARK = {"pedestrian_walking_gait": True, "worker": True, "dog": True, "car": False, "motorcyclist": False}


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


def test_between_sun_and_none_the_sun_shines_through_thin_cloud():
    road = make_road(grey=190)
    none, hazy, clear = (light_of(road, sun(LEFT, 0.9, "shadows", s)) for s in (0.3, 0.47, 0.9))
    assert none.sun_dir is None
    assert none.sun.max() == 0
    assert 0.2 * clear.sun.max() < hazy.sun.max() < 0.8 * clear.sun.max()
    for light in (hazy, clear):
        assert light.sky + light.sun * LEFT[2] == pytest.approx(np.ones(3), abs=1e-5)
    assert light_of(road, sun(LEFT, 0.2, "unknown", 0.47)).sun_dir is None, "its side is unknown"


def test_whites_that_are_burnt_out_are_brighter_than_they_show():
    few, many = make_road(), make_road()
    few[300:310, :100] = 255
    many[300:380, :400] = 255
    assert light_of(many, None).report["white"] > 1.3 * light_of(few, None).report["white"]


def test_whites_are_no_brighter_than_the_frames_own_in_a_low_sun():
    hazard, frame = make_hazard("drum"), make_road(grey=94)
    frame[280:340, :40] = 200
    placement = make_placement(hazard, 10.0, 0.0)
    low, high = (sun(np.array([-math.cos(a), 0.0, math.sin(a)]), 1.0, "told", 1.0) for a in (0.2, 1.0))
    light = light_of(frame, low)
    assert light.facing < 0.5
    assert light.sky + light.sun * light.sun_dir[2] == pytest.approx(np.ones(3), abs=1e-5), (
        "the road's as ever"
    )
    assert light_of(frame, high).facing == 1
    scene = make_scene()
    images = {(f.camera, f.t): frame for f in scene.frames}
    edit = make_edits([EditJob(scene, images, hazard, placement, 4, light=low)], Composite())[0]
    [made] = [f for (_, t), (f, *_) in edit.frames.items() if t == 0]
    drawn = made[edit.layer[..., 3] > 200]
    assert 150 < np.percentile(drawn.min(-1), 95) < 245, "its bands are white, and not burnt"
    # what a camera cuts off tells of no brightest
    frame[180:240, 300:660] = 255
    assert light_of(frame, low).facing == 1


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


def test_a_wet_road_mirrors_more_farther_down_and_in_colour():
    rgba = np.zeros((160, 80, 4), np.float32)
    rgba[20:80, 30:50] = (0.6, 0.5, 0.05, 1)
    free = np.ones(rgba.shape[:2], bool)
    dry, wet = (sheen(rgba, 1.0, free, wet) for wet in (0.0, 1.0))
    assert dry.shape[-1] == 1
    assert wet[83, 40, 2] < dry[83, 40, 0] - 0.15, "blue is what its yellow mirror image lacks"
    assert wet[83, 40, 0] > wet[83, 40, 2] + 0.2
    assert wet[115, 40, 2] < 0.85 < 0.95 < dry[115, 40, 0]
    assert sheen_rows(60, 1.0) > sheen_rows(60)


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


def test_a_drawing_has_room_for_its_mirror_image():
    hazard = make_hazard("drum")
    drawing = draw(sprites.load("drum", "a"), PINHOLE, make_placement(hazard, 10.0, 0.0), make_light())
    (foot, top), _ = project(PINHOLE, [(10.0, 0.0, 0.0), (10.0, 0.0, hazard.size.height)])
    assert drawing.box[3] >= foot[1] + sheen_rows(foot[1] - top[1])
    assert drawing.shade[-1].min() > 0.97


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


def layers_of(model, variant, azimuth, paint=None):
    sprite = sprites.load(model, variant) if paint is None else sprites.painted(model, variant, paint)
    return sprite, sprite._layers(sprite._nearest(azimuth, 0.06))


def test_panes_mirror_and_tyres_do_not():
    sprite, layers = layers_of("car", "hatch_red", math.pi)
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


def test_a_pane_mirrors_before_who_sits_behind_it_too():
    sprite, layers = layers_of("fire_engine", "a", 0.0)  # a driver, and the red body seen through the cab
    high, wide = layers.position[..., 2] / sprite.size[2], layers.position[..., 1] / sprite.size[1]
    screen = (high > 0.6) & (high < 0.68) & (abs(wide) < 0.3)
    assert (layers.gloss[screen] > 1).mean() > 0.95
    assert layers.albedo[screen].max() < 0.06


@pytest.mark.parametrize(
    ("model", "variant", "azimuth", "paint"),
    [
        ("car", "sedan_silver", 2.6, "wine"),
        ("car", "sedan_white", 2.4, "dark blue"),
        ("car_oncoming", "sedan_blue", 0.5, "wine"),
        ("car_braking", "suv_silver", math.pi, "light blue"),
    ],
)
def test_a_car_in_another_paint_keeps_all_else_and_has_no_specks(model, variant, azimuth, paint):
    _, own = layers_of(model, variant, azimuth)
    _, other = layers_of(model, variant, azimuth, paint)
    coat = (own.gloss > 0.9) & (own.gloss <= 1)
    was, new = np.median(own.albedo[coat], 0), np.array(PAINTS[paint])
    assert np.median(other.albedo[coat], 0) == pytest.approx(new, abs=0.03)
    covered = cv2.resize(own.sky[..., 3], own.gloss.shape[::-1], interpolation=cv2.INTER_AREA) > 0.95
    body = coat & covered & (np.abs(own.albedo - was).max(-1) < 0.2 * was.max())
    left = np.abs(other.albedo - was).sum(-1) < np.abs(other.albedo - new).sum(-1)
    assert left[body].mean() < 0.015
    whole = cv2.resize(body.astype(np.uint8), own.sky.shape[1::-1], interpolation=cv2.INTER_NEAREST)
    whole = cv2.erode(whole, np.ones((5, 5), np.uint8)) > 0
    specks = [
        np.abs(grey - cv2.medianBlur(grey, 5))[whole].mean() / grey[whole].mean()
        for grey in (luminance(layers.sky[..., :3]).astype(np.float32) for layers in (own, other))
    ]
    assert specks[1] < 1.2 * specks[0] + 0.002, "as even as it was"
    red = (own.albedo[..., 0] > 0.1) & (own.albedo[..., 0] > 3 * own.albedo[..., 2]) & covered
    for kept in (red, own.gloss > 1.2):
        inside = cv2.erode(kept.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
        assert np.array_equal(own.albedo[inside], other.albedo[inside]), "lamps and panes"
    assert np.array_equal(own.sky[..., 3], other.sky[..., 3])
    assert other.sky[..., :3].min() >= 0
    assert np.array_equal(repainted(own, paint).albedo, other.albedo)


def test_only_paints_that_come_out_clean_are_used():
    painted = {f"{m}/{v}" for m in sprites.list_models() for v in sprites.list_variants(m) if paints_of(m, v)}
    assert {name.partition("/")[0] for name in painted} == {"car", "car_braking", "car_oncoming", "van"}
    assert not [name for name in painted if name.endswith(("red", "black", "van/grey"))]
    for name in sorted(painted):
        _, layers = layers_of(*name.split("/"), math.pi)
        own = luminance(np.median(layers.albedo[(layers.gloss > 0.9) & (layers.gloss <= 1)], 0))
        assert all(luminance(np.array(PAINTS[paint])) < own for paint in paints_of(*name.split("/")))


def test_a_benchmark_shows_every_variant_and_paint_of_a_model_before_one_again():
    names, hazard = looks_of("car"), make_hazard("car", variant="sedan_white")
    sizes = Composite().sizes(hazard)
    assert len({*names}) == len(names) == len(sizes) > 12
    assert names[:4] == sprites.list_variants("car")

    def shown(look, names=names, sizes=sizes, prompt="a car"):
        asked = hazard.model_copy(update={"look": look, "prompt": prompt})
        size = sizes[look % len(sizes)]
        return pick(names, sizes, SimpleNamespace(hazard=asked, seed=5, placement=SimpleNamespace(size=size)))

    assert [shown(k) for k in range(len(names))] == names
    assert "/" not in "".join(shown(k, prompt="a red car") for k in range(len(names)))
    for model in ("van", "truck_box"):
        others, room = looks_of(model), Composite().sizes(make_hazard(model, variant="white"))
        assert {shown(k, others, room, "a white one") for k in range(len(others))} == {"white"}


def test_texture_is_not_taken_for_grain():
    rng = np.random.default_rng(0)
    frame = np.full((240, 320, 3), 120.0)
    frame[40:] += rng.normal(0, 12, (200, 320, 1))
    grain = rng.normal(0, 1.0, (240, 320, 1))
    found = optics.measure(np.clip(frame + grain, 0, 255).astype(np.uint8)).noise
    assert 0.5 < found < 1.5


def test_what_is_brighter_than_the_road_gets_more_of_a_cameras_contrast_and_dark_fur_less():
    light = replace(make_light(), albedo=0.1, contrast=1.5, floor=np.zeros(3), haze_per_m=0.0)
    albedos = np.array([0.01, 0.1, 0.6], np.float32)
    drawn = np.ones((1, 3, 4), np.float32)
    drawn[..., :3] = albedos[None, :, None]
    own, fur = (_shown(drawn, light, 10.0, dull)[0, :, 1] for dull in (False, True))
    assert own[0] / own[1] == pytest.approx(0.1**1.5, rel=1e-3)
    assert own[2] / own[1] > 3 * 6**1.5
    assert fur[0] > 1.5 * own[0]
    assert fur[1:] == pytest.approx(own[1:])


def test_the_darks_of_who_wears_hair_or_clothes_are_dull_those_of_paint_and_glass_are_not():
    placement = make_placement(make_hazard("drum"), 10.0, 0.0)
    told = {
        name: draw(sprites.load(name, looks_of(name)[0]), PINHOLE, placement, make_light()).dull
        for name in DARK
    }
    assert told == DARK


def test_no_coat_of_hair_is_black():
    for model, variant in (("horse", "loose"), ("cat", "black")):
        sprite = sprites.load(model, variant)
        layers = sprite._layers(sprite.meta["views"][len(sprite.meta["views"]) // 2])
        covered = (
            cv2.resize(layers.sky[..., 3], layers.albedo.shape[1::-1], interpolation=cv2.INTER_AREA) > 0.95
        )
        assert np.percentile(luminance(layers.albedo)[covered], 2) > 0.029


def test_most_cars_are_white_silver_grey_or_nearly_black():
    names = looks_of("car") + looks_of("car_braking") + looks_of("car_oncoming")
    words = [name.rpartition("/")[2].rpartition("_")[2] for name in names]
    assert np.mean([word in {"red", "blue", "wine", "light blue", "dark blue"} for word in words]) < 0.3
    assert np.mean([word in {"white", "pearl", "platinum", "silver"} for word in words]) > 0.3
