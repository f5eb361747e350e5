"""An answer's way back onto its crop: shape, size, shift, tone, and what of it is new."""

import io
import json
from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from cfgen.core.files import png_bytes as png
from cfgen.inpaint.align import align
from cfgen.inpaint.gemini_image.postprocess import RATIOS, Laid, fit, lay, matte
from cfgen.inpaint.gemini_image.prompt import write_prompt
from tests.inpaint.gemini_image.requests import hazard, photo, request

CROP = photo(3)[60:460, 200:600]


def mask_of(crop, y=slice(180, 260), x=slice(150, 230)):
    mask = np.zeros(crop.shape[:2], np.uint8)
    mask[y, x] = 255
    return mask


@given(height=st.integers(40, 1200), width=st.integers(40, 1200), side=st.sampled_from([256, 1024]))
@example(height=40, width=1198, side=256)
@settings(max_examples=60, deadline=None)
def test_the_canvas_has_a_shape_that_is_taken_and_holds_the_crop(height, width, side):
    box = fit(height, width, side)
    assert box.width / box.height == pytest.approx(RATIOS[box.ratio], rel=0.03)
    assert max(box.width, box.height) <= side
    # one scale both ways, to half a pixel of each side
    assert abs(box.inner_width * height - box.inner_height * width) <= 0.5 * (width + height)
    assert box.x0 >= 0
    assert box.x0 + box.inner_width <= box.width
    assert box.y0 + box.inner_height <= box.height
    assert box.width == box.inner_width or box.height == box.inner_height


@pytest.mark.parametrize("shape", [(300, 300), (240, 400), (400, 230), (180, 410)])
@pytest.mark.parametrize("scale", [0.6, 1.0, 1.37])
def test_wrapped_and_answered_at_any_size_it_lies_where_it_was(shape, scale):
    crop = cv2.GaussianBlur(photo(1)[: shape[0], : shape[1]], (0, 0), 2)
    box = fit(*shape, 512)
    sent = box.wrap(crop)
    assert sent.shape == (box.height, box.width, 3)
    size = (round(box.width * scale), round(box.height * scale))
    answer = cv2.resize(sent, size, interpolation=cv2.INTER_AREA)
    (name, back), *others = box.mappings(answer).items()
    assert (name, others) == ("scaled", [])
    assert back.shape == crop.shape
    assert np.abs(back.astype(int) - crop)[5:-5, 5:-5].mean() < 1.5


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("squeezed", lambda p: cv2.resize(p, (640, 400))),
        ("cut to fill", lambda p: cv2.resize(p, (640, 640))[120:520]),
        ("shrunk to fit", lambda p: cv2.copyMakeBorder(cv2.resize(p, (400, 400)), 0, 0, 120, 120, 1)),
    ],
)
def test_an_answer_of_another_shape_is_recognized_by_its_surroundings(name, spoil):
    answer = spoil(fit(400, 400, 512).wrap(CROP))
    aligned = align(fit(400, 400, 512).mappings(answer), CROP, mask_of(CROP))
    assert aligned.report["mapping"] == name
    # what was cut off above and below cannot come back
    assert aligned.drift < (12 if name == "cut to fill" else 4)


@pytest.mark.parametrize(("shift", "scale"), [((4.0, -2.5), 1.0), ((-9.0, 6.0), 1.02), ((0.0, 0.0), 0.985)])
def test_a_residual_shift_and_scale_is_found_and_taken_out(shift, scale):
    middle = np.array([200.0, 200.0])
    moved = np.column_stack([np.eye(2) * scale, middle - scale * middle + shift])
    answer = cv2.warpAffine(CROP, moved, (400, 400), borderMode=cv2.BORDER_REPLICATE)
    mask = mask_of(CROP)
    answer[mask > 0] = (255, 0, 0)  # what was asked for must not mislead it
    aligned = align({"scaled": answer}, CROP, mask)
    found = aligned.report["residual"]
    assert found["corrected"]
    assert np.allclose(found["shift_px"], shift, atol=0.25)
    assert np.allclose(found["scale"], scale, atol=0.002)
    assert aligned.drift < aligned.report["raw_drift"]["mean"] / 2


