"""Each bound of a placement against OpenCV's projection, shapely's areas and clear ground drawn by the test."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
import pytest
import shapely
from shapely import affinity

from cfgen.hazards.placement import OFF_EDGE, FreePlacements, missing_road
from cfgen.hazards.settings import POSES
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.hazards.zones import ANYWHERE, Lanes, Pose, Poses, Response, poses_to_try
from cfgen.perception.view import SceneView
from cfgen.perception.views import SceneViews, Views
from cfgen.records import DistancePolicy, Hazard, HazardMotion, Size
from tests.hazards import drawn

WIDTH, HEIGHT = 640, 400
#: Factor on areas from 640 x 400 down to a planner's 196608 pixels.
SHRINK = 196_608 / (WIDTH * HEIGHT)
BOX = Size(length=0.6, width=0.8, height=1.2)
BAND = Response((1.5, 6.0))
LANES = Lanes(1.75, -1)


def hazard(size: Size = BOX, **more) -> Hazard:
    given = {"id": "box", "name": "box", "cluster": "FOD", "why": "in the way", "zones": ("ego_lane",)}
    return Hazard(**{**given, "size": size, **more})


def pose(s: float, lateral: float = 0.0, yaw: float = 0.0, **more) -> Pose:
    return Pose(
        **{
            "zone": "ego_lane",
            "speed": 0.0,
            "required_decel": 4.0,
            "s": s,
            "lateral": lateral,
            "yaw": yaw,
            **more,
        }
    )


def clear(free=None) -> SceneView:
    """Clear all over, or where ``free`` (H, W) says."""
    road = np.ones((HEIGHT, WIDTH), bool) if free is None else free
    return SceneView(road, np.zeros_like(road), (WIDTH, HEIGHT), None, {"name": "drawn"})


def in_picture(points) -> np.ndarray:
    """(N, 2) pixels of ego-frame points, by OpenCV."""
    transform = np.array(drawn.CAMERA.T_cam_ego)
    lens = np.array([[600.0, 0, 319.5], [0, 600.0, 180.0], [0, 0, 1]])
    rotation = cv2.Rodrigues(transform[:3, :3])[0]
    return cv2.projectPoints(np.asarray(points, float)[:, None], rotation, transform[:3, 3], lens, None)[0][
        :, 0
    ]


def outline(x: float, y: float, yaw: float, size: Size) -> shapely.Polygon:
    """What it takes up on the ground."""
    box = shapely.box(-size.length / 2, -size.width / 2, size.length / 2, size.width / 2)
    return affinity.translate(affinity.rotate(box, yaw, origin=(0, 0), use_radians=True), x, y)


def footprint(x: float, y: float, yaw: float, size: Size) -> shapely.Polygon:
    """The same in the picture."""
    ground = shapely.get_coordinates(outline(x, y, yaw, size).exterior)[:4]
    return shapely.Polygon(in_picture(np.column_stack([ground, np.zeros(4)])))


def around(x: float, y: float, yaw: float, size: Size) -> tuple[float, float, float, float]:
    """x0, y0, x1, y1 of the whole box in the picture, not clipped."""
    ground = shapely.get_coordinates(outline(x, y, yaw, size).exterior)[:4]
    corners = [(*p, z) for p in ground for z in (0.0, size.height)]
    px = in_picture(corners)
    return (*px.min(0), *px.max(0))


class Seen:
    """A perceiver that sees the same in every frame."""

    name, options, identity, uses_camera = "drawn", {}, {}, False

    def __init__(self, view, weaker=False):
        self.view, self.weaker = view, weaker

    def perceive(self, frames):
        return [self.view for _ in frames]


def free_placements(ground: SceneView, curvature=0.0, hood=float(HEIGHT), weaker=True) -> FreePlacements:
    scene = drawn.scene(13.0, curvature)
    frames = {("front", 0.0): np.full((HEIGHT, WIDTH, 3), 100, np.uint8)}
    free = FreePlacements(scene, frames, Views.of(Seen(ground, weaker)).scene(scene, frames))
    free.flat, free.hood = ground, hood
    return free


def look(p: Pose, h: Hazard | None = None, ground: SceneView | None = None, **more):
    return free_placements(ground or clear(), **more).examine(h or hazard(), p, BAND)


# --- what a placement says of itself ----------------------------------------------------------------------


@pytest.mark.parametrize(("curvature", "yaw"), [(0.0, 0.0), (0.02, 1.1), (-0.015, -2.9)])
def test_pose_and_pixels_follow_from_the_bend_and_opencv(curvature, yaw):
    walker = hazard(motion=HazardMotion(kind="crossing", speed=(1.0, 2.0)))
    found, faults = look(pose(20.0, 1.2, yaw, speed=1.5, zone="crossing"), walker, curvature=curvature)
    assert faults == []
    k = curvature or 1e-9
    heading = 20.0 * k
    x = math.sin(heading) / k - 1.2 * math.sin(heading)
    y = (1 - math.cos(heading)) / k + 1.2 * math.cos(heading)
    assert (found.x, found.y) == pytest.approx((x, y), abs=5e-3)
    turned = heading + yaw
    assert (math.cos(found.yaw), math.sin(found.yaw)) == pytest.approx(
        (math.cos(turned), math.sin(turned)), abs=1e-3
    )
    assert -math.pi < found.yaw <= math.pi
    assert (found.vx, found.vy) == pytest.approx((1.5 * math.cos(turned), 1.5 * math.sin(turned)), abs=2e-3)
    assert found.foot_px == pytest.approx(tuple(in_picture([(found.x, found.y, 0.0)])[0]), abs=1e-6)
    assert found.box_px == pytest.approx(around(found.x, found.y, found.yaw, BOX), abs=1e-6)
    assert (found.zone, found.size, found.distance_m, found.lateral_m) == ("crossing", BOX, 20.0, 1.2)
    assert found.required_decel == 4.0


@pytest.mark.parametrize(("s", "lateral"), [(-5.0, 0.0), (1.0, 0.0)])
def test_what_the_camera_cannot_see_has_no_placement(s, lateral):
    assert look(pose(s, lateral)) == (None, ["out of view"])


# --- how large it must show -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "size",
    [
        Size(length=0.3, width=0.5, height=0.5),  # the area is short first
        Size(length=0.1, width=0.3, height=3.0),  # the width is
        Size(length=0.2, width=4.0, height=0.25),  # the height is
    ],
)
def test_it_shows_at_least_90_pixels_and_5_on_its_shorter_side_at_the_planners_size(size):
    said = set()
    for s in np.arange(10.0, 90.0, 1.0):
        x0, y0, x1, y1 = around(s, 0.0, 0.0, size)
        area, side = (x1 - x0) * (y1 - y0) * SHRINK, min(x1 - x0, y1 - y0) * math.sqrt(SHRINK)
        if min(abs(area - 90.0), 20 * abs(side - 5.0)) < 0.5:
            continue  # too near the bound for its last digit to matter
        _, faults = look(pose(float(s)), hazard(size))
        assert ("too small at the planner's size" in faults) == (area < 90.0 or side < 5.0), f"at {s} m"
        said.add(bool(faults))
    assert said == {True, False}


# --- where in the frame -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "kind", "needed"),
    [
        (Size(length=1.0, width=4.0, height=1.5), "static", 0.9),
        (Size(length=1.0, width=4.2, height=1.5), "static", 0.6),
        (Size(length=1.0, width=3.0, height=1.5), "crossing", 0.6),
    ],
)
@pytest.mark.parametrize("side", [1, -1])
def test_share_of_the_box_in_the_frame(size, kind, needed, side):
    frame, said = shapely.box(0, 0, WIDTH, HEIGHT), set()
    for off in np.arange(0.0, 9.0, 0.2):
        box = shapely.box(*around(12.0, side * off, 0.0, size))
        share = box.intersection(frame).area / box.area
        if abs(share - needed) < 0.005 or share < 0.52:
            continue  # beyond the middle the foot is out of the frame as well
        moving = HazardMotion(kind=kind, speed=(0.1, 0.1))
        _, faults = look(pose(12.0, side * float(off)), hazard(size, motion=moving))
        assert ("cut off by the frame" in faults) == (share < needed), f"{off} m to the side"
        said.add(share < needed)
    assert said == {True, False}


def test_a_box_that_ends_below_the_hood_is_behind_it():
    *_, bottom = around(9.0, 0.0, 0.0, BOX)
    assert look(pose(9.0), hood=bottom + 0.01)[1] == []
    assert look(pose(9.0), hood=bottom - 0.01)[1] == ["behind the car's own hood"]


def test_the_foot_must_be_in_the_frame_too():
    """Low and near: its far end is in view, its middle on the ground no longer."""
    low = Size(length=2.0, width=0.8, height=1.4)
    crosses = hazard(low, motion=HazardMotion(kind="crossing", speed=(1.0, 1.0)))
    frame, said = shapely.box(0, 0, WIDTH, HEIGHT), set()
    for s in np.arange(4.6, 6.0, 0.07):
        box = shapely.box(*around(s, 0.0, 0.0, low))
        if box.intersection(frame).area < 0.61 * box.area:
            continue
        out = in_picture([(s, 0.0, 0.0)])[0, 1] > HEIGHT - 0.5
        assert look(pose(float(s)), crosses)[1] == ["its foot out of the frame"] * bool(out)
        said.add(bool(out))
    assert said == {True, False}


# --- on clear road ----------------------------------------------------------------------------------------


def left_of(column: float) -> np.ndarray:
    return np.repeat((np.arange(WIDTH) < column)[None], HEIGHT, axis=0)


def boundary(shape: shapely.Polygon, share: float, side: int) -> float:
    """The column to whose ``side`` (-1 left, 1 right) this share of the shape lies."""
    x0, _, x1, _ = shape.bounds
    low, high = x0, x1
    for _ in range(40):
        middle = (low + high) / 2
        on_side = shapely.box(-1e4, -1e4, middle, 1e4).intersection(shape).area / shape.area
        if (on_side if side < 0 else 1 - on_side) < share:
            low, high = (middle, high) if side < 0 else (low, middle)
        else:
            low, high = (low, middle) if side < 0 else (middle, high)
    return (low + high) / 2


@pytest.mark.parametrize("side", [-1, 1])
def test_share_of_the_footprint_on_clear_road(side):
    """Seen by columns, of which a cell is 10% of it."""
    small = Size(length=0.5, width=2.5, height=1.0)
    shape = footprint(10.0, 0.0, 0.0, small)
    for share, fine in ((0.76, False), (1.0, True)):
        free = left_of(boundary(shape, share, side))
        free = free if side < 0 else ~left_of(boundary(shape, share, side))
        _, faults = look(pose(10.0), hazard(small), clear(free))
        assert ("not on clear road" not in faults) == fine


@pytest.mark.parametrize(("edge", "stands"), [(3.2, True), (2.0, False)])
def test_what_is_harmless_stands_on_a_metre_of_verge_and_no_farther(edge, stands):
    """It takes up 3.5 to 4.5 m."""
    dustbin = hazard(Size(length=1.0, width=1.0, height=1.0), kind="nuisance", zones=("shoulder",))
    _, faults = look(pose(15.0, 4.0, zone="shoulder"), dustbin, clear(drawn.on_ground()[1] < edge))
    assert ("not on clear road" not in faults) == stands


@dataclass
class Wide:
    """A wide hazard of which a strip at one end, as a share of its length across the view, is not clear."""

    yaw: float
    size: Size

    def fault_with(self, strip: float, side: int) -> bool:
        shape = footprint(14.0, 0.0, self.yaw, self.size)
        x0, _, x1, _ = shape.bounds
        column = x0 + strip * (x1 - x0) if side < 0 else x1 - strip * (x1 - x0)
        free = ~left_of(column) if side < 0 else left_of(column)
        moving = HazardMotion(kind="crossing", speed=(5.0, 5.0))
        _, faults = look(pose(14.0, 0.0, self.yaw, speed=5.0), hazard(self.size, motion=moving), clear(free))
        return "not on clear road" in faults


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize(
    "wide",
    [
        Wide(0.0, Size(length=0.5, width=5.0, height=1.5)),
        Wide(math.pi / 2, Size(length=5.0, width=0.5, height=1.5)),
    ],
)
def test_either_end_of_a_wide_one_may_lack_a_little(wide, side):
    """Of an end, two sevenths of the whole, 63% must be clear."""
    assert not wide.fault_with(0.0, side)
    assert not wide.fault_with(0.05, side)
    assert wide.fault_with(0.10, side)
    assert wide.fault_with(0.2, side)


# --- beside the road --------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(("far_edge", "in_a_lane"), [(5.6, True), (3.4, False)])
def test_clear_road_from_0_4_to_2_6_m_beyond_it_says_that_it_stands_in_a_lane(side, far_edge, in_a_lane):
    """Its far side is at 2.4 + 0.4 m; the strip beyond it reaches from 3.2 to 5.4 m."""
    lateral = drawn.on_ground()[1] * side
    free = lateral < far_edge
    dustbin = hazard(kind="nuisance", zones=("shoulder",))
    _, faults = look(pose(15.0, side * 2.4, zone="shoulder"), dustbin, clear(free))
    assert ("in another lane, not beside the road" in faults) == in_a_lane
    other = hazard(zones=("shoulder",))
    assert (
        "in another lane, not beside the road"
        not in look(pose(15.0, side * 2.4, zone="shoulder"), other, clear(free))[1]
    )


@pytest.mark.parametrize("kerb", [1, -1])
def test_what_is_harmless_is_tried_off_both_lanes_where_they_are_seen_and_off_the_own_one_elsewhere(kerb):
    """A lane is 3.5 m wide, the dustbin 1.4 m at most across: nothing of it may be nearer than the lanes' edges."""
    dustbin = hazard(Size(length=1.0, width=1.0, height=1.0), kind="nuisance", zones=("shoulder",))
    for seen, verge in ((None, False), (None, True), ((), False)):
        lanes = Lanes(1.75, kerb, 0.0, seen, far_side=verge)
        poses = poses_to_try(drawn.scene(), dustbin, np.random.default_rng(1), ANYWHERE, lanes)
        beside = np.array([p.lateral * kerb for p in poses])
        ours, across = beside[beside > 0], -beside[beside < 0]
        assert len(ours) > 10
        assert 1.75 + 0.5 < ours.min() < ours.max() < 1.75 + 2 * 0.71 + POSES.farthest_beside_m
        assert (len(across) > 5) == (seen is not None or verge)
        assert all(side > 5.25 + 0.5 for side in across), "beyond the oncoming lane"


