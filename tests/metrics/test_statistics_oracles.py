"""Rates, agreement and comparisons against SciPy's distributions and sums written out another way."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binom, binomtest, dirichlet, norm

from cfgen.metrics.agreement import agreement, comparison, confusion, consensus, kappa, pairwise
from cfgen.metrics.intervals import Difference, Rate, difference, mcnemar_mid_p, tango
from cfgen.metrics.registry import measure
from cfgen.metrics.success import response


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


# --- hits minus false alarms ----------------------------------------------------------------------------


def test_tangos_interval_is_the_published_one():
    """Bentur et al. 2009, as Fagerland, Lydersen and Laake (2014) print it."""
    assert tango(1, 7, 21, norm.ppf(0.975)) == pytest.approx((-0.517, -0.026), abs=6e-4)
    assert tango(7, 1, 21, norm.ppf(0.975)) == pytest.approx((0.026, 0.517), abs=6e-4)


@pytest.mark.parametrize(("b", "c", "n"), [(40, 20, 160), (3, 0, 20), (7, 7, 30)])
def test_tangos_ends_are_where_the_constrained_likelihood_puts_the_statistic(b, c, n):
    """The nuisance share by numerical maximum of the likelihood, not by Tango's closed form."""

    def statistic(delta: float) -> float:
        def lack(q: float) -> float:
            return -(b * math.log(q + delta) + c * math.log(q) + (n - b - c) * math.log(1 - 2 * q - delta))

        bounds = (max(0.0, -delta) + 1e-12, (1 - delta) / 2 - 1e-12)
        q = minimize_scalar(lack, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
        return (b - c - n * delta) / math.sqrt(n * (2 * q + delta * (1 - delta)))

    for end, z in zip(tango(b, c, n, 1.96), (1.96, -1.96), strict=True):
        assert statistic(end) == pytest.approx(z, abs=1e-3)


def test_mid_p_is_the_published_one_and_halves_what_was_seen():
    assert mcnemar_mid_p(1, 7) == pytest.approx(0.0391, abs=1e-4), "Fagerland et al. 2013"
    exact = binomtest(3, 12).pvalue
    assert mcnemar_mid_p(3, 9) == mcnemar_mid_p(9, 3) == pytest.approx(exact - binom.pmf(3, 12, 0.5))
    assert mcnemar_mid_p(0, 0) == 1.0
    assert mcnemar_mid_p(4, 4) == pytest.approx(1 - 0.5 * binom.pmf(4, 8, 0.5))


def test_cases_of_a_block_count_as_one_where_they_do_the_same():
    """Ten times the same cases in their blocks are known about as well as those alone."""
    a, b = [1.0, 1.0, 0.0, 1.0, 0.0, 1.0] * 5, [0.0, 1.0, 0.0, 0.0, 1.0, 0.0] * 5
    once = difference(dict(enumerate(a)), dict(enumerate(b)))
    blocks = {i: str(i % 30) for i in range(300)}
    ten = difference(dict(enumerate(a * 10)), dict(enumerate(b * 10)), blocks)
    assert (ten.n, ten.value) == (300, pytest.approx(once.value))
    assert (ten.low, ten.high) == pytest.approx((once.low, once.high), abs=0.02)
    loose = difference(dict(enumerate(a * 10)), dict(enumerate(b * 10)))
    assert loose.high - loose.low < 0.5 * (ten.high - ten.low)


def test_an_interval_is_that_of_the_paired_differences():
    rng = np.random.default_rng(8)
    a, b = rng.random((2, 200)).round(3)
    cases = [f"c{i}" for i in range(200)]
    found = difference(dict(zip(cases, a, strict=True)), dict(zip(cases, b, strict=True)))
    half = norm.ppf(0.975) * (a - b).std() / math.sqrt(200)
    assert found.value == pytest.approx((a - b).mean())
    assert found.low == pytest.approx(found.value - half, abs=0.1 * half)
    assert found.high == pytest.approx(found.value + half, abs=0.1 * half)


def test_nothing_to_compare():
    nothing = Difference(0, None, None, None)
    assert difference({}, {}) == difference({"a": 1.0}, {}) == difference({"a": 1.0}, {"b": 1.0}) == nothing
    assert response({"a": 1.0}, {"nuisance": {"b": 1.0}}).difference == nothing
    assert response({}, {"nuisance": {"b": 1.0}}).hits.n == 0


def test_the_difference_is_that_of_the_shared_cases():
    hazard = {"a": 1.0, "b": 1.0, "c": 0.0}
    found = response(hazard, {"nuisance": {"a": 1.0, "b": 0.0, "z": 0.0}})
    assert (found.difference.n, found.difference.value) == (2, 0.5)
    assert (found.hits, found.false_alarms) == (Rate.of(2, 3), Rate.of(1, 3))


def test_each_kappas_interval_is_of_its_own_weights():
    """The same ratings with 2 told from 0 as 1 is: only the quadratic kappa and its interval know how far apart."""
    a, b = raters()
    whole = agreement(a, b)
    assert whole.quadratic_interval != whole.kappa_interval
    two = [[min(v, 1) for v in r] for r in (a, b)]
    halves = agreement(*two, labels=(0, 1))
    assert halves.quadratic_interval == halves.kappa_interval, "with two labels there is one distance"
    assert whole.quadratic_interval[0] < whole.quadratic < whole.quadratic_interval[1]


def test_a_metric_gets_both_plans_the_placement_and_the_case_in_this_order():
    assert measure(lambda *given: float(given == (1, 2, 3, 4)), 1, 2, 3, 4) == 1.0
