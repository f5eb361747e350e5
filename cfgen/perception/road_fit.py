"""Lane lines that run side by side on a plane: where the plane's horizon and the lines' direction are.

Everything happens on the plane at depth 1 of a level camera that looks about along the road: a to the right, b down,
both as tangents. A line on the road at X m to the camera's right, h m below it, with the road's curvature k, is

    a = a0 + (X / h) t + D / t,   t = b - b0,   D = k h / 2,

with the horizon b0 and the direction a0 at the camera. Lines share b0, a0 and D; each has an offset X / h of its own.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from cfgen.geometry.lens import Array

#: Points this near the horizon tell nothing: there a line's offset is less than a pixel, px.
_MARGIN_PX = 4.0
#: Residuals from which a point is not of the road's lines, px; and how far a line's middle is off at best.
_OUTLIER_PX, _NOISE_PX = 2.5, 0.7
#: A line's points stray together: so many of them count as independent.
_INDEPENDENT = 6
#: Typical D: a bend of 75 m radius seen from 1.5 m.
_TYPICAL_D = 0.01
#: Lines nearer to each other than this, in camera heights, are one line; pairs of lines further apart give a start.
SAME_LINE = 0.3
_PAIRS = 24
_ROUNDS = 10


@dataclass(frozen=True)
class RoadFit:
    """What lines agree on.

    Attributes:
        b0, a0: tangents of the horizon (down) and of the road's direction (right); bend: D. With standard errors.
        offsets: X / h of the lines that agree, from left to right, one for all parts of a line.
        share: of all the lines' points those that agree. rows: tangents from the nearest to the farthest of these.
    """

    b0: float
    a0: float
    b0_error: float
    a0_error: float
    bend: float
    bend_error: float
    offsets: tuple[float, ...]
    share: float
    rows: float


def fit_road(lines: list[Array], pixel: float) -> RoadFit | None:
    """The horizon and direction that most of ``lines``, each (N, 2) of a and b, agree on; None with fewer than two.

    Args:
        pixel: tangent of one pixel.
    """
    if len(lines) < 2:
        return None
    points = _Points.of(lines, pixel)
    starts = points.starts()
    if not starts:
        return None
    best = min(starts, key=points.cost)
    return points.refined(best)


@dataclass(frozen=True)
class _Points:
    """All lines' points: a, b, the line's number and its steepness da/db, each (N,)."""

    a: Array
    b: Array
    line: np.ndarray
    across: Array  # turns a residual along a into one across the line, in pixels
    straight: Array  # (K, 2): a = s b + p
    count: int
    pixel: float

    @classmethod
    def of(cls, lines: list[Array], pixel: float) -> "_Points":
        straight = np.array([np.polyfit(line[:, 1], line[:, 0], 1) for line in lines])
        number = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
        a, b = np.vstack(lines).T
        across = 1 / np.hypot(1, straight[number, 0]) / pixel
        return cls(a, b, number, across, straight, len(lines), pixel)

    def starts(self) -> list[tuple[float, float, float]]:
        """b0, a0 and D of pairs of lines: where they would meet if straight, and where they shrink to nothing."""
        pairs = [
            (i, j)
            for i, j in itertools.combinations(range(self.count), 2)
            if abs(self.straight[i, 0] - self.straight[j, 0]) > 2 * SAME_LINE
        ]
        found = []
        for i, j in pairs[:_PAIRS]:
            (s, p), (r, q) = self.straight[i], self.straight[j]
            meet = (q - p) / (s - r)
            found.append((meet, s * meet + p, 0.0))
            narrow = self._narrowing(i, j)
            if narrow is not None:
                found.extend(self._solved(narrow, np.isin(self.line, (i, j))))
        return [start for start in found if abs(start[0]) < 0.5 and abs(start[1]) < 1.0]

    def _narrowing(self, i: int, j: int) -> float | None:
        """The row at which the distance between two lines is 0, by the rows that both have."""
        one, other = self.line == i, self.line == j
        b = np.sort(self.b[one])
        b = b[(b >= self.b[other].min()) & (b <= self.b[other].max())]
        if len(b) < 6:
            return None
        gap = [np.interp(b, *_sorted(self.b[each], self.a[each])) for each in (one, other)]
        slope, at_0 = np.polyfit(b, gap[1] - gap[0], 1)
        return None if abs(slope) < SAME_LINE else float(-at_0 / slope)

    def _solved(self, b0: float, which: np.ndarray) -> list[tuple[float, float, float]]:
        """b0, a0 and D of the lines ``which`` (N,) under the horizon b0; none with too few points below it."""
        t = self.b - b0
        which = which & (t > _MARGIN_PX * self.pixel)
        if which.sum() < 8:
            return []
        used = np.unique(self.line[which])
        own = (self.line[which, None] == used) * t[which, None]
        matrix = np.column_stack([np.ones(which.sum()), 1 / t[which], own]) * self.across[which, None]
        held = np.zeros((1, matrix.shape[1]))
        held[0, 1] = 1 / _TYPICAL_D
        solved = np.linalg.lstsq(
            np.vstack([matrix, held]), np.append(self.a[which] * self.across[which], 0.0), rcond=None
        )[0]
        return [(b0, float(solved[0]), float(solved[1]))]

    def residuals(self, b0: float, a0: float, bend: float) -> tuple[Array, Array, Array]:
        """Residuals (N,) across the lines, px; t (N,); and each line's offset (K,), by its middle points."""
        t = self.b - b0
        near = np.maximum(t, _MARGIN_PX * self.pixel)
        rest = self.a - a0 - bend / near
        weight = np.where(t > _MARGIN_PX * self.pixel, self.across, 0.0)
        offset = np.zeros(self.count)
        for _ in range(3):
            top = np.bincount(self.line, weight**2 * rest * near, self.count)
            offset = top / np.maximum(np.bincount(self.line, weight**2 * near**2, self.count), 1e-12)
            residual = (rest - offset[self.line] * near) * self.across
            weight = np.where(
                t > _MARGIN_PX * self.pixel, self.across / (1 + (residual / _OUTLIER_PX) ** 2), 0.0
            )
        return residual, t, offset

    def cost(self, start: tuple[float, float, float]) -> float:
        residual, t, _ = self.residuals(*start)
        far = t <= _MARGIN_PX * self.pixel
        return float(np.where(far, 1.0, np.minimum((residual / _OUTLIER_PX) ** 2, 1.0)).sum())

    def refined(self, start: tuple[float, float, float]) -> RoadFit | None:
        """Gauss-Newton on what agrees, lines and points that do not counting less and less."""
        b0, a0, bend = start
        _, _, offset = self.residuals(b0, a0, bend)
        for _ in range(_ROUNDS):
            near = np.maximum(self.b - b0, _MARGIN_PX * self.pixel)
            residual = (self.a - a0 - bend / near - offset[self.line] * near) * self.across
            trust = self._trust(residual, self.b - b0)
            jacobian = self._jacobian(near, bend, offset) * (self.across * trust)[:, None]
            normal = jacobian.T @ jacobian
            normal[2, 2] += (_NOISE_PX / _TYPICAL_D) ** 2
            right = jacobian.T @ (residual * trust)
            right[2] -= (_NOISE_PX / _TYPICAL_D) ** 2 * bend
            step = np.linalg.solve(normal + 1e-9 * np.diag(np.diag(normal) + 1e-6), right)
            b0, a0, bend = b0 + step[0], a0 + step[1], bend + step[2]
            offset = offset + step[3:]
        if not np.isfinite([b0, a0, bend]).all():
            return None
        return self._summary(b0, a0, bend, offset)

    def _trust(self, residual: Array, t: Array) -> Array:
        ramp = np.clip(t / (_MARGIN_PX * self.pixel) - 1, 0, 1)
        inlier = np.clip(1 - (residual / (2 * _OUTLIER_PX)) ** 2, 0, 1)
        return np.asarray(ramp * inlier)

    def _jacobian(self, near: Array, bend: float, offset: Array) -> Array:
        """(N, 3 + K) of a by b0, a0, D and the offsets."""
        own = (self.line[:, None] == np.arange(self.count)) * near[:, None]
        return np.column_stack([bend / near**2 - offset[self.line], np.ones_like(near), 1 / near, own])

    def _summary(self, b0: float, a0: float, bend: float, offset: Array) -> RoadFit | None:
        near = np.maximum(self.b - b0, _MARGIN_PX * self.pixel)
        residual = (self.a - a0 - bend / near - offset[self.line] * near) * self.across
        agrees = (np.abs(residual) < _OUTLIER_PX) & (self.b - b0 > _MARGIN_PX * self.pixel)
        per_line = np.bincount(self.line, agrees, self.count) / np.bincount(self.line, minlength=self.count)
        lines = np.flatnonzero(per_line > 0.5)
        which = agrees & np.isin(self.line, lines)
        offsets = _merged(offset[lines], np.bincount(self.line[which], minlength=self.count)[lines])
        if len(offsets) < 2:
            return None
        jacobian = (
            self._jacobian(near, bend, offset)[which][:, [0, 1, 2, *(3 + lines)]] * self.across[which, None]
        )
        rms = math.sqrt(float(np.mean(residual[which] ** 2)))
        normal = jacobian.T @ jacobian
        normal[2, 2] += (_NOISE_PX / _TYPICAL_D) ** 2
        cov = np.linalg.pinv(normal) * (max(rms, _NOISE_PX) ** 2 * which.sum() / len(lines) / _INDEPENDENT)
        return RoadFit(
            b0=float(b0),
            a0=float(a0),
            b0_error=math.sqrt(max(float(cov[0, 0]), 0.0)),
            a0_error=math.sqrt(max(float(cov[1, 1]), 0.0)),
            bend=float(bend),
            bend_error=math.sqrt(max(float(cov[2, 2]), 0.0)),
            offsets=offsets,
            share=float(which.mean()),
            rows=float(np.ptp(self.b[which])),
        )


def _merged(offsets: Array, points: np.ndarray) -> tuple[float, ...]:
    """Offsets from left to right, those of one line's parts as their mean, by their points."""
    order = np.argsort(offsets, kind="stable")
    groups: list[list[int]] = []
    for i in order:
        if groups and offsets[i] - offsets[groups[-1][-1]] < SAME_LINE:
            groups[-1].append(int(i))
        else:
            groups.append([int(i)])
    return tuple(float(np.average(offsets[g], weights=points[g])) for g in groups)


def _sorted(x: Array, y: Array) -> tuple[Array, Array]:
    order = np.argsort(x, kind="stable")
    return x[order], y[order]
