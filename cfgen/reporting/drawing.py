"""Drawings written as SVG, for the page and for a paper. Points are in a y-down frame, in CSS pixels."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt

from cfgen.metrics.intervals import Rate
from cfgen.traces.study import ERRORS, Stratum

_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
#: Advance widths of Helvetica for the characters 32 to 126, in 1/1000 of the size.
_WIDTHS = (
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278),
    *(556,) * 10,
    *(278, 278, 584, 584, 584, 556, 1015),
    *(667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833),
    *(722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611),
    *(278, 278, 278, 469, 556, 333),
    *(556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833),
    *(556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500),
    *(334, 260, 334, 584),
)
#: Corners of marks in units of their radius; none: a disc.
SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.2), (1.1, 0.8), (-1.1, 0.8)),
    ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    ((0, 1.2), (1.1, -0.8), (-1.1, -0.8)),
    (
        *((-0.4, -1.2), (0.4, -1.2), (0.4, -0.4), (1.2, -0.4), (1.2, 0.4), (0.4, 0.4)),
        *((0.4, 1.2), (-0.4, 1.2), (-0.4, 0.4), (-1.2, 0.4), (-1.2, -0.4), (-0.4, -0.4)),
    ),
    ((-1.2, -0.5), (1.2, -0.5), (1.2, 0.5), (-1.2, 0.5)),
)


@dataclass
class Drawing:
    """A canvas of ``width`` x ``height``; colours are ``#rrggbb``. ``title`` is what a screen reader says."""

    width: float
    height: float
    title: str
    _svg: list[str] = field(default_factory=list)
    #: what a caption adds to the height
    _below: float = 0.0

    def line(self, points: list[tuple[float, float]], color: str, width: float = 1.0) -> None:
        path = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        self._svg.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}" '
            'stroke-linejoin="round" stroke-linecap="round"/>'
        )

    def disc(self, x: float, y: float, radius: float, color: str) -> None:
        self._svg.append(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:g}" fill="{color}"/>')

    def mark(self, x: float, y: float, radius: float, color: str, shape: int) -> None:
        """A disc for shape 0, else one of :data:`SHAPES`, about as large."""
        corners = SHAPES[shape % len(SHAPES)]
        if not corners:
            self.disc(x, y, radius, color)
            return
        points = [(x + radius * dx, y + radius * dy) for dx, dy in corners]
        path = " ".join(f"{px:.2f},{py:.2f}" for px, py in points)
        self._svg.append(f'<polygon points="{path}" fill="{color}"/>')

    def caption(self, words: str, size: float = 11, color: str = "#68707a") -> None:
        """Sentences below everything else, over as many lines as they need."""
        for line in wrapped(words, self.width - 8, size):
            self._below += 1.4 * size
            self.text(0, self.height + self._below - 0.4 * size, line, size, color)

    def text(
        self, x: float, y: float, words: str, size: float = 13, color: str = "#212529", anchor: str = "start"
    ) -> None:
        """One line with its baseline at ``y``; anchor: start, middle or end."""
        self._svg.append(
            f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size:g}" fill="{color}" text-anchor="{anchor}">'
            f"{html.escape(words)}</text>"
        )

    def svg(self) -> str:
        """A standalone or inline SVG element that scales with its container."""
        height = self.height + self._below
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {height:g}" '
            f'width="{self.width:g}" height="{height:g}" role="img" font-family="{html.escape(_FONT)}">'
            f"<title>{html.escape(self.title)}</title>{''.join(self._svg)}</svg>"
        )


def text_width(words: str, size: float) -> float:
    """Advance width in Helvetica; characters beyond ASCII count as wide as a digit."""
    return size / 1000 * sum(_WIDTHS[ord(c) - 32] if 32 <= ord(c) < 127 else 556 for c in words)


def wrapped(words: str, width: float, size: float) -> list[str]:
    """``words`` in lines no wider than ``width``: broken after spaces, hyphens, underscores, else anywhere."""
    lines = [""]
    for part in re.findall(r"[^\s_-]*[_-]+|[^\s_-]+\s*|\s+", " ".join(words.split())):
        if lines[-1] and text_width((lines[-1] + part).rstrip(), size) > width:
            lines.append("")
        for letter in part:
            if lines[-1] and text_width((lines[-1] + letter).rstrip(), size) > width:
                lines.append("")
            lines[-1] += letter
    return [line.strip() for line in lines]


# --- shares with their intervals, row by row and along an axis ----------------------------------------------

