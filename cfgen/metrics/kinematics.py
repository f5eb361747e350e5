"""What a plan does about a hazard when a car drives it: how near it comes, when, and how hard it brakes.

The ego is a box around its rear axle, the hazard a box that moves with its own velocity; both in the ego frame at t0.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from cfgen.geometry.frames import interpolate
from cfgen.geometry.path import travelled
from cfgen.geometry.trajectory import speeds
from cfgen.records import PLAN_DT, Case, Motion, Placement

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
    ego, corners = _EGO[None], _seen_from_ego(track, placement)
    start, end = corners[:-1], corners[1:]
    ways = np.stack([start, end], axis=2)  # (T - 1, corner, from and to, 2)
    sides = np.concatenate([_sides(start), _sides(end), ways], axis=1)
    own = np.broadcast_to(_sides(ego), (len(start), 4, 2, 2))
    if _touch(ego, np.concatenate([start, end], axis=1), np.concatenate([own, sides], axis=1)):
        return 0.0
    return float(min(_corners_to_sides(ego, sides), _corners_to_sides(corners, _sides(ego))))


def beside(track: Track, placement: Placement) -> tuple[np.ndarray, np.ndarray]:
    """(T,) m ahead of the ego's nose to the hazard's near end and (T,) m between their sides, in the ego's axes.

    The first is 0 or less while the ego is alongside, and infinite once it has passed.
    """
    forward, lateral = np.moveaxis(_seen_from_ego(track, placement), -1, 0)
    room = np.maximum(lateral.min(axis=1), -lateral.max(axis=1)) - HALF_WIDTH_M
    return np.where(forward.max(axis=1) < -REAR_M, np.inf, forward.min(axis=1) - FRONT_M), room


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


# --- kinematics --------------------------------------------------------------------------------
# What a plan does about a hazard, measured from the trajectory itself.
#
# Give it drives (:func:`cfgen.geometry.driving.drive`), not plans as they were drawn: a plan can do what no car can. A
# plan (N, 3) ends at its own horizon, N steps of 0.25 s; nothing is known, and nothing is measured, beyond it.

#: Limits of a ride that passengers call comfortable, as in nuPlan and NAVSIM: m/s^2, m/s^2, m/s^3.
COMFORT_DECEL, COMFORT_LATERAL, COMFORT_JERK = 4.0, 4.9, 8.4
#: Standing still, m/s.
STOPPED = 0.5
#: A response is holding back this far, m, or leaving this much more room, m, than the original plan.
HELD_BACK_M, MORE_ROOM_M = 2.0, 0.5
#: Steps of a plan, a second, in which holding back can show at the earliest.
_EARLIEST = 4


@dataclass(frozen=True, slots=True)
class Encounter:
    """One plan against one hazard over the plan's own horizon.

    Attributes:
        min_gap_m: smallest distance between the two boxes at any time; 0 when they touch.
        ttc_s: smallest time to contact if both kept their velocities; None when they are never on course for it, 0
            when they touch.
        required_decel: constant deceleration from t0 that stops short of it, m/s^2, as placed.
        planned_decel: hardest deceleration in the plan, m/s^2.
        stops_short: it comes to a stand before the hazard without touching it.
        lateral_clearance_m: room between the sides while the ego passes; negative is contact, None when it never does.
        comfortable: within the limits above. jerk: the largest, m/s^3. lateral_accel: the largest, m/s^2.
        horizon_s: how long the plan is.
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
    horizon_s: float

    @property
    def collides(self) -> bool:
        return self.min_gap_m == 0.0


def encounter(plan: np.ndarray, placement: Placement) -> Encounter:
    """Measure ``plan`` (N, 3), m and rad in the ego frame at t0, against a hazard."""
    track, v = Track.of(plan), speeds(plan)
    gap, (forward, room) = smallest_gap(track, placement), beside(track, placement)
    accel = np.gradient(v, PLAN_DT)
    jerk = float(np.abs(np.gradient(accel, PLAN_DT)).max())
    heading = np.unwrap(np.append(0.0, plan[:, 2]))
    lateral = float(np.abs(v * np.gradient(heading, PLAN_DT)).max())
    passing = forward <= 0
    return Encounter(
        min_gap_m=gap,
        ttc_s=0.0 if gap == 0 else _time_to_contact(forward, room, v, track, placement),
        required_decel=placement.required_decel,
        planned_decel=hardest_braking(v),
        stops_short=bool(v[-1] < STOPPED and not passing.any() and gap > 0),
        lateral_clearance_m=float(room[passing].min()) if passing.any() else None,
        lateral_accel=lateral,
        jerk=jerk,
        comfortable=bool(
            -accel.min() <= COMFORT_DECEL and lateral <= COMFORT_LATERAL and jerk <= COMFORT_JERK
        ),
        horizon_s=PLAN_DT * len(plan),
    )


