"""Where the lanes of a frame are, in metres to the left of the car's path: from its lane lines and its road.

Painted lines are the chains of :mod:`cfgen.perception.lanes`, laid on the ground: one that follows the road keeps
its offset, and a lane is what lies between two of them. For road the view is unrolled along the path (rows: metres
ahead, columns: metres to the left). The networks call road what the own direction may
drive on, so that road beyond a line is a lane that may be changed to, and no road beyond it is the other carriageway,
a verge or a kerb.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import cv2
import numpy as np

from cfgen.geometry.camera import ground_points, inside, project, resized
from cfgen.geometry.lens import Array, Mask
from cfgen.geometry.path import EgoPath
from cfgen.perception.view import SceneView
from cfgen.records import Camera

#: What is unrolled: from and to, m along the path, and to either side; steps.
NEAR_M, FAR_M, SIDE_M = 5.0, 70.0, 12.0
STEP_S, STEP_Y = 1.0, 0.1
#: A lane is between these wide, m; lines of the own lane are looked for this far from the path.
LANE_M, OWN_M = (2.4, 4.6), (0.6, 3.4)
#: Lines are looked for up to here, m along the path; this much of one must be seen: dashes are gaps.
LINES_M, LEAST_M = 35.0, 5.0
#: Lines of the own lane are followed up to here, m; a line is where it is seen so near, m.
FOLLOWED_M, AROUND_M = 60.0, 3.0
#: A line strays this far from its own offset at most, m; what lies nearer to each other is one line.
STRAY_M, SAME_M = 1.0, 0.9
#: A line leaves the path where it is so far from where it began, m; steeper ones run across it.
LEAVES_M, STEEPEST = 0.5, 0.25
#: A lane to change to is road over this share of its width, as far as it is in view; and at least this wide, m.
OPEN, BESIDE_M = 0.7, 2.7
#: Road this far out, m, on rows between narrower ones, is a road that crosses or joins.
MOUTH_M, MOUTH_ROWS = 4.5, 3
_NONE: Array = np.zeros((0, 2))


@dataclass(frozen=True, eq=False)
class Unrolled:
    """A view along the path.

    Attributes:
        s: (R,) m ahead. y: (C,) m to the left.
        seen: (R, C) bool, in the frame. road, lines: (R, C) bool, what is there.
    """

    s: Array
    y: Array
    seen: np.ndarray
    road: np.ndarray
    lines: np.ndarray


def unroll(view: SceneView, camera: Camera, path: EgoPath) -> Unrolled:
    """``view`` along ``path``, as ``camera`` sees it in the frame in which the path is."""
    s = np.arange(NEAR_M, FAR_M, STEP_S)
    y = np.arange(-SIDE_M, SIDE_M + STEP_Y / 2, STEP_Y)
    grid_s, grid_y = np.repeat(s, len(y)), np.tile(y, len(s))
    x, y_m, _ = path.at(grid_s, grid_y)
    px, valid = project(camera, np.column_stack([x, y_m, np.zeros_like(x)]))
    px = np.where(valid[:, None], px, np.nan)
    in_view = valid & (px >= 0).all(1) & (px < (camera.width, camera.height)).all(1)
    shape = len(s), len(y)
    road, lines = in_view & view.is_road(px), in_view & view.is_lane_line(px)
    return Unrolled(s, y, in_view.reshape(shape), road.reshape(shape), lines.reshape(shape))


@dataclass(frozen=True, eq=False)
class LanesSeen:
    """The lanes around the path.

    Attributes:
        left, right: the lines of the own lane, m to the left of the path (right: negative); None where none is seen.
        dashed: sides on which the picture shows that line painted in dashes; None where nobody looked at one.
        points: (left, right), s and y of points of either line, m.
        bends_at: where the first line near the path leaves it, m along it; None where none does.
    """

    rolled: Unrolled
    left: float | None
    right: float | None
    dashed: tuple[int, ...] | None = None
    points: tuple[Array, Array] = (_NONE, _NONE)
    bends_at: float | None = None

    @classmethod
    def of(
        cls, view: SceneView, camera: Camera, path: EgoPath, image: np.ndarray | None = None
    ) -> "LanesSeen":
        """``image``: (H, W, 3) uint8 RGB, the frame itself; without it nothing tells dashes."""
        rolled = unroll(view, camera, path)
        chains = _on_ground(view, camera, path)
        lines = _lines(chains)
        left_line = min((y for y in lines if OWN_M[0] <= y <= OWN_M[1]), default=None)
        right = max((y for y in lines if -OWN_M[1] <= y <= -OWN_M[0]), default=None)
        points = tuple(_NONE if line is None else lines[line] for line in (left_line, right))
        if left_line is not None and right is not None and not LANE_M[0] <= left_line - right <= LANE_M[1]:
            # the path leaves the middle of the lane, or one of the two is no line: nothing is known
            left_line = right = None
        own = ((1, left_line), (-1, right))
        dashed = (
            tuple(side for side, y in own if y is not None and is_dashed(image, camera, path, y))
            if image is not None
            else None
        )
        bends_at = min((at for chain in chains if (at := _leaves(*chain))), default=None)
        return cls(rolled, left_line, right, dashed, (points[0], points[1]), bends_at)

    @property
    def width_m(self) -> float | None:
        """Width of the own lane, m; None unless both lines are seen."""
        return None if self.left is None or self.right is None else self.left - self.right

    @property
    def middle(self) -> float | None:
        """Of the own lane, m to the left of the path; None unless both lines are seen."""
        return None if self.left is None or self.right is None else (self.left + self.right) / 2

    def line(self, side: int) -> float | None:
        """The own lane's line on ``side`` (1 left, -1 right), m to the left of the path; None where none is seen."""
        return self.left if side > 0 else self.right

    def line_at(self, side: int, s: float) -> float | None:
        """:meth:`line` at ``s``, m along the path: as it is seen there, its usual offset where it is not."""
        points = self.points[0 if side > 0 else 1]
        if self.line(side) is None or not len(points):
            return self.line(side)
        nearest = points[np.argmin(np.abs(points[:, 0] - s))]
        return float(nearest[1]) if abs(nearest[0] - s) <= AROUND_M else self.line(side)

    def open_beyond(self, side: int, half: float) -> bool:
        """Whether there is a lane to change to on ``side`` (1 left, -1 right) of the own one: beyond a line that is
        seen dashed, and as wide as a lane. Beyond a solid one is a shoulder, or oncoming traffic.

        Args:
            half: half a lane's width, m, where no line tells it.
        """
        crossed = self.dashed is None or side in self.dashed
        if not crossed or not self._road_beyond(side, half):
            return False
        edge = self.edge(side)
        return edge is None or abs(edge) >= self._start(side, half) + BESIDE_M

    def _start(self, side: int, half: float) -> float:
        line = self.line(side)
        return abs(line) if line is not None else half

    def _road_beyond(self, side: int, half: float) -> bool:
        start = self._start(side, half)
        return self._road_between(side * (start + 0.5), side * (start + BESIDE_M - 0.1)) >= OPEN

    def edge(self, side: int) -> float | None:
        """Where sure road ends on ``side`` (1 left, -1 right), m to the left; None where few rows show it."""
        near = np.flatnonzero(self.rolled.s <= LINES_M)
        ends = [out for out, in_view in (self._reach(int(row), side) for row in near) if in_view]
        return side * float(np.median(ends)) if len(ends) >= MOUTH_ROWS else None

    @cached_property
    def crossing_road(self) -> bool:
        """Whether a road crosses or joins: rows on which road reaches out farther than before and behind them.

        Not beside further lanes, whose far edge is seen too badly.
        """
        return any(self._mouth(side) for side in (1, -1) if not self._road_beyond(side, LANE_M[0] / 2 + 0.5))

    def _road_between(self, a: float, b: float) -> float:
        low, high = sorted((a, b))
        strip = (self.rolled.y >= low) & (self.rolled.y <= high)
        near = self.rolled.s <= 40.0
        in_view = self.rolled.seen[np.ix_(near, strip)]
        if in_view.sum() < 0.15 * in_view.size:
            return 0.0
        return float(self.rolled.road[np.ix_(near, strip)][in_view].mean())

    def _mouth(self, side: int) -> bool:
        reach, ends = np.array([self._reach(row, side) for row in range(len(self.rolled.s))]).T
        measured = np.isfinite(reach) & (self.rolled.s <= 45.0)
        edged = measured & (ends > 0)
        if edged.sum() < 2 * MOUTH_ROWS:
            return False
        usual = float(np.percentile(reach[edged], 30))
        out = (side * self.rolled.y > usual + 0.5) & (side * self.rolled.y < usual + MOUTH_M)
        wide = measured & (reach > usual + MOUTH_M) & ~self.rolled.lines[:, out].any(1)
        # the mouth ends: nearer or farther rows are narrow again
        runs = np.split(np.flatnonzero(wide), np.flatnonzero(np.diff(np.flatnonzero(wide)) > 1) + 1)
        return any(
            len(run) >= MOUTH_ROWS and run[-1] < np.flatnonzero(measured)[-1] for run in runs if len(run)
        )

    def _reach(self, row: int, side: int) -> tuple[float, bool]:
        """How far to ``side`` road goes on without a gap on one row, m, and whether it ends in view."""
        order = np.argsort(np.abs(self.rolled.y))
        out = [i for i in order if side * self.rolled.y[i] >= 0]
        road, in_view = self.rolled.road[row, out], self.rolled.seen[row, out]
        if not in_view[0] or not road[:5].any():
            return float("nan"), False
        stop = np.flatnonzero(~road & (np.arange(len(out)) >= int(road.argmax())))
        end = int(stop[0]) if len(stop) else len(out)
        if end == len(out):
            return float(abs(self.rolled.y[out[-1]])), False
        return float(abs(self.rolled.y[out[end]])), bool(in_view[end])


