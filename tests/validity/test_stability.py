"""Rankings against SciPy, closed forms and tables made by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, multinomial, pointbiserialr

import cfgen
from cfgen.cli.main import main
from cfgen.metrics.stability import items, ranks, tau
from tests.reporting.bench import blind, careful, make_bench, straight


def table(*rows: str) -> dict[str, dict[str, float]]:
    """A planner for each row of 0 and 1."""
    return {f"p{i}": {f"c{k}": float(v) for k, v in enumerate(row)} for i, row in enumerate(rows)}


def test_tau_counts_pairs():
    """Four planners, one swapped pair of six: (5 - 1) / 6."""
    first = dict(zip("abcd", (4, 3, 2, 1), strict=True))
    assert tau(first, {"a": 4, "b": 2, "c": 3, "d": 1, "e": 9}) == pytest.approx(4 / 6)
    assert tau(first, {"a": 1, "b": 2, "c": 3, "d": 4}) == -1
    assert tau(first, {"a": 1, "b": 1}) is None
    assert tau(first, {"a": 1}) is None


def test_ranks_are_as_sure_as_the_cases_are_many():
    sure = ranks(table("1" * 40, "1" * 20 + "0" * 20, "0" * 40))
    assert [(r.value, r.low, r.high) for r in sure.values()] == [(1, 1, 1), (2, 2, 2), (3, 3, 3)]
    even = ranks(table("10" * 20, "01" * 20))
    assert [(r.value, r.low, r.high) for r in even.values()] == [(1.5, 1, 2)] * 2
    one_drive = ranks(table("1100", "1000"), dict.fromkeys(("c0", "c1", "c2", "c3"), "drive"))
    assert [(r.low, r.high) for r in one_drive.values()] == [(1, 1), (2, 2)], (
        "one block: the same draw always"
    )


def test_rank_intervals_hold_what_the_sampling_distribution_says():
    """Two planners differ on d of n cases, k of them in favour of the first: P(draw ties or turns) is multinomial."""
    found = ranks(table("1110" + "0" * 6, "0001" + "0" * 6), resamples=4000)
    draws = np.random.default_rng(9).multinomial(10, [0.3, 0.1, 0.6], 100_000)
    first = 1.5 - 0.5 * np.sign(draws[:, 0] - draws[:, 1])
    assert (found["p0"].low, found["p0"].high) == tuple(np.percentile(first, [2.5, 97.5]))


def test_items_against_scipy():
    rng = np.random.default_rng(3)
    events = {f"p{i}": {f"c{k:02}": float(rng.random() < 0.2 + 0.1 * i) for k in range(12)} for i in range(7)}
    grid = np.array([[e[c] for c in sorted(e)] for e in events.values()])
    for item in items(events):
        k = int(item.case_id[1:])
        rest = grid.sum(axis=1) - grid[:, k]
        assert item.success == grid[:, k].mean()
        if item.discrimination is not None:
            assert item.discrimination == pytest.approx(pointbiserialr(grid[:, k] > 0.5, rest).statistic)
        assert item.tau == pytest.approx(kendalltau(grid.sum(axis=1), rest).statistic)


def test_the_case_that_carries_the_ranking_comes_first():
    """p0 leads by c0 alone: without it both are alike. All others leave the order."""
    found = items(table("1110", "0110"))
    assert (found[0].case_id, found[0].moved, found[0].tau) == ("c0", 1, None)
    assert [i.moved for i in found[1:]] == [0, 0, 0]
    assert all(i.discrimination is None for i in found if i.case_id == "c3"), "nobody succeeds there"


def test_planners_rank_by_hits_minus_false_alarms(tmp_path: Path):
    """Who brakes for everything scores highest in the raw, and is last without its false alarms."""

    def always(seed: int, arm: str):
        return straight(12, 0.0 if arm == "original" else 3.0), (2, 2, 2)

    def seldom(seed: int, arm: str):
        seen = arm == "hazard" and seed % 2
        return straight(12, 3.0 if seen else 0.0), (2, 2, 2) if seen else (0, 0, 0)

    make_bench(tmp_path / "a", 4, {"always": always, "seldom": seldom})
    (found,) = cfgen.stability([tmp_path / "a"]).variants
    assert found.false_alarms == "nuisance"
    assert found.success == {"always": 0.0, "seldom": 0.5}
    make_bench(tmp_path / "b", 4, {"always": always, "seldom": seldom}, arms=("hazard",))
    (raw,) = cfgen.stability([tmp_path / "b"]).variants
    assert (raw.false_alarms, raw.success) == ("none", {"always": 1.0, "seldom": 0.5})


def test_the_command_across_two_benchmarks(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The second benchmark ranks the other way round: tau -1."""

    def sharp(seed: int, arm: str):
        return straight(12, 3.0 if arm == "hazard" else 0.0), (2, 2, 2) if arm == "hazard" else ""

    make_bench(tmp_path / "a", 4, {"one": sharp, "two": careful, "three": blind}, arms=("hazard",))
    make_bench(tmp_path / "b", 4, {"one": blind, "two": careful, "three": sharp}, arms=("hazard",))
    out = tmp_path / "s.json"
    assert main(["analyze", "stability", str(tmp_path / "a"), str(tmp_path / "b"), "--json", str(out)]) == 0
    assert "| one | 1 (1-" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert [(t["tau"], t["planners"]) for t in found["taus"]] == [(-1.0, 3)]
    assert main(["analyze", "stability", str(tmp_path / "a"), "--planners", "one"]) == 2
    assert "expected two planners or more" in capsys.readouterr().err


def test_ranks_within_95_percent_of_draws():
    """30 cases, 8 at which only one succeeds and 3 at which only the other does: it is behind in 4.2% of all draws."""
    draws = multinomial(30, [8 / 30, 3 / 30, 19 / 30])
    behind = sum(draws.pmf([i, j, 30 - i - j]) for i in range(31) for j in range(i + 1, 31 - i))
    assert 0.025 < behind < 0.05
    better = {str(i): float(i < 8) for i in range(30)}
    worse = {str(i): float(8 <= i < 11) for i in range(30)}
    found = ranks({"better": better, "worse": worse})["better"]
    assert (found.value, found.low, found.high) == (1.0, 1.0, 2.0)
