"""Floor, comparison and breakdown on numbers small enough to check by hand."""

import itertools
import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, multinomial

from cfgen.metrics.breakdown import DISTANCE_M, bin_of, partial_reasons
from cfgen.metrics.compare import cases_needed, compare_all, holm, mcnemar, mcnemar_power
from cfgen.metrics.floor import above_floor, d_prime
from cfgen.metrics.paired import blocks_of, difference, recording_of
from cfgen.metrics.rates import Rate
from cfgen.reporting.sections.success import sentence
from tests.metrics.test_success import verdict


def events(hits: int, n: int, start: int = 0) -> dict[str, float]:
    return {f"c{i:03d}": float(start <= i < start + hits) for i in range(n)}


def test_the_headline_is_above_the_declared_floor():
    controls = {"rerun": events(2, 60), "null": events(6, 60), "nuisance": {}}
    floor = above_floor(events(30, 60), controls)
    assert (floor.kind, floor.arms, len(floor.shared)) == ("mean", ("rerun", "null"), 60)
    assert floor.headline.value == pytest.approx((30 - (2 + 6) / 2) / 60)
    assert floor.headline.low < floor.headline.value < floor.headline.high
    assert floor.worst == "null"
    assert floor.conservative.value == pytest.approx((30 - 6) / 60)
    assert floor.above["rerun"].value == pytest.approx(28 / 60)
    assert set(floor.controls) == {"rerun", "null"}, "an arm that was not run is no floor"
    assert above_floor(events(30, 60), controls, "worst").headline == floor.conservative
    assert above_floor(events(30, 60), controls, "null").headline == floor.above["null"]
    absent = above_floor(events(30, 60), controls, "nuisance")
    assert (absent.headline.value, absent.arms, absent.shared) == (None, (), ())


def test_pairs_only_cases_that_both_arms_have():
    found = difference({"a": 1.0, "b": 1.0, "c": 0.0}, [{"b": 0.0, "c": 0.0, "d": 1.0}])
    assert (found.n, found.value) == (2, 0.5)


def test_pairing_narrows_the_interval():
    """The same cases set off both arms: their difference is known better than each rate."""
    alike = difference(events(30, 60), [events(25, 60)])
    apart = difference(events(30, 60), [events(25, 60, start=35)])
    assert alike.value == apart.value
    assert alike.high - alike.low < 0.6 * (apart.high - apart.low)


def test_an_indifferent_planner_has_nothing_above_the_floor():
    same = events(20, 60)
    floor = above_floor(same, {"null": same, "nuisance": events(20, 60, start=10)})
    assert floor.headline.value == 0
    assert floor.headline.high <= 0.2
    assert floor.d_prime["null"] == 0


def test_a_planner_that_never_reacts_is_not_known_exactly():
    found = difference(events(0, 66), [events(0, 66)])
    assert found.value == 0
    assert found.high == -found.low == pytest.approx(Rate.of(0, 66).high)


def test_without_controls_there_is_no_headline_difference():
    floor = above_floor(events(3, 10), {})
    assert (floor.headline.value, floor.worst, floor.hazard.n) == (None, "", 10)


def test_d_prime_by_hand():
    # (84 + .5) / 101 = 0.8366 -> z 0.981; (15 + .5) / 101 = 0.1535 -> z -1.022
    assert d_prime(Rate.of(84, 100), Rate.of(15, 100)) == pytest.approx(2.0025, abs=0.003)
    assert d_prime(Rate.of(10, 10), Rate.of(0, 10)) < 5, "perfect planners stay finite"


def test_mcnemar_by_hand():
    assert mcnemar(0, 0) == 1
    assert mcnemar(0, 5) == pytest.approx(2 / 32)
    assert mcnemar(1, 7) == pytest.approx(2 * 9 / 256)
    assert mcnemar(3, 3) == 1


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_only_raises_and_keeps_order(p):
    corrected = holm(p)
    assert all(q >= v for v, q in zip(p, corrected, strict=True))
    ranked = sorted(range(len(p)), key=p.__getitem__)
    assert all(corrected[a] <= corrected[b] for a, b in itertools.pairwise(ranked))


