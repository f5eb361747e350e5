"""Rates, agreement and comparisons against SciPy's distributions and sums written out another way."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binomtest, dirichlet, norm
from scipy.stats import t as student

from cfgen.metrics.agreement import agreement, comparison, confusion, consensus, kappa, pairwise
from cfgen.metrics.intervals import Difference, Rate, difference, worst_difference
from cfgen.metrics.registry import measure
from cfgen.metrics.success import above_floor, d_prime


def events(hits: int, n: int, start: int = 0) -> dict[str, float]:
    return {f"c{i:03d}": float(start <= i < start + hits) for i in range(n)}


# --- rates ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_wilson_solves_its_own_equation(confidence):
    """Its ends are where the observed share lies z standard errors from the true one."""
    z = norm.ppf(0.5 + confidence / 2)
    for hits, n in ((3, 17), (7.5, 20), (40, 41)):
        rate = Rate.of(hits, n, confidence)
        assert (rate.hits, rate.n, rate.value) == (hits, n, hits / n)
        for end, sign in ((rate.low, 1), (rate.high, -1)):
            assert rate.value - end == pytest.approx(sign * z * math.sqrt(end * (1 - end) / n))
    assert Rate.of(3, 17) == Rate.of(3, 17, 0.95)


def test_no_hit_and_all_hits_reach_the_very_end():
    none, every = Rate.of(0, 9), Rate.of(9, 9)
    assert (none.low, every.high) == (0.0, 1.0)
    assert none.high == pytest.approx(1 - every.low)
    for n in range(1, 200):
        assert Rate.of(0, n).low == 0.0
        assert Rate.of(n, n).high == 1.0
    assert 0.5 < every.low < 1.0


def test_a_rate_in_words():
    rate = Rate(12, 66, 0.18181818, 0.10712345, 0.29098765)
    assert (rate.percent(), rate.percent(0), rate.percent(3)) == ("18.2", "18", "18.182")
    assert (rate.interval(), rate.interval(2)) == ("10.7-29.1", "10.71-29.10")
    assert Rate.of(0, 0) == Rate(0, 0, None, None, None)
    assert (Rate.of(0, 0).percent(), Rate.of(0, 0).interval()) == ("-", "-")


# --- agreement ------------------------------------------------------------------------------------------


def raters(n=80, seed=3):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n)
    b = np.where(rng.random(n) < 0.6, a, rng.integers(0, 3, n))
    return a.tolist(), b.tolist()


def kappa_by_pairs(a, b, weight) -> float:
    """1 - mean disagreement of the pairs as they are over that of all pairs of one rating each."""
    seen = np.mean([weight(x, y) for x, y in zip(a, b, strict=True)])
    chance = np.mean([weight(x, y) for x, y in itertools.product(a, b)])
    return 1 - seen / chance


def test_the_interval_of_kappa_is_that_of_the_dirichlet_it_names():
    """Against SciPy's draws: one answer spread evenly below, one agreed on and a quarter spread evenly above."""
    counts = np.array([3, 1, 0, 1])
    found = agreement([0, 0, 0, 0, 1], [0, 0, 0, 1, 1], labels=(0, 1), resamples=100_000)
    assert found.kappa_interval is not None
    priors = ([1 / 4] * 4, [1 / 2 + 1 / 16, 1 / 16, 1 / 16, 1 / 2 + 1 / 16])
    for end, prior, share in zip(found.kappa_interval, priors, (2.5, 97.5), strict=True):
        a, b, c, d = dirichlet.rvs(counts + prior, size=100_000, random_state=5).T
        kappas = 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))
        assert end == pytest.approx(np.percentile(kappas, share), abs=0.004)


def test_kappas_are_disagreement_over_that_of_strangers():
    a, b = raters()
    found = agreement(a, b)
    assert found.kappa == pytest.approx(kappa_by_pairs(a, b, lambda x, y: x != y))
    assert found.quadratic == pytest.approx(kappa_by_pairs(a, b, lambda x, y: (x - y) ** 2))
    assert found.accuracy == pytest.approx(np.mean(np.array(a) == b))
    for label, recall in enumerate(found.recall):
        assert recall == pytest.approx(np.mean([y == label for x, y in zip(a, b, strict=True) if x == label]))
    assert found.labels == (0, 1, 2)
    assert sum(map(sum, found.confusion)) == found.n == 80
    assert found.confusion[0][1] == sum((x, y) == (0, 1) for x, y in zip(a, b, strict=True))


