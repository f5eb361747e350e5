"""The horizon and the road's direction by lane lines that run side by side on a plane.

Everything happens on the plane at depth 1 of a level camera that looks about along the road: a to the right, b down,
both as tangents. A line on the road at X m to the camera's right, h m below it, with the road's curvature k, is

    a = a0 + (X / h) t + D / t,   t = b - b0,   D = k h / 2,

with the horizon b0 and the direction a0 at the camera. Lines share b0, a0 and D; each has an offset X / h of its own,
which follows from the three.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from cfgen.geometry.lens import Array
from cfgen.perception.settings import LANE_LINES as SETTINGS

Parameters = tuple[float, float, float]


@dataclass(frozen=True)
class LaneHorizon:
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


def fit_lane_horizon(lines: list[Array], pixel: float) -> LaneHorizon | None:
    """The horizon and direction that most of ``lines``, each (N, 2) of a and b, agree on; None with fewer than two.

    Args:
        pixel: tangent of one pixel.
    """
    if len(lines) < 2:
        return None
    points = _Points(lines, pixel)
    starts = points.starts()
    if not starts:
        return None
    stiff = SETTINGS.noise_px / SETTINGS.typical_bend

    def residuals(parameters: Array) -> Array:
        residual, trust, _ = points.residuals(parameters)
        return np.append(residual * trust, stiff * parameters[2])

    best = min(starts, key=points.cost)
    solved = least_squares(
        residuals, best, loss="cauchy", f_scale=SETTINGS.outlier_px / 2, x_scale=(0.01,) * 3
    )
    return points.summary(solved.x) if np.isfinite(solved.x).all() else None


class _Points:
    """All lines' points: a, b and the line's number, each (N,)."""

    def __init__(self, lines: list[Array], pixel: float) -> None:
        self.straight = np.array([np.polyfit(line[:, 1], line[:, 0], 1) for line in lines])  # a = s b + p
        self.line = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
        self.a, self.b = np.vstack(lines).T
        #: turns a residual along a into one across the line, in pixels
        self.across = 1 / np.hypot(1, self.straight[self.line, 0]) / pixel
        self.count, self.margin = len(lines), SETTINGS.margin_px * pixel

    def starts(self) -> list[Parameters]:
        """b0, a0 and D where pairs of lines would meet if straight."""
        meetings = []
        for (s, p), (r, q) in itertools.combinations(self.straight, 2):
            if abs(s - r) > 2 * SETTINGS.same_line:
                b0 = (q - p) / (s - r)
                meetings.append((b0, s * b0 + p, 0.0))
        return [start for start in meetings if abs(start[0]) < 0.5 and abs(start[1]) < 1.0]

    def residuals(self, parameters: Array | Parameters) -> tuple[Array, Array, Array]:
        """Residuals (N,) across the lines, px; how far each counts, none near the horizon; each line's offset (K,)."""
        b0, a0, bend = parameters
        t = np.maximum(self.b - b0, self.margin)
        trust = np.clip((self.b - b0) / self.margin - 1, 0, 1)
        rest = self.a - a0 - bend / t
        weight = trust * self.across
        for _ in range(3):
            moment = np.bincount(self.line, weight**2 * rest * t, self.count)
            offset = moment / np.maximum(np.bincount(self.line, weight**2 * t**2, self.count), 1e-12)
            residual = (rest - offset[self.line] * t) * self.across
            weight = trust * self.across / (1 + (residual / SETTINGS.outlier_px) ** 2)
        return residual, trust, offset

    def cost(self, start: Parameters) -> float:
        """About how many points do not agree."""
        residual, trust, _ = self.residuals(start)
        return float(np.where(trust > 0, np.minimum((residual / SETTINGS.outlier_px) ** 2, 1.0), 1.0).sum())

    def summary(self, parameters: Array) -> LaneHorizon | None:
        residual, trust, offset = self.residuals(parameters)
        agrees = (np.abs(residual) < SETTINGS.outlier_px) & (trust > 0)
        per_line = np.bincount(self.line, agrees, self.count) / np.bincount(self.line, minlength=self.count)
        lines = np.flatnonzero(per_line > 0.5)
        which = agrees & np.isin(self.line, lines)
        offsets = _merged(offset[lines], np.bincount(self.line[which], minlength=self.count)[lines])
        if len(offsets) < 2:
            return None
        b0, _, bend = parameters
        t = np.maximum(self.b - b0, self.margin)
        own = (self.line[:, None] == lines) * t[:, None]
        slopes = np.column_stack([bend / t**2 - offset[self.line], np.ones_like(t), 1 / t, own])
        jacobian = slopes[which] * self.across[which, None]
        normal = jacobian.T @ jacobian
        normal[2, 2] += (SETTINGS.noise_px / SETTINGS.typical_bend) ** 2
        noise = max(math.sqrt(float(np.mean(residual[which] ** 2))), SETTINGS.noise_px)
        together = which.sum() / len(lines) / SETTINGS.independent_points
        variances = np.diag(np.linalg.pinv(normal)) * noise**2 * together
        b0_error, a0_error, bend_error = np.sqrt(np.maximum(variances[:3], 0.0)).tolist()
        b0, a0, bend = (float(value) for value in parameters)
        rows = float(np.ptp(self.b[which]))
        return LaneHorizon(b0, a0, b0_error, a0_error, bend, bend_error, offsets, float(which.mean()), rows)


def _merged(offsets: Array, points: np.ndarray) -> tuple[float, ...]:
    """Offsets from left to right, those of one line's parts as their mean, by their points."""
    order = np.argsort(offsets, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(offsets[order]) >= SETTINGS.same_line) + 1)
    return tuple(float(np.average(offsets[part], weights=points[part])) for part in parts if len(part))
