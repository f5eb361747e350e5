"""Three charts: shares with their intervals row by row, along an axis, and against a cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from cfgen.metrics.rates import Rate
from cfgen.reporting.vector import SHAPES, Drawing, text_width, wrapped

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
    left = 14 + _WIDER * longest
    each = 15.0
    bands = [max(30.0, each * len(series) + 12, _LINE * len(lines) + 8) for lines in labels]
    top = 12.0 + 24 * _legend_lines(series, width)
    drawing = Drawing(width, top + sum(bands) + 34, title)
    _legend(drawing, series)
    counts = [_count(rate) for one in series for rate in one.rates if rate is not None]
    right = width - 14 - _WIDER * max((text_width(words, 11) for words in counts), default=20.0)
    bottom = top + sum(bands)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + share * (right - left)
        drawing.line([(x, top), (x, bottom)], _GRID)
        drawing.text(x, bottom + 18, f"{100 * share:.0f}%", 12, _MUTED, "middle")
    for i, lines in enumerate(labels):
        start = top + sum(bands[:i])
        middle = start + bands[i] / 2
        if i:
            drawing.line([(0, start), (width, start)], "#f1f3f5")
        for k, line in enumerate(lines):
            y = middle + 4.5 + _LINE * (k - (len(lines) - 1) / 2)
            drawing.text(left - 10, y, line, _SIZE, _INK, "end")
        for j, one in enumerate(series):
            rate = one.rates[i]
            if rate is not None and rate.value is not None:
                _mark(drawing, rate, middle + each * (j - (len(series) - 1) / 2), left, right, j)
    return drawing


def _mark(drawing: Drawing, rate: Rate, y: float, left: float, right: float, index: int) -> None:
    assert rate.value is not None
    assert rate.low is not None
    assert rate.high is not None
    low, value, high = (left + share * (right - left) for share in (rate.low, rate.value, rate.high))
    drawing.line([(low, y), (high, y)], color(index), 2)
    drawing.mark(value, y, 4.5, color(index), shape(index))
    drawing.text(right + 10, y + 4, _count(rate), 11, _MUTED)


def _count(rate: Rate) -> str:
    return f"{rate.percent(0)}% ({rate.n})"


def curve_chart(
    title: str, axis: str, ticks: Sequence[str], series: Sequence[Series], width: float
) -> Drawing:
    """A line per series over ordered groups, with intervals; the number of cases stands under each tick."""
    top, left, height = 12.0 + 24 * _legend_lines(series, width), 46.0, 240.0
    right = width - 8
    step = (right - left) / max(1, len(ticks))
    labels = [_lines(tick, step - 4, 12) for tick in ticks]
    deep = _LINE * max((len(lines) for lines in labels), default=1)
    drawing = Drawing(width, top + height + deep + 50, title)
    _legend(drawing, series)
    bottom = top + height
    _shares(drawing, left, right, bottom, height)
    for i, lines in enumerate(labels):
        n = max((rate.n for one in series if (rate := one.rates[i])), default=0)
        for k, line in enumerate(lines):
            drawing.text(left + step * (i + 0.5), bottom + 18 + _LINE * k, line, 12, _INK, "middle")
        words = f"n = {n}" if _WIDER * text_width(f"n = {n}", 11) < step else f"{n}"
        drawing.text(left + step * (i + 0.5), bottom + 18 + deep, words, 11, _MUTED, "middle")
    drawing.text((left + right) / 2, bottom + deep + 40, axis, 12, _MUTED, "middle")
    for j, one in enumerate(series):
        shift = min(12.0, step / (len(series) + 1)) * (j - (len(series) - 1) / 2)
        at = [(left + step * (i + 0.5) + shift, rate) for i, rate in enumerate(one.rates) if rate and rate.n]
        if not at:
            continue
        drawing.line([(x, bottom - (rate.value or 0) * height) for x, rate in at], color(j), 1.6)
        for x, rate in at:
            _upright(drawing, x, rate, bottom, height, j)
    return drawing


def points_chart(
    title: str, axis: str, points: Sequence[tuple[str, float, Rate | None]], width: float
) -> Drawing:
    """One mark with its interval for each of ``points``: name, cost from 0 on, share. None is joined to another."""
    series = [Series(name, [rate]) for name, _, rate in points]
    top, left, height = 12.0 + 24 * _legend_lines(series, width), 46.0, 240.0
    right, bottom = width - 20, top + height
    drawing = Drawing(width, bottom + 50, title)
    _legend(drawing, series)
    _shares(drawing, left, right, bottom, height)
    most = max((cost for _, cost, _ in points), default=1.0) or 1.0
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10 ** len(f"{most:.0f}")) if most / s <= 6)
    scale = (right - left) / (step * max(1, -(-most // step)))
    for k in range(int((right - left) / scale / step + 1.5)):
        drawing.text(left + k * step * scale, bottom + 18, f"{k * step:g}", 12, _MUTED, "middle")
    drawing.text((left + right) / 2, bottom + 40, axis, 12, _MUTED, "middle")
    for j, (_, cost, rate) in enumerate(points):
        if rate is not None and rate.value is not None:
            alike = [i for i, (_, other, _) in enumerate(points) if other == cost]
            shift = 9.0 * (alike.index(j) - (len(alike) - 1) / 2)  # side by side, where they cost the same
            _upright(drawing, left + cost * scale + shift, rate, bottom, height, j)
    return drawing


def _shares(drawing: Drawing, left: float, right: float, bottom: float, height: float) -> None:
    """The axis of shares, upwards."""
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = bottom - share * height
        drawing.line([(left, y), (right, y)], _GRID)
        drawing.text(left - 8, y + 4, f"{100 * share:.0f}%", 12, _MUTED, "end")


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
    for one in series:
        lines = _lines(one.name, width - 34)
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
