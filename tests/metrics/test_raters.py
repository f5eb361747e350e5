"""Several raters, and people who correct a judge: against published examples and by simulation."""

import numpy as np
import pytest
from scipy.stats import t as student

from cfgen.metrics.agreement import gwet_ac1, kappa, krippendorff_alpha
from cfgen.metrics.estimates import corrected

#: Krippendorff 2011, example C: four observers, twelve units, 0 is missing
PUBLISHED = [
    [v or None for v in row]
    for row in (
        (1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0),
        (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3),
        (0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0),
        (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0),
    )
]
FIVE = (1, 2, 3, 4, 5)


def test_published_examples():
    assert krippendorff_alpha(PUBLISHED, FIVE) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(PUBLISHED, FIVE, "ordinal") == pytest.approx(0.815, abs=5e-4)
    assert gwet_ac1(PUBLISHED, FIVE) == pytest.approx(0.77544, abs=5e-6)


def test_of_two_raters_alpha_is_scotts_pi_but_for_few_examples_and_ac1_is_close_to_accuracy():
    rng = np.random.default_rng(1)
    a = rng.choice([0, 1, 2], 4000, p=[0.9, 0.05, 0.05])
    b = np.where(rng.random(4000) < 0.9, a, rng.choice([0, 1, 2], 4000, p=[0.9, 0.05, 0.05]))
    table = np.zeros((3, 3), int)
    np.add.at(table, (a, b), 1)
    raters = [a.tolist(), b.tolist()]
    assert krippendorff_alpha(raters) == pytest.approx(kappa(table), abs=5e-3)
    assert gwet_ac1(raters) == pytest.approx((a == b).mean(), abs=0.01)


def test_what_cannot_be_said_is_not_said():
    assert krippendorff_alpha([[2, None], [None, 1]]) is None
    assert gwet_ac1([[2, None], [None, 1]]) is None
    assert krippendorff_alpha([[2, 2], [2, 2]]) is None, "nothing differs"
    assert gwet_ac1([[2, 2], [2, 2]]) == 1.0
    assert krippendorff_alpha([[0, 1, None], [0, 1, 2]]) == 1.0
    with pytest.raises(ValueError, match="expected labels"):
        gwet_ac1([[7], [1]])


# --- people correct the judge -------------------------------------------------------------------------------


def study(rng: np.random.Generator, n: int, rated: int, base: float, wrong: tuple[float, float]):
    """What people would say of every case, what a judge that errs both ways says, and the part that people rated."""
    people = rng.random(n) < base
    judge = np.where(people, rng.random(n) >= wrong[0], rng.random(n) < wrong[1])
    part = rng.permutation(n)[:rated]
    judged = {f"c{i}": float(v) for i, v in enumerate(judge)}
    return judged, {f"c{i}": float(people[i]) for i in part}


@pytest.mark.parametrize(
    ("n", "rated", "base", "wrong"),
    [
        (66, 30, 0.3, (0.1, 0.2)),
        (300, 60, 0.3, (0.1, 0.2)),
        (300, 60, 0.05, (0.2, 0.05)),
        (300, 40, 0.5, (0.5, 0.5)),
    ],
)
def test_a_judge_that_errs_is_corrected(n, rated, base, wrong):
    """Over 600 studies: unbiased, its interval holds the truth, and it is narrower than that of the people alone."""
    rng = np.random.default_rng(5)
    found = [corrected(*study(rng, n, rated, base, wrong)) for _ in range(600)]
    values = np.array([f.corrected.value for f in found])
    assert values.mean() == pytest.approx(base, abs=3.5 * values.std() / np.sqrt(600) + 0.004)
    assert np.mean([f.corrected.low <= base <= f.corrected.high for f in found]) == pytest.approx(
        0.955, abs=0.03
    )
    width = np.mean([f.corrected.high - f.corrected.low for f in found])
    assert width < 1.02 * np.mean([f.people.high - f.people.low for f in found])


