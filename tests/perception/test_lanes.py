"""Lanes of drawn roads: lines, lanes to change to, roads that join; the truth is what was drawn, in metres."""

import numpy as np
import pytest

from cfgen.geometry.camera import as_matrix, centre, ground_points, rotation
from cfgen.geometry.path import EgoPath
from cfgen.hazards.placement import BENDS_AWAY, HILL, level_to_m, limits, missing_road
from cfgen.hazards.zones import Lanes, Response, poses_to_try
from cfgen.perception.lanes import LanesSeen
from cfgen.perception.networks import TwinLiteNet
from cfgen.perception.view import SceneView
from cfgen.scenes.folder import load_scene
from tests.hazards import drawn
from tests.hazards.test_placement import TAXONOMY
from tests.perception.seeing import view_of


def lanes_of(road, lines=()):
    """``road``: (x, y) -> bool of ground points in metres; ``lines``: where painted lines are, m to the left,
    or that by x."""
    camera = drawn.CAMERA
    u, v = np.meshgrid(np.arange(0, camera.width, 2) + 0.5, np.arange(0, camera.height, 2) + 0.5)
    xy, valid = ground_points(camera, np.column_stack([u.ravel(), v.ravel()]))
    x, y = np.where(valid[:, None], xy, 1e9).T
    near = valid & (x < 90)
    surface = (near & road(x, y)).reshape(u.shape)
    at = [line(x) if callable(line) else line for line in lines]
    painted = (near & np.any([np.abs(y - line) < 0.1 for line in at] or [x < -1e12], 0)).reshape(u.shape)
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


def test_a_guessed_way_ends_where_the_lines_leave_it():
    """Both bend off by 0.5 m at 10 m: what stands farther on may stand in another lane. A known motion tells."""
    seen = lanes_of(between(-9, 9), (lambda x: 1.75 - x**2 / 150, lambda x: -1.75 - x**2 / 150))
    guessed = drawn.scene().model_copy(update={"motion_known": False})
    assert seen.bends_at == pytest.approx(10.0, abs=0.8)
    far = {reason: far for far, reason in limits(guessed, seen)}
    assert 9.0 < far[BENDS_AWAY] < 30.0
    assert {far for far, _ in limits(drawn.scene(), seen)} == {np.inf}
    assert lanes_of(between(-6, 6), (1.75, -1.75)).bends_at is None
    assert lanes_of(between(-6, 6), (lambda x: 0.4 * x - 6,)).bends_at is None, "it runs across"


@pytest.mark.parametrize("radius", [800.0, -800.0, 5000.0])
def test_a_road_that_curves_up_or_down_is_level_to_where_the_plane_is_off_by_a_share(radius):
    """A camera that stood s^2 / 2R higher s metres before: as far on that is 0.3 of 1.5 m, 26.8 m at R = 800 m."""
    scene = drawn.scene(10.0)
    rot, eye = rotation(scene.front), centre(scene.front)
    seen = {
        t: scene.front.model_copy(
            update={"T_cam_ego": as_matrix(rot, -rot @ (eye + np.array([0, 0, (10 * t) ** 2 / 2 / radius])))}
        )
        for t in scene.history.t
    }
    hill = scene.model_copy(update={"seen_cameras": seen})
    far = (2 * 0.3 * 1.5 * abs(radius)) ** 0.5
    assert level_to_m(hill) == pytest.approx(far, rel=0.01)
    assert limits(hill, None)[0] == (level_to_m(hill), HILL)
    assert level_to_m(scene) == np.inf


def test_a_line_is_where_it_is_seen():
    seen = lanes_of(between(-6, 6), (lambda x: 1.75 + 0.04 * x, -1.75))
    assert seen.line_at(1, 15.0) == pytest.approx(2.35, abs=0.15)
    assert seen.line_at(1, 200.0) == seen.left
    assert lanes_of(between(-6, 6), (1.75,)).line_at(-1, 20.0) is None


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


