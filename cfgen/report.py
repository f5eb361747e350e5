"""verdicts -> leaderboard and page. Readable top to bottom."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cfgen import __version__
from cfgen.errors import InputError
from cfgen.files import write_bytes
from cfgen.report_page.gather import Gathered, gather
from cfgen.report_page.page import facts, write_page
from cfgen.report_page.panels import write_panels
from cfgen.report_page.section import WIDE, Section
from cfgen.report_page.sections.cause import budget_section, swaps_section
from cfgen.report_page.sections.floor import floor_sections
from cfgen.report_page.sections.groups import groups_section
from cfgen.report_page.sections.motion import motion_section
from cfgen.report_page.sections.people import people_section
from cfgen.report_page.sections.success import success_section
from cfgen.report_page.sections.traces import traces_section
from cfgen.report_page.sections.versus import versus_section
from cfgen.report_page.table import Table
from cfgen.store import Store

_MARKER = "report.json"


@dataclass(frozen=True)
class Report:
    """What was written where, and what is worth printing."""

    out: Path
    leaderboard: Table
    headline: tuple[str, ...]
    cases: int
    panels: int


def report(
    bench: Path,
    out: Path | None = None,
    planners: Sequence[str] | None = None,
    panels: int | None = 4,
) -> Report:
    """Summarize a benchmark directory in a folder that stands on its own.

    Args:
        out: an empty, new, or earlier report folder; by default beside the benchmark, ``<bench>-report``.
        planners: those to show; None shows all.
        panels: case panels to draw for each planner; None draws all.

    Raises:
        StoreError: not a benchmark, or a damaged record.
        InputError: an unknown planner, or ``out`` holds something else.
    """
    store = Store(bench)
    out = out or store.root.resolve().with_name(f"{store.root.resolve().name}-report")
    _check_target(out)
    data = gather(store, planners)
    success, (headline, floor) = success_section(data), floor_sections(data)
    sections = [
        headline,
        success,
        floor,
        versus_section(data),
        groups_section(data),
        motion_section(data),
        traces_section(data),
        swaps_section(data),
        budget_section(data),
        people_section(data),
    ]
    _write_json(out, data, sections)
    _write_tables(out, data, sections)
    _write_plots(out, sections)
    write_page(out, data, sections)
    drawn = write_panels(out, data, panels)
    return Report(
        out, success.tables[0], tuple(words for *_, words in headline.headline), len(data.cases), drawn
    )


def _check_target(out: Path) -> None:
    if out.exists() and not (out.is_dir() and ((out / _MARKER).is_file() or not any(out.iterdir()))):
        raise InputError(
            f"{out}: expected an empty folder or an earlier report, found other files; choose --out"
        )


def _write_tables(out: Path, data: Gathered, sections: list[Section]) -> None:
    """Each as CSV and LaTeX, all in one Markdown file."""
    text = []
    for section in sections:
        lines = [words for *_, words in section.headline] + list(section.lead)
        if section.empty:
            continue
        text.append("\n".join([f"## {section.title}", "", *(f"- {line}" for line in lines), ""]))
        for table in section.tables:
            write_bytes(out / "tables" / f"{table.name}.csv", table.csv().encode())
            write_bytes(out / "tables" / f"{table.name}.tex", table.latex().encode())
            text.append(table.markdown())
    text.append(f"## What was built\n\n{facts(data)}\n")
    write_bytes(out / "report.md", "\n".join(text).encode())


def _write_plots(out: Path, sections: list[Section]) -> None:
    for plot in (plot for section in sections for plot in section.plots):
        drawing = plot.draw(WIDE)
        write_bytes(out / "plots" / f"{plot.name}.svg", drawing.svg().encode())
        write_bytes(out / "plots" / f"{plot.name}.pdf", drawing.pdf())


def _write_json(out: Path, data: Gathered, sections: list[Section]) -> None:
    """The figures as they are, not rounded."""
    content = {
        "cfgen_version": __version__,
        "cases": len(data.cases),
        "rejected": len(data.rejections),
        "lost_to_faults": sum(r.fault is not None for r in data.rejections),
        "main_judge": data.main_judge,
        **{key: value for section in sections for key, value in section.figures.items()},
    }
    write_bytes(out / _MARKER, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())
