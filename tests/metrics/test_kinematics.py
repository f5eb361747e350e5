"""Encounters worked by hand: a 2 x 1 m box on the road, the ego's nose 3.8 m ahead of its origin."""

import pytest

from cfgen.metrics.kinematics import encounter, responds
from cfgen.records import Placement, Size
from tests.reporting.bench import straight


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


def test_a_moving_hazard_comes_towards_the_ego():
    still, coming = (encounter(straight(5), box(60, vx=vx)) for vx in (0.0, -8.0))
    assert not still.collides
    assert coming.collides
    assert not encounter(straight(10), box(30, y=-3, vy=0.0)).collides
    assert encounter(straight(10), box(30, y=-3, vy=1.0)).collides, "it walks into the path"


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
