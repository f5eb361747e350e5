"""A frame's camera by its lane lines: against painted lines of known mounting, and on real frames."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from cfgen.core.files import read_image
from cfgen.geometry.camera import angles, centre, horizon_rows, mounted
from cfgen.perception import seen_camera
from cfgen.perception.frame_camera import (
    MOST_PITCH_DEG,
    SURE,
    FrameCamera,
    corrected,
    frame_camera,
    smoothed,
    turned,
    typical,
)
from cfgen.perception.networks import TwinLiteNet
from cfgen.perception.seen_camera import corrected_cameras
from cfgen.perception.views import Views
from cfgen.records import Camera
from cfgen.scenes.folder import load_scene
from tests.perception.painted import paint
from tests.perception.seeing import view_of

HEIGHT = 1.4
STATED = mounted(HEIGHT)
PINHOLE = Camera(width=1280, height=720, fx=1000, fy=1000, cx=639.5, cy=359.5, T_cam_ego=STATED)
OPENCV = PINHOLE.model_copy(update={"model": "opencv", "distortion": (-0.26, 0.05, -0.0007, 0.0002, 0.0)})
FISHEYE = PINHOLE.model_copy(
    update={"model": "fisheye", "fx": 500.0, "fy": 500.0, "distortion": (0.02, -0.01, 0, 0)}
)
FTHETA = Camera(
    model="ftheta",
    width=1920,
    height=1080,
    cx=960,
    cy=540,
    fw_poly=(0.0, 925.0),
    bw_poly=(0.0, 1 / 925.0),
    T_cam_ego=STATED,
)
NARROW = PINHOLE.model_copy(update={"fx": 4300.0, "fy": 4300.0})
LENSES = {"pinhole": PINHOLE, "opencv": OPENCV, "fisheye": FISHEYE, "ftheta": FTHETA, "narrow": NARROW}


def looking(camera: Camera, pitch_deg: float, yaw_deg: float = 0.0) -> Camera:
    return turned(camera, math.radians(pitch_deg), math.radians(yaw_deg))


@pytest.mark.parametrize("size", [(640, 360), (288, 160)])
@pytest.mark.parametrize(("pitch", "yaw"), [(0.0, 0.0), (2.5, -1.5), (-2.0, 2.0)])
@pytest.mark.parametrize("lens", LENSES)
def test_painted_lines_give_pitch_yaw_and_width_through_every_lens(lens, pitch, yaw, size):
    stated = LENSES[lens]
    true = looking(stated, pitch, yaw)
    seen = frame_camera(*paint(true, size), stated)
    assert seen.pitch_deg == pytest.approx(pitch, abs=0.25)
    wide_and_coarse = lens in ("fisheye", "ftheta") and size[0] < 640  # there a yaw may pass for a bend
    if not (wide_and_coarse and seen.yaw_deg is None):
        assert seen.yaw_deg == pytest.approx(yaw, abs=0.5 if wide_and_coarse else 0.25)
    assert seen.horizon_row == pytest.approx(horizon_rows(true, [true.cx])[0], abs=0.006 * stated.height + 1)
    assert seen.lane_width_m == pytest.approx(3.5, rel=0.05)
    assert seen.camera_height_m == pytest.approx(HEIGHT, rel=0.05)
    assert seen.confidence > SURE
    assert not seen.reason


def test_a_camera_far_from_where_it_is_stated_is_found():
    seen = frame_camera(*paint(looking(PINHOLE, 9.0, 8.0)), PINHOLE)
    assert (seen.pitch_deg, seen.yaw_deg) == pytest.approx((9.0, 8.0), abs=0.3)


def test_stated_height_only_scales_the_width_and_roll_is_undone():
    rolled = PINHOLE.model_copy(update={"T_cam_ego": mounted(2.1, math.radians(1), 0, math.radians(4))})
    seen = frame_camera(*paint(rolled), rolled)
    assert seen.pitch_deg == pytest.approx(1.0, abs=0.2)
    assert seen.lane_width_m == pytest.approx(3.5, rel=0.04)
    low = rolled.model_copy(update={"T_cam_ego": mounted(1.05, math.radians(1), 0, math.radians(4))})
    assert frame_camera(*paint(rolled), low).lane_width_m == pytest.approx(1.75, rel=0.04)


def test_another_focal_length_sees_the_same_horizon_and_height():
    """Why the field of view has to be given: lines on the ground do not tell it."""
    masks = paint(looking(PINHOLE, 2.0))
    longer = PINHOLE.model_copy(update={"fx": 1500.0, "fy": 1500.0})
    one, other = frame_camera(*masks, PINHOLE), frame_camera(*masks, longer)
    assert other.horizon_row == pytest.approx(one.horizon_row, abs=0.5)
    assert other.camera_height_m == pytest.approx(one.camera_height_m, rel=0.01)


@pytest.mark.parametrize("curvature", [1 / 150, -1 / 300])
def test_a_bend_leaves_the_pitch_and_hides_the_yaw(curvature):
    seen = frame_camera(*paint(looking(PINHOLE, 2.0), curvature=curvature), PINHOLE)
    assert seen.pitch_deg == pytest.approx(2.0, abs=0.3)
    assert seen.lane_width_m == pytest.approx(3.5, rel=0.06)
    assert seen.yaw_deg is None


def test_dashes_specks_and_a_stop_line_do_not_move_it():
    road, lanes = paint(looking(PINHOLE, 2.0), dashed=True)
    rng = np.random.default_rng(3)
    noisy = lanes & (rng.random(lanes.shape) > 0.03)
    noisy[rng.integers(200, 360, 300), rng.integers(0, 640, 300)] = True
    noisy[290:294, 150:500] = True
    noisy[210:330, 90:93] = True  # a pole
    seen = frame_camera(road, noisy, PINHOLE)
    assert seen.pitch_deg == pytest.approx(2.0, abs=0.3)
    assert seen.confidence > 0.3


def test_a_few_pixels_that_flip_hardly_move_it():
    """Logits differ by 1e-4 from one processor to the next: some cells of a line's rim change sides."""
    road, lanes = paint(looking(PINHOLE, 1.0, 1.0))
    rim = np.argwhere(lanes & ~np.roll(lanes, 1, axis=1))
    before = frame_camera(road, lanes, PINHOLE)
    for seed in range(5):
        moved = lanes.copy()
        moved[tuple(rim[np.random.default_rng(seed).choice(len(rim), 5)].T)] = False
        after = frame_camera(road, moved, PINHOLE)
        assert after.pitch_deg == pytest.approx(before.pitch_deg, abs=0.02)
        assert after.yaw_deg == pytest.approx(before.yaw_deg, abs=0.02)


