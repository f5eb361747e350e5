"""A static site out of a board: one table for each set of rows that may be compared, one page a row, and the figures as
JSON and CSV. Everything that a bundle says is text here."""

import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from cfgen.core.errors import InputError
from cfgen.core.files import write_bytes
from cfgen.core.sanitize import visible
from cfgen.planners.registry import model_of
from cfgen.records import DIMENSIONS
from cfgen.reporting import page as report_page
from cfgen.reporting.section import Table
from cfgen.sharing.leaderboard.board import BUNDLE, KINDS, Board, Row
from cfgen.sharing.leaderboard.words import Like, beside, called, facts, points, share, told_apart

MARKER = "leaderboard.json"
_STYLES = (Path(report_page.__file__).parent / "assets" / "page.css", Path(__file__).parent / "site.css")
_COLUMNS = (
    *("planner", "points above floor", "who vouches", *(f"{name} %" for name in reversed(DIMENSIONS))),
    *("cases", "excluded", "judge failed", "planner failed"),
)
#: of the first columns: what stays in sight, and what is no figure
_CLASSES = {0: " class=word", 1: " class=lead", 2: " class=word"}
_KIND = _COLUMNS.index("who vouches")
_NOTE = (
    "In brackets: 95% intervals. Strict success: share of cases scored 2. Cases: scored ones and planner failures, "
    "which count as no success. Excluded: the judge could not name the change; judge failed: it gave no usable reply. "
    "Ranked by points above the floor, then by share."
)


@dataclass(frozen=True)
class Site:
    """What was written where."""

    out: Path
    rows: int
    tables: int


def write_site(board: Board, out: Path, bundles: bool = False) -> Site:
    """Write the site into a new folder, or over an earlier site.

    Args:
        bundles: with the bundles themselves, answers and all, so that others can check and judge them.

    Raises:
        InputError: ``out`` holds something else, the board is empty, or an entry does not verify.
    """
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARKER).is_file())):
        raise InputError(
            f"{out}: expected a new folder or an earlier site, found something else; choose another --out"
        )
    rows = list(board.rows())
    if not rows:
        raise InputError(
            f"{board.root}: holds no entry yet; add one: cfgen share leaderboard add {board.root} BUNDLE"
        )
    groups = grouped(rows)
    for old in [*out.glob("entries/*.html"), *out.glob(f"entries/*{_suffix()}")]:
        old.unlink()
    write_bytes(out / "page.css", b"".join(path.read_bytes() for path in _STYLES))
    for like, members in groups:
        for row in members:
            name = row.entry.entry
            write_bytes(
                out / "entries" / f"{name}.html", _entry_page(board.title, like, row, bundles).encode()
            )
            if bundles:
                write_bytes(
                    out / "entries" / f"{name}{_suffix()}", (board.folder(name) / BUNDLE).read_bytes()
                )
    write_bytes(out / "leaderboard.csv", _table(groups).csv().encode())
    write_bytes(out / "index.html", _index(board.title, groups).encode())
    write_bytes(out / MARKER, (json.dumps(_figures(groups), indent=1, allow_nan=False) + "\n").encode())
    return Site(out, len(rows), len(groups))


def grouped(rows: Iterable[Row]) -> list[tuple[Like, list[Row]]]:
    """Rows that may be compared together, the best first; the largest table first."""
    by_table: dict[str, list[Row]] = {}
    for row in rows:
        by_table.setdefault(row.like, []).append(row)

    def order(row: Row) -> tuple[object, ...]:
        figures = row.proof.figures
        lead = figures.rates[figures.leading].value
        return (
            figures.above.value is None,
            -(figures.above.value or 0.0),
            -(lead if lead is not None else -1.0),
            row.entry.entry,
        )

    likes = told_apart([Like.of(key, members) for key, members in by_table.items()])
    groups = [
        (like, sorted(members, key=order)) for like, members in zip(likes, by_table.values(), strict=True)
    ]
    return sorted(
        groups, key=lambda group: (not group[0].reads_words, -len(group[1]), group[0].title, group[0].key)
    )


# --- pages ------------------------------------------------------------------------------------------------


def _suffix() -> str:
    return Path(BUNDLE).suffix


def _index(title: str, groups: Sequence[tuple[Like, list[Row]]]) -> str:
    count = sum(len(rows) for _, rows in groups)
    kinds = "".join(f"<dt>{_kind(kind)}</dt><dd>{_text(words)}</dd>" for kind, words in KINDS.items())
    tables = "".join(_section(like, rows) for like, rows in groups)
    nav = (
        "".join(f'<a href="#{like.key}">{_text(like.title)}</a>' for like, _ in groups)
        if len(groups) > 1
        else ""
    )
    separate = (
        ""
        if len(groups) == 1
        else f" They stand in {len(groups)} tables, which are not to be compared with each other."
    )
    lead = (
        f"{count} {'entry' if count == 1 else 'entries'}, each checked: every figure is derived from the verdicts "
        f"in its bundle.{separate} How much that is worth depends on who vouches for a row:"
    )
    body = (
        f"<section><p>{_text(lead)}</p><dl class='facts'>{kinds}</dl>"
        "<p>As data: <a href='leaderboard.json'>JSON</a>, <a href='leaderboard.csv'>CSV</a>.</p></section>"
        + tables
    )
    return _page(title, "cfgen share leaderboard", body, nav)


