"""A part of the report: what it says, its tables and plots, and what it keeps as figures."""

import csv
import html
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cfgen.core.sanitize import markdown_line
from cfgen.metrics.intervals import Difference
from cfgen.records import Fault
from cfgen.reporting.drawing import SvgCanvas

#: more are too wide to read, on a page or in a paper
_MOST_COLUMNS = 9
#: characters of a long file that are held at once
_PART = 10_000
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}


@dataclass(frozen=True)
class Table:
    """``columns`` name what is in ``rows``; the first ``words`` columns are text, the others figures."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    words: int = 1
    note: str = ""
    #: where the first cell of each row leads to, on a page
    links: Sequence[str] = ()

    @classmethod
    def of(
        cls, name: str, title: str, rows: Sequence[Mapping[str, str]], words: int = 1, note: str = ""
    ) -> tuple["Table", ...]:
        """One table of rows that are column -> cell, all with the same columns; none without rows.

        A column of figures without any is left out; more than nine columns are several tables.
        """
        if not rows:
            return ()
        columns = [c for i, c in enumerate(rows[0]) if i < words or any(row[c] != "-" for row in rows)]
        names, step = columns[:words], _MOST_COLUMNS - words
        parts = [names + columns[i : i + step] for i in range(words, max(len(columns), words + 1), step)]
        return tuple(
            cls(
                name if k == 0 else f"{name}-{k + 1}",
                title if k == 0 else f"{title}, continued",
                tuple(part),
                tuple(tuple(row[column] for column in part) for row in rows),
                words,
                note if k == len(parts) - 1 else "",
            )
            for k, part in enumerate(parts)
        )

    def markdown(self) -> str:
        lines = [f"### {self.title}", ""]
        lines.append("| " + " | ".join(map(markdown_line, self.columns)) + " |")
        lines.append("|" + "".join("---|" if i < self.words else "---:|" for i in range(len(self.columns))))
        lines += ["| " + " | ".join(map(markdown_line, row)) + " |" for row in self.rows]
        return "\n".join(lines + (["", markdown_line(self.note)] if self.note else [])) + "\n"

    def __str__(self) -> str:
        return self.markdown()

    def _repr_html_(self) -> str:
        return self.html()

    def csv(self) -> str:
        return "".join(self.csv_parts())

    def csv_parts(self) -> Iterator[str]:
        """With a leading apostrophe where a spreadsheet would take a word for a formula."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([_csv(v) if i < self.words else v for i, v in enumerate(row)])
            if out.tell() > _PART:
                yield out.getvalue()
                out.seek(0)
                out.truncate()
        yield out.getvalue()

    def latex(self) -> str:
        """A tabular with booktabs rules."""
        kinds = "l" * self.words + "r" * (len(self.columns) - self.words)
        body = [" & ".join(map(_latex, row)) + r" \\" for row in self.rows]
        lines = [
            *(f"% {' '.join(words.split())}" for words in (self.title, self.note) if words),
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\toprule",
            " & ".join(map(_latex, self.columns)) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        head = "".join(
            f'<th scope="col"{_kind(i, self.words)}>{html.escape(c)}</th>' for i, c in enumerate(self.columns)
        )
        body = "".join(
            f"<tr>{''.join(self._html_cell(n, i, v) for i, v in enumerate(row))}</tr>"
            for n, row in enumerate(self.rows)
        )
        note = f'<p class="note">{html.escape(self.note)}</p>' if self.note else ""
        return (
            f"<figure class='table'><figcaption>{html.escape(self.title)}</figcaption>"
            f'<div class="scroll" role="region" tabindex="0" aria-label="{html.escape(self.title)}">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{note}</figure>"
        )

    def _html_cell(self, row: int, column: int, text: str) -> str:
        if column == 0 and self.links:
            return f'<th scope="row"><a href="{html.escape(self.links[row])}">{html.escape(text)}</a></th>'
        return f"<td{_kind(column, self.words)}>{html.escape(text)}</td>"


# --- cells: "-" or "undefined" where there is no figure ----------------------------------------------------


def share(value: float | None, digits: int = 1) -> str:
    """A share in percent."""
    return "-" if value is None else f"{100 * value:.{digits}f}"


def coefficient(value: float | None, digits: int = 2) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def points(difference: Difference, sign: str = "+") -> tuple[str, str]:
    """Percentage points and their interval, each with its sign, or without it where ``sign`` is ""."""
    if difference.value is None or difference.low is None or difference.high is None:
        return "-", "-"
    value, low, high = (f"{100 * v:{sign}.1f}" for v in (difference.value, difference.low, difference.high))
    return value, f"{low} to {high}"


def with_interval(difference: Difference, sign: str = "+") -> str:
    """Percentage points and their interval in one cell."""
    value, interval = points(difference, sign)
    return value if value == "-" else f"{value} ({interval})"


def _kind(column: int, words: int) -> str:
    return ' class="word"' if column < words else ""


def _latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in " ".join(text.split()))


def _csv(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") and len(text) > 1 else text


# --- a part of the report: what it says, shows and keeps as figures ---------------------------------------


@dataclass(frozen=True)
class Plot:
    """``name`` is its file name; ``draw`` makes it in a given width.

    Plots that share a ``group`` are alternatives, chosen by ``choice``.
    """

    name: str
    title: str
    draw: Callable[[float], SvgCanvas]
    group: str = ""
    choice: str = ""
    #: whose verdicts of what it shows: below it on the page, and in its files
    note: str = ""


@dataclass(frozen=True)
class Section:
    """``lead`` are sentences; ``figures`` JSON values, unrounded; a long list of them may be a DiskList."""

    id: str
    title: str
    lead: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()
    #: tables too long for the page: written as CSV only
    files: tuple[Table, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)
    #: set large, above the lead: value, its unit, and a sentence
    headline: tuple[tuple[str, str, str], ...] = ()
    #: what broke on the way and was left out
    faults: tuple[Fault, ...] = ()

    @property
    def empty(self) -> bool:
        return not (self.headline or self.lead or any(t.rows for t in self.tables) or self.plots)
