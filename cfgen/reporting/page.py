"""The page: one file to open, and beside it the frames and the data of its cases. Needs no network and no server."""

import html
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cv2

from cfgen.benchmark.frames import AUGMENTED, ORIGINAL, frame_file, frame_path
from cfgen.core.faults import contained
from cfgen.core.files import FrameFile, write_bytes
from cfgen.perception.registry import seen_by
from cfgen.records import DIMENSIONS, Case, Fault
from cfgen.reporting.cases import CaseFiles
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Plot, Section
from cfgen.reporting.settings import DRAWING

_ASSETS = Path(__file__).parent / "assets"
#: cases in hand at once
_AHEAD = 50
_VIEW_WIDTH, _THUMB_WIDTH = 960, 320


def write_cases(out: Path, data: ReportData, cases: Sequence[Case], strict: bool = False) -> list[Fault]:
    """``frames/`` and ``data/`` of these cases under ``out``; returns what came in the way of one: it is left out."""
    files = CaseFiles(data, cases)

    def write(case: Case) -> dict[str, Any] | Fault:
        return contained(
            lambda: _write_case(data, files, case, out), f"page of case {case.case_id}", strict=strict
        )

    entries: list[dict[str, Any] | Fault] = []
    with ThreadPoolExecutor(2) as pool:
        for start in range(0, len(cases), _AHEAD):  # a pool takes all it is given into memory
            entries += pool.map(write, cases[start : start + _AHEAD])
    index = {
        "planners": data.planners,
        "judges": data.judges,
        "judge": data.main_judge,
        "scores": DIMENSIONS,
        "built": len(data.cases),
        "cases": [entry for entry in entries if not isinstance(entry, Fault)],
    }
    _write_js(out / "data" / "index.js", "cfgenIndex", index)
    return [entry for entry in entries if isinstance(entry, Fault)]


def _write_case(data: ReportData, files: CaseFiles, case: Case, out: Path) -> dict[str, Any]:
    """Its frames and its own data; returns its entry in the list."""
    views = _write_views(data, case, out)
    _write_js(out / "data" / f"{case.case_id}.js", "cfgenCase", files.detail(case, views))
    return files.entry(case)


def write_page(out: Path, data: ReportData, sections: list[tuple[Section, str]]) -> None:
    """``index.html`` and ``assets/`` under ``out``; sections come with their HTML."""
    for asset in sorted(_ASSETS.iterdir()):
        if asset.suffix in (".css", ".js"):
            write_bytes(out / "assets" / asset.name, asset.read_bytes())
    template = (_ASSETS / "page.html").read_text()
    for mark, value in {
        "TITLE": html.escape(data.store.root.resolve().name),
        "FACTS": html.escape(facts(data)),
        "NAV": "".join(f'<a href="#{s.id}">{html.escape(s.title)}</a>' for s, _ in sections if not s.empty),
        "SECTIONS": "".join(markup for section, markup in sections if not section.empty),
    }.items():
        template = template.replace(f"<!--{mark}-->", value)
    write_bytes(out / "index.html", template.encode())


def facts(data: ReportData) -> str:
    """What was built and by whom it was judged, in two sentences."""
    benchmark = data.benchmark
    kinds = data.lost_kinds
    fault_count = kinds.total()
    names = "; ".join(f"{count} by {kind}" for kind, count in kinds.most_common())
    faults = f", {fault_count} lost to faults ({names})" if fault_count else ""
    judges = ", ".join(data.judges) or "none yet"
    eyes = seen_by(benchmark.perception, data.roads_from)
    return (
        f"{len(data.cases)} cases in {len(data.scenes)} scenes, {len(data.rejections) - fault_count} rejected{faults}. "
        f"Inpainter {benchmark.inpainter}, road mask by {eyes}, seed {benchmark.seed}, "
        f"cfgen {benchmark.cfgen_version}. Judges: {judges}."
    )


# --- sections -------------------------------------------------------------------------------------------


#: what a phone or a tablet shows at once; it folds the other sections to their titles
_OPEN = ("headline", "leaderboard")


