"""The 2 s before: a hazard shows wherever its place is in view, what drove through it refuses it, nothing pops in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import project
from cfgen.hazards.history import HazardHistory
from cfgen.hazards.occupancy import HIDDEN, OVER_LANE, STOOD, HistoryInconsistency
from cfgen.hazards.zones import Lanes
from cfgen.perception.road_by_colour import ColourGround
from cfgen.perception.view import SceneView, Thing
from cfgen.perception.views import Views
from cfgen.records import Placement, Size
from tests.hazards import drawn

CAR = Size(length=4.5, width=1.8, height=1.5)
UPRIGHT, LOW = Size(length=0.8, width=0.8, height=1.6), Size(length=0.8, width=0.8, height=0.5)
SPEED = 10.0
TIMES = tuple(-0.25 * i for i in range(9))


def hazard(x: float, y: float, size: Size = UPRIGHT, **moves) -> Placement:
    return Placement(
        zone="ego_lane",
        x=x,
        y=y,
        yaw=0,
        size=size,
        distance_m=x,
        lateral_m=y,
        required_decel=3,
        foot_px=(320, 200),
        box_px=(310, 150, 330, 200),
        **moves,
    )


class Drawn(ColourGround):
    """Sees by colours; ``blind``: pictures in which it sees no road; ``things``: what stands in others, by id."""

    weaker = False  # it is taken at its word
    still = 0.0  # share of a blind picture, from its lower edge, in which it sees road after all
    likely = False  # whether what it would see were it not blind is likely road to it

    def __init__(self, blind: Sequence[np.ndarray] = (), things: Mapping[int, Thing] | None = None):
        self.blind, self.things = blind, things or {}

    def _view(self, frame) -> SceneView:
        seen = super()._view(frame)
        road = seen.road.copy()
        if any(frame.image is image for image in self.blind):
            road[: round((1 - self.still) * len(road))] = False
        things = (self.things[id(frame.image)],) if id(frame.image) in self.things else ()
        return replace(seen, road=road, things=things, likely=seen.road if self.likely else None)


def past(
    traffic: Mapping[float, tuple[float, float]] | None = None, half=5.0, times=TIMES, blind=(), told=False
) -> HazardHistory:
    """Frames of a straight drive; ``traffic``: at t, a car at x, y of the ego frame at t0.

    ``blind``: times at which nobody sees the road; ``told``: somebody sees the cars.
    """
    frames = {("front", t): road(half, i) for i, t in enumerate(times)}
    things = {}
    for t, (x, y) in (traffic or {}).items():
        frames["front", t] = drawn.put(frames["front", t], x - SPEED * t, y, CAR)
        px, _ = project(drawn.CAMERA, box_corners(x - SPEED * t, y, 0.0, CAR)[0])
        things[id(frames["front", t])] = Thing("car", (*px.min(0), *px.max(0)), 0.9)
    scene = drawn.scene(SPEED, frames=tuple(sorted(times)))
    eyes = Drawn([frames["front", t] for t in blind], things if told else None)
    views = Views.of(eyes).scene(scene, frames)
    return HazardHistory(views, views.now, 0.88, 0.8)


def bumped(*when: float) -> HazardHistory:
    """A road that ends before white cars, and frames in which the car pitched: all is two rows lower."""
    frames = {}
    for i, t in enumerate(TIMES):
        image = drawn.put_many(road(5.0, i), 23.2 - SPEED * t, np.arange(-4, 4.1, 1.6), CAR, (240, 242, 245))
        frames["front", t] = np.roll(image, 2 * (t in when), 0)
    views = Views.of(Drawn()).scene(drawn.scene(SPEED, frames=tuple(sorted(TIMES))), frames)
    return HazardHistory(views, views.now, 0.88, 0.8)


def spoiled(found: Placement | HistoryInconsistency) -> bool:
    return isinstance(found, HistoryInconsistency)


@cache
def road(half: float, seed: int) -> np.ndarray:
    return drawn.road(half=half, seed=seed)


def test_a_standing_hazard_shows_all_along_on_an_empty_road():
    assert past().of(hazard(20, 0), crosses=False).visible_since is None


@pytest.mark.parametrize("t", [-0.25, -1.0, -2.0])
def test_a_place_that_a_car_drove_through_is_refused_whichever_frame_shows_it(t: float):
    assert spoiled(past({t: (20.0, 0.0)}).of(hazard(20, 0), crosses=False))


def test_a_car_in_the_other_lane_refuses_nothing():
    assert past({-1.0: (20.0, 3.5)}).of(hazard(20, -0.3), crosses=False).visible_since is None


def test_a_nearer_car_that_hides_part_of_a_wide_one_refuses_it():
    truck = hazard(34, 2.0, Size(length=2.2, width=8.0, height=3.0))
    for t in (-0.5, -1.0):
        assert spoiled(past({t: (20.0, 3.0)}).of(truck, crosses=False))
    assert past().of(truck, crosses=False).visible_since is None


def test_a_nearer_car_that_somebody_saw_hides_all_of_it_until_then():
    traffic = {-2.0: (18.0, 0.0), -1.75: (15.0, 0.0)}
    found = past(traffic, told=True).of(hazard(34, 0.0, LOW), crosses=False)
    assert found.hidden_at(-1.75)
    assert not found.hidden_at(-1.5)
    assert spoiled(past(traffic).of(hazard(34, 0.0, LOW), crosses=False))


def test_what_a_nearer_car_leaves_uncovered_above_it_refuses_the_place():
    tall = hazard(34, 0.0, Size(length=0.8, width=0.8, height=2.6))
    assert spoiled(past({-2.0: (18.0, 0.0)}, told=True).of(tall, crosses=False))


def test_a_car_seen_on_the_place_or_partly_before_it_refuses_it():
    for x, y in ((35.0, 0.0), (18.0, 0.9)):
        found = past({-2.0: (x, y)}, told=True, blind=(-2.0,)).of(hazard(34, 0.0, LOW), crosses=False)
        assert spoiled(found)
    assert past({-2.0: (45.0, 0.0)}, told=True).of(hazard(34, 0.0, LOW), crosses=False).visible_since is None


def test_it_does_not_vanish_behind_something_and_come_again():
    assert spoiled(past({-1.0: (18.0, 0.0)}, told=True).of(hazard(34, 0.0, LOW), crosses=False))


def test_a_frame_that_the_view_is_unsure_of_shows_it_by_its_colours():
    assert past(blind=(-0.75, -1.5)).of(hazard(20, 0), crosses=False).visible_since is None
    assert spoiled(past({-0.75: (20.0, 0.0)}, blind=(-0.75,)).of(hazard(20, 0), crosses=False))


def test_a_bump_of_one_frame_leaves_the_place_as_seen_before_and_after():
    place = hazard(20, 0)
    assert bumped().of(place, crosses=False).visible_since is None
    assert bumped(-1.5).of(place, crosses=False).visible_since is None
    assert spoiled(bumped(-1.75, -1.5).of(place, crosses=False))


def test_likely_road_is_enough_where_it_is_sure_at_t0(monkeypatch):
    """A network is sure of road so far off at t0 only: what stands there is not even likely road."""
    monkeypatch.setattr(Drawn, "likely", True)
    assert not spoiled(past(blind=TIMES[1:]).of(hazard(20, 0), crosses=False))
    assert spoiled(past({-1.0: (20.0, 0.0)}, blind=TIMES[1:]).of(hazard(20, 0), crosses=False))


@pytest.mark.parametrize(("y", "vy"), [(-1.0, 1.5), (-0.4, 2.0), (-1.9, 0.8)])
def test_a_walker_from_off_the_road_waited_at_its_edge(y: float, vy: float):
    found = past(half=2.6).of(hazard(18, y, vx=0.0, vy=vy), crosses=True)
    assert found.at(-2.0).y == pytest.approx(-2.6, abs=0.35), "not in the lane, and not behind a hedge"
    assert found.moving_since == pytest.approx((-2.6 - y) / -vy * -1, abs=0.35 / vy)
    assert past(half=5.0).of(hazard(18, -1.0, vx=0.0, vy=1.5), crosses=True).moving_since is None


@pytest.mark.parametrize("length", [0.5, 1.8])
def test_who_waits_stands_beyond_the_line_whole(length: float):
    walker = hazard(18, 0.2, Size(length=length, width=0.6, height=1.7), vx=0.0, vy=1.5, moving_since=None)
    found = past(half=1.9).of(walker.model_copy(update={"yaw": np.pi / 2}), crosses=True)
    assert -2.6 - length / 2 < found.at(-2.0).y < -1.75 - length / 2


def test_a_spoiled_past_tells_its_rule_and_frame():
    """By colours alone a grey car right beyond is road; nobody names it."""
    car_beyond = past({-2.0: (24.7, 0.0)})
    views = Views.of(ColourGround()).scene(car_beyond.scene, car_beyond.views.images)
    alone = HazardHistory(views, views.now, 0.88, 0.8)
    assert alone.of(hazard(20, 0), crosses=False) == HistoryInconsistency(STOOD, -2.0, 20)
    assert past({-1.0: (18.0, 0.0)}, told=True).of(hazard(34, 0.0, LOW), crosses=False).rule == HIDDEN
    assert past(half=1.6).of(hazard(18, 1.0, vx=0.0, vy=-2.0), crosses=True).rule == OVER_LANE


def test_nobody_waits_in_a_lane():
    """From the far side it would have stood at the line between the lanes, if that is where road is seen to end."""
    walker = hazard(18, 1.0, vx=0.0, vy=-1.5)
    assert spoiled(past(half=2.6).of(walker, crosses=True))
    assert not spoiled(past(half=2.6).of(hazard(18, -1.0, vx=0.0, vy=1.5), crosses=True))
    wide = replace(past(half=2.6), lanes=Lanes(half=3.1, kerb=-1))
    assert spoiled(wide.of(hazard(18, -1.0, vx=0.0, vy=1.5), crosses=True)), "road ends within the own lane"
    dashed = replace(past(half=2.6), lanes=Lanes(half=1.75, kerb=-1, dashed=(-1,)))
    assert spoiled(dashed.of(hazard(18, -1.0, vx=0.0, vy=1.5), crosses=True)), (
        "a lane, whose road a car hides"
    )
    drifts = SimpleNamespace(dashed=(), line_at=lambda side, s: side * 3.1)
    assert spoiled(
        replace(past(half=2.6), lanes_seen=drifts).of(hazard(18, -1.0, vx=0.0, vy=1.5), crosses=True)
    ), "the line lies farther out there"


def test_what_would_step_out_of_a_hedge_has_no_past():
    assert spoiled(past(half=1.6).of(hazard(18, -1.0, vx=0.0, vy=2.0), crosses=False))


def test_without_past_frames_only_geometry_counts():
    found = past(times=(0.0,)).of(hazard(20, 0), crosses=False)
    assert found.visible_since is None
    assert np.isfinite(found.x)
    assert spoiled(past(times=(0.0,), half=1.6).of(hazard(18, -1.0, vx=0.0, vy=2.0), crosses=False))
