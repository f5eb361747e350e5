"""What a plan does about a hazard, measured from the trajectory itself.

The ego is a box around its rear axle, the hazard a box that moves with its own velocity; both in the ego frame at t0.
"""

from dataclasses import dataclass

import numpy as np

from cfgen.geometry.frames import interpolate
from cfgen.geometry.trajectory import speeds
from cfgen.records import PLAN_DT, PLAN_STEPS, Motion, Placement

#: Ego body: m behind and ahead of the rear axle, and half its width.
REAR_M, FRONT_M, HALF_WIDTH_M = 1.0, 3.8, 0.95
#: Limits of a ride that passengers call comfortable: m/s^2, m/s^2, m/s^3.
COMFORT_DECEL, COMFORT_LATERAL, COMFORT_JERK = 4.0, 4.9, 8.4
#: Standing still, m/s.
STOPPED = 0.5
#: A response is holding back this far, m, or leaving this much more room, m, than the original plan.
HELD_BACK_M, MORE_ROOM_M = 2.0, 0.5


@dataclass(frozen=True)
class Encounter:
    """One plan against one hazard over 6 s.

    Attributes:
        min_gap_m: smallest distance between the two boxes; 0 when they touch.
        ttc_s: smallest time to contact if both kept their velocities; None when they are never on course for it.
        required_decel: constant deceleration from t0 that stops short of it, m/s^2, as placed.
        planned_decel: hardest deceleration in the plan, m/s^2.
        stops_short: it comes to a stand before the hazard without touching it.
        lateral_clearance_m: room between the sides while the ego passes; negative is contact, None when it never does.
        comfortable: within the limits above. jerk: the largest, m/s^3. lateral_accel: the largest, m/s^2.
    """

    min_gap_m: float
    ttc_s: float | None
    required_decel: float
    planned_decel: float
    stops_short: bool
    lateral_clearance_m: float | None
    lateral_accel: float
    jerk: float
    comfortable: bool

    @property
    def collides(self) -> bool:
        return self.min_gap_m == 0.0


def encounter(plan: np.ndarray, placement: Placement) -> Encounter:
    """Measure ``plan`` (24, 3), m and rad in the ego frame at t0, against a hazard."""
    poses = np.vstack([np.zeros(3), plan])
    v = speeds(plan)
    gaps, (ahead, room) = _gaps(poses, placement), _beside(poses, placement)
    accel = np.gradient(v, PLAN_DT)
    jerk = float(np.abs(np.gradient(accel, PLAN_DT)).max())
    lateral = float(np.abs(v * np.gradient(np.unwrap(poses[:, 2]), PLAN_DT)).max())
    passing = ahead <= 0
    return Encounter(
        min_gap_m=float(gaps.min()),
        ttc_s=_time_to_contact(ahead, room, v, poses[:, 2], placement),
        required_decel=placement.required_decel,
        planned_decel=float(max(-accel.min(), 0.0)),
        stops_short=bool(v[-1] < STOPPED and not passing.any() and gaps.min() > 0),
        lateral_clearance_m=float(room[passing].min()) if passing.any() else None,
        lateral_accel=lateral,
        jerk=jerk,
        comfortable=bool(
            -accel.min() <= COMFORT_DECEL and lateral <= COMFORT_LATERAL and jerk <= COMFORT_JERK
        ),
    )


def responds(original: np.ndarray, modified: np.ndarray, placement: Placement) -> bool:
    """Whether the modified plan reacts to what stands at ``placement``: the event that needs no judge.

    It is held back against the original by the time the original gets there (or at 6 s), or it leaves more room.
    The same question can be asked of every control arm, where nothing stands there.
    """
    plans = [np.vstack([np.zeros(3), plan]) for plan in (original, modified)]
    (ahead, room), (ahead_now, room_now) = (_beside(poses, placement) for poses in plans)
    reached = np.flatnonzero(ahead <= 0)
    until = max(4, int(reached[0])) if len(reached) else PLAN_STEPS
    a, b = (_travelled(poses)[until] for poses in plans)
    if a - b >= max(HELD_BACK_M, 0.1 * a):
        return True
    if not len(reached) or not (ahead_now <= 0).any():
        return False
    return bool(room_now[ahead_now <= 0].min() - room[ahead <= 0].min() >= MORE_ROOM_M)


