"""Which interval is chosen: between blocks, of constant events, of the worst arm, and of ranks; worked by hand."""

import math

import pytest
from scipy.optimize import brentq
from scipy.stats import t as student

from cfgen.metrics.intervals import Rate, difference, rate_of
from cfgen.metrics.stability import items, ranks, tau


def score_interval(p: float, n: float, blocks: int) -> tuple[float, float]:
    """Where a share is Student's t standard errors from the observed one, for so many blocks."""
    z = student.ppf(0.975, blocks - 1)
    if p == 1.0:  # q where 1 - q = z sqrt(q (1 - q) / n)
        return n / (n + z * z), 1.0
    low, high = (brentq(lambda q: abs(q - p) - z * math.sqrt(q * (1 - q) / n), p, far) for far in (0.0, 1.0))
    return low, high


def blocks_of(*sizes: int) -> dict[str, str]:
    return {f"{b}.{i}": str(b) for b, size in enumerate(sizes) for i in range(size)}


def test_cases_that_are_blocks_of_their_own_have_the_plain_rate():
    events = {"a": 1.0, "b": 0.0, "c": 1.0}
    assert rate_of(events) == rate_of(events, {"a": "x", "b": "y", "c": "z"}) == Rate.of(2, 3)
    assert rate_of({}, {}) == Rate.of(0, 0)


@pytest.mark.parametrize(
    ("hits", "effective"),
    [
        ((4, 0, 4, 0), 3.0),  # blocks that vary as wholes: of 16 cases 4 - 1 tell something
        ((2, 2, 2, 2), 16.0),  # no variance between blocks: every case tells
        ((2, 2, 2, 1), 16.0),  # less variance than between independent cases: no more than every case
        ((4, 4, 4, 4), 16.0),  # no exception
    ],
)
def test_a_share_counts_as_many_cases_as_its_variance_between_blocks_says(hits, effective):
    blocks = blocks_of(4, 4, 4, 4)
    events = {case: float(int(case[2]) < hits[int(case[0])]) for case in blocks}
    rate = rate_of(events, blocks)
    assert (rate.n, rate.value) == (16, sum(hits) / 16)
    assert (rate.low, rate.high) == pytest.approx(score_interval(rate.value, effective, 4))


def test_of_two_blocks_that_contradict_each_other_one_case_is_left():
    blocks = blocks_of(5, 5)
    rate = rate_of({case: float(case[0] == "0") for case in blocks}, blocks)
    assert (rate.low, rate.high) == pytest.approx(score_interval(0.5, 1.0, 2))


def test_few_blocks_widen_the_interval_of_a_difference_and_alike_answers_do():
    blocks = blocks_of(6, 6, 6, 6, 6)
    hazard = {case: float(case[0] in "012") for case in blocks}
    nothing = dict.fromkeys(blocks, 0.0)
    alone, clustered = difference(hazard, nothing), difference(hazard, nothing, blocks)
    assert alone.value == clustered.value == 0.6
    assert clustered.high - clustered.low > 1.8 * (alone.high - alone.low)
    same, same_clustered = difference(hazard, hazard), difference(hazard, hazard, blocks)
    assert same_clustered.high > 2 * same.high > 0, (
        "what never differs is known no better than its answers vary"
    )


# --- ranks ----------------------------------------------------------------------------------------------------


def test_rank_intervals_are_those_of_all_draws():
    """Of two cases one tells a from b: drawn twice, once or never, so that they are apart or alike."""
    events = {"a": {"x": 1.0, "y": 0.0}, "b": {"x": 0.0, "y": 0.0}}
    by_name = ranks(events)
    assert (by_name["a"].value, by_name["a"].low, by_name["a"].high, by_name["a"].success) == (1, 1, 1.5, 0.5)
    assert (by_name["b"].value, by_name["b"].low, by_name["b"].high, by_name["b"].success) == (2, 1.5, 2, 0.0)
    one_block = ranks(events, {"x": "drive", "y": "drive"})
    assert (one_block["a"].low, one_block["a"].high) == (1, 1)
    assert ranks({"a": {"x": 1.0}, "b": {"y": 1.0}}) == {}


def test_items_say_what_moves_without_them():
    """Without x, a and b change their order; without y or z they are still apart, or alike."""
    events = {"a": {"x": 1.0, "y": 0.0, "z": 0.0}, "b": {"x": 0.0, "y": 0.5, "z": 0.0}}
    first, second, third = items(events)
    assert [i.case_id for i in (first, second, third)] == ["x", "y", "z"]
    assert (first.success, first.discrimination, first.tau, first.moved) == (0.5, pytest.approx(-1), -1.0, 1)
    assert (second.success, second.discrimination, second.tau, second.moved) == (
        0.25,
        pytest.approx(-1),
        1.0,
        0,
    )
    assert (third.discrimination, third.tau, third.moved) == (None, 1.0, 0)
    raw = {planner: dict.fromkeys("xyz", 1.0) for planner in events}
    assert {i.success for i in items(events, raw)} == {1.0}
    assert items({"a": {"x": 1.0}, "b": {"x": 0.0}}) == []
    tied = items({"a": {"x": 1.0, "y": 0.0}, "b": {"x": 0.0, "y": 0.0}})
    assert [(i.case_id, i.tau, i.moved) for i in tied] == [("x", None, 1), ("y", 1.0, 0)]


def test_tau_needs_two_planners_that_differ():
    assert tau({"a": 1.0, "b": 0.0}, {"a": 1.0, "c": 0.0}) is None
    assert tau({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 0.0}) is None
    assert tau({"a": 1.0, "b": 0.0, "x": 9.0}, {"a": 0.0, "b": 1.0}) == -1.0
