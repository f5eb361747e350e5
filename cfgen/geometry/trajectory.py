"""Plans on the papers' grid: resampling, speeds, and what changed from one plan to another.

A plan is (24, 3) x, y, theta in the ego frame at t0, at 0.25, 0.50 ... 6.00 s, or its first N rows; the origin at t = 0
is implied.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter1d

from cfgen.core.errors import InputError
from cfgen.geometry.frames import along_arc, interpolate
from cfgen.geometry.lens import Array
from cfgen.records import PLAN_DT, PLAN_STEPS

#: A recorded drive that ends early is continued at constant speed and yaw rate for at most this long, s.
MAX_EXTENSION_S = 2.0

#: No plan leads farther than this, m: beyond it numbers overflow.
FARTHEST_M = 1e12

#: Standard deviation of the Gaussian that smooths speeds, s.
SPEED_SIGMA_S = 0.25


class Delta(NamedTuple):
    """Modified minus original at time ``t``, s: dx forward and dy left, m; dspeed, km/h."""

    t: float
    dx: float
    dy: float
    dspeed_kmh: float


def resample(
    t: ArrayLike,
    poses: ArrayLike,
    dt: float = PLAN_DT,
    n: int = PLAN_STEPS,
    max_extension_s: float = MAX_EXTENSION_S,
) -> Array:
    """A plan of any rate and horizon on the grid dt, 2 dt ... n dt: (n, 3).

    Args:
        t: (T,) s, strictly increasing, none negative. A sample at t = 0 must be the origin.
        poses: (T, 3) x, y, theta in the ego frame at t0; or (T, 2), then theta follows the path.
        max_extension_s: how far constant speed and yaw rate may continue a plan that ends early.

    Exact for motion at constant speed along lines and arcs, see :func:`cfgen.geometry.frames.interpolate`.

    Raises:
        InputError: shape, NaN or beyond FARTHEST_M, order of times, start away from the origin, or a horizon that is
            too short.
    """
    t, poses = _checked(t, poses)
    if t[0] <= 1e-6:
        if np.abs(poses[0, :2]).max() > 0.5:
            raise InputError(
                f"plan: the pose at t = 0 must be the ego origin (0, 0), found {poses[0, :2].tolist()}; "
                "give waypoints in the ego frame at t0"
            )
        t, poses = t[1:], poses[1:]
    t, poses = np.append(0.0, t), np.vstack([np.zeros(poses.shape[1]), poses])
    needed = n * dt
    if t[-1] < needed - max_extension_s - 1e-6:
        raise InputError(
            f"plan: the last waypoint is at {t[-1]:g} s; {needed:g} s are needed, and at most {max_extension_s:g} s "
            "are filled in at constant speed and yaw rate; let the planner plan further"
        )
    if poses.shape[1] == 2:
        poses = np.column_stack([poses, headings(poses)])
    if t[-1] < needed:
        t, poses = _extended(t, poses, needed)
    return interpolate(t, poses, dt * np.arange(1, n + 1))


def _extended(t: Array, poses: Array, until: float) -> tuple[Array, Array]:
    """One more sample at ``until``, by the mean twist of the last 0.5 s: a single step would carry its noise along."""
    start = max(t[0], t[-1] - 0.5)
    poses = np.column_stack([poses[:, :2], np.unwrap(poses[:, 2])])
    before = interpolate(t, poses, [start])[0]
    final = along_arc(before, poses[-1], (until - start) / (t[-1] - start))
    return np.append(t, until), np.vstack([poses, final])


def _checked(t: ArrayLike, poses: ArrayLike) -> tuple[Array, Array]:
    t, poses = np.asarray(t, float), np.asarray(poses, float)
    if poses.ndim != 2 or poses.shape[1] not in (2, 3) or t.shape != poses.shape[:1] or len(t) == 0:
        raise InputError(
            f"plan: expected times (T,) and poses (T, 2) or (T, 3) with T > 0, found {t.shape} and {poses.shape}"
        )
    if not (np.isfinite(t).all() and np.isfinite(poses).all()):
        bad = np.flatnonzero(~(np.isfinite(t) & np.isfinite(poses).all(axis=1)))[0]
        raise InputError(f"plan: waypoint {bad} is not finite: t = {t[bad]}, pose = {poses[bad].tolist()}")
    if np.abs(poses).max() > FARTHEST_M or t[-1] > FARTHEST_M:
        raise InputError(
            f"plan: expected metres, radians and seconds, found one beyond {FARTHEST_M:g}; check its units"
        )
    if t[0] < -1e-6 or (np.diff(t) <= 0).any():
        raise InputError("plan: times must increase strictly from t >= 0; sort them and drop repeats")
    if t[-1] <= 1e-6:
        raise InputError("plan: the only waypoint is at t = 0; give waypoints after t0")
    return t, poses


def headings(xy: ArrayLike) -> Array:
    """(T,) tangent of a path (T, 2) that starts at heading 0, by the mean of neighbouring chords, rad.

    Exact on arcs sampled evenly. Where the path stands still the heading stays as it was.
    """
    xy = np.asarray(xy, float)
    step = np.diff(xy, axis=0)
    chord = np.arctan2(step[:, 1], step[:, 0])
    moving = np.hypot(step[:, 0], step[:, 1]) > 1e-3
    last = 0.0
    for i in range(len(chord)):
        chord[i] = last = chord[i] if moving[i] else last
    chord = np.unwrap(chord)
    inner = (chord[1:] + chord[:-1]) / 2
    end = chord[-1] + (chord[-1] - chord[-2]) / 2 if len(chord) > 1 else 2 * chord[0]
    return np.concatenate([[0.0], inner, [end]])


def speeds(waypoints: ArrayLike, dt: float = PLAN_DT) -> Array:
    """Speed (N + 1,) m/s at 0, dt ... N dt of a plan (N, >= 2), starting at the origin.

    Second-order finite differences of the travelled distance (central inside, one-sided at the ends), then a
    Gaussian of SPEED_SIGMA_S. Beyond the ends the curve is continued by point reflection, so that constant speed and
    constant acceleration pass unchanged. Never negative.
    """
    waypoints = np.asarray(waypoints, float)
    xy = np.vstack([[0.0, 0.0], waypoints[:, :2]])
    travelled = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(xy, axis=0).T))])
    raw = np.gradient(travelled, dt, edge_order=2 if len(travelled) > 2 else 1)
    sigma = SPEED_SIGMA_S / dt
    pad = min(int(np.ceil(4 * sigma)), len(raw) - 1)
    padded = np.pad(raw, pad, mode="reflect", reflect_type="odd")
    smooth = gaussian_filter1d(padded, sigma, mode="nearest")[pad : len(padded) - pad]
    return np.maximum(smooth, 0.0)


def deltas(original: ArrayLike, modified: ArrayLike, dt: float = PLAN_DT) -> list[Delta]:
    """What changed, one row per whole second until the shorter of two plans (N, 3) on the same grid ends."""
    n = min(len(np.asarray(original)), len(np.asarray(modified)))
    original, modified = (np.asarray(plan, float)[:n] for plan in (original, modified))
    change = (speeds(modified, dt) - speeds(original, dt)) * 3.6
    shift = modified[:, :2] - original[:, :2]
    per_second = round(1 / dt)
    return [
        Delta((i + 1) * dt, float(shift[i, 0]), float(shift[i, 1]), float(change[i + 1]))
        for i in range(per_second - 1, len(shift), per_second)
    ]
