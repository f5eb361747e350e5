"""What stands nearer than a hazard hides it, to the pixel; what does not, does not."""

import numpy as np
import pytest

from cfgen.benchmark.masks import MaskPipeline, nearer_things, share_hidden
from cfgen.geometry.camera import at_pose
from cfgen.geometry.frames import pose_at
from cfgen.inpaint.composite.inpainter import Composite
from cfgen.inpaint.edit import EditJob, make_edits
from cfgen.records import Size
from tests.benchmark.painted import CAR, FRONT, ROAD, THING, box_mask, car_ahead, hazard_of, job_of, placed
from tests.benchmark.truth import Repaint, Truth
from tests.hazards import drawn

DEER = hazard_of("deer")


@pytest.mark.parametrize("inpainter", [Composite(), Repaint()], ids=lambda i: i.name)
def test_a_hazard_behind_a_car_is_cut_by_it_exactly(inpainter):
    image, labels = car_ahead()
    job = job_of(image, DEER, placed(DEER, 24.0, 0.1))
    whole = make_edits([job], inpainter)[0].frames[FRONT][0]
    edit = make_edits([job], inpainter, matte=MaskPipeline(Truth(labels)).matte)[0]
    after, car = edit.frames[FRONT][0], labels == THING
    assert np.array_equal(after[car], image[car]), "not one pixel of the car is touched"
    assert np.array_equal(after[~car], whole[~car]), "and all else is as it would be"
    assert (whole[car] != image[car]).any(), "it would have been painted over"
    assert 0.1 < edit.report["masks"]["hidden"] < 0.5
    assert edit.layer[..., 3][car].max() == 0


def test_a_hazard_before_the_car_hides_the_car():
    image, labels = car_ahead(x=20.0)
    job = job_of(image, DEER, placed(DEER, 13.0, -0.4))
    edit = make_edits([job], Composite(), matte=MaskPipeline(Truth(labels)).matte)[0]
    assert edit.report["masks"]["hidden"] == 0
    assert np.array_equal(edit.frames[FRONT][0], make_edits([job], Composite())[0].frames[FRONT][0])


def hidden_by(labels, hazard, x, y, plain=None, camera=drawn.CAMERA):
    placement = placed(hazard, x, y, camera=camera)
    image = np.zeros((camera.height, camera.width, 3), np.uint8)
    nearer = nearer_things(Truth(labels), image, camera, placement, plain)
    return share_hidden(nearer, camera, placement)


def wall(y, start=4.0, end=60.0):
    """Labels of a thin wall along the road, ``y`` m to the left."""
    labels = np.zeros((drawn.CAMERA.height, drawn.CAMERA.width), int)
    for x in np.arange(end, start, -0.5):
        labels[box_mask(x, y, Size(length=0.5, width=0.2, height=1.2))] = THING
    return labels


def test_a_wall_that_recedes_hides_what_is_behind_it_and_nothing_before_it():
    labels = wall(-4.0)
    strange = np.zeros(labels.shape, bool)
    assert hidden_by(labels, DEER, 20.0, -2.8, strange) == 0
    assert hidden_by(labels, DEER, 20.0, -6.0, strange) > 0.2


def test_a_car_hides_through_the_gap_between_its_wheels():
    labels = np.where(box_mask(12.0, 0.0, CAR), THING, 0)
    rows = np.flatnonzero((labels == THING).any(1))
    cols = np.flatnonzero((labels == THING).any(0))
    gap = np.s_[rows[-1] - 6 : rows[-1] + 1, cols[0] + 20 : cols[-1] - 20]
    labels[gap] = 0
    placement = placed(DEER, 16.0, 0.0)
    image = np.zeros((*labels.shape, 3), np.uint8)
    nearer = nearer_things(Truth(labels), image, drawn.CAMERA, placement)
    assert np.array_equal(nearer, labels == THING)


def test_what_lies_flat_hides_nothing():
    labels = np.zeros((drawn.CAMERA.height, drawn.CAMERA.width), int)
    labels[230:330, 250:400] = THING  # a shadow that reaches from before the hazard to behind it
    plain = np.zeros(labels.shape, bool)
    plain[215:] = True
    assert hidden_by(labels, DEER, 12.0, 0.0, plain) == 0
    assert hidden_by(labels, DEER, 12.0, 0.0) == 0, (
        "where the ground is not known, what stays below the horizon"
    )
    assert hidden_by(labels, DEER, 14.0, 0.0, np.zeros_like(plain)) > 0.1, "it is something else"


def test_in_the_past_the_car_hides_it_where_it_was_then():
    t = -0.5
    scene = drawn.scene(frames=(t, 0.0))
    camera = at_pose(drawn.CAMERA, tuple(pose_at(scene.history, t)))
    image, labels = car_ahead()
    then = np.full(labels.shape, ROAD)
    then[: int(np.flatnonzero((labels == ROAD).any(1))[0])] = 0
    then[box_mask(14.0, -1.2, CAR, camera)] = THING  # the car stands, the camera was farther back
    past = drawn.road(seed=1)
    placement = placed(DEER, 24.0, 0.1)
    job = EditJob(scene, {FRONT: image, ("front", t): past}, DEER, placement, 5)
    edit = make_edits(
        [job], Composite(), matte=MaskPipeline(_ByPicture({id(image): labels, id(past): then})).matte
    )[0]
    car = then == THING
    after = edit.frames["front", t][0]
    assert np.array_equal(after[car], past[car])
    assert (after[~car] != past[~car]).any()


def test_a_layer_that_is_carried_to_the_past_has_no_hole_where_the_car_hides_it_now():
    t = -0.5
    image, labels = car_ahead()
    free = drawn.road(seed=1)
    job = EditJob(
        drawn.scene(frames=(t, 0.0)),
        {FRONT: image, ("front", t): free},
        DEER,
        placed(DEER, 24.0, 0.1),
        5,
    )
    truth = _ByPicture({id(image): labels, id(free): np.zeros_like(labels)})
    cut, whole = (make_edits([job], Repaint(), matte=m)[0] for m in (MaskPipeline(truth).matte, None))
    assert cut.report["masks"]["hidden"] > 0.1
    assert np.array_equal(cut.frames["front", t][0], whole.frames["front", t][0])


class _ByPicture(Truth):
    """Labels by the very array."""

    def __init__(self, labels):
        super().__init__()
        self.by_id = labels

    def segment(self, image, prompts):
        nothing = np.zeros(image.shape[:2], int)  # a crop of an edit
        self.labels = {image.shape[:2]: self.by_id.get(id(image), nothing)}
        return super().segment(image, prompts)
