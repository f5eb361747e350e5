"""Boxes, paths, motions and plans against shapely, SciPy and circles."""

import math

import numpy as np
import pytest
import shapely
from scipy.interpolate import PchipInterpolator
from shapely import affinity

from cfgen.core.errors import InputError
from cfgen.geometry import camera as cam
from cfgen.geometry import frames
from cfgen.geometry.box import areas, box_corners, boxes_px, clip_boxes
from cfgen.geometry.path import EgoPath, path_of_plan, travelled
from cfgen.geometry.trajectory import deltas, headings, resample, speeds
from cfgen.records import Camera, Motion, Size
from tests.geometry.test_path import arc_motion, scene
from tests.geometry.test_trajectory import GRID, arc

SIZE = Size(length=4.0, width=1.8, height=1.5)


# --- boxes ----------------------------------------------------------------------------------------------


def test_boxes_stand_where_shapely_turns_and_moves_them():
    rng = np.random.default_rng(0)
    x, y, yaw = rng.uniform(-30, 30, (3, 20))
    corners = box_corners(x, y, yaw, SIZE)
    assert corners.shape == (20, 8, 3)
    for i in range(20):
        turned = affinity.rotate(shapely.box(-2.0, -0.9, 2.0, 0.9), yaw[i], origin=(0, 0), use_radians=True)
        expected = affinity.translate(turned, x[i], y[i])
        for half, height in ((corners[i, :4], 0.0), (corners[i, 4:], 1.5)):
            found = shapely.Polygon(half[:, :2])
            assert found.is_valid, "corners go round"
            assert found.symmetric_difference(expected).area < 1e-9
            assert (half[:, 2] == height).all()
    assert box_corners(3.0, 1.0, 0.2, SIZE).shape == (1, 8, 3)


def test_boxes_in_the_picture_hold_their_corners_and_say_when_one_is_behind():
    camera = Camera(width=640, height=480, fx=600, fy=600, cx=320, cy=240, T_cam_ego=cam.mounted(1.5))
    corners = box_corners([20.0, 1.0], [1.0, 0.0], [0.4, 0.0], SIZE)
    found, seen = boxes_px(camera, corners)
    assert seen.tolist() == [True, False], "the second reaches behind the camera"
    u = 320 - 600 * corners[0, :, 1] / corners[0, :, 0]
    v = 240 + 600 * (1.5 - corners[0, :, 2]) / corners[0, :, 0]
    assert found[0] == pytest.approx((u.min(), v.min(), u.max(), v.max()))


def test_clipped_boxes_have_shapelys_area():
    camera = Camera(width=64, height=48, fx=60, fy=60, cx=32, cy=24, T_cam_ego=cam.mounted(1.5))
    frame = shapely.box(0, 0, 64, 48)
    given = np.array([[-5.0, -6, 10, 12], [60, 40, 90, 95], [5, 6, 20, 30], [70, 3, 80, 9], [-9, -9, 99, 99]])
    clipped = clip_boxes(camera, given)
    expected = [shapely.box(*b).intersection(frame).area for b in given]
    assert areas(clipped) == pytest.approx(expected)
    assert areas(given) == pytest.approx([shapely.box(*b).area for b in given])
    assert clipped[0].tolist() == [0, 0, 10, 12]


# --- paths ----------------------------------------------------------------------------------------------


def on_circle(s, curvature: float, lateral: float = 0.0) -> np.ndarray:
    s = np.asarray(s, float)
    radius = 1 / curvature - lateral
    return np.stack([radius * np.sin(curvature * s), 1 / curvature - radius * np.cos(curvature * s)], -1)


@pytest.mark.parametrize("curvature", [0.02, -0.03])
def test_a_path_is_a_circle_then_a_tangent(curvature):
    """Recorded for 60 m, continued up to a quarter turn more, then straight."""
    path = EgoPath.from_scene(scene(10.0, curvature), 200.0)
    assert path.known_m == pytest.approx(60.0, abs=0.02)
    assert path.length_m >= 200.0
    bend_m = 60.0 + math.pi / 2 / abs(curvature)
    s = np.arange(0.0, min(bend_m, 190.0) - 1, 3.7)
    for lateral in (0.0, 2.5, -4.0):
        x, y, heading = path.at(s, lateral)
        np.testing.assert_allclose(np.column_stack([x, y]), on_circle(s, curvature, lateral), atol=0.05)
        np.testing.assert_allclose(heading, curvature * s, atol=2e-3)
    if bend_m < 190:
        end = path.heading[-1]
        assert abs(end) == pytest.approx(60 * abs(curvature) + math.pi / 2, abs=0.02)
        assert path.at(bend_m + 5)[2] == pytest.approx(end, abs=1e-3)


