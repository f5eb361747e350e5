"""The page in a real browser, where there is one."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cfgen.report import report
from tests.reporting.bench import case_id, make_bench, straight, write_rating

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
HOSTILE = (
    "</script><script>document.title='broken in'</script><img src=x onerror=\"document.title='broken in'\">"
)


def hostile(seed: int, arm: str):
    return straight(12, 3.0 if arm == "hazard" else 0.0), (2, 2, 2) if arm != "original" else ""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose planner writes markup."""
    root = tmp_path_factory.mktemp("page")
    store = make_bench(root / "bench", 5, {"p": hostile}, arms=("hazard",))
    write_rating(store, "p", 0, (0, 2, 2))
    for path in store.root.glob("runs/p/*/*.json"):
        content = json.loads(path.read_text())
        path.write_text(json.dumps(content | {"text": HOSTILE}))
    for path in store.root.glob("verdicts/offline/p/*/*.json"):
        content = json.loads(path.read_text())
        path.write_text(
            json.dumps(content | {"explanation": HOSTILE, "element_type": HOSTILE, "flags": [HOSTILE]})
        )
    report(store.root, root / "report", panels=0)
    return root / "report"


def rendered(page: Path, address: str = "") -> str:
    """The document after its scripts ran."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--dump-dom"]
    command = [BROWSER, *flags, f"file://{page}/index.html{address}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


def test_nothing_a_planner_writes_becomes_markup(page: Path):
    for path in [page / "index.html", *page.glob("data/*.js")]:
        assert "<script>document" not in path.read_text(), path
    content = json.loads((page / "data" / f"{case_id(0)}.js").read_text()[len("cfgenCase(") : -3])
    assert HOSTILE in content["answers"]["p"]["hazard"][0]["text"]


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_cards_and_filters_in_a_browser(page: Path):
    document = rendered(page)
    assert document.count('class="card"') == 5
    assert "5 of 5 cases" in document
    assert "0 of 5 cases" in rendered(page, "#score=0")
    assert "1 of 5 cases" in rendered(page, "#disagreement=people+differ+from+the+judge")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_a_case_in_a_browser(page: Path):
    document = rendered(page, f"#case={case_id(0)}")
    assert "broken in</title>" not in document
    dialog = document[document.index("<dialog") :]
    assert dialog.count("<svg") == 2
    assert len(re.findall(r"<td>[1-6]</td>", dialog)) == 6, "a row of the delta table for each second"
    assert "&lt;img src=x" in dialog
    assert "ann" in dialog
    assert "Provenance" in dialog


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_a_benchmark_that_nobody_was_scored_on(tmp_path: Path):
    store = make_bench(tmp_path / "bench", 2, {}, arms=())
    written = report(store.root, tmp_path / "report")
    assert written.leaderboard.rows == ()
    document = rendered(tmp_path / "report", f"#case={case_id(1)}")
    assert "2 of 2 cases" in document
    assert 'class="slider"' in document[document.index("<dialog") :]


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")
def test_a_planner_that_failed_on_the_original(tmp_path: Path):
    def fails(seed: int, arm: str):
        return (None, "") if arm == "original" else (None, "planner_failed")

    store = make_bench(tmp_path / "bench", 2, {"fails": fails}, arms=("hazard",))
    report(store.root, tmp_path / "report")
    document = rendered(tmp_path / "report", f"#case={case_id(0)}")
    assert "planner failed" in document
    assert "Failed: answered 23 waypoints" in document
    assert "No plan to draw." in document


def test_of_many_cases_some_are_shown_and_the_page_says_so(page: Path, tmp_path: Path):
    report(page.parent / "bench", tmp_path / "few", panels=0, pages=2)
    index = json.loads((tmp_path / "few" / "data" / "index.js").read_text()[len("cfgenIndex(") : -3])
    assert ([one["id"] for one in index["cases"]], index["built"]) == ([case_id(0), case_id(1)], 5)
    assert len([*(tmp_path / "few" / "data").iterdir()]) == 3
    figures = [json.loads((root / "report.json").read_text()) for root in (page, tmp_path / "few")]
    assert figures[0] == figures[1]
    if BROWSER:
        assert "2 of 2 cases shown here; the figures rest on all 5" in rendered(tmp_path / "few")