def hardest_braking(v: np.ndarray) -> float:
    """m/s^2, of speeds (N,) a plan's step apart; 0 where it never slows."""
    return float(max(-np.gradient(v, PLAN_DT).min(), 0.0))


def reached_after_s(placement: Placement, speed: float) -> float:
    """When a car that keeps ``speed``, m/s, comes to the hazard, s after t0; infinite when it never does.

    Along the way to it, with the part of the hazard's own speed that points ahead.
    """
    room = placement.distance_m - placement.size.length / 2 - FRONT_M
    closing = speed - placement.vx
    if room <= 0:
        return 0.0
    return room / closing if closing > 0 else np.inf


def responds(original: np.ndarray, modified: np.ndarray, placement: Placement) -> bool:
    """Whether the modified plan reacts to what stands at ``placement``: the event that needs no judge.

    It is held back against the original by the time the original gets there (or at the end of the shorter plan), or it
    leaves more room. The same question can be asked of every control arm, where nothing stands there.
    """
    n = min(len(original), len(modified))
    tracks = [Track.of(plan[:n]) for plan in (original, modified)]
    (forward, room), (ahead_now, room_now) = (beside(track, placement) for track in tracks)
    passing, passing_now = forward <= 0, ahead_now <= 0
    until = n
    if passing.any():
        first = tracks[0].t[passing.argmax()]
        until = min(n, max(_EARLIEST, int(np.ceil(first / PLAN_DT - 1e-9))))
    a, b = (travelled(plan)[until] for plan in (original, modified))
    if a - b >= max(HELD_BACK_M, 0.1 * a):
        return True
    if not passing.any() or not passing_now.any():
        return False
    return bool(room_now[passing_now].min() - room[passing].min() >= MORE_ROOM_M)


def displacement_errors(plan: np.ndarray, logged: Motion) -> tuple[float, float] | None:
    """ADE (Eq. 8 without its sign) and FDE over the plan's horizon, m, against the recorded future.

    None where that is too short.
    """
    t = PLAN_DT * np.arange(1, len(plan) + 1)
    if not logged.t or logged.t[-1] < t[-1] - 1e-6:
        return None
    times, poses = np.array([0.0, *logged.t]), np.array([(0.0, 0.0, 0.0), *logged.poses])
    error = np.linalg.norm(plan[:, :2] - interpolate(times, poses, t)[:, :2], axis=1)
    return float(error.mean()), float(error[-1])


def _time_to_contact(
    forward: np.ndarray, room: np.ndarray, v: np.ndarray, track: Track, placement: Placement
) -> float | None:
    """Smallest gap over closing speed, in the ego's axes, while the hazard is in the ego's track ahead."""
    v = np.interp(track.t, PLAN_DT * np.arange(len(v)), v)
    heading = track.poses[:, 2]
    closing = v - (np.cos(heading) * placement.vx + np.sin(heading) * placement.vy)
    on_course = (room < 0) & (closing > 0.1) & np.isfinite(forward)
    if not on_course.any():
        return None
    return float((np.maximum(forward[on_course], 0.0) / closing[on_course]).min())


# --- plans -------------------------------------------------------------------------------------
# The metrics that ship: what the modified plan does when it is driven, by itself and against the original.


def smallest_gap_m(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """Smallest distance between the car and what stands there, to the plan's end."""
    return smallest_gap(Track.of(modified), placement)


def hardest_braking_ms2(
    original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case
) -> float:
    """Hardest deceleration in the modified plan."""
    return hardest_braking(speeds(modified))


def speed_change_ms(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """Speed at the end (6 s, or the shorter plan's), modified minus original: below 0 is slower."""
    n = min(len(original), len(modified))
    return float(speeds(modified)[n] - speeds(original)[n])


def held_back_m(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """Way driven in 6 s, or until the shorter plan ends, original minus modified."""
    n = min(len(original), len(modified))
    return float(travelled(original)[n] - travelled(modified)[n])