def _lines(chains: list[tuple[Array, Array]]) -> dict[float, Array]:
    """Where painted lines that follow the path are, m to its left, ascending; and their points, (N, 2) s and y, m."""
    parts = [part for chain in chains if (part := _Part.of(*chain))]
    parts.sort(key=lambda part: part.y)
    groups: list[list[_Part]] = []
    for part in parts:  # dashes of one line, or its two edges
        if groups and part.y - groups[-1][-1].y < SAME_M:
            groups[-1].append(part)
        else:
            groups.append([part])
    return {
        float(np.average([part.y for part in group], weights=[part.length for part in group])): np.vstack(
            [part.points for part in group]
        )
        for group in groups
        if _Part.together(group) >= LEAST_M
    }


def _on_ground(view: SceneView, camera: Camera, path: EgoPath) -> list[tuple[Array, Array]]:
    """The points of each painted line: m along the path, and to its left."""
    height, width = view.lanes.shape
    grid, located = resized(camera, width, height), []
    for chain in lane_chains(view.lanes):
        ground, valid = ground_points(grid, chain)
        valid &= np.where(valid, np.hypot(*np.nan_to_num(ground).T), np.inf) < 2 * LINES_M
        if valid.sum() >= 2:
            located.append(path.locate(ground[valid]))
    return located


