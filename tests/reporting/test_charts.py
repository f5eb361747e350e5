"""What tells series apart, and what every figure says of itself; without a browser."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from cfgen.metrics.intervals import Rate
from cfgen.render.bev import RED, bev
from cfgen.render.canvas import text_width, wrap
from cfgen.report import report
from cfgen.reporting.drawing import PALETTE, Series, SvgCanvas, rows_chart
from tests.reporting.bench import blind, careful, make_bench, straight

#: linear RGB as people with no L, M or S cones see it (Machado, Oliveira and Fernandes 2009, severity 1)
MACHADO = {
    "all": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(ink: str) -> np.ndarray:
    v = np.array([int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE 1976, D65."""
    x = XYZ @ np.clip(rgb, 0, 1) / (0.9505, 1.0, 1.089)
    x, y, z = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", MACHADO)
def test_colours_differ_for_every_kind_of_eyes(eyes: str):
    seen = [lab(np.array(MACHADO[eyes]) @ linear(ink)) for ink in PALETTE]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 20


def test_marks_stand_out_from_the_paper_and_no_two_are_alike():
    assert min(1.05 / (XYZ[1] @ linear(ink) + 0.05) for ink in PALETTE) >= 3
    drawings = [SvgCanvas(1, 1, "") for _ in range(40)]
    for i, drawing in enumerate(drawings):
        drawing.mark(0, 0, i)
    assert len({drawing.svg() for drawing in drawings}) == 40


def test_names_are_broken_and_never_cut():
    name = "a_planner-with_aNameThatGoesOnWithoutAnyPlaceToBreakIt " + "x" * 40
    lines = wrap(name, 80, 13)
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")
    assert max(text_width(line, 13) for line in lines) <= 80


def test_a_row_keeps_its_name_and_its_count():
    rates = [Rate.of(1, 1000), None]
    text = "".join(
        re.findall(r">([^<]+)</text>", rows_chart("t", ["q" * 60, "z"], [Series("s", rates)], 350).svg())
    )
    assert text.count("q") == 60
    assert "0% (1000)" in text


def test_every_figure_says_arm_judge_rubric_and_test(tmp_path: Path):
    store = make_bench(tmp_path / "b", 12, {"careful": careful, "blind": blind})
    written = report(store.root, tmp_path / "r", panels=0)
    page = (tmp_path / "r" / "index.html").read_text()
    words = "judge offline (rubric hazard 1; not tested on known answers)"
    beside = re.findall(r'<div class="headline">.*?</div>', page)
    assert len(beside) == len(written.headline) == 2
    assert all(words[1:] in said for said in (*beside, *written.headline))
    for section in ("headline", "leaderboard", "false-alarms", "paired", "breakdown", "agreement"):
        part = page.split(f'<section id="{section}">')[1].split("</section>")[0]
        figures = part.split("<figure")[1:] or [part]
        assert all(words in figure for figure in figures), section
    plain = "".join(re.findall(r">([^<]+)</text>", (tmp_path / "r" / "plots" / "success.svg").read_text()))
    assert words.replace(" ", "") in plain.replace(" ", "")
    assert " N holds scored cases" in (tmp_path / "r" / "tables" / "leaderboard.tex").read_text()


def test_a_judge_that_leaves_words_out_gets_no_empty_plot(tmp_path: Path):
    store = make_bench(tmp_path / "b", 9, {"careful": careful}, arms=("hazard",))
    for path in store.root.glob("verdicts/offline/*/*/*.json"):
        content = json.loads(path.read_text())
        content["scores"] = {k: v for k, v in content["scores"].items() if k == "waypoints"}
        path.write_text(json.dumps(content | {"votes": []}))
    report(store.root, tmp_path / "r", panels=0)
    drawn = {path.stem for path in (tmp_path / "r" / "plots").glob("*.svg")}
    assert {name for name in drawn if name.startswith("by-distance")} == {"by-distance-waypoints"}
    for path in (tmp_path / "r" / "plots").glob("*.svg"):
        assert path.read_text().count("<polyline") > 5, path.name


def test_the_view_from_above_shows_what_stands_there_only_when_told():
    plan = straight(12)
    outline = np.array([[20, -1], [24, -1], [24, 1], [20, 1]])
    red = [(picture == RED).all(axis=2).any() for picture in (bev(plan), bev(plan, outline=outline))]
    assert red == [False, True]
