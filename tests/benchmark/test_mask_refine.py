"""After the edit: only the hazard and its shadow are pasted."""

import cv2
import numpy as np
import pytest

from cfgen.benchmark.masks import MaskPipeline, refine
from cfgen.core.paths import scenarios_dir
from cfgen.inpaint.composite.inpainter import Composite
from cfgen.inpaint.edit import EditJob, make_edits
from cfgen.scenes.folder import load_scene
from tests.benchmark.painted import FRONT, box_mask, hazard_of, placed
from tests.benchmark.truth import Repaint, Truth
from tests.hazards import drawn

DEMO = [
    ("arterial_day_02", "cyclist_fallen"),
    ("lane_day_01", "pedestrian_group"),
    ("street_low_sun_03", "horse_loose"),
]


@pytest.mark.parametrize(("scene", "name"), DEMO)
def test_a_repainted_demo_scene_keeps_all_but_the_hazard_and_its_shadow(scene, name):
    folder = load_scene(scenarios_dir() / "scenes" / scene)
    image, hazard = folder.image(), hazard_of(name)
    placement = placed(hazard, 14.0, 0.0, camera=folder.scene.front)
    job = EditJob(folder.scene, {FRONT: image}, hazard, placement, 3)
    model, kept = Repaint(), {}

    def matte(job, view, result):
        body = model.bodies[0].astype(int)
        shown = MaskPipeline(Truth(body)).matte(job, view, result)
        kept.update(view=view, shown=shown.alpha, body=body > 0)
        return shown

    whole = make_edits([job], model)[0]
    edit = make_edits([job], model, matte=matte)[0]
    view, allowed = kept["view"], kept["view"].mask > 0
    truth, found = (model.alpha > 0.1) & allowed, kept["shown"] > 0.5
    overlap = (truth & found).sum() / (truth | found).sum()
    assert overlap >= 0.8
    assert edit.report["masks"]["object"]["score"] == 0.95
    assert edit.report["masks"]["hidden"] == 0
    after, mask = edit.frames[FRONT]
    promised = whole.frames[FRONT][1] > 0
    assert not (mask > 0)[~promised].any(), "what is kept lies within what the model was let into"
    assert np.count_nonzero(mask) < np.count_nonzero(promised), "the mask hugs what changed"
    assert np.array_equal(after[mask == 0], image[mask == 0])
    away = allowed & (cv2.dilate(truth.astype(np.uint8), np.ones((15, 15))) == 0)
    assert away.sum() > 200
    assert np.array_equal(view.cut(after)[away], view.cut(image)[away]), "what the model repainted stays out"
    assert not np.array_equal(view.cut(whole.frames[FRONT][0])[away], view.cut(image)[away])
    solid = cv2.erode(kept["body"].astype(np.uint8), np.ones((3, 3))) > 0
    assert np.array_equal(view.cut(after)[solid & allowed], view.cut(whole.frames[FRONT][0])[solid & allowed])


@pytest.fixture
def painted():
    """A post with a soft shadow to its right and a stain elsewhere, painted into a drawn road: all but the mask."""
    hazard = hazard_of("work_drum")
    placement = placed(hazard, 12.0, 0.0)
    before = drawn.road()
    body = box_mask(12.0, 0.0, hazard.size)
    x0, y0, x1, y1 = (round(v) for v in placement.box_px)
    shade = np.zeros(body.shape, np.float32)
    cv2.ellipse(shade, (x1 + 8, y1 - 3), (22, 4), 0, 0, 360, 0.5, -1)
    shade = cv2.GaussianBlur(shade, (0, 0), 1.0) * ~body
    after = before * (1 - shade[..., None])
    after[body] = (210, 90, 30)
    stain = np.zeros(body.shape, bool)
    stain[y1 + 12 : y1 + 20, x0 - 50 : x0 - 30] = True
    after[stain] *= 0.6
    after = cv2.GaussianBlur(after, (0, 0), 0.8)  # edges are mixed, as in any picture
    mask = np.zeros(body.shape, np.uint8)
    mask[y0 - 30 : y1 + 40, x0 - 70 : x1 + 70] = 255
    return before, after.astype(np.uint8), mask, placement, body, shade > 0.15, stain