#: Told apart by colour-blind readers, and 3:1 on white; the first two are those of the trajectories.
PALETTE = ("#008080", "#e86a10", "#b600f2", "#160059", "#590000", "#808053", "#330a29", "#5b42a6")
_INK, _MUTED, _GRID = "#212529", "#68707a", "#e2e6ea"
_SIZE = 13
_LINE = 16.0
#: What a page shows where Helvetica is not installed is this much wider.
_WIDER = 1.2


@dataclass(frozen=True)
class Series:
    """One colour and shape: a rate for every row, None where there is none."""

    name: str
    rates: Sequence[Rate | None]


def rows_chart(title: str, rows: Sequence[str], series: Sequence[Series], width: float) -> Drawing:
    """One band per row, in it a dot and an interval for each series, from 0 to 100%."""
    labels = [_lines(row, 0.4 * width - 14) for row in rows]
    longest = max((text_width(line, _SIZE) for lines in labels for line in lines), default=0)
    start_x = 14 + _WIDER * longest
    each = 15.0
    bands = [max(30.0, each * len(series) + 12, _LINE * len(lines) + 8) for lines in labels]
    top = 12.0 + 24 * _legend_lines(series, width)
    drawing = Drawing(width, top + sum(bands) + 34, title)
    _legend(drawing, series)
    counts = [_count(rate) for curve in series for rate in curve.rates if rate is not None]
    right = width - 14 - _WIDER * max((text_width(words, 11) for words in counts), default=20.0)
    bottom = top + sum(bands)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = start_x + share * (right - start_x)
        drawing.line([(x, top), (x, bottom)], _GRID)
        drawing.text(x, bottom + 18, f"{100 * share:.0f}%", 12, _MUTED, "middle")
    for i, lines in enumerate(labels):
        start = top + sum(bands[:i])
        middle = start + bands[i] / 2
        if i:
            drawing.line([(0, start), (width, start)], "#f1f3f5")
        for k, line in enumerate(lines):
            y = middle + 4.5 + _LINE * (k - (len(lines) - 1) / 2)
            drawing.text(start_x - 10, y, line, _SIZE, _INK, "end")
        for j, curve in enumerate(series):
            rate = curve.rates[i]
            if rate is not None and rate.value is not None:
                _mark(drawing, rate, middle + each * (j - (len(series) - 1) / 2), start_x, right, j)
    return drawing


def _mark(drawing: Drawing, rate: Rate, y: float, start_x: float, right: float, index: int) -> None:
    assert rate.value is not None
    assert rate.low is not None
    assert rate.high is not None
    low, value, high = (start_x + share * (right - start_x) for share in (rate.low, rate.value, rate.high))
    drawing.line([(low, y), (high, y)], color(index), 2)
    drawing.mark(value, y, 4.5, color(index), shape(index))
    drawing.text(right + 10, y + 4, _count(rate), 11, _MUTED)


def _count(rate: Rate) -> str:
    return f"{rate.percent(0)}% ({rate.n})"


def curve_chart(
    title: str, axis: str, ticks: Sequence[str], series: Sequence[Series], width: float
) -> Drawing:
    """A line per series over ordered groups, with intervals; the number of cases stands under each tick."""
    top, start_x, height = 12.0 + 24 * _legend_lines(series, width), 46.0, 240.0
    right = width - 8
    step = (right - start_x) / max(1, len(ticks))
    labels = [_lines(tick, step - 4, 12) for tick in ticks]
    deep = _LINE * max((len(lines) for lines in labels), default=1)
    drawing = Drawing(width, top + height + deep + 50, title)
    _legend(drawing, series)
    bottom = top + height
    _shares(drawing, start_x, right, bottom, height)
    for i, lines in enumerate(labels):
        n = max((rate.n for curve in series if (rate := curve.rates[i])), default=0)
        for k, line in enumerate(lines):
            drawing.text(start_x + step * (i + 0.5), bottom + 18 + _LINE * k, line, 12, _INK, "middle")
        words = f"n = {n}" if _WIDER * text_width(f"n = {n}", 11) < step else f"{n}"
        drawing.text(start_x + step * (i + 0.5), bottom + 18 + deep, words, 11, _MUTED, "middle")
    drawing.text((start_x + right) / 2, bottom + deep + 40, axis, 12, _MUTED, "middle")
    for j, curve in enumerate(series):
        shift = min(12.0, step / (len(series) + 1)) * (j - (len(series) - 1) / 2)
        at = [
            (start_x + step * (i + 0.5) + shift, rate)
            for i, rate in enumerate(curve.rates)
            if rate and rate.n
        ]
        if not at:
            continue
        drawing.line([(x, bottom - (rate.value or 0) * height) for x, rate in at], color(j), 1.6)
        for x, rate in at:
            _upright(drawing, x, rate, bottom, height, j)
    return drawing


