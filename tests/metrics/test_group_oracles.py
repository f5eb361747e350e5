"""Planner against planner and group against group: SciPy, binomial tails, a simulation, counts by hand."""

import math

import numpy as np
import pytest

from cfgen.metrics.breakdown import (
    AXES,
    DECEL,
    SPEED_KMH,
    axes_of,
    bin_of,
    breakdown,
    partial_reasons,
)
from cfgen.metrics.compare import PairedRuns, cases_needed, compare_all, holm, mcnemar
from cfgen.metrics.intervals import Difference, Rate, difference
from cfgen.metrics.success import success_row, successes
from cfgen.records import DIMENSIONS
from tests.metrics.test_success import verdict
from tests.reporting.bench import make_bench


def events(hits: int, n: int, start: int = 0) -> dict[str, float]:
    return {f"c{i:03d}": float(start <= i < start + hits) for i in range(n)}


# --- planner against planner ----------------------------------------------------------------------------


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 1), (3, 8), (10, 10), (25, 4)])
def test_mcnemar_is_twice_the_binomials_tail(b, c):
    tail = sum(math.comb(b + c, k) for k in range(min(b, c) + 1)) / 2 ** (b + c)
    assert mcnemar(b, c) == mcnemar(c, b) == pytest.approx(min(1.0, 2 * tail))


def test_holm_is_the_largest_bonferroni_so_far():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 9):
        p = rng.random(n) ** 3
        found = holm(p.tolist())
        for i in range(n):
            smaller = [j for j in range(n) if p[j] <= p[i]]
            left = [(n - sum(p[k] < p[j] for k in range(n))) * p[j] for j in smaller]
            assert found[i] == pytest.approx(min(1.0, max(left)))
    assert holm([]) == []


def test_discordant_cases_of_repeats_are_those_on_either_side_of_a_half():
    a = {"w": 1.0, "x": 0.5, "y": 2 / 3, "z": 0.0, "only": 1.0}
    b = {"w": 0.5, "x": 2 / 3, "y": 1.0, "z": 0.5}
    (pair,) = compare_all({"a": a, "b": b})
    # w: 1 against 0.5, a alone; x: 0.5 against 2/3, b alone; y: both; z: neither
    assert (pair.first_only, pair.second_only) == (1, 1)
    assert pair.p == pair.p_holm == 1.0
    assert pair.difference == difference(a, b)
    assert pair.difference.n == 4
    (turned,) = compare_all({"b": b, "a": a})
    assert (turned.first, turned.first_only, turned.difference.value) == ("b", 1, -pair.difference.value)


