"""Two charts: shares with their intervals row by row, and along an axis."""

from collections.abc import Sequence
from dataclasses import dataclass

from cfgen.metrics.rates import Rate
from cfgen.report_page.vector import Drawing, text_width

#: Told apart in print and by colour-blind readers; the first two are those of the trajectories.
PALETTE = ("#008080", "#e86a10", "#5a4fcf", "#b02a5b", "#4c7a1d", "#7a5230", "#0b6fb8", "#6b7280")
_INK, _MUTED, _GRID = "#212529", "#68707a", "#e2e6ea"
_SIZE = 13
#: What a page shows where Helvetica is not installed is this much wider.
_WIDER = 1.2


@dataclass(frozen=True)
class Series:
    """One colour: a rate for every row, None where there is none."""

    name: str
    rates: Sequence[Rate | None]


def rows_chart(title: str, rows: Sequence[str], series: Sequence[Series], width: float) -> Drawing:
    """One band per row, in it a dot and an interval for each series, from 0 to 100%."""
    labels = [_short(row, round(width / 21)) for row in rows]
    left = min(0.4 * width, 18 + _WIDER * max((text_width(label, _SIZE) for label in labels), default=0))
    each = 15.0
    band = max(30.0, each * len(series) + 12)
    top = 12.0 + 24 * _legend_lines(series, width)
    drawing = Drawing(width, top + band * len(rows) + 34, title)
    _legend(drawing, series)
    right, bottom = width - 66, top + band * len(rows)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + share * (right - left)
        drawing.line([(x, top), (x, bottom)], _GRID)
        drawing.text(x, bottom + 18, f"{100 * share:.0f}%", 12, _MUTED, "middle")
    for i, label in enumerate(labels):
        middle = top + band * (i + 0.5)
        if i:
            drawing.line([(0, middle - band / 2), (width, middle - band / 2)], "#f1f3f5")
        drawing.text(left - 10, middle + 4.5, label, _SIZE, _INK, "end")
        for j, one in enumerate(series):
            rate = one.rates[i]
            if rate is not None and rate.value is not None:
                _mark(drawing, rate, middle + each * (j - (len(series) - 1) / 2), left, right, color(j))
    return drawing


def _mark(drawing: Drawing, rate: Rate, y: float, left: float, right: float, ink: str) -> None:
    assert rate.value is not None
    assert rate.low is not None
    assert rate.high is not None
    low, value, high = (left + share * (right - left) for share in (rate.low, rate.value, rate.high))
    drawing.line([(low, y), (high, y)], ink, 2)
    drawing.disc(value, y, 4.5, ink)
    drawing.text(right + 10, y + 4, f"{rate.percent(0)}% ({rate.n})", 11, _MUTED)


def curve_chart(
    title: str, axis: str, ticks: Sequence[str], series: Sequence[Series], width: float
) -> Drawing:
    """A line per series over ordered groups, with intervals; the number of cases stands under each tick."""
    top, left, height = 12.0 + 24 * _legend_lines(series, width), 46.0, 240.0
    drawing = Drawing(width, top + height + 66, title)
    _legend(drawing, series)
    bottom, right = top + height, width - 8
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - share * height
        drawing.line([(left, y), (right, y)], _GRID)
        drawing.text(left - 8, y + 4, f"{100 * share:.0f}%", 12, _MUTED, "end")
    step = (right - left) / max(1, len(ticks))
    for i, tick in enumerate(ticks):
        n = max((rate.n for one in series if (rate := one.rates[i])), default=0)
        drawing.text(left + step * (i + 0.5), bottom + 18, tick, 12, _INK, "middle")
        drawing.text(left + step * (i + 0.5), bottom + 34, f"n = {n}", 11, _MUTED, "middle")
    drawing.text((left + right) / 2, bottom + 56, axis, 12, _MUTED, "middle")
    for j, one in enumerate(series):
        shift = min(12.0, step / (len(series) + 1)) * (j - (len(series) - 1) / 2)
        at = [(left + step * (i + 0.5) + shift, rate) for i, rate in enumerate(one.rates) if rate and rate.n]
        if not at:
            continue
        drawing.line([(x, bottom - (rate.value or 0) * height) for x, rate in at], color(j), 1.6)
        for x, rate in at:
            low, value, high = (bottom - (v or 0) * height for v in (rate.low, rate.value, rate.high))
            drawing.line([(x, low), (x, high)], color(j), 1.2)
            drawing.disc(x, value, 4, color(j))
    return drawing


def color(index: int) -> str:
    return PALETTE[index % len(PALETTE)]


def _legend_lines(series: Sequence[Series], width: float) -> int:
    return max((line for _, line, _ in _legend_places(series, width)), default=0)


def _legend_places(series: Sequence[Series], width: float) -> list[tuple[float, int, str]]:
    """Where each name goes: x, line from 1, and the name as it fits."""
    x, line, places = 0.0, 1, []
    for one in series:
        name = _short(one.name, 40)
        needed = 34 + text_width(name, _SIZE)
        if x + needed > width and x:
            x, line = 0.0, line + 1
        places.append((x, line, name))
        x += needed + 10
    return places


def _legend(drawing: Drawing, series: Sequence[Series]) -> None:
    for j, (x, line, name) in enumerate(_legend_places(series, drawing.width)):
        y = 24.0 * line - 10
        drawing.line([(x + 2, y - 4), (x + 20, y - 4)], color(j), 2)
        drawing.disc(x + 11, y - 4, 4.5, color(j))
        drawing.text(x + 28, y, name, _SIZE)


def _short(words: str, limit: int) -> str:
    return words if len(words) <= limit else words[: limit - 1] + "…"
