"""Third parties' metrics and sections in a report, some of which break."""

import csv
import json
from pathlib import Path

import pytest

from cfgen.cli.main import main
from cfgen.storage.store import Store
from tests.plugins import install
from tests.reporting.bench import careful, case_id, make_bench

METRICS = '''
def end_m(original, modified, placement, case):
    """Where it ends, m ahead; only of cases whose name ends in an even digit."""
    original[:] = modified[:] = modified  # its own copies
    return modified[-1, 0] if int(case.case_id[-1]) % 2 == 0 else None

def raises(original, modified, placement, case):
    raise KeyError("no such thing")
'''
SECTIONS = '''
from cfgen.reporting.section import Section
from cfgen.reporting.section import Table

def answers(data):
    """How many answers."""
    rows = tuple((p, str(len(data.rollouts[p]))) for p in data.planners)
    table = Table("leaderboard", "Answers <counted>", ("planner", "N"), rows)
    return Section("<b>", "Answers & more", tables=(table,), figures={"success": len(rows)})

def raises(data):
    raise KeyError("no such thing")

def climbs(data):
    return Section("x", "x", tables=(Table("../../up", "t", ("a",), (("1",),)),))

def words(data):
    return "a section"
'''


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_bench(tmp_path / "bench", 4, {"careful": careful}, arms=("hazard", "rerun"))


def test_a_metric_shows_with_its_interval_and_case_by_case(store, tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, "their_metrics", METRICS, "[cfgen.metrics]\nend_m = their_metrics:end_m\n")
    out = tmp_path / "r"
    assert main(["report", str(store.root), "--out", str(out), "--sections", "metrics"]) == 0
    figures = json.loads((out / "report.json").read_text())["metrics"]
    found = next(f for f in figures if (f["metric"], f["arm"]) == ("end_m", "hazard"))
    # cases 0 and 3 drive on for 72 m, 1 and 2 brake at 3 m/s^2 from 12 m/s; names end in 3, 2, 1, 0
    even = [i for i in range(4) if int(case_id(i)[-1], 16) % 2 == 0]
    assert found["n"] == len(even) == 2
    # as a car drives the plan, to a centimetre
    assert found["value"] == pytest.approx(sum(72 if i in (0, 3) else 24 for i in even) / 2, abs=0.01)
    assert found["low"] <= found["value"] <= found["high"]
    rows = list(csv.DictReader((out / "tables" / "cases.csv").open()))
    assert len(rows) == 8
    cell = {(r["arm"], r["case"]): r["end_m"] for r in rows}
    for i in range(4):
        if i not in even:
            assert cell["hazard", case_id(i)] == cell["rerun", case_id(i)] == ""
            continue
        assert float(cell["hazard", case_id(i)]) == pytest.approx(72 if i in (0, 3) else 24, abs=0.02)
        assert float(cell["rerun", case_id(i)]) == pytest.approx(72, abs=0.02)
    page = (out / "index.html").read_text()
    assert "end_m: Where it ends, m ahead" in page
    table = list(csv.DictReader((out / "tables" / "metrics.csv").open()))
    assert {r["metric"] for r in table} >= {"end_m", "smallest-gap-m", "held-back-m"}


def test_a_metric_that_breaks_stops_nothing_else(store, tmp_path, monkeypatch, capsys):
    points = "[cfgen.metrics]\nend_m = their_metrics:end_m\nraises = their_metrics:raises\ngone = nowhere:x\n"
    install(tmp_path, monkeypatch, "their_metrics", METRICS, points)
    out = tmp_path / "r"
    assert main(["report", str(store.root), "--out", str(out), "--sections", "metrics"]) == 1
    said = capsys.readouterr()
    assert "metric plug-in 'gone' (nowhere:x) failed to import" in said.err
    assert "Left out: metric 'raises' on careful, hazard of case" in said.out
    assert said.out.count("metric 'raises'") == 1
    figures = json.loads((out / "report.json").read_text())
    assert {f["metric"]: f["n"] for f in figures["metrics"] if f["arm"] == "hazard"}["end_m"] == 2
    assert figures["success"]
    with pytest.raises(KeyError, match="no such thing"):
        main(["report", str(store.root), "--out", str(out), "--sections", "metrics", "--strict"])


def test_a_section_stands_after_ours_with_names_of_its_own(store, tmp_path, monkeypatch):
    points = "[cfgen.report_sections]\nanswers = their_sections:answers\n"
    install(tmp_path, monkeypatch, "their_sections", SECTIONS, points)
    out = tmp_path / "r"
    assert main(["report", str(store.root), "--out", str(out), "--sections", "metrics"]) == 0
    page = (out / "index.html").read_text()
    assert '<section id="answers"><details class="fold" open><summary><h2>Answers &amp; more</h2>' in page
    assert page.index('<section id="answers">') > page.index('<section id="motion">')
    assert (out / "tables" / "answers-leaderboard.csv").read_text() == "planner,N\ncareful,12\n"
    assert "judge" in (out / "tables" / "leaderboard.csv").read_text()
    figures = json.loads((out / "report.json").read_text())
    assert figures["section answers"] == {"success": 1}
    assert isinstance(figures["success"], list)
    assert "## Answers & more" in (out / "report.md").read_text()


def test_sections_that_break_are_left_out_and_named(store, tmp_path, monkeypatch, capsys):
    names = ("answers", "raises", "climbs", "words")
    points = "".join(f"{name} = their_sections:{name}\n" for name in names)
    install(
        tmp_path,
        monkeypatch,
        "their_sections",
        SECTIONS,
        f"[cfgen.report_sections]\n{points}gone = nowhere:x\n",
    )
    out = tmp_path / "r"
    assert main(["report", str(store.root), "--out", str(out), "--sections", "metrics"]) == 1
    said = capsys.readouterr().out
    assert "section 'raises': KeyError" in said
    assert "section 'climbs'" in said
    assert "found '../../up'" in said
    assert "expected a Section, found str" in said
    assert "section 'gone'" in said
    page = (out / "index.html").read_text()
    assert "Answers &amp; more" in page
    assert "Leaderboard" in page
    assert not list(tmp_path.glob("up*"))