def test_every_pair_is_corrected_for_all_of_them():
    found = compare_all({"a": events(12, 66), "b": events(30, 66), "c": events(50, 66)})
    plain = [mcnemar(0, 18), mcnemar(0, 38), mcnemar(0, 20)]
    assert [p.p for p in found] == plain
    assert [p.p_holm for p in found] == holm(plain)
    assert found[0].difference == difference(events(12, 66), events(30, 66))
    blocks = {f"c{i:03d}": str(i // 3) for i in range(66)}
    (clustered,) = compare_all({"a": events(12, 66), "b": events(30, 66)}, blocks)
    assert clustered.difference == difference(events(12, 66), events(30, 66), blocks) != found[0].difference


def pair(value, p, n=40) -> PairedRuns:
    return PairedRuns("a", "b", Difference(n, value, None, None), 3, 4, p / 2, p)


def test_what_may_be_said_of_two_planners():
    assert pair(0.123, 0.049).sentence() == "a is ahead of b by 12.3 points on 40 cases (p = 0.049)."
    assert pair(-0.123, 0.0012).sentence() == "b is ahead of a by 12.3 points on 40 cases (p = 0.0012)."
    assert pair(0.123, 0.05).sentence() == "a and b cannot be told apart on 40 cases (p = 0.05)."
    assert pair(None, 1.0, n=0).sentence() == pair(0.0, 1.0, n=0).sentence() == "a and b share no case."
    assert [pair(0.1, p).distinct for p in (0.0499, 0.05, 0.2)] == [True, False, False]


@pytest.mark.parametrize(
    ("gap", "discordant", "power", "alpha"), [(0.1, 0.3, 0.8, 0.05), (0.08, 0.3, 0.9, 0.05)]
)
def test_so_many_cases_have_that_power_in_a_simulation(gap, discordant, power, alpha):
    n = cases_needed(gap, discordant, power, alpha)
    rng = np.random.default_rng(1)
    ups, downs = (discordant + gap) / 2, (discordant - gap) / 2
    drawn = rng.multinomial(n, [ups, downs, 1 - discordant], size=4000)[:, :2]
    found = {tuple(pair): mcnemar(*map(int, pair)) for pair in np.unique(drawn, axis=0)}
    assert np.mean([found[tuple(pair)] < alpha for pair in drawn]) == pytest.approx(power, abs=0.025)


def test_power_defaults_and_least_discordance():
    assert cases_needed(0.1, 0.3) == cases_needed(0.1, 0.3, 0.8, 0.05, tests=1)
    assert cases_needed(0.2, 0.05) == cases_needed(0.2, 0.2)


# --- strict success and groups --------------------------------------------------------------------------


def test_a_row_says_whose_it_is_and_counts_each_case_once():
    found = success_row(
        "p", "j", "null",
        [verdict(0, scores=(2, 0, 1)), verdict(0, "unknown", repeat=1), verdict(1, "failed"),
         verdict(1, "unknown", repeat=1), verdict(2, "failed"), verdict(3, "planner_failed"),
         verdict(3, "planner_failed", repeat=1)],
        ["c000", "c001", "c009"],
    )  # fmt: skip
    assert (found.planner, found.judge, found.arm) == ("p", "j", "null")
    assert (found.n, found.excluded, found.judge_failed, found.planner_failed, found.missing) == (
        2,
        1,
        1,
        1,
        1,
    )
    assert {d: r.hits for d, r in found.rates.items()} == {"reasoning": 1, "waypoints": 0, "overall": 0}
    assert [r.n for r in found.rates.values()] == [2, 2, 2]
    assert list(found.rates) == list(DIMENSIONS)


def test_only_a_two_is_a_success():
    for score in (0, 1, 2):
        assert successes([verdict(0, scores=(score, score, score))], "overall") == {"c000": float(score == 2)}
    assert successes([verdict(0, "failed"), verdict(1, "unknown")], "overall") == {}


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    store = make_bench(
        tmp_path_factory.mktemp("groups") / "b", n=14, scripts={}, arms=("hazard_d0.5", "hazard_d2.0")
    )
    return store.cases()


@pytest.mark.parametrize("axis", list(AXES))
def test_every_case_is_in_one_group_with_its_events(axis, cases):
    speeds = {c.scene_id: 3.0 * i for i, c in enumerate(cases)}
    events = {c.case_id: (i % 3) / 2 for i, c in enumerate(cases[:-1])}
    found = breakdown(axes_of(cases, speeds)[axis], events)
    assert sum(g.rate.n for g in found) == 13
    assert sum(g.rate.hits for g in found) == pytest.approx(sum(events.values()))
    assert found == sorted(found, key=lambda g: (g.order, -g.rate.n, g.label))
    for group in found:
        label = {
            "hazard": lambda c: c.hazard.name,
            "cluster": lambda c: c.hazard.cluster,
            "zone": lambda c: c.placement.zone.replace("_", " "),
            "distance": lambda c: span(c.placement.distance_m, (15, 25, 40, 60), "m"),
            "required deceleration": lambda c: span(c.placement.required_decel, (2, 3, 4, 5), "m/s²"),
            "speed": lambda c: span(3.6 * speeds[c.scene_id], (20, 40, 60, 80), "km/h"),
            "inpainter": lambda c: c.provenance.inpainter,
        }[axis]
        members = [events[c.case_id] for c in cases[:-1] if label(c) == group.label]
        assert group.rate == Rate.of(sum(members), len(members))


def span(value: float, ends: tuple[int, ...], unit: str) -> str:
    below = [e for e in ends if e <= value]
    if not below:
        return f"<{ends[0]} {unit}"
    return f"{ends[-1]}+ {unit}" if len(below) == len(ends) else f"{below[-1]}-{ends[len(below)]} {unit}"


def test_bins_keep_their_order_and_their_lower_end():
    assert [bin_of(v, DECEL, "m/s²")[0] for v in (1.99, 2.0, 4.99, 5.0)] == [
        "<2 m/s²",
        "2-3 m/s²",
        "4-5 m/s²",
        "5+ m/s²",
    ]
    places = [bin_of(v, SPEED_KMH, "km/h")[1] for v in (0, 20, 40, 60, 80, 200)]
    assert places == [20, 40, 60, 80, math.inf, math.inf]


def test_reasons_of_partial_scores_are_the_judges_own_where_it_gave_some():
    found = partial_reasons(
        [
            verdict(0, scores=(2, 1, 1)).model_copy(update={"flags": ("late", "terse")}),
            verdict(1, scores=(1, 1, 1)).model_copy(update={"flags": ("late",)}),
            verdict(2, scores=(1, 2, 0)),
            verdict(3, scores=(0, 2, 0)).model_copy(update={"flags": ("never",)}),
            verdict(4, "unknown"),
        ]
    )
    assert found == [("late", 2), ("terse", 1), ("partial: reasoning", 1)]