def displacement_errors(plan: np.ndarray, logged: Motion) -> tuple[float, float] | None:
    """ADE (Eq. 8 without its sign) and FDE, m, against the recorded future; None where that is too short."""
    t = PLAN_DT * np.arange(1, PLAN_STEPS + 1)
    if not logged.t or logged.t[-1] < t[-1] - 1e-6:
        return None
    times, poses = np.array([0.0, *logged.t]), np.array([(0.0, 0.0, 0.0), *logged.poses])
    error = np.linalg.norm(plan[:, :2] - interpolate(times, poses, t)[:, :2], axis=1)
    return float(error.mean()), float(error[-1])


def _travelled(poses: np.ndarray) -> np.ndarray:
    """(25,) m along the plan at 0, 0.25 ... 6 s."""
    steps = np.diff(poses[:, :2], axis=0)
    return np.concatenate([[0.0], np.cumsum(np.hypot(*steps.T))])


def _boxes(poses: np.ndarray, rear: float, front: float, half: float) -> np.ndarray:
    """(T, 4, 2) corners in order of boxes at ``poses`` (T, 3)."""
    local = np.array([[-rear, -half], [front, -half], [front, half], [-rear, half]])
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    turn = np.stack([np.stack([c, s], -1), np.stack([-s, c], -1)], axis=1)
    return poses[:, None, :2] + local @ turn


def _hazard_boxes(placement: Placement) -> np.ndarray:
    """(25, 4, 2) corners at 0, 0.25 ... 6 s."""
    t = PLAN_DT * np.arange(PLAN_STEPS + 1)
    x, y = placement.x + placement.vx * t, placement.y + placement.vy * t
    poses = np.stack([x, y, np.full_like(t, placement.yaw)], axis=1)
    half = placement.size.length / 2
    return _boxes(poses, half, half, placement.size.width / 2)


def _beside(poses: np.ndarray, placement: Placement) -> tuple[np.ndarray, np.ndarray]:
    """(25,) m ahead of the ego's nose to the hazard's near end and (25,) m between their sides, in the ego's axes.

    The first is 0 or less while the ego is alongside, and infinite once it has passed.
    """
    corners = _hazard_boxes(placement) - poses[:, None, :2]
    c, s = np.cos(poses[:, 2])[:, None], np.sin(poses[:, 2])[:, None]
    ahead = c * corners[..., 0] + s * corners[..., 1]
    left = c * corners[..., 1] - s * corners[..., 0]
    room = np.maximum(left.min(axis=1), -left.max(axis=1)) - HALF_WIDTH_M
    return np.where(ahead.max(axis=1) < -REAR_M, np.inf, ahead.min(axis=1) - FRONT_M), room


def _time_to_contact(
    ahead: np.ndarray, room: np.ndarray, v: np.ndarray, heading: np.ndarray, placement: Placement
) -> float | None:
    """Smallest gap over closing speed, in the ego's axes, while the hazard is in the ego's track ahead."""
    closing = v - (np.cos(heading) * placement.vx + np.sin(heading) * placement.vy)
    on_course = (room < 0) & (closing > 0.1) & np.isfinite(ahead)
    if not on_course.any():
        return None
    return float((np.maximum(ahead[on_course], 0.0) / closing[on_course]).min())


def _gaps(poses: np.ndarray, placement: Placement) -> np.ndarray:
    """(25,) m between the two boxes, 0 where they overlap."""
    ego, other = _boxes(poses, REAR_M, FRONT_M, HALF_WIDTH_M), _hazard_boxes(placement)
    apart = np.minimum(_corners_to_edges(ego, other), _corners_to_edges(other, ego))
    return np.where(_overlap(ego, other), 0.0, apart)


def _overlap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(T,) separating axes of two rectangles (T, 4, 2)."""
    axes = np.stack([box[:, i + 1] - box[:, i] for box in (a, b) for i in (0, 1)], axis=1)
    p, q = (np.einsum("tic,tkc->tki", box, axes) for box in (a, b))
    separate = (p.max(axis=2) < q.min(axis=2)) | (q.max(axis=2) < p.min(axis=2))
    return ~separate.any(axis=1)


def _corners_to_edges(points: np.ndarray, box: np.ndarray) -> np.ndarray:
    """(T,) smallest distance of the corners (T, 4, 2) to the other box's edges."""
    edge = (np.roll(box, -1, axis=1) - box)[:, None]
    offset = points[:, :, None] - box[:, None]
    along = np.clip((offset * edge).sum(-1) / (edge**2).sum(-1), 0.0, 1.0)
    return np.linalg.norm(offset - along[..., None] * edge, axis=-1).min(axis=(1, 2))