def test_paths_are_located_as_shapely_does():
    path = EgoPath.from_scene(scene(9.0, 0.025), 100.0)
    line = shapely.LineString(path.xy)
    points = np.random.default_rng(4).uniform((0, -5), (60, 40), (200, 2))
    points = points[[0.5 < line.project(shapely.Point(p)) < line.length - 0.5 for p in points]]
    s, lateral = path.locate(points)
    np.testing.assert_allclose(s, [line.project(shapely.Point(p)) for p in points], atol=1e-6)
    np.testing.assert_allclose(np.abs(lateral), [line.distance(shapely.Point(p)) for p in points], atol=1e-9)
    left = shapely.Polygon([*path.xy, (-200, 200), (-200, 0), (0, 0)]).buffer(0)
    inside = [left.contains(shapely.Point(p)) for p in points if abs(p[1]) > 0.1]
    assert any(inside)
    one = path.locate(points[0])
    assert (one[0].shape, one[1].shape) == ((), ())
    assert (float(one[0]), float(one[1])) == (s[0], lateral[0])


@pytest.mark.parametrize("curvature", [0.02, -0.02])
def test_left_of_the_path_is_positive(curvature):
    path = EgoPath.from_scene(scene(10.0, curvature))
    for lateral in (-3.0, 3.0):
        s, found = path.locate(on_circle([20.0, 70.0], curvature, lateral))
        np.testing.assert_allclose(found, lateral, atol=0.02)
        np.testing.assert_allclose(s, [20.0, 70.0], atol=0.1)


def test_outside_its_ends_a_path_goes_straight_on_to_either_side():
    path = EgoPath.from_scene(scene(10.0, 0.02), 80.0)
    x, y, heading = path.at(-4.0, 1.5)
    assert (float(x), float(y), float(heading)) == pytest.approx((-4.0, 1.5, 0.0), abs=0.01)
    end_x, end_y, theta = path.at(path.length_m)
    x, y, heading = path.at(path.length_m + 7.0, -2.0)
    expected = (
        end_x + 7 * math.cos(theta) + 2 * math.sin(theta),
        end_y + 7 * math.sin(theta) - 2 * math.cos(theta),
    )
    assert (float(x), float(y)) == pytest.approx(tuple(map(float, expected)))
    assert heading == theta
    s, lateral = path.locate([x, y])
    # the last piece's own direction is the tangent in its middle, a quarter of a metre back
    assert float(s) == pytest.approx(path.length_m + 7.0, abs=0.05)
    assert float(lateral) == pytest.approx(-2.0, abs=0.06)


def recorded(xy_theta, t=None) -> EgoPath:
    poses = tuple(tuple(map(float, p)) for p in xy_theta)
    times = tuple(0.25 * (i + 1) for i in range(len(poses))) if t is None else t
    future = Motion(t=times, poses=poses, v=(5.0,) * len(poses))
    return EgoPath.from_scene(scene(5.0, 0.0).model_copy(update={"future": future}))


def test_the_bend_of_the_last_ten_metres_goes_on():
    """30 m straight, then 20 m of a circle of 40 m radius."""
    s = np.arange(2.5, 50.1, 2.5)
    turn = np.maximum(s - 30, 0) / 40
    x = np.minimum(s, 30) + 40 * np.sin(turn)
    y = 40 * (1 - np.cos(turn))
    path = recorded(np.column_stack([x, y, turn]))
    assert path.known_m == pytest.approx(50.0, abs=0.01)
    assert path.at(70.0)[2] == pytest.approx(40 / 40, abs=2e-3)
    x, y, _ = path.at(70.0)
    assert (float(x), float(y)) == pytest.approx((30 + 40 * math.sin(1), 40 * (1 - math.cos(1))), abs=0.02)


