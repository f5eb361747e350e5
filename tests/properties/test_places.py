"""Where things can stand, what was there before, and what the gates and masks make of it: an answer for any picture."""

import math

import cv2
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.lenses import lens
from cfgen.benchmark.gates import GateInput, own_gates, run_gates
from cfgen.benchmark.masks import nearer_things, refine, share_hidden
from cfgen.core.errors import InpaintRefusedError
from cfgen.core.hashing import canonical_json
from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import ground_points, inside, mounted, project, unproject
from cfgen.geometry.path import EgoPath
from cfgen.hazards.placement import find_placements
from cfgen.hazards.zones import Response
from cfgen.inpaint.composite.light import estimate
from cfgen.inpaint.composite.optics import measure, smear
from cfgen.inpaint.protocol import InpainterRequirements, Setting
from cfgen.inpaint.region import board, crop_box, homography, project_mask, seen_by, views
from cfgen.perception.detection import MaskPrompt, Segment
from cfgen.perception.road_by_colour import FAR_M, find_clear_ground
from cfgen.records import Motion
from tests.properties import worlds

#: Down to a strip and a single pixel.
TINY = ((1, 1), (1, 40), (40, 1), (7, 5), (33, 16), (160, 90))


class Blobs:
    """A segmenter that finds anything: nothing, all, a disc around what was asked about, or one pixel."""

    name, options, min_score, identity = "blobs", {}, 0.5, {}

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def segment(self, image: np.ndarray, prompts: list[MaskPrompt]) -> list[list[Segment]]:
        return [self._of(image.shape[:2], prompt) for prompt in prompts]

    def _of(self, shape: tuple[int, int], prompt: MaskPrompt) -> list[Segment]:
        mask = np.full(shape, self.kind == "all")
        u, v = prompt.inside[0] if prompt.inside else (prompt.box[0], prompt.box[1])
        if self.kind in ("disc", "pixel"):
            mask = mask.astype(np.uint8)
            cv2.circle(mask, (round(u), round(v)), 0 if self.kind == "pixel" else 9, 1, -1)
            mask = mask > 0
        return [] if self.kind == "none" else [Segment(mask, 0.9)]


@worlds.examples(25)
@given(st.data())
def test_a_search_gives_places_in_view_or_a_reason(data):
    camera = data.draw(worlds.cameras((*TINY, (160, 90), (96, 120))))
    speed = data.draw(st.sampled_from([0.0, 0.3, 9.0, 9.0, 40.0]))
    scene = worlds.scene_of(camera, speed, extra=data.draw(st.sampled_from([{}, {"drive_on": "left"}])))
    if data.draw(st.booleans()):
        scene = scene.model_copy(update={"history": Motion(t=(0.0,), poses=((0, 0, 0),), v=(speed,))})
    hazard = data.draw(st.sampled_from(worlds.DRAWABLE))
    times = [t for t in worlds.TIMES if t >= scene.history.t[0]]
    images = {(camera.name, t): worlds.picture(camera, data.draw(worlds.PICTURES)) for t in times}
    band = data.draw(st.sampled_from([(1.5, 6.0), (0.01, 100.0)]))
    found = find_placements(
        scene, images[camera.name, 0.0], hazard, np.random.default_rng(1), Response(band), images
    )
    if isinstance(found, str):
        assert found
        return
    for placement in found:
        assert seen_by(camera, placement) is not None
        assert inside(camera, [placement.foot_px])[0]


