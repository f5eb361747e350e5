"""What a sensor does to light, against mosaics and wells made up here."""

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import mounted
from cfgen.inpaint.composite.optics import Optics, Sensor, expose, find_sensor, settle
from cfgen.records import Camera

CAMERA = Camera(width=520, height=400, fx=500, fy=500, cx=260, cy=200, T_cam_ego=mounted(1.4, 0.02))
WHOLE = np.ones((60, 80), np.float32)


def scene(height=200, width=260):
    rng = np.random.default_rng(1)
    soft = cv2.GaussianBlur(rng.uniform(0, 1, (height, width, 3)).astype(np.float32), (0, 0), 0.7)
    return np.clip((soft - 0.5) * 2 + 0.4, 0, 0.95)


def mosaicked(light, blue):
    """Bilinear demosaicing, spelled out pixel by pixel."""
    row, col = blue
    height, width = light.shape[:2]
    rows, cols = np.indices((height, width))
    even_row, even_col = (rows - row) % 2 == 0, (cols - col) % 2 == 0
    masks = [~even_row & ~even_col, even_row ^ even_col, even_row & even_col]
    found = np.zeros_like(light)
    for c, mask in enumerate(masks):
        held = np.pad(light[..., c] * mask, 1, mode="reflect")
        there = np.pad(mask.astype(float), 1, mode="reflect")
        near = [(dy, dx) for dy in range(3) for dx in range(3)]
        if c == 1:
            near = [(dy, dx) for dy, dx in near if (dy - 1) * (dx - 1) == 0]
        total = sum(held[dy : dy + height, dx : dx + width] for dy, dx in near)
        count = sum(there[dy : dy + height, dx : dx + width] for dy, dx in near)
        found[..., c] = np.where(mask, light[..., c], total / np.maximum(count, 1))
    return found


def as_pixels(light):
    return (255 * np.clip(light, 0, 1) ** (1 / 2.2) + 0.5).astype(np.uint8)


def in_codes(light):
    return 255 * np.where(
        light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 0) ** (1 / 2.4) - 0.055
    )


@pytest.mark.parametrize("blue", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_the_mosaic_is_found_and_put_on_in_its_phase(blue):
    frame = mosaicked(scene(), blue)
    sensor = find_sensor(as_pixels(frame))
    assert sensor.blue == blue
    part = scene()[7:67, 5:85]
    shot = expose(part, WHOLE, Sensor(blue, False, 1.0), (5, 7), 0.0, np.random.default_rng(0))
    truth = mosaicked(in_codes(scene()), blue)[7:67, 5:85]
    # colours are truer than brightness by the matrix; brightness is as spelled out
    inner = np.s_[2:-2, 2:-2]
    luma = np.array([0.299, 0.587, 0.114])
    assert np.abs(shot @ luma - truth @ luma)[inner].max() < 0.1


def test_what_is_dark_beside_burnt_white_is_guessed_from_codes():
    light = np.full((20, 40, 3), 0.01, np.float32)
    light[:, 20:] = 1
    sensor = Sensor((1, 1), True, 1.0)
    shot = expose(light, WHOLE[:20, :40], sensor, (0, 0), 0, np.random.default_rng(0))[4:-4]
    brightness = shot @ np.array([0.299, 0.587, 0.114])
    # guessed from light it would be 102
    assert 50 < brightness[:, 19].mean() < 90
    assert np.ptp(shot[:, 22:-4]) < 1


def false_colour(shot):
    """(3,) colour that a grey picture has in the mean."""
    codes = shot[8:-8, 8:-8].reshape(-1, 3)
    return np.linalg.norm((codes - (codes @ [0.299, 0.587, 0.114])[:, None]).mean(0))


def test_a_grille_as_fine_as_the_mosaic_stays_nearly_grey():
    rows = np.full((60, 80, 3), 0.02, np.float32)
    rows[::2] = 0.9
    shot = expose(rows, WHOLE, Sensor((1, 1), True, 1.0), (0, 0), 0, np.random.default_rng(0))
    # the mosaic alone makes it 267 codes off grey
    assert 5 < false_colour(shot) < 20
    edge = np.full((60, 80, 3), 0.02, np.float32)
    edge[31:] = 0.9
    shot = expose(edge, WHOLE, Sensor((1, 1), True, 1.0), (0, 0), 0, np.random.default_rng(0))[:, 8:-8]
    # a single edge has its fringe, and nothing beside it
    assert np.ptp(shot[30].mean(0)) > 100
    assert np.ptp(shot[28].mean(0)) < 8
    assert np.ptp(shot[34].mean(0)) < 8


def test_a_frame_without_a_mosaic_has_none():
    assert find_sensor(as_pixels(scene())).blue is None
    assert find_sensor(np.full((300, 400, 3), 90, np.uint8)).blue is None


def test_an_insert_in_a_blurred_frame_without_a_mosaic_is_blurred_grain_and_all():
    grain = np.random.default_rng(0).normal(90, 4, (60, 80, 3)).astype(np.float32)
    cover = np.zeros((60, 80), np.float32)
    cover[:, :40] = 1
    made = settle(grain, cover, Optics(1.2, 2.0))
    assert made[:, :36].std() < 0.6 * grain[:, :36].std()
    assert np.array_equal(made[:, 40:], grain[:, 40:])
    assert settle(grain, cover, Optics(0.5, 2.0)) is grain


def test_highlights_are_cut_and_spill_where_the_frame_clips():
    frame = as_pixels(scene())
    assert not find_sensor(frame).clips
    frame[80:120, 100:160] = 255
    assert find_sensor(frame).clips
    light = np.full((60, 80, 3), 0.2, np.float32)
    light[25:35, 30:50] = 3
    shot = expose(light, WHOLE, Sensor(None, True, 2.0), (0, 0), 0.0, np.random.default_rng(0))
    assert shot.max() == 255
    assert (shot[22, 40] > in_codes(0.21)).all()
    assert np.allclose(shot[2, 2], in_codes(0.2), atol=0.1)


def test_grain_is_in_what_is_new_alone_and_coloured():
    light, cover = np.full((60, 80, 3), 0.2, np.float32), WHOLE.copy()
    cover[:, :40] = 0
    shot = expose(light, cover, Sensor(None, False, 1.0), (0, 0), 3.0, np.random.default_rng(0))
    assert np.allclose(shot[:, :38], in_codes(0.2), atol=0.1)
    codes = shot[:, 42:]
    luma = codes @ np.array([0.299, 0.587, 0.114])
    assert 2 < luma.std() < 4
    assert (codes[..., 2] - luma).std() > 1
