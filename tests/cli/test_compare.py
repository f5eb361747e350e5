"""Two runs paired case by case; the expected figures are counted by hand from what the scripted planners do."""

import json
from pathlib import Path

import pytest

import cfgen
from cfgen.core.files import read_record, write_record
from cfgen.library.comparison import Rule
from cfgen.metrics.compare import compare_all
from cfgen.records import DIMENSIONS, JudgeRun, Verdict
from tests.benches import copy, run
from tests.reporting.bench import HASH, blind, careful, case_id, make_bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 cases. ``careful`` brakes unless i % 3 == 0, fails at 8, and the judge is lost at 10; ``blind`` never does."""
    out = tmp_path_factory.mktemp("compare") / "bench"
    make_bench(out, 12, {"careful": careful, "blind": blind}, ("hazard",))
    return out


def fails(bench: Path, *rules: str) -> tuple[int, str]:
    arguments = [word for rule in rules for word in ("--fail-if", rule)]
    code, _, err = run("analyze", "compare", f"{bench}:careful", "blind", *arguments)
    return code, err


def test_the_figures_are_those_counted_by_hand(bench: Path, tmp_path: Path):
    code, text, _ = run(
        "analyze", "compare", f"{bench}:careful", f"{bench}:blind", "--json", tmp_path / "c.json"
    )
    assert code == 0
    assert "| overall | 54.5 | 0.0 | -54.5 |" in text
    found = json.loads((tmp_path / "c.json").read_text())
    by_name = {row["dimension"]: row for row in found["dimensions"]}
    overall, reasoning = by_name["overall"], by_name["reasoning"]
    # careful succeeds at 1, 2, 4, 5, 7, 11 of the eleven cases that the judge could score for both
    assert (overall["n"], overall["only_a"], overall["only_b"]) == (11, 6, 0)
    assert overall["difference"] == pytest.approx(-6 / 11)
    assert overall["p"] == pytest.approx(2 * 0.5**6)
    # blind's words are right at 0, 4 and 8: both at 4, only blind at 0 and 8
    assert (reasoning["only_a"], reasoning["only_b"]) == (5, 2)
    assert reasoning["p"] == pytest.approx(2 * (21 + 7 + 1) / 2**7)
    assert overall["low"] < overall["difference"] < overall["high"] <= 0
    assert (found["only_a"], found["only_b"]) == (0, 1)  # case 10


@pytest.mark.parametrize(
    ("rules", "broken"),
    [
        (("overall drop > 54",), True),
        (("overall drop > 55",), False),
        (("overall rise > 0",), False),
        (("overall drop > 5 and p < 0.05",), True),
        (("overall drop > 5 and p < 0.03",), False),
        (("reasoning drop > 5 and p < 0.05",), False),
        (("overall rise > 5", "waypoints drop > 5"), True),
    ],
)
def test_a_rule_decides_the_exit_code(bench: Path, rules: tuple[str, ...], broken: bool):
    code, err = fails(bench, *rules)
    assert code == (1 if broken else 0)
    assert ("dropped by 54.5 points from careful to blind on 11 cases (p = 0.031)" in err) == broken


def test_exactly_the_points_of_a_rule_are_not_more(bench: Path):
    old = {str(i): float(i < 11) for i in range(20)}
    new = {str(i): float(i < 10) for i in range(20)}
    run = cfgen.open_benchmark(bench).run("careful")

    def holds(before: dict[str, float], after: dict[str, float], rule: str) -> bool:
        pairs = {d: compare_all({"b": after, "a": before})[0] for d in DIMENSIONS}
        return bool(cfgen.Comparison(run, run, "offline", "hazard", 0, 0, pairs).broken([Rule.of(rule)]))

    assert 100 * (11 / 20 - 10 / 20) > 5  # as computers count
    assert not holds(old, new, "overall drop > 5")
    assert holds(old, new, "overall drop > 4.9")
    assert not holds(old, new, "overall rise > 4.9")
    assert holds(new, old, "overall rise > 4.9")


@pytest.mark.parametrize(
    "rule", ["overall > 5", "speed drop > 5", "overall drop < 5", "overall drop > 5 or p < 1"]
)
def test_what_is_no_rule_is_refused(bench: Path, rule: str):
    code, err = fails(bench, rule)
    assert code == 2
    assert f"rule '{rule}': expected" in err


def test_the_same_benchmark_in_two_places_can_be_paired(bench: Path, tmp_path: Path):
    other = copy(bench, tmp_path / "other")
    found = cfgen.compare(f"{bench}:careful", f"{other}:careful")
    assert [(row["difference"], row["only_a"], row["p"]) for row in found.rows()] == [(0.0, 0, 1.0)] * 3
    assert found.names == (f"{bench}:careful", f"{other}:careful")
    assert run("analyze", "compare", f"{bench}:careful", f"{other}:blind")[0] == 0


def test_a_run_against_itself_is_said_to_be_that(bench: Path):
    code, text, err = run(
        "analyze", "compare", f"{bench}:careful", "careful", "--fail-if", "overall drop > 5"
    )
    assert code == 0
    assert "careful is compared with itself: nothing can differ, and no rule can break" in err
    assert "A and B are the same run." in text
    assert "same run" not in run("analyze", "compare", f"{bench}:careful", "blind")[1]


def refused(a: object, b: object, *more: str) -> str:
    code, _, err = run("analyze", "compare", a, b, *more)
    assert code == 2
    assert err.count("\n") == 1
    return err


def test_unlike_things_are_not_compared(bench: Path, tmp_path: Path):
    fewer = tmp_path / "fewer"
    make_bench(fewer, 11, {"blind": blind}, ("hazard",))
    assert "are different benchmarks: their scenes differ" in refused(f"{bench}:blind", f"{fewer}:blind")

    repainted = copy(bench, tmp_path / "repainted")
    record = next(repainted.glob("cases/*/*/case.json"))
    case = cfgen.open_benchmark(repainted)[record.parent.name].record
    write_record(record, case.model_copy(update={"files": {**case.files, "augmented.png": HASH}}))
    assert f"case {case.case_id} has other frames" in refused(f"{bench}:blind", f"{repainted}:blind")

    assert "planner 'nobody' was not scored" in refused(f"{bench}:careful", "nobody")
    assert "no benchmark directory" in refused(tmp_path / "nowhere", "careful")
    assert "found the folder alone" in refused(bench, "careful")
    assert "has no outcome for 'blind' in the arm 'null'" in refused(
        f"{bench}:careful", "blind", "--arm", "null"
    )


def test_other_judges_wordings_and_options_are_not_compared(bench: Path, tmp_path: Path):
    out = copy(bench, tmp_path / "b")
    store = cfgen.open_benchmark(out).store
    path = store.verdict_path("offline", "blind", "hazard", case_id(0))
    verdict = read_record(path, Verdict)
    write_record(path, verdict.model_copy(update={"rubric_hash": "sha256:" + "1" * 64}))
    assert "by different wordings of its rubric" in refused(f"{out}:careful", "blind")

    (out / "verdicts" / "offline" / "blind").rename(out / "other")
    assert "found 'careful' by offline and 'blind' by nobody" in refused(f"{out}:careful", "blind")
    assert "asked for jury" in refused(f"{out}:careful", "blind", "--judge", "jury")

    now = copy(bench, tmp_path / "now")
    for root, votes in ((bench, 1), (now, 3)):
        judge = JudgeRun(
            judge="offline",
            spec="offline",
            rubric="hazard",
            rubric_version="1",
            rubric_hash=HASH,
            options={"votes": votes},
        )
        cfgen.open_benchmark(root).store.register_judge(judge)
    assert "with another 'votes'" in refused(f"{bench}:careful", f"{now}:blind")
