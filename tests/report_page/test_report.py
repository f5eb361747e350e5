"""The report of a benchmark made by hand."""

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cfgen.cli.main import main
from cfgen.core.errors import InputError, StoreError
from cfgen.metrics.breakdown import dose_response
from cfgen.records import Fault, Rejection
from cfgen.report import report
from cfgen.report_page.data import read_report_data
from cfgen.report_page.events import judged
from cfgen.report_page.sections.groups import groups_section
from cfgen.report_page.table import Table
from tests.report_page.bench import blind, make_bench, straight, write_swap


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bench(tmp_path_factory.mktemp("made") / "bench").root


def test_leaderboard_counts_everything(bench: Path, tmp_path: Path):
    written = report(bench, tmp_path / "r")
    rows = {
        row["planner"]: row for row in csv.DictReader((tmp_path / "r" / "tables" / "leaderboard.csv").open())
    }
    # careful, 12 cases: 8 failed to plan, 10 unknown; of the other ten, 0, 3, 6, 9 keep going
    careful = rows["careful"]
    assert (careful["N"], careful["excluded"], careful["planner failed"]) == ("11", "1", "1")
    assert careful["overall %"] == f"{100 * 6 / 11:.1f}"
    assert (rows["blind"]["reasoning %"], rows["blind"]["overall %"]) == ("25.0", "0.0")
    assert written.leaderboard.rows[0][0] == "careful", "the best comes first"


def test_every_number_of_the_floor_is_kept(bench: Path, tmp_path: Path):
    report(bench, tmp_path / "r", panels=0)
    floors = json.loads((tmp_path / "r" / "report.json").read_text())["floor"]
    found = next(f for f in floors if (f["planner"], f["event"]) == ("careful", "overall"))
    # nuisance arm: cases 0, 5 set it off; 10 would, but the judge finds nothing there
    assert found["controls"]["nuisance"]["hits"] == 2
    assert found["worst"] == "nuisance"
    # hazard arm without case 10: 6 of 11; nuisance on the same cases: 2 of 11
    assert found["headline"]["value"] == pytest.approx(4 / 11)
    assert (found["headline"]["n"], found["hazard"]["n"]) == (11, 11)
    trajectory = next(f for f in floors if (f["planner"], f["event"]) == ("blind", "trajectory"))
    assert trajectory["hazard"]["hits"] == 0


def near_sighted(seed: int, arm: str):
    """Reacts to what is near: always at 0.7 of the distance, to every other case at 1, never at 1.4."""
    reacts = arm == "hazard_d0.7" or (arm == "hazard" and seed % 2 == 0)
    return straight(12, 3.0 if reacts else 0.0), (2, 2, 2) if reacts else (0, 0, 0)


def test_dose_response(tmp_path: Path):
    arms = ("hazard", "hazard_d0.7", "hazard_d1.4")
    store = make_bench(tmp_path / "b", 4, {"near": near_sighted}, arms=arms)
    data = read_report_data(store)
    events = {arm: judged(data, "near", arm, "overall") for arm in arms}
    found = dose_response(data.cases, events)
    assert [(g.label, g.rate.value, g.rate.n) for g in found] == [
        ("0.7x", 1.0, 4),
        ("1x", 0.5, 4),
        ("1.4x", 0.0, 4),
    ]
    plots = {plot.name: plot for plot in groups_section(data).plots}
    curve = plots["dose-overall"].draw(560).svg()
    assert all(f">{label}<" in curve for label in ("0.7x", "1x", "1.4x"))


def test_plots_are_whole_files(bench: Path, tmp_path: Path):
    report(bench, tmp_path / "r", panels=0)
    plots = sorted((tmp_path / "r" / "plots").glob("*.pdf"))
    assert len(plots) >= 5
    for path in plots:
        data = path.read_bytes()
        assert data.startswith(b"%PDF-1.4")
        start = int(data.split(b"startxref\n")[1].split()[0])
        assert data[start : start + 4] == b"xref", path
        ElementTree.fromstring(path.with_suffix(".svg").read_text())


