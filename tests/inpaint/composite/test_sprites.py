"""Sprites: what ships is complete, exact in scale and foot, and lit as its light says."""

import json
import math
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.inpaint.composite import sprites
from cfgen.inpaint.composite.relight import Layers, gathered, lamps_of, relight
from cfgen.inpaint.composite.sprites import Sprite, load

SHIPPED = [(model, variant) for model in sprites.list_models() for variant in sprites.list_variants(model)]
SUN = (math.cos(0.6), 0.0, math.sin(0.6))


@pytest.fixture(scope="module")
def drum() -> Sprite:
    return load("drum", "a")


def bounds(alpha: np.ndarray) -> tuple[int, int, int, int]:
    rows, cols = np.where(alpha.max(1) > 0.5)[0], np.where(alpha.max(0) > 0.5)[0]
    return int(rows[0]), int(rows[-1]), int(cols[0]), int(cols[-1])


def test_assets_stay_small() -> None:
    assert sum(path.stat().st_size for path in sprites.assets_dir().rglob("*") if path.is_file()) < 40e6


@pytest.mark.parametrize("key", SHIPPED, ids="/".join)
def test_every_picture_of_a_shipped_variant_is_there(key: tuple[str, str]) -> None:
    sprite = load(*key)
    assert sprite.meta["licence"].startswith("Apache-2.0")
    with zipfile.ZipFile(sprite.archive) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
    views = {f"{round(v['elevation_deg'] * 10):03d}_{v['azimuth_deg']:03d}": v for v in sprite.meta["views"]}
    expected = {f"{layer}_{key}.webp" for key in views for layer in ("sky", "albedo", "shape")}
    expected |= {f"emit_{key}.webp" for key, view in views.items() if view["emits"]}
    assert expected <= names
    assert sprite.is_decal or (views and "contact.webp" in names)


@pytest.mark.parametrize("key", SHIPPED, ids="/".join)
def test_upright_variants_have_their_metric_height_and_stand_on_their_foot(key: tuple[str, str]) -> None:
    sprite = load(*key)
    if sprite.is_decal:
        assert sprite.decal().values[..., 3].max() > 0.5
        return
    view = sprite.view(0.0)
    top, bottom, left, right = bounds(view.rgba[..., 3])
    reach = sprite.meta["depth_m"]
    nearest = 25 / (25 - reach)
    height = (view.foot[1] - top) / view.ppm
    assert height == pytest.approx(sprite.size[2], rel=0.03 + (nearest - 1), abs=0.1)
    assert left <= view.foot[0] <= right + 1
    assert bottom <= view.foot[1] + reach * nearest * math.tan(view.elevation) * view.ppm + 2


def test_height_and_width_are_exact_for_a_turned_body(drum: Sprite) -> None:
    view = drum.view(1.0)
    top, bottom, left, right = bounds(view.rgba[..., 3])
    tall = drum.size[2]
    assert (view.foot[1] - top) / view.ppm == pytest.approx(tall, rel=0.03)
    assert (right - left + 1) / view.ppm == pytest.approx(drum.size[1], rel=0.03)
    assert bottom + 1 - view.foot[1] == pytest.approx(
        0.5 * drum.size[0] * math.tan(view.elevation) * view.ppm, abs=2
    )
    assert (left + right + 1) / 2 == pytest.approx(view.foot[0], abs=1)


def test_sky_light_scales_linearly_and_alpha_does_not_move(drum: Sprite) -> None:
    plain, tinted = drum.view(0.0), drum.view(0.0, sky=(0.5, 1.0, 2.0))
    np.testing.assert_array_equal(plain.rgba[..., 3], tinted.rgba[..., 3])
    np.testing.assert_allclose(tinted.rgba[..., :3], plain.rgba[..., :3] * np.float32([0.5, 1, 2]), rtol=1e-6)
    assert (plain.rgba[..., :3] <= 1.51 * plain.rgba[..., 3:] + 1e-6).all()


@pytest.mark.parametrize("azimuth", [0.0, 1.2, -2.0])
def test_sun_lights_the_side_it_stands_on(drum: Sprite, azimuth: float) -> None:
    side = azimuth + math.pi / 2  # the sun to the camera's right
    light = (math.cos(side) * 0.9, math.sin(side) * 0.9, math.sqrt(1 - 0.81))
    lit = drum.view(azimuth, sun_dir=light).rgba - drum.view(azimuth).rgba
    half = lit.shape[1] // 2
    assert lit[:, half:, :3].sum() > 5 * lit[:, :half, :3].sum()


def test_sun_behind_lights_little_and_sun_below_nothing(drum: Sprite) -> None:
    dark = drum.view(0.0).rgba[..., :3].sum()
    front = drum.view(0.0, sun_dir=SUN).rgba[..., :3].sum() - dark
    back = drum.view(math.pi, sun_dir=SUN).rgba[..., :3].sum() - dark
    assert 0 < back < 0.25 * front
    np.testing.assert_array_equal(drum.view(0.0, sun_dir=(1, 0, -0.1)).rgba, drum.view(0.0).rgba)