@pytest.mark.parametrize("turn", [2.0, -4.0])
def test_a_turn_is_found_and_taken_out(turn):
    moved = cv2.getRotationMatrix2D((200, 200), turn, 1.0)
    answer = cv2.warpAffine(CROP, moved, (400, 400), borderMode=cv2.BORDER_REPLICATE)
    aligned = align({"scaled": answer}, CROP, mask_of(CROP))
    assert aligned.report["residual"]["turn_deg"] == pytest.approx(-turn, abs=0.05)
    assert aligned.drift < aligned.report["raw_drift"]["mean"] / 2


def bent(picture, by, at=(0.3, 0.5)):
    """A picture with a bulge of ``by`` pixels of its 400."""
    side = picture.shape[0]
    x, y = np.meshgrid(*[np.arange(side, dtype=np.float32)] * 2)
    away = ((x - at[0] * side) ** 2 + (y - at[1] * side) ** 2) / (2 * (0.1 * side) ** 2)
    return cv2.remap(
        picture, x + by * side / 400 * np.exp(-away), y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )


def test_a_local_warp_is_refused_and_redrawing_alone_is_not():
    asked = request(image=CROP, mask=mask_of(CROP))
    box = fit(*asked.mask.shape, 512)

    def redrawn(picture):
        picture = picture.copy()
        picture[180:260, 150:230] = (250, 120, 10)
        noise = np.random.default_rng(0).normal(3, 4, picture.shape)
        return png(box.wrap(np.clip(picture * 0.97 + noise, 0, 255).astype(np.uint8)))

    assert isinstance(lay(redrawn(CROP), asked, box, 20), Laid)
    assert "is bent" in lay(redrawn(bent(CROP, 8)), asked, box, 20)
    assert isinstance(lay(redrawn(bent(CROP, 8)), asked, box, 0), Laid)  # nothing is refused


@pytest.mark.parametrize("shift", [-45, 45])
def test_another_exposure_is_undone(shift):
    asked = request(image=CROP, mask=mask_of(CROP))
    box = fit(*asked.mask.shape, 512)
    answer = CROP.copy()
    answer[180:260, 150:230] = (180, 120, 60)
    laid = lay(png(box.wrap(np.clip(answer.astype(int) + shift, 0, 255).astype(np.uint8))), asked, box, 20)
    assert isinstance(laid, Laid)
    assert np.abs(laid.image[200:240, 170:210].astype(int) - (180, 120, 60)).mean() < 6
    assert laid.alpha[190:250, 160:220].min() > 0.9
    assert laid.alpha[:170].max() == 0


def test_an_answer_on_nothing_is_laid_over_the_crop():
    asked = request(image=CROP, mask=mask_of(CROP))
    box = fit(*asked.mask.shape, 512)
    answer = np.zeros((400, 400, 3), np.uint8)
    cover = np.zeros((400, 400, 1), np.uint8)
    answer[200:250, 170:210], cover[200:250, 170:210] = (220, 40, 30), 255
    both = np.dstack([box.wrap(answer), box.wrap(np.repeat(cover, 3, 2))[..., :1]])
    laid = lay(png(both), asked, box, 20)
    assert laid.report["raw_drift"]["mean"] == 0
    assert np.abs(laid.image[210:240, 180:200].astype(int) - (220, 40, 30)).max() <= 2
    assert np.array_equal(laid.image[:150], CROP[:150])


def test_an_answer_that_lies_on_its_side_is_turned_as_its_exif_says():
    asked = request(image=CROP, mask=mask_of(CROP))
    box = fit(*asked.mask.shape, 512)
    answer = CROP.copy()
    answer[200:250, 170:210] = (220, 40, 30)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter, clockwise
    data = io.BytesIO()
    Image.fromarray(np.rot90(box.wrap(answer))).save(data, "png", exif=exif)
    assert isinstance(lay(data.getvalue(), asked, box, 20), Laid)


