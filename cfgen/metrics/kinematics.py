"""What a plan does about a hazard, measured from the trajectory itself.

Give it drives (:func:`cfgen.geometry.driving.drive`), not plans as they were drawn: a plan can do what no car can. A
plan (N, 3) ends at its own horizon, N steps of 0.25 s; nothing is known, and nothing is measured, beyond it.
"""

from dataclasses import dataclass

import numpy as np

from cfgen.geometry.frames import interpolate
from cfgen.geometry.path import travelled
from cfgen.geometry.trajectory import speeds
from cfgen.metrics.clearance import FRONT_M, Track, beside, smallest_gap
from cfgen.records import PLAN_DT, Motion, Placement

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
    gap, (ahead, room) = smallest_gap(track, placement), beside(track, placement)
    accel = np.gradient(v, PLAN_DT)
    jerk = float(np.abs(np.gradient(accel, PLAN_DT)).max())
    heading = np.unwrap(np.append(0.0, plan[:, 2]))
    lateral = float(np.abs(v * np.gradient(heading, PLAN_DT)).max())
    passing = ahead <= 0
    return Encounter(
        min_gap_m=gap,
        ttc_s=0.0 if gap == 0 else _time_to_contact(ahead, room, v, track, placement),
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
    (ahead, room), (ahead_now, room_now) = (beside(track, placement) for track in tracks)
    passing, passing_now = ahead <= 0, ahead_now <= 0
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
    ahead: np.ndarray, room: np.ndarray, v: np.ndarray, track: Track, placement: Placement
) -> float | None:
    """Smallest gap over closing speed, in the ego's axes, while the hazard is in the ego's track ahead."""
    v = np.interp(track.t, PLAN_DT * np.arange(len(v)), v)
    heading = track.poses[:, 2]
    closing = v - (np.cos(heading) * placement.vx + np.sin(heading) * placement.vy)
    on_course = (room < 0) & (closing > 0.1) & np.isfinite(ahead)
    if not on_course.any():
        return None
    return float((np.maximum(ahead[on_course], 0.0) / closing[on_course]).min())
