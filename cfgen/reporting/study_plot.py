"""The study's plot, as the Pinocchio paper's Figure 2: by how much each stratum's win rate leaves one half."""

from collections.abc import Sequence
from math import sqrt

from cfgen.reporting.vector import Drawing
from cfgen.traces.study import ERRORS, Stratum

_BLUE, _ORANGE, _INK, _MUTED, _GRID = "#1f5fbf", "#e86a10", "#212529", "#68707a", "#e2e6ea"
_LEFT, _PANEL, _GAP, _ROW, _TOP = 200.0, 180.0, 28.0, 34.0, 56.0


def study_plot(strata: Sequence[Stratum], names: tuple[str, str]) -> Drawing:
    """One row a stratum, one panel an error: right and blue where B is nearer more often, left and orange where A is.

    The area of a dot grows with the samples behind it; lines are 95% intervals.
    """
    width = _LEFT + len(ERRORS) * (_PANEL + _GAP)
    drawing = Drawing(width, _TOP + _ROW * len(strata) + 44, f"Win rate of {names[1]} against {names[0]}")
    most = max((one.n for one in strata), default=1) or 1
    bottom = _TOP + _ROW * len(strata)
    for k, error in enumerate(ERRORS):
        left = _LEFT + k * (_PANEL + _GAP)
        drawing.text(left + _PANEL / 2, 24, error, 13, _INK, "middle")
        for share in (0.0, 0.5, 1.0):
            x = left + share * _PANEL
            drawing.line([(x, _TOP - 10), (x, bottom)], _MUTED if share == 0.5 else _GRID)
            drawing.text(x, bottom + 16, f"{100 * share:.0f}%", 11, _MUTED, "middle")
        for i, one in enumerate(strata):
            y = _TOP + _ROW * (i + 0.5)
            rate = one.wins[error]
            if rate.value is None or rate.low is None or rate.high is None:
                drawing.text(left + _PANEL / 2, y + 4, "-", 11, _MUTED, "middle")
                continue
            color = _BLUE if rate.value > 0.5 else _ORANGE if rate.value < 0.5 else _MUTED
            drawing.line([(left + rate.low * _PANEL, y), (left + rate.high * _PANEL, y)], color, 1.5)
            drawing.disc(left + rate.value * _PANEL, y, 3 + 8 * sqrt(one.n / most), color)
    for i, one in enumerate(strata):
        y = _TOP + _ROW * (i + 0.5)
        drawing.text(_LEFT - 14, y + 4, f"{one.name} (n = {one.n})", 12, _INK, "end")
    drawing.text(_LEFT, bottom + 36, f"left: {names[0]} nearer; right: {names[1]} nearer", 11, _MUTED)
    return drawing
