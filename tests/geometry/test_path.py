"""The ego path: what was driven, then its continuation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgen.geometry.camera import mounted
from cfgen.geometry.path import EgoPath
from cfgen.records import Camera, Frame, Motion, Scene


def arc_motion(t, v, curvature) -> Motion:
    t = np.asarray(t, float)
    theta = curvature * v * t
    x = np.sin(theta) / curvature if curvature else v * t
    y = (1 - np.cos(theta)) / curvature if curvature else 0 * t
    return Motion(t=tuple(t), poses=tuple(zip(x, y, theta, strict=True)), v=(float(v),) * len(t))


def scene(v: float, curvature: float, with_future: bool = True) -> Scene:
    camera = Camera(width=640, height=480, fx=600, fy=600, cx=320, cy=240, T_cam_ego=mounted(1.5))
    return Scene(
        scene_id="s", cameras=(camera,), frames=(Frame(t=0.0, image="frame.png"),),
        history=arc_motion(np.arange(-8, 1) * 0.25, v, curvature),
        future=arc_motion(np.arange(1, 25) * 0.25, v, curvature) if with_future else None,
    )  # fmt: skip


@pytest.mark.parametrize("with_future", [True, False])
@given(v=st.floats(5, 25), curvature=st.floats(-0.015, 0.015).filter(lambda c: c == 0 or abs(c) > 1e-5))
def test_follows_the_bend_whether_recorded_or_continued(with_future, v, curvature):
    path = EgoPath.from_scene(scene(v, curvature, with_future))
    assert path.length_m >= 80
    s = np.array([0.0, 10.0, 40.0, 70.0])
    x, y, heading = path.at(s)
    np.testing.assert_allclose(heading, curvature * s, atol=2e-3)
    expected = np.sin(curvature * s) / curvature if curvature else s
    np.testing.assert_allclose(x, expected, atol=0.1)
    assert path.known_m == pytest.approx(v * 6 if with_future else 0, abs=0.5)
    assert np.sign(np.round(y[-1], 3)) == np.sign(np.round(curvature, 5))


@given(s=st.floats(0, 75), lateral=st.floats(-8, 8), curvature=st.floats(-0.02, 0.02))
def test_locate_undoes_at(s, lateral, curvature):
    path = EgoPath.from_scene(scene(10, curvature))
    x, y, _ = path.at(s, lateral)
    found_s, found_lateral = path.locate([x, y])
    assert found_s == pytest.approx(s, abs=0.1)
    assert found_lateral == pytest.approx(lateral, abs=0.02)


def test_behind_the_start_and_past_the_end_go_straight():
    path = EgoPath.from_scene(scene(10, 0.01))
    s, lateral = path.locate([[-5.0, 1.0], [-5.0, -1.0]])
    np.testing.assert_allclose(s, -5, atol=0.05)
    np.testing.assert_allclose(lateral, [1, -1], atol=0.05)
    x, y, heading = path.at(path.length_m + 20)
    end_x, end_y, end_heading = path.at(path.length_m)
    assert heading == end_heading
    assert math.hypot(x - end_x, y - end_y) == pytest.approx(20)


def test_a_standing_car_looks_straight_ahead():
    rng = np.random.default_rng(0)
    jitter = [(float(a), float(b), float(c)) for a, b, c in rng.normal(0, 0.01, (24, 3))]
    still = scene(0.0, 0.0).model_copy(
        update={"future": Motion(t=tuple(np.arange(1, 25) * 0.25), poses=tuple(jitter), v=(0.0,) * 24)}
    )
    path = EgoPath.from_scene(still)
    assert path.known_m == 0
    x, y, heading = path.at(50)
    assert (float(x), float(y), float(heading)) == pytest.approx((50, 0, 0), abs=1e-6)


def test_a_tight_turn_does_not_spiral():
    path = EgoPath.from_scene(scene(4, 0.12, with_future=False))
    assert path.heading[-1] == pytest.approx(math.pi / 2, abs=0.01)