def section_html(section: Section) -> str:
    headline = "".join(
        f'<div class="headline"><b>{html.escape(value)} <small>{html.escape(unit)}</small></b>'
        f"<p>{html.escape(words)}</p></div>"
        for value, unit, words in section.headline
    )
    lead = "".join(f"<li>{html.escape(words)}</li>" for words in section.lead)
    long = [t for t in section.tables if len(t.rows) > 12]
    short = [t for t in section.tables if len(t.rows) <= 12 and t.rows]
    inside = (
        f"{headline}{f'<ul class=lead>{lead}</ul>' if lead else ''}{_plots(section.plots)}"
        f"{''.join(t.html() for t in short)}"
        + "".join(f"<details><summary>{html.escape(t.title)}</summary>{t.html()}</details>" for t in long)
    )
    title = f"<h2>{html.escape(section.title)}</h2>"
    content = f"{title}{inside}"
    if section.id not in _OPEN:
        content = f'<details class="fold" open><summary>{title}</summary>{inside}</details>'
    return f'<section id="{section.id}">{content}</section>'


def _plots(plots: tuple[Plot, ...]) -> str:
    """Plots of one group share a figure with a choice above it."""
    groups: dict[str, list[Plot]] = {}
    for plot in plots:
        groups.setdefault(plot.group or plot.name, []).append(plot)
    return '<div class="plots">' + "".join(map(_figure, groups.values())) + "</div>" if groups else ""


def _figure(plots: list[Plot]) -> str:
    choices = "".join(
        f'<button type="button" data-show="{plot.name}">{html.escape(plot.choice)}</button>'
        for plot in plots
        if plot.choice
    )
    chosen = next((p for p in plots if p.choice.endswith("overall")), plots[0])
    panes = "".join(
        f'<div class="pane" id="{plot.name}"{"" if plot is chosen else " hidden"}>'
        f'<div class="wide">{plot.draw(DRAWING.wide).svg()}</div>'
        f'<div class="narrow">{plot.draw(DRAWING.narrow).svg()}</div></div>'
        for plot in plots
    )
    title = f"<figcaption>{html.escape(plots[0].title)}</figcaption>"
    notes = dict.fromkeys(plot.note for plot in plots if plot.note)
    note = "".join(f'<p class="note">{html.escape(words)}</p>' for words in notes)
    return f"<figure>{title}{f'<div class=choice>{choices}</div>' if choices else ''}{panes}{note}</figure>"


# --- data and frames ------------------------------------------------------------------------------------


def _write_js(path: Path, function: str, content: dict[str, Any]) -> None:
    """A script that hands its content to a function of the page: the way to load data without a server."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    inert = text.replace("<", "\\u003c")
    write_bytes(path, f"{function}({inert});\n".encode())


def _write_views(data: ReportData, case: Case, out: Path) -> dict[str, str]:
    """Frames of every arm, and a thumbnail of the hazard's; arm -> path relative to ``out``."""
    front = data.scenes[case.scene_id].front.name
    names = {"original": ORIGINAL, "hazard": AUGMENTED}
    names |= {arm: frame_path(arm, front, 0.0) for arm in case.arms if arm != "hazard"}
    sources = {arm: frame_file(data.store, case, name) for arm, name in names.items()}
    views = {}
    for arm, source in sources.items():
        if source.path.is_file():
            views[arm] = f"frames/{case.case_id}-{arm}.webp"
            _shrink(source, out / views[arm], _VIEW_WIDTH, 85)
    _shrink(sources["hazard"], out / "frames" / f"{case.case_id}-thumb.webp", _THUMB_WIDTH, 75)
    return views


def _shrink(source: FrameFile, target: Path, width: int, quality: int) -> None:
    """A WebP no wider than ``width``; one that is newer than its source is kept."""
    if target.is_file() and target.stat().st_mtime >= source.path.stat().st_mtime:
        return
    image = source.read()
    scale = min(1.0, width / image.shape[1])
    if scale < 1:
        size = (width, round(image.shape[0] * scale))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    ok, encoded = cv2.imencode(".webp", image[:, :, ::-1], [cv2.IMWRITE_WEBP_QUALITY, quality])
    assert ok
    write_bytes(target, encoded.tobytes())
