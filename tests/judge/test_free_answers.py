"""Free answers by other hands: how they are built, and the offline judge's waypoints against their authors' scores."""

import zlib

import numpy as np
import pytest

from cfgen.geometry.camera import mounted
from cfgen.geometry.path import path_of_plan, travelled
from cfgen.judge.free_answers import MOTIONS, FreeAnswer, cases_for, free_answers
from cfgen.judge.offline.judge import measure
from cfgen.judge.protocol import JudgeItem
from cfgen.planners.answer import to_plan
from cfgen.planners.baselines import constant_turn
from cfgen.planners.responders import Baseline, Target
from cfgen.records import DIMENSIONS, Camera, Size
from tests.judge.painted import _painted, place

CAMERA = Camera(width=640, height=360, fx=560, fy=560, cx=320, cy=150, T_cam_ego=mounted(1.5))
BLANK = np.zeros((4, 4, 3), np.uint8)
SIZE = Size(length=1.0, width=1.0, height=1.0)
ROAD = np.clip(np.random.default_rng(0).normal(100, 6, (360, 640, 3)), 0, 255).astype(np.uint8)


def free_item(answer: FreeAnswer) -> JudgeItem:
    """What a judge sees of it."""
    plan = constant_turn(answer.speed_mps, 0.0)
    path = path_of_plan(plan)
    rng = np.random.default_rng(zlib.crc32(answer.id.encode()))
    distance, lateral = (
        min(answer.hazard.distance_m, 60.0),
        answer.side * min(abs(answer.hazard.lateral_m), 4.0),
    )
    at = place(path, CAMERA, distance, lateral, SIZE, rng)
    base = Baseline(path, travelled(plan), answer.speed_mps)
    before, after = answer.answers(base, Target.of(at, base))
    (before, plan_a), (after, plan_b) = to_plan(before), to_plan(after)
    changed = _painted(ROAD, CAMERA, at, rng)
    return JudgeItem("k", ROAD, changed, BLANK, BLANK, "", before, after, plan_a, plan_b, CAMERA)


def answer(**more) -> FreeAnswer:
    given = {
        "id": "x",
        "kind": "k",
        "hazard": {"name": "deer on the road", "distance_m": 25, "lateral_m": 0, "moving": False},
        "speed_mps": 9.0,
        "original_text": "A quiet forest road.",
        "text": "A deer stands in our lane, so I brake.",
        "longitudinal": "stop",
        "lateral": "lane keeping",
        "motion": "brake_stop_before",
        "reasoning": 2,
        "waypoints": 2,
        "overall": 2,
        "why": "names it",
    }
    return FreeAnswer.model_validate({**given, **more})


def test_waypoints_are_scored_as_the_authors_of_the_tuning_half_scored_them():
    answers = free_answers(("tune",))[::5]
    votes = [measure(free_item(a)).scores.get("waypoints") for a in answers]
    right = sum(vote == a.waypoints for vote, a in zip(votes, answers, strict=True))
    assert len(answers) > 60
    assert right >= 0.9 * len(answers), (right, len(answers))


def test_the_halves_share_no_answer_and_no_author():
    halves = [free_answers((half,)) for half in ("tune", "test")]
    assert all(len(found) >= 100 for found in halves)
    ids, authors = (
        [{key(a) for a in found} for found in halves] for key in (lambda a: a.id, lambda a: a.id[:2])
    )
    assert not ids[0] & ids[1]
    assert not authors[0] & authors[1]
    assert {a.motion for found in halves for a in found} <= MOTIONS.keys()


@pytest.mark.parametrize("motion", MOTIONS)
def test_motions_are_what_they_are_called(motion):
    item = free_item(answer(motion=motion))
    before, after = (np.array(p.waypoints) for p in (item.original_plan, item.modified_plan))
    step = np.diff(after[:, :2], axis=0)
    ends = {
        "keep": np.allclose(after[:, :2], before[:, :2], atol=0.02),
        "brake_stop_before": after[-1, 0] < 25,
        "brake_late": 25 < after[-1, 0] < before[-1, 0],
        "slow_down": 0.55 < after[-1, 0] / before[-1, 0] < 0.75,
        "slow_slightly": 0.85 < after[-1, 0] / before[-1, 0] < 0.95,
        "swerve_left": after[-1, 1] > 2.5,
        "swerve_right": after[-1, 1] < -2.5,
        "pass_beside": abs(after[-1, 1]) > 1.5 and after[-1, 0] < before[-1, 0],
        "zigzag": np.abs(np.diff(after[:, 1])).min() > 3,
        "scrambled": (step[:, 0] < -1).sum() > 5,
        "reverse_jump": (step[:, 0] < -1).sum() > 1,
        "accelerate": after[-1, 0] > before[-1, 0] + 5,
        "stop_at_once": np.abs(after[:, :2]).max() < 0.1,
        "off_road": abs(after[-1, 1]) > 10,
    }
    assert ends[motion]


def test_a_free_answer_is_asked_where_its_thing_stands():
    class Case:
        def __init__(self, name: str, lateral: float) -> None:
            self.hazard = type("H", (), {"name": name})
            self.placement = type("P", (), {"lateral_m": lateral})

    deer, far, car, other = (
        Case("deer crossing the road", 0.3),
        Case("deer crossing the road", 4.0),
        Case("broken-down car in the lane", 0.0),
        Case("burning car in the lane", 0.0),
    )
    assert cases_for(answer(), [deer, far, car]) == [deer]
    stalled = {"name": "broken-down car ahead in our lane", "distance_m": 30, "lateral_m": 0, "moving": False}
    assert cases_for(answer(hazard=stalled), [deer, car, other]) == [car]
    assert DIMENSIONS == ("reasoning", "waypoints", "overall")
