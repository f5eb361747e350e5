"""The newer editors on their real classes with tiny weights: orders, masks, batches, seeds."""

import functools
import importlib
import itertools
from dataclasses import replace

import cv2
import numpy as np
import pytest

from cfgen.core.errors import InpaintRefusedError
from cfgen.inpaint.diffusion.flux2_klein import Flux2Klein
from cfgen.inpaint.diffusion.qwen_image_edit import QwenImageEdit, QwenImageEditPlus
from cfgen.inpaint.diffusion.z_image import ZImage
from cfgen.inpaint.edit import Edit, make_edits
from tests.inpaint.diffusion.asked import apart, guided, picture, request
from tests.inpaint.diffusion.tiny_editors import (
    tiny_klein,
    tiny_qwen,
    tiny_qwen_plus,
    tiny_z_image,
)  # fmt: skip
from tests.inpaint.test_inpaint import make_job

#: Each editor and its tiny checkpoint.
KINDS = {
    "flux2-klein": (Flux2Klein, tiny_klein),
    "qwen-image-edit": (QwenImageEdit, tiny_qwen),
    "z-image": (ZImage, tiny_z_image),
    "qwen-image-edit-plus": (QwenImageEditPlus, tiny_qwen_plus),
}
#: Those of one size alone: where their pipelines work it out.
SIZED = {
    "qwen-image-edit": "qwenimage.pipeline_qwenimage_edit_inpaint",
    "qwen-image-edit-plus": "qwenimage.pipeline_qwenimage_edit_plus",
}
UNMASKED = "qwen-image-edit-plus"


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    return functools.cache(lambda name: str(KINDS[name][1](tmp_path_factory.mktemp(name))))


@pytest.fixture
def painter(request, checkpoints, monkeypatch):
    """A function that makes the inpainter under test with more options."""
    kind, model = KINDS[request.param][0], checkpoints(request.param)
    if request.param not in SIZED:
        few = {} if request.param == "flux2-klein" else {"steps": 4}
        return lambda **more: kind(model=model, resolution=128, **{**few, **more})
    module = importlib.import_module(f"diffusers.pipelines.{SIZED[request.param]}")
    real = module.calculate_dimensions
    monkeypatch.setattr(module, "calculate_dimensions", lambda area, ratio: real(128 * 128, ratio))
    few = {"steps": 2, "max_drift": 0} if request.param == UNMASKED else {"steps": 3}
    return lambda **more: kind(model=model, **{**few, **more})


each = pytest.mark.parametrize("painter", list(KINDS), indirect=True)
holding = pytest.mark.parametrize("painter", [k for k in KINDS if k != UNMASKED], indirect=True)


@each
def test_a_batch_gives_what_single_requests_give_and_seeds_decide(painter):
    asked = [
        request(seed=1),
        guided(request(seed=2)),
        request(seed=3, prompt="a much longer thing than a box"),
    ]
    batch = painter(batch_size=3).inpaint(asked)
    single = [painter(batch_size=1).inpaint([r])[0] for r in asked]
    for one, other in zip(batch, single, strict=True):
        assert apart(one.image, other.image) <= 2
        assert one.report == other.report
    again = painter(batch_size=1).inpaint(asked[:1])[0]
    assert np.array_equal(again.image, single[0].image)
    other = painter().inpaint([replace(asked[0], seed=9)])[0]
    assert apart(other.image, batch[0].image) > 2
    assert [r.report["strength"] for r in batch] == [0.99, 0.45, 0.99]
    assert batch[0].report["steps_run"] == batch[0].report["steps"]
    assert batch[1].report["steps_run"] == 2


@holding
def test_white_is_repainted_and_black_is_kept(painter, monkeypatch):
    """What the VAE is given to decode: other words change the cells that are white and no other."""
    mask = np.zeros((48, 48), np.uint8)
    mask[18:30, 18:30] = 255
    decoded = []
    for words in ("a red box", "a blue cone"):
        made = painter()
        task = made._task(0, replace(request(prompt=words), mask=mask))
        vae = made._engine().pipe.vae
        with monkeypatch.context() as patch:
            patch.setattr(
                vae, "decode", lambda z, decode=vae.decode, **k: decoded.append(z) or decode(z, **k)
            )
            made.paint(made._engine(), [task])
    moved = (decoded[0] - decoded[1]).abs().amax(1)[0].squeeze().numpy()
    cells = cv2.resize(task.mask(made.cell), moved.shape[::-1], interpolation=cv2.INTER_AREA)
    far = cv2.dilate(cells, np.ones((3, 3), np.uint8)) == 0
    assert far.any()
    assert moved[far].max() == 0
    assert moved[cells == 255].min() > 0


@each
def test_strength_is_the_noise_that_a_guides_insert_is_given(painter, monkeypatch):
    """What the VAE is given to decode: weights that say nothing leave the noise in it."""
    asked, decoded, starts = guided(request(prompt="a box")), [], []
    strengths = (0.02, 0.4, 0.8)
    for strength in strengths:
        made = painter(repaint=strength)
        vae = made._engine().pipe.vae
        with monkeypatch.context() as patch:
            patch.setattr(
                vae, "decode", lambda z, decode=vae.decode, **k: decoded.append(z) or decode(z, **k)
            )
            starts.append(made.inpaint([asked])[0].report["start_sigma"])
    assert starts == list(strengths)
    off = [float((z - decoded[0]).abs().mean()) for z in decoded]
    assert all(later > 1.1 * earlier for earlier, later in itertools.pairwise(off)), off


def test_without_a_mask_what_moved_is_moved_back_and_another_picture_is_refused(checkpoints, monkeypatch):
    """The model stands in: its answer is the crop, two pixels off, or noise."""
    made = QwenImageEditPlus(model=checkpoints(UNMASKED))
    frame = cv2.GaussianBlur(picture(200, 200), (0, 0), 1)
    crop, moved = frame[4:196, 4:196], frame[3:195, 2:194].astype(np.float32)
    asked = replace(request(192, 192), image=crop)
    noise = np.random.default_rng(0).uniform(0, 255, crop.shape).astype(np.float32)
    monkeypatch.setattr(made, "paint", lambda engine, tasks: [moved, noise])
    made._batches.size = 2
    laid, refused = made.inpaint([asked, replace(asked, seed=1)])
    outside = asked.mask == 0
    assert laid.report["residual"]["shift_px"] == pytest.approx([2, 1], abs=0.2)
    inside = np.abs(laid.image.astype(int) - crop)[~outside].mean()
    assert inside < 0.5 * np.abs(moved - crop)[~outside].mean()
    assert isinstance(refused, InpaintRefusedError)
    assert "another picture" in str(refused)
    assert refused.report["model"] == made.settings.model


@pytest.mark.parametrize("painter", ["flux2-klein", UNMASKED], indirect=True)
def test_outside_the_mask_frames_stay_bit_identical(painter):
    job = make_job()
    edit = make_edits([job], painter())[0]
    assert isinstance(edit, Edit)
    for key, (image, mask) in edit.frames.items():
        assert np.array_equal(image[mask == 0], job.images[key][mask == 0])
