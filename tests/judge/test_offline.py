"""The offline judge against scripted answers on real frames."""

from collections import Counter
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.geometry.path import path_of_plan
from cfgen.judge.offline.change import NoChangeError, find_change
from cfgen.judge.offline.judge import NOT_SCORED, OfflineJudge, measure
from cfgen.judge.protocol import VerdictKey
from cfgen.judge.registry import create_judge
from cfgen.judge.validation import KNOWN
from cfgen.planners.responders import KINDS, Baseline, Target
from tests.judge.painted import SIZES, Painted, paint


@pytest.fixture(scope="module")
def painted(real: Path) -> list[Painted]:
    scenes = sorted((real / "udacity_hmb3" / "scenes").iterdir())[::9]
    made = [paint(s, name, 10 * i + j) for i, s in enumerate(scenes) for j, name in enumerate(SIZES)]
    return [p for p in made if p is not None]


def test_known_waypoints_are_found_in_95_of_100_cases(painted):
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for case in painted:
        base = Baseline.of(case.history, case.future)
        target = Target.of(case.placement, base)
        for kind in KINDS:
            if not KINDS[kind].unfit(base, target):
                vote = measure(case.item(*case.answers(kind)))
                total[kind] += 1
                right[kind] += vote.scores["waypoints"] == KNOWN[kind].expected[1]
                assert vote.scores.keys() == {"waypoints"}
                assert NOT_SCORED in vote.explanation
    assert set(total) == set(KINDS)
    assert min(total.values()) >= 10
    for kind, count in right.items():
        assert count >= 0.95 * total[kind], (kind, count, total[kind])


def test_the_same_frame_twice_is_unknown(painted):
    case = painted[0]
    same = Painted(**{**vars(case), "modified": case.original})
    vote = measure(same.item(*case.answers("notices_and_brakes")))
    assert vote.status == "unknown"
    assert vote.scores == {}


def test_compression_is_no_change_and_hides_none(painted):
    case = painted[0]

    def squeeze(pixels: np.ndarray, quality: int) -> np.ndarray:
        _, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
        return cv2.imdecode(data, cv2.IMREAD_COLOR)

    with pytest.raises(NoChangeError):
        find_change(squeeze(case.original, 90), squeeze(case.original, 80), case.camera)
    a = find_change(case.original, case.modified, case.camera)
    b = find_change(squeeze(case.original, 90), squeeze(case.modified, 90), case.camera)
    # compression works in blocks of 8 pixels
    assert np.abs(np.array(a.box) - np.array(b.box)).max() <= 12


def test_the_change_stands_where_it_was_put(painted):
    for case in painted:
        change = find_change(case.original, case.modified, case.camera)
        if change.box[0] == 0 or change.box[2] == case.original.shape[1]:
            continue
        path = path_of_plan(np.array(case.future.poses))
        along, beside = path.locate(change.base)
        assert along.min() == pytest.approx(case.placement.distance_m, abs=5.5)
        assert np.mean(beside) == pytest.approx(case.placement.lateral_m, abs=0.9)
        assert change.height == pytest.approx(case.placement.size.height, rel=0.25, abs=0.25)


def test_a_judge_by_name_gives_each_item_a_verdict(painted):
    found = []
    items = [
        (VerdictKey("p", f"c{i}", "hazard", 0), lambda c=c: c.item(*c.answers("ignores")))
        for i, c in enumerate(painted[:2])
    ]
    judge = create_judge("offline")
    judge.judge(items, found.append)
    assert [v.case_id for v in found] == ["c0", "c1"]
    assert all(v.status == "scored" and v.votes[0].explanation for v in found)
    assert isinstance(judge, OfflineJudge)
    assert judge.run_record().rubric_hash == found[0].rubric_hash


def test_options_that_a_judge_does_not_take_are_named():
    with pytest.raises(InputError, match="temperature"):
        create_judge("offline", temperature=0)
