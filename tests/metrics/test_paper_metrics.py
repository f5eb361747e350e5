"""The papers' other metrics on cases worked by hand."""

from math import atan, pi, sqrt

import pytest

from cfgen.metrics.drivelmm import ASPECTS, choice_accuracy, choice_of, overall_score, reasoning_score
from cfgen.metrics.faithfulness import EDGES, EdgeVerdicts, balanced_accuracy, consistency_row
from cfgen.metrics.grounding import (
    boxes_in,
    complete_iou,
    grounding_score,
    inconsistency_rate,
    mean_grounding,
    spatial_grounding,
)
from cfgen.metrics.surds import TASKS, TaskScore, centerness, normalize, overall, point_in, score_task
from cfgen.records import Claims


def edges(**changes: bool | None) -> EdgeVerdicts:
    return EdgeVerdicts({**dict.fromkeys(EDGES, True), **changes})


# --- faithfulness ---------------------------------------------------------------------------------------


def test_one_broken_edge_breaks_the_whole():
    assert edges().overall is True
    for edge in EDGES:
        assert edges(**{edge: False}).overall is False
        assert edges(**{edge: False}).failing == (edge,)


def test_an_open_edge_leaves_the_whole_open_unless_another_is_broken():
    assert edges(E2=None).overall is None
    assert edges(E2=None, E4=False).overall is False


def test_consistency_row_by_hand():
    row = consistency_row([edges(), edges(E1=False), edges(E1=False, E5=False), edges(E3=None)])
    assert row.edges["E1"].percent() == "50.0"
    assert row.edges["E5"].percent() == "75.0"
    assert (row.edges["E3"].n, row.unscored["E3"]) == (3, 1)
    assert (row.overall.hits, row.overall.n, row.unscored["overall"]) == (1, 3, 1)


def test_balanced_accuracy_by_hand():
    # consistent: 3 of 4 found; inconsistent: 1 of 2
    truth, said = [True, True, True, True, False, False], [True, True, True, False, False, True]
    assert balanced_accuracy(truth, said) == pytest.approx((0.75 + 0.5) / 2)
    assert balanced_accuracy([True], [True]) is None


# --- Faithful GRPO --------------------------------------------------------------------------------------


def test_semantic_grounding_by_hand():
    first = Claims(correct=2, incorrect=1, skipped=1, trivial=2)
    assert grounding_score(first) == pytest.approx(2 / 3)
    silent = Claims(correct=0, incorrect=0, skipped=1, trivial=0)
    assert grounding_score(silent) is None
    right = Claims(correct=1, incorrect=0, skipped=0, trivial=0)
    assert mean_grounding([first, silent, right]) == pytest.approx(5 / 6)


def test_inconsistency_rate_leaves_unreadable_answers_out():
    assert inconsistency_rate([True, False, None, True]) == pytest.approx(1 / 3)
    assert inconsistency_rate([None]) is None


def test_complete_iou_by_hand():
    assert complete_iou((0, 0, 2, 2), (0, 0, 2, 2)) == 1
    # IoU 1/7, centres (1,1) and (2,2): 2 apart squared, hull 3x3: 18; same aspect
    assert complete_iou((0, 0, 2, 2), (1, 1, 3, 3)) == pytest.approx(1 / 7 - 2 / 18)
    # same centre, 4x2 in 4x4: IoU 1/2, only the aspect differs
    v = 4 / pi**2 * (atan(1) - atan(2)) ** 2
    assert complete_iou((0, 1, 4, 3), (0, 0, 4, 4)) == pytest.approx(0.5 - v / (0.5 + v) * v)
    assert complete_iou((0, 0, 1, 1), (9, 9, 10, 10)) < -0.5
    assert complete_iou((0, 0, 0, 1), (0, 0, 1, 1)) == -1


def test_spatial_grounding_matches_best_and_counts_surplus_boxes():
    a, b = (0.0, 0.0, 2.0, 2.0), (10.0, 10.0, 12.0, 12.0)
    assert spatial_grounding([b, a], [a, b]) == 1
    assert spatial_grounding([a], [a, b]) == 0.5
    assert spatial_grounding([a, b, b], [a]) == pytest.approx(1 / 3)
    assert spatial_grounding([], [a]) == 0
    assert spatial_grounding([], []) is None
    assert spatial_grounding([a], [(100.0, 100.0, 101.0, 101.0)]) == 0, "never below 0"


def test_boxes_are_read_where_they_are_whole():
    assert boxes_in("x <bbox>[1, 2, 3, 4]</bbox> <bbox>[1,2,3]</bbox> <BBOX>[5.5,6,7,8]</BBOX>") == [
        (1, 2, 3, 4),
        (5.5, 6, 7, 8),
    ]


# --- DriveLMM-o1 ----------------------------------------------------------------------------------------


def test_the_twelve_are_averaged_in_code():
    scores = dict(zip(ASPECTS, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 10, 7], strict=True))
    assert overall_score({**scores, "overall_score": 10}) == 6
    assert reasoning_score([scores, dict.fromkeys(ASPECTS, 8)]) == 70
    with pytest.raises(ValueError, match="relevance: expected a score of 1 to 10, found 11"):
        overall_score({**scores, "relevance": 11})
    with pytest.raises(ValueError, match="missing_step"):
        overall_score({a: 5 for a in ASPECTS if a != "missing_step"})


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"),
        ("(c)", "C"),
        ("D. Yes", "D"),
        ("The answer is A.", "A"),
        ("A car", None),
        ("answer A or answer B", None),
    ],
)
def test_choices(answer, letter):
    assert choice_of(answer) == letter


def test_choice_accuracy_counts_unclear_answers_as_wrong():
    assert choice_accuracy(["A", "b.", "not sure"], ["A", "B", "C"]) == pytest.approx(2 / 3)


# --- SURDS ----------------------------------------------------------------------------------------------


def test_normalization():
    assert normalize("  The car, a RED one!  ") == "car red one"
    assert normalize("Theatre") == "theatre", "articles are whole words"


def test_centerness_by_hand():
    box = (0.0, 0.0, 10.0, 20.0)
    assert centerness((5, 10), box) == 1
    # 2 left, 8 right; 5 above, 15 below
    assert centerness((2, 5), box) == pytest.approx(sqrt(2 / 8 * 5 / 15))
    assert centerness((0, 10), box) == 0
    assert centerness((11, 10), box) == 0


def test_valid_and_all():
    found = score_task("left_right", ["The left.", "right", None, "  "], ["left", "left", "right", "right"])
    assert found == TaskScore(n=4, valid_rate=0.5, accuracy=0.25, accuracy_valid=0.5)
    pixel = score_task("pixel", ["(5, 10)", "somewhere"], [(0, 0, 10, 20), (0, 0, 10, 20)])
    assert (pixel.accuracy, pixel.accuracy_valid, pixel.valid_rate) == (0.5, 1.0, 0.5)
    assert point_in("x=3.5, y=-2") == (3.5, -2)


def test_overall_is_the_mean_of_six():
    scores = {task: TaskScore(1, 1, value / 10, None) for value, task in enumerate(TASKS)}
    assert overall(scores) == pytest.approx(0.25)
    with pytest.raises(ValueError, match="missing: pixel"):
        overall({k: v for k, v in scores.items() if k != "pixel"})
    with pytest.raises(ValueError, match="expected a task of"):
        score_task("roll", ["a"], ["a"])
