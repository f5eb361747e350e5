"""Encounters worked by hand: a 2 x 1 m box on the road, the ego's nose 3.8 m ahead of its origin."""

import numpy as np
import pytest

from cfgen.metrics.kinematics import displacement_errors, encounter, responds
from cfgen.records import Motion, Placement, Size
from tests.reporting.bench import T, straight


def box(x: float, y: float = 0.0, yaw: float = 0.0, vx: float = 0.0, vy: float = 0.0) -> Placement:
    return Placement(
        zone="ego_lane",
        x=x,
        y=y,
        yaw=yaw,
        vx=vx,
        vy=vy,
        size=Size(length=2, width=1, height=1),
        distance_m=x,
        lateral_m=y,
        required_decel=3.0,
        foot_px=(0, 0),
        box_px=(0, 0, 1, 1),
    )


def test_driving_into_it():
    found = encounter(straight(10), box(30))
    assert found.collides
    assert not found.stops_short
    assert found.ttc_s == 0
    assert found.lateral_clearance_m == pytest.approx(-0.95 - 0.5)
    assert found.planned_decel == pytest.approx(0, abs=1e-6)


def test_stopping_short_of_it():
    # 10 m/s at 4 m/s^2 stops after 12.5 m; nose at 16.3 m, near end at 29 m
    found = encounter(straight(10, decel=4), box(30))
    assert found.stops_short
    assert found.min_gap_m == pytest.approx(29 - 16.3, abs=1e-6)
    assert found.planned_decel == pytest.approx(4, abs=0.2)
    assert found.lateral_clearance_m is None


def test_time_to_contact_of_a_plan_that_slows_too_late():
    # at t = 0: 29 - 3.8 = 25.2 m at 10 m/s: 2.52 s; constant speed for half a second, then it stops before contact
    late = np.concatenate([[0.0] * 2, np.full(22, 5.0)])
    v = np.maximum(10 - np.cumsum(late) * 0.25, 0)
    plan = np.stack([np.cumsum(v) * 0.25, np.zeros(24), np.zeros(24)], axis=1)
    found = encounter(plan, box(30))
    assert found.stops_short
    assert 1.0 < found.ttc_s < 2.52


def test_passing_beside_it():
    # box from y = 2.5 to 3.5; ego side at 0.95
    found = encounter(straight(10), box(30, y=3))
    assert found.lateral_clearance_m == pytest.approx(1.55)
    assert found.min_gap_m == pytest.approx(1.55)
    assert found.ttc_s is None


def test_a_turned_box_and_its_corners():
    # turned by 90 degrees it reaches 1 m to each side: 3 - 1 - 0.95
    assert encounter(straight(10), box(30, y=3, yaw=np.pi / 2)).min_gap_m == pytest.approx(1.05)
    # at 45 degrees the nearest corner is (2 + 1) / 2 / sqrt(2) from its centre
    turned = encounter(straight(10), box(30, y=3, yaw=np.pi / 4)).min_gap_m
    assert turned == pytest.approx(3 - 1.5 / np.sqrt(2) - 0.95, abs=0.02)


def test_a_moving_hazard_comes_towards_the_ego():
    still, coming = (encounter(straight(5), box(60, vx=vx)) for vx in (0.0, -8.0))
    assert not still.collides
    assert coming.collides
    assert not encounter(straight(10), box(30, y=-3, vy=0.0)).collides
    assert encounter(straight(10), box(30, y=-3, vy=1.0)).collides, "it walks into the path"


def test_comfort():
    assert encounter(straight(12, decel=2), box(60)).comfortable
    assert not encounter(straight(12, decel=7), box(60)).comfortable


@pytest.mark.parametrize(
    ("modified", "expected"),
    [
        (straight(10), False),
        (straight(9.7), False),
        (straight(10, decel=3), True),
        (straight(10, left=0.8), False),
        (straight(10, left=6), True),
        (straight(11), False),
    ],
)
def test_response_without_a_judge(modified, expected):
    assert responds(straight(10), modified, box(30)) is expected


def test_towards_it_is_no_response():
    assert not responds(straight(10), straight(10, left=2), box(30, y=3))
    assert responds(straight(10), straight(10, left=-2), box(30, y=3))


def test_errors_against_the_log():
    logged = Motion(t=tuple(T), poses=tuple(map(tuple, straight(10).tolist())), v=(10.0,) * 24)
    # one m/s slower: 0.25 m behind after each step, 6 m at the end, 3.125 m on average
    assert displacement_errors(straight(9), logged) == pytest.approx((3.125, 6.0))
    short = Motion(t=(0.5,), poses=((5.0, 0.0, 0.0),), v=(10.0,))
    assert displacement_errors(straight(9), short) is None
