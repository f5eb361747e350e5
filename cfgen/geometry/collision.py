"""One simulated car against what stands or moves on the road: whether they touch, how fast, how near, how soon.

Judge, metrics and report share it. The car is a box around its rear axle that follows its own poses and reacts to
nothing; the other is a convex footprint with a velocity of its own. Both in the ego frame at t0. Give it drives
(:func:`cfgen.geometry.driving.drive`), not plans as they were drawn: a plan can do what no car can.
"""

from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.frames import interpolate
from cfgen.geometry.lens import Array
from cfgen.geometry.trajectory import speeds
from cfgen.records import PLAN_DT, Placement

#: Ego body: m behind and ahead of the rear axle, and half its width.
REAR_M, FRONT_M, HALF_WIDTH_M = 1.0, 3.8, 0.95
#: Its corners on the ground, m ahead of and to the left of its rear axle.
EGO_CORNERS = np.array(
    [
        (-REAR_M, -HALF_WIDTH_M),
        (FRONT_M, -HALF_WIDTH_M),
        (FRONT_M, HALF_WIDTH_M),
        (-REAR_M, HALF_WIDTH_M),
    ]
)
#: A plan that stays farther from something than this, m, clears it anyway: no response to it is due.
CLEAR_M = 0.5
#: Steps into which a step of the plan is cut.
_CUT = 5


@dataclass(frozen=True)
class Track:
    """Poses (T, 3), m and rad, and speeds ``v`` (T,), m/s, at ``t`` (T,), 0.05 s apart, from the origin at t = 0 on."""

    t: Array
    poses: Array
    v: Array

    @classmethod
    def of(cls, plan: Array, speed: Array | None = None) -> Self:
        """Of a plan (N, 3), 0.25 s apart, between its waypoints as :func:`cfgen.geometry.frames.interpolate`.

        ``speed`` (N + 1,) m/s from t = 0 on, where a drive knows it.
        """
        n = len(plan)
        t, grid = PLAN_DT / _CUT * np.arange(_CUT * n + 1), PLAN_DT * np.arange(n + 1)
        poses = interpolate(grid, np.vstack([np.zeros(3), plan]), t)
        return cls(t, poses, np.interp(t, grid, speeds(plan) if speed is None else speed))


@dataclass(frozen=True)
class Footprint:
    """A convex outline: ``corners`` (K, 2) m in order, at t0, and ``velocity`` (2,) m/s, in the ego frame at t0."""

    corners: Array
    velocity: Array

    @classmethod
    def of(cls, placement: Placement) -> Self:
        """Where an object stands at t0, and its own velocity."""
        corners = box_corners(placement.x, placement.y, placement.yaw, placement.size)[0, :4, :2]
        return cls(corners, np.array([placement.vx, placement.vy]))

    @classmethod
    def around(cls, points: Array, velocity: tuple[float, float] = (0.0, 0.0)) -> Self:
        """The hull of ground points (M, 2), m."""
        hull = cv2.convexHull(np.asarray(points, np.float32)).reshape(-1, 2)
        return cls(hull.astype(float), np.array(velocity))


@dataclass(frozen=True, slots=True)
class Passage:
    """What becomes of a track that meets a footprint.

    Attributes:
        contact_s: s after t0 at which they first touch; None where they never do.
        impact_speed: m/s between the two when they touch; 0 where they never do.
        min_gap_m: m between the outlines at their nearest; 0 where they touch.
        ttc_s: smallest time to collision if both kept their velocities from where they are, s; None where they are
            never on course for it, 0 where they touch.
    """

    contact_s: float | None
    impact_speed: float
    min_gap_m: float
    ttc_s: float | None

    @property
    def avoided(self) -> bool:
        return self.contact_s is None


