"""Bird's-eye view of one or two plans: up is forward (+x), left is left (+y), both to the same scale."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cfgen.core.errors import InputError
from cfgen.geometry.trajectory import FARTHEST_M
from cfgen.render.canvas import (
    AXIS,
    GRID,
    INK,
    MUTED,
    ORANGE,
    PAPER,
    RED,
    SHADE,
    TEAL,
    Color,
    nice_step,
    put_area,
    put_dots,
    put_legend,
    put_line,
    put_text,
    sheet,
)

SIZE = (720, 720)
_LEFT, _TOP, _RIGHT, _BOTTOM = 62, 92, 18, 46
_STRIP = 0.3  # width of the stretched strip, as a share of the picture
_GAP = 40
_BEHIND = 0.08  # share of the forward range that shows behind the ego
_LADDER = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
#: m; a body of ordinary size around the rear axle: rear, front, half width
_REAR, _FRONT, _HALF = -1.0, 3.8, 0.95


@dataclass(frozen=True)
class Framing:
    """What a bird's-eye view frames.

    Attributes:
        forward: metres ahead of the ego; a part to scale shows them.
        side: half width in metres of a strip beside it, in which sideways moves are stretched so that a nudge
            can be seen; None when the plans turn too far for that, or are short enough to see it anyway.
    """

    forward: float
    side: float | None


@dataclass(frozen=True)
class _Axes:
    """One plot area: pixel bounds, the ego's column and row, pixels per metre sideways and forward."""

    left: int
    right: int
    x: float
    y: float
    across: float
    along: float

    def pixels(self, points: np.ndarray) -> np.ndarray:
        """(N, 2) x, y in metres, ego frame -> (N, 2) pixels."""
        return np.stack([self.x - points[:, 1] * self.across, self.y - points[:, 0] * self.along], axis=1)


def _axes(view: Framing, size: tuple[int, int]) -> list[_Axes]:
    """The part to scale and, if the view has one, the stretched strip."""
    along = (size[1] - _TOP - _BOTTOM) / (view.forward * (1 + _BEHIND))
    row = _TOP + view.forward * along
    strip = 0 if view.side is None else round(_STRIP * size[0])
    right = size[0] - _RIGHT - (strip + _GAP if strip else 0)
    parts = [_Axes(_LEFT, right, (_LEFT + right) / 2, row, along, along)]
    if view.side is not None:
        end = size[0] - _RIGHT
        parts.append(_Axes(end - strip, end, end - strip / 2, row, strip / 2 / view.side, along))
    return parts


def _view_of(*plans: np.ndarray, size: tuple[int, int]) -> Framing:
    """The smallest framing, from a fixed ladder, that holds every plan (T, 2+) x, y, m, in a picture of (W, H)."""
    points = np.concatenate([p[:, :2] for p in plans])
    sideways = float(np.abs(points[:, 1]).max())
    reach = max(float(points[:, 0].max()), -float(points[:, 0].min()) / _BEHIND, 14.0)
    strip = sideways <= 0.15 * reach and reach >= 25
    width = size[0] - _LEFT - _RIGHT - (_STRIP * size[0] + _GAP if strip else 0)
    needed = max(reach, 2 * sideways * (size[1] - _TOP - _BOTTOM) / width / (1 + _BEHIND))
    return Framing(_rung(1.04 * needed), _rung(max(1.3 * sideways, 2.5)) if strip else None)


def _rung(needed: float) -> float:
    power = 10.0 ** math.floor(math.log10(needed))
    return float(next(m * power for m in _LADDER if m * power >= needed))


def bev(
    original: np.ndarray,
    modified: np.ndarray | None = None,
    size: tuple[int, int] = SIZE,
    outline: np.ndarray | None = None,
) -> np.ndarray:
    """Draw the original plan in teal and the modified one, if any, over it in orange.

    A small dot is a waypoint, a large one a full second, the ring the end.

    Args:
        original, modified: (N, 3) x, y, theta in the ego frame at t0; m, rad.
        size: (W, H) in pixels, at least 320 x 320.
        outline: (K, 2) x, y in m, what stands in the way; for readers, never for a judge or a rater before scoring.

    Returns:
        (H, W, 3) uint8 RGB.

    Raises:
        InputError: a plan is not (T, 2+) of finite numbers.
    """
    plans = [(TEAL, "original", original), (ORANGE, "modified", modified)]
    curves = [(color, name, as_plan(plan, name)) for color, name, plan in plans if plan is not None]
    point_sets = [plan for _, _, plan in curves] + ([] if outline is None else [outline])
    view = _view_of(*point_sets, size=size)
    canvas = _background(view, size).copy()
    for axes in _axes(view, size):
        if outline is not None:
            put_line(canvas, axes.pixels(np.vstack([outline, outline[:1]])), RED, 3)
        for index, (color, _, plan) in enumerate(curves):
            _draw_plan(canvas, axes.pixels(np.vstack([[0.0, 0.0], plan[:, :2]])), color, index)
        put_dots(canvas, np.array([[axes.x, axes.y]]), 4, INK)
    put_legend(canvas, 14, 24, [(color, f"{name}: {_end(plan)}") for color, name, plan in curves], 15)
    return canvas


