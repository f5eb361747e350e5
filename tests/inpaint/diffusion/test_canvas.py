"""From crop to canvas and back: nothing moves, nothing changes that the model did not change."""

import cv2
import numpy as np
import pytest

from cfgen.inpaint.diffusion.canvas import canvas_size, from_canvas, mask_to_canvas, to_canvas
from tests.inpaint.diffusion.asked import apart, picture


def square(height: int, width: int) -> np.ndarray:
    mask = np.zeros((height, width), np.uint8)
    mask[height // 3 : height // 2, width // 4 : width // 2] = 255
    return mask


@pytest.mark.parametrize(
    ("shape", "most"), [((96, 96), 1), ((120, 160), 1), ((131, 77), 1), ((250, 256), 3), ((240, 180), 3)]
)
def test_a_model_that_changes_nothing_returns_the_crop(shape, most):
    crop = picture(*shape)
    size = canvas_size(*shape, 256, 64)
    back = from_canvas(to_canvas(crop, size).astype(np.float32), crop, square(*shape))
    assert apart(back, crop) <= most, "exact where the canvas is clearly larger, as it is made to be"


def test_white_noise_comes_back_too():
    crop = np.random.default_rng(0).integers(0, 256, (100, 100, 3), np.uint8)
    back = from_canvas(to_canvas(crop, (256, 256)).astype(np.float32), crop, square(100, 100))
    assert apart(back, crop) <= 1


def test_a_crop_larger_than_the_canvas_keeps_its_place():
    crop = cv2.GaussianBlur(picture(400, 400), (0, 0), 3)
    back = from_canvas(to_canvas(crop, (256, 256)).astype(np.float32), crop, square(400, 400))
    assert np.abs(back.astype(int) - crop).mean() < 1
    (dx, dy), _ = cv2.phaseCorrelate(*(p[..., 1].astype(np.float32) for p in (crop, back)))
    assert max(abs(dx), abs(dy)) < 0.02


@pytest.mark.parametrize(("shape", "size"), [((90, 70), (320, 256)), ((300, 400), (192, 256))])
def test_pixels_keep_their_place_to_a_tenth(shape, size):
    height, width = shape
    dot = np.zeros((*shape, 3), np.uint8)
    cv2.circle(dot, (width // 3, height // 2), 12, (255, 255, 255), -1)
    for large in (to_canvas(dot, size)[..., 0], mask_to_canvas(dot[..., 0], size, 0)):
        weight = large.astype(float)
        at = [float((np.indices(size)[i] * weight).sum() / weight.sum()) for i in (0, 1)]
        expected = [
            (n + 0.5) * m / k - 0.5 for n, m, k in zip((height // 2, width // 3), size, shape, strict=True)
        ]
        assert at == pytest.approx(expected, abs=0.1 * max(size[0] / height, 1))


def test_a_shift_of_tone_is_taken_back_inside_the_mask_too():
    crop, mask = picture(120, 120), square(120, 120)
    made = to_canvas(crop, (256, 256)).astype(np.float32) + np.array((7, -4, 2))
    assert apart(from_canvas(made, crop, mask), crop) <= 1


def test_what_was_painted_stays():
    crop, mask = picture(120, 120), square(120, 120)
    made = to_canvas(crop, (256, 256)).astype(np.float32)
    made[mask_to_canvas(mask, (256, 256), 0) > 0] = (20, 200, 90)
    back = from_canvas(made, crop, mask)
    inner = cv2.erode(mask, np.ones((5, 5), np.uint8)) > 0
    assert np.abs(back[inner].astype(int) - (20, 200, 90)).max() <= 4


def test_the_mask_on_the_canvas_is_binary_and_wider_by_the_margin():
    mask = square(90, 90)
    plain, wide = (mask_to_canvas(mask, (256, 256), margin) for margin in (0, 8))
    assert set(np.unique(wide)) == {0, 255}
    assert ((plain == 0) | (wide == 255)).all()
    assert cv2.boundingRect(wide)[2] - cv2.boundingRect(plain)[2] == 16


@pytest.mark.parametrize("shape", [(256, 256), (540, 960), (401, 377), (1080, 400), (192, 200)])
def test_canvases_keep_proportions_and_never_exceed_the_resolution(shape):
    high, wide = canvas_size(*shape, 1024, 64)
    assert high % 64 == wide % 64 == 0
    assert 0.85 * 1024**2 <= high * wide <= 1024**2
    assert (wide / high) / (shape[1] / shape[0]) == pytest.approx(1, abs=0.1)