@pytest.mark.parametrize(("edge", "stands"), [(1.9, True), (3.2, False)])
def test_what_is_harmless_stands_on_no_road_that_somebody_sees(monkeypatch, edge, stands):
    """It takes up 1.9 to 2.9 m: nothing of it is on a road that ends at 1.9 m, all on one that ends at 3.2 m."""
    lateral = drawn.on_ground()[1]
    monkeypatch.setattr(SceneViews, "likely", clear(lateral < edge))
    monkeypatch.setattr(SceneViews, "lanes_known", False)
    dustbin = hazard(Size(length=1.0, width=1.0, height=1.0), kind="nuisance", zones=("shoulder",))
    _, faults = look(pose(15.0, 2.4, zone="shoulder"), dustbin, clear(lateral < 3.0))
    assert ("in another lane, not beside the road" not in faults) == stands


# --- how hard to brake ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decel", "said"),
    [
        (1.4, "too far to need a response: 1.4 m/s² where 1.5 to 6 are allowed"),
        (1.5, ""),
        (6.0, ""),
        (6.1, "too hard to stop for: 6.1 m/s² where 1.5 to 6 are allowed"),
    ],
)
def test_a_chosen_place_must_ask_for_a_deceleration_within_the_band(decel, said):
    assert look(pose(20.0, required_decel=decel))[1] == [said] * bool(said)
    own = hazard(distance=DistancePolicy(decel=(2.0, 2.5)))
    assert look(pose(20.0, required_decel=2.25), own)[1] == []
    assert "where 2 to 2.5 are allowed" in look(pose(20.0, required_decel=4.0), own)[1][0]


