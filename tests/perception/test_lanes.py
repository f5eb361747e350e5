"""Lanes of drawn roads: lines, lanes to change to, roads that join; the truth is what was drawn, in metres."""

import numpy as np
import pytest

from cfgen.geometry.camera import ground_points
from cfgen.geometry.path import EgoPath
from cfgen.hazards.placement import missing_road
from cfgen.hazards.zones import Lanes, poses_to_try
from cfgen.perception.lanes import LanesSeen
from cfgen.perception.view import SceneView
from tests.hazards import drawn
from tests.hazards.test_placement import TAXONOMY


def lanes_of(road, lines=()):
    """``road``: (x, y) -> bool of ground points in metres; ``lines``: where painted lines are, m to the left."""
    camera = drawn.CAMERA
    u, v = np.meshgrid(np.arange(0, camera.width, 2) + 0.5, np.arange(0, camera.height, 2) + 0.5)
    xy, valid = ground_points(camera, np.column_stack([u.ravel(), v.ravel()]))
    x, y = np.where(valid[:, None], xy, 1e9).T
    near = valid & (x < 90)
    surface = (near & road(x, y)).reshape(u.shape)
    painted = (near & np.any([np.abs(y - line) < 0.1 for line in lines] or [x < -1e12], 0)).reshape(u.shape)
    view = SceneView(surface | painted, painted, (camera.width, camera.height), None, {"name": "drawn"})
    return LanesSeen.of(view, camera, EgoPath.from_scene(drawn.scene()))


def between(low, high):
    return lambda x, y: (y > low) & (y < high)


@pytest.mark.parametrize(("left", "right"), [(1.75, -1.75), (2.3, -1.2), (1.4, -2.0)])
def test_the_lines_of_the_own_lane_are_found_to_a_hand(left, right):
    seen = lanes_of(between(right - 3.5, left + 3.5), (left, right, left + 3.5, right - 3.5))
    assert seen.left == pytest.approx(left, abs=0.15)
    assert seen.right == pytest.approx(right, abs=0.15)
    assert seen.width_m == pytest.approx(left - right, abs=0.3)
    lanes = Lanes.of(drawn.scene(), seen)
    assert lanes.middle == pytest.approx((left + right) / 2, abs=0.15)


def test_a_lane_too_wide_or_too_narrow_is_none():
    for left, right in ((0.9, -0.8), (3.3, -3.2)):
        assert lanes_of(between(-9, 9), (left, right)).width_m is None


@pytest.mark.parametrize(
    ("low", "high", "sides"),
    [(-1.75, 1.75, ()), (-5.25, 1.75, (-1,)), (-1.75, 5.25, (1,)), (-5.25, 5.25, (-1, 1))],
)
def test_lanes_to_change_to_are_road_beyond_the_line(low, high, sides):
    seen = lanes_of(between(low, high), (1.75, -1.75))
    assert Lanes.of(drawn.scene(), seen).open == sides


def test_vans_cut_in_only_from_a_lane_that_is_there():
    van = TAXONOMY.get("van_cut_in")
    for low, high, signs in ((-1.75, 1.75, set()), (-5.25, 1.75, {-1.0}), (-1.75, 5.25, {1.0})):
        lanes = Lanes.of(drawn.scene(), lanes_of(between(low, high), (1.75, -1.75)))
        poses = poses_to_try(drawn.scene(13.0), van, np.random.default_rng(0), (1.5, 6.0), lanes)
        assert {float(np.sign(p.lateral)) for p in poses} == signs


def test_contraflow_comes_in_the_own_lane():
    truck = TAXONOMY.get("truck_contraflow")
    lanes = Lanes.of(drawn.scene(), lanes_of(between(-1.75, 1.75), (1.75, -1.75)))
    poses = poses_to_try(drawn.scene(13.0), truck, np.random.default_rng(0), (1.5, 6.0), lanes)
    assert poses
    assert (
        max(abs(p.lateral) for p in poses) < 1.1
    )  # 2.57 m wide in 3.5 m: half a metre over the line at most


def test_a_road_that_joins_is_seen_and_a_straight_one_has_none():
    def joins(x, y):
        return between(-3, 3)(x, y) | ((y < 0) & (x > 16) & (x < 24))

    assert lanes_of(joins).crossing_road
    assert not lanes_of(between(-3, 3)).crossing_road
    # a lay-by is not as deep as a road
    assert not lanes_of(
        lambda x, y: between(-3, 3)(x, y) | ((y < 0) & (y > -6) & (x > 16) & (x < 24))
    ).crossing_road


def test_what_needs_a_junction_or_rails_wants_them_seen_or_told():
    plain, scene = lanes_of(between(-3, 3)), drawn.scene()
    runner, tram, cat = (TAXONOMY.get(name) for name in ("red_light_runner", "tram_crossing", "cat"))
    assert missing_road(scene, cat, plain) == ""
    assert "no crossing road" in missing_road(scene, runner, plain)
    assert "no crossing road" in missing_road(scene, runner, None)
    assert "no rails" in missing_road(scene, tram, plain)
    tagged = scene.model_copy(update={"extra": {**scene.extra, "road": ["junction", "rails"]}})
    assert missing_road(tagged, runner, plain) == missing_road(tagged, tram, plain) == ""
    seen = lanes_of(lambda x, y: between(-3, 3)(x, y) | ((y < 0) & (x > 16) & (x < 24)))
    assert missing_road(scene, runner, seen) == ""
    assert "no rails" in missing_road(scene, tram, seen)
