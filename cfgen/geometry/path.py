"""The path the car drives, or would drive: a line on the road to place things along, in metres."""

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from cfgen.geometry.frames import along_arc, pose_at, relative
from cfgen.geometry.lens import Array
from cfgen.records import Motion, Scene

STEP_M = 0.5
MIN_LENGTH_M = 80.0
#: Steps of a plan shorter than this are standing still: they say nothing about direction, m.
_MIN_STEP_M = 0.05
#: Poses closer than this to the one before say nothing about direction: a standing car's pose jitters.
_MIN_MOVE_M = 0.3
#: The last metres of recorded motion that give the curvature to continue with.
_CURVATURE_OVER_M = 10.0
#: Points located at once: what is worked out of so many fits a processor's own memory.
_AT_ONCE = 256
_MAX_CURVATURE = 0.15
#: A continued curve ends in a straight line after turning this far.
_MAX_EXTRA_TURN = math.pi / 2


@dataclass(frozen=True)
class EgoPath:
    """A polyline in the ego frame at t0 that starts at the origin.

    Attributes:
        s: (N,) arc length, m. xy: (N, 2), m. heading: (N,) rad, unwrapped.
        known_m: arc length up to which the drive was recorded; beyond it the path is a continuation.
    """

    s: Array
    xy: Array
    heading: Array
    known_m: float

    @classmethod
    def from_scene(cls, scene: Scene, length_m: float = MIN_LENGTH_M) -> Self:
        """The recorded future, continued at its last curvature to at least ``length_m``.

        Without a future, or with one that stands still, the history's last curvature counts from the origin on.
        A continued curve goes straight after a quarter turn.
        """
        return cls(*_ahead(scene.history, scene.future, length_m))

    @classmethod
    def since(cls, scene: Scene, t: float, length_m: float = MIN_LENGTH_M) -> Self:
        """As :meth:`from_scene`, but from where the car was at ``t``, s relative to t0, on; in the ego frame at t0."""
        path, history = cls.from_scene(scene, length_m), scene.history
        if t >= 0:
            return path
        between = [pose for pose, when in zip(history.poses, history.t, strict=True) if t < when < 0]
        before = np.array([pose_at(history, t), *between])
        xy = np.vstack([before[:, :2], path.xy])
        heading = np.unwrap(np.concatenate([before[:, 2], path.heading]))
        moved = np.append(True, np.hypot(*np.diff(xy, axis=0).T) > 1e-3)
        xy, heading = xy[moved], heading[moved]
        s = _arc_length(xy)
        return cls(s, xy, heading, float(s[-1] - path.s[-1]) + path.known_m)

    @property
    def length_m(self) -> float:
        return float(self.s[-1])

    def at(self, s: ArrayLike, lateral: ArrayLike = 0.0) -> tuple[Array, Array, Array]:
        """x, y, heading at arc length ``s`` and ``lateral`` metres to its left; scalars or (N,) arrays.

        Before the start and past the end the path goes straight on.
        """
        s = np.asarray(s, float)
        inner = np.clip(s, 0.0, self.length_m)
        heading = np.interp(inner, self.s, self.heading)
        over = s - inner
        c, sn = np.cos(heading), np.sin(heading)
        x = np.interp(inner, self.s, self.xy[:, 0]) + over * c - np.asarray(lateral, float) * sn
        y = np.interp(inner, self.s, self.xy[:, 1]) + over * sn + np.asarray(lateral, float) * c
        return x, y, heading

    def locate(self, xy: ArrayLike) -> tuple[Array, Array]:
        """Arc length and signed offset to the left of points (2,) or (N, 2): the nearest place on the path."""
        xy = np.asarray(xy, float)
        points = xy.reshape(-1, 2)
        parts = [self._located(points[i : i + _AT_ONCE]) for i in range(0, max(len(points), 1), _AT_ONCE)]
        s, lateral = (np.concatenate(each) for each in zip(*parts, strict=True))
        return s.reshape(xy.shape[:-1]), lateral.reshape(xy.shape[:-1])

    def _located(self, points: Array) -> tuple[Array, Array]:
        """:meth:`locate` of points (N, 2); x and y apart, as a sum over an axis of two is slow."""
        start, step, length = self.xy[:-1], np.diff(self.xy, axis=0), np.diff(self.s)
        off_x, off_y = (points[:, i, None] - start[:, i] for i in (0, 1))
        along = (off_x * step[:, 0] + off_y * step[:, 1]) / length
        low, high = np.zeros(len(length)), length.copy()
        low[0], high[-1] = -np.inf, np.inf  # both ends go straight on
        along = np.clip(along, low, high)
        part = along / length
        gap_x, gap_y = (points[:, i, None] - (start[:, i] + part * step[:, i]) for i in (0, 1))
        best = (gap_x * gap_x + gap_y * gap_y).argmin(axis=1)
        row = np.arange(len(points))
        cross = step[best, 0] * off_y[row, best] - step[best, 1] * off_x[row, best]
        away = np.linalg.norm(np.column_stack([gap_x[row, best], gap_y[row, best]]), axis=1)
        return self.s[best] + along[row, best], np.copysign(away, cross)