def _leaves(s: Array, y: Array) -> float | None:
    """Where a line that begins beside the path leaves it, m along it; None where it does not, or runs across."""
    order = np.argsort(s)
    s, y = s[order], y[order]
    away = np.flatnonzero(np.abs(y - y[0]) > LEAVES_M)
    if s[0] > LINES_M or abs(y[0]) > OWN_M[1] or not len(away):
        return None
    driven = float(s[away[0]] - s[0])
    return float(s[away[0]]) if driven * STEEPEST > LEAVES_M else None


@dataclass(frozen=True, eq=False)
class _Part:
    """A piece of a line: from and to, m along the path, and how far to its left; its ``points`` go on farther."""

    near: float
    far: float
    y: float
    points: Array

    @classmethod
    def of(cls, s: Array, y: Array) -> "_Part | None":
        """Of a chain's points; None where it does not follow the path, or lies too far off."""
        near = (s >= NEAR_M) & (s <= LINES_M)
        if near.sum() < 2 or np.ptp(np.percentile(y[near], (10, 90))) > STRAY_M:
            return None
        order = np.argsort(s)
        steps = np.arange(np.ceil(max(s.min(), NEAR_M)), min(s.max(), FOLLOWED_M) + 1e-6)
        points = np.column_stack([steps, np.interp(steps, s[order], y[order])])
        return cls(float(s[near].min()), float(s[near].max()), float(np.median(y[near])), points)

    @property
    def length(self) -> float:
        return self.far - self.near

    @staticmethod
    def together(parts: "list[_Part]") -> float:
        """Length of the path that they cover, m."""
        covered, reached = 0.0, -np.inf
        for part in sorted(parts, key=lambda part: part.near):
            covered += max(part.far - max(part.near, reached), 0.0)
            reached = max(reached, part.far)
        return covered