def test_no_bend_is_tighter_than_the_tightest_and_less_than_a_metre_tells_none():
    tight = recorded([(0.9, 0.1, 0.3), (1.7, 0.6, 0.75), (2.2, 1.4, 1.2)])  # about 0.4 / m
    s = tight.known_m
    assert tight.at(s + 4.0)[2] - tight.at(s)[2] == pytest.approx(0.15 * 4.0, abs=0.01)
    short = recorded([(0.4, 0.0, 0.1), (0.8, 0.08, 0.2)])
    assert short.at(10.0)[2] == pytest.approx(0.2, abs=1e-6)


def test_without_a_future_the_history_bends_the_other_end():
    """The same road goes on: a left bend behind is a left bend ahead."""
    for curvature in (0.03, -0.03):
        path = EgoPath.from_scene(scene(8.0, curvature, with_future=False))
        assert path.known_m == 0
        x, y, heading = path.at(25.0)
        assert (float(x), float(y)) == pytest.approx(tuple(on_circle(25.0, curvature)), abs=0.05)
        assert heading == pytest.approx(25.0 * curvature, abs=3e-3)


def test_points_of_a_path_are_half_a_metre_apart_at_most_and_none_is_lost():
    path = recorded([(3.2, 0.0, 0.0), (3.3, 0.0, 0.0), (7.0, 0.0, 0.0)])
    assert np.diff(path.s).max() <= 0.5 + 1e-9
    assert np.diff(path.s).min() > 0
    assert path.xy[0].tolist() == [0, 0]
    assert path.known_m == pytest.approx(7.0)
    np.testing.assert_allclose(
        path.s, np.concatenate([[0], np.cumsum(np.hypot(*np.diff(path.xy, axis=0).T))])
    )


def test_headings_of_a_path_never_jump():
    """A recorded turn through pi, whose angles come wrapped."""
    t = np.arange(1, 25) * 0.25
    theta = 0.18 * 5.0 * t
    poses = np.column_stack(
        [np.sin(theta) / 0.18, (1 - np.cos(theta)) / 0.18, (theta + np.pi) % (2 * np.pi) - np.pi]
    )
    path = recorded(poses)
    assert np.abs(np.diff(path.heading)).max() < 0.2
    assert path.at(path.known_m)[2] == pytest.approx(0.18 * 30, abs=0.05)


# --- plans ----------------------------------------------------------------------------------------------


def test_the_path_of_a_plan_is_its_line():
    plan = arc(GRID, 8.0, 0.2)
    path = path_of_plan(plan)
    line = shapely.LineString([(0, 0), *plan[:, :2]])
    assert path.known_m == path.length_m == pytest.approx(line.length)
    for s in (0.0, 7.3, 30.0, line.length):
        at = line.interpolate(s)
        x, y, heading = path.at(s)
        assert (float(x), float(y)) == pytest.approx((at.x, at.y))
        if 2 < s < line.length - 2:
            assert heading == pytest.approx(0.025 * s, abs=0.03)
    # at a waypoint between two chords of one length the mean of their directions is the circle's tangent
    assert path.heading[5] == pytest.approx(plan[4, 2], abs=1e-9)
    assert path.heading[0] == pytest.approx(plan[0, 2] / 2)
    assert path.heading[-1] == pytest.approx((plan[-1, 2] + plan[-2, 2]) / 2)


def test_a_plan_that_waits_has_a_path_without_the_wait_and_one_that_stands_looks_ahead():
    waits = np.array([[0.0, 0.0, 0], [0.04, 0, 0], [1.0, 0, 0], [1.02, 0.01, 0], [1.0, 1.0, 0]])
    path = path_of_plan(waits)
    assert path.xy.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert path.s.tolist() == [0, 1, 2]
    assert path.heading == pytest.approx([0, math.pi / 4, math.pi / 2])
    x, y, heading = path_of_plan(np.zeros((24, 3))).at(30.0, 2.0)
    assert (float(x), float(y), float(heading)) == (30.0, 2.0, 0.0)
    assert path_of_plan([[0.05, 0.0, 0.0]]).length_m == 0.05


def test_travelled_is_the_length_of_the_line_up_to_each_waypoint():
    plan = arc(GRID, 8.0, 0.2)
    expected = [shapely.LineString([(0, 0), *plan[:k, :2]]).length for k in range(1, 25)]
    assert travelled(plan) == pytest.approx([0.0, *expected])
    assert travelled([[3.0, 4.0]]).tolist() == [0.0, 5.0]


