"""What a plan does about a hazard when a car drives it: how near it comes, when, and how hard it brakes.

The car is the simulated one of :mod:`cfgen.geometry.collision`, the hazard stands or moves as it was placed.
"""

from dataclasses import dataclass

import numpy as np

from cfgen.geometry.collision import FRONT_M, Footprint, Track, beside, passage
from cfgen.geometry.frames import interpolate
from cfgen.geometry.path import travelled
from cfgen.geometry.trajectory import speeds
from cfgen.records import PLAN_DT, Case, Motion, Placement

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
        impact_speed: m/s between the two when they touch; 0 when they never do. contact_s: when, s; None: never.
        ttc_s: smallest time to collision if both kept their velocities; None when they are never on course for it, 0
            when they touch.
        required_decel: constant deceleration from t0 that stops short of it, m/s^2, as placed.
        planned_decel: hardest deceleration in the plan, m/s^2.
        stops_short: it comes to a stand before the hazard without touching it.
        lateral_clearance_m: room between the sides while the ego passes; negative is contact, None when it never does.
        comfortable: within the limits above. jerk: the largest, m/s^3. lateral_accel: the largest, m/s^2.
        horizon_s: how long the plan is.
    """

    min_gap_m: float
    impact_speed: float
    contact_s: float | None
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
        return self.contact_s is not None


def encounter(plan: np.ndarray, placement: Placement) -> Encounter:
    """Measure ``plan`` (N, 3), m and rad in the ego frame at t0, against a hazard."""
    track, v, footprint = Track.of(plan), speeds(plan), Footprint.of(placement)
    met, (forward, room) = passage(track, footprint), beside(track, footprint)
    accel = np.gradient(v, PLAN_DT)
    jerk = float(np.abs(np.gradient(accel, PLAN_DT)).max())
    heading = np.unwrap(np.append(0.0, plan[:, 2]))
    lateral = float(np.abs(v * np.gradient(heading, PLAN_DT)).max())
    passing = forward <= 0
    return Encounter(
        min_gap_m=met.min_gap_m,
        impact_speed=met.impact_speed,
        contact_s=met.contact_s,
        ttc_s=met.ttc_s,
        required_decel=placement.required_decel,
        planned_decel=hardest_braking(v),
        stops_short=bool(v[-1] < STOPPED and not passing.any() and met.avoided),
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
    tracks, footprint = [Track.of(plan[:n]) for plan in (original, modified)], Footprint.of(placement)
    (forward, room), (ahead_now, room_now) = (beside(track, footprint) for track in tracks)
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


# --- plans -------------------------------------------------------------------------------------
# The metrics that ship: what the modified plan does when it is driven, by itself and against the original.


def smallest_gap_m(original: np.ndarray, modified: np.ndarray, placement: Placement, case: Case) -> float:
    """Smallest distance between the car and what stands there, to the plan's end."""
    return passage(Track.of(modified), Footprint.of(placement)).min_gap_m


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
