"""The search: which of several places comes first, which are one place, and what it says when there is none."""

import itertools
import math

import numpy as np
import pytest

from cfgen.hazards import placement as module
from cfgen.hazards.placement import find_placements
from cfgen.perception.views import Views
from cfgen.records import DistancePolicy, Size
from tests.hazards import drawn
from tests.hazards.test_placement_oracles import HEIGHT, WIDTH, clear, footprint, hazard, left_of, pose


class Seen:
    """A perceiver that sees the same in every frame."""

    name, options, identity, weaker, uses_camera = "drawn", {}, {}, False, False

    def __init__(self, view):
        self.view = view

    def perceive(self, frames):
        return [self.view for _ in frames]


def search(monkeypatch, poses, h=None, ground=None, level=100, **more):
    monkeypatch.setattr(module, "poses_to_try", lambda *_: poses)
    image = np.full((HEIGHT, WIDTH, 3), level, np.uint8)
    scene = drawn.scene(13.0)
    images = {(scene.front.name, 0.0): image}
    more.setdefault("views", Views.of(Seen(ground or clear())).scene(scene, images))
    return find_placements(drawn.scene(13.0), image, h or hazard(), np.random.default_rng(0), **more)


def test_of_flames_only_what_stands_on_the_ground_counts(monkeypatch):
    free = np.zeros((HEIGHT, WIDTH), bool)
    x0, y0, x1, y1 = (
        round(v) for v in footprint(12.0, 0.0, 0.0, Size(length=1.0, width=1.0, height=1)).bounds
    )
    free[y0 - 2 : y1 + 3, x0 - 2 : x1 + 3] = True
    plume = Size(length=3.0, width=3.0, height=2.0)
    assert isinstance(
        search(monkeypatch, [pose(12.0)], hazard(plume, footprint=(1.0, 1.0)), clear(free)), list
    )
    assert "1 not on clear road" in search(monkeypatch, [pose(12.0)], hazard(plume), clear(free))


def test_of_equal_places_the_one_to_brake_in_earnest_for_comes_first(monkeypatch):
    """Nearest to 4.5 m/s^2 by ratio, not by difference: of one place only the best is kept."""
    for a, b in itertools.permutations((1.6, 2.4, 3.6, 4.5, 5.2, 8.9), 2):
        found = search(monkeypatch, [pose(20.0, required_decel=a), pose(20.0, required_decel=b)])
        best = min((a, b), key=lambda d: abs(math.log(d / 4.5)))
        assert [p.required_decel for p in found] == [best]


def test_braking_counts_for_as_much_as_six_metres_to_the_side(monkeypatch):
    """0.6 for the right deceleration against 0.1 a metre: 3 m aside still loses to a third of the braking."""
    thin = hazard(Size(length=0.01, width=0.8, height=1.2))  # as large in the picture wherever it stands
    off = pose(20.0, 3.0, required_decel=4.5)  # 0.6 - 0.3
    middle = pose(20.0, 0.0, required_decel=1.5)  # 0.6 exp(-ln(3)^2) = 0.18
    assert [p.lateral_m for p in search(monkeypatch, [middle, off], thin)] == [3.0, 0.0]
    farther = pose(20.0, 4.6, required_decel=4.5)  # 0.6 - 0.46 = 0.14
    assert [p.lateral_m for p in search(monkeypatch, [farther, middle], thin)] == [0.0, 4.6]


def test_larger_is_better_until_it_is_large_enough(monkeypatch):
    """Half a ln of the shorter side; 4.5 against 3 m/s^2 is worth 0.6 (1 - exp(-ln(1.5)^2)) = 0.091."""
    for ratio, first in ((1.1, 1), (1.35, 0)):
        near = pose(1.0 + 15.0, required_decel=3.0)
        far = pose(1.0 + 15.0 * ratio, required_decel=4.5)  # the camera is 1 m ahead of the axle
        thin = hazard(Size(length=0.01, width=0.8, height=1.2))
        found = search(monkeypatch, [far, near], thin)
        assert found[0].distance_m == (near.s, far.s)[first], f"0.5 ln {ratio}"


def test_clearer_road_is_better(monkeypatch):
    """Twice the share of clear road: a share of 7% weighs as much as 1.4 m to the side."""
    thin = Size(length=0.8, width=0.8, height=1.2)
    x0, y0, x1, _ = (round(v) for v in footprint(14.0, 0.0, 0.0, thin).bounds)
    free = left_of(WIDTH)
    free[y0:, : x0 + round(0.06 * (x1 - x0)) + 1] = False
    for lateral, first in ((-0.9, -0.9), (-2.4, 0.0)):
        found = search(monkeypatch, [pose(14.0), pose(14.0, lateral)], hazard(thin), clear(free))
        assert found[0].lateral_m == first


def test_candidates_keep_their_distance_and_are_eight_at_most(monkeypatch):
    poses = [pose(s, y) for s in np.arange(12.0, 30.0, 0.7) for y in (-1.0, 0.0, 1.0)]
    found = search(monkeypatch, poses)
    assert len(found) == 8
    for better, worse in itertools.combinations(found, 2):
        assert math.dist((better.x, better.y), (worse.x, worse.y)) >= 1.0 + 0.04 * better.distance_m


@pytest.mark.parametrize(("apart", "kept"), [(1.75, 1), (1.85, 2)])
def test_a_place_1_8_m_from_a_better_one_at_20_m_is_the_same_place(monkeypatch, apart, kept):
    better = pose(20.0, 0.0)
    assert len(search(monkeypatch, [better, pose(20.0, apart, required_decel=3.0)])) == kept
    assert len(search(monkeypatch, [better, pose(20.0 + apart, required_decel=3.0)])) == kept


def test_why_there_is_none_counts_each_try_once_the_most_frequent_first(monkeypatch):
    poses = [pose(-5.0), *[pose(12.0, 9.0)] * 2, *[pose(95.0)] * 3]
    said = search(monkeypatch, poses)
    assert said == (
        "none of 6 places works: 3 too small at the planner's size, 2 cut off by the frame, 1 out of view"
    )


def test_a_further_test_refuses_with_its_own_words(monkeypatch):
    said = search(monkeypatch, [pose(20.0), pose(30.0)], fault=lambda p: "taken" if p.distance_m < 25 else "")
    assert [p.distance_m for p in said] == [30.0]
    assert search(monkeypatch, [pose(20.0)], fault=lambda p: "taken") == "none of 1 places works: 1 taken"


@pytest.mark.parametrize(
    ("level", "said"),
    [(6, "the road is too dark to see anything on it (brightness 6 of 255)"), (7, None)],
)
def test_how_bright_the_road_must_be(monkeypatch, level, said):
    found = search(monkeypatch, [pose(20.0)], level=level)
    assert isinstance(found, list) if said is None else found == said


def test_without_road_there_is_no_place(monkeypatch):
    nowhere = clear(np.zeros((HEIGHT, WIDTH), bool))
    assert search(monkeypatch, [pose(20.0)], ground=nowhere) == "no road in view"


def test_no_distance_is_said_in_its_units(monkeypatch):
    slow = hazard(distance=DistancePolicy(min_m=7.5, max_m=80))
    assert search(monkeypatch, [], slow) == (
        "at 13.0 m/s no distance from 7.5 to 80 m needs a deceleration within the band"
    )