# --- what parks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("edge", "stands"), [(3.2, True), (4.1, True), (4.9, False), (9.0, False)])
def test_what_parks_stands_near_the_edge_of_the_road_on_the_kerbs_side(edge, stands):
    """Its outer side is 3.0 m to the right; of the 0.5 to 2.5 m beyond, half may be road: up to 4.5 m."""
    lateral = drawn.on_ground()[1]
    car = hazard(Size(length=4.5, width=2.0, height=1.5), zones=("adjacent",))
    _, faults = look(pose(16.0, -2.0, zone="adjacent"), car, clear(lateral > -edge))
    assert (OFF_EDGE not in faults) == stands
    both = clear((lateral > -edge) & (lateral < 2.0))
    assert (OFF_EDGE not in look(pose(16.0, -2.0, zone="adjacent"), car, both)[1]) == stands
    moving = hazard(car.size, zones=("adjacent",), motion=HazardMotion(kind="along", speed=(2.0, 2.0)))
    assert OFF_EDGE not in look(pose(16.0, -2.0, zone="adjacent"), moving, clear(lateral > -edge))[1]


@pytest.mark.parametrize(("dashed", "runs"), [((-1,), True), ((1,), False), ((), False)])
def test_nobody_parks_over_a_dashed_line(dashed, runs):
    """Traffic keeps right here: beyond dashes on that side is a lane."""
    car = hazard(Size(length=4.5, width=2.0, height=1.5), zones=("adjacent",))
    free = free_placements(clear(drawn.on_ground()[1] > -3.2))
    free.lanes = Lanes(1.75, -1, dashed=dashed)
    checked = free.check(Poses.single(car, [pose(16.0, -2.0, zone="adjacent")]))
    assert (checked.fault[0] == OFF_EDGE) == runs


