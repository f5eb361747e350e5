"""The newer editors on their real classes with tiny weights: orders, masks, batches, seeds."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from cfgen.inpaint.diffusion.flux2_klein import Flux2Klein
from cfgen.inpaint.diffusion.prompt import instruction, light_words
from cfgen.inpaint.diffusion.qwen_image_edit import QwenImageEdit
from cfgen.inpaint.edit import make_edits
from cfgen.inpaint.job import Edit
from cfgen.inpaint.registry import INPAINTERS
from tests.inpaint.diffusion.asked import apart, guided, request
from tests.inpaint.diffusion.tiny_editors import tiny_klein, tiny_qwen
from tests.inpaint.test_inpaint import make_hazard, make_job


@pytest.fixture(scope="module")
def klein(tmp_path_factory):
    return tiny_klein(tmp_path_factory.mktemp("klein"))


@pytest.fixture(scope="module")
def qwen(tmp_path_factory):
    return tiny_qwen(tmp_path_factory.mktemp("qwen"))


@pytest.fixture
def painter(request, klein, qwen, monkeypatch):
    """A function that makes the inpainter under test with more options."""
    if request.param == "flux2-klein":
        return lambda **more: Flux2Klein(model=str(klein), resolution=128, **more)
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_inpaint as module

    real = module.calculate_dimensions
    monkeypatch.setattr(module, "calculate_dimensions", lambda area, ratio: real(64 * 64, ratio))
    return lambda **more: QwenImageEdit(model=str(qwen), **{"steps": 3, **more})


both = pytest.mark.parametrize("painter", ["flux2-klein", "qwen-image-edit"], indirect=True)


@both
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
    again = painter(batch_size=3).inpaint(asked)
    assert all(np.array_equal(a.image, b.image) for a, b in zip(batch, again, strict=True))
    other = painter().inpaint([replace(asked[0], seed=9)])[0]
    assert apart(other.image, batch[0].image) > 2
    assert [r.report["strength"] for r in batch] == [0.99, 0.45, 0.99]
    assert batch[0].report["steps_run"] == batch[0].report["steps"]
    assert batch[1].report["steps_run"] == 2


@both
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


@both
def test_outside_the_mask_frames_stay_bit_identical(painter):
    job = make_job()
    edit = make_edits([job], painter())[0]
    assert isinstance(edit, Edit)
    for key, (image, mask) in edit.frames.items():
        assert np.array_equal(image[mask == 0], job.images[key][mask == 0])


def test_klein_encodes_negative_words_for_models_that_heed_them(tmp_path):
    base = tiny_klein(tmp_path / "base", distilled=False)
    words = [
        Flux2Klein(model=str(base), resolution=64, guidance=4, negative_prompt=w) for w in ("", "cartoon")
    ]
    plain, told = (w.inpaint([request()])[0] for w in words)
    assert apart(plain.image, told.image) > 0
    assert told.report["negative_prompt"] == "cartoon"


def test_orders_name_the_hazard_and_the_light_and_differ_when_guided():
    asked = request(prompt="a fallen tree")
    add, repaint = instruction(asked), instruction(guided(asked))
    assert "a fallen tree" in add
    assert light_words(asked.setting) in add
    assert "Keep its place, size" in repaint
    null = make_hazard("the same road").model_copy(update={"kind": "null"})
    assert "Add" not in instruction(replace(asked, hazard=null))


def test_every_local_model_has_a_name():
    assert {"sdxl", "flux2-klein", "qwen-image-edit"} <= set(INPAINTERS.names())