# --- lane lines --------------------------------------------------------------------------------
# Lane lines of a mask as chains of points: one thin line each, cut where lines meet or part.

#: A chain has at least this share of the grid's rows, and of its longest chains this many are kept.
_SHORTEST, _MOST = 1 / 45, 16
#: The points of a chain: enough for a parabola, few enough for speed.
_POINTS = 48
#: Islands smaller than this share of the grid are noise.
_SPECK = 5e-5
#: A run of pixels this much narrower than its chain's usual one is the line's frayed end.
_FRAYED = 0.6


class _Run(NamedTuple):
    row: int
    first: int
    last: int

    @property
    def middle(self) -> float:
        return (self.first + self.last) / 2


def lane_chains(mask: Mask) -> list[Array]:
    """The lane lines of ``mask`` (H, W), longest first: (N, 2) columns and rows of each line's middle, px of the grid.

    A dashed line or one that something hides comes as several chains. Where two lines run into one, both end.
    """
    height, width = mask.shape
    shortest = max(4, round(height * _SHORTEST))
    chains = [_middle(runs, width) for runs in _linked(_runs(_mended(mask))) if len(runs) >= shortest]
    chains = [chain for chain in chains if len(chain) >= shortest]
    chains.sort(key=lambda chain: (-len(chain), *chain[0]))
    return [_thinned(chain) for chain in chains[:_MOST]]


def _mended(mask: Mask) -> Mask:
    """Without pinholes and specks."""
    closed = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=8)
    large = stats[:, cv2.CC_STAT_AREA] >= _SPECK * mask.size
    large[0] = False
    return np.asarray(large[labels])