@pytest.mark.parametrize(
    ("lines", "says"),
    [((), "0 lane lines seen"), ((1.8,), "1 lane lines seen"), ((1.8, 1.75), "lane lines")],
)
def test_too_little_to_see_is_told_and_never_guessed(lines, says):
    seen = frame_camera(*paint(PINHOLE, lines=lines), PINHOLE)
    assert says in seen.reason
    assert (seen.pitch_deg, seen.yaw_deg, seen.horizon_row, seen.lane_width_m) == (None, None, None, None)
    assert seen.confidence == 0


def test_lines_of_the_next_lanes_alone_tell_no_lane_width():
    seen = frame_camera(*paint(looking(PINHOLE, 1.0), lines=(8.0, 5.0)), PINHOLE)
    assert seen.pitch_deg == pytest.approx(1.0, abs=0.5)
    assert seen.lane_width_m is None
    assert seen.camera_height_m is None


def test_road_above_the_horizon_takes_confidence():
    road, lanes = paint(PINHOLE)
    high = road.copy()
    high[100:200] = True
    assert frame_camera(high, lanes, PINHOLE).confidence < 0.5 * frame_camera(road, lanes, PINHOLE).confidence


# --- over frames ---

SEEN = FrameCamera(pitch_deg=1.0, horizon_row=300.0, pitch_error_deg=0.05, lines=3, confidence=0.9)
ASTRAY = FrameCamera(pitch_deg=4.0, horizon_row=100.0, pitch_error_deg=1.5, lines=2, confidence=0.2)
BLIND = FrameCamera(reason="0 lane lines seen, two are needed")


def with_pitch(pitch: float) -> FrameCamera:
    return FrameCamera(pitch_deg=pitch, horizon_row=300.0, pitch_error_deg=0.05, lines=3, confidence=0.9)


