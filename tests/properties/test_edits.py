"""Any hazard, anywhere, through any lens: an edit that keeps its promises, or a reason why there is none."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.lenses import WIDEST, lens
from cfgen.benchmark.gates import GateInput, own_gates, run_gates
from cfgen.core.hashing import canonical_json
from cfgen.geometry.camera import at_pose
from cfgen.geometry.frames import pose_at
from cfgen.inpaint.composite.inpainter import Composite
from cfgen.inpaint.edit import Edit, EditFailure, EditJob, make_edits
from cfgen.inpaint.protocol import InpainterRequirements
from cfgen.inpaint.region import seen_by
from tests.properties import worlds


class Carried(Composite):
    """Draws the front frame at t0 only, so that its layer is carried to the others."""

    name = "carried"
    needs = InpainterRequirements(context=0.2, min_side=16, square=False, shadow=1.0)


def check(job: EditJob, made: Edit | EditFailure) -> None:
    """``made`` is a whole edit of the job, or says why it is none."""
    if isinstance(made, EditFailure):
        assert made.reason.strip()
        assert not made.put_off
        return
    front = (job.scene.front.name, 0.0)
    assert front in made.frames
    assert made.frames.keys() == made.placements.keys()
    for key, (image, mask) in made.frames.items():
        original = job.images[key]
        assert image.dtype == mask.dtype == np.uint8
        assert image.shape == original.shape
        assert mask.shape == original.shape[:2]
        assert np.array_equal(image[mask == 0], original[mask == 0])
        assert np.isfinite([*made.placements[key].box_px, *made.placements[key].foot_px]).all()
    assert made.layer.dtype == np.uint8
    assert made.layer.shape == (*job.images[front].shape[:2], 4)
    assert not made.layer[..., 3][made.frames[front][1] == 0].any()
    canonical_json(made.report)
    shown = GateInput(
        job.images[front], *made.frames[front], job.scene.front, made.placements[front], job.hazard
    )
    gates = run_gates(shown, own_gates())
    assert all(np.isfinite(gate.value) for gate in gates if gate.value is not None)
    assert gates[0].passed


@st.composite
def jobs(draw, hazard):
    camera = draw(worlds.cameras())
    scene = worlds.scene_of(camera)
    images = {(camera.name, t): worlds.picture(camera, draw(worlds.PICTURES)) for t in worlds.TIMES}
    placement = draw(worlds.placements(camera, hazard))
    return EditJob(scene, images, hazard, placement, draw(st.integers(0, 2**63 - 1)))


@worlds.examples(40)
@given(st.data())
def test_any_placement_gives_an_edit_or_a_reason(data):
    """Hazard and harmless object, with the null edit that would go with them."""
    hazard = data.draw(st.sampled_from(worlds.DRAWABLE))
    job = data.draw(jobs(hazard))
    null = replace(job, hazard=worlds.TAXONOMY.null)
    made = make_edits([job, null], data.draw(st.sampled_from([Composite, Carried]))())
    for one, result in zip((job, null), made, strict=True):
        check(one, result)


@pytest.mark.parametrize("model", sorted(WIDEST))
@worlds.examples(8)
@given(st.data())
def test_what_a_frame_sees_is_drawn_into_it(model, data):
    """A hazard well in view comes out as an edit, in every frame whose camera sees all of it."""
    camera = lens(model, 1.2, 160, 90, data.draw(st.sampled_from([-1.0, 0.0, 1.0])))
    hazard = worlds.TAXONOMY.get(data.draw(st.sampled_from(["cone_line", "cattle", "crossing_truck"])))
    scene = worlds.scene_of(camera)
    images = {(camera.name, t): worlds.picture(camera) for t in worlds.TIMES}
    placement = data.draw(worlds.placements(camera, hazard)).model_copy(
        update={"x": data.draw(st.floats(14, 22)), "y": 0.0, "visible_since": None}
    )
    job = EditJob(scene, images, hazard, placement, 3)
    [made] = make_edits([job], Composite())
    assert isinstance(made, Edit)
    check(job, made)
    for t in worlds.TIMES:
        moved = at_pose(camera, tuple(pose_at(scene.history, t)))
        assert (seen_by(moved, placement.at(t)) is None) == ((camera.name, t) not in made.frames)
    image, _ = made.frames[camera.name, 0.0]
    assert (image != images[camera.name, 0.0]).any()