def test_quadratic_weights_go_by_the_labels_places():
    a, b = raters()
    words = ["low", "mid", "high"]
    table = confusion([words[x] for x in a], [words[x] for x in b], words)
    assert table.dtype.kind == "i"
    assert kappa(table, quadratic=True) == agreement(a, b).quadratic
    two = agreement([0, 1, 1, 0], [0, 1, 0, 0], labels=(0, 1))
    assert two.kappa == two.quadratic == pytest.approx(0.5), "of two labels both are the same"
    assert two.kappa_interval is not None


def test_one_rating_says_nothing_about_chance():
    assert kappa(np.array([[1, 0], [0, 0]])) is None
    assert kappa(np.array([[0, 1], [0, 0]])) == 0.0
    assert kappa(np.zeros((2, 2), int)) is None


def test_shares_have_wilsons_interval():
    a, b = raters(n=60)
    found = agreement(a, b)
    hits = round(60 * found.accuracy)
    assert found.accuracy_interval == pytest.approx(binomtest(hits, 60).proportion_ci(method="wilson"))
    for label, interval in enumerate(found.recall_interval):
        row = found.confusion[label]
        assert interval == pytest.approx(binomtest(row[label], sum(row)).proportion_ci(method="wilson"))
    assert agreement([0, 2], [0, 2]).recall_interval[1] is None
    assert agreement(a, b) == agreement(a, b, seed=0, resamples=2000)
    assert agreement(a, b) != agreement(a, b, seed=1)


def test_sixty_six_of_sixty_six_is_not_known_exactly():
    ratings = [0] * 40 + [1] * 20 + [2] * 6
    found = agreement(ratings, ratings)
    assert (found.kappa, found.quadratic) == (1.0, 1.0)
    for low, high in (found.accuracy_interval, found.kappa_interval, found.quadratic_interval):
        assert 0.8 < low < 0.99
        assert high > 0.995


@pytest.mark.parametrize(
    ("n", "base", "same"),
    [
        (30, (0.5, 0.5), 0.95),
        (30, (0.95, 0.05), 0.8),
        (66, (0.9, 0.05, 0.05), 0.6),
        (66, (0.9, 0.05, 0.05), 0.8),
        (66, (0.4, 0.3, 0.3), 0.95),
    ],
)
def test_kappas_interval_holds_at_few_and_at_rare_ratings(n, base, same):
    """Raters who agree for a reason in a share ``same`` of the answers have just that for their kappa."""
    rng = np.random.default_rng(2)
    labels = range(len(base))
    held, defined = 0, 0
    for _ in range(300):
        a = rng.choice(labels, n, p=base)
        b = np.where(rng.random(n) < same, a, rng.choice(labels, n, p=base))
        interval = agreement(a.tolist(), b.tolist(), labels, resamples=500).kappa_interval
        if interval is not None:
            defined += 1
            held += interval[0] <= same <= interval[1]
    assert defined > 150
    assert held / defined >= 0.93


def test_nothing_rated_has_every_field_empty():
    found = agreement([], [])
    assert (found.n, found.labels, found.confusion) == (0, (0, 1, 2), ((0, 0, 0),) * 3)
    assert found.recall == found.recall_interval == (None, None, None)
    for name in ("accuracy", "kappa", "quadratic"):
        assert getattr(found, name) is None
        assert getattr(found, f"{name}_interval") is None


def test_a_comparison_is_the_agreement_as_a_record():
    a, b = raters()
    record, found = comparison(a, b), agreement(a, b)
    for name in type(record).model_fields:
        assert getattr(record, name) == getattr(found, name), name
    assert None not in record.model_dump().values()


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ((0, 0, 2), 0),
        ((0, 2), None),
        ((0, 1, 2), None),
        ((2, None, None), 2),
        ((1, 1, 2, 2), None),
        ((None,), None),
    ],
)
def test_consensus_is_the_mode_where_there_is_one(votes, said):
    assert consensus([[v] for v in votes]) == [said]
    with pytest.raises(ValueError, match=r"shorter|longer"):
        consensus([[1], [1, 2]])


