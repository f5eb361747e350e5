"""The papers' measures against shapely, NumPy and softmaxes written out, and the edges of what can be read."""

import itertools
import math

import numpy as np
import pytest
import shapely

from cfgen.metrics.drivelmm import ASPECTS, choice_accuracy, choice_of, overall_score, reasoning_score
from cfgen.metrics.faithfulness import EDGES, EdgeVerdicts, balanced_accuracy, consistency_row
from cfgen.metrics.grounding import (
    boxes_in,
    complete_iou,
    inconsistency_rate,
    mean_grounding,
    spatial_grounding,
)
from cfgen.metrics.surds import TASKS, TaskScore, centerness, normalize, overall, point_in, score_task

# --- boxes ----------------------------------------------------------------------------------------------


def ciou_by_shapely(a, b) -> float:
    """IoU - squared distance of the centres over that of the hull's corners - weighted change of aspect."""
    one, two = shapely.box(*a), shapely.box(*b)
    iou = one.intersection(two).area / one.union(two).area
    x0, y0, x1, y1 = one.union(two).bounds
    centres = one.centroid.distance(two.centroid) ** 2 / ((x1 - x0) ** 2 + (y1 - y0) ** 2)
    v = 4 / math.pi**2 * (math.atan2(b[2] - b[0], b[3] - b[1]) - math.atan2(a[2] - a[0], a[3] - a[1])) ** 2
    return iou - centres - (v * v / (1 - iou + v) if v else 0.0)


def some_boxes(n: int, seed: int) -> list[tuple[float, float, float, float]]:
    rng = np.random.default_rng(seed)
    corner, size = rng.uniform(0, 30, (n, 2)), rng.uniform(1, 25, (n, 2))
    return [tuple(map(float, (*c, *(c + s)))) for c, s in zip(corner, size, strict=True)]


def test_complete_iou_is_that_of_shapelys_areas():
    for a, b in zip(some_boxes(60, 1), some_boxes(60, 2), strict=True):
        assert complete_iou(a, b) == pytest.approx(ciou_by_shapely(a, b))
        assert complete_iou(a, b) == pytest.approx(complete_iou(b, a))
        assert complete_iou(a, a) == pytest.approx(1.0)


@pytest.mark.parametrize("flat", [(3, 2, 3, 9), (3, 9, 8, 9), (8, 2, 3, 9), (3, 9, 8, 2)])
def test_a_box_without_an_area_matches_nothing(flat):
    assert complete_iou(flat, (0, 0, 10, 10)) == complete_iou((0, 0, 10, 10), flat) == -1.0


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (4, 3)])
def test_the_best_matching_is_that_of_all_that_there_are(n, m):
    predicted, truth = some_boxes(n, 5), [tuple(v + 1.5 for v in b) for b in some_boxes(m, 5)]
    table = [[ciou_by_shapely(p, t) for t in truth] for p in predicted]
    if n <= m:
        sums = [sum(table[i][j] for i, j in enumerate(js)) for js in itertools.permutations(range(m), n)]
    else:
        sums = [sum(table[i][j] for j, i in enumerate(js)) for js in itertools.permutations(range(n), m)]
    assert spatial_grounding(predicted, truth) == pytest.approx(max(0.0, max(sums) / max(n, m)))
    assert spatial_grounding(predicted, []) == spatial_grounding([], truth) == 0.0


def test_boxes_are_read_in_any_spacing_and_sign():
    text = "<bbox> [ -1.5,2 , 3.25,40 ] </bbox> <bbox>[1,2,3,4,5]</bbox><bbox>[0.5 1 2 3]</bbox><box>[1,2,3,4]</box>"
    assert boxes_in(text) == [(-1.5, 2.0, 3.25, 40.0), (0.5, 1.0, 2.0, 3.0)]


def test_shares_without_anything_to_share():
    assert mean_grounding([]) is None
    assert inconsistency_rate([]) is None
    assert inconsistency_rate([False, None, False]) == 1.0


# --- DriveLMM-o1 and SURDS ------------------------------------------------------------------------------


def test_aspects_are_averaged_from_one_to_ten():
    for value in (1, 5.5, 10):
        assert overall_score(dict.fromkeys(ASPECTS, value)) == value
        assert reasoning_score([dict.fromkeys(ASPECTS, value)]) == 10 * value
    for wrong in (0.99, 10.01):
        with pytest.raises(
            ValueError, match=f"drivelmm: relevance: expected a score of 1 to 10, found {wrong}"
        ):
            overall_score({**dict.fromkeys(ASPECTS, 5), "relevance": wrong})
    assert reasoning_score([]) is None


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("h", "H"), ("I", None), ("[d]", "D"), ("  e) ", "E"), ("f:", "F"), ("AB", None), ("", None),
        ("option: (c)", "C"), ("My choice is g", "G"), ("the answer a", "A"), ("Answer: B, option B", "B"),
        ("answer (A) beats choice (B)", None), ("C) it is", "C"), ("(D) because answer E is wrong", "E"),
        ("E. then", "E"), ("e. then", None), ("answerable", None), ("the answer is Apple", None),
    ],
)  # fmt: skip
def test_letters_that_an_answer_settles_on(answer, letter):
    assert choice_of(answer) == letter