@worlds.examples(40)
@given(st.data())
def test_light_and_optics_of_any_picture_are_numbers(data):
    camera = data.draw(worlds.cameras(TINY))
    hazard = data.draw(st.sampled_from(worlds.DRAWABLE))
    placement = data.draw(worlds.placements(camera, hazard))
    image = worlds.picture(camera, data.draw(worlds.PICTURES))
    if data.draw(st.booleans()):
        u, v = data.draw(st.integers(0, camera.width - 1)), data.draw(st.integers(0, camera.height - 1))
        image[max(v - 1, 0) : v + 2, max(u - 1, 0) : u + 2] = 255  # a small sun
    light = estimate(Setting(image, camera, placement))
    canonical_json(light.report)
    for value in (light.ground, light.tint, light.sky, light.sun, light.haze, light.floor):
        assert np.isfinite(value).all()
    assert light.sun_dir is None or abs(float(np.linalg.norm(light.sun_dir)) - 1) < 1e-6
    found = measure(image)
    assert np.isfinite([found.blur, found.noise]).all()
    way = np.array(data.draw(st.tuples(*[st.sampled_from([0.0, 1e-9, 3.0, -700.0, 1e8])] * 2)))
    assert np.isfinite(smear(image.astype(np.float32), way)).all()


@worlds.examples(60)
@given(st.data())
def test_views_hold_their_masks_and_boards_stand_where_the_hazard_does(data):
    camera = data.draw(worlds.cameras())
    hazard = data.draw(st.sampled_from(worlds.DRAWABLE))
    placement = data.draw(worlds.placements(camera, hazard))
    scene = worlds.scene_of(camera)
    for view in views(
        scene, [(camera.name, t) for t in worlds.TIMES], placement, InpainterRequirements(turn=0.2)
    ):
        x0, y0, x1, y1 = view.crop
        assert 0 <= x0 < x1 <= camera.width
        assert 0 <= y0 < y1 <= camera.height
        assert view.mask.any()
    mask = project_mask(camera, placement, 2.0, 0.2)
    assert mask.any() or crop_box(mask, InpainterRequirements()) is None
    try:
        warp = board(camera, placement)
    except InpaintRefusedError:
        return
    foot, _ = project(camera, [(placement.x, placement.y, 0.0)])
    at = warp @ (0, 0, 1)
    size = np.abs(
        warp @ (0, placement.size.height, 1) / (warp @ (0, placement.size.height, 1))[2] - at / at[2]
    )
    if camera.model == "pinhole":
        assert (
            np.abs(at[:2] / at[2] - foot[0]).max()
            < 0.02 * max(float(size.max()), 1.0) + 1e-4 * np.abs(foot).max()
        )