def test_it_holds_for_the_benchmark_itself():
    """What people would have said of its very cases, over 600 draws of those they rate."""
    rng = np.random.default_rng(8)
    people = rng.random(120) < 0.3
    judge = np.where(people, rng.random(120) >= 0.1, rng.random(120) < 0.2)
    judged = {f"c{i}": float(v) for i, v in enumerate(judge)}
    drawn = [rng.permutation(120)[:40] for _ in range(600)]
    found = [corrected(judged, {f"c{i}": float(people[i]) for i in part}).corrected for part in drawn]
    assert np.mean([f.value for f in found]) == pytest.approx(people.mean(), abs=0.01)
    assert np.mean([f.low <= people.mean() <= f.high for f in found]) >= 0.95


def test_the_corrected_mean_by_hand():
    """Five rated of ten: people 1 1 0 1 0, the judge 1 1 0 0 0 and 1 on one of the five others."""
    judged = {f"c{i}": v for i, v in enumerate([1.0, 1, 0, 0, 0, 1, 0, 0, 0, 0])}
    found = corrected(judged, {f"c{i}": v for i, v in enumerate([1.0, 1, 0, 1, 0])}, fewest=1)
    # the judge's variance over the rated is 0.3, its covariance with people 0.2; its mean 0.4 there, 0.3 over all
    assert found.trust == pytest.approx(2 / 3)
    assert found.corrected.value == pytest.approx(0.6 + 2 / 3 * (0.3 - 0.4))
    assert (found.judge.value, found.people.value) == pytest.approx((0.3, 0.6))
    assert (found.judge.n, found.people.n, found.corrected.n) == (10, 5, 10)
    # people less 2/3 of the judge: 1/3 1/3 0 1 0, with variance 1/6; over all, the judge's is 7/30
    variance = (1 / 6) / 5 + 4 / 9 * (7 / 30) / 10
    p, t2 = found.corrected.value, student.ppf(0.975, 4) ** 2
    n = p * (1 - p) / variance
    half = np.sqrt(t2 * p * (1 - p) / n + t2**2 / (4 * n**2)) / (1 + t2 / n)
    assert (found.corrected.high - found.corrected.low) / 2 == pytest.approx(half)


@pytest.mark.parametrize("rated", [range(30), range(1, 90, 3), range(7), [0]])
def test_a_judge_that_people_agree_with_is_believed(rated):
    """Whatever was rated: all kinds, or by chance one kind alone."""
    judged = {f"c{i}": float(i % 3 == 0) for i in range(90)}
    found = corrected(judged, {f"c{i}": judged[f"c{i}"] for i in rated}, fewest=1).corrected
    assert found.value == pytest.approx(1 / 3)
    assert found.low < 1 / 3 < found.high


def test_what_nobody_or_everybody_rated_needs_no_correction():
    judged = {f"c{i}": float(i % 2) for i in range(20)}
    nobody, everybody = corrected(judged, {}), corrected(judged, judged)
    assert (nobody.corrected.n, nobody.people.value) == (0, None)
    assert everybody.corrected == everybody.people == everybody.judge
    below = corrected({"a": -1.0, "b": 0.0, "c": 1.0, "d": 0.0}, {"a": 0.0, "b": 0.0}, lowest=-1.0, fewest=2)
    assert -1 <= below.corrected.low <= below.corrected.value <= below.corrected.high <= 1


def test_too_few_ratings_correct_nothing():
    judged = {f"c{i}": float(i % 3 == 0) for i in range(60)}
    few, enough = (corrected(judged, {f"c{i}": judged[f"c{i}"] for i in range(n)}) for n in (19, 20))
    assert (few.corrected.value, few.people.n, few.judge.n) == (None, 19, 60)
    assert enough.corrected.value == pytest.approx(1 / 3)


def test_all_alike_is_not_known_exactly():
    judged = dict.fromkeys(map(str, range(60)), 1.0)
    found = corrected(judged, dict.fromkeys(map(str, range(20)), 1.0)).corrected
    t = student.ppf(0.975, 19)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(20 / (20 + t**2)), "Wilson's for 20 of 20"
