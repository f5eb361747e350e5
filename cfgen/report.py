"""verdicts -> leaderboard and page. Readable top to bottom."""

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from cfgen.core.disk_backed import DiskList, DiskStore
from cfgen.core.errors import CfgenError, InputError
from cfgen.core.faults import contained
from cfgen.core.files import write_bytes
from cfgen.core.object_store import bucket_of
from cfgen.perception.registry import seen_by
from cfgen.records import Fault
from cfgen.reporting.cases import write_panels
from cfgen.reporting.data import ReportData
from cfgen.reporting.footnotes import footnote_of, with_footnotes
from cfgen.reporting.page import facts, section_html, write_cases, write_page
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.registry import SECTIONS, TITLES, chosen
from cfgen.reporting.section import Section, Table
from cfgen.reporting.sections.methods import faults_section, left_out
from cfgen.reporting.settings import DRAWING
from cfgen.storage.store import Store
from cfgen.version import __version__

_MARKER = "report.json"
#: so many items of a long list are written at once
_AT_ONCE = 20
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
T = TypeVar("T")


@dataclass(frozen=True)
class Report:
    """What was written where, and what is worth printing."""

    out: Path
    leaderboard: Table
    headline: tuple[str, ...]
    cases: int
    panels: int
    #: what broke while the report was made, and records that could not be read, in words
    left_out: tuple[str, ...] = ()
    #: answers and verdicts that are missing because cfgen broke on them
    faults: int = 0

    def __repr__(self) -> str:
        short = f", {len(self.left_out)} things left out" if self.left_out else ""
        return f"Report('{self.out}'): {self.cases} cases, {self.panels} panels{short}"

    def _repr_html_(self) -> str:
        """For a notebook: headline, leaderboard and its plot, with nothing to load."""
        plot, page = self.out / "plots" / "success.svg", (self.out / "index.html").resolve()
        encoded = base64.b64encode(plot.read_bytes()).decode() if plot.is_file() else ""
        image = f'<img alt="" src="data:image/svg+xml;base64,{encoded}">' if encoded else ""
        words = "".join(f"<p>{html.escape(line)}</p>" for line in self.headline)
        return f'{words}{self.leaderboard.html()}{image}<p><a href="{page.as_uri()}">{html.escape(str(page))}</a></p>'


@dataclass(frozen=True)
class _Rendered:
    """A section with its files and its spellings."""

    section: Section
    files: dict[str, bytes | Sequence[bytes]]
    #: as JSON, in parts
    figures: dict[str, Sequence[str]]
    markdown: str
    html: str


def report(
    bench: Path,
    out: Path | None = None,
    planners: Sequence[str] | None = None,
    panels: int | None = 4,
    strict: bool = False,
    pages: int | None = None,
    sections: Sequence[str] = (),
) -> Report:
    """Summarize a benchmark directory in a folder that stands on its own.

    A section, a panel or a case that breaks is left out and named; so is a damaged record.

    Args:
        out: an empty, new, or earlier report folder; by default beside the benchmark, ``<bench>-report``.
        planners: those to show; None shows all.
        panels: case panels to draw for each planner; None draws all.
        pages: cases to show one by one, the first by their ids; None shows all.
        sections: besides those that every report has; "all" is every one.
        strict: let what breaks through, with its traceback.

    Raises:
        StoreError: not a benchmark.
        InputError: an unknown planner, or ``out`` holds something else.
    """
    names = chosen(sections)
    store = Store(bench)
    out = out or default_target(store.root)
    check_target(out)
    data = replace(read_report_data(store, planners), strict=strict)
    faults: list[Fault] = []

    def attempt(work: Callable[[], T], where: str, otherwise: Callable[[Fault], T]) -> T:
        result = contained(work, where, strict=strict)
        if not isinstance(result, Fault):
            return result
        faults.append(result)
        return otherwise(result)

    rendered = {
        name: attempt(
            partial(_make, name, data),
            f"section '{title}'",
            lambda fault, name=name, title=title: _rendered(left_out(name, title, fault)),  # type: ignore[misc]
        )
        for name in names
        for title in [TITLES.get(name, name)]
    }
    faults += [fault for part in rendered.values() for fault in part.section.faults]
    faults += attempt(
        lambda: write_cases(out, data, data.cases[:pages], strict), "pages of the cases", lambda _: []
    )
    panel_count, broken = attempt(
        lambda: write_panels(out, data, panels, strict), "panels", lambda _: (0, [])
    )
    faults += broken
    parts = [*rendered.values(), _rendered(faults_section(data, faults))]
    _write(out, data, parts)
    tables = rendered["leaderboard"].section.tables
    return Report(
        out,
        tables[0] if tables else Table("leaderboard", "Strict success", (), ()),
        _said(rendered["headline"].section, data),
        len(data.cases),
        panel_count,
        (*map(str, faults), *data.damaged),
        len(data.faults),
    )


def _said(headline: Section, data: ReportData) -> tuple[str, ...]:
    """The headline's sentences; what they all stand on is said beside each."""
    headlines = tuple(words for *_, words in headline.headline)
    return headlines + tuple(line for line in headline.lead if line != footnote_of("headline", data))


def _make(name: str, data: ReportData) -> _Rendered:
    """A section with its spellings. A third party's keeps to names of its own, on the page and in the files.

    Raises:
        InputError: it cannot be imported, or is no section.
    """
    try:
        section = SECTIONS.get(name)(data)
        if name not in SECTIONS.builtin:
            section = _set_apart(name, section)
    except CfgenError as error:
        raise InputError(str(error)) from error
    return _rendered(with_footnotes(section, data))