def test_what_lies_well_is_left_alone():
    aligned = align({"scaled": CROP}, CROP, mask_of(CROP))
    assert np.array_equal(aligned.image, CROP)
    assert aligned.report["residual"]["corrected"] is False
    assert aligned.report["tone"] is None
    assert aligned.report["raw_drift"] == {"mean": 0.0, "share": 0.0}


def test_another_picture_is_not_bent_into_place():
    aligned = align({"scaled": photo(9)[:400, :400]}, CROP, mask_of(CROP))
    assert aligned.report["residual"]["corrected"] is False
    assert aligned.drift > 15


def test_a_change_of_tone_is_taken_out():
    darker = np.clip(CROP * 0.9 - 6, 0, 255).astype(np.uint8)
    aligned = align({"scaled": darker}, CROP, mask_of(CROP))
    assert aligned.report["raw_drift"]["mean"] > 10
    assert aligned.drift < 2
    assert aligned.report["tone"]["factor"][0] == pytest.approx(1 / 0.9, rel=0.03)


def test_only_what_is_new_is_kept():
    mask, image = mask_of(CROP), CROP.copy()
    image[200:250, 170:210] = (220, 40, 30)
    image[215:235, 185:195] = CROP[215:235, 185:195]  # a window in it is a part of it
    image[50:90, 50:90] = 0  # outside the mask
    cover = matte(image, CROP, mask)
    thing = np.zeros_like(mask)
    thing[200:250, 170:210] = 1
    assert cover[thing > 0].min() > 0.5
    assert cover[cv2.dilate(thing, np.ones((13, 13))) == 0].max() == 0


def test_noise_is_nothing_new():
    noisy = np.clip(CROP + np.random.default_rng(0).normal(0, 6, CROP.shape), 0, 255).astype(np.uint8)
    assert matte(noisy, CROP, mask_of(CROP)).max() == 0


def test_a_usable_answer_and_those_that_are_not():
    asked = request()
    box = fit(*asked.mask.shape, 512)
    sent = box.wrap(asked.image)
    assert "nothing new" in lay(png(sent), asked, box, 20)
    assert "no whole picture" in lay(b"not a picture", asked, box, 20)
    assert "no whole picture" in lay(png(sent)[:5000], asked, box, 20)
    assert "8 x 8 pixels" in lay(png(sent[:8, :8]), asked, box, 20)
    assert "another picture" in lay(png(255 - sent), asked, box, 20)
    assert isinstance(lay(png(sent), request(hazard=hazard(kind="null")), box, 20), Laid)


@pytest.mark.parametrize("spread", [0, 1, 3])
@pytest.mark.parametrize("whole", [True, False])
def test_surroundings_without_anything_to_hold_on_to_do_no_harm(spread, whole):
    rng = np.random.default_rng(0)
    crop = np.full((300, 300, 3), 128, np.uint8) + rng.integers(0, spread + 1, (300, 300, 3), dtype=np.uint8)
    mask = mask_of(
        crop, slice(0, 300) if whole else slice(100, 200), slice(0, 300) if whole else slice(100, 200)
    )
    answer = np.clip(crop + rng.normal(0, 2, crop.shape), 0, 255).astype(np.uint8)
    answer[130:170, 130:170] = (200, 30, 30)
    aligned = align({"scaled": answer}, crop, mask)
    json.dumps(aligned.report, allow_nan=False)
    assert aligned.drift < 3
    cover = matte(aligned.image, crop, mask)
    assert cover[140:160, 140:160].min() == 1
    assert (cover > 0.5).sum() < 50 * 50


@pytest.mark.parametrize(
    ("yaw", "words"),
    [(0.0, "its back is seen"), (3.1, "its front is seen"), (1.57, "to the left"), (-1.57, "to the right")],
)
def test_the_words_say_which_way_it_faces(yaw, words):
    asked = request()
    asked = replace(asked, placement=asked.placement.model_copy(update={"yaw": yaw}))
    height, width = asked.mask.shape
    assert words in write_prompt(asked, fit(height, width, 512))
    anyhow = replace(asked, hazard=hazard(heading="any"))
    assert "It is turned" not in write_prompt(anyhow, fit(height, width, 512))