def passage(track: Track, footprint: Footprint) -> Passage:
    """Follow both to the track's end, at all times, not at samples of them.

    Seen from the ego, the footprint sweeps a convex region from one time to the next; the gap is that to the region.
    Exact where neither turns; a turn of the ego within 0.05 s moves the region by millimetres.
    """
    ego, corners = EGO_CORNERS[None], _seen_from_ego(track, footprint)
    start, end = corners[:-1], corners[1:]
    ways = np.stack([start, end], axis=2)  # (T - 1, corner, from and to, 2)
    sides = np.concatenate([_sides(start), _sides(end), ways], axis=1)
    own = np.broadcast_to(_sides(ego), (len(start), 4, 2, 2))
    touching = _touch(ego, np.concatenate([start, end], axis=1), np.concatenate([own, sides], axis=1))
    if touching.any():
        at = int(touching.argmax())
        return Passage(float(track.t[at]), float(closing_speed(track, footprint)[at]), 0.0, 0.0)
    gap = float(min(_corners_to_sides(ego, sides), _corners_to_sides(corners, _sides(ego))))
    return Passage(None, 0.0, gap, _time_to_collision(track, footprint))


def closing_speed(track: Track, footprint: Footprint) -> Array:
    """(T,) m/s between the two, whatever the direction."""
    heading = track.poses[:, 2]
    own = track.v[:, None] * np.column_stack([np.cos(heading), np.sin(heading)])
    return np.hypot(*(own - footprint.velocity).T)


def beside(track: Track, footprint: Footprint) -> tuple[Array, Array]:
    """(T,) m ahead of the ego's nose to the footprint's near end and (T,) m between their sides, in the ego's axes.

    The first is 0 or less while the ego is alongside, and infinite once it has passed.
    """
    forward, lateral = np.moveaxis(_seen_from_ego(track, footprint), -1, 0)
    room = np.maximum(lateral.min(axis=1), -lateral.max(axis=1)) - HALF_WIDTH_M
    return np.where(forward.max(axis=1) < -REAR_M, np.inf, forward.min(axis=1) - FRONT_M), room


def _time_to_collision(track: Track, footprint: Footprint) -> float | None:
    """Smallest gap over closing speed, in the ego's axes, while the footprint is in the ego's track ahead."""
    forward, room = beside(track, footprint)
    heading = track.poses[:, 2]
    closing = track.v - np.column_stack([np.cos(heading), np.sin(heading)]) @ footprint.velocity
    on_course = (room < 0) & (closing > 0.1) & np.isfinite(forward)
    if not on_course.any():
        return None
    return float((np.maximum(forward[on_course], 0.0) / closing[on_course]).min())


def _seen_from_ego(track: Track, footprint: Footprint) -> Array:
    """(T, K, 2) corners in order, ahead and to the left of the ego's rear axle."""
    moved = track.t[:, None] * footprint.velocity - track.poses[:, :2]
    offset = moved[:, None] + footprint.corners
    c, s = np.cos(track.poses[:, 2]), np.sin(track.poses[:, 2])
    return np.asarray(offset @ np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], axis=1))


def _sides(outline: Array) -> Array:
    """(T, K, 2, 2) from corner to corner of outlines (T, K, 2)."""
    return np.stack([outline, np.roll(outline, -1, axis=1)], axis=2)


def _touch(a: Array, b: Array, sides: Array) -> Array:
    """(T,) bool: two convex hulls of points (T, N, 2) overlap; no normal of ``sides`` (T, S, 2, 2) separates them."""
    along = sides[:, :, 1] - sides[:, :, 0]
    normals = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    p, q = (np.einsum("tsc,tnc->tsn", normals, np.broadcast_to(x, (len(b), *x.shape[1:]))) for x in (a, b))
    separate = (p.max(axis=2) < q.min(axis=2)) | (q.max(axis=2) < p.min(axis=2))
    return np.asarray(~separate.any(axis=1))


def _corners_to_sides(points: Array, sides: Array) -> float:
    """Smallest distance of points (T, N, 2) to lines between two points (T, S, 2, 2); either T may be 1."""
    step = (sides[:, :, 1] - sides[:, :, 0])[:, None]
    offset = points[:, :, None] - sides[:, None, :, 0]
    along = np.clip((offset * step).sum(-1) / np.maximum((step**2).sum(-1), 1e-18), 0.0, 1.0)
    return float(np.sqrt((((offset - along[..., None] * step) ** 2).sum(-1)).min()))
