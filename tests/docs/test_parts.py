"""The examples of rubrics, metrics, sections, gates and own hazards, under the names that their pages give."""

import re
from pathlib import Path

import numpy as np
import pytest

from cfgen.benchmark.gates import GATES, GateInput, run_gates
from cfgen.cli.main import main
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.judge.rubrics.registry import create_rubric
from cfgen.metrics.registry import METRICS
from cfgen.records import PLAN_DT
from tests.plugins import install
from tests.reporting.bench import careful, make_bench, straight

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
POINT = re.compile(r'\[project\.entry-points\."(cfgen\.\w+)"\]\n([\w-]+) = "([\w.:]+)"')
PAGES = {kind: DOCS / "extend" / f"{kind}.md" for kind in ("rubric", "metric", "section", "gate")}


@pytest.fixture(params=PAGES)
def kind(request) -> str:
    return request.param


def installed(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The example of a page as an installed package; returns the name that the page gives it."""
    ((group, name, to),) = POINT.findall(PAGES[kind].read_text())
    module = to.partition(":")[0]
    code = (DOCS / "examples" / f"{module}.py").read_text()
    install(folder, monkeypatch, module, code, f"[{group}]\n{name} = {to}\n")
    return name


def test_every_example_is_short_and_shown_on_its_page(kind: str):
    shown = re.findall(r"\{literalinclude\} (\S+)", PAGES[kind].read_text())
    assert shown
    for path in shown:
        assert len((PAGES[kind].parent / path).read_text().splitlines()) < 40


def test_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gate = {"bright-enough": GATES.get(installed("gate", tmp_path, monkeypatch))}
    hazard, null = load_taxonomy().hazards[0], load_taxonomy().null
    mask = np.zeros((20, 30), np.uint8)
    mask[5:15] = 255
    seen = [
        run_gates(GateInput(frame, frame, mask, None, None, kind), gate)
        for frame, kind in (
            (np.full((20, 30, 3), 90, np.uint8), hazard),
            (np.full((20, 30, 3), 5, np.uint8), hazard),
            (np.full((20, 30, 3), 5, np.uint8), null),
        )
    ]
    assert seen[0][0].passed
    assert (seen[1][0].passed, seen[1][0].reason) == (False, "the frame is black there: 5 of 255")
    assert seen[2] == ()


def test_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    metric = METRICS.get(installed("metric", tmp_path, monkeypatch))
    # half of 3 m/s^2 times t^2 is half a metre after 0.58 s
    assert metric(straight(12), straight(12, 3), None, None) == 0.75 == 3 * PLAN_DT
    assert metric(straight(12), straight(12), None, None) is None


def test_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    name = installed("section", tmp_path, monkeypatch)
    store = make_bench(tmp_path / "bench", 2, {"careful": careful}, arms=("hazard",))
    assert main(["report", str(store.root), "--out", str(tmp_path / "r")]) == 0
    rows = (tmp_path / "r" / "tables" / f"{name}-seconds.csv").read_text().splitlines()
    longest = max(r.latency_s for r in store.rollouts("careful"))
    assert rows[0] == "planner,median,longest,N"
    assert rows[1].split(",")[2:] == [f"{longest:.2f}", "4"]


def test_rubrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    name = installed("rubric", tmp_path, monkeypatch)
    assert "within the first 2 s" in create_rubric(name).system("tags")
    mine = create_rubric(str(DOCS / "examples" / "my_rubric.yaml"))
    assert mine.id.name == "strict-words"
    assert "exact class" in mine.system("json")


def test_the_eight_lines_of_own_hazards(tmp_path: Path):
    page = next(p for p in (DOCS / "hazards.md", ROOT / "cfgen" / "hazards" / "README.md") if p.is_file())
    lines = re.search(r"^    hazards:\n(?:    .*\n)+", page.read_text(), re.MULTILINE)[0].splitlines()
    assert len(lines) == 8
    file = tmp_path / "mine.yaml"
    file.write_text("\n".join(line[4:] for line in lines))
    (found,) = load_taxonomy(file).own
    assert (found.id, found.model, found.motion.kind) == ("shopping_carts", "shopping_cart", "crossing")