def test_choices_are_paired_one_to_one():
    assert choice_accuracy(["a", "b", "?"], [" a ", "C", "D"]) == pytest.approx(1 / 3)
    assert choice_accuracy([], []) is None
    with pytest.raises(ValueError, match=r"shorter|longer"):
        choice_accuracy(["a"], ["a", "b"])


def test_centerness_is_the_product_of_two_ratios_whichever_side_is_nearer():
    box = (10.0, 50.0, 30.0, 90.0)  # nothing about it is symmetric
    for x, y in itertools.product((12.0, 20.0, 29.0), (51.0, 65.0, 88.0)):
        across, down = sorted((x - 10, 30 - x)), sorted((y - 50, 90 - y))
        assert centerness((x, y), box) == pytest.approx(math.sqrt(across[0] / across[1] * down[0] / down[1]))
    for x, y in ((10, 60), (30, 60), (20, 50), (20, 90), (5, 60), (35, 60), (20, 10), (20, 95)):
        assert centerness((x, y), box) == 0.0


def test_words_are_compared_without_their_dress():
    assert normalize("An  apple-pie, THE best!\n") == "apple pie best"
    assert normalize("a,the;an") == ""
    assert [point_in(t) for t in ("1 2 3", "7", "-1.5 and 20")] == [None, None, (-1.5, 20.0)]


def test_a_task_is_scored_over_all_and_over_what_is_valid():
    found = score_task("yaw", ["North", "south", "the"], ["north.", "north", "east"])
    assert found == TaskScore(n=3, valid_rate=2 / 3, accuracy=1 / 3, accuracy_valid=1 / 2)
    assert score_task("pixel", [None], [(0.0, 0.0, 2.0, 2.0)]) == TaskScore(1, 0.0, 0.0, None)
    half = score_task("pixel", ["1, 1", "0.5 1"], [(0.0, 0.0, 2.0, 2.0)] * 2)
    assert half.accuracy == pytest.approx((1 + math.sqrt(1 / 3)) / 2)
    for answers, truth in ((["a"], ["a", "b"]), ([], [])):
        with pytest.raises(
            ValueError, match=f"surds: depth: expected an answer .* found {len(answers)} to {len(truth)}"
        ):
            score_task("depth", answers, truth)
    with pytest.raises(ValueError, match="yaw, pixel, depth, distance, left_right, front_back, found 'roll'"):
        score_task("roll", ["a"], ["a"])
    with pytest.raises(ValueError, match=r"missing: yaw, left_right$"):
        overall({t: found for t in TASKS if t not in ("yaw", "left_right")})


# --- edges ----------------------------------------------------------------------------------------------


def test_every_combination_of_edges():
    for values in itertools.product((True, False, None), repeat=5):
        found = EdgeVerdicts(dict(zip(EDGES, values, strict=True)))
        assert found.overall is (False if False in values else None if None in values else True)
        assert found.failing == tuple(f"E{i}" for i, v in enumerate(values, 1) if v is False)
    assert EdgeVerdicts({"E1": True}).overall is None, "an edge that is not there is open"


def test_a_row_counts_each_edge_by_itself():
    all_of_them = [dict(zip(EDGES, v, strict=True)) for v in itertools.product((True, False, None), repeat=5)]
    row = consistency_row(EdgeVerdicts(e) for e in all_of_them)
    assert list(row.edges) == list(EDGES)
    for rate in row.edges.values():
        assert (rate.hits, rate.n) == (81, 162)
    assert row.unscored == {**dict.fromkeys(EDGES, 81), "overall": 2**5 - 1}
    assert (row.overall.hits, row.overall.n) == (1, 243 - 31)


def test_balanced_accuracy_weighs_both_classes_alike():
    truth = [True] * 90 + [False] * 10
    assert balanced_accuracy(truth, [True] * 100) == 0.5
    assert balanced_accuracy(truth, [True] * 45 + [False] * 55) == pytest.approx((0.5 + 1.0) / 2)
    assert balanced_accuracy([False], [True]) is None
    with pytest.raises(ValueError, match=r"shorter|longer"):
        balanced_accuracy([True, False], [True])
