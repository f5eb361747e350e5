"""The camera fit against painted lines and boxes of known size through known cameras, and on real frames."""

import math

import numpy as np
import pytest

from cfgen.core.files import read_image
from cfgen.geometry.box import box_corners, boxes_px
from cfgen.geometry.camera import angles, centre, mounted
from cfgen.perception.camera import (
    CAR_M,
    GUESSED,
    PERSON_M,
    TOLD,
    Clue,
    LaneReading,
    doubts,
    fit_camera,
    read_lane_lines,
    scale_error,
    sights,
    sure_to_m,
    turned,
    typical,
    why_unsure,
)
from cfgen.perception.networks import TwinLiteNet
from cfgen.perception.settings import CAMERA
from cfgen.perception.view import Thing
from cfgen.records import Camera, Size
from tests.perception.painted import paint
from tests.perception.seeing import view_of

# --- lane lines ---

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
@pytest.mark.parametrize(("pitch", "yaw"), [(2.5, -1.5), (-2.0, 2.0)])
@pytest.mark.parametrize("lens", LENSES)
def test_painted_lines_give_pitch_yaw_and_width_through_every_lens(lens, pitch, yaw, size):
    stated = LENSES[lens]
    true = looking(stated, pitch, yaw)
    seen = read_lane_lines(*paint(true, size), stated)
    assert seen.pitch_deg == pytest.approx(pitch, abs=0.25)
    wide_and_coarse = lens in ("fisheye", "ftheta") and size[0] < 640  # there a yaw may pass for a bend
    if not (wide_and_coarse and seen.yaw_deg is None):
        assert seen.yaw_deg == pytest.approx(yaw, abs=0.5 if wide_and_coarse else 0.25)
    assert seen.height_m == pytest.approx(HEIGHT, rel=0.05)
    assert seen.sure
    assert not seen.reason


def test_a_camera_far_from_where_it_is_stated_is_found():
    seen = read_lane_lines(*paint(looking(PINHOLE, 9.0, 8.0)), PINHOLE)
    assert (seen.pitch_deg, seen.yaw_deg) == pytest.approx((9.0, 8.0), abs=0.3)


def test_roll_is_undone():
    rolled = PINHOLE.model_copy(update={"T_cam_ego": mounted(2.1, math.radians(1), 0, math.radians(4))})
    seen = read_lane_lines(*paint(rolled), rolled)
    assert seen.pitch_deg == pytest.approx(1.0, abs=0.2)
    assert seen.height_m == pytest.approx(2.1, rel=0.04)


@pytest.mark.parametrize("curvature", [1 / 150, -1 / 300])
def test_a_bend_leaves_the_pitch_and_hides_the_yaw(curvature):
    seen = read_lane_lines(*paint(looking(PINHOLE, 2.0), curvature=curvature), PINHOLE)
    assert seen.pitch_deg == pytest.approx(2.0, abs=0.3)
    assert seen.height_m == pytest.approx(HEIGHT, rel=0.06)
    assert seen.yaw_deg is None


def test_dashes_specks_and_a_stop_line_do_not_move_it():
    road, lanes = paint(looking(PINHOLE, 2.0), dashed=True)
    rng = np.random.default_rng(3)
    noisy = lanes & (rng.random(lanes.shape) > 0.03)
    noisy[rng.integers(200, 360, 300), rng.integers(0, 640, 300)] = True
    noisy[290:294, 150:500] = True
    noisy[210:330, 90:93] = True  # a pole
    seen = read_lane_lines(road, noisy, PINHOLE)
    assert seen.pitch_deg == pytest.approx(2.0, abs=0.3)
    assert seen.confidence > 0.3


def test_a_few_pixels_that_flip_hardly_move_it():
    """Logits differ by 1e-4 from one processor to the next: some cells of a line's rim change sides."""
    road, lanes = paint(looking(PINHOLE, 1.0, 1.0))
    rim = np.argwhere(lanes & ~np.roll(lanes, 1, axis=1))
    before = read_lane_lines(road, lanes, PINHOLE)
    for seed in range(5):
        moved = lanes.copy()
        moved[tuple(rim[np.random.default_rng(seed).choice(len(rim), 5)].T)] = False
        after = read_lane_lines(road, moved, PINHOLE)
        assert after.pitch_deg == pytest.approx(before.pitch_deg, abs=0.02)
        assert after.yaw_deg == pytest.approx(before.yaw_deg, abs=0.02)


@pytest.mark.parametrize(
    ("lines", "says"),
    [((), "0 lane lines seen"), ((1.8,), "1 lane lines seen"), ((1.8, 1.75), "lane lines")],
)
def test_too_little_to_see_is_told_and_never_guessed(lines, says):
    seen = read_lane_lines(*paint(PINHOLE, lines=lines), PINHOLE)
    assert says in seen.reason
    assert (seen.pitch_deg, seen.yaw_deg, seen.height_m) == (None, None, None)
    assert seen.confidence == 0