@lru_cache(maxsize=64)
def _ahead(history: Motion, future: Motion | None, length_m: float) -> tuple[Array, Array, Array, float]:
    """What :meth:`EgoPath.from_scene` holds: every frame of a scene is looked at along the same path."""
    poses = _moving(np.array([(0.0, 0.0, 0.0), *(future.poses if future else ())]))
    curvature = _end_curvature(poses if len(poses) > 1 else _moving(_reversed_history(history)))
    dense = _dense(poses)
    length = float(_arc_length(dense)[-1])
    if length < length_m:
        dense = np.vstack([dense, _continued(dense[-1], curvature, length_m - length)])
    s = _arc_length(dense)
    for shared in (s, dense):
        shared.setflags(write=False)
    return s, dense[:, :2], dense[:, 2], length


def _moving(poses: Array) -> Array:
    """The poses (T, 3) that are _MIN_MOVE_M or more from the one kept before."""
    distinct = [poses[0]]
    for pose in poses[1:]:
        if math.hypot(*(pose[:2] - distinct[-1][:2])) >= _MIN_MOVE_M:
            distinct.append(pose)
    out = np.array(distinct)
    out[:, 2] = np.unwrap(out[:, 2])
    return out


def _reversed_history(history: Motion) -> Array:
    """The history mirrored fore and aft: the same road bend, run through away from the origin."""
    poses = np.array(history.poses)[::-1]
    return poses * (-1.0, 1.0, -1.0)


def _end_curvature(poses: Array) -> float:
    """1/m over the last metres of the poses (T, 3), by their headings; 0 when they hardly move."""
    s = _arc_length(poses)
    start = int(np.searchsorted(s, s[-1] - _CURVATURE_OVER_M, side="right")) - 1
    start = max(start, 0)
    if s[-1] - s[start] < 1.0:
        return 0.0
    turn = relative(poses[start], poses[-1])[2]
    return float(np.clip(turn / (s[-1] - s[start]), -_MAX_CURVATURE, _MAX_CURVATURE))


def _dense(poses: Array) -> Array:
    """Arcs between the poses, a point every STEP_M or less."""
    parts = [poses[:1]]
    for a, b in itertools.pairwise(poses):
        n = max(1, math.ceil(math.hypot(*(b[:2] - a[:2])) / STEP_M))
        parts.append(along_arc(a[None], b[None], np.arange(1, n + 1) / n))
    return np.vstack(parts)


def _continued(pose: Array, curvature: float, length: float) -> Array:
    """Points (N, 3) after ``pose``: an arc until it has turned a quarter, then straight."""
    s = np.arange(1, math.ceil(length / STEP_M) + 2) * STEP_M
    arc = np.minimum(s, _MAX_EXTRA_TURN / max(abs(curvature), 1e-9))
    straight = s - arc
    turned = pose[2] + curvature * arc
    if abs(curvature) < 1e-9:
        x, y = arc * math.cos(pose[2]), arc * math.sin(pose[2])
    else:
        x = (np.sin(turned) - math.sin(pose[2])) / curvature
        y = (math.cos(pose[2]) - np.cos(turned)) / curvature
    return np.column_stack(
        [pose[0] + x + straight * np.cos(turned), pose[1] + y + straight * np.sin(turned), turned]
    )


def _arc_length(poses: Array) -> Array:
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(poses[:, :2], axis=0).T))])


def path_of_plan(waypoints: ArrayLike) -> EgoPath:
    """The line that a plan (N, 3) x, y, theta follows from the origin on; it goes straight on at both ends.

    A plan that stands still gives the straight line ahead.
    """
    xy = [np.zeros(2)]
    for point in np.asarray(waypoints, float)[:, :2]:
        if np.hypot(*(point - xy[-1])) >= _MIN_STEP_M:
            xy.append(point)
    if len(xy) == 1:
        xy.append(np.array([1.0, 0.0]))
    line = np.array(xy)
    step = np.diff(line, axis=0)
    chord = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    heading = np.concatenate([chord[:1], (chord[1:] + chord[:-1]) / 2, chord[-1:]])
    s = np.concatenate([[0.0], np.cumsum(np.hypot(*step.T))])
    return EgoPath(s, line, heading, float(s[-1]))


def travelled(waypoints: ArrayLike) -> np.ndarray:
    """(N + 1,) m driven at 0, dt ... N dt of a plan (N, >= 2) that starts at the origin."""
    xy = np.vstack([[0.0, 0.0], np.asarray(waypoints, float)[:, :2]])
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(xy, axis=0).T))])
