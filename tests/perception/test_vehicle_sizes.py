"""Boxes of known size through a known camera: what a camera that is believed to stand otherwise makes of them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from cfgen.benchmark.quality_gates import GateInput
from cfgen.benchmark.scale_beside import scale_beside
from cfgen.geometry.box import box_corners, boxes_px
from cfgen.geometry.camera import angles, centre, mounted
from cfgen.perception.camera_fit import Clue, fit_camera
from cfgen.perception.frame_camera import FrameCamera, corrected
from cfgen.perception.seen_camera import with_sizes
from cfgen.perception.vehicle_sizes import CAR_M, PERSON_M, scale_at, sights
from cfgen.perception.view import SceneView, Thing
from cfgen.records import Camera, Size
from tests.benchmark.test_quality_gates import CYCLIST, TAXONOMY, placed

TRUE = mounted(1.5, math.radians(1.0))
LENS = {"width": 1280, "height": 720, "fx": 1000, "fy": 1000, "cx": 639.5, "cy": 359.5}
CAR, PERSON = (
    Size(length=CAR_M[0], width=CAR_M[1], height=CAR_M[2]),
    Size(length=0.4, width=0.5, height=PERSON_M),
)


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


@pytest.mark.parametrize(("height", "scale"), [(1.5, 1.0), (1.0, 1.5), (2.0, 0.75)])
def test_a_camera_believed_too_low_draws_too_large(height, scale):
    believed = camera(mounted(height, math.radians(1.0)))
    found, count = scale_at(believed, (640.0, 410.0), sights(believed, seen(*PLACES)))
    assert found == pytest.approx(scale, rel=0.08)
    assert count >= 2
    [far] = sights(believed, seen((60.0, 0.0)))
    foot = (639.5, 359.5 + 1000 * math.tan(1.7 * far.below - math.radians(1.0)))
    assert scale_at(believed, foot, [far]) == (far.ratio, 1), "the next best, where none is near"
    assert scale_at(believed, foot, [far, replace(far, below=1.2 * far.below, ratio=2.0)]) == (2.0, 1)
    assert scale_at(believed, (640.0, 700.0), sights(believed, seen((60.0, 0.0)))) is None, "none is near"
    assert scale_at(believed, (640.0, 100.0), sights(believed, seen((60.0, 0.0)))) is None, "in the sky"


def fitted(believed: Camera, frames, pitch_error: float, height_error: float, *clues: Clue):
    """With what is believed as the first clues, so far off as their errors say."""
    own = (
        Clue("pitch", angles(believed)[0], pitch_error, "believed"),
        Clue("height", float(centre(believed)[2]), height_error, "believed"),
    )
    return fit_camera(believed, frames, (*own, *clues))


@pytest.mark.parametrize(("height", "pitch"), [(1.2, 1.0), (1.9, 1.0), (1.5, 2.0), (1.3, -0.2)])
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
    assert (fit.pitch, fit.pitch_error) == (pytest.approx(0.036), pytest.approx(0.03 / math.sqrt(10)))
    assert (fit.height, fit.by) == (pytest.approx(1.5), ("lane lines", "believed"))
    far = math.hypot(30 / 1.5 * fit.pitch_error, 0.3 / 1.5)
    assert fit.scale_error(30.0) == pytest.approx(far, rel=0.01), (
        "the error of the angle below the horizon, and the height's"
    )


def test_a_clue_far_from_all_others_hardly_counts():
    fit = fitted(camera(), [seen(*PLACES)], 0.05, 0.2, Clue("pitch", math.radians(5), 0.005, astray=0.3))
    assert math.degrees(fit.pitch) == pytest.approx(1.0, abs=0.4)


def test_what_is_sure_stays():
    believed = camera(mounted(1.2, math.radians(1.0)))
    fit = fitted(believed, [seen(*PLACES)], 1e-5, 1e-4)
    assert (fit.height, math.degrees(fit.pitch)) == (
        pytest.approx(1.2, abs=0.01),
        pytest.approx(1.0, abs=0.01),
    )


def test_one_that_is_no_car_does_not_lead_astray():
    wrong = Thing("car", (600.0, 380.0, 612.5, 391.5), 0.9)  # a toy, or a car on a bridge
    fit = fitted(camera(), [(*seen(*PLACES), wrong)], math.radians(0.5), 0.05)
    assert math.degrees(fit.pitch) == pytest.approx(1.0, abs=0.15)


def test_a_frames_pitch_by_sizes_alone_and_with_lines():
    stated = camera(mounted(1.5, math.radians(1.7)))
    alone = with_sizes(FrameCamera(reason="0 lane lines seen"), stated, seen(*PLACES))
    assert alone.pitch_deg == pytest.approx(1.0, abs=0.15)
    mended = corrected(stated, alone)
    assert math.degrees(angles(mended)[0]) == pytest.approx(alone.pitch_deg, abs=1e-6)
    assert centre(mended) == pytest.approx(centre(stated))
    lines = FrameCamera(pitch_deg=1.1, pitch_error_deg=0.2, confidence=0.9, lines=3)
    assert with_sizes(lines, stated, seen(*PLACES)).pitch_deg == pytest.approx(1.0, abs=0.1)
    assert with_sizes(lines, stated, None) is lines


def judged(believed: Camera, things, hazard=CYCLIST):
    """By the gate: a hazard whose foot is 30 m off."""
    frame = np.zeros((720, 1280, 3), np.uint8)
    road = np.ones((90, 160), bool)
    view = SceneView(road, ~road, (1280, 720), things, {"name": "drawn"})
    spot = placed(620, 350, 40, 45)
    return scale_beside(GateInput(frame, frame, frame[..., 0], believed, spot, hazard, lambda _: view))


def test_the_gate_bounds_the_scale_by_what_stands_near():
    assert judged(camera(), seen(*PLACES)).passed
    low = judged(camera(mounted(1.0, math.radians(1.0))), seen(*PLACES))
    assert not low.passed
    assert low.value == pytest.approx(1.5, rel=0.08)
    assert "times the scale of what is real near it (2 seen)" in low.reason
    assert not judged(camera(mounted(2.1, math.radians(1.0))), seen(*PLACES)).passed


def test_the_gate_says_when_it_cannot_judge():
    far = judged(camera(), seen((12.0, 2.0)))
    assert (far.passed, far.value) == (True, None)
    assert far.reason == "not judged: no real car or person of a sure size near it"
    assert judged(camera(), None).reason.startswith("not judged: nobody looked")
    assert judged(camera(), None, TAXONOMY.null) is None
