"""Resampling is exact on lines and arcs; speeds and deltas are what physics says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgen.core.errors import InputError
from cfgen.geometry import frames
from cfgen.geometry.trajectory import deltas, resample, speeds
from cfgen.records import Motion

GRID = 0.25 * np.arange(1, 25)


def arc(t, v: float, yaw_rate: float) -> np.ndarray:
    t = np.asarray(t, float)
    theta = yaw_rate * t
    chord = v * t * np.sinc(theta / 2 / np.pi)
    return np.column_stack([chord * np.cos(theta / 2), chord * np.sin(theta / 2), theta])


@settings(max_examples=80, deadline=None)
@given(
    v=st.floats(0, 35), yaw_rate=st.floats(-0.6, 0.6), dt=st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.5]),
    with_zero=st.booleans(),
)  # fmt: skip
def test_exact_on_lines_and_arcs(v, yaw_rate, dt, with_zero):
    t = np.arange(0 if with_zero else 1, round(6.6 / dt)) * dt
    np.testing.assert_allclose(resample(t, arc(t, v, yaw_rate)), arc(GRID, v, yaw_rate), atol=1e-7)


@settings(max_examples=40, deadline=None)
@given(v=st.floats(1, 30), yaw_rate=st.floats(-0.5, 0.5))
def test_a_four_second_plan_is_continued_along_its_arc(v, yaw_rate):
    t = 0.5 * np.arange(1, 9)
    np.testing.assert_allclose(resample(t, arc(t, v, yaw_rate)), arc(GRID, v, yaw_rate), atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(v=st.floats(2, 30), yaw_rate=st.floats(-0.3, 0.3))
def test_positions_alone_give_the_same_plan(v, yaw_rate):
    t = 0.25 * np.arange(1, 25)
    np.testing.assert_allclose(resample(t, arc(t, v, yaw_rate)[:, :2]), arc(GRID, v, yaw_rate), atol=1e-6)


def test_braking_keeps_its_speed_profile():
    """A 2 Hz plan that brakes at 4 m/s^2 comes out with the right positions between its samples."""
    t = 0.5 * np.arange(0, 13)
    x = np.where(t < 3, 12 * t - 2 * t**2, 18.0)
    expected = np.where(GRID < 3, 12 * GRID - 2 * GRID**2, 18.0)
    found = resample(t, np.column_stack([x, 0 * t, 0 * t]))[:, 0]
    assert np.abs(found - expected).max() < 0.05
    assert (np.diff(found) >= -1e-9).all()


@pytest.mark.parametrize(
    ("t", "poses", "says"),
    [
        ([1, 2, 3], np.zeros((3, 3)), "last waypoint is at 3 s; 6 s are needed"),
        ([1, 2, 2, 6], np.zeros((4, 3)), "increase strictly"),
        ([1, 2, 6], np.zeros((2, 3)), "expected times"),
        ([2, 4, 6], [[1, 0, 0], [2, np.nan, 0], [3, 0, 0]], "waypoint 1 is not finite"),
        ([0, 3, 6], [[5, 0, 0], [6, 0, 0], [7, 0, 0]], "must be the ego origin"),
        ([0], [[0, 0, 0]], "only waypoint is at t = 0"),
    ],
)
def test_faults_are_named(t, poses, says):
    with pytest.raises(InputError, match=says):
        resample(t, poses)


@given(v=st.floats(8, 30), a=st.floats(-1.0, 2.0))
def test_constant_acceleration_passes_the_smoothing_unchanged(v, a):
    x = v * GRID + a * GRID**2 / 2
    found = speeds(np.column_stack([x, 0 * x, 0 * x]))
    np.testing.assert_allclose(found, v + a * np.array([0, *GRID]), atol=1e-6)


def test_standing_still_has_no_speed_and_a_jump_is_smoothed():
    assert speeds(np.zeros((24, 3))).max() == 0
    x = np.cumsum(np.where(GRID <= 3, 2.5, 0.0))  # 10 m/s, then 0 at once
    found = speeds(np.column_stack([x, 0 * x, 0 * x]))
    assert found[0] == pytest.approx(10, abs=0.01)
    assert found[-1] == pytest.approx(0, abs=0.01)
    assert 2 < found[12] < 8


def test_deltas_have_one_row_a_second():
    slower, faster = arc(GRID, 8, 0), arc(GRID, 10, 0)
    rows = deltas(faster, slower)
    assert [r.t for r in rows] == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose([r.dx for r in rows], [-2, -4, -6, -8, -10, -12], atol=1e-9)
    np.testing.assert_allclose([r.dspeed_kmh for r in rows], -7.2, atol=1e-6)
    assert deltas(faster, slower[:18])[-1] == pytest.approx((4.0, -8.0, 0.0, -7.2), abs=1e-6)


# --- frames -------------------------------------------------------------------------------------------------

pose = st.tuples(st.floats(-50, 50), st.floats(-50, 50), st.floats(-3, 3))


@given(a=pose, b=pose)
def test_relative_undoes_compose(a, b):
    np.testing.assert_allclose(frames.relative(a, frames.compose(a, b)), b, atol=1e-9)


@given(fraction=st.floats(0, 1.5), v=st.floats(0.1, 30), yaw_rate=st.floats(-1.0, 1.0))
def test_along_arc_is_the_circle(fraction, v, yaw_rate):
    a, b = arc([0.0, 1.0], v, yaw_rate)
    np.testing.assert_allclose(frames.along_arc(a, b, fraction), arc([fraction], v, yaw_rate)[0], atol=1e-8)


def test_pose_at_reads_motion_and_refuses_times_it_does_not_have():
    t = np.arange(-8, 1) * 0.25
    motion = Motion(t=tuple(t), poses=tuple(map(tuple, arc(t, 10, 0.2))), v=(10.0,) * 9)
    np.testing.assert_allclose(frames.pose_at(motion, -0.9), arc([-0.9], 10, 0.2)[0], atol=1e-9)
    np.testing.assert_allclose(frames.pose_at(motion, -2.2), arc([-2.2], 10, 0.2)[0], atol=1e-9)
    with pytest.raises(InputError, match=r"t = 1 s was asked for.*cover -2 to 0 s"):
        frames.pose_at(motion, 1.0)