def test_lines_of_the_next_lanes_alone_tell_no_lane_width():
    seen = read_lane_lines(*paint(looking(PINHOLE, 1.0), lines=(8.0, 5.0)), PINHOLE)
    assert seen.pitch_deg == pytest.approx(1.0, abs=0.5)
    assert seen.height_m is None


def test_road_above_the_horizon_takes_confidence():
    road, lanes = paint(PINHOLE)
    high = road.copy()
    high[100:200] = True
    assert (
        read_lane_lines(high, lanes, PINHOLE).confidence
        < 0.5 * read_lane_lines(road, lanes, PINHOLE).confidence
    )


def test_a_drive_that_goes_up_and_down_is_less_sure_of_its_mounting():
    steady, hilly = (
        [LaneReading(p, pitch_error_deg=0.05, lines=3, confidence=0.9) for p in pitches]
        for pitches in ((1.0,) * 5, (-1.0, 0.0, 1.0, 2.0, 3.5))
    )
    assert typical(steady).pitch_deg == typical(hilly).pitch_deg == 1.0
    assert typical(hilly).confidence < typical(steady).confidence
    blind = LaneReading(reason="0 lane lines seen, two are needed")
    assert (typical([blind] * 2), typical([]).reason) == (blind, "no frame")


def test_a_known_calibration_is_found_again(real, models):
    """Test scene 2 of TRI's dgp: its calibration says 0.53 degrees down, 3.86 to the left."""
    pixels = read_image(real / "images" / "dgp_scene_02_CAMERA_01.jpg")
    camera = Camera(
        width=1936, height=1216, fx=2181.5, fy=2181.6, cx=928.0, cy=616.0, T_cam_ego=mounted(1.56)
    )
    view = view_of(TwinLiteNet(str(models / "twinlitenet.onnx")), pixels)
    seen = read_lane_lines(view.road, view.lanes, camera)
    assert seen.sure
    assert seen.pitch_deg == pytest.approx(0.53, abs=0.3)
    assert seen.yaw_deg == pytest.approx(3.86, abs=0.4)
    assert 2.8 < seen.lane_ratio * 1.56 < 3.8


# --- things of known size ---

TRUE = mounted(1.5, math.radians(1.0))
LENS = {"width": 1280, "height": 720, "fx": 1000, "fy": 1000, "cx": 639.5, "cy": 359.5}
CAR = Size(length=CAR_M[0], width=CAR_M[1], height=CAR_M[2])
PERSON = Size(length=0.4, width=0.5, height=PERSON_M)


def camera(mounting=TRUE) -> Camera:
    return Camera(**LENS, T_cam_ego=mounting)


def seen(*places: tuple[float, float], size: Size = CAR, kind: str = "car") -> tuple[Thing, ...]:
    """What a detector says of things whose near end is at x, y, m, through the true camera."""
    x, y = np.array(places).T
    boxes, ok = boxes_px(camera(), box_corners(x + size.length / 2, y, np.zeros(len(x)), size))
    assert ok.all()
    return tuple(Thing(kind, tuple(box), 0.9) for box in boxes.tolist())


PLACES = ((15.0, -4.0), (25.0, 3.5), (40.0, 0.2), (60.0, -3.5))


@pytest.mark.parametrize("place", PLACES)
def test_a_car_tells_how_far_it_is(place):
    [one] = sights(camera(), seen(place))
    assert one.distance_m == pytest.approx(place[0], rel=0.08)
    assert one.ratio == pytest.approx(1, abs=0.08)


def test_a_person_too_and_who_sits_or_is_cut_off_or_stands_behind_does_not():
    [one] = sights(camera(), seen((20.0, 3.0), size=PERSON, kind="person"))
    assert one.distance_m == pytest.approx(20, rel=0.05)
    x0, y0, x1, y1 = one.box
    assert not sights(camera(), [Thing("person", (x0, (y0 + y1) / 2, x1, y1), 0.9)])
    [near] = seen((4.0, -3.0))
    assert not sights(camera(), [near])
    [car] = seen((25.0, 0.0))
    a, b, c, d = car.box
    assert not sights(camera(), [car, Thing("truck", (a - 5, b, c - 10, d + 30), 0.9)])


# --- the fit ---


def fitted(believed: Camera, frames, pitch_error: float, height_error: float, *clues: Clue):
    """With what is believed as the first clues, so far off as their errors say."""
    own = (
        Clue("pitch", angles(believed)[0], pitch_error, "believed"),
        Clue("height", float(centre(believed)[2]), height_error, "believed"),
    )
    return fit_camera(believed, [(things, 0.0) for things in frames], (*own, *clues))


