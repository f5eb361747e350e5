"""The offline judge against plans whose right score follows by construction, clean, noisy, rounded and coarse."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from shapely import Polygon
from shapely.affinity import rotate, translate

from cfgen.geometry.collision import Footprint, Track, passage
from cfgen.geometry.coherence import incoherent
from cfgen.geometry.driving import CarState
from cfgen.judge.offline.judge import score_waypoints
from cfgen.judge.offline.motion import compare, far_aside
from cfgen.records import Plan
from tests.judge.plans import Scene, at_2_hz, noisy, rounded, scenes

Alter = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def score(scene: Scene, original: np.ndarray, modified: np.ndarray) -> int:
    start = CarState(scene.speed, 0.0, scene.curvature)
    plans = [Plan(waypoints=tuple(map(tuple, plan.tolist()))) for plan in (original, modified)]
    undrivable = incoherent(modified, start) or ("aside" if far_aside(modified, original) else "")
    return score_waypoints(compare(*plans, scene.footprint, start), undrivable)[0]


def answers(alter: Alter | None = None) -> Iterator[tuple[str, int, int]]:
    """Kind, the right score and the judge's; with ``alter`` what is right is its own of the plans as they are."""
    rng = np.random.default_rng(0)
    for scene, kinds in itertools.islice(scenes(), 0, None, 1 if alter is None else 2):
        original = scene.plan(scene.keeps())
        for name, (make, due) in kinds.items():
            modified = make(scene)
            plain = score(scene, original, modified)
            if alter is None:
                yield name, due, plain
            else:
                yield name, plain, score(scene, alter(original, rng), alter(modified, rng))


def test_97_of_100_known_plans_of_50_kinds_get_their_score():
    n, right = Counter(), Counter()
    for name, due, found in answers():
        n[name] += 1
        right[name] += due == found
    assert len(n) >= 50
    assert right.total() >= 0.97 * n.total()
    for name, count in n.items():
        assert right[name] >= 0.8 * count, (name, right[name], count)


@pytest.mark.parametrize("alter", [noisy, rounded, at_2_hz])
def test_noise_rounding_and_coarse_samples_lose_at_most_5_of_100_scores(alter):
    pairs = list(answers(alter))
    kept = [a == b for _, a, b in pairs]
    twos = [b == 2 for _, a, b in pairs if a == 2]
    assert np.mean(kept) >= 0.95
    assert np.mean(twos) >= 0.95


def box(x: float, y: float, theta: float, rear: float, front: float, half: float) -> Polygon:
    outline = Polygon([(-rear, -half), (front, -half), (front, half), (-rear, half)])
    return translate(rotate(outline, theta, (0, 0), use_radians=True), x, y)


def test_contact_and_its_speed_are_those_that_shapely_finds():
    rng = np.random.default_rng(5)
    touched = 0
    for scene, kinds in scenes():
        make, _ = list(kinds.values())[int(rng.integers(len(kinds)))]
        track = Track.of(make(scene))
        found = passage(track, scene.footprint)
        outline = Polygon(scene.footprint.corners)
        gaps = [
            box(*pose, 1.0, 3.8, 0.95).distance(translate(outline, *(scene.footprint.velocity * t)))
            for t, pose in zip(track.t, track.poses, strict=True)
        ]
        first = next((t for t, gap in zip(track.t, gaps, strict=True) if gap == 0), None)
        if first is None:
            assert found.avoided or found.min_gap_m < 0.05
            assert found.min_gap_m <= min(gaps) + 1e-6
        else:
            touched += 1
            assert found.contact_s == pytest.approx(first, abs=0.06)
            closing = np.interp(first, track.t, track.v)
            if not scene.footprint.velocity.any():
                assert found.impact_speed == pytest.approx(closing, rel=0.06, abs=1.0)
    assert touched >= 10


def test_a_plan_that_clears_it_anyway_has_nothing_to_show():
    plan = Plan(waypoints=tuple((2.5 * i, 0.0, 0.0) for i in range(1, 25)))
    for lateral, due in ((0.0, True), (1.7, True), (3.0, False)):
        footprint = Footprint.around(np.array([(30, lateral - 0.3), (30, lateral + 0.3)]))
        assert compare(plan, plan, footprint).due is due