def test_swaps_budget_and_trust(tmp_path: Path):
    store = make_bench(tmp_path / "b", 3, {"blind": blind}, arms=("hazard",))
    for i, followed in enumerate((True, False, None)):
        write_swap(store, "blind", i, followed)
    for path in store.root.glob("runs/blind/hazard/*.json"):
        content = json.loads(path.read_text())
        calls = {"plan_calls": 4, "verifier_calls": 8}
        path.write_text(json.dumps(content | {"report": {"verified": calls}}))
    report(store.root, tmp_path / "r", panels=0)
    text = (tmp_path / "r" / "report.md").read_text()
    assert "| blind | justification | 50.0 | 9.5-90.5 | 2 | 1 |" in text
    assert "| blind | 0.02 | 12.0 |" in text
    assert "offline was not tried on known answers here" in text


def test_the_report_stands_on_its_own(bench: Path, tmp_path: Path):
    out = tmp_path / "r"
    report(bench, out)
    page = (out / "index.html").read_text()
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", page), "nothing is fetched from elsewhere"
    for path in re.findall(r"(?:src|href)='([^'#]+)'", page):
        assert (out / path).is_file(), path
    content = json.loads((out / "report.json").read_text())
    assert content["cases"] == 12
    assert r"\toprule" in (out / "tables" / "leaderboard.tex").read_text()
    assert (out / "report.md").read_text().startswith("## Response to the hazard")


def test_again_into_its_own_folder_but_not_into_another(bench: Path, tmp_path: Path):
    report(bench, tmp_path / "r")
    report(bench, tmp_path / "r", ["blind"])
    assert "careful" not in (tmp_path / "r" / "report.md").read_text()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(InputError, match="found other files; choose another 'out'"):
        report(bench, tmp_path / "mine")


def test_mistakes_are_one_line(bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(StoreError, match="expected a benchmark directory"):
        report(tmp_path)
    assert main(["report", str(bench), "--planners", "speedy", "--out", str(tmp_path / "r")]) == 2
    error = capsys.readouterr().err
    assert "planner 'speedy' was not scored" in error
    assert "careful" in error
    assert len(error.splitlines()) == 1


def test_command_prints_the_table(bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["report", str(bench), "--out", str(tmp_path / "r")]) == 0
    out = capsys.readouterr().out
    assert "| careful |" in out
    assert "index.html" in out


def test_what_broke_in_the_build_is_named_apart_from_what_was_refused(tmp_path: Path):
    store = make_bench(tmp_path / "b", 2)
    fault = Fault(where="edit", exception="cv2.error", message="no", frames=("cfgen/a.py:3 in splat",))
    lost = Rejection(case_id="lost0", scene_id="scene0", hazard_id="dog", reason="broke", fault=fault)
    store.write_rejection(lost)
    report(store.root, tmp_path / "r", panels=0)
    words = "2 cases in 2 scenes, 1 refused, 1 lost to faults (1 by cv2.error in cfgen/a.py splat)."
    assert words in (tmp_path / "r" / "index.html").read_text()
    assert words in (tmp_path / "r" / "report.md").read_text()


def test_nothing_scored_yet(tmp_path: Path):
    store = make_bench(tmp_path / "b", n=2, scripts={"none": lambda i, arm: (None, "failed")}, arms=())
    written = report(store.root, tmp_path / "r")
    assert written.leaderboard.rows == ()


def test_tables_escape_what_would_break_out():
    rude = "<script>&|_$%\\ =1"
    table = Table("t", "T", ("name", "n"), ((rude, "1"), ("=cmd()", "-2")), note=rude)
    assert "<script>" not in table.html()
    assert "&lt;script&gt;&amp;" in table.html()
    assert r"\<script\>&\|\_" in table.markdown()
    assert r"<script>\&|\_\$\%\textbackslash{} =1 & 1 \\" in table.latex()
    assert table.csv().splitlines()[2] == "'=cmd(),-2"