def test_dashes_are_one_line_and_a_line_across_is_none():
    """6 m of paint every 12 m to the left; a stop line at 15 m reaches over the lane."""
    camera = drawn.CAMERA
    v, u = np.mgrid[: camera.height, : camera.width]
    xy, _ = ground_points(camera, np.column_stack([u.ravel(), v.ravel()]))
    x, y = np.nan_to_num(xy).T.reshape(2, camera.height, camera.width)
    near = (x > 4) & (x < 60)
    dashes = near & (np.abs(y - 1.8) < 0.12) & (x % 12 < 6)
    line = near & (np.abs(y + 1.7) < 0.12)
    across = near & (np.abs(x - 15) < 0.3) & (np.abs(y) < 1.5)
    road = near & (np.abs(y) < 6)
    view = SceneView(road, dashes | line | across, (camera.width, camera.height), None, {"name": "drawn"})
    seen = LanesSeen.of(view, camera, EgoPath.from_scene(drawn.scene()))
    assert (seen.left, seen.right) == (pytest.approx(1.8, abs=0.1), pytest.approx(-1.7, abs=0.1))


def test_nothing_comes_beside_a_line_that_nobody_sees():
    """Contraflow crosses the line to the left of right-hand traffic, a van the line of the lane that it leaves."""
    scene, truck, bicycle = (
        drawn.scene(13.0),
        TAXONOMY.get("truck_contraflow"),
        TAXONOMY.get("cyclist_contraflow"),
    )
    van, road = TAXONOMY.get("van_cut_in"), between(-5.25, 5.25)
    for lines, comes in (((1.75, -1.75), True), ((1.75,), True), ((-1.75,), False), ((), False)):
        lanes = Lanes.of(scene, lanes_of(road, lines))
        assert (lanes.missing(truck) == "") == comes, lines
        poses = poses_to_try(scene, bicycle, np.random.default_rng(0), Response((1.5, 6.0)), lanes)
        assert {p.zone for p in poses} == ({"ego_lane", "oncoming"} if comes else {"ego_lane"})
        assert lanes.open == tuple(side for side in (-1, 1) if side * 1.75 in lines)
        assert (lanes.missing(van) == "") == bool(lines)
    left = scene.model_copy(update={"extra": {"drive_on": "left"}})
    assert Lanes.of(left, lanes_of(road, (-1.75,))).missing(truck) == ""
    assert Lanes.of(scene).missing(truck) == Lanes.of(scene).missing(van) == "", (
        "colours tell nothing of lines"
    )


def test_vans_cut_in_only_from_a_lane_that_is_there():
    van = TAXONOMY.get("van_cut_in")
    for low, high, signs in ((-1.75, 1.75, set()), (-5.25, 1.75, {-1.0}), (-1.75, 5.25, {1.0})):
        lanes = Lanes.of(drawn.scene(), lanes_of(between(low, high), (1.75, -1.75)))
        poses = poses_to_try(drawn.scene(13.0), van, np.random.default_rng(0), Response((1.5, 6.0)), lanes)
        assert {float(np.sign(p.lateral)) for p in poses} == signs


def test_contraflow_comes_in_the_own_lane():
    truck = TAXONOMY.get("truck_contraflow")
    lanes = Lanes.of(drawn.scene(), lanes_of(between(-1.75, 1.75), (1.75, -1.75)))
    poses = poses_to_try(drawn.scene(13.0), truck, np.random.default_rng(0), Response((1.5, 6.0)), lanes)
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


def test_where_the_road_ends_on_either_side():
    seen = lanes_of(between(-3, 4))
    assert (seen.edge(-1), seen.edge(1)) == (pytest.approx(-3, abs=0.2), pytest.approx(4, abs=0.2))
    assert lanes_of(between(-30, 30)).edge(1) is None
    assert Lanes.of(drawn.scene(), seen).edge == seen.edge(-1), "traffic keeps to the right"


