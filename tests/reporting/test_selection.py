"""Verified selection in one table, on answers whose calls, contacts and successes are written by hand."""

from pathlib import Path

import numpy as np

from cfgen.core.files import read_record
from cfgen.records import Rollout
from cfgen.reporting import cases
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.sections.faithfulness import selection_table
from cfgen.traces.pool import build_pool
from cfgen.traces.probe import VerifierChecker, probe_edges
from tests.reporting.bench import case_id, make_bench, straight


def drives_on(seed: int, arm: str):
    return straight(12), (0, 0, 0) if arm == "hazard" else ""


def stops(seed: int, arm: str):
    return straight(12, 6.0), (2, 2, 2) if arm == "hazard" else ""


def test_rows_by_calls_with_contact_and_the_verifiers_own_test(tmp_path: Path, monkeypatch):
    scripts = {"base": drives_on, "chosen": stops, "voted": drives_on, "alone": drives_on}
    store = make_bench(tmp_path / "b", 3, scripts, arms=("hazard",))
    for name, mode, plans, checks in (("chosen", "best_of_n", 4, 4), ("voted", "self_consistency", 8, 0)):
        for i in range(3):
            path = store.rollout_path(name, "hazard", case_id(i))
            told = {
                "mode": mode,
                "base": "base",
                "verifier": "offline" if checks else "",
                "plan_calls": plans,
                "verifier_calls": checks,
            }
            one = read_record(path, Rollout)
            store.write_rollout(
                one.model_copy(update={"report": {"verified": told}, "latency_s": float(plans)})
            )
    rows = {row[1]: row for row in selection_table(read_report_data(store)).rows}
    assert list(rows) == ["base", "chosen", "voted"], (
        "who selects nothing and is selected from by nobody is left out"
    )
    assert rows["chosen"][2:5] == ("VEGAS, best of N", "8.0", "4.0")
    assert rows["voted"][2:5] == ("self-consistency", "8.0", "8.0")
    assert rows["base"][2:5] == ("plain", "1.0", "1.0")
    # 12 m/s for 6 s is 72 m, and hazards stand at 18 to 20 m; at 6 m/s^2 the bumper stops at 16 m
    nose = 144 / 12 + 3.8
    long = [c.placement.distance_m - c.placement.size.length / 2 < nose + 0.5 for c in store.cases()]
    contacts = [float(rows[p][8]) for p in ("base", "chosen", "voted")]
    assert contacts == [100.0, round(100 * sum(long) / 3, 1), 100.0]
    assert [rows[p][7] for p in ("base", "chosen")] == ["0.0", "100.0"]
    assert [rows[p][9] for p in ("chosen", "voted")] == ["4", "8"]
    assert [rows[p][12:] for p in ("chosen", "voted")] == [("untested",) * 2, ("-", "-")]
    blank = np.zeros((8, 8, 3), np.uint8)
    for name in ("bev", "speed_plot"):
        monkeypatch.setattr(f"cfgen.traces.probe.{name}", lambda points: blank)
    pool = build_pool(store, per_edge=6, seed=1, relations=("E4", "E5"))
    probe = probe_edges(store.root, VerifierChecker("offline"), pool, quiet=True)
    rows = {row[1]: row for row in selection_table(read_report_data(store)).rows}
    assert rows["chosen"][12].startswith(("1.000 (", "0.9"))
    failed = [
        k
        for name, k in probe.kinds.items()
        if "driven" in name or "falls short" in name or "too late" in name
    ]
    assert rows["chosen"][13] == f"{sum(k.right for k in failed)} of {sum(k.n for k in failed)}"
    assert sum(k.n for k in failed) >= 2


def test_a_panel_shows_the_verdicts_of_the_judge_that_its_planner_has(tmp_path: Path, monkeypatch):
    store = make_bench(tmp_path / "b", 2, {"often": stops, "once": stops}, arms=("hazard",))
    (judged,) = (store.root / "verdicts").iterdir()
    (store.root / "verdicts" / "other").mkdir()
    (judged / "once").rename(store.root / "verdicts" / "other" / "once")
    shown = []
    monkeypatch.setattr(
        cases, "case_panel", lambda item: shown.append(item.explanation) or np.zeros((2, 2, 3), np.uint8)
    )
    data = read_report_data(store, ["often", "once"])
    assert (data.judge_of("often"), data.judge_of("once")) == (judged.name, "other")
    assert cases.write_panels(tmp_path / "r", data, 1) == (2, [])
    assert "not judged" not in shown
