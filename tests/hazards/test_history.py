"""The 2 s before: what was there hides the hazard, what is out of view comes in, nothing pops in."""

import numpy as np
import pytest

from cfgen.hazards.history import HazardHistory
from cfgen.records import Placement, Size
from tests.hazards import drawn

CAR = Size(length=4.5, width=1.8, height=1.5)
SPEED = 10.0


def hazard(x: float, y: float, **moves) -> Placement:
    return Placement(
        zone="ego_lane",
        x=x,
        y=y,
        yaw=0,
        size=Size(length=0.8, width=0.8, height=1.6),
        distance_m=x,
        lateral_m=y,
        required_decel=3,
        foot_px=(320, 200),
        box_px=(310, 150, 330, 200),
        **moves,
    )


def past(traffic: dict[float, tuple[float, float]] | None = None, half: float = 5.0) -> HazardHistory:
    """Frames of a straight drive; ``traffic``: at t, a car at x, y of the ego frame at t0."""
    traffic = traffic or {}
    frames = {("front", t): drawn.road(half=half) for t in (0.0, -0.5, -1.0, -1.5, -2.0)}
    for t, (x, y) in traffic.items():
        frames["front", t] = drawn.put(frames["front", t], x - SPEED * t, y, CAR)
    scene = drawn.scene(SPEED, frames=tuple(sorted(t for _, t in frames)))
    ground = drawn.seen(frames["front", 0.0])
    return HazardHistory(scene, ground, 0.88, 0.8, frames)


def test_a_standing_hazard_shows_all_along_on_an_empty_road():
    found = past().of(hazard(20, 0), crosses=False)
    assert found is not None
    assert found.visible_since is None


@pytest.mark.parametrize("t", [-0.5, -1.0, -1.5])
def test_a_car_that_drove_over_the_place_hides_it_until_then(t: float):
    found = past({t: (20.0, 0.0)}).of(hazard(20, 0), crosses=False)
    assert found is not None
    assert found.hidden_at(t)
    assert not found.hidden_at(t + 0.5)


def test_a_car_in_the_other_lane_hides_nothing():
    found = past({-1.0: (20.0, 3.5)}).of(hazard(20, -0.3), crosses=False)
    assert found is not None
    assert found.visible_since is None


def test_a_nearer_car_that_hides_part_of_a_wide_one_leaves_it_no_past():
    truck = hazard(34, 2.0).model_copy(update={"size": Size(length=2.2, width=8.0, height=3.0)})
    for t in (-0.5, -1.0):
        assert past({t: (20.0, 3.0)}).of(truck, crosses=False) is None
    assert past({-0.5: (34.0, 2.0)}).of(truck, crosses=False) is None
    assert past().of(truck, crosses=False).visible_since is None


def test_a_nearer_car_that_hides_all_of_a_thin_one_hides_it_until_then():
    found = past({-1.0: (20.0, 0.0)}).of(hazard(34, 0.0), crosses=False)
    assert found.hidden_at(-1.0)
    assert not found.hidden_at(-0.5)


def test_a_walker_from_off_the_road_waited_at_its_edge():
    walker = hazard(18, -1.0, vx=0.0, vy=1.5)
    found = past(half=2.6).of(walker, crosses=True)
    assert found is not None
    assert found.moving_since is not None
    assert abs(found.at(-2.0).y) < 2.6
    assert past(half=5.0).of(walker, crosses=True).moving_since is None


def test_a_fast_one_comes_from_outside_the_view():
    scene_past = past(half=2.6)
    runner = hazard(12, 0.0, vx=0.0, vy=30.0)
    found = scene_past.of(runner, crosses=False)
    assert found is not None
    assert found.visible_since is None


def test_what_would_step_out_of_a_hedge_has_no_past():
    assert past(half=1.6).of(hazard(18, -1.0, vx=0.0, vy=2.0), crosses=False) is None


def test_without_past_frames_only_geometry_counts():
    scene = drawn.scene(SPEED)
    image = drawn.road()
    ground = drawn.seen(image)
    found = HazardHistory(scene, ground, 0.88, 0.8, {("front", 0.0): image}).of(hazard(20, 0), crosses=False)
    assert found is not None
    assert found.visible_since is None
    assert np.isfinite(found.x)
