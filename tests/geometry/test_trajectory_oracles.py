"""Plans that bend, end early or stand, against closed forms; poses between samples against the arcs they lie on."""

import math

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.geometry.frames import along_arc, interpolate
from cfgen.geometry.lens import _first_root
from cfgen.geometry.trajectory import FARTHEST_M, deltas, headings, resample

GRID = 0.25 * np.arange(1, 25)


def line(t, v: float = 10.0) -> np.ndarray:
    return np.column_stack([v * np.asarray(t), 0 * t, 0 * t])


def test_a_plan_that_ends_early_goes_on_as_its_last_half_second_did():
    t = 0.25 * np.arange(1, 17)
    poses = line(t)
    poses[-1, 0] += 0.2  # 5.2 m in the last half second, 2.7 m in the last quarter
    found = resample(t, poses)
    assert found[15, 0] == pytest.approx(40.2)
    assert found[-1, 0] == pytest.approx(40.2 + 2 * 10.4)


def test_one_waypoint_is_a_plan_at_constant_speed():
    np.testing.assert_allclose(resample([4.0], [(40.0, 0.0, 0.0)]), line(GRID), atol=1e-9)


def test_a_short_grid_takes_a_short_plan():
    t = np.array([0.25, 0.5])
    np.testing.assert_allclose(resample(t, line(t), n=2, max_extension_s=0), line(t), atol=1e-12)


def test_how_far_a_plan_may_be_filled_in_counts_to_the_end():
    t = np.array([2.0, 4.0])
    assert len(resample(t, line(t))) == 24
    with pytest.raises(InputError, match=r"the last waypoint is at 3\.9 s; 6 s are needed, and at most 2 s"):
        resample([2.0, 3.9], line(np.array([2.0, 3.9])))


def test_the_pose_at_t0_is_the_origin_within_half_a_metre_whatever_its_heading():
    t = np.append(0.0, GRID)
    poses = np.vstack([(0.5, -0.5, 3.0), line(GRID)])
    np.testing.assert_allclose(resample(t, poses), line(GRID), atol=1e-9)
    poses[0] = (3.0, 4.0, 1.0)
    with pytest.raises(InputError, match=r"found \[3\.0, 4\.0\]; give waypoints in the ego frame at t0$"):
        resample(t, poses)


@pytest.mark.parametrize(("t", "x"), [(6.0, 2 * FARTHEST_M), (2 * FARTHEST_M, 60.0)])
def test_numbers_beyond_all_roads_are_refused_in_either(t, x):
    with pytest.raises(InputError, match=r"expected metres, radians and seconds, found one beyond 1e\+12"):
        resample([t], [(x, 0.0, 0.0)])


def test_headings_where_a_path_turns_at_right_angles():
    # chords of 90 and 0 degrees: half between them, and as much beyond
    np.testing.assert_allclose(headings([(0, 0), (0, 1), (1, 1)]), np.radians([0, 45, -45]))
    # a path that stands keeps its heading, one that goes on along x does not
    np.testing.assert_allclose(headings([(0, 0), (0, 1), (0, 1), (1, 1)])[1:3], np.radians([90, 45]))


def test_each_second_has_its_own_speed():
    """Braking at 1 m/s^2 instead of going on at 10 m/s: 3.6 km/h and t^2 / 2 more each second."""
    modified = line(GRID)
    modified[:, 0] -= GRID**2 / 2
    found = deltas(line(GRID), modified)
    assert [d.t for d in found] == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose([d.dspeed_kmh for d in found], [-3.6 * k for k in range(1, 7)], atol=1e-9)
    np.testing.assert_allclose([d.dx for d in found], [-(k**2) / 2 for k in range(1, 7)], atol=1e-9)


def bend(s: float) -> tuple[float, float, float]:
    """10 m straight on, then a circle of 10 m to the left: where ``s`` metres lead."""
    turn = max(s - 10, 0) / 10
    return (min(s, 10) + 10 * math.sin(turn), 10 * (1 - math.cos(turn)), turn)


def test_poses_between_samples_lie_on_the_arc_of_their_own_interval():
    t = np.arange(4.0)
    poses = [bend(10 * k) for k in t]
    at = np.array([0.5, 1.0, 1.5, 2.25, 3.0])
    np.testing.assert_allclose(interpolate(t, poses, at), [bend(10 * k) for k in at], atol=1e-9)


@pytest.mark.parametrize("turn", [1e-3, 1e-5, 1e-7, 0.0])
def test_half_an_arc_of_hardly_any_turn(turn):
    end = (np.sinc(turn / np.pi), turn / 2, turn)  # 1 m; 1 - cos is turn^2 / 2
    middle = (np.sinc(turn / 2 / np.pi) / 2, turn / 8, turn / 2)
    np.testing.assert_allclose(along_arc(np.zeros(3), end, 0.5), middle, atol=1e-9)


@pytest.mark.parametrize(
    ("coefficients", "expected"),
    [
        ([0, 0], 0),  # 0 itself
        ([-0.5, 1], 0.5),
        ([0.5, -1.5, 1], 0.5),  # (x - 1/2)(x - 1)
        ([0.5, -1, 1], math.inf),  # 1/2 +- i/2: not real
        ([0.5, 1], math.inf),  # not positive
        ([3], math.inf),
        ([-0.5, 1, 0, 0], 0.5),
    ],
)
def test_first_roots_by_hand(coefficients, expected):
    assert _first_root(coefficients) == pytest.approx(expected)
