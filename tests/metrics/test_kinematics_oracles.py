"""Encounters against shapely's polygons, a simulation and closed forms, on plans that turn."""

import math

import numpy as np
import pytest
import shapely
from shapely import affinity

from cfgen.metrics.kinematics import displacement_errors, encounter, reached_after_s, responds
from cfgen.records import Motion, Placement, Size

T = 0.25 * np.arange(25)
SIZE = Size(length=2.4, width=1.1, height=1.0)


def hazard(x: float, y: float = 0.0, yaw: float = 0.0, vx: float = 0.0, vy: float = 0.0) -> Placement:
    return Placement(
        zone="crossing", x=x, y=y, yaw=yaw, vx=vx, vy=vy, size=SIZE, distance_m=x, lateral_m=y,
        required_decel=2.75, foot_px=(0, 0), box_px=(0, 0, 1, 1),
    )  # fmt: skip


def bend(speed: float, curvature: float, t: np.ndarray = T[1:]) -> np.ndarray:
    """(24, 3): a circle through the origin at constant speed."""
    s = speed * t
    return np.column_stack(
        [np.sin(curvature * s) / curvature, (1 - np.cos(curvature * s)) / curvature, curvature * s]
    )


def along(distance) -> np.ndarray:
    """(24, 3): straight ahead, so far at each step."""
    return np.column_stack([distance, np.zeros(24), np.zeros(24)])


def ego_at(x: float, y: float, theta: float) -> shapely.Polygon:
    """The car's outline: 1.0 m behind the rear axle to 3.8 m ahead of it, 1.9 m wide."""
    turned = affinity.rotate(shapely.box(-1.0, -0.95, 3.8, 0.95), theta, origin=(0, 0), use_radians=True)
    return affinity.translate(turned, x, y)


def hazard_at(placement: Placement, t: float) -> shapely.Polygon:
    length, width = placement.size.length, placement.size.width
    box = shapely.box(-length / 2, -width / 2, length / 2, width / 2)
    turned = affinity.rotate(box, placement.yaw, origin=(0, 0), use_radians=True)
    return affinity.translate(turned, placement.x + placement.vx * t, placement.y + placement.vy * t)


def in_ego_axes(shape: shapely.Polygon, pose) -> shapely.Polygon:
    x, y, theta = pose
    return affinity.rotate(affinity.translate(shape, -x, -y), -theta, origin=(0, 0), use_radians=True)


DENSE = np.linspace(0, 6, 241)


def cases() -> list[tuple[np.ndarray, np.ndarray, Placement]]:
    """A plan, its poses at the times of DENSE, and a hazard near it."""
    rng = np.random.default_rng(15)
    found = []
    for i in range(40):
        way = rng.uniform(3, 14), rng.choice([-1, 1]) * rng.uniform(0.005, 0.06)
        plan = bend(*way)
        x, y, theta = plan[rng.integers(8, 22)]
        off = rng.uniform(-5, 5)
        vx, vy = rng.uniform(-2, 2, 2) * (i % 3 > 0)
        placement = hazard(x - off * math.sin(theta), y + off * math.cos(theta), rng.uniform(-3, 3), vx, vy)
        found.append((plan, bend(*way, DENSE), placement))
    return found


def test_gaps_are_shapelys_along_plans_that_turn():
    """At 241 times; what lies between two of them is a little nearer, never farther."""
    touched = 0
    for plan, poses, placement in cases():
        ego = np.array([ego_at(*pose) for pose in poses])
        gaps = shapely.distance(ego, [hazard_at(placement, t) for t in DENSE])
        found = encounter(plan, placement)
        assert gaps.min() - 0.03 < found.min_gap_m < gaps.min() + 0.003
        assert found.collides or gaps.min() > 0
        touched += found.collides
    assert 7 < touched < 33, "both kinds must be among the cases"


def test_a_thing_of_half_a_metre_is_not_missed_between_two_waypoints_at_108_km_h():
    """The car is over it for (4.8 + 0.5) / 30 = 0.18 s: samples 0.25 s apart miss it in 29 of 100."""
    plan, small = along(30.0 * T[1:]), Size(length=0.5, width=0.5, height=0.5)
    places = [hazard(x).model_copy(update={"size": small}) for x in np.arange(60.0, 67.5, 0.25)]
    missed_by_samples = np.mean([not any(-1.25 < p.x - 30 * t < 4.05 for t in T) for p in places])
    assert missed_by_samples == pytest.approx(0.293, abs=0.04)
    assert all(encounter(plan, p).collides for p in places)
    beside = [p.model_copy(update={"y": 0.95 + 0.25 + 0.02}) for p in places]
    assert [encounter(plan, p).min_gap_m for p in beside] == pytest.approx([0.02] * len(places), abs=1e-6)


