"""Where the lanes of a frame are, in metres to the left of the car's path: from its lane lines and its road.

Painted lines are the chains of :mod:`cfgen.perception.lane_lines`, laid on the ground: one that follows the road keeps
its offset, and a lane is what lies between two of them. For road the view is unrolled along the path (rows: metres
ahead, columns: metres to the left). The networks call road what the own direction may
drive on, so that road beyond a line is a lane that may be changed to, and no road beyond it is the other carriageway,
a verge or a kerb.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cfgen.geometry.camera import ground_points, project, resized
from cfgen.geometry.lens import Array
from cfgen.geometry.path import EgoPath
from cfgen.perception.lane_lines import lane_chains
from cfgen.perception.paint import is_dashed
from cfgen.perception.view import SceneView
from cfgen.records import Camera

#: What is unrolled: from and to, m along the path, and to either side; steps.
NEAR_M, FAR_M, SIDE_M = 5.0, 70.0, 12.0
STEP_S, STEP_Y = 1.0, 0.1
#: A lane is between these wide, m; lines of the own lane are looked for this far from the path.
LANE_M, OWN_M = (2.4, 4.6), (0.6, 3.4)
#: Lines are looked for up to here, m along the path; this much of one must be seen: dashes are gaps.
LINES_M, LEAST_M = 35.0, 5.0
#: Lines of the own lane are followed up to here, m; how their distance changes counts from so much before where both
#: are seen, m, to so many times as far as that.
FOLLOWED_M, AROUND_M, BEYOND = 60.0, 3.0, 1.5
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
    x, left, _ = path.at(grid_s, grid_y)
    px, valid = project(camera, np.column_stack([x, left, np.zeros_like(x)]))
    px = np.where(valid[:, None], px, np.nan)
    seen = valid & (px >= 0).all(1) & (px < (camera.width, camera.height)).all(1)
    shape = len(s), len(y)
    road, lines = seen & view.is_road(px), seen & view.is_lane_line(px)
    return Unrolled(s, y, seen.reshape(shape), road.reshape(shape), lines.reshape(shape))


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
        left = min((y for y in lines if OWN_M[0] <= y <= OWN_M[1]), default=None)
        right = max((y for y in lines if -OWN_M[1] <= y <= -OWN_M[0]), default=None)
        points = tuple(_NONE if line is None else lines[line] for line in (left, right))
        if left is not None and right is not None and not LANE_M[0] <= left - right <= LANE_M[1]:
            # the path leaves the middle of the lane, or one of the two is no line: nothing is known
            left = right = None
        own = ((1, left), (-1, right))
        dashed = (
            tuple(side for side, y in own if y is not None and is_dashed(image, camera, path, y))
            if image is not None
            else None
        )
        bends_at = min((at for chain in chains if (at := _leaves(*chain))), default=None)
        return cls(rolled, left, right, dashed, (points[0], points[1]), bends_at)

    @property
    def width_m(self) -> float | None:
        """Width of the own lane, m; None unless both lines are seen."""
        return None if self.left is None or self.right is None else self.left - self.right

    @property
    def middle(self) -> float | None:
        """Of the own lane, m to the left of the path; None unless both lines are seen."""
        return None if self.left is None or self.right is None else (self.left + self.right) / 2

    def width_at(self, s: float) -> float | None:
        """Distance of the own lane's lines at ``s``, m along the path, as the camera measures it; None where they are
        not seen near it. Where the camera is pitched otherwise than it says, that falls or grows evenly with ``s``."""
        left, right = ({float(at): y for at, y in line} for line in self.points)
        at = np.array(sorted(left.keys() & right.keys()))
        if len(at) < LEAST_M or s < at[0] - AROUND_M:
            return None
        width = np.polynomial.Polynomial.fit(at, [left[a] - right[a] for a in at], 1)
        return float(width(min(s, BEYOND * at[-1])))

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
        ends = [out for out, ended in (self._reach(int(row), side) for row in near) if ended]
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
        seen = self.rolled.seen[np.ix_(near, strip)]
        if seen.sum() < 0.15 * seen.size:
            return 0.0
        return float(self.rolled.road[np.ix_(near, strip)][seen].mean())

    def _mouth(self, side: int) -> bool:
        reach, ends = np.array([self._reach(row, side) for row in range(len(self.rolled.s))]).T
        known = np.isfinite(reach) & (self.rolled.s <= 45.0)
        edged = known & (ends > 0)
        if edged.sum() < 2 * MOUTH_ROWS:
            return False
        usual = float(np.percentile(reach[edged], 30))
        out = (side * self.rolled.y > usual + 0.5) & (side * self.rolled.y < usual + MOUTH_M)
        wide = known & (reach > usual + MOUTH_M) & ~self.rolled.lines[:, out].any(1)
        # the mouth ends: nearer or farther rows are narrow again
        runs = np.split(np.flatnonzero(wide), np.flatnonzero(np.diff(np.flatnonzero(wide)) > 1) + 1)
        return any(len(run) >= MOUTH_ROWS and run[-1] < np.flatnonzero(known)[-1] for run in runs if len(run))

    def _reach(self, row: int, side: int) -> tuple[float, bool]:
        """How far to ``side`` road goes on without a gap on one row, m, and whether it ends in view."""
        order = np.argsort(np.abs(self.rolled.y))
        out = [i for i in order if side * self.rolled.y[i] >= 0]
        road, seen = self.rolled.road[row, out], self.rolled.seen[row, out]
        if not seen[0] or not road[:5].any():
            return float("nan"), False
        stop = np.flatnonzero(~road & (np.arange(len(out)) >= int(road.argmax())))
        end = int(stop[0]) if len(stop) else len(out)
        if end == len(out):
            return float(abs(self.rolled.y[out[-1]])), False
        return float(abs(self.rolled.y[out[end]])), bool(seen[end])


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
    grid, found = resized(camera, width, height), []
    for chain in lane_chains(view.lanes):
        ground, valid = ground_points(grid, chain)
        valid &= np.where(valid, np.hypot(*np.nan_to_num(ground).T), np.inf) < 2 * LINES_M
        if valid.sum() >= 2:
            found.append(path.locate(ground[valid]))
    return found


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
        here = (s >= NEAR_M) & (s <= LINES_M)
        if here.sum() < 2 or np.ptp(np.percentile(y[here], (10, 90))) > STRAY_M:
            return None
        order = np.argsort(s)
        steps = np.arange(np.ceil(max(s.min(), NEAR_M)), min(s.max(), FOLLOWED_M) + 1e-6)
        points = np.column_stack([steps, np.interp(steps, s[order], y[order])])
        return cls(float(s[here].min()), float(s[here].max()), float(np.median(y[here])), points)

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
