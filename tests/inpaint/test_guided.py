"""Guided mode, with inpainters made up here: what the guide draws, what the other is asked, what is pasted."""

import numpy as np

from cfgen.inpaint.edit import Edit, EditFailure, can_draw, make_edits
from cfgen.inpaint.protocol import InpaintResult
from cfgen.inpaint.region import views
from tests.inpaint.test_inpaint import FRONT, Painter, make_hazard, make_job


class Stamp(Painter):
    """A guide: a solid block in the middle of the mask and a shadow of one quarter around it, both known."""

    def sizes(self, hazard):
        return []

    def inpaint(self, requests):
        answers = []
        for request in requests:
            image, alpha = request.image.copy(), np.zeros(request.mask.shape, np.float32)
            rows, cols = (slice(n // 3, 2 * n // 3) for n in request.mask.shape)
            wide = np.zeros(request.mask.shape, bool)
            wide[rows.start - 12 : rows.stop + 12, cols] = True
            alpha[wide & (request.mask > 0)] = 0.25
            image[wide] = (0.75 * image[wide]).astype(np.uint8)
            alpha[rows, cols], image[rows, cols] = 1, self.colour
            answers.append(InpaintResult(image, alpha, {"stamp": 1}))
        return answers


class Repainter(Painter):
    """Gives back the guide a little brighter, as a model of low strength would."""

    def sizes(self, hazard):
        return []

    def inpaint(self, requests):
        self.asked += requests
        return [InpaintResult(np.clip(r.guide.astype(int) + 3, 0, 255).astype(np.uint8)) for r in requests]


def stamp():
    return Stamp(every_frame=True, context=0.0, min_side=16, square=False, shadow=1.5)


def guided(job, painter=None):
    return make_edits([job], painter or Repainter(), stamp())[0]


def test_the_request_holds_the_guides_insert_exactly_as_it_would_be_pasted():
    job, painter = make_job(), Repainter()
    plain = make_edits([job], stamp())[0]
    guided(job, painter)
    (asked,) = painter.asked
    frame = plain.frames[FRONT][0]
    at = np.argwhere((frame[:, :, None] == asked.guide[0, 0]).all(-1).any(-1))
    assert len(at)
    height, width = asked.mask.shape
    places = [(y, x) for y, x in at if np.array_equal(frame[y : y + height, x : x + width], asked.guide)]
    assert len(places) == 1
    y, x = places[0]
    assert np.array_equal(asked.image, job.images[FRONT][y : y + height, x : x + width])


def test_the_mask_narrows_to_object_ring_and_shadow():
    job = make_job()
    wide = next(views(job.scene, job.images, job.placement, stamp().needs)).mask
    edit = guided(job)
    narrow = edit.frames[FRONT][1]
    assert 0 < np.count_nonzero(narrow) < 0.8 * np.count_nonzero(wide)
    insert = make_edits([job], stamp())[0].layer[..., 3]
    assert (narrow[insert > 20] > 0).all()
    assert np.array_equal(edit.frames[FRONT][0][narrow == 0], job.images[FRONT][narrow == 0])


def test_what_is_carried_back_in_time_is_the_insert_and_its_ring():
    job = make_job()
    edit = guided(job)
    assert set(edit.frames) == set(job.images)
    insert = make_edits([job], stamp())[0].layer[..., 3]
    assert edit.layer[insert == 255][:, 3].mean() > 250
    assert np.count_nonzero(edit.layer[..., 3]) < 2.2 * np.count_nonzero(insert)
    past, mask = edit.frames["front", -2.0]
    assert (past[mask > 0] != job.images["front", -2.0][mask > 0]).any()


def test_the_null_edit_starts_from_the_frame_itself():
    null = make_hazard().model_copy(update={"kind": "null"})
    painter = Repainter()
    mask = np.zeros((540, 960), np.uint8)
    mask[250:330, 480:540] = 255
    edit = guided(make_job(hazard=null, masks={FRONT: mask}), painter)
    (asked,) = painter.asked
    assert np.array_equal(asked.guide, asked.image)
    assert np.array_equal(edit.frames[FRONT][1] > 0, mask > 0)


def test_a_guide_that_refuses_or_cannot_draw_fails_its_job_only():
    class Fussy(Stamp):
        def can_draw(self, hazard):
            return hazard.prompt != "not mine"

    jobs = [make_job(hazard=make_hazard("not mine")), make_job()]
    refused, made = make_edits(jobs, Repainter(), Fussy(every_frame=True))
    assert refused == EditFailure("guide 'painter': inpainter 'painter' cannot draw 'box'")
    assert isinstance(made, Edit)
    assert not can_draw(make_hazard("not mine"), Repainter(), Fussy())
    assert can_draw(make_hazard("not mine"), Repainter(), None)