# --- motions --------------------------------------------------------------------------------------------


def test_between_samples_a_straight_motion_is_scipys_pchip():
    t, x = np.array([0.0, 0.4, 1.0, 1.5, 3.0]), np.array([0.0, 1.0, 5.0, 5.5, 14.0])
    at = np.linspace(0, 3, 61)
    found = frames.interpolate(t, np.column_stack([x, 0 * x, 0 * x]), at)
    np.testing.assert_allclose(found[:, 0], PchipInterpolator(t, x)(at), atol=1e-9)
    np.testing.assert_allclose(found[:, 1:], 0, atol=1e-12)


def test_before_and_after_its_samples_a_motion_keeps_the_mean_speed_of_its_ends():
    t, x = [0.0, 1.0, 2.0], [0.0, 4.0, 10.0]
    found = frames.interpolate(t, [(v, 0, 0) for v in x], [-0.5, 2.5, 4.0])
    assert found[:, 0] == pytest.approx([-2.0, 13.0, 22.0])


def test_two_samples_are_joined_at_even_speed_and_one_stands_still():
    found = frames.interpolate([0.0, 2.0], [(0, 0, 0), (4, 0, 0)], [0.5, 1.0])
    assert found[:, 0] == pytest.approx([1.0, 2.0])
    still = frames.interpolate([1.0], [(3, 2, 0.1)], [0.0, 5.0])
    assert still.tolist() == [[3, 2, 0.1]] * 2


def test_a_motion_that_stands_between_two_drives_stands():
    poses = [(0, 0, 0), (2, 0, 0), (2, 0, 0), (5, 0, 0)]
    found = frames.interpolate([0, 1, 2, 3], poses, [1.0, 1.3, 1.9])
    assert found[:, 0] == pytest.approx([2, 2, 2])


@pytest.mark.parametrize("sign", [1, -1])
def test_angles_that_wrap_are_the_short_way_round(sign):
    found = frames.interpolate([0.0, 1.0], [(0, 0, sign * 3.1), (-1, 0, -sign * 3.1)], [0.5])[0]
    assert abs(found[2]) == pytest.approx(math.pi, abs=1e-9)
    assert found[0] == pytest.approx(-0.5, abs=0.02)


@pytest.mark.parametrize(("t", "fine"), [(-2.5, True), (-2.51, False), (0.5, True), (0.51, False)])
def test_a_motion_answers_half_a_second_outside_its_samples(t, fine):
    motion = arc_motion(np.arange(-8, 1) * 0.25, 8.0, 0.01)
    if fine:
        expected = arc_motion([t], 8.0, 0.01).poses[0]
        np.testing.assert_allclose(frames.pose_at(motion, t), expected, atol=1e-9)
    else:
        with pytest.raises(InputError, match="give a longer history or future, or leave out the frame"):
            frames.pose_at(motion, t)


def test_the_whole_motion_is_history_then_future():
    both = scene(8.0, 0.01)
    found = frames.whole_motion(both)
    assert found.t == (*both.history.t, *both.future.t)
    assert found.poses == (*both.history.poses, *both.future.poses)
    assert found.v == (*both.history.v, *both.future.v)
    alone = scene(8.0, 0.01, with_future=False)
    assert frames.whole_motion(alone) == alone.history


def test_points_in_a_turned_frame_by_hand():
    """At (10, 5), turned a quarter left: ahead is +y, left is -x."""
    pose = (10.0, 5.0, math.pi / 2)
    assert frames.compose(pose, (2, 1, 0.1)) == pytest.approx([9, 7, math.pi / 2 + 0.1])
    assert frames.relative(pose, (9, 7, 2.0)) == pytest.approx([2, 1, 2.0 - math.pi / 2])


# --- plans on the grid ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("off", "fine"), [(0.49, True), (-0.49, True), (0.51, False), (-0.51, False)])
def test_a_plan_starts_within_half_a_metre_of_the_origin(off, fine):
    plan = np.array([[0.0, off, 0.0], [20, 0, 0], [60, 0, 0]])
    if fine:
        assert resample([0, 2, 6], plan)[0] == pytest.approx(resample([2, 6], plan[1:])[0]), (
            "the origin itself counts"
        )
    else:
        with pytest.raises(InputError, match="give waypoints in the ego frame at t0"):
            resample([0, 2, 6], plan)


