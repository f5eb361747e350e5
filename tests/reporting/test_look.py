"""The report in a real browser, measured: nothing overlaps, is cut, runs off, is too faint or beyond the keyboard."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cfgen.report import report
from tests.app.page import contrasts, nameless
from tests.reporting.bench import blind, careful, case_id, make_bench
from tests.reporting.test_page import BROWSER

LONG = "a_planner_with_a_name_that_does_not_end_before_its_60th_letter"
WIDTHS = (1440, 834, 390)
SLOW_MS = 120_000


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five planners, one with a long name."""
    root = tmp_path_factory.mktemp("look")
    scripts = {LONG: careful, "blind": blind, **{f"p{i}": blind for i in range(3)}}
    store = make_bench(root / "bench", 3, scripts, arms=("hazard", "rerun"))
    report(store.root, root / "report", panels=0)
    return root / "report"


@pytest.fixture(scope="module")
def pages(written: Path) -> Iterator[dict[int, Any]]:
    """The page at each width."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
    if BROWSER is None:
        pytest.skip("browser tests need a 'chromium' on the path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        found = {width: browser.new_page(viewport={"width": width, "height": 900}) for width in WIDTHS}
        for page in found.values():
            page.set_default_timeout(SLOW_MS)
            page.goto(f"file://{written}/index.html")
            page.wait_for_selector(".card", state="attached")
        yield found
        browser.close()


def test_axe_finds_no_serious_fault(pages):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python"
    )
    for width in (1440, 390):
        found = axe.Axe().run(pages[width]).response["violations"]
        assert [(width, f["id"]) for f in found if f["impact"] in ("serious", "critical")] == []


def test_headline_figures_stand_clear_of_their_sentences(pages):
    """Also where the figure is as wide as a figure can be."""
    for width, page in pages.items():
        rooms = page.evaluate(
            """() => [...document.querySelectorAll('.headline')].map((e) => {
              e.querySelector('b').firstChild.textContent = '+100.0 ';
              const [b, p] = ['b', 'p'].map((s) => {
                const r = document.createRange();
                r.selectNodeContents(e.querySelector(s));
                return r.getBoundingClientRect(); });
              return Math.max(p.left - b.right, p.top - b.bottom); })"""
        )
        assert len(rooms) == 4
        assert min(rooms) >= 4, width


def test_no_word_of_a_chart_is_cut_or_covered(pages):
    for width, page in pages.items():
        page.evaluate("() => document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        found = page.evaluate(
            """() => [...document.querySelectorAll('.plots svg')].filter((s) => s.checkVisibility()).map((s) => {
              const box = s.getBoundingClientRect();
              return { title: s.querySelector('title').textContent, box: [box.left, box.top, box.right, box.bottom],
                texts: [...s.querySelectorAll('text')].map((t) => { const r = t.getBoundingClientRect();
                  return [t.textContent, r.left, r.top, r.right, r.bottom]; }) }; })"""
        )
        assert len(found) >= 3
        for chart in found:
            left, top, right, bottom = chart["box"]
            for words, x0, y0, x1, y1 in chart["texts"]:
                assert left - 1 <= x0 <= x1 <= right + 1, (width, chart["title"], words)
                assert top - 1 <= y0 <= y1 <= bottom + 1, (width, chart["title"], words)
                assert "…" not in words
            for (a, *one), (b, *two) in itertools.combinations(chart["texts"], 2):
                across = min(one[2], two[2]) - max(one[0], two[0])
                down = min(one[3], two[3]) - max(one[1], two[1])
                assert across < 2 or down < 4, (width, chart["title"], a, b)
        assert all(
            LONG in "".join(t[0] for t in chart["texts"]) for chart in found if "planner" in chart["title"]
        )


def test_the_page_itself_never_scrolls_sideways_and_a_phone_gets_it_folded(pages, written):
    for width, page in pages.items():
        page.reload()
        page.wait_for_selector(".card", state="attached")
        wide, tall = page.evaluate(
            "() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        assert wide <= width
        assert tall < 6000 or width != 390
    phone = pages[390]
    assert not phone.is_visible("#false-alarms .plots")
    phone.click("nav a[href='#false-alarms']")
    assert phone.is_visible("#false-alarms .plots")
    assert pages[1440].is_visible("#false-alarms .plots"), "a desk shows all of it"


def test_tables_that_scroll_are_named_stops_of_the_tab_key(pages):
    page = pages[390]
    page.evaluate("() => document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.wait_for_function("() => document.querySelector('#leaderboard .scroll').tabIndex === 0")
    areas = page.evaluate(
        """() => [...document.querySelectorAll('.scroll')].filter((e) => e.checkVisibility()).map((e) =>
             [e.scrollWidth > e.clientWidth, e.tabIndex, e.getAttribute('role'), e.getAttribute('aria-label')])"""
    )
    assert any(scrolls for scrolls, *_ in areas)
    for scrolls, stop, role, name in areas:
        assert (stop == 0) == scrolls
        assert role == "region"
        assert name
    page.focus("#leaderboard .scroll")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('#leaderboard .scroll').scrollLeft > 0")
    assert nameless(page, "body") == []


def test_every_word_has_the_contrast_that_it_needs(pages):
    page = pages[1440]
    faint = [c for c in contrasts(page, "body") if c["ratio"] < c["needed"]]
    assert faint == []


def test_a_case_shows_where_its_hazard_stands(pages, written):
    """The box of 18 m and more ahead is drawn where the axis says."""
    page = pages[1440]
    page.goto(f"file://{written}/index.html#case={case_id(2)}")
    page.reload()
    page.wait_for_selector("dialog .place", state="attached")
    text = (written / "data" / f"{case_id(2)}.js").read_text()
    shown = json.loads(text[len("cfgenCase(") : -3])["answers"]["blind"]
    corners = np.array(shown["hazard"][0]["place"])
    assert np.allclose(corners.mean(axis=0), (20.0, 0.3), atol=0.02)
    marks = page.evaluate(
        """() => {
             const svg = document.querySelector('dialog svg');
             const middle = (e) => (e.getBoundingClientRect().top + e.getBoundingClientRect().bottom) / 2;
             const ticks = [...svg.querySelectorAll('text')].filter((t) => t.getAttribute('text-anchor') === 'end');
             return { middle: middle(svg.querySelector('.place')),
                      ticks: ticks.map((t) => [Number(t.textContent), middle(t)]) }; }"""
    )
    (x0, y0), (x1, y1) = marks["ticks"][0], marks["ticks"][-1]
    assert x0 + (marks["middle"] - y0) / (y1 - y0) * (x1 - x0) == pytest.approx(20, abs=0.6)
    assert [c for c in contrasts(page, "dialog") if c["ratio"] < c["needed"]] == []
    assert shown["rerun"][0]["placed"] is False
    assert shown["hazard"][0]["placed"] is True