@pytest.mark.parametrize(
    ("start", "touches"), [(-19.9, True), (-17.0, True), (-14.5, True), (-20.0, False), (-14.3, False)]
)
def test_what_crosses_fast_is_met_between_samples(start, touches):
    """A ball, say, of 0.5 m at 12 m/s across the way of a car at 20 m/s that passes it within 0.27 s: by hand.

    The car covers x in [20 t - 1, 20 t + 3.8], the thing x in [29.75, 30.25]: together from 1.2975 s to 1.5625 s. The
    thing is within the car's sides, y in [-1.2, 1.2], when start + 12 t is.
    """
    ball = hazard(30, start, 0, 0, 12.0).model_copy(update={"size": Size(length=0.5, width=0.5, height=0.5)})
    enters, leaves = (-1.2 - start) / 12, (1.2 - start) / 12
    assert touches == (enters < 1.5625 and leaves > 1.2975)
    assert encounter(along(20.0 * T[1:]), ball).collides is touches


def test_room_while_passing_is_shapelys():
    passed = 0
    for plan, poses, placement in cases():
        rooms = []
        for pose, t in zip(poses[::2], DENSE[::2], strict=True):  # every 0.05 s
            x0, y0, x1, y1 = in_ego_axes(hazard_at(placement, t), pose).bounds
            if x0 <= 3.8 and x1 >= -1.0:  # alongside
                rooms.append(max(y0, -y1) - 0.95)
        found = encounter(plan, placement)
        if rooms:
            assert found.lateral_clearance_m == pytest.approx(min(rooms), abs=1e-6)
        else:
            assert found.lateral_clearance_m is None
        passed += bool(rooms)
    assert passed > 13


@pytest.mark.parametrize("vx", [0.0, -6.0, 4.0])
def test_time_to_contact_is_that_of_a_simulation_on_a_straight_road(vx):
    """Both keep the velocities that they have at a step; the first touch is looked for in small steps of time."""
    plan, placement = along(9.0 * T[1:]), hazard(40, 0.3, 0.2, vx)
    later = np.arange(0, 12, 0.01)
    expected = []
    for t in T:
        box = hazard_at(placement, t)
        if box.bounds[2] < 9.0 * t - 1.0:
            continue  # left behind
        shift = ((vx - 9.0) * later)[:, None, None] * np.array([1.0, 0.0])
        moved = shapely.polygons(shapely.get_coordinates(box)[None] + shift)
        touching = shapely.intersects(ego_at(9.0 * t, 0, 0), moved)
        expected += list(later[touching][:1])
    assert encounter(plan, placement).ttc_s == pytest.approx(min(expected), abs=0.011)


@pytest.mark.parametrize("vx", [12.0, 8.95])
def test_what_draws_away_or_as_good_as_has_no_time_to_contact(vx):
    assert encounter(along(9.0 * T[1:]), hazard(40, vx=vx)).ttc_s is None


@pytest.mark.parametrize("turn", [-2.5, -math.pi / 2, 0.6, math.pi / 2, 3.0])
def test_time_to_contact_is_the_same_whichever_way_the_road_runs(turn):
    """The ego stands first, turns on the spot, then drives at a hazard that comes towards it along the new road."""
    ahead, coming = 30.0, -3.0
    distance = np.concatenate([np.zeros(8), 2.0 * np.arange(1, 17) * 0.25])  # 2 m/s from 2 s on
    c, s = math.cos(turn), math.sin(turn)
    plan = np.column_stack([distance * c, distance * s, np.full(24, turn)])
    start = ahead - coming * 6.0  # 30 m ahead of the origin after 6 s
    placement = hazard(start * c, start * s, turn, coming * c, coming * s)
    gap = ahead - distance[-1] - SIZE.length / 2 - 3.8
    assert encounter(plan, placement).ttc_s == pytest.approx(gap / (2.0 - coming), rel=0.02)


def test_a_hazard_ahead_in_the_next_lane_is_on_no_course():
    plan = along(9.0 * T[1:])
    side = 0.95 + SIZE.width / 2
    assert encounter(plan, hazard(40, side + 0.01)).ttc_s is None
    assert encounter(plan, hazard(40, side - 0.01)).ttc_s == 0, "the sides overlap by a centimetre"
    assert encounter(plan, hazard(-6)).ttc_s is None, "behind from the start"


def test_slow_approaches_count_from_a_tenth_of_a_metre_a_second():
    for closing, expected in ((0.05, None), (0.2, 40 - 1.2 - 3.8 - 0.2 * 6)):
        found = encounter(along(9.0 * T[1:]), hazard(40, vx=9.0 - closing)).ttc_s
        assert found == (expected and pytest.approx(expected / closing, rel=1e-6))


