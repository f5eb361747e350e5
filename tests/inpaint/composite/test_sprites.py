"""Sprites: what ships is complete, exact in scale and foot, and lit as its light says."""

import math
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from cfgen.inpaint.composite import sprites
from cfgen.inpaint.composite.relight import Layers, relight
from cfgen.inpaint.composite.sprites import Sprite, list_variants, load

SHIPPED = [(path.parent.name, path.stem) for path in sorted(sprites.assets_dir().glob("*/*.json"))]
SUN = (math.cos(0.6), 0.0, math.sin(0.6))


@pytest.fixture(scope="module")
def drum() -> Sprite:
    return load("drum", "a")


def bounds(alpha: np.ndarray) -> tuple[int, int, int, int]:
    rows, cols = np.where(alpha.max(1) > 0.5)[0], np.where(alpha.max(0) > 0.5)[0]
    return int(rows[0]), int(rows[-1]), int(cols[0]), int(cols[-1])


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


@pytest.mark.parametrize("azimuth", [1.2, -2.0])
def test_sun_lights_the_side_it_stands_on(drum: Sprite, azimuth: float) -> None:
    side = azimuth + math.pi / 2  # the sun to the camera's right
    light = (math.cos(side) * 0.9, math.sin(side) * 0.9, math.sqrt(1 - 0.81))
    lit = drum.view(azimuth, sun_dir=light).rgba - drum.view(azimuth).rgba
    half = lit.shape[1] // 2
    assert lit[:, half:, :3].sum() > 5 * lit[:, :half, :3].sum()


def test_cast_shadow_reaches_as_far_as_the_sun_says(drum: Sprite) -> None:
    shadow = drum.cast(SUN)
    rows, cols = np.where(shadow.values < 0.5)
    x, y, _ = shadow.to_model @ np.stack([cols, rows, np.ones_like(rows)])
    assert x.min() == pytest.approx(-drum.size[2] / math.tan(0.6), rel=0.2, abs=0.1)
    assert x.max() == pytest.approx(drum.size[0] / 2, abs=0.06)
    assert abs(y).max() == pytest.approx(drum.size[1] / 2, abs=0.06)


def test_a_view_does_not_hang_on_what_was_drawn_before_it() -> None:
    """Suns a fraction of a degree apart shade a body by their own light, whichever came first."""
    first, second = ((0.602, 0.3, 0.74), (0.598, 0.3, 0.743))
    sprite = load("car", list_variants("car")[0])
    sprite.view(0.4, sun_dir=first)
    again = replace(sprite, _cache={})
    assert np.array_equal(sprite.view(0.4, sun_dir=second).rgba, again.view(0.4, sun_dir=second).rgba)


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
