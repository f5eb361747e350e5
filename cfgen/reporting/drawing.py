"""Drawings written as SVG, for the page and for a paper. Points are in a y-down frame, in CSS pixels."""

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import cos, pi, sin

from cfgen.metrics.intervals import Rate
from cfgen.render import canvas
from cfgen.render.canvas import wrap
from cfgen.reporting.settings import DRAWING

_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_INK, _MUTED, _GRID = (f"#{bytes(ink).hex()}" for ink in (canvas.INK, canvas.MUTED, canvas.GRID))
#: Told apart by colour-blind readers, and 3:1 on white; the first two are those of the trajectories.
PALETTE = ("#008080", "#e86a10", "#b600f2", "#160059", "#590000", "#808053", "#330a29", "#5b42a6")
#: Corners of a mark, and by what part of a turn the first is off the top. With the colours they tell 40 series apart.
_SHAPES = ((0, 0.0), (4, 1 / 8), (3, 0.0), (4, 0.0), (3, 1 / 2))
_SHARES = [quarter / 4 for quarter in range(5)]


@dataclass
class SvgCanvas:
    """A canvas of ``width`` x ``height``; colours are ``#rrggbb``. ``title`` is what a screen reader says."""

    width: float
    height: float
    title: str
    _svg: list[str] = field(default_factory=list)
    #: what a caption adds to the height
    _below: float = 0.0

    def line(self, points: list[tuple[float, float]], color: str, width: float = 1.0) -> None:
        self._svg.append(
            f'<polyline points="{_path(points)}" fill="none" stroke="{color}" stroke-width="{width:g}" '
            'stroke-linejoin="round" stroke-linecap="round"/>'
        )

    def mark(self, x: float, y: float, index: int) -> None:
        """The mark of a series: a disc or a polygon of its colour, no two of 40 alike."""
        corners, turn = _SHAPES[index % len(_SHAPES)]
        if not corners:
            self._svg.append(
                f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{DRAWING.mark:g}" fill="{color(index)}"/>'
            )
            return
        radius = 1.25 * DRAWING.mark  # about as large as a disc
        angles = [2 * pi * (turn + corner / corners) for corner in range(corners)]
        points = [(x + radius * sin(angle), y - radius * cos(angle)) for angle in angles]
        self._svg.append(f'<polygon points="{_path(points)}" fill="{color(index)}"/>')

    def caption(self, words: str) -> None:
        """Sentences below everything else, over as many lines as they need."""
        lines = wrap(words, self.width / DRAWING.wider, DRAWING.small)
        self._below += DRAWING.line * (len(lines) + 0.5) if lines else 0
        for k, line in enumerate(reversed(lines)):
            y = self.height + self._below - DRAWING.line * (k + 0.5)
            self.text(0, y, line, DRAWING.small, _MUTED)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = DRAWING.text,
        color: str = _INK,
        anchor: str = "start",
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