def test_every_pair_of_raters_has_its_own_kappa():
    a, b = raters()
    c = raters(seed=9)[1]
    found = pairwise([a, b, c], (0, 1, 2))
    for i, j in itertools.product(range(3), repeat=2):
        expected = (
            None if i == j else pytest.approx(kappa_by_pairs((a, b, c)[i], (a, b, c)[j], lambda x, y: x != y))
        )
        assert found[i][j] == expected


# --- above the floor ------------------------------------------------------------------------------------


def test_the_worst_of_two_cases_has_three_outcomes():
    """Drawn with return: both a, both b, or one of each with probability 1/4, 1/4, 1/2; no surer than of one arm."""
    none, one = {"a": 0.0, "b": 0.0}, {"a": 1.0, "b": 0.0}
    found, alone = worst_difference(one, [none, none]), difference(one, [none])
    assert (found.n, found.value, found.low, found.high) == (2, 0.5, alone.low, 1.0)


def test_a_pair_of_shares_joins_wilsons_ends_with_their_correlation():
    """Newcombe's method 10 by its own 2 x 2 table, with Student's t for 79 degrees of freedom."""
    both, first, second, neither = 20, 21, 12, 27
    n = both + first + second + neither
    a = dict(enumerate([1.0] * (both + first) + [0.0] * (second + neither)))
    b = dict(enumerate([1.0] * both + [0.0] * first + [1.0] * second + [0.0] * neither))
    found = difference(a, [b])
    z, m = student.ppf(0.975, n - 1), n - 1  # a variance with n - 1 below it is one of n - 1 cases

    def end(p: float, far: float) -> float:
        return brentq(lambda q: abs(q - p) - z * math.sqrt(q * (1 - q) / m), p, far)

    p1, p2 = (both + first) / n, (both + second) / n
    (l1, u1), (l2, u2) = ((end(p, 0.0), end(p, 1.0)) for p in (p1, p2))
    phi = (both * neither - first * second) / math.sqrt(41 * 39 * 32 * 48)
    low = math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    high = math.sqrt((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
    assert (found.n, found.value) == (n, pytest.approx(p1 - p2))
    assert (found.low, found.high) == pytest.approx((p1 - p2 - low, p1 - p2 + high))


def test_cases_of_a_block_count_as_one_where_they_do_the_same():
    """Ten times the same six cases in their blocks are known as well as those six."""
    a, b = [1.0, 1.0, 0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    once = difference(dict(enumerate(a)), [dict(enumerate(b))])
    ten = difference(dict(enumerate(a * 10)), [dict(enumerate(b * 10))], {i: str(i % 6) for i in range(60)})
    assert (ten.n, ten.value) == (60, pytest.approx(once.value))
    assert (ten.low, ten.high) == pytest.approx((once.low, once.high))
    loose = difference(dict(enumerate(a * 10)), [dict(enumerate(b * 10))])
    assert loose.high - loose.low < 0.5 * (ten.high - ten.low)


def test_an_interval_is_that_of_the_paired_differences():
    rng = np.random.default_rng(8)
    a, b = rng.random((2, 200)).round(3)
    cases = [f"c{i}" for i in range(200)]
    found = difference(dict(zip(cases, a, strict=True)), [dict(zip(cases, b, strict=True))])
    half = norm.ppf(0.975) * (a - b).std() / math.sqrt(200)
    assert found.value == pytest.approx((a - b).mean())
    assert found.low == pytest.approx(found.value - half, abs=0.06 * half)
    assert found.high == pytest.approx(found.value + half, abs=0.06 * half)


def test_the_worst_arm_is_found_anew_in_every_draw():
    """Two controls as good as each other: the larger of the two is above either, so the interval lies lower."""
    hazard, one, two = events(40, 80), events(20, 80), events(20, 80, start=30)
    both, alone = worst_difference(hazard, [one, two]), difference(hazard, [one])
    assert both.value == alone.value == 0.25
    assert (both.low + both.high) / 2 < (alone.low + alone.high) / 2 - 0.02


@pytest.mark.parametrize(("hazard", "control"), [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (1.0, 1.0)])
def test_where_every_case_shows_the_same_the_interval_is_wilsons(hazard, control):
    cases = [f"c{i}" for i in range(12)]
    found = difference(dict.fromkeys(cases, hazard), [dict.fromkeys(cases, control)])
    half = binomtest(0, 12).proportion_ci(method="wilson").high
    value = hazard - control
    assert (found.n, found.value) == (12, value)
    assert (found.low, found.high) == pytest.approx((max(-1, value - half), min(1, value + half)))


def test_nothing_to_compare():
    nothing = Difference(0, None, None, None)
    assert (
        difference({}, [{}]) == difference({"a": 1.0}, []) == difference({"a": 1.0}, [{"b": 1.0}]) == nothing
    )
    apart = above_floor({"a": 1.0}, {"null": {"b": 1.0}})
    assert (apart.worst, apart.headline, apart.above["null"]) == ("", nothing, nothing)
    assert apart.d_prime["null"] == pytest.approx(norm.ppf(1.5 / 2) - norm.ppf(1.5 / 2))
    empty = above_floor({}, {"null": {"b": 1.0}})
    assert (empty.hazard.n, empty.d_prime) == (0, {})


def test_the_worst_control_is_that_of_the_shared_cases():
    """Over all its cases "rerun" is worst, but on those that all arms share "null" is."""
    hazard = {"a": 1.0, "b": 1.0, "c": 0.0}
    controls = {"rerun": {"a": 0.0, "b": 0.0, "x": 1.0, "y": 1.0}, "null": {"a": 1.0, "b": 0.0, "z": 0.0}}
    found = above_floor(hazard, controls)
    assert found.worst == "null"
    assert (found.headline.n, found.headline.value) == (2, 0.75)
    assert (found.conservative.n, found.conservative.value) == (2, 0.5)
    assert found.controls == {"rerun": Rate.of(2, 4), "null": Rate.of(1, 3)}
    assert found.hazard == Rate.of(2, 3)
    assert {arm: d.value for arm, d in found.above.items()} == {"rerun": 1.0, "null": 0.5}
    for arm, d in found.above.items():
        assert d == difference(hazard, [controls[arm]])
    assert found.conservative == worst_difference(hazard, [controls["rerun"], controls["null"]])
    assert found.shared == ("a", "b")


@pytest.mark.parametrize(("hits", "alarms"), [((8, 10), (1, 12)), ((0, 10), (12, 12)), ((2.5, 5), (2, 4))])
def test_d_prime_is_scipys_quantiles_with_half_an_event_on_each_side(hits, alarms):
    (h, n), (f, m) = hits, alarms
    expected = norm.ppf((h + 0.5) / (n + 1)) - norm.ppf((f + 0.5) / (m + 1))
    assert d_prime(Rate.of(h, n), Rate.of(f, m)) == pytest.approx(expected)
    assert above_floor({"a": 1.0}, {"null": {"a": 0.0}}).d_prime["null"] == pytest.approx(2 * norm.ppf(0.75))


def test_each_kappas_interval_is_of_its_own_weights():
    """The same ratings with 2 told from 0 as 1 is: only the quadratic kappa and its interval know how far apart."""
    a, b = raters()
    whole = agreement(a, b)
    assert whole.quadratic_interval != whole.kappa_interval
    two = [[min(v, 1) for v in r] for r in (a, b)]
    halves = agreement(*two, labels=(0, 1))
    assert halves.quadratic_interval == halves.kappa_interval, "with two labels there is one distance"
    assert whole.quadratic_interval[0] < whole.quadratic < whole.quadratic_interval[1]


def test_a_floor_is_the_same_for_the_same_seed():
    hazard, null = events(14, 30), events(5, 30)
    assert above_floor(hazard, {"null": null}, seed=3) == above_floor(hazard, {"null": null}, seed=3)


def test_a_metric_gets_both_plans_the_placement_and_the_case_in_this_order():
    assert measure(lambda *given: float(given == (1, 2, 3, 4)), 1, 2, 3, 4) == 1.0
