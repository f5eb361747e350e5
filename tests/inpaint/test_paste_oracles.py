"""Pasting to the last bit: exact arithmetic on every pair of values, not a tolerance of one."""

import numpy as np
import pytest

from cfgen.inpaint.paste import blend, layer_of, paste, weights
from cfgen.inpaint.region import FEATHER

UNDER, OVER = (a.astype(np.uint8) for a in np.mgrid[:256, :256])


def as_picture(values: np.ndarray) -> np.ndarray:
    return np.repeat(values[..., None], 3, axis=2)


@pytest.mark.parametrize("share", [0.0, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 7 / 8, 1.0])
def test_a_blend_is_rounded_to_the_nearest_value(share):
    """The shares are binary fractions: floats hold them, and 8 x the exact mix, without error."""
    weight = np.full(UNDER.shape, share, np.float32)
    found = blend(as_picture(UNDER), as_picture(OVER), weight)
    eighths = round(8 * share)
    exact = UNDER.astype(int) * (8 - eighths) + OVER.astype(int) * eighths
    assert np.array_equal(found, as_picture((exact + 4) // 8)), "half goes up"


def test_a_paste_touches_the_crop_alone_and_each_channel_by_itself():
    rng = np.random.default_rng(2)
    frame = rng.integers(0, 256, (12, 20, 3), dtype=np.uint8)
    edited = rng.integers(0, 256, (4, 6, 3), dtype=np.uint8)
    weight = np.zeros((4, 6), np.float32)
    weight[1:3, 2:5] = 1.0
    before = frame.copy()
    found = paste(frame, (9, 3, 15, 7), edited, weight)
    expected = before.copy()
    expected[4:6, 11:14] = edited[1:3, 2:5]
    assert np.array_equal(found, expected)
    assert np.array_equal(frame, before), "the frame that was given stays as it was"


def test_weight_rises_by_equal_steps_from_the_edge_inwards():
    mask = np.zeros((40, 40), np.uint8)
    mask[10:] = 255
    depth = np.maximum(np.arange(40) - 9, 0)  # rows from the edge; OpenCV's steps are 4.5% short
    assert weights(mask, None)[:, 20] == pytest.approx(np.minimum(depth / (FEATHER + 1), 1), abs=0.05)
    assert weights(mask, None).dtype == np.float32


def test_thin_cover_holds_the_paste_back_in_proportion():
    mask = np.full((3, 5), 255, np.uint8)
    alpha = np.array([[0.0, 1 / 32, 1 / 16, 1 / 8, 1.0]], np.float32).repeat(3, axis=0)
    assert weights(mask, alpha)[1] == pytest.approx([0, 1 / 4, 1 / 2, 1, 1])


def test_a_layer_has_the_least_alpha_that_explains_the_change_and_the_nearest_colour():
    rng = np.random.default_rng(3)
    original, result = rng.integers(0, 256, (2, 64, 64, 3), dtype=np.uint8)
    cover = (rng.integers(1, 65, (64, 64)) / 64).astype(np.float32)
    layer = layer_of(original, result, cover).astype(float)
    before, change = original.astype(float), result.astype(float) - original
    room = np.where(change > 0, 255 - before, before)
    needed = np.divide(np.abs(change), room, out=np.zeros_like(room), where=change != 0).max(axis=-1)
    wanted = 255 * np.maximum(cover, needed)
    alpha = layer[..., 3]
    assert (alpha >= wanted - 1e-3).all()
    assert (alpha < wanted + 1 + 1e-3).all()
    exact = np.clip(before + change * 255 / alpha[..., None], 0, 255)
    assert np.abs(layer[..., :3] - exact).max() <= 0.5 + 1e-3


def test_a_layer_is_empty_where_nothing_covers():
    original = np.full((8, 9, 3), 100, np.uint8)
    result = original.copy()
    result[2:4, 3:7] = (150, 100, 60)
    cover = np.zeros((8, 9), np.float32)
    cover[2:4, 3:7] = 1
    layer = layer_of(original, result, cover)
    assert (layer[2:4, 3:7] == (150, 100, 60, 255)).all()
    layer[2:4, 3:7] = 0
    assert not layer.any()
    assert not layer_of(original, original, np.zeros((8, 9), np.float32)).any()