@pytest.mark.parametrize(
    ("speed", "held_back", "expected"),
    [
        # 15 m/s: nose at the near end (45 m) when the axle has gone 41.2 m; the next step is 41.25: a tenth is 4.125
        (15.0, 4.0, False),
        (15.0, 4.25, True),
        # 6 m/s: it gets 36 m in 6 s, never arrives: a tenth is 3.6
        (6.0, 3.5, False),
        (6.0, 3.7, True),
        # 2 m/s: 12 m: a tenth is 1.2, but 2 m are asked for
        (2.0, 1.9, False),
        (2.0, 2.1, True),
    ],
)
def test_held_back_means_two_metres_and_a_tenth_of_the_way(speed, held_back, expected):
    placement = hazard(45 + SIZE.length / 2)
    step = next((k for k in range(25) if 45 - 3.8 - speed * T[k] <= 0), 24)
    share = 1 - held_back / (speed * T[step])
    assert responds(along(speed * T[1:]), along(share * speed * T[1:]), placement) is expected


def test_being_held_back_is_looked_at_a_second_after_the_start_at_the_earliest():
    """The hazard is reached at 0.25 s; the modified plan stops only after that."""
    original, stops = along(12.0 * T[1:]), along(np.minimum(12.0 * T[1:], 9.5))
    assert responds(original, stops, hazard(7.5)) is True
    assert responds(original, along(np.minimum(12.0 * T[1:], 10.5)), hazard(7.5)) is False


@pytest.mark.parametrize(("more", "expected"), [(0.45, False), (0.55, True)])
def test_room_is_compared_where_each_plan_passes(more, expected):
    original = along(10.0 * T[1:])
    swerve = original.copy()
    swerve[:, 1] = -more * np.minimum(T[1:] / 2.0, 1.0)
    assert responds(original, swerve, hazard(35, 2.5)) is expected
    assert responds(original, swerve, hazard(35, 2.5).model_copy(update={"x": 500.0})) is False, "never there"


def test_one_that_never_arrives_leaves_no_more_room():
    original, slower = along(10.0 * T[1:]), along(9.7 * T[1:])
    slower[:, 1] = -3.0  # far to the side, but it does not come to where the hazard is
    placement = hazard(3.8 + 59.5 + SIZE.length / 2, 2.5)
    assert responds(original, slower, placement) is False
    slower[:, 0] *= 10 / 9.7
    assert responds(original, slower, placement) is True


@pytest.mark.parametrize(("ahead", "expected"), [(20.0, True), (20.6, True), (26.0, True)])
def test_room_is_seen_however_fast_the_car_passes(ahead, expected):
    """30 m/s past a thing of half a metre: at no waypoint is the car beside it when it stands at 20.6 m."""
    small = hazard(ahead, 1.0).model_copy(update={"size": Size(length=0.5, width=0.5, height=0.5)})
    plan = along(30.0 * T[1:])
    away = plan.copy()
    away[:, 1] = -1.0
    assert responds(plan, away, small) is expected
    assert encounter(plan, small).lateral_clearance_m == pytest.approx(1.0 - 0.25 - 0.95)


# --- plans that end early -------------------------------------------------------------------------------


def test_a_plan_is_measured_to_its_own_end():
    """Braking at 3 m/s^2 from 15 m/s: after 4 s it is 36 m on, still at 3 m/s, and stands at 37.5 m, short of 44."""
    t = np.minimum(T[1:], 5.0)
    whole = along(15.0 * t - 1.5 * t**2)
    cut, keeps = whole[:16], along(15.0 * T[1:])
    place = hazard(44 + SIZE.length / 2)
    assert encounter(whole, place).stops_short
    found = encounter(cut, place)
    assert (found.horizon_s, found.collides, found.stops_short) == (4.0, False, False)
    assert found.min_gap_m == pytest.approx(44 - 36 - 3.8, abs=0.01)
    assert responds(keeps[:16], cut, place)
    assert responds(keeps, cut, place), "as far as the shorter goes"
    assert not encounter(keeps[:10], place).collides, "37.5 m after 2.5 s, and nothing is said beyond"
    assert encounter(keeps[:11], place).collides


def test_when_a_hazard_is_reached():
    assert reached_after_s(hazard(45 + SIZE.length / 2), 15.0) == pytest.approx((45 - 3.8) / 15)
    assert reached_after_s(hazard(45 + SIZE.length / 2, vx=-5.0), 15.0) == pytest.approx((45 - 3.8) / 20)
    assert reached_after_s(hazard(45, vx=15.0), 15.0) == math.inf
    assert reached_after_s(hazard(4.0), 0.0) == 0.0


