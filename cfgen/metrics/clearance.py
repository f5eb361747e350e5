"""How near a car that follows a plan comes to a hazard: two boxes that move, in continuous time.

The ego is a box around its rear axle, the hazard a box that moves with its own velocity; both in the ego frame at t0.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from cfgen.geometry.frames import interpolate
from cfgen.records import PLAN_DT, Placement

#: Ego body: m behind and ahead of the rear axle, and half its width.
REAR_M, FRONT_M, HALF_WIDTH_M = 1.0, 3.8, 0.95
#: Steps into which a step of the plan is cut.
_CUT = 5
_EGO = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * HALF_WIDTH_M
_EGO[:, 0] = [-REAR_M, FRONT_M, FRONT_M, -REAR_M]


@dataclass(frozen=True)
class Track:
    """Poses (T, 3) of a plan at ``t`` (T,), 0.05 s apart, from the origin at t = 0 on."""

    t: np.ndarray
    poses: np.ndarray

    @classmethod
    def of(cls, plan: np.ndarray) -> Self:
        """Of a plan (N, 3), 0.25 s apart, between its waypoints as :func:`cfgen.geometry.frames.interpolate`."""
        n = len(plan)
        t = PLAN_DT / _CUT * np.arange(_CUT * n + 1)
        poses = interpolate(PLAN_DT * np.arange(n + 1), np.vstack([np.zeros(3), plan]), t)
        return cls(t, poses)


def smallest_gap(track: Track, placement: Placement) -> float:
    """m between the boxes at their nearest, 0 when they touch; at all times, not at samples of them.

    Seen from the ego, the hazard's box sweeps a convex region from one time to the next; the gap is that to the region.
    Exact where neither turns; a turn of the ego within 0.05 s moves the region by millimetres.
    """
    ego, seen = _EGO[None], _seen_from_ego(track, placement)
    start, end = seen[:-1], seen[1:]
    ways = np.stack([start, end], axis=2)  # (T - 1, corner, from and to, 2)
    sides = np.concatenate([_sides(start), _sides(end), ways], axis=1)
    own = np.broadcast_to(_sides(ego), (len(start), 4, 2, 2))
    if _touch(ego, np.concatenate([start, end], axis=1), np.concatenate([own, sides], axis=1)):
        return 0.0
    return float(min(_corners_to_sides(ego, sides), _corners_to_sides(seen, _sides(ego))))


def beside(track: Track, placement: Placement) -> tuple[np.ndarray, np.ndarray]:
    """(T,) m ahead of the ego's nose to the hazard's near end and (T,) m between their sides, in the ego's axes.

    The first is 0 or less while the ego is alongside, and infinite once it has passed.
    """
    ahead, left = np.moveaxis(_seen_from_ego(track, placement), -1, 0)
    room = np.maximum(left.min(axis=1), -left.max(axis=1)) - HALF_WIDTH_M
    return np.where(ahead.max(axis=1) < -REAR_M, np.inf, ahead.min(axis=1) - FRONT_M), room


def _seen_from_ego(track: Track, placement: Placement) -> np.ndarray:
    """(T, 4, 2) corners in order of the hazard's box, ahead and to the left of the ego's rear axle."""
    half = np.array([placement.size.length, placement.size.width]) / 2
    local = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    c, s = np.cos(placement.yaw), np.sin(placement.yaw)
    middle = np.column_stack([placement.x + placement.vx * track.t, placement.y + placement.vy * track.t])
    offset = (middle - track.poses[:, :2])[:, None] + local @ np.array([[c, s], [-s, c]])
    c, s = np.cos(track.poses[:, 2]), np.sin(track.poses[:, 2])
    return offset @ np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], axis=1)


def _sides(box: np.ndarray) -> np.ndarray:
    """(T, 4, 2, 2) from corner to corner of boxes (T, 4, 2)."""
    return np.stack([box, np.roll(box, -1, axis=1)], axis=2)


def _touch(a: np.ndarray, b: np.ndarray, sides: np.ndarray) -> bool:
    """Whether any two convex hulls of points (T, N, 2) overlap: no normal of ``sides`` (T, S, 2, 2) separates them."""
    along = sides[:, :, 1] - sides[:, :, 0]
    normals = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    p, q = (np.einsum("tsc,tnc->tsn", normals, np.broadcast_to(x, (len(b), *x.shape[1:]))) for x in (a, b))
    separate = (p.max(axis=2) < q.min(axis=2)) | (q.max(axis=2) < p.min(axis=2))
    return bool((~separate.any(axis=1)).any())


def _corners_to_sides(points: np.ndarray, sides: np.ndarray) -> float:
    """Smallest distance of points (T, N, 2) to lines between two points (T, S, 2, 2); either T may be 1."""
    step = (sides[:, :, 1] - sides[:, :, 0])[:, None]
    offset = points[:, :, None] - sides[:, None, :, 0]
    along = np.clip((offset * step).sum(-1) / np.maximum((step**2).sum(-1), 1e-18), 0.0, 1.0)
    return float(np.sqrt((((offset - along[..., None] * step) ** 2).sum(-1)).min()))
