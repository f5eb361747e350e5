"""Crop, paste and propagation, with inpainters made up here."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgen.core.errors import InpaintRefusedError
from cfgen.geometry.camera import at_pose, mounted, project
from cfgen.geometry.frames import pose_at
from cfgen.inpaint.edit import Edit, EditFailure, EditJob, make_edits
from cfgen.inpaint.paste import weights
from cfgen.inpaint.protocol import InpainterRequirements, InpaintResult
from cfgen.inpaint.region import board, crop_box, project_mask, seen_by
from cfgen.records import Camera, Frame, Hazard, HazardMotion, Motion, Placement, Scene, Size

TIMES = (-2.0, -1.5, -1.0, -0.5, 0.0)
FRONT = ("front", 0.0)


class Painter:
    """Fills the mask with one colour; notes what it was asked."""

    name, version, options = "painter", "1", {}

    def __init__(self, colour=(200, 30, 30), alpha=None, **needs):
        self.colour, self.alpha, self.needs, self.asked = colour, alpha, InpainterRequirements(**needs), []

    def can_draw(self, hazard):
        return hazard.prompt != "undrawable"

    def inpaint(self, requests):
        self.asked += requests
        answers = []
        for request in requests:
            if request.hazard.prompt == "refuse":
                answers.append(InpaintRefusedError("the model declined: IMAGE_SAFETY"))
                continue
            image = np.full_like(request.image, 7)  # a model may change everything: only the mask counts
            image[request.mask > 0] = self.colour
            alpha = None if self.alpha is None else np.full(request.mask.shape, self.alpha, np.float32)
            answers.append(InpaintResult(image, alpha, {"seed": request.seed}))
        return answers


def make_hazard(prompt="a box", motion=None):
    return Hazard(
        id="box",
        name="box",
        cluster="FOD",
        why="it blocks the lane",
        size=Size(length=0.8, width=0.8, height=1.5),
        zones=("ego_lane",),
        prompt=prompt,
        motion=motion or HazardMotion(),
    )


def make_scene(cameras=None):
    camera = Camera(width=960, height=540, fx=900, fy=900, cx=480, cy=270, T_cam_ego=mounted(1.4, 0.02))
    cameras = cameras or (camera,)
    history = Motion(t=TIMES, poses=tuple((10 * t, 0.1 * t * t, -0.02 * t) for t in TIMES), v=(10,) * 5)
    frames = tuple(Frame(camera=c.name, t=t, image="x.png") for c in cameras for t in TIMES)
    return Scene(scene_id="s", cameras=cameras, frames=frames, history=history)


def make_placement(x=15.0, y=-0.5, **more):
    given = {"yaw": 0.3, "size": make_hazard().size, "distance_m": x, "lateral_m": y, "required_decel": 3.0}
    return Placement(
        zone="ego_lane", x=x, y=y, foot_px=(0.0, 0.0), box_px=(0.0, 0.0, 1.0, 1.0), **(given | more)
    )


def make_job(scene=None, hazard=None, placement=None, **more):
    scene = scene or make_scene()
    rng = np.random.default_rng(0)
    images = {
        (f.camera, f.t): rng.integers(
            0, 256, (scene.camera(f.camera).height, scene.camera(f.camera).width, 3), dtype=np.uint8
        )
        for f in scene.frames
    }
    return EditJob(scene, images, hazard or make_hazard(), placement or make_placement(), 5, **more)


@pytest.mark.parametrize("every_frame", [True, False])
@pytest.mark.parametrize("alpha", [None, 0.5])
def test_outside_the_mask_every_frame_is_bit_identical_and_inside_it_changes(every_frame, alpha):
    job = make_job()
    edit = make_edits([job], Painter(every_frame=every_frame, alpha=alpha))[0]
    assert isinstance(edit, Edit)
    assert set(edit.frames) == set(job.images), "a box 15 m ahead is in view all through the history"
    for key, (image, mask) in edit.frames.items():
        original = job.images[key]
        assert set(np.unique(mask)) == {0, 255}
        assert np.array_equal(image[mask == 0], original[mask == 0])
        assert (image[mask > 0] != original[mask > 0]).any(-1).mean() > 0.2
        assert original is not image


def test_zero_alpha_pastes_nothing():
    job = make_job()
    edit = make_edits([job], Painter(alpha=0.0, every_frame=True))[0]
    assert all(np.array_equal(image, job.images[key]) for key, (image, _) in edit.frames.items())
    assert edit.layer[..., 3].max() == 0


def test_layer_over_the_original_is_the_edit():
    job = make_job()
    edit = make_edits([job], Painter(every_frame=True))[0]
    share = edit.layer[..., 3:].astype(float) / 255
    over = job.images[FRONT] * (1 - share) + edit.layer[..., :3] * share
    assert np.abs(over - edit.frames[FRONT][0]).max() <= 1.0


def test_the_mask_covers_the_box_and_the_foot_in_each_frame_at_its_own_time():
    scene = make_scene()
    hazard = make_hazard(motion=HazardMotion(kind="crossing", speed=(1.0, 2.0)))
    edit = make_edits([make_job(scene, hazard, make_placement(vy=1.5))], Painter(every_frame=True))[0]
    for (name, t), (_, mask) in edit.frames.items():
        camera = at_pose(scene.camera(name), pose_at(scene.history, t))
        (foot,), _ = project(camera, [(15.0, -0.5 + 1.5 * t, 0.0)])
        placed = edit.placements[name, t]
        assert placed.foot_px == pytest.approx(tuple(foot), abs=1e-6)
        x0, y0, x1, y1 = (round(v) for v in placed.box_px)
        assert mask[y0:y1, x0:x1].min() == 255
    assert edit.placements["front", -2.0].foot_px[0] > edit.placements[FRONT].foot_px[0]


def test_frames_that_do_not_see_the_hazard_are_left_out():
    behind = Camera(
        name="rear", width=320, height=200, fx=300, fy=300, cx=160, cy=100, T_cam_ego=mounted(1.4, 0, math.pi)
    )
    scene = make_scene((make_scene().front, behind))
    edit = make_edits([make_job(scene)], Painter(every_frame=True))[0]
    assert {name for name, _ in edit.frames} == {"front"}


def test_a_painter_of_single_frames_is_asked_once_and_its_layer_lands_at_the_foot():
    painter = Painter(every_frame=False)
    job = make_job()
    edit = make_edits([job], painter)[0]
    assert len(painter.asked) == 1
    request = painter.asked[0]
    assert request.setting.image is job.images[FRONT]
    assert request.image.shape[0] == request.image.shape[1], "square crops by default"
    past = edit.frames["front", -2.0][0]
    camera = at_pose(job.scene.front, pose_at(job.scene.history, -2.0))
    (foot, top), _ = project(camera, [(15.0, -0.5, 0.0), (15.0, -0.5, 1.5)])
    middle = (foot + top) / 2
    u, v = round(middle[0]), round(middle[1])
    assert np.abs(past[v - 2 : v + 3, u - 2 : u + 3].astype(int) - painter.colour).max() <= 3


def test_refusals_and_hazards_out_of_view_become_failures_and_spare_the_rest():
    jobs = [
        make_job(hazard=make_hazard("refuse")),
        make_job(),
        make_job(hazard=make_hazard("undrawable")),
        make_job(placement=make_placement(x=-10)),
    ]
    refused, made, undrawable, behind = make_edits(jobs, Painter())
    assert refused == EditFailure("the model declined: IMAGE_SAFETY")
    assert isinstance(made, Edit)
    assert made.report == {"inpainter": {"seed": 5}}
    assert "cannot draw 'box'" in undrawable.reason
    assert "not in view" in behind.reason


def test_a_given_mask_replaces_the_projected_one():
    mask = np.zeros((540, 960), np.uint8)
    mask[300:340, 500:560] = 1
    edit = make_edits([make_job(masks={FRONT: mask})], Painter(every_frame=True))[0]
    assert np.array_equal(edit.frames[FRONT][1] > 0, mask > 0)


def test_the_feather_stays_inside_and_the_crop_border_is_no_edge():
    mask = np.zeros((40, 60), np.uint8)
    mask[10:, 20:50] = 255
    weight = weights(mask, None)
    assert (weight[mask == 0] == 0).all()
    assert weight[-1, 35] == 1, "the mask is cut by the crop there, not ended"
    assert 0 < weight[10, 35] < weight[12, 35] < 1


@given(
    x=st.floats(6, 60),
    y=st.floats(-3, 3),
    yaw=st.floats(-3, 3),
    reach=st.floats(0, 3),
    side=st.integers(16, 600),
)
def test_crops_hold_the_whole_mask(x, y, yaw, reach, side):
    camera = make_scene().front
    placement = make_placement(x=x, y=y, yaw=yaw)
    if seen_by(camera, placement) is None:
        return
    mask = project_mask(camera, placement, reach)
    x0, y0, x1, y1 = crop_box(mask, InpainterRequirements(context=0.1, min_side=side))
    assert 0 <= x0 < x1 <= 960
    assert 0 <= y0 < y1 <= 540
    assert np.count_nonzero(mask) == np.count_nonzero(mask[y0:y1, x0:x1])


def test_the_board_stands_at_the_foot_with_its_metric_height():
    camera, placement = make_scene().front, make_placement(x=20.0, y=2.0)
    ends, _ = project(camera, [(20.0, 2.0, 0.0), (20.0, 2.0, 1.5)])
    at = np.array([(0, 0, 1), (0, 1.5, 1)]) @ board(camera, placement).T
    assert at[:, :2] / at[:, 2:] == pytest.approx(ends, abs=1e-3)
