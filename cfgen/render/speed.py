"""Speed over the six seconds of one or two plans, in km/h."""

import math
from functools import lru_cache

import numpy as np

from cfgen.geometry.trajectory import speeds
from cfgen.records import PLAN_DT
from cfgen.render.bev import as_plan
from cfgen.render.canvas import (
    AXIS,
    GRID,
    MUTED,
    ORANGE,
    TEAL,
    Color,
    nice_step,
    put_dots,
    put_legend,
    put_line,
    put_text,
    sheet,
)

SIZE = (720, 380)
_LEFT, _TOP, _RIGHT, _BOTTOM = 62, 74, 66, 46
_LADDER = (20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 160.0, 200.0, 250.0)


def _top(curves: list[np.ndarray]) -> float:
    fastest = 1.06 * max(float(curve.max()) for curve in curves)
    return next((top for top in _LADDER if top >= fastest), 100.0 * math.ceil(fastest / 100))


def speed_plot(
    original: np.ndarray,
    modified: np.ndarray | None = None,
    size: tuple[int, int] = SIZE,
) -> np.ndarray:
    """Draw the speed of the original plan in teal and of the modified one, if any, over it in orange.

    Speeds are finite differences of positions, smoothed; the values at both ends are written out.

    Args:
        original, modified: (N, 3) x, y, theta in the ego frame at t0; m, rad.
        size: (W, H) in pixels, at least 320 x 200.

    Returns:
        (H, W, 3) uint8 RGB.

    Raises:
        InputError: a plan is not (T, 2+) of finite numbers.
    """
    plans = [(TEAL, "original", original), (ORANGE, "modified", modified)]
    curves = [(c, name, 3.6 * speeds(as_plan(plan, name))) for c, name, plan in plans if plan is not None]
    top = _top([values for _, _, values in curves])
    canvas = _background(top, size).copy()
    starts, ends, legend = [], [], []
    for index, (color, name, values) in enumerate(curves):
        points = _pixels(PLAN_DT * np.arange(len(values)), values, top, size)
        put_line(canvas, points, color, 5 - 2 * index)
        put_dots(canvas, points[[0, -1]], 6 - 1.5 * index, color)
        starts.append((color, points[0], float(values[0])))
        ends.append((color, points[-1], float(values[-1])))
        legend.append((color, f"{name}: {values[0]:.0f} to {values[-1]:.0f} km/h"))
    _write_ends(canvas, starts, first=True)
    _write_ends(canvas, ends, first=False)
    put_legend(canvas, 14, 24, legend, 15)
    return canvas


def _pixels(times: np.ndarray, values: np.ndarray, top: float, size: tuple[int, int]) -> np.ndarray:
    """s and km/h -> (N, 2) pixels."""
    x = _LEFT + np.asarray(times) / 6.0 * (size[0] - _LEFT - _RIGHT)
    y = size[1] - _BOTTOM - np.asarray(values) / top * (size[1] - _TOP - _BOTTOM)
    return np.stack([x, y], axis=-1)


def _write_ends(canvas: np.ndarray, ends: list[tuple[Color, np.ndarray, float]], first: bool) -> None:
    """Values at one end of the curves: above the first points, beside the last, never on each other."""
    ends = sorted(ends, key=lambda end: -float(end[1][1]))
    heights = [float(point[1]) for _, point, _ in ends]
    gap = heights[0] - heights[-1]
    if first:
        close = gap < 34  # both go above the higher curve, which would cross the lower label
        baselines = [min(heights) - 11 if close else heights[0] - 11, heights[-1] - (28 if close else 11)]
    else:
        spread = max(0.0, 17 - gap) / 2
        baselines = [heights[0] + 5 + spread, heights[-1] + 5 - spread]
    if len(ends) == 1:
        baselines = [heights[0] + (-11 if first else 5)]
    for (color, point, value), y in zip(ends, baselines, strict=True):
        put_text(canvas, float(point[0]) + (9 if first else 12), y, f"{value:.1f}", 15, color)


@lru_cache(maxsize=32)
def _background(top: float, size: tuple[int, int]) -> np.ndarray:
    """Axes, grid and labels: the same for every case that shares the framing."""
    width, height = size
    canvas = sheet(size)
    step = nice_step(top, 6)
    for value in np.arange(0, top + step / 2, step):
        (x0, y), (x1, _) = _pixels(np.array([0.0, 6.0]), np.array([value, value]), top, size)
        put_line(canvas, np.array([[x0, y], [x1, y]]), AXIS if value == 0 else GRID)
        put_text(canvas, _LEFT - 8, y + 5, f"{value:g}", 14, MUTED, "r")
    for second in range(7):
        (x, y0), (_, y1) = _pixels(np.array([second, second]), np.array([0.0, top]), top, size)
        put_line(canvas, np.array([[x, y0], [x, y1]]), AXIS if second == 0 else GRID)
        put_text(canvas, x, height - _BOTTOM + 18, f"{second}", 14, MUTED, "m")
    put_text(canvas, 14, _TOP - 22, "speed (km/h)", 13, MUTED)
    put_text(canvas, _LEFT + (width - _LEFT - _RIGHT) / 2, height - 9, "time (s)", 13, MUTED, "m")
    return canvas
