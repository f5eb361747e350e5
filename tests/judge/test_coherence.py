"""Plans that cannot be a response get no 2 for their waypoints, and the judge says why."""

import numpy as np
import pytest

from cfgen.geometry.camera import ground_points, mounted
from cfgen.geometry.collision import Footprint
from cfgen.geometry.driving import CarState
from cfgen.judge.offline.judge import score_waypoints
from cfgen.judge.offline.motion import compare, far_aside, leaves_road, no_response
from cfgen.judge.protocol import JudgeItem
from cfgen.perception.view import SceneView
from cfgen.records import Camera, Plan
from cfgen.rollouts.inputs import RolloutInputs
from tests.reporting.bench import make_bench

T = 0.25 * np.arange(1, 25)
CAMERA = Camera(width=960, height=540, fx=800, fy=800, cx=480, cy=220, T_cam_ego=mounted(1.5))
CHANGE = Footprint.around(np.array([(41.0, -0.5), (41.0, 0.5)]))


def braking(beside=0.0) -> np.ndarray:
    """From 12 m/s at 2 m/s^2: it stands at 36 m."""
    return np.column_stack([12 * T - T**2, beside + 0 * T, 0 * T])


def keeping(beside=0.0) -> np.ndarray:
    return np.column_stack([12 * T, beside + 0 * T, 0 * T])


def road(left: float, right: float) -> SceneView:
    """A straight road between two lines, m to the left of the car, as a perceiver would see it that makes no error."""
    v, u = np.mgrid[0:540, 0:960]
    ground, valid = ground_points(CAMERA, np.column_stack([u.ravel(), v.ravel()]).astype(float))
    on = valid & (ground[:, 1] < left) & (ground[:, 1] > right)
    return SceneView(on.reshape(540, 960), np.zeros((540, 960), bool), (960, 540), None, {})


def item(modified: np.ndarray, view: SceneView | None = None) -> JudgeItem:
    blank = np.zeros((8, 8, 3), np.uint8)
    plans = [Plan(waypoints=tuple(map(tuple, p.tolist()))) for p in (keeping(), modified)]
    return JudgeItem("k", *[blank] * 4, "", "", "", *plans, CAMERA, start=CarState(12.0), road=view)


def score(modified: np.ndarray, view: SceneView | None = None) -> tuple[int, str]:
    one = item(modified, view)
    return score_waypoints(compare(one.original_plan, one.modified_plan, CHANGE), no_response(one))


def test_braking_is_a_response_and_the_same_braking_in_zigzags_or_in_no_order_is_none():
    assert score(braking())[0] == 2
    zigzag = braking(1.5 * (-1.0) ** np.arange(24))
    scrambled = braking()[np.random.default_rng(5).permutation(24)]
    for plan in (zigzag, scrambled, np.zeros((24, 3))):
        value, why = score(plan)
        assert value == 0
        assert "no car drives like that" in why


@pytest.mark.parametrize(("aside", "off"), [(3.0, False), (-1.0, False), (-8.0, True), (10.0, True)])
def test_a_plan_that_leaves_the_road_is_none(aside, off):
    """A road from 5.5 m left of the car to 1.8 m right of it."""
    part = np.clip(T / 3, 0, 1)
    plan = braking(aside * part**2 * (3 - 2 * part))
    view = road(5.5, -1.8)
    assert leaves_road(plan, keeping(), CarState(12.0), item(plan, view)) is off
    value, why = score(plan, view)
    assert (value, "leaves the road" in why) == ((0, True) if off else (2, False))
    assert score(plan)[0] == 2, "nobody saw the road"


def bent(radius: float) -> np.ndarray:
    """At 12 m/s along a bend to the left."""
    turned = 12 * T / radius
    return np.column_stack([radius * np.sin(turned), radius * (1 - np.cos(turned)), turned])


def test_a_plan_far_to_the_side_of_its_way_is_none_though_nobody_saw_the_road():
    part = np.clip(T / 4, 0, 1)
    ahead = np.column_stack([28 * (1 - (1 - part) ** 2), 16.7 * part**2 * (3 - 2 * part), 0 * T])
    assert "17 m to the side" in score(ahead)[1]
    assert score(ahead)[0] == 0
    assert far_aside(bent(32.0), keeping()) > 10, "off into a side street that nobody knows of"
    assert far_aside(keeping(), bent(32.0)) == 0, "straight on instead of turning"
    assert far_aside(bent(60.0), bent(60.0)) == far_aside(bent(60.0)[:12], bent(60.0)) == 0
    for aside in (-6.5, 3.5, 9.0):
        assert far_aside(braking(aside * (3 - 2 * T / 6) * (T / 6) ** 2), keeping()) == 0


def test_what_perception_does_not_know_is_not_held_against_a_plan():
    part = np.clip(T / 3, 0, 1)
    plan = braking(-8 * part**2 * (3 - 2 * part))
    unseen = SceneView(np.zeros((54, 96), bool), np.zeros((54, 96), bool), (960, 540), None, {})
    assert not leaves_road(plan, keeping(), CarState(12.0), item(plan, unseen))


def test_a_short_plan_is_judged_as_far_as_it_goes():
    assert score(braking()[:16])[0] == 2
    assert score(keeping()[:16])[0] == 0


def test_the_road_that_the_build_saw_is_what_the_judge_is_given(tmp_path):
    store, view = make_bench(tmp_path / "b", 1, {}), road(5.5, -1.8)
    [case] = store.cases()
    kept = store.root / "perception" / "ab" / "abc.png"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(view.png())
    (kept.parent / "broken.png").write_bytes(b"no picture")
    inputs = RolloutInputs(store, 7)

    def given(told: dict[str, str]) -> SceneView | None:
        provenance = case.provenance.model_copy(update={"report": {"perception": told}})
        return inputs.road(case.model_copy(update={"provenance": provenance}))

    found = given({"file": "ab/abc.png"})
    assert found is not None
    assert (found.road == view.road).all()
    assert inputs.road(case) is None, "a benchmark from before views were kept"
    for other in ({}, {"file": "ab/gone.png"}, {"file": "ab/broken.png"}, {"file": "../benchmark.json"}):
        assert given(other) is None
    assert inputs.start(case).speed == 12.0
