"""A report of a benchmark in which something broke: all else is there, and what is missing is named."""

import csv
import json
from pathlib import Path

import pytest

from cfgen.cli.main import main
from cfgen.records import Fault
from cfgen.report import report
from cfgen.reporting import cases, page
from cfgen.reporting.sections import motion
from cfgen.storage.store import Store
from tests.reporting.bench import blind, case_id, make_bench

FAULT = Fault(
    where="verdict", exception="cv2.error", message="empty", frames=("cfgen/render/bev.py:3 in bev",)
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_bench(tmp_path / "bench", 4, {"blind": blind}, arms=("hazard",))


def leaderboard(out: Path) -> dict[str, str]:
    return next(csv.DictReader((out / "tables" / "leaderboard.csv").open()))


def breaks(*_: object) -> None:
    raise ZeroDivisionError("by nought")


def test_a_section_that_breaks_is_left_out_and_named(store, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(motion, "motion_section", breaks)
    out = tmp_path / "r"
    assert main(["report", str(store.root), "--out", str(out)]) == 1
    assert "section 'Motion': ZeroDivisionError: by nought" in capsys.readouterr().out
    for name in ("index.html", "report.md"):
        assert "This section was left out: section" in (out / name).read_text()
    assert (
        json.loads((out / "report.json").read_text())["report_faults"][0]["exception"] == "ZeroDivisionError"
    )
    assert leaderboard(out)["planner"] == "blind"
    with pytest.raises(ZeroDivisionError):
        main(["report", str(store.root), "--out", str(out), "--strict"])


def test_a_panel_and_a_case_that_break_are_left_out(store, tmp_path, monkeypatch):
    real = cases.case_panel
    monkeypatch.setattr(cases, "case_panel", lambda item: breaks() if _first(item) else real(item))

    def _first(item):
        return not seen and not seen.append(item)

    seen: list[object] = []
    write = page._write_views
    monkeypatch.setattr(
        page, "_write_views", lambda d, c, out: breaks() if c.case_id == case_id(2) else write(d, c, out)
    )
    found = report(store.root, tmp_path / "r")
    assert found.panels == 3
    assert [words.split(":")[0].split(" ")[0] for words in found.left_out] == ["page", "panel"]
    assert len(list((tmp_path / "r" / "data").glob("*.js"))) == 4, "three cases and the list"


def test_damaged_records_keep_their_place_in_what_is_counted(store, tmp_path, capsys):
    store.verdict_path("offline", "blind", "hazard", case_id(0)).write_text('{"schema_ver')
    store.rollout_path("blind", "hazard", case_id(1)).write_bytes(b"\xff\xfe")
    (store.case_dir(case_id(2)) / "case.json").write_text("")
    out = tmp_path / "r"
    assert main(["report", str(store.root), "--out", str(out)]) == 1
    assert capsys.readouterr().out.count("Left out: ") == 3
    row = leaderboard(out)
    assert (row["N"], row["left out or failed"]) == ("2", "1 missing, 1 faults")
    assert len(json.loads((out / "report.json").read_text())["damaged"]) == 3


def test_score_faults_are_told_apart_from_failures(store, tmp_path, capsys):
    for i, update in enumerate(({"fault": FAULT}, {"transient": True})):
        path = store.verdict_path("offline", "blind", "hazard", case_id(i))
        old = next(v for v in store.verdicts("offline", "blind") if v.case_id == path.stem.split(".")[0])
        store.write_verdict(old.model_copy(update={"status": "failed", "scores": {}, "votes": (), **update}))
    out = tmp_path / "r"
    assert main(["report", str(store.root), "--out", str(out)]) == 0
    assert "1 answers and verdicts are missing for faults" in capsys.readouterr().out
    row = leaderboard(out)
    assert (row["N"], row["left out or failed"]) == ("2", "1 judge failed, 1 faults")
    assert "cv2.error in cfgen/render/bev.py bev" in (out / "index.html").read_text()