def test_what_needs_a_junction_or_rails_wants_them_seen_or_told():
    scene = drawn.scene()
    plain = Lanes.of(scene, lanes_of(between(-3, 3)))
    runner, tram, cat = (TAXONOMY.get(name) for name in ("red_light_runner", "tram_crossing", "cat"))
    assert missing_road(scene, cat, plain) == ""
    assert "no crossing road" in missing_road(scene, runner, plain)
    assert "no crossing road" in missing_road(scene, runner, Lanes.of(scene))
    assert "no rails" in missing_road(scene, tram, plain)
    tagged = scene.model_copy(update={"extra": {**scene.extra, "road": ["junction", "rails"]}})
    assert missing_road(tagged, runner, plain) == missing_road(tagged, tram, plain) == ""
    joins = lanes_of(lambda x, y: between(-3, 3)(x, y) | ((y < 0) & (x > 16) & (x < 24)))
    seen = Lanes.of(scene, joins)
    assert missing_road(scene, runner, seen) == ""
    assert "no rails" in missing_road(scene, tram, seen)


def test_lanes_are_changed_over_a_line_that_is_seen_dashed_only_and_a_narrow_strip_is_no_lane():
    """Networks fill the gaps of dashes: both lines are whole in the view, and dashed to the left in the picture."""
    camera = drawn.CAMERA
    v, u = np.mgrid[: camera.height, : camera.width]
    xy, _ = ground_points(camera, np.column_stack([u.ravel(), v.ravel()]))
    x, y = np.nan_to_num(xy).T.reshape(2, camera.height, camera.width)
    near = (x > 3) & (x < 60)
    left, right = (near & (np.abs(y - line) < 0.12) for line in (1.8, -1.8))
    image = np.full((camera.height, camera.width, 3), 90, np.uint8)
    bare = image.copy()
    image[(left & (x % 12 < 4)) | right] = (230, 200, 80)
    path = EgoPath.from_scene(drawn.scene())
    for width, sides in ((3.5, (1,)), (2.3, ())):
        road = near & (np.abs(y) < 1.8 + width)
        view = SceneView(road, left | right, (camera.width, camera.height), None, {"name": "drawn"})
        seen = LanesSeen.of(view, camera, path, image)
        assert seen.dashed == (1,)
        assert Lanes.of(drawn.scene(), seen).open == sides
        assert LanesSeen.of(view, camera, path).dashed is None, "only a picture tells"
        unpainted = LanesSeen.of(view, camera, path, bare)
        assert Lanes.of(drawn.scene(), unpainted).open == (), "no dash is seen, whatever the view says"


def test_one_line_tells_where_the_lane_is():
    for line, middle in ((1.4, -0.35), (-2.2, -0.45), (3.1, 0.0)):  # 3.1: not of a lane 3.5 m wide
        lanes = Lanes.of(drawn.scene(), lanes_of(between(-4, 4), (line,)))
        assert lanes.middle == pytest.approx(middle, abs=0.15)


def test_a_paved_shoulder_of_a_real_freeway_is_no_lane(real, models):
    folder = load_scene(real / "udacity_lanelines" / "scenes" / "lanelines_058")
    image, scene = folder.image(), folder.scene
    view = view_of(TwinLiteNet(str(models / "twinlitenet.onnx")), image)
    seen = LanesSeen.of(view, scene.front, EgoPath.from_scene(scene), image)
    assert Lanes.of(scene, seen).open == (1,)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(("off", "known"), [(0.8, False), (1.7, True)])
def test_where_the_only_line_runs_under_the_car_a_still_does_not_tell_the_own_lane(side, off, known):
    """On the kerb's side it may be the road's middle, seen from the oncoming lane; a driven path tells the lane."""
    kerb = 1 if side == "left" else -1
    scene = drawn.scene().model_copy(update={"extra": {"drive_on": side}, "motion_known": False})
    seen = lanes_of(between(-6, 6), (kerb * off,))
    boxes = TAXONOMY.get("lumber")
    assert ("runs under the car" not in Lanes.of(scene, seen).missing(boxes)) == known
    driven = scene.model_copy(update={"motion_known": True})
    assert Lanes.of(driven, seen).missing(boxes) == ""
