"""The offline judge against scripted answers on real frames."""

from collections import Counter
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.geometry.path import path_of_plan
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.hazards.vocabulary import class_of, things
from cfgen.judge.offline.change import NoChangeError, Shape, find_change, shape_of
from cfgen.judge.offline.judge import OfflineJudge, look
from cfgen.judge.offline.reading import read
from cfgen.judge.probe import KNOWN
from cfgen.judge.protocol import VerdictKey
from cfgen.judge.registry import create_judge
from cfgen.planners.responder_motion import Baseline, Target
from cfgen.planners.responder_text import plain
from cfgen.planners.responders import KINDS
from cfgen.records import DIMENSIONS, Plan, Trace
from cfgen.sharing.consistent import wrong_options
from tests.judge.painted import PARTS, SIZES, WHOLE, Painted, paint


@pytest.fixture(scope="module")
def painted(real: Path) -> list[Painted]:
    scenes = sorted((real / "udacity_hmb3" / "scenes").iterdir())[::9]
    made = [paint(s, name, 10 * i + j) for i, s in enumerate(scenes) for j, name in enumerate(SIZES)]
    return [p for p in made if p is not None]


def scores(case: Painted, kind: str) -> tuple[int | None, ...]:
    vote = look(case.item(*case.answers(kind)))
    return tuple(vote.suggested.get(d) for d in DIMENSIONS)


def test_known_answers_are_found_in_95_of_100_cases(painted):
    right: Counter[tuple[str, str]] = Counter()
    total: Counter[str] = Counter()
    for case in painted:
        base = Baseline.of(case.history, case.future)
        target = Target.of(case.placement, base)
        for kind in KINDS.keys() - OfflineJudge().blind_to.keys():
            if not KINDS[kind].unfit(base, target):
                total[kind] += 1
                for dimension, said, due in zip(
                    DIMENSIONS, scores(case, kind), KNOWN[kind].expected, strict=True
                ):
                    right[kind, dimension] += said == due
    assert set(total) == KINDS.keys() - OfflineJudge().blind_to.keys()
    assert min(total.values()) >= 10
    for (kind, dimension), count in right.items():
        assert count >= 0.95 * total[kind], (kind, dimension, count, total[kind])


def test_an_outline_tells_limbs_from_bodywork():
    solid, legs = np.zeros((60, 60), bool), np.zeros((60, 60), bool)
    solid[10:40, 10:50] = True
    legs[10:20, 10:50] = legs[20:50, 10:14] = legs[20:50, 46:50] = True
    meadow = np.full((60, 60, 3), (40, 160, 60), np.uint8)
    assert shape_of(solid, meadow) == Shape(fill=1.0, green=1.0)
    found = shape_of(legs, np.full((60, 60, 3), 120, np.uint8))
    assert found.fill < 0.5
    assert found.green == 0.0
    assert shape_of(solid[:20, :20], meadow[:20, :20]) is None


def test_a_name_of_the_right_size_and_another_outline_is_not_believed(real, monkeypatch):
    scene = real / "udacity_hmb3" / "scenes" / "hmb3_00040"
    deer = paint(scene, "deer crossing the road", 3, lateral=0.3)
    assert scores(deer, "notices_and_brakes") == (2, 2, 2)
    monkeypatch.setitem(PARTS, "deer crossing the road", WHOLE)
    box = paint(scene, "deer crossing the road", 3, lateral=0.3)
    assert scores(box, "notices_and_brakes") == (1, 2, 1)
    assert "outline" in look(box.item(*box.answers("notices_and_brakes"))).explanation


def test_the_same_frame_twice_is_unknown(painted):
    case = painted[0]
    same = Painted(**{**vars(case), "modified": case.original})
    vote = look(same.item(*case.answers("notices_and_brakes")))
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
        if change.cut:
            continue
        path = path_of_plan(np.array(case.future.poses))
        along, beside = path.locate(change.base)
        assert along.min() == pytest.approx(case.placement.distance_m, abs=5.5)
        assert np.mean(beside) == pytest.approx(case.placement.lateral_m, abs=0.9)
        assert change.height == pytest.approx(case.placement.size.height, rel=0.25, abs=0.25)


def test_the_same_answer_to_both_frames_is_no_reaction(painted):
    case = painted[0]
    _, after = case.answers("notices_and_brakes")
    vote = look(case.item(after, after))
    assert tuple(vote.suggested[d] for d in DIMENSIONS) == (0, 0, 0)


def test_every_taxonomy_name_is_in_the_vocabulary():
    taxonomy = load_taxonomy()
    for entry in (*taxonomy.hazards, *taxonomy.nuisances):
        words = [w for w, _ in things(plain(entry.name).lower())]
        assert words, entry.name
        assert any(
            class_of(w).height[0] / 1.35 <= entry.size.height <= class_of(w).height[1] * 1.35 + 0.2
            for w in words
        ), entry.name


@pytest.mark.parametrize(
    ("text", "brake", "steer", "refused"),
    [
        ("The car must slow for the deer.", True, set(), False),
        ("I see no need to brake for the deer.", False, set(), True),
        ("We nudge to the left around the deer.", False, {"left"}, False),
        ("The deer is on the left, so the car keeps going.", False, set(), False),
        ("The deer does not require slowing down.", False, set(), True),
        ("Coming to a halt before the deer.", True, set(), False),
        ("There is a deer swerving to the left.", False, set(), False),
    ],
)
def test_intent_is_read_from_plain_english(text, brake, steer, refused):
    still = tuple((0.0, 0.0, 0.0) for _ in range(24))
    before, after = Plan(waypoints=still), Plan(waypoints=still, trace=Trace(justification=text))
    found = read("", before, "", after)
    assert found.named == ("deer",)
    assert (found.brake, set(found.steer), found.refused) == (brake, steer, refused)


def test_the_speaker_is_no_thing_on_the_road():
    assert things("the car slows down behind a van") == [
        ("van", things("the car slows down behind a van")[0][1])
    ]
    assert [w for w, _ in things("the car ahead slows down")] == ["car"]
    assert things("the ego vehicle yields") == []


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


@pytest.mark.parametrize("screen", [1e308, 1, "yes"])
def test_a_screen_is_a_switch_here_and_in_a_bundle(screen):
    with pytest.raises(InputError, match="judge 'offline': screen: expected true or false, found"):
        create_judge("offline", screen=screen)
    record = create_judge("offline").run_record()
    assert list(wrong_options(record)) == []
    for options in ({"screen": screen}, {"screen": True, "zz": screen}):
        [why] = wrong_options(record.model_copy(update={"options": options}))
        assert "the one option screen, true or false, found" in why
