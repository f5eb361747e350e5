"""The search: which of several places comes first, which are one place, and what it says when there is none."""

import itertools
import math

import numpy as np
import pytest

from cfgen.hazards import placement as module
from cfgen.hazards.placement import FreePlacements, Wanted
from cfgen.hazards.settings import PLACEMENT
from cfgen.hazards.zones import Poses
from cfgen.perception.views import Views
from cfgen.records import DistancePolicy, Size
from tests.hazards import drawn
from tests.hazards.test_placement_oracles import (
    HEIGHT,
    WIDTH,
    Seen,
    clear,
    footprint,
    hazard,
    pose,
)


def search(monkeypatch, poses, h=None, ground=None, level=100, wanted=4.5, **more):
    h = h or hazard()
    monkeypatch.setattr(module, "poses_to_try", lambda *_: Poses.single(h, poses))
    image = np.full((HEIGHT, WIDTH, 3), level, np.uint8)
    scene = drawn.scene(13.0)
    images = {(scene.front.name, 0.0): image}
    free = FreePlacements(scene, images, Views.of(Seen(ground or clear())).scene(scene, images))
    rng = more.pop("rng", np.random.default_rng(0))
    return free.find(h, rng, wanted=wanted and Wanted(wanted), **more)


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


def test_of_equal_places_the_one_nearest_to_the_drawn_braking_comes_first(monkeypatch):
    """Nearest to what is wanted by ratio, not by difference: of one place only the best is kept."""
    for wanted in (2.0, 4.5):
        for a, b in itertools.permutations((1.6, 2.4, 3.6, 4.5, 5.2, 8.9), 2):
            poses = [pose(20.0, required_decel=a), pose(20.0, required_decel=b)]
            found = search(monkeypatch, poses, wanted=wanted)
            best = min((a, b), key=lambda d: abs(math.log(d / wanted)))
            assert [p.required_decel for p in found] == [best]


def test_what_cases_require_fills_the_band(monkeypatch):
    """Of many places along the road each case takes another: quarters of the band get a quarter of the cases each."""
    poses = [pose(13.0**2 / (2 * d), required_decel=d) for d in np.arange(1.5, 6.0, 0.05)]
    firsts = []
    for seed in range(160):
        found = search(monkeypatch, poses, rng=np.random.default_rng(seed), wanted=None)
        firsts.append(found[0].required_decel)
    counts, _ = np.histogram(firsts, np.linspace(1.5, 6.0, 5))
    assert (np.abs(counts - 40) < 4 * math.sqrt(160 * 0.25 * 0.75) / 1.5).all(), counts


def test_braking_counts_for_as_much_as_fifteen_metres_to_the_side(monkeypatch):
    """1.5 for the wanted one against 0.1 a metre; 4 for 4.5 m/s^2 costs 1.5 (1 - exp(-(ln 1.125 / 0.25)^2)) = 0.3."""
    thin = hazard(Size(length=0.01, width=0.8, height=1.2))  # as large in the picture wherever it stands
    middle = pose(20.0, 0.0, required_decel=4.0)
    for aside, first in ((2.5, 2.5), (3.5, 0.0)):
        off = pose(20.0, aside, required_decel=4.5)
        found = search(monkeypatch, [middle, off], thin)
        assert found[0].lateral_m == first


def test_larger_is_better_until_braking_tells(monkeypatch):
    """A tenth of the ln of the shorter side; 4.37 for 4.5 m/s^2 costs 1.5 (1 - exp(-(ln(1.03) / 0.25)^2)) = 0.02."""
    for ratio, first in ((1.1, 1), (1.35, 0)):
        near = pose(1.0 + 15.0, required_decel=4.37)
        far = pose(1.0 + 15.0 * ratio, required_decel=4.5)  # the camera is 1 m ahead of the axle
        thin = hazard(Size(length=0.01, width=0.8, height=1.2))
        found = search(monkeypatch, [far, near], thin)
        assert found[0].distance_m == (near.s, far.s)[first], f"0.1 ln {ratio}"


def test_candidates_keep_their_distance_and_are_few(monkeypatch):
    poses = [pose(s, y) for s in np.arange(12.0, 30.0, 0.7) for y in (-1.0, 0.0, 1.0)]
    found = search(monkeypatch, poses)
    assert len(found) == PLACEMENT.candidates
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
        "at 13.0 m/s no distance from 7.5 to 80 m needs a response that is due in time"
    )