def test_shadow_goes_with_the_object_and_a_stain_elsewhere_does_not(painted):
    before, after, mask, placement, body, shade, stain = painted
    found = refine(Truth(body.astype(int)), before, after, mask, drawn.CAMERA, placement)
    assert found.alpha.dtype == np.float32
    assert (found.alpha[mask == 0] == 0).all()
    assert (found.object & body).sum() / (found.object | body).sum() > 0.9
    assert found.alpha[body].min() > 0.99
    assert (found.alpha[shade] > 0.5).mean() > 0.9
    assert found.alpha[stain].max() == 0
    assert (found.alpha > 0.02).sum() < 1.5 * (body | shade).sum()


def test_a_change_of_tone_all_over_the_mask_is_no_shadow(painted):
    before, after, mask, placement, body, shade, _ = painted
    darker = np.where(mask[..., None] > 0, after.astype(int) - 9, after).clip(0, 255).astype(np.uint8)
    found = refine(Truth(body.astype(int)), before, darker, mask, drawn.CAMERA, placement)
    near = cv2.dilate((body | shade).astype(np.uint8), np.ones((15, 15))) > 0
    assert found.alpha[~near].max() == 0


def test_segments_that_do_not_agree_with_the_change_are_no_evidence(painted):
    before, after, mask, placement, *_ = painted
    left = np.zeros(mask.shape, int)
    left[:, :200] = 1
    assert refine(Truth(left), before, after, mask, drawn.CAMERA, placement) is None
    assert refine(Truth(left + 1), before, before, mask, drawn.CAMERA, placement) is None, "nothing was added"


def test_a_guessed_alpha_gives_way_to_what_the_segmenter_finds():
    hazard = hazard_of("work_drum")
    image = drawn.road()
    job = EditJob(drawn.scene(), {FRONT: image}, hazard, placed(hazard, 12.0, 0.0), 3)
    model = Repaint()
    make_edits([job], model)
    body, half = model.bodies[0], np.zeros(model.alpha.shape, np.float32)
    half[: half.shape[0] // 2] = 1
    truth = Truth(body.astype(int))
    known, guessed = (
        make_edits([job], Repaint(guess), matte=MaskPipeline(truth).matte)[0] for guess in (None, half)
    )
    assert np.array_equal(known.frames[FRONT][0], guessed.frames[FRONT][0])
    unseen = make_edits([job], Repaint(half), matte=MaskPipeline(Truth()).matte)[0]
    assert not np.array_equal(unseen.frames[FRONT][0], known.frames[FRONT][0]), "the guess serves without it"


def test_a_guide_s_insert_is_never_cut_and_the_ring_around_it_is():
    hazard = hazard_of("work_drum")
    image = drawn.road()
    job = EditJob(drawn.scene(), {FRONT: image}, hazard, placed(hazard, 12.0, 0.0), 3)
    model = Repaint(tone=12.0)
    drawn_ = make_edits([job], Composite())[0]
    plain = make_edits([job], model, Composite())[0]
    half = model.bodies[0].copy()
    half[: np.flatnonzero(half.any(1)).mean().astype(int)] = False  # the segmenter sees only the lower half
    edit = make_edits([job], model, Composite(), MaskPipeline(Truth(half.astype(int))).matte)[0]
    assert edit.report["masks"]["object"]
    after, without = edit.frames[FRONT][0].astype(int), plain.frames[FRONT][0].astype(int)
    insert = drawn_.layer[..., 3] == 255
    assert np.array_equal(after[insert], without[insert])
    ring = (drawn_.layer[..., 3] == 0) & (np.abs(without - image).max(2) > 3)
    assert ring.sum() > 30
    assert np.abs(after - image)[ring].mean() < 0.7 * np.abs(without - image)[ring].mean()
