"""Strict success: the paper's rows from the paper's counts, and everything that is not a score."""

import pytest
from scipy.stats import binomtest

from cfgen.metrics.intervals import Rate
from cfgen.metrics.success import success_row, successes
from cfgen.records import DIMENSIONS, Verdict

HASH = "sha256:" + "0" * 64


def verdict(case: int, status: str = "scored", scores=(2, 2, 2), repeat: int = 0) -> Verdict:
    return Verdict(
        judge="j",
        rubric="hazard",
        rubric_version="1",
        rubric_hash=HASH,
        planner="p",
        case_id=f"c{case:03d}",
        arm="hazard",
        repeat=repeat,
        status=status,
        scores=dict(zip(DIMENSIONS, scores, strict=True)) if status == "scored" else {},
        input_hash=HASH,
    )


def counted(n: int, reasoning: int, waypoints: int, overall: int) -> list[Verdict]:
    """n verdicts of which the first so many are 2 and the rest 0 or 1."""
    return [
        verdict(i, scores=tuple(2 if i < k else i % 2 for k in (reasoning, waypoints, overall)))
        for i in range(n)
    ]


@pytest.mark.parametrize(
    ("counts", "row"),
    [
        ((66, 12, 21, 5), ("18.2", "31.8", "7.6")),
        ((66, 6, 14, 3), ("9.1", "21.2", "4.5")),
        ((66, 11, 16, 3), ("16.7", "24.2", "4.5")),
        ((65, 11, 10, 3), ("16.9", "15.4", "4.6")),
    ],
)
def test_table_5(counts, row):
    found = success_row("p", "j", "hazard", counted(*counts))
    assert tuple(found.rates[d].percent() for d in DIMENSIONS) == row
    assert found.n == counts[0]


def test_one_of_66_left_out_gives_the_65_of_the_paper():
    verdicts = [*counted(65, 11, 10, 3), verdict(65, "unknown")]
    found = success_row("p", "j", "hazard", verdicts, [f"c{i:03d}" for i in range(66)])
    assert (found.n, found.excluded, found.missing) == (65, 1, 0)
    assert found.rates["reasoning"].percent() == "16.9"


def test_everything_that_is_not_a_score_is_counted_once():
    verdicts = [
        verdict(0),
        verdict(1, "planner_failed"),
        verdict(2, "unknown"),
        verdict(3, "failed"),
        verdict(4, "failed"),
    ]
    found = success_row("p", "j", "hazard", verdicts, [f"c{i:03d}" for i in range(7)])
    assert found.n == 2, "a planner's failure counts against it"
    assert (found.excluded, found.judge_failed, found.planner_failed, found.missing) == (1, 2, 1, 2)
    assert found.rates["overall"].value == 0.5


def test_repeats_average_within_their_case():
    verdicts = [verdict(0), verdict(0, scores=(2, 0, 0), repeat=1), verdict(1, scores=(0, 0, 0))]
    assert successes(verdicts, "waypoints") == {"c000": 0.5, "c001": 0.0}
    found = success_row("p", "j", "hazard", verdicts)
    assert (found.n, found.rates["waypoints"].value) == (2, 0.25)


@pytest.mark.parametrize(("k", "n"), [(0, 66), (12, 66), (66, 66), (3, 65), (1, 1)])
def test_intervals_are_scipys(k, n):
    rate, expected = Rate.of(k, n), binomtest(k, n).proportion_ci(method="wilson")
    assert rate.low == pytest.approx(expected.low, abs=1e-12)
    assert rate.high == pytest.approx(expected.high, abs=1e-12)


def test_no_cases_no_numbers():
    found = success_row("p", "j", "hazard", [])
    assert found.rates["overall"].percent() == "-"
    assert found.rates["overall"].interval() == "-"


def test_cases_in_which_nothing_is_due_are_counted_apart():
    flag = ("no response due: the original plan clears it anyway",)
    verdicts = [verdict(case).model_copy(update={"flags": flag if case < 2 else ()}) for case in range(5)]
    row = success_row("p", "j", "hazard", verdicts)
    assert (row.n, row.not_due, row.rates["waypoints"].value) == (5, 2, 1.0)
