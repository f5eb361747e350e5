"""The sdxl inpainter on real classes with tiny weights."""

from dataclasses import replace

import numpy as np
import pytest

from cfgen.core.errors import CfgenError
from cfgen.inpaint.diffusion.sdxl import Sdxl
from cfgen.inpaint.edit import Edit, make_edits
from tests.inpaint.diffusion.asked import apart, guided, request
from tests.inpaint.diffusion.tiny_sdxl import clear_vae, tiny_sdxl, torch
from tests.inpaint.test_inpaint import FRONT, make_job

#: one step with next to no noise: what goes in comes out, if nothing moves or mixes it up
STILL = {"steps": 100, "strength": 0.0101, "repaint": 0.0101, "guidance": 1.0, "scheduler": "euler"}


def sdxl(model, **options) -> Sdxl:
    return Sdxl(model=str(model), **({"resolution": 64, "steps": 3, "batch_size": 4} | options))


def mixed() -> list:
    """Requests of two shapes, two hazards, guided and not."""
    return [
        request(seed=1),
        request(30, 80, seed=2, prompt="a cone"),
        guided(request(seed=3)),
        request(seed=4, prompt="a cone"),
        request(30, 80, seed=5),
        guided(request(seed=6)),
    ]


def test_with_hardly_any_noise_the_picture_comes_back_unmoved(clear):
    asked = request()
    (result,) = sdxl(clear, resolution=64, **STILL).inpaint([asked])
    assert apart(result.image, asked.image) <= 8
    assert np.abs(result.image.astype(int) - asked.image).mean() < 1.5


def test_guided_it_starts_from_the_insert_and_not_from_the_road(clear):
    asked = guided(request())
    (result,) = sdxl(clear, **STILL).inpaint([asked])
    inside = asked.mask > 0
    assert np.abs(result.image[inside].astype(int) - asked.guide[inside]).mean() < 3
    assert result.report["strength"] == 0.0101


def test_white_is_repainted_and_black_is_kept(tmp_path):
    """A base UNet holds what is black in latents, which this VAE shows as they are."""
    base = tiny_sdxl(tmp_path, clear_vae(), channels=4)
    asked, painter = request(), sdxl(base, guidance=1.0)
    (task,) = [painter._task(0, asked)]
    (made,) = painter.paint(painter._engine(), [task])
    white = task.mask(painter.cell) > 0
    moved = np.abs(made - task.image()).max(-1)
    assert moved[~white].max() <= 6
    assert np.median(moved[white]) > 40


def test_the_inpainting_unet_sees_the_mask_and_the_picture_without_what_it_hides(clear):
    asked, painter = request(), sdxl(clear, guidance=1.0)
    seen = []
    unet = painter._engine().pipe.unet
    hook = unet.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    painter.inpaint([asked])
    hook.remove()
    mask, hidden = seen[0][0, 4].numpy(), seen[0][0, 5:8].numpy()
    task = painter._task(0, asked)
    assert np.array_equal(mask > 0.5, task.mask(painter.cell) > 0)
    scale = painter._engine().pipe.vae.config.scaling_factor * 0.1
    shown = np.moveaxis(task.image() / 255, -1, 0) * scale
    black = mask < 0.5
    assert np.abs(hidden - shown)[:, black].max() < 0.02 * scale
    assert np.ptp(hidden[:, ~black]) < 0.02 * scale


def test_a_batch_gives_what_single_requests_give(tiny):
    asked = mixed()
    batch = sdxl(tiny).inpaint(asked)
    single = [sdxl(tiny, batch_size=1).inpaint([r])[0] for r in asked]
    for one, other in zip(batch, single, strict=True):
        assert apart(one.image, other.image) <= 1
        assert one.report == other.report


def test_the_seed_decides_and_nothing_else(tiny):
    first, again, other = (sdxl(tiny).inpaint([request(seed=s)])[0].image for s in (7, 7, 8))
    assert np.array_equal(first, again)
    moved = replace(request(seed=7), seed=9)
    assert apart(first, sdxl(tiny).inpaint([moved])[0].image) > 10
    assert apart(first, other) > 10


def test_outside_the_mask_frames_stay_bit_identical(tiny):
    job = make_job()
    edit = make_edits([job], sdxl(tiny))[0]
    assert isinstance(edit, Edit)
    for key, (image, mask) in edit.frames.items():
        assert np.array_equal(image[mask == 0], job.images[key][mask == 0])
    image, mask = edit.frames[FRONT]
    assert (image[mask > 0] != job.images[FRONT][mask > 0]).any(-1).mean() > 0.5


def test_memory_that_runs_out_halves_the_batch_and_is_recorded(tiny, monkeypatch):
    asked = [request(seed=s) for s in range(6)]
    enough = sdxl(tiny, batch_size=8).inpaint(asked)
    paint = Sdxl.paint

    def scarce(self, engine, tasks):
        if len(tasks) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return paint(self, engine, tasks)

    monkeypatch.setattr(Sdxl, "paint", scarce)
    results = sdxl(tiny, batch_size=8).inpaint(asked)
    assert all(apart(a.image, b.image) <= 1 for a, b in zip(results, enough, strict=True))
    assert results[-1].report["out_of_memory"] == {"asked": 8, "fits": 1}
    assert "out_of_memory" not in enough[0].report
    monkeypatch.setattr(Sdxl, "paint", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError("CUDA")))
    with pytest.raises(CfgenError, match="single image"):
        sdxl(tiny).inpaint(asked)
