"""The newer editors on their real classes with tiny weights: orders, masks, batches, seeds."""

import functools
import itertools
from dataclasses import replace

import cv2
import numpy as np
import pytest
import torch
from PIL import Image

from cfgen.inpaint.diffusion.flux2_klein import Flux2Klein
from cfgen.inpaint.diffusion.prompt import instruction, light_words
from cfgen.inpaint.diffusion.qwen_image_edit import QwenImageEdit
from cfgen.inpaint.diffusion.sigmas import schedule
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
def test_strength_is_the_noise_that_a_guides_insert_is_given(painter, monkeypatch):
    """What the VAE is given to decode: weights that say nothing leave the noise in it."""
    asked, decoded, starts = guided(request(prompt="a box")), [], []
    strengths = (0.02, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
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


@pytest.mark.parametrize("bend", [1.0, 7.4])
@pytest.mark.parametrize("start", [0.2, 0.5, 1.0])
def test_a_schedule_starts_where_it_is_told_and_falls(start, bend):
    sigmas = schedule(start, 4, bend)
    assert sigmas[0] == pytest.approx(start)
    assert sigmas == sorted(sigmas, reverse=True)
    assert sigmas[-1] > 0


@both
def test_a_whole_schedule_is_the_pipelines_own(painter, monkeypatch):
    made = painter()
    task = made._task(0, request())
    engine, seen = made._engine(), []
    size = (
        (64, 64) if made.name == "qwen-image-edit" else task.size
    )  # its fixture's pipeline shrinks pictures
    wanted = made._sigmas(engine, replace(task, size=size))
    pipe, kept = engine.pipe, engine.pipe.scheduler
    step = type(kept).set_timesteps

    @functools.wraps(step)
    def watched(scheduler, *given, **more):
        step(scheduler, *given, **more)
        seen.append(scheduler.sigmas)

    monkeypatch.setattr(type(kept), "set_timesteps", watched)
    with torch.inference_mode():
        picture = Image.fromarray(task.image())
        mask = Image.fromarray(task.mask(made.cell))
        pipe(**made.told(engine, [task]), image=[picture], mask_image=[mask], strength=1.0,
             num_inference_steps=made.settings.steps, output_type="latent")  # fmt: skip
    assert pipe.scheduler is kept
    assert wanted == pytest.approx(seen[0][:-1].tolist(), abs=1e-5)


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
