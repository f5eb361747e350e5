"""The map of a data set as a scene tells its road: ``drivable``, ``crossings`` and ``lanes`` in the ego frame at t0."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cfgen.core.errors import InputError
from cfgen.geometry.lens import Array
from cfgen.geometry.polygons import distance
from cfgen.scenes.readers.traffic import MAP_ADVICE, ego_at, off_the_road

#: What of it a scene tells, m in the ego frame at t0: back, ahead and to either side.
_BACK_M, _AHEAD_M, _ASIDE_M = -70.0, 120.0, 60.0
#: A map without road nearer than this to the car is another's, m.
_NEAREST_M = 60.0
#: Points that lie this near to the line without them are left out, m.
_TOLERANCE_M = 0.05
#: Of a lane's middle and width, between its two borders.
_STEPS = 20
_WIDTH_M = (0.6, 20.0)


@dataclass(frozen=True)
class RoadMap:
    """A map in the world frame of a drive.

    Attributes:
        path: of the map's file, for messages.
        areas: (N, 3) m each, the drivable areas; with ``holes`` (areas, ...) cut out of each. crossings: (N, 3) m each.
        lanes: middle (N, 3) m in driving direction, width, m, and use of each.
        ego: times (T,) and poses (T, 4, 4) of the drive.
    """

    path: Path
    areas: Sequence[tuple[Array, Sequence[Array]]]
    crossings: Sequence[Array]
    lanes: Sequence[tuple[Array, float, str]]
    ego: tuple[Array, Array]

    def __call__(self, t0: float) -> dict[str, Any]:
        """What a scene at ``t0``, s, tells of its road.

        Raises:
            InputError: none of it is near the car.
        """
        seen_from: Array = np.asarray(np.linalg.inv(ego_at(*self.ego, t0)), float)
        areas = [
            _with_holes(_seen(outline, seen_from), [_seen(hole, seen_from) for hole in holes])
            for outline, holes in self.areas
            if _on_this_level(outline, seen_from)
        ]
        nearest = min((distance(area) for area in areas), default=np.inf)
        if nearest > _NEAREST_M:
            raise InputError(
                f"{self.path}: expected drivable areas within {_NEAREST_M:g} m of the car at {t0:.1f} s, found the "
                f"nearest {nearest:.0f} m away: is it the map of another log or town? {MAP_ADVICE}"
            )
        drivable = [part for area in areas if len(part := _within(area)) >= 3]
        crossings = [
            part
            for outline in self.crossings
            if _on_this_level(outline, seen_from) and len(part := _within(_seen(outline, seen_from))) >= 3
        ]
        lanes = [
            {"line": _rounded(line), "width_m": round(float(width), 2), "use": use}
            for middle, width, use in self.lanes
            if _on_this_level(middle, seen_from) and _is_near(line := _seen(middle, seen_from))
        ]
        return {
            "drivable": [_rounded(area, closed=True) for area in drivable],
            "crossings": [_rounded(area, closed=True) for area in crossings],
            "lanes": lanes,
            "road_from": "map",
        }


def between(left: Array, right: Array) -> tuple[Array, float]:
    """Middle (N, 3) m and width, m, of a lane between its borders (L, 3) and (R, 3), both in driving direction."""
    a, b = (_even(border) for border in (left, right))
    return (a + b) / 2, float(np.clip(np.median(np.hypot(*(a - b)[:, :2].T)), *_WIDTH_M))


def _even(line: Array) -> Array:
    """(N, 3) points at even steps along a line."""
    driven = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1)))
    at = np.linspace(0.0, driven[-1], _STEPS)
    return np.column_stack([np.interp(at, driven, column) for column in line.T])


def _seen(points: Array, seen_from: Array) -> Array:
    """(N, 2) m in the ego frame."""
    local: Array = points @ seen_from[:2, :3].T + seen_from[:2, 3]
    return local


def _on_this_level(points: Array, seen_from: Array) -> bool:
    """Whether some of it is about as high as the road under the car, and not a bridge above it."""
    local = points @ seen_from[:3, :3].T + seen_from[:3, 3]
    return not off_the_road(local[:, 2], np.hypot(local[:, 0], local[:, 1])).all()


def _is_near(line: Array) -> bool:
    x, y = line.T
    return bool(((x > _BACK_M) & (x < _AHEAD_M) & (np.abs(y) < _ASIDE_M)).any())


def _with_holes(area: Array, holes: Sequence[Array]) -> Array:
    """One outline around an area with holes: a cut without width leads to each hole and back."""
    for hole in holes:
        gaps = np.hypot(*(area[:, None] - hole[None]).transpose(2, 0, 1))
        i, j = np.unravel_index(int(gaps.argmin()), gaps.shape)
        round_trip = np.roll(hole, -int(j), axis=0)
        area = np.concatenate([area[: i + 1], round_trip, round_trip[:1], area[i:]])
    return area


def _within(area: Array) -> Array:
    """The part (N, 2) of an area that a scene tells of (Sutherland and Hodgman 1974)."""
    for axis, sign, limit in ((0, 1, _BACK_M), (0, -1, -_AHEAD_M), (1, 1, -_ASIDE_M), (1, -1, -_ASIDE_M)):
        inside = sign * area[:, axis] - limit
        points: list[Array] = []
        for here, ahead, a, b in zip(area, np.roll(area, -1, 0), inside, np.roll(inside, -1), strict=True):
            if a >= 0:
                points.append(here)
            if (a >= 0) != (b >= 0):
                points.append(here + a / (a - b) * (ahead - here))
        area = np.array(points).reshape(-1, 2)
    return area


def _rounded(points: Array, closed: bool = False) -> list[list[float]]:
    slim = cv2.approxPolyDP(points.astype(np.float32)[:, None], _TOLERANCE_M, closed)[:, 0]
    kept = slim if len(slim) >= (3 if closed else 2) else points
    return [[round(float(v), 2) + 0.0 for v in point] for point in kept]