def as_plan(plan: np.ndarray, name: str) -> np.ndarray:
    """``plan`` as (T, 2+) float64, or an :class:`InputError` that says what it is instead."""
    array = np.asarray(plan, np.float64)
    if array.ndim != 2 or len(array) < 2 or array.shape[1] < 2:
        raise InputError(f"{name} plan: expected an array (24, 3) of x, y, theta, found shape {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} plan: expected finite numbers, found NaN or infinity")
    if np.abs(array).max() > FARTHEST_M:
        raise InputError(f"{name} plan: expected metres and radians, found a value beyond {FARTHEST_M:g}")
    return array


def _end(plan: np.ndarray) -> str:
    return f"ends x {plan[-1, 0]:.1f} m, y {plan[-1, 1]:+.1f} m"


def _draw_plan(canvas: np.ndarray, points: np.ndarray, color: Color, index: int) -> None:
    """Later plans are thinner, so that an identical one below still shows at its edges."""
    width = 6 - 3 * index
    put_line(canvas, points, color, width)
    put_dots(canvas, points[1:], 3.6 - index, color)
    put_dots(canvas, points[4::4], 5.5 - index, color)
    put_dots(canvas, points[-1:], 9 - 2.5 * index, PAPER)
    put_dots(canvas, points[-1:], 9 - 2.5 * index, color, 2 + (index == 0))


@lru_cache(maxsize=32)
def _background(view: Framing, size: tuple[int, int]) -> np.ndarray:
    """Grid, labels and ego marker: the same for every case that shares the framing."""
    canvas = sheet(size)
    step = nice_step(view.forward, 8)
    parts = _axes(view, size)
    rows = np.arange(math.ceil(-_BEHIND * view.forward / step), int(view.forward / step + 1e-9) + 1) * step
    for x in rows:
        y = parts[0].y - x * parts[0].along
        for axes in parts:
            put_line(canvas, np.array([[axes.left, y], [axes.right, y]]), AXIS if x == 0 else GRID)
        put_text(canvas, _LEFT - 8, y + 5, f"{x:g}", 14, MUTED, "r")
    for index, axes in enumerate(parts):
        half = (axes.right - axes.left) / 2 / axes.across
        _columns(canvas, axes, nice_step(2 * half, 8 if index == 0 else 5), half)
        title = f"to scale, grid {step:g} m" if index == 0 else f"sideways x {axes.across / axes.along:.0f}"
        put_text(canvas, axes.x, _TOP - 14, title, 13, MUTED, "m")
        put_text(canvas, axes.x, size[1] - 9, "left +   y (m)   - right", 13, MUTED, "m")
        _ego(canvas, axes)
    put_text(canvas, 14, _TOP - 14, "x (m)", 13, MUTED)
    return canvas


def _columns(canvas: np.ndarray, axes: _Axes, step: float, half: float) -> None:
    bottom = canvas.shape[0] - _BOTTOM
    for y in np.arange(math.ceil(-half / step - 1e-9), int(half / step + 1e-9) + 1) * step:
        x = axes.x - y * axes.across
        put_line(canvas, np.array([[x, _TOP], [x, bottom]]), AXIS if y == 0 else GRID)
        put_text(canvas, x, bottom + 18, f"{y:+g}" if y else "0", 14, MUTED, "m")


def _ego(canvas: np.ndarray, axes: _Axes) -> None:
    """A body to scale, or as large as can still be seen, with a notch that points forward."""
    grow = max(1.0, 9 / (2 * _HALF * axes.along))
    shape = np.array(
        [[_REAR, _HALF], [_FRONT - 0.9, _HALF], [_FRONT, 0.0], [_FRONT - 0.9, -_HALF], [_REAR, -_HALF]]
    )
    pixels = np.array([axes.x, axes.y]) - grow * axes.along * shape[:, ::-1]
    put_area(canvas, pixels, SHADE)
    put_line(canvas, np.vstack([pixels, pixels[:1]]), MUTED)
