"""The metrics that ship against closed forms, and means against what SciPy says."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from cfgen.metrics.kinematics import hardest_braking_ms2, held_back_m, smallest_gap_m, speed_change_ms
from cfgen.metrics.registry import Mean, mean, measure, over_repeats
from cfgen.records import Placement, Size
from tests.reporting.bench import straight


def standing(x: float) -> Placement:
    """A box of 2 m by 2 m in the lane, its middle ``x`` m ahead."""
    return Placement(
        zone="ego_lane", x=x, y=0, yaw=0, size=Size(length=2, width=2, height=1), distance_m=x, lateral_m=0,
        required_decel=3, foot_px=(0, 0), box_px=(0, 0, 1, 1),
    )  # fmt: skip


KEEPS, BRAKES = straight(12), straight(12, 3)  # 72 m in 6 s; v^2 / 2a = 24 m and a stand after 4 s


def test_braking_and_keeping_on_by_closed_forms():
    at = standing(40)
    assert held_back_m(KEEPS, BRAKES, at, None) == pytest.approx(72 - 24)
    assert held_back_m(KEEPS, KEEPS, at, None) == 0
    assert speed_change_ms(KEEPS, BRAKES, at, None) == pytest.approx(-12, abs=0.1)
    assert hardest_braking_ms2(KEEPS, BRAKES, at, None) == pytest.approx(3, abs=0.15)
    # the front is 3.8 m before the rear axle, the box begins at 39 m
    assert smallest_gap_m(KEEPS, BRAKES, at, None) == pytest.approx(39 - 24 - 3.8)
    assert smallest_gap_m(BRAKES, KEEPS, at, None) == 0


def test_a_mean_has_scipys_interval_and_the_number_of_cases():
    values = np.random.default_rng(3).gamma(2, 3, 40)
    found = mean({f"{i:02d}": v for i, v in enumerate(values)})
    reference = bootstrap((values,), np.mean, method="percentile", n_resamples=20000, random_state=1)
    low, high = reference.confidence_interval
    assert (found.n, found.value) == (40, pytest.approx(values.mean()))
    assert found.low == pytest.approx(low, abs=0.15)
    assert found.high == pytest.approx(high, abs=0.15)
    assert mean({"a": 2.0, "b": 2.0}) == Mean(2, 2.0, None, None)
    assert mean({}) == Mean(0, None, None, None)


def test_repeats_are_one_case():
    assert over_repeats({("a", 0): 1.0, ("a", 1): 2.0, ("b", 0): 5.0}) == {"a": 1.5, "b": 5.0}


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [(float("nan"), ValueError, "finite number or None, found nan"), ("7", TypeError, "or None, found '7'")],
)
def test_what_is_no_number_is_refused(answer, error, words):
    with pytest.raises(error, match=words):
        measure(lambda *_: answer, KEEPS, BRAKES, standing(40), None)