@pytest.mark.parametrize(("last", "fine"), [(4.0, True), (3.99, False)])
def test_at_most_two_seconds_are_filled_in(last, fine):
    t = np.array([2.0, last])
    plan = np.column_stack([5 * t, 0 * t, 0 * t])
    if fine:
        np.testing.assert_allclose(resample(t, plan)[:, 0], 5 * GRID, atol=1e-9)
    else:
        with pytest.raises(InputError, match="let the planner plan further"):
            resample(t, plan)
    assert resample([1.0, 2.0], [(1, 0, 0), (2, 0, 0)], dt=0.5, n=5, max_extension_s=0.5).shape == (5, 3)


def test_a_short_plan_goes_on_with_the_twist_of_its_last_half_second():
    """Straight at 10 m/s, and in the last half second 4 m/s on a left bend."""
    t = 0.25 * np.arange(1, 17)
    poses = np.column_stack([10 * t, 0 * t, 0 * t])
    poses[t > 3.5] = arc([0.25, 0.5], 4.0, 0.2) + np.array([35.0, 0, 0])
    found = resample(t, poses)
    np.testing.assert_allclose(found[-1], arc([2.5], 4.0, 0.2)[0] + np.array([35.0, 0, 0]), atol=1e-9)


@pytest.mark.parametrize(
    ("t", "poses", "says"),
    [
        ([1, 6], np.zeros((2, 4)), r"found \(2,\) and \(2, 4\)"),
        ([1, 6], np.zeros(2), "expected times"),
        ([], np.zeros((0, 3)), "expected times"),
        ([[1, 6]], np.zeros((2, 3)), "expected times"),
        ([-1, 6], np.zeros((2, 3)), "from t >= 0"),
        ([1, np.inf], np.zeros((2, 3)), "waypoint 1 is not finite: t = inf"),
        ([3, 2, 6], np.zeros((3, 3)), "sort them and drop repeats"),
    ],
)
def test_what_is_no_plan_is_named(t, poses, says):
    with pytest.raises(InputError, match=says):
        resample(t, poses)


def test_headings_hold_while_it_stands_and_are_exact_on_even_arcs():
    circle = np.vstack([[0, 0], arc(GRID, 6.0, 0.3)[:, :2]])
    np.testing.assert_allclose(headings(circle), 0.3 * np.array([0, *GRID]), atol=1e-9)
    waits = [(0, 0), (0, 0), (1, 1), (1, 1.0005), (1, 1.0005), (1, 2)]
    assert headings(waits) == pytest.approx(
        [0, math.pi / 8, math.pi / 4, math.pi / 4, 3 * math.pi / 8, 5 * math.pi / 8]
    )
    assert headings([(0, 0), (1, 1)]) == pytest.approx([0, math.pi / 2]), (
        "an arc from heading 0 through its chord"
    )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_speeds_of_the_shortest_plans(n):
    plan = [(2.0 * (i + 1), 0.0, 0.0) for i in range(n)]
    assert speeds(plan, dt=0.5) == pytest.approx([4.0] * (n + 1))


def test_speed_is_along_the_way_and_never_negative():
    assert speeds(arc(GRID, 6.0, 0.3)) == pytest.approx([6.0 * np.sinc(0.3 * 0.125 / np.pi)] * 25)
    stop = np.column_stack([np.minimum(8.0 * GRID, 4.0), 0 * GRID, 0 * GRID])
    assert speeds(stop).min() == 0.0


def test_deltas_of_a_swerve_by_hand():
    original, modified = arc(GRID, 10.0, 0.0), arc(GRID, 10.0, 0.0)
    modified[:, 0] *= 0.7
    modified[:, 1] = 0.5 * GRID
    found = deltas(original, modified)
    change = 3.6 * (math.hypot(7.0, 0.5) - 10.0)
    for k, row in enumerate(found, 1):
        assert tuple(row) == pytest.approx((k, -3.0 * k, 0.5 * k, change))
    coarse = deltas(original[1::2], modified[1::2], dt=0.5)
    assert [tuple(a) for a in coarse] == [pytest.approx(tuple(b)) for b in found]
    cut = deltas(original, modified[:20])
    assert [tuple(a) for a in cut] == [pytest.approx(tuple(b)) for b in found[:5]], (
        "as far as the shorter plan goes"
    )