def test_errors_are_those_of_the_plans_own_horizon():
    logged = Motion(t=(2.0, 4.0), poses=((20.0, 0.0, 0.0), (40.0, 0.0, 0.0)), v=(10.0, 10.0))
    assert displacement_errors(along(9.0 * T[1:])[:16], logged) == pytest.approx((2.125, 4.0))
    assert displacement_errors(along(9.0 * T[1:]), logged) is None


# --- dynamics in closed form ----------------------------------------------------------------------------


def test_lateral_acceleration_of_a_circle():
    for speed, curvature in ((10.0, 0.03), (6.0, -0.05)):
        found = encounter(bend(speed, curvature), hazard(500))
        chord = 2 / curvature * math.sin(curvature * speed * 0.25 / 2) / 0.25  # what finite differences see
        assert found.lateral_accel == pytest.approx(abs(chord * speed * curvature), rel=1e-6)


@pytest.mark.parametrize(("speed", "curvature", "fine"), [(10.0, 0.045, True), (10.0, 0.052, False)])
def test_more_than_4_9_sideways_is_not_comfortable(speed, curvature, fine):
    assert encounter(bend(speed, curvature), hazard(500)).comfortable is fine


@pytest.mark.parametrize(("decel", "fine"), [(3.9, True), (4.1, False)])
def test_more_than_4_of_braking_is_not_comfortable(decel, fine):
    found = encounter(along(28.0 * T[1:] - decel * T[1:] ** 2 / 2), hazard(500))
    assert found.planned_decel == pytest.approx(decel, abs=1e-6)
    assert found.jerk == pytest.approx(0, abs=1e-5)
    assert found.comfortable is fine
    assert found.required_decel == 2.75, "as placed"


@pytest.mark.parametrize("jerk", [0.9, -0.5])
def test_constant_jerk_in_closed_form(jerk):
    """Away from the ends, where differences are one-sided, a cubic in time has the jerk it was made with."""
    t = T[1:]
    found = encounter(along(20.0 * t + jerk * t**3 / 6), hazard(900))
    assert found.jerk == pytest.approx(abs(jerk), rel=0.15)
    assert found.comfortable


def test_a_jolt_is_not_comfortable_though_it_brakes_for_nothing():
    v = np.where(T[1:] < 3, 10.0, 18.0)
    found = encounter(along(np.cumsum(v * 0.25)), hazard(900))
    assert found.planned_decel == pytest.approx(0, abs=0.01)
    assert found.jerk > 8.4
    assert not found.comfortable


@pytest.mark.parametrize(("last", "stops"), [(0.45, True), (0.55, False)])
def test_a_stand_is_below_half_a_metre_a_second(last, stops):
    """The plan ends at a crawl, well short of the hazard."""
    v = np.maximum(10 - 4 * T, last)
    plan = along(np.cumsum((v[1:] + v[:-1]) / 2 * 0.25))
    assert encounter(plan, hazard(40)).stops_short is stops


def test_stopping_beside_it_or_after_touching_it_is_not_stopping_short():
    t = np.minimum(T[1:], 2.5)
    stop = along(10.0 * t - 2.0 * t**2)  # stands at 12.5 m, nose at 16.3 m
    assert encounter(stop, hazard(20)).stops_short
    assert not encounter(stop, hazard(15, 3.0)).stops_short, "it stands beside it"
    assert not encounter(stop, hazard(15)).stops_short
    crossed = encounter(stop, hazard(15, -9, vy=6.0))
    assert not crossed.stops_short, "it ran into the car's side and on"


# --- errors against the log -----------------------------------------------------------------------------


def test_errors_of_another_bend_are_summed_by_hand():
    plan, other = bend(8.0, 0.02), bend(8.0, 0.025)
    logged = Motion(t=tuple(T[1:]), poses=tuple(map(tuple, other.tolist())), v=(8.0,) * 24)
    error = [math.dist(a[:2], b[:2]) for a, b in zip(plan, other, strict=True)]
    assert displacement_errors(plan, logged) == pytest.approx((sum(error) / 24, error[-1]))


def test_a_log_that_begins_late_is_filled_in_from_the_origin():
    kept = [3, *range(7, 24)]  # 1 s, then 2 s to 6 s
    line = along(7.0 * T[1:])
    logged = Motion(t=tuple(T[1:][kept]), poses=tuple(map(tuple, line[kept].tolist())), v=(7.0,) * len(kept))
    assert displacement_errors(line, logged) == pytest.approx((0.0, 0.0), abs=1e-9)
    almost = Motion(t=(3.0, 6.0 - 1e-7), poses=((21.0, 0.0, 0.0), (42.0, 0.0, 0.0)), v=(7.0, 7.0))
    assert displacement_errors(line, almost) is not None