def test_pairs_say_what_can_be_said():
    found = compare_all({"a": events(12, 66), "b": events(11, 66), "c": events(50, 66)})
    assert [(p.first, p.second) for p in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found[0].sentence() == "a and b cannot be told apart on 66 cases (p = 1)."
    assert (found[1].first_only, found[1].second_only) == (0, 38)
    assert found[1].p_holm == pytest.approx(2 * binomtest(0, 38).pvalue)
    assert found[1].sentence().startswith("c is ahead of a by 57.6 points on 66 cases")


def test_power_is_that_of_the_exact_test():
    """Every outcome of 40 cases by the trinomial distribution, with the test's own p."""
    first, second, n = 0.3, 0.1, 40
    power = 0.0
    for a, b in itertools.product(range(n + 1), repeat=2):
        if a + b <= n and mcnemar(a, b) < 0.02:
            power += multinomial.pmf([a, b, n - a - b], n, [first, second, 1 - first - second])
    assert mcnemar_power(n, first - second, first + second, 0.02) == pytest.approx(power)
    assert mcnemar_power(3, 0.4, 0.4) == 0.0, "three cases can never be told apart"


def test_cases_needed_have_the_power_at_the_level_that_holm_leaves():
    assert mcnemar_power(cases_needed(0.1, 0.2), 0.1, 0.2) >= 0.8
    # the normal approximation says 155
    assert 155 <= cases_needed(0.1, 0.2) < 175
    assert mcnemar_power(cases_needed(0.1, 0.2, tests=6), 0.1, 0.2, 0.05 / 6) >= 0.8
    assert cases_needed(0.1, 0.2, tests=6) > 1.4 * cases_needed(0.1, 0.2)
    assert cases_needed(0.2, 0.2) < cases_needed(0.1, 0.2) < cases_needed(0.05, 0.2)
    assert cases_needed(0.2, 0.0) == cases_needed(0.2, 0.2), (
        "a difference takes at least that many discordant cases"
    )


def test_bins_hold_every_value():
    assert bin_of(3, DISTANCE_M, "m") == ("<15 m", 15)
    assert bin_of(15, DISTANCE_M, "m") == ("15-25 m", 25)
    assert bin_of(500, DISTANCE_M, "m") == ("60+ m", float("inf"))


def test_partial_scores_by_reason():
    verdicts = [
        verdict(0, scores=(1, 0, 0)),
        verdict(1, scores=(1, 0, 0)),
        verdict(2, scores=(2, 1, 1)),
        verdict(3),
    ]
    assert partial_reasons(verdicts) == [("partial: reasoning", 2), ("partial: waypoints, overall", 1)]


def test_the_headline_says_less_where_it_is_less_and_names_the_worst_arm():
    controls = {"rerun": events(30, 60), "null": events(20, 60)}
    above, below = (sentence("p", above_floor(events(n, 60), controls), "judge") for n in (50, 10))
    assert ": +41.7 points (95% interval +" in above
    assert re.search(
        r"-25\.0 points \(95% interval -\d+\.\d to -\d+\.\d, 60 cases\) against what judge", below
    )
    assert (
        "Against its worst arm alone (rerun), which is too low on average: -33.3 points (95% interval -"
        in below
    )
    assert "worst" not in sentence("p", above_floor(events(50, 60), {"null": controls["null"]}), "judge")


@pytest.mark.parametrize(
    ("extra", "recordings", "blocks", "said"),
    [
        # moments of one log that has no name but its source, 5 s apart: one recording, five stretches of 20 s
        (
            lambda i: {"t0_log_s": 5.0 * i},
            1,
            5,
            "20 s of driving (5 blocks; so few say little), as one drive",
        ),
        (lambda i: {"drive": f"run{i // 2}", "t0_in_drive_s": 1.0 * i}, 10, 10, "by drive (10 drives)"),
        (lambda i: {}, 20, 20, "by drive (20 drives)"),
    ],
)
def test_one_recording_is_one_drive(extra, recordings: int, blocks: int, said: str):
    """The same for intervals as for the split of training sets."""
    scenes = {f"c{i}": SimpleNamespace(extra=extra(i), source="log", scene_id=f"s{i}") for i in range(20)}
    found, words = blocks_of(scenes)
    assert len({recording_of(scene) for scene in scenes.values()}) == recordings
    assert len(set(found.values())) == blocks
    assert said in words
