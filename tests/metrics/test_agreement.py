"""Agreement worked by hand, and the cases where it has no value."""

import pytest

from cfgen.metrics.agreement import agreement, consensus, pairwise

#: rows: reference 0, 1, 2
TABLE = [[10, 2, 0], [3, 8, 1], [0, 2, 14]]


def ratings(table) -> tuple[list[int], list[int]]:
    pairs = [(i, j) for i, row in enumerate(table) for j, k in enumerate(row) for _ in range(k)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def test_by_hand():
    found = agreement(*ratings(TABLE))
    # observed 32/40; chance (12*13 + 12*12 + 16*15) / 40^2 = 0.3375
    assert found.n == 40
    assert found.accuracy == pytest.approx(0.8)
    assert found.kappa == pytest.approx((0.8 - 0.3375) / (1 - 0.3375))
    # quadratic: observed 2+3+1+2 = 8; chance (12*12 + 4*12*15 + 12*13 + 12*15 + 4*16*13 + 16*12) / 40
    assert found.quadratic == pytest.approx(1 - 8 / ((144 + 720 + 156 + 180 + 832 + 192) / 40))
    assert found.recall == pytest.approx((10 / 12, 8 / 12, 14 / 16))
    assert found.confusion[1] == (3, 8, 1)


def test_perfect_and_chance():
    a, _ = ratings(TABLE)
    assert agreement(a, a).kappa == 1
    assert agreement([0, 0, 1, 1], [0, 1, 0, 1]).kappa == 0
    assert agreement([0, 1], [1, 0]).kappa == -1


def test_constant_raters_are_undefined_not_perfect():
    found = agreement([2, 2, 2], [2, 2, 2])
    assert found.accuracy == 1
    assert (found.kappa, found.quadratic, found.kappa_interval) == (None, None, None)
    assert found.recall == (None, None, 1.0)
    assert found.recall_interval == (None, None, pytest.approx((0.4385, 1.0), abs=1e-4))
    one_sided = agreement([0, 1, 2], [2, 2, 2])
    assert (one_sided.kappa, one_sided.kappa_interval) == (0, None)


def test_interval_holds_the_value_and_narrows_with_more():
    few, many = agreement(*ratings(TABLE)), agreement(*ratings([[10 * k for k in row] for row in TABLE]))
    assert few.kappa_interval[0] < few.kappa < few.kappa_interval[1]
    assert few.accuracy_interval[0] < few.accuracy < few.accuracy_interval[1]
    for share, (low, high) in zip(few.recall, few.recall_interval, strict=True):
        assert low < share < high
    width = [r.kappa_interval[1] - r.kappa_interval[0] for r in (few, many)]
    assert width[1] < width[0] / 2
    assert agreement(*ratings(TABLE)) == few, "the same seed gives the same interval"


def test_nothing_rated():
    assert agreement([], []).kappa is None


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="found 1 and 2"):
        agreement([0], [0, 1])
    with pytest.raises(ValueError, match="found \\[7\\]"):
        agreement([0], [7])


def test_consensus_leaves_ties_open():
    assert consensus([[0, 1, 2, None], [0, 1, 2, None], [1, 0, 2, None], [1, 1, 0, None]]) == [
        None,
        1,
        2,
        None,
    ]


def test_pairwise_is_symmetric():
    found = pairwise([[0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 1]], (0, 1))
    assert found[0][1] == found[1][0] == pytest.approx(0.5)
    assert found[0][0] is None
    assert found[0][2] == 0