def _set_apart(name: str, section: Section) -> Section:
    if not isinstance(section, Section):
        raise InputError(f"expected a Section, found {type(section).__name__}")
    files = [*(t.name for t in (*section.tables, *section.files)), *(p.name for p in section.plots)]
    strange = [file for file in files if not _FILE.fullmatch(file)]
    if strange:
        raise InputError(f"expected names of letters, digits and _ . - for its files, found {strange[0]!r}")
    return replace(
        section,
        id=name,
        tables=tuple(replace(t, name=f"{name}-{t.name}") for t in section.tables),
        files=tuple(replace(t, name=f"{name}-{t.name}") for t in section.files),
        plots=tuple(replace(p, name=f"{name}-{p.name}") for p in section.plots),
        figures={f"section {name}": section.figures},
    )


def default_target(bench: Path) -> Path:
    """Beside the benchmark; of one in an object store, in the working folder."""
    if bucket_of(bench):
        return Path.cwd() / f"{bench.name}-report"
    return bench.resolve().with_name(f"{bench.resolve().name}-report")


def check_target(out: Path) -> None:
    """
    Raises:
        InputError: no report can be written there.
    """
    if file := next((p for p in (out, *out.parents) if p.exists() and not p.is_dir()), None):
        raise InputError(f"{out}: expected a folder, found a file at {file}; choose another 'out'")
    if out.is_dir() and not (out / _MARKER).is_file() and any(out.iterdir()):
        raise InputError(
            f"{out}: expected an empty folder or an earlier report, found other files; choose another 'out'"
        )


def check_target_beside(out: Path, bench: Path) -> None:
    """As :func:`check_target`, for the report of a benchmark that may not be there yet.

    Raises:
        InputError: no report can be written there once the benchmark is.
    """
    check_target(out)
    ours, its = out.resolve(), bench.resolve()
    if its.is_relative_to(ours) and not (out / _MARKER).is_file():
        raise InputError(f"{out}: expected a folder of its own, found that of the benchmark {bench}")
    if ours.is_relative_to(its) and ours.relative_to(its).parts[:1] not in ((), ("report",)):
        raise InputError(
            f"{out}: expected a folder outside the benchmark {bench} or its 'report', found one of its other folders"
        )


def _rendered(section: Section) -> _Rendered:
    """Everything that becomes of a section, so that what breaks on it breaks here."""
    disk = DiskStore()
    figures: dict[str, Sequence[str]]
    figures = {key: DiskList(disk, _json(value)) for key, value in section.figures.items()}
    files: dict[str, bytes | Sequence[bytes]]
    files = {
        f"tables/{t.name}.csv": DiskList(disk, (part.encode() for part in t.csv_parts()))
        for t in (*section.tables, *section.files)
    }
    files |= {f"tables/{t.name}.tex": t.latex().encode() for t in section.tables}
    for plot in section.plots:
        drawing = plot.draw(DRAWING.wide)
        drawing.caption(plot.note)
        files[f"plots/{plot.name}.svg"] = drawing.svg().encode()
    lines = [words for *_, words in section.headline] + list(section.lead)
    text = ["\n".join([f"## {section.title}", "", *(f"- {line}" for line in lines), ""])]
    markdown = "\n".join(text + [table.markdown() for table in section.tables])
    return _Rendered(section, files, figures, "" if section.empty else markdown, section_html(section))


def _write(out: Path, data: ReportData, parts: list[_Rendered]) -> None:
    """Tables as CSV and LaTeX, plots, all in one Markdown file, the page, and the figures as they are, not rounded."""
    for part in parts:
        for name, content in ({} if part.section.empty else part.files).items():
            write_bytes(out / name, content)
    texts = [part.markdown for part in parts if part.markdown]
    write_bytes(out / "report.md", "\n".join([*texts, f"## What was built\n\n{facts(data)}\n"]).encode())
    figures = {
        "cfgen_version": __version__,
        "perception": seen_by(data.benchmark.perception, data.roads_from),
        "cases": len(data.cases),
        "rejected": len(data.rejections),
        "lost_to_faults": data.lost_kinds.total(),
        "main_judge": data.main_judge,
    }
    values: dict[str, Iterable[str]] = {key: _json(value) for key, value in figures.items()}
    write_bytes(
        out / _MARKER, _object(values | {key: text for part in parts for key, text in part.figures.items()})
    )
    write_page(out, data, [(part.section, part.html) for part in parts])


def _object(values: Mapping[str, Iterable[str]]) -> Iterator[bytes]:
    start = "{"
    for key, parts in values.items():
        yield f"{start}\n {json.dumps(key)}: ".encode()
        yield from (part.encode() for part in parts)
        start = ","
    yield b"\n}\n"


def _json(value: object) -> Iterator[str]:
    """A value in an object, as ``json.dumps(..., indent=1)`` writes it; of a long list a few items at a time."""
    if not isinstance(value, DiskList):
        yield _dumped(value, 1)
        return
    items = iter(value)
    start = "["
    while some := list(islice(items, _AT_ONCE)):
        yield start + ",".join(f"\n  {_dumped(item, 2)}" for item in some)
        start = ","
    yield "[]" if start == "[" else "\n ]"


def _dumped(value: object, depth: int) -> str:
    return json.dumps(value, indent=1, allow_nan=False).replace("\n", "\n" + depth * " ")