@pytest.mark.parametrize(("height", "pitch"), [(1.9, 1.0), (1.3, -0.2)])
def test_sizes_mend_what_is_believed(height, pitch):
    believed = camera(mounted(height, math.radians(pitch)))
    fit = fitted(believed, [seen(*PLACES[:2]), seen(*PLACES[2:])], math.radians(3), 0.4)
    assert fit.count == 4
    assert fit.by == ("sizes", "sizes")
    mended = camera(mounted(fit.height, fit.pitch))
    ratios = [one.ratio for one in sights(mended, seen(*PLACES))]
    assert ratios == pytest.approx([1.0] * 4, abs=0.13)
    before = [abs(math.log(one.ratio)) for one in sights(believed, seen(*PLACES))]
    assert np.abs(np.log(ratios)).max() < max(before)
    assert fit.scale_error(25.0) < 0.1
    assert fit.scale_error(25.0) < fit.scale_error(200.0), "far off the horizon decides"
    assert fitted(believed, [(), ()], 0.05, 0.4).count == 0


def test_without_sizes_clues_are_weighed_by_their_errors():
    """By hand: the mean of 0.00 +- 0.03 and 0.04 +- 0.01 is (0 * 1 + 0.04 * 9) / 10, its error 0.03 / sqrt(10)."""
    believed = camera(mounted(1.5, 0.0))
    fit = fitted(believed, [()], 0.03, 0.3, Clue("pitch", 0.04, 0.01, "lane lines"))
    assert (fit.pitch, fit.errors[0]) == (pytest.approx(0.036), pytest.approx(0.03 / math.sqrt(10)))
    assert (fit.height, fit.by) == (pytest.approx(1.5), ("lane lines", "believed"))
    far = math.hypot(30 / 1.5 * fit.errors[0], 0.3 / 1.5)
    assert fit.scale_error(30.0) == pytest.approx(far, rel=0.01), (
        "the error of the angle below the horizon, and the height's"
    )


def test_a_clue_far_from_all_others_hardly_counts():
    fit = fitted(camera(), [seen(*PLACES)], 0.05, 0.2, Clue("pitch", math.radians(5), 0.005, astray=0.3))
    assert math.degrees(fit.pitch) == pytest.approx(1.0, abs=0.4)


def test_one_that_is_no_car_does_not_lead_astray():
    wrong = Thing("car", (600.0, 380.0, 612.5, 391.5), 0.9)  # a toy, or a car on a bridge
    fit = fitted(camera(), [(*seen(*PLACES), wrong)], math.radians(0.5), 0.05)
    assert math.degrees(fit.pitch) == pytest.approx(1.0, abs=0.15)


# --- what is doubted ---

LEVEL = Camera(width=640, height=360, fx=560, fy=560, cx=319.5, cy=179.5, T_cam_ego=mounted(1.5, 0.0))


def told(pitch_error: float, height_error: float) -> dict:
    """Of a camera 1.5 m up whose pitch, rad, and height, m, are known so well, independent of each other."""
    clues = (Clue("pitch", 0.0, pitch_error), Clue("height", 1.5, height_error))
    return doubts(fit_camera(LEVEL, [], clues))


@pytest.mark.parametrize("distance", [5.0, 12.0, 40.0])
def test_an_error_of_the_size_is_that_of_the_angle_below_the_horizon_and_of_the_height(distance):
    found = scale_error(told(0.01, 0.15), distance)
    assert found == pytest.approx(math.hypot(0.01 / (1.5 / distance), 0.15 / 1.5), rel=0.01)


def test_things_are_drawn_as_far_off_as_their_size_is_sure():
    kept = told(0.01, 0.15)
    farthest = sure_to_m({TOLD: kept})
    assert scale_error(kept, farthest) == pytest.approx(CAMERA.most_error)
    assert farthest == pytest.approx(1.5 / 0.01 * math.sqrt(CAMERA.most_error**2 - 0.1**2), rel=0.01)
    assert sure_to_m({TOLD: told(0.01, 0.6)}) == 0.0, "not even near ones"
    assert sure_to_m({}) == sure_to_m({TOLD: {"calibration": "given"}}) == math.inf
    assert sure_to_m({TOLD: "by hand"}) == math.inf


def test_a_scene_whose_camera_is_a_mere_guess_is_refused_with_what_to_do():
    why = why_unsure({TOLD: told(0.06, 0.2)})
    assert why.startswith(f"{GUESSED}: what is drawn 12 m away may be off by 50% in size (at most 20%)")
    assert "--options horizon_row=... --options camera_height_m=..." in why
    assert "--perception twinlitenet" in why
    assert why_unsure({TOLD: told(0.01, 0.2)}) == why_unsure({}) == why_unsure({TOLD: 3}) == ""