@worlds.examples(60)
@given(st.data())
def test_any_lens_sends_a_point_to_a_pixel_and_back(data):
    camera = data.draw(worlds.cameras())
    shares = np.array([(a, b) for a in (0.0, 0.1, 0.5, 0.9, 1.0) for b in (0.0, 0.3, 0.5, 1.0)])
    px = shares * (camera.width - 1, camera.height - 1)
    rays, seen = unproject(camera, px)
    away = data.draw(st.sampled_from([0.3, 8.0, 4000.0]))
    transform = np.array(camera.T_cam_ego)
    world = (away * rays - transform[:3, 3]) @ transform[:3, :3]
    back, there = project(camera, world)
    both = seen & there
    assert both[len(px) // 2]
    tolerance = 0.5 if camera.model == "ftheta" else 1e-3  # its way back is a fit
    assert np.abs(back[both] - px[both]).max() < tolerance
    ground, valid = ground_points(camera, px)
    down, _ = project(camera, np.column_stack([ground, np.zeros(len(ground))]))
    near = valid & (np.abs(np.nan_to_num(ground, nan=1e9)).max(1) < 500)
    assert np.abs(down[near] - px[near]).max(initial=0.0) < tolerance


@worlds.examples(30)
@given(st.data())
def test_a_box_is_seen_as_its_corners_by_hand(data):
    """Against the pinhole's equations written out."""
    camera = lens("pinhole", math.radians(data.draw(st.sampled_from([15, 60, 120, 150]))), 160, 90)
    camera = camera.model_copy(update={"T_cam_ego": mounted(1.5)})
    x, y, yaw = (data.draw(st.floats(*bounds)) for bounds in ((-50.0, 200.0), (-40.0, 40.0), (-4.0, 4.0)))
    size = data.draw(st.sampled_from(worlds.DRAWABLE)).size
    corners = box_corners(x, y, yaw, size)[0]
    px, valid = project(camera, corners)
    assert (valid == (corners[:, 0] > 1e-6)).all()
    by_hand = [
        (camera.cx - camera.fx * cy / cx, camera.cy + camera.fy * (1.5 - cz) / cx)
        for cx, cy, cz in corners[valid]
    ]
    assert np.allclose(px[valid], np.reshape(by_hand, (-1, 2)), rtol=1e-9, atol=1e-6)


@worlds.examples(30)
@given(st.data())
def test_a_place_beside_any_path_is_found_there_again(data):
    poses = data.draw(
        st.lists(st.tuples(st.floats(-300, 300), st.floats(-300, 300), st.floats(-7, 7)), max_size=8)
    )
    times = tuple((i + 1) * 0.5 for i in range(len(poses)))
    future = Motion(t=times, poses=tuple(poses), v=(5.0,) * len(poses)) if poses else None
    path = EgoPath.from_scene(worlds.scene_of(lens("pinhole", 1.0, 64, 48), future=future))
    assert path.length_m >= 80
    assert np.isfinite(path.xy).all()
    assert (np.diff(path.s) > 0).all()
    s = np.array([0.0, 3.0, path.length_m / 2, path.length_m])
    x, y, _ = path.at(s)
    _, beside = path.locate(np.column_stack([x, y]))
    assert np.abs(beside).max() < 1e-6


@worlds.examples(25)
@given(st.data())
def test_gates_and_masks_answer_for_any_mask(data):
    width, height = data.draw(st.sampled_from(TINY))
    camera = lens("pinhole", 1.2, width, height)
    hazard = data.draw(st.sampled_from(worlds.DRAWABLE))
    placement = data.draw(worlds.placements(camera, hazard))
    before = worlds.picture(camera, data.draw(worlds.PICTURES))
    mask = np.zeros((height, width), np.uint8)
    u, v = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    wide, high = data.draw(st.sampled_from([(0, 0), (1, 1), (9, 1), (200, 200)]))
    mask[v : v + high, u : u + wide] = 255
    after = np.where(mask[..., None] > 0, 255 - before, before).astype(np.uint8)
    placement = seen_by(camera, placement) or placement
    for gate in run_gates(GateInput(before, after, mask, camera, placement, hazard), own_gates()):
        assert gate.passed or gate.reason
        assert gate.value is None or math.isfinite(gate.value)
    segmenter = Blobs(data.draw(st.sampled_from(["none", "all", "disc", "pixel"])))
    made = refine(segmenter, before, after, mask, camera, placement)
    assert made is None or (np.isfinite(made.alpha).all() and not made.alpha[mask == 0].any())
    hidden = nearer_things(segmenter, before, camera, placement, where=mask > 0)
    assert 0 <= share_hidden(hidden, camera, placement) <= 1


def test_road_out_of_sideways_view_is_no_road():
    """Rows of the road that the picture's height would hold, none of it within its width."""
    camera = lens("pinhole", math.radians(15), 160, 90)
    aside = camera.model_copy(update={"T_cam_ego": mounted(1.5, 0.02, math.radians(75))})
    path = EgoPath.from_scene(worlds.scene_of(aside), FAR_M)
    assert not find_clear_ground(worlds.picture(aside), aside, path).any()


def test_four_points_on_a_line_give_no_homography():
    flat = np.array([(-1, 0), (1, 0), (1, 1), (-1, 1)], float)
    assert homography(flat, np.column_stack([np.arange(4.0), np.zeros(4)])) is None
    assert homography(flat, np.full((4, 2), np.nan)) is None
    assert homography(flat, flat * 1e-3 + 700) is not None
