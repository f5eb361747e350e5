"""Mention by action, and how soon: numbers small enough to check by hand."""

import pytest
from scipy.stats.contingency import expected_freq

from cfgen.metrics.intervals import Rate
from cfgen.metrics.reaction import Timed, how_soon, mention_by_action


def test_expected_counts_are_scipys():
    said = {f"c{i}": float(i < 12) for i in range(20)}
    did = {f"c{i}": float(i % 3 == 0) for i in range(21)}
    found = mention_by_action(said, did)
    observed = [
        [len(found.cases[a]), len(found.cases[b])]
        for a, b in (("said and did", "said only"), ("did only", "neither"))
    ]
    assert observed == [[4, 8], [3, 5]]
    assert list(found.expected.values()) == pytest.approx(expected_freq(observed).ravel().tolist())
    assert (found.did_if_said, found.did_if_not_said) == (Rate.of(4, 12), Rate.of(3, 8))
    assert found.cases["did only"] == ("c12", "c15", "c18"), "c20 was never heard"


def answers(rates: dict[float, int], n: int = 20) -> list[Timed]:
    return [Timed(f"{t}.{i}", t + 0.4, float(i < hits)) for t, hits in rates.items() for i in range(n)]


def test_half_is_a_time_only_where_it_is_crossed_once():
    found = how_soon(answers({1.0: 2, 2.0: 6, 3.0: 14, 4.0: 18}))
    assert [rate.value for rate in found.rates.values()] == [0.1, 0.3, 0.7, 0.9]
    assert (found.half, found.mean.value) == ("2.5 s", pytest.approx(0.5))
    assert how_soon(answers({1.0: 1, 3.0: 6})).half == "not reached: at most 30%"
    assert how_soon(answers({2.0: 12, 3.0: 16})).half == "at least 60%"
    assert how_soon(answers({1.0: 2, 2.0: 18, 3.0: 2})).half == "crossed more than once"
    assert how_soon(answers({1.0: 1, 3.0: 6}, n=9)).half == "too few cases"


def test_a_time_out_of_range_counts_nowhere():
    found = how_soon([Timed("near", 0.4, 1.0), Timed("far", 4.6, 1.0), Timed("two", 1.6, 0.0)])
    assert list(found.rates) == [2.0]
    assert how_soon([]).rates == {}


def test_drives_that_do_the_same_say_less_than_as_many_cases():
    alike = answers({2.0: 20, 3.0: 0})
    found = how_soon(alike)
    assert found.rates[2.0].low == pytest.approx(Rate.of(20, 20).low), "never of width zero"
    half = answers({2.0: 10})
    blocks = {a.case_id: str(int(a.case_id.split(".")[-1]) // 5) for a in half}
    wide, narrow = how_soon(half, blocks).rates[2.0], how_soon(half).rates[2.0]
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