def test_mirrored_views_mirror_their_light() -> None:
    barrier = load("barrier", "a")
    left = barrier.view(0.7, sun_dir=(0.5, 0.6, 0.62))
    right = barrier.view(-0.7, sun_dir=(0.5, -0.6, 0.62))
    np.testing.assert_allclose(right.rgba, left.rgba[:, ::-1], atol=1e-6)
    assert right.foot[0] == pytest.approx(left.rgba.shape[1] - left.foot[0])


def test_lamps_shine_without_any_sky() -> None:
    lit = load("barrier", "a").view(0.0, sky=(0, 0, 0)).rgba
    assert lit[..., 0].max() > 0.5
    assert load("barrier", "a").view(0.0, sky=(0, 0, 0), emission=0).rgba[..., :3].max() == 0


def test_cast_shadow_reaches_as_far_as_the_sun_says(drum: Sprite) -> None:
    shadow = drum.cast(SUN)
    rows, cols = np.where(shadow.values < 0.5)
    x, y, _ = shadow.to_model @ np.stack([cols, rows, np.ones_like(rows)])
    assert x.min() == pytest.approx(-drum.size[2] / math.tan(0.6), rel=0.2, abs=0.1)
    assert x.max() == pytest.approx(drum.size[0] / 2, abs=0.06)
    assert abs(y).max() == pytest.approx(drum.size[1] / 2, abs=0.06)


def test_the_contact_shadow_of_what_stands_on_legs_keeps_to_them() -> None:
    legs, solid = 1 - np.float32([[0.05, 0.2, 0.45]]), 1 - np.float32([[0.1, 0.4, 1.0]])
    kept = 1 - gathered(legs)
    assert kept[0, 2] == pytest.approx(0.45)
    assert kept[0, 0] < 0.01, "no bar reaches beyond the paws"
    assert gathered(solid) == pytest.approx(solid)


def test_contact_shadow_is_darkest_under_the_body_and_gone_at_the_rim(drum: Sprite) -> None:
    contact = drum.shadow_map()
    col, row, _ = np.linalg.inv(contact.to_model) @ [0.0, 0.0, 1.0]
    values = contact.values
    assert values[round(row), round(col)].max() < 0.3
    rim = np.concatenate([values[0], values[-1], values[:, 0], values[:, -1]])
    assert rim.min() > 0.99
    both = drum.shadow_map(SUN, (0.5,) * 3, (1.0,) * 3).values
    assert both.min() < 0.35
    assert both.max() == pytest.approx(1.0, abs=0.01)


def test_views_are_kept_and_come_out_the_same(drum: Sprite) -> None:
    first = drum.view(0.3, sun_dir=SUN).rgba
    assert drum.view(0.3, sun_dir=SUN).rgba is first  # as the next frame of a case asks for it
    with pytest.raises(ValueError, match="read-only"):
        first[:] = 0
    other = drum.view(0.3).rgba
    assert other is not first
    assert not np.array_equal(other, first)


def test_mistakes_are_named(tmp_path: Path, drum: Sprite) -> None:
    with pytest.raises(InputError, match=r"no sprite 'drum/zzz'.*there are: a"):
        load("drum", "zzz")
    with pytest.raises(InputError, match="no decal"):
        drum.decal()
    folder = tmp_path / "thing"
    folder.mkdir()
    (folder / "a.json").write_text("{")
    with pytest.raises(InputError, match=r"a\.json: expected JSON"):
        sprites.load_from(tmp_path, "thing", "a")
    (folder / "b.json").write_text(json.dumps({"schema": "other"}))
    with pytest.raises(InputError, match="expected schema"):
        sprites.load_from(tmp_path, "thing", "b")
    (folder / "c.json").write_text(json.dumps(drum.meta))
    (folder / "c.zip").write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"c\.zip: expected a sprite archive"):
        sprites.load_from(tmp_path, "thing", "c").view(0.0)


def plate(gloss: float | None) -> Layers:
    """Black, upright, seen straight on from x, 8 px square."""
    black, ones = np.zeros((4, 4, 3), np.float32), np.ones((8, 8), np.float32)
    sky = np.dstack([np.zeros((8, 8, 3), np.float32), ones])
    normal = np.broadcast_to(np.float32([1, 0, 0]), (4, 4, 3))
    shine = None if gloss is None else np.full((4, 4), gloss, np.float32)
    return Layers(sky, black, normal, black, shine, np.float32([1, 0, 0]), None, ones)


def shown(layers: Layers, light: tuple[float, float, float]) -> float:
    return float(relight(layers, np.array(light), (0, 0, 0), (1, 1, 1), 1.0, None)[..., :3].mean())