def _runs(mask: Mask) -> list[list[_Run]]:
    """The runs of set pixels of each row, the lowest row first."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), np.int8)
    padded[:, 1:-1] = mask
    step = np.diff(padded, axis=1)
    out: list[list[_Run]] = [[] for _ in range(len(mask))]
    for (row, first), (_, after) in zip(np.argwhere(step == 1), np.argwhere(step == -1), strict=True):
        out[row].append(_Run(int(row), int(first), int(after) - 1))
    return out[::-1]


def _linked(rows: list[list[_Run]]) -> list[list[_Run]]:
    """Runs that touch exactly one run above and are touched by exactly one below, as chains."""
    chains: list[list[_Run]] = []
    going: list[list[_Run]] = []
    for runs in rows:
        above = [
            [r for r in runs if r.first <= chain[-1].last + 1 and r.last >= chain[-1].first - 1]
            for chain in going
        ]
        below = {run: sum(run in touched for touched in above) for run in runs}
        longer: list[list[_Run]] = []
        continued = set()
        for chain, touched in zip(going, above, strict=True):
            if len(touched) == 1 and below[touched[0]] == 1:
                longer.append([*chain, touched[0]])
                continued.add(touched[0])
            else:
                chains.append(chain)
        going = longer + [[run] for run in runs if run not in continued]
    return chains + going


def _middle(runs: list[_Run], width: int) -> Array:
    """Middles of the runs that the frame's side does not cut and that are not the line's frayed ends."""
    wide = np.array([run.last - run.first + 1 for run in runs])
    uncut = np.array([run.first > 0 and run.last < width - 1 for run in runs])
    keep = uncut & (wide >= _FRAYED * np.median(wide))
    return np.array(
        [(run.middle, run.row) for run, use in zip(runs, keep, strict=True) if use], float
    ).reshape(-1, 2)


def _thinned(chain: Array) -> Array:
    at = np.unique(np.linspace(0, len(chain) - 1, min(len(chain), _POINTS)).round().astype(int))
    return chain[at]


# --- paint -------------------------------------------------------------------------------------
# Whether a lane's line is dashed, by the picture itself: networks fill the gaps of dashes.

#: Where a line is looked at: from and to, m along the path, and to either side of where it is expected; steps.
_NEAR_M, _FAR_M, _SIDE_M, _STEP_S, _STEP_Y = 6.0, 32.0, 0.8, 0.25, 0.05
#: Steps across that a line is wide, and to the middle of the bare road on either side of it.
_WIDE, _FLANK = 3, 7
#: Paint is this much brighter (log) than the road on both its sides; it strays this far from row to row, steps.
_BRIGHTER, _STRAY = 0.1, 4
#: A line is told of over this much of its length, m; and is dashed where at most this share of it is painted.
_LEAST_M, _SOLID = 10.0, 0.65
#: Paint that is left out for less than this is worn or shaded, m; a gap between two dashes is longer.
_GAP_M = 1.5


def painted(image: np.ndarray, camera: Camera, path: EgoPath, lateral: float) -> np.ndarray:
    """(N,) bool: where a line is painted, near to far in steps of 0.25 m; empty where too little of it is in view.

    Args:
        image: (H, W, 3) uint8 RGB. beside: where the line is, m to the left of the path.
    """
    s = np.arange(_NEAR_M, _FAR_M, _STEP_S)
    y = lateral + np.arange(-_SIDE_M, _SIDE_M, _STEP_Y)
    at_x, at_y, _ = path.at(np.repeat(s, len(y)), np.tile(y, len(s)))
    px, valid = project(camera, np.column_stack([at_x, at_y, np.zeros_like(at_x)]))
    in_view = (valid & inside(camera, px, 2)).reshape(len(s), len(y)).all(1)
    if in_view.sum() * _STEP_S < _LEAST_M:
        return np.zeros(0, bool)
    grid = np.where(np.isfinite(px), px, -1).astype(np.float32).reshape(len(s), len(y), 2)[in_view]
    bright = cv2.remap(
        image[..., 0], grid[..., 0], grid[..., 1], cv2.INTER_LINEAR
    )  # red: yellow paint is bright, too
    ridge = _ridge(np.log(bright.astype(np.float64) + 8))
    # the line is where paint shows along the most rows; it may bend off the path
    where = np.argmax(ridge, 1)
    middle = np.median(where[ridge.max(1) > _BRIGHTER]) if (ridge.max(1) > _BRIGHTER).any() else 0
    drift = np.polynomial.Polynomial.fit(
        np.arange(len(where)), where, 2, w=np.clip(ridge.max(1), 0, None) + 1e-6
    )
    expected = drift(np.arange(len(where))) if np.ptp(where) else np.full(len(where), middle)
    near = np.abs(np.arange(ridge.shape[1]) - expected[:, None]) <= _STRAY
    return np.asarray(np.where(near, ridge, -np.inf).max(1) > _BRIGHTER)


def is_dashed(image: np.ndarray, camera: Camera, path: EgoPath, lateral: float) -> bool:
    """Whether the line ``beside`` the path shows dashes, with a gap between two at least; False where that cannot be
    told."""
    paint = painted(image, camera, path, lateral)
    if not paint.any() or paint.mean() >= _SOLID:
        return False
    steps = np.diff(np.flatnonzero(paint))
    return bool((steps * _STEP_S > _GAP_M).any())


def _ridge(rows: Array) -> Array:
    """How much brighter each point of each row is than both its flanks."""
    smooth = cv2.blur(rows, (_WIDE, 1))
    left_flank, right = np.roll(smooth, _FLANK, 1), np.roll(smooth, -_FLANK, 1)
    ridge = smooth - np.maximum(left_flank, right)
    ridge[:, :_FLANK] = ridge[:, -_FLANK:] = 0.0
    return np.asarray(ridge)