def _path(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def color(index: int) -> str:
    return PALETTE[index % len(PALETTE)]


# --- shares with their intervals, row by row and along an axis ----------------------------------------------


@dataclass(frozen=True)
class Series:
    """One colour and shape: a rate for every row, None where there is none."""

    name: str
    rates: Sequence[Rate | None]


def rows_chart(title: str, rows: Sequence[str], series: Sequence[Series], width: float) -> SvgCanvas:
    """One band per row, in it a mark and an interval for each series, from 0 to 100%."""
    labels = [_lines(row, 0.4 * width, DRAWING.text) for row in rows]
    bands = [DRAWING.line * max(len(series), len(lines)) + DRAWING.text for lines in labels]
    counts = [_count(rate) for curve in series for rate in curve.rates if rate is not None]
    left = _widest([line for lines in labels for line in lines], DRAWING.text) + 2 * DRAWING.space
    right = width - _widest(counts, DRAWING.small) - 2 * DRAWING.space
    top = _legend_height(series, width)
    bottom = top + sum(bands)
    drawing = SvgCanvas(width, bottom + 2 * DRAWING.line, title)
    _legend(drawing, series)
    for share in _SHARES:
        x = left + share * (right - left)
        drawing.line([(x, top), (x, bottom)], _GRID)
        drawing.text(x, bottom + DRAWING.line, f"{share:.0%}", DRAWING.small, _MUTED, "middle")
    end = top
    for i, (lines, band) in enumerate(zip(labels, bands, strict=True)):
        middle, end = end + band / 2, end + band
        drawing.line([(0, end), (width, end)], _GRID)
        for k, line in enumerate(lines):
            y = middle + _offset(k, len(lines)) + DRAWING.text / 3
            drawing.text(left - DRAWING.space, y, line, anchor="end")
        for j, curve in enumerate(series):
            y = middle + _offset(j, len(series))
            if (rate := curve.rates[i]) is not None and rate.n:
                _interval(drawing, rate, lambda share, y=y: (left + share * (right - left), y), j)  # type: ignore[misc]
                drawing.text(
                    right + DRAWING.space, y + DRAWING.small / 3, _count(rate), DRAWING.small, _MUTED
                )
    return drawing


def curve_chart(
    title: str, axis: str, ticks: Sequence[str], series: Sequence[Series], width: float
) -> SvgCanvas:
    """A line per series over ordered groups, with intervals; the number of cases stands under each tick."""
    left = _widest(["100%"], DRAWING.small) + DRAWING.space
    step = (width - left) / max(1, len(ticks))
    labels = [_lines(tick, step, DRAWING.small) for tick in ticks]
    under = DRAWING.line * (max(map(len, labels), default=0) + 1)
    bottom = _legend_height(series, width) + DRAWING.height
    drawing = SvgCanvas(width, bottom + under + 2 * DRAWING.line, title)
    _legend(drawing, series)
    for share in _SHARES:
        y = bottom - share * DRAWING.height
        drawing.line([(left, y), (width, y)], _GRID)
        drawing.text(
            left - DRAWING.space / 2, y + DRAWING.small / 3, f"{share:.0%}", DRAWING.small, _MUTED, "end"
        )
    for i, lines in enumerate(labels):
        x = left + step * (i + 0.5)
        for k, line in enumerate(lines):
            drawing.text(x, bottom + DRAWING.line * (k + 1), line, DRAWING.small, _INK, "middle")
        n = max((rate.n for curve in series if (rate := curve.rates[i])), default=0)
        words = f"n = {n}" if _widest([f"n = {n}"], DRAWING.small) < step else f"{n}"
        drawing.text(x, bottom + under, words, DRAWING.small, _MUTED, "middle")
    axis_y = bottom + under + 1.5 * DRAWING.line
    drawing.text((left + width) / 2, axis_y, axis, DRAWING.small, _MUTED, "middle")
    for j, curve in enumerate(series):
        shift = _offset(j, len(series)) * min(1.0, step / DRAWING.line / (len(series) + 1))
        rates = [
            (left + step * (i + 0.5) + shift, rate) for i, rate in enumerate(curve.rates) if rate and rate.n
        ]
        drawing.line([(x, bottom - (rate.value or 0) * DRAWING.height) for x, rate in rates], color(j), 1.5)
        for x, rate in rates:
            _interval(drawing, rate, lambda share, x=x: (x, bottom - share * DRAWING.height), j)  # type: ignore[misc]
    return drawing


def _interval(
    drawing: SvgCanvas, rate: Rate, place: Callable[[float], tuple[float, float]], index: int
) -> None:
    """A rate with cases: a line from its low to its high end, and the mark; ``place``: share -> x, y."""
    low, value, high = (place(share or 0.0) for share in (rate.low, rate.value, rate.high))
    drawing.line([low, high], color(index), 1.5)
    drawing.mark(*value, index)


def _count(rate: Rate) -> str:
    return f"{rate.percent(0)}% ({rate.n})"


def _offset(index: int, count: int) -> float:
    """Of the line ``index`` from the middle of so many."""
    return DRAWING.line * (index - (count - 1) / 2)


def _widest(lines: Iterable[str], size: int) -> float:
    return DRAWING.wider * max((canvas.text_width(line, size) for line in lines), default=0.0)


def _lines(words: str, width: float, size: int) -> list[str]:
    """Over as many lines as it needs: a name is never cut."""
    return wrap(words, width / DRAWING.wider, size)


#: width of the line and mark before a name in the legend
_SWATCH = 1.5 * DRAWING.line


def _legend_places(series: Sequence[Series], width: float) -> list[tuple[float, float, list[str]]]:
    """Where each name goes: x, baseline of its first line, and the name in lines."""
    x, y, places = 0.0, DRAWING.line, []
    for curve in series:
        lines = _lines(curve.name, width - _SWATCH, DRAWING.text)
        needed = _SWATCH + _widest(lines, DRAWING.text)
        if x and x + needed > width:
            x, y = 0.0, y + 1.5 * DRAWING.line
        places.append((x, y, lines))
        x, y = x + needed + DRAWING.space, y + DRAWING.line * (len(lines) - 1)
    return places


def _legend_height(series: Sequence[Series], width: float) -> float:
    places = _legend_places(series, width)
    return max((y + DRAWING.line * len(lines) for _, y, lines in places), default=DRAWING.line)


def _legend(drawing: SvgCanvas, series: Sequence[Series]) -> None:
    for j, (x, y, lines) in enumerate(_legend_places(series, drawing.width)):
        middle = y - DRAWING.text / 3
        drawing.line([(x, middle), (x + _SWATCH - DRAWING.space / 2, middle)], color(j), 1.5)
        drawing.mark(x + (_SWATCH - DRAWING.space / 2) / 2, middle, j)
        for k, words in enumerate(lines):
            drawing.text(x + _SWATCH, y + DRAWING.line * k, words)