def _section(like: Like, rows: list[Row]) -> str:
    cells_of = [_cells(row) for row in rows]
    columns = [i for i in range(len(_COLUMNS)) if any(cells[i] != "-" for cells in cells_of)]
    head = "".join(f'<th scope="col"{_CLASSES.get(i, "")}>{_text(_COLUMNS[i])}</th>' for i in columns)
    body = "".join(_row(row, columns) for row in rows)
    notes = "".join(f"<dt>{_text(name)}</dt><dd>{_text(words)}</dd>" for name, words in like.facts)
    return (
        f"<section id='{like.key}'><h2>{_text(like.title)}</h2><dl class='facts'>{notes}</dl>"
        '<p class="hint">Where the table goes on to the right, scroll it sideways.</p>'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{_text(like.title)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f'<p class="note">{_text(_NOTE)}</p></section>'
    )


def _row(row: Row, columns: Sequence[int]) -> str:
    cells_of = _cells(row)
    link = f"entries/{quote(row.entry.entry)}.html"
    name = f'<th scope="row"><a href="{link}">{_text(cells_of[0])}</a></th>'
    cells = (
        f"<td{_CLASSES.get(i, '')}>{_kind(cells_of[i]) if i == _KIND else _text(cells_of[i])}</td>"
        for i in columns[1:]
    )
    return f"<tr>{name}{''.join(cells)}</tr>"


def _cells(row: Row) -> tuple[str, ...]:
    """As :data:`_COLUMNS`."""
    figures = row.proof.figures
    rates = [share(figures.rates[d]) for d in reversed(DIMENSIONS)]
    counts = (figures.n, figures.excluded, figures.judge_failed, figures.planner_failed)
    return (called(row), points(figures.above), row.entry.kind, *rates, *map(str, counts))


def _entry_page(title: str, like: Like, row: Row, bundles: bool) -> str:
    name = row.entry.entry
    facts_of = [*beside(row, like), *facts(row)]
    link = f"{quote(name)}{_suffix()}"
    get = f"<p><a href='{link}' download>The bundle</a>: check it with <code>cfgen share leaderboard add</code>.</p>"
    listed = "".join(f"<dt>{_text(key)}</dt><dd>{_text(words)}</dd>" for key, words in facts_of)
    parts = "".join(
        f"<dt>{_text(k)}</dt><dd>{_text(v)}</dd>" for k, v in sorted(row.bundle.run.fingerprint.items())
    )
    wording = row.bundle.index.wording
    count = len(row.bundle.run.fingerprint)
    fingerprint = (
        f"<section><h2>The planner's fingerprint</h2><details><summary>{count} parts</summary><dl>{parts}</dl>"
        "</details></section>"
    )
    body = (
        f"<section><h2>What it is</h2><dl>{listed}</dl>{get if bundles else ''}</section>"
        f"<section><h2>What the judge was told</h2><details><summary>Rubric {_text(wording.name)} "
        f"{_text(wording.version)}</summary><pre>{_text(wording.system.get('tags', ''))}</pre></details></section>"
        f"{fingerprint if count else ''}"
    )
    nav = "<a href='../index.html'>All entries</a>"
    return _page(row.bundle.run.planner, title, body, nav, "../")


def _page(title: str, brand: str, body: str, nav: str, root: str = "") -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self'\">"
        f'<title>{_text(title)} · {_text(brand)}</title><link rel="stylesheet" href="{root}page.css"></head><body>'
        '<a class="skip" href="#main">To the content</a>'
        f'<header><p class="brand">{_text(brand)}</p><h1>{_text(title)}</h1>'
        f"{f'<nav aria-label=Sections>{nav}</nav>' if nav else ''}</header>"
        f'<main id="main">{body}</main>'
        "<footer><p>Made by cfgen out of bundles; nothing here is loaded from elsewhere.</p></footer></body></html>\n"
    )


def _kind(kind: str) -> str:
    return f'<span class="kind {kind}">{_text(kind)}</span>'


def _text(words: object) -> str:
    """Escaped, with what turns or hides text made visible."""
    return html.escape(visible(str(words)))


# --- data -------------------------------------------------------------------------------------------------


def _table(groups: Sequence[tuple[Like, list[Row]]]) -> Table:
    rows = tuple((like.title, row.entry.entry, *_cells(row)) for like, members in groups for row in members)
    return Table("leaderboard", "Leaderboard", ("table", "entry", *_COLUMNS), rows, words=5)


def _figures(groups: Sequence[tuple[Like, list[Row]]]) -> list[dict[str, object]]:
    return [
        {
            "table": like.title,
            "like": like.key,
            **dict(like.facts),
            "rows": [
                {
                    "entry": row.entry.entry,
                    "planner": row.bundle.run.planner,
                    "model": model_of(row.bundle.run),
                    "planner_hash": row.bundle.run.planner_hash,
                    "kind": row.entry.kind,
                    "bundle": row.entry.bundle,
                    "figures": row.proof.figures.model_dump(mode="json"),
                }
                for row in members
            ],
        }
        for like, members in groups
    ]
