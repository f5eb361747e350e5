"""Weighted rates: worked by hand, and their intervals on frames of which all is known."""

import numpy as np
import pytest

from cfgen.metrics.estimates import case_weights, weighted_rate
from cfgen.records import StratumOutcome


def outcome(scenes, tried, with_case):
    return StratumOutcome(
        condition="c",
        scenes=scenes,
        drawn=tried,
        usable=tried,
        tried=tried,
        with_case=with_case,
        cases=with_case,
        wanted=with_case,
        p_selected=tried / scenes,
        p_refused=1 - with_case / tried,
    )


def test_weights_are_the_scenes_that_a_case_stands_for():
    strata = [outcome(1000, 10, 5), outcome(100, 20, 20)]
    scene_of = {"a": "s1", "b": "s1", "c": "s2", "d": "t1", "e": "unknown"}
    found = case_weights(scene_of, {"s1": 0, "s2": 0, "t1": 1}, strata)
    # half of the 1000 can carry a hazard; two of its scenes count, one by two cases
    assert found == {"a": 125, "b": 125, "c": 250, "d": 100}


def test_a_rate_worked_by_hand():
    weights, strata = {"a": 3.0, "b": 3.0, "c": 1.0, "d": 1.0}, {"a": 0, "b": 0, "c": 1, "d": 1}
    found = weighted_rate({"a": 1, "b": 0, "c": 1, "d": 1}, weights, strata)
    assert found.value == pytest.approx(5 / 8)
    # z = w (y - R) / 8: 9/64, -15/64 in the first stratum; both 3/64 in the second, which varies by nothing
    assert found.effective == pytest.approx(min(15 / 64 / (2 * 2 * (12 / 64) ** 2), 64 / 20))
    assert found.low < 5 / 8 < found.high
    assert weighted_rate({}, weights, strata) is None


def test_equal_weights_are_the_plain_rate():
    events = {f"c{i}": float(i % 3 == 0) for i in range(30)}
    found = weighted_rate(events, dict.fromkeys(events, 2.0), dict.fromkeys(events, 0))
    assert (found.value, found.n) == (pytest.approx(1 / 3), 30)
    assert found.effective == pytest.approx(29)
    sure = weighted_rate(dict.fromkeys(events, 1.0), dict.fromkeys(events, 2.0), dict.fromkeys(events, 0))
    assert (sure.value, sure.high) == (1, 1)
    assert sure.low == pytest.approx(0.878, abs=0.005)


def test_oversampled_strata_are_weighted_back_and_intervals_hold():
    """10,000 scenes, 500 of them hard, which give half of 66 cases. Of the others, 40% are refused."""
    rng = np.random.default_rng(5)
    truth = (0.6 * 9500 * 0.7 + 500 * 0.1) / (0.6 * 9500 + 500)
    raw, values, held = [], [], 0
    for _ in range(300):
        tried = 33 + rng.negative_binomial(33, 0.6)
        strata = [outcome(9500, tried, 33), outcome(500, 33, 33)]
        events = {f"e{i}": float(rng.random() < 0.7) for i in range(33)}
        events |= {f"h{i}": float(rng.random() < 0.1) for i in range(33)}
        place = {case: int(case[0] == "h") for case in events}
        weights = case_weights({case: case for case in events}, place, strata)
        found = weighted_rate(events, weights, place)
        raw.append(np.mean(list(events.values())))
        values.append(found.value)
        held += found.low <= truth <= found.high
    assert abs(np.mean(values) - truth) < 0.015
    assert np.mean(raw) < truth - 0.2
    assert 0.92 <= held / 300 <= 0.99
