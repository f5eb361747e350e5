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
    at = _hazard_centres(placement)
    gaps = np.array([_gap(pose, centre, placement) for pose, centre in zip(poses, at, strict=True)])
    beside = np.array([_beside(pose, centre, placement) for pose, centre in zip(poses, at, strict=True)])
    accel = np.gradient(v, PLAN_DT)
    jerk = np.abs(np.gradient(accel, PLAN_DT)).max()
    lateral = np.abs(v * np.gradient(np.unwrap(poses[:, 2]), PLAN_DT)).max()
    passing = beside[:, 0] <= 0
    stands = v[-1] < STOPPED and not passing.any()
    return Encounter(
        min_gap_m=float(gaps.min()),
        ttc_s=_time_to_contact(beside, v, placement),
        required_decel=placement.required_decel,
        planned_decel=float(max(-accel.min(), 0.0)),
        stops_short=bool(stands and gaps.min() > 0),
        lateral_clearance_m=float(beside[passing, 1].min()) if passing.any() else None,
        lateral_accel=float(lateral),
        jerk=float(jerk),
        comfortable=bool(
            -accel.min() <= COMFORT_DECEL and lateral <= COMFORT_LATERAL and jerk <= COMFORT_JERK
        ),
    )


def responds(original: np.ndarray, modified: np.ndarray, placement: Placement) -> bool:
    """Whether the modified plan reacts to what stands at ``placement``: the event that needs no judge.

    It is held back against the original by the time the original gets there (or at 6 s), or it leaves more room.
    The same question can be asked of every control arm, where nothing stands there.
    """
    poses = np.vstack([np.zeros(3), original])
    centres = _hazard_centres(placement)
    beside = [_beside(pose, centre, placement)[0] for pose, centre in zip(poses, centres, strict=True)]
    reached = np.flatnonzero(np.array(beside) <= 0)
    until = max(4, int(reached[0])) if len(reached) else PLAN_STEPS
    a, b = (_travelled(plan)[until] for plan in (original, modified))
    if a - b >= max(HELD_BACK_M, 0.1 * a):
        return True
    room = [encounter(plan, placement).lateral_clearance_m for plan in (original, modified)]
    return room[0] is not None and room[1] is not None and room[1] - room[0] >= MORE_ROOM_M


def displacement_errors(plan: np.ndarray, logged: Motion) -> tuple[float, float] | None:
    """ADE (Eq. 8 without its sign) and FDE, m, against the recorded future; None where that is too short."""
    t = PLAN_DT * np.arange(1, PLAN_STEPS + 1)
    if not logged.t or logged.t[-1] < t[-1] - 1e-6:
        return None
    times, poses = np.array([0.0, *logged.t]), np.array([(0.0, 0.0, 0.0), *logged.poses])
    error = np.linalg.norm(plan[:, :2] - interpolate(times, poses, t)[:, :2], axis=1)
    return float(error.mean()), float(error[-1])


def _travelled(plan: np.ndarray) -> np.ndarray:
    """(25,) m along the plan at 0, 0.25 ... 6 s."""
    steps = np.diff(np.vstack([[0.0, 0.0], plan[:, :2]]), axis=0)
    return np.concatenate([[0.0], np.cumsum(np.hypot(*steps.T))])


def _hazard_centres(placement: Placement) -> np.ndarray:
    """(25, 2) m."""
    t = PLAN_DT * np.arange(PLAN_STEPS + 1)[:, None]
    return np.array([placement.x, placement.y]) + t * np.array([placement.vx, placement.vy])


def _box(x: float, y: float, yaw: float, ends: tuple[float, float], half: float) -> np.ndarray:
    """(4, 2) corners in order."""
    local = np.array([[ends[0], -half], [ends[1], -half], [ends[1], half], [ends[0], half]])
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([x, y]) + local @ np.array([[c, s], [-s, c]])


def _hazard_box(centre: np.ndarray, placement: Placement) -> np.ndarray:
    length, width = placement.size.length, placement.size.width
    return _box(float(centre[0]), float(centre[1]), placement.yaw, (-length / 2, length / 2), width / 2)


def _beside(pose: np.ndarray, centre: np.ndarray, placement: Placement) -> np.ndarray:
    """m ahead of the ego's nose to the hazard's near end, and m between their sides, in the ego's own axes.

    The first is 0 or less while the ego is alongside; it is infinite once the ego has passed.
    """
    corners = _hazard_box(centre, placement) - pose[:2]
    c, s = np.cos(pose[2]), np.sin(pose[2])
    ahead, left = corners @ np.array([c, s]), corners @ np.array([-s, c])
    room = max(left.min() - HALF_WIDTH_M, -left.max() - HALF_WIDTH_M)
    return np.array([np.inf if ahead.max() < -REAR_M else ahead.min() - FRONT_M, room])


def _time_to_contact(beside: np.ndarray, v: np.ndarray, placement: Placement) -> float | None:
    """Smallest gap over closing speed while the hazard is in the ego's track ahead."""
    closing = v - placement.vx
    on_course = (beside[:, 1] < 0) & (closing > 0.1) & np.isfinite(beside[:, 0])
    if not on_course.any():
        return None
    return float((np.maximum(beside[on_course, 0], 0.0) / closing[on_course]).min())


def _gap(pose: np.ndarray, centre: np.ndarray, placement: Placement) -> float:
    """m between the two boxes, 0 when they overlap."""
    ego = _box(float(pose[0]), float(pose[1]), float(pose[2]), (-REAR_M, FRONT_M), HALF_WIDTH_M)
    other = _hazard_box(centre, placement)
    if _overlap(ego, other):
        return 0.0
    return float(min(_corners_to_edges(ego, other), _corners_to_edges(other, ego)))


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Separating axes of two rectangles."""
    for axis in (a[1] - a[0], a[2] - a[1], b[1] - b[0], b[2] - b[1]):
        p, q = a @ axis, b @ axis
        if p.max() < q.min() or q.max() < p.min():
            return False
    return True


def _corners_to_edges(points: np.ndarray, box: np.ndarray) -> float:
    start, edge = box[None], np.roll(box, -1, axis=0)[None] - box[None]
    offset = points[:, None] - start
    along = np.clip((offset * edge).sum(-1) / (edge**2).sum(-1), 0.0, 1.0)
    return float(np.linalg.norm(offset - along[..., None] * edge, axis=-1).min())