def test_neighbours_replace_a_frame_that_is_astray_or_blind():
    for odd in (ASTRAY, BLIND):
        found = smoothed({-0.5: SEEN, -0.25: with_pitch(1.1), 0.0: odd})
        assert found.pitch_deg in (1.0, 1.1)
        assert found.confidence < SEEN.confidence
    assert smoothed({-0.5: SEEN, -0.25: SEEN, 0.0: with_pitch(1.6)}).pitch_deg == 1.6
    assert smoothed({-2.0: SEEN, 0.0: BLIND}).confidence < SURE


def test_nothing_seen_in_any_frame_says_why():
    assert smoothed({-0.25: BLIND, 0.0: BLIND}) == BLIND
    assert typical([]).reason == "no frame"
    assert smoothed({}).pitch_deg is None


def test_a_drive_that_goes_up_and_down_is_less_sure_of_its_mounting():
    steady, hilly = [with_pitch(1.0)] * 5, [with_pitch(p) for p in (-1.0, 0.0, 1.0, 2.0, 3.5)]
    assert typical(steady).pitch_deg == typical(hilly).pitch_deg == 1.0
    assert typical(hilly).confidence < typical(steady).confidence


def test_only_a_sure_and_sane_pitch_overrides_the_stated_one():
    stated = PINHOLE.model_copy(update={"T_cam_ego": mounted(1.3, 0.02, 0.05, 0.03, x=1.7, y=0.2)})
    new = corrected(stated, SEEN)
    assert np.degrees(angles(new)) == pytest.approx((1.0, math.degrees(0.05), math.degrees(0.03)))
    np.testing.assert_allclose(centre(new), (1.7, 0.2, 1.3), atol=1e-9)
    absurd = with_pitch(math.degrees(0.02) + MOST_PITCH_DEG + 0.1)
    for left in (BLIND, ASTRAY, absurd):
        assert corrected(stated, left) is stated


# --- real frames ---


def test_a_frame_that_tells_no_pitch_has_that_of_the_nearest_sure_one(monkeypatch):
    """Not the stated one: between frames of a second a road does not jump. Beyond a second it is as stated."""
    times = (-2.0, -1.25, -0.5, 0.0)
    told = dict.fromkeys(times, FrameCamera(reason="0 lane lines seen"))
    told[-0.5] = FrameCamera(pitch_deg=1.0, pitch_error_deg=0.1, confidence=0.9)
    monkeypatch.setattr(seen_camera, "scene_cameras", lambda views: told)
    views = SimpleNamespace(
        scene=SimpleNamespace(front=PINHOLE), all=lambda: dict.fromkeys(times, SimpleNamespace(things=None))
    )
    pitches = {t: math.degrees(angles(camera)[0]) for t, camera in corrected_cameras(views).items()}
    assert pitches == pytest.approx({-2.0: 0.0, -1.25: 1.0, -0.5: 1.0, 0.0: 1.0}, abs=1e-6)


@pytest.fixture(scope="module")
def network(models):
    return TwinLiteNet(str(models / "twinlitenet.onnx"))


def test_a_known_calibration_is_found_again(real, network):
    """Test scene 2 of TRI's dgp: its calibration says 0.53 degrees down, 3.86 to the left."""
    pixels = read_image(real / "images" / "dgp_scene_02_CAMERA_01.jpg")
    camera = Camera(
        width=1936, height=1216, fx=2181.5, fy=2181.6, cx=928.0, cy=616.0, T_cam_ego=mounted(1.56)
    )
    view = view_of(network, pixels)
    seen = frame_camera(view.road, view.lanes, camera)
    assert seen.confidence > SURE
    assert seen.pitch_deg == pytest.approx(0.53, abs=0.3)
    assert seen.yaw_deg == pytest.approx(3.86, abs=0.4)
    assert 2.8 < seen.lane_width_m < 3.8


def test_a_crest_that_the_stated_pitch_misses_is_seen(real, network):
    """At -1.5 s the real car ahead, 47 px wide, stands on row 263: 1.8 m of it were 79 px by the stated pitch."""
    folder = load_scene(real / "udacity_hmb3" / "scenes" / "hmb3_05139")
    own = folder.frames_at("front", [-1.75, -1.5, -1.25])
    images = {("front", frame.t): folder.image(frame) for frame in own}
    cameras = corrected_cameras(Views.of(network).scene(folder.scene, images))
    scale = []
    for camera in (folder.scene.front, cameras[-1.5]):
        below = 263 - horizon_rows(camera, [camera.cx])[0]
        scale.append(1.8 * below / centre(camera)[2])
    assert scale[0] > 75
    assert 35 < scale[1] < 55