def _shares(drawing: Drawing, start_x: float, right: float, bottom: float, height: float) -> None:
    """The axis of shares, upwards."""
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - share * height
        drawing.line([(start_x, y), (right, y)], _GRID)
        drawing.text(start_x - 8, y + 4, f"{100 * share:.0f}%", 12, _MUTED, "end")


def _upright(drawing: Drawing, x: float, rate: Rate, bottom: float, height: float, index: int) -> None:
    low, value, high = (bottom - (v or 0) * height for v in (rate.low, rate.value, rate.high))
    drawing.line([(x, low), (x, high)], color(index), 1.2)
    drawing.mark(x, value, 4, color(index), shape(index))


def color(index: int) -> str:
    return PALETTE[index % len(PALETTE)]


def shape(index: int) -> int:
    """With the colour it tells 56 series apart: 8 colours and 7 shapes take turns."""
    return index % len(SHAPES)


def _legend_lines(series: Sequence[Series], width: float) -> int:
    return max((line + len(lines) - 1 for _, line, lines in _legend_places(series, width)), default=0)


def _legend_places(series: Sequence[Series], width: float) -> list[tuple[float, int, list[str]]]:
    """Where each name goes: x, line from 1, and the name in lines."""
    x, line, places = 0.0, 1, []
    for curve in series:
        lines = _lines(curve.name, width - 34)
        needed = 34 + _WIDER * max(text_width(words, _SIZE) for words in lines)
        if x + needed > width and x:
            x, line = 0.0, line + 1
        places.append((x, line, lines))
        line += len(lines) - 1
        x += needed + 6
    return places


def _legend(drawing: Drawing, series: Sequence[Series]) -> None:
    for j, (x, line, lines) in enumerate(_legend_places(series, drawing.width)):
        y = 24.0 * line - 10
        drawing.line([(x + 2, y - 4), (x + 20, y - 4)], color(j), 2)
        drawing.mark(x + 11, y - 4, 4.5, color(j), shape(j))
        for k, words in enumerate(lines):
            drawing.text(x + 28, y + 24.0 * k, words, _SIZE)


def _lines(words: str, room: float, size: float = _SIZE) -> list[str]:
    """Over as many lines as it needs: a name is never cut."""
    return wrapped(words, room / _WIDER, size)


# --- the study's plot, as the Pinocchio paper's Figure 2 ---------------------------------------------------

_BLUE, _ORANGE = "#1f5fbf", "#e86a10"
_LEFT, _PANEL, _GAP, _ROW, _TOP = 200.0, 180.0, 28.0, 34.0, 56.0


def study_plot(strata: Sequence[Stratum], names: tuple[str, str]) -> Drawing:
    """One row a stratum, one panel an error: right and blue where B is nearer more often, left and orange where A is.

    The area of a dot grows with the samples behind it; lines are 95% intervals.
    """
    width = _LEFT + len(ERRORS) * (_PANEL + _GAP)
    drawing = Drawing(width, _TOP + _ROW * len(strata) + 44, f"Win rate of {names[1]} against {names[0]}")
    largest = max((stratum.n for stratum in strata), default=1) or 1
    bottom = _TOP + _ROW * len(strata)
    for k, error in enumerate(ERRORS):
        start_x = _LEFT + k * (_PANEL + _GAP)
        drawing.text(start_x + _PANEL / 2, 24, error, 13, _INK, "middle")
        for share in (0.0, 0.5, 1.0):
            x = start_x + share * _PANEL
            drawing.line([(x, _TOP - 10), (x, bottom)], _MUTED if share == 0.5 else _GRID)
            drawing.text(x, bottom + 16, f"{100 * share:.0f}%", 11, _MUTED, "middle")
        for i, stratum in enumerate(strata):
            y = _TOP + _ROW * (i + 0.5)
            rate = stratum.wins[error]
            if rate.value is None or rate.low is None or rate.high is None:
                drawing.text(start_x + _PANEL / 2, y + 4, "-", 11, _MUTED, "middle")
                continue
            color = _BLUE if rate.value > 0.5 else _ORANGE if rate.value < 0.5 else _MUTED
            drawing.line([(start_x + rate.low * _PANEL, y), (start_x + rate.high * _PANEL, y)], color, 1.5)
            drawing.disc(start_x + rate.value * _PANEL, y, 3 + 8 * sqrt(stratum.n / largest), color)
    for i, stratum in enumerate(strata):
        y = _TOP + _ROW * (i + 0.5)
        drawing.text(_LEFT - 14, y + 4, f"{stratum.name} (n = {stratum.n})", 12, _INK, "end")
    drawing.text(_LEFT, bottom + 36, f"left: {names[0]} nearer; right: {names[1]} nearer", 11, _MUTED)
    return drawing