def test_a_glossy_black_thing_flashes_where_it_mirrors_the_sun_and_a_matt_one_does_not() -> None:
    ahead, aside = (0.995, 0.0, 0.0998), (0.6, 0.64, 0.48)
    assert shown(plate(None), ahead) == 0
    assert shown(plate(1.0), ahead) > 0.5
    assert shown(plate(1.0), aside) < 0.05
    assert shown(plate(0.3), ahead) < 0.1 * shown(plate(1.0), ahead)


def test_a_highlight_carries_as_much_light_however_wide_it_is() -> None:
    """GGX is normalised over half vectors; Fresnel and visibility change little within the lobe."""
    total = []
    for gloss in (1.0, 0.6):
        tilt = np.linspace(0.0005, 0.6, 400)
        lobe = [shown(plate(gloss), (math.cos(2 * t), 0.0, math.sin(2 * t))) / gloss for t in tilt]
        total.append(np.trapezoid(np.array(lobe) * np.sin(tilt), tilt))
    assert total[1] == pytest.approx(total[0], rel=0.35)


def test_sunlit_paint_lamps_and_plates_are_brighter_than_cloth_in_their_own_colour() -> None:
    """A plate of half red albedo that faces sun and camera, with a coat, lamp-like, and matt."""
    towards = np.array((0.995, 0.0, 0.0998))

    def red(gloss: float) -> np.ndarray:
        albedo, ones = np.tile(np.float32([0.8, 0.3, 0.3]), (4, 4, 1)), np.ones((4, 4), np.float32)
        layers = replace(plate(gloss), albedo=albedo, lamps=lamps_of(albedo, gloss * ones, ones, 40.0))
        dark = replace(layers, albedo=np.zeros((4, 4, 3), np.float32))
        both = [relight(one, towards, (0, 0, 0), (1, 1, 1), 1.0, None)[..., :3] for one in (layers, dark)]
        return (both[0] - both[1]).mean((0, 1))  # without the mirror's white

    matt, coat, lamp = red(0.0), red(1.0), red(0.5)
    assert (coat > 1.5 * matt).all()
    assert (lamp > 1.5 * matt).all()
    assert coat[0] / coat[1] == pytest.approx(matt[0] / matt[1], rel=0.05)


def test_fur_is_lit_as_one_coat() -> None:
    """The sun's light on a dog's side does not change from lock to lock."""
    shipped = load("dog", "shepherd")
    bare = {k: v for k, v in shipped.meta.items() if k != "voxels"}  # no shadow of its own
    dog = Sprite(bare, shipped.archive)
    locks = Sprite({k: v for k, v in bare.items() if k != "fur_m"}, shipped.archive)
    rough = []
    for sprite in (dog, locks):
        lit, plain = (sprite.view(math.pi / 2, 0.05, sun, (0, 0, 0)).rgba for sun in ((0.3, 0.8, 0.5), None))
        level = (lit - plain)[..., 1][lit[..., 3] > 0.99]
        rough.append(np.abs(np.diff(level)).mean() / level.mean())
    assert rough[0] < 0.8 * rough[1]


def test_paint_seen_at_a_slant_keeps_its_colour_in_the_sun() -> None:
    bus = load("school_bus", "a")
    azimuth, sun = math.radians(170), (math.cos(1.9) * 0.8, math.sin(1.9) * 0.8, 0.6)
    view = bus.view(azimuth, 0.05, sun, (0, 0, 0), (1, 1, 1))
    rows, cols = view.points.shape[:2]
    rgba = view.rgba[: 2 * rows : 2, : 2 * cols : 2]
    side = (view.points[..., 1] > 1.1) & (view.points[..., 2] > 0.8) & (view.points[..., 2] < 1.6)
    colour = np.median(rgba[side & (rgba[..., 3] > 0.99)][:, :3], 0)
    assert colour[2] < 0.35 * colour[0], "the sky that its coat mirrors is no white paint"


def test_a_coat_of_hair_is_not_spotted_by_its_own_shadow() -> None:
    dog, sun = load("dog", "shepherd"), (math.cos(0.87) * 0.82, math.sin(0.87) * 0.82, 0.57)
    shadow = dog._hull_shadow(np.array(sun))
    assert shadow is not None
    layers = dog._layers(dog._nearest(0.0, 0.05))
    lit = (layers.normal @ np.array(sun, np.float32) > 0.5) & (layers.sky[::2, ::2, 3] > 0.99)
    assert (shadow.visible(layers.position, layers.normal)[lit] < 0.5).mean() < 0.08


def test_lamps_and_plates_turn_light_back_and_bright_panels_and_mirrors_do_not() -> None:
    albedo, gloss = np.full((40, 60, 3), 0.5, np.float32), np.zeros((40, 60), np.float32)
    gloss[5:9, 5:15] = gloss[20:35, 20:50] = gloss[12:15, 5:45] = 0.6  # a lamp, a panel and a bumper
    gloss[5:9, 40:46] = 0.82  # a mirror
    lamps = lamps_of(albedo, gloss, np.ones_like(gloss), ppm=45.0)
    assert lamps[5:9, 5:15].min() > 0.9
    lamps[5:9, 5:15] = 0
    assert lamps.max() < 0.05