@pytest.mark.parametrize("kerb", [1, -1])
def test_what_parks_is_tried_at_the_edge_that_is_seen(kerb):
    """At most half a metre off it; a road so wide that it would not reach into the lane is no place for it there."""
    car = hazard(Size(length=4.5, width=2.0, height=1.5), zones=("adjacent",), heading="along")
    poses = poses_to_try(
        drawn.scene(), car, np.random.default_rng(1), BAND, Lanes(1.75, kerb, edge=kerb * 2.9)
    )
    assert len(poses) > 10
    for p in poses:
        corners = shapely.get_coordinates(outline(0.0, p.lateral, p.yaw, car.size))
        assert 2.9 - 0.5 - 1e-6 <= (kerb * corners[:, 1]).max() <= 2.9 + 1e-6
    wide = poses_to_try(drawn.scene(), car, np.random.default_rng(1), BAND, Lanes(1.75, kerb, edge=kerb * 9))
    assert max(kerb * p.lateral for p in wide) < 1.75 + 2.0


def test_nobody_parks_and_no_child_plays_on_a_motorway():
    taxonomy = load_taxonomy()
    town, fast = drawn.scene(13.0), drawn.scene(26.0)
    told = town.model_copy(update={"extra": {"road": ["motorway"]}})
    for name in ("door_open", "child_behind_car", "child_running", "parking_cut_in"):
        assert missing_road(town, taxonomy.get(name), LANES) == ""
        assert "motorway" in missing_road(fast, taxonomy.get(name), LANES)
        assert "motorway" in missing_road(told, taxonomy.get(name), LANES)
    assert missing_road(fast, taxonomy.get("car_stopped"), LANES) == ""
