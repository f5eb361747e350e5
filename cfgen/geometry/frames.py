"""Poses on the ground plane: SE(2) helpers and interpolation of recorded motion.

A pose is (x, y, theta), m and rad. Arrays of poses have shape (..., 3).
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from cfgen.core.errors import InputError
from cfgen.geometry.camera import at_pose
from cfgen.geometry.lens import Array
from cfgen.records import Camera, Motion, Scene

#: How far outside its samples a motion may be asked for, s: the slack between a camera's clock and the log's.
MAX_EXTRAPOLATION_S = 0.5


def compose(a: ArrayLike, b: ArrayLike) -> Array:
    """Pose b, given in the frame of pose a, in the frame that a is given in."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    return np.stack(
        [
            a[..., 0] + c * b[..., 0] - s * b[..., 1],
            a[..., 1] + s * b[..., 0] + c * b[..., 1],
            a[..., 2] + b[..., 2],
        ],
        axis=-1,
    )


def relative(a: ArrayLike, b: ArrayLike) -> Array:
    """Pose b seen from pose a, both given in one frame. The angle is not wrapped."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    dx, dy = b[..., 0] - a[..., 0], b[..., 1] - a[..., 1]
    return np.stack([c * dx + s * dy, -s * dx + c * dy, b[..., 2] - a[..., 2]], axis=-1)


def along_arc(a: ArrayLike, b: ArrayLike, fraction: ArrayLike) -> Array:
    """The pose after ``fraction`` of the constant twist (a circular arc, or a line) that leads from a to b.

    Exact when the motion from a to b has constant curvature; fractions beyond 1 continue it.
    """
    fraction = np.asarray(fraction, float)
    step = relative(a, b)
    turn = step[..., 2]
    half = turn / 2
    with np.errstate(all="ignore"):
        cot = np.where(np.abs(half) < 1e-6, 1 - half**2 / 3, half / np.tan(half))
    forward = cot * step[..., 0] + half * step[..., 1]
    lateral = cot * step[..., 1] - half * step[..., 0]
    angle = turn * fraction
    sinc = np.sinc(angle / np.pi)
    cosc = np.sinc(angle / (2 * np.pi)) * np.sin(angle / 2)  # (1 - cos a) / a without 0/0
    local = np.stack(
        [
            fraction * (sinc * forward - cosc * lateral),
            fraction * (cosc * forward + sinc * lateral),
            angle,
        ],
        axis=-1,
    )
    return compose(a, local)


def interpolate(t: ArrayLike, poses: ArrayLike, at: ArrayLike) -> Array:
    """Poses (N, 3) at times ``at`` (N,) from samples ``poses`` (T, 3) at strictly increasing ``t`` (T,).

    Between samples the pose follows a constant-curvature arc; how far along it, a monotone cubic of the travelled
    distance tells, so that speed changes smoothly. Times outside the samples continue the first or last arc at its
    mean speed. A single sample stands still.
    """
    t, at = np.asarray(t, float), np.asarray(at, float).reshape(-1)
    poses = np.array(poses, float)
    poses[:, 2] = np.unwrap(poses[:, 2])
    if len(t) == 1:
        return np.repeat(poses, len(at), axis=0)
    index = np.clip(np.searchsorted(t, at, side="right") - 1, 0, len(t) - 2)
    fraction = (at - t[index]) / (t[index + 1] - t[index])
    step = np.diff(poses, axis=0)
    bend = np.sinc(np.clip(step[:, 2], -np.pi, np.pi) / (2 * np.pi))  # chord over arc
    travelled = np.concatenate([[0.0], np.cumsum(np.hypot(step[:, 0], step[:, 1]) / bend)])
    length = np.diff(travelled)[index]
    smooth = (at >= t[0]) & (at <= t[-1]) & (length > 1e-6)
    if len(t) > 2 and smooth.any():
        from scipy.interpolate import PchipInterpolator  # slow to import

        s = PchipInterpolator(t, travelled)(at[smooth])
        fraction[smooth] = (s - travelled[index[smooth]]) / length[smooth]
    return along_arc(poses[index], poses[index + 1], fraction)


def camera_at(scene: Scene, name: str, t: float) -> Camera:
    """A camera of the scene at ``t``, s relative to t0, for points of the ego frame at t0; the front one as its own
    frame shows it where that is known."""
    camera = scene.camera(name)
    if name == scene.front.name:
        camera = scene.seen_cameras.get(t, camera)
    return at_pose(camera, tuple(pose_at(scene.history, t))) if t else camera


def pose_at(motion: Motion, t: float) -> Array:
    """Pose (3,) in the ego frame at t0 of the car at time ``t``, s relative to t0.

    Raises:
        InputError: more than MAX_EXTRAPOLATION_S outside the recorded times.
    """
    first, last = motion.t[0], motion.t[-1]
    if not first - MAX_EXTRAPOLATION_S <= t <= last + MAX_EXTRAPOLATION_S:
        raise InputError(
            f"motion: a pose at t = {t:g} s was asked for, but the samples cover {first:g} to {last:g} s; "
            "give a longer history or future, or leave out the frame at that time"
        )
    return np.array(_pose_at(motion.t, motion.poses, t))


@lru_cache(maxsize=1024)
def _pose_at(times: tuple[float, ...], poses: tuple[tuple[float, ...], ...], t: float) -> tuple[float, ...]:
    return tuple(interpolate(times, poses, [t])[0].tolist())


def whole_motion(scene: Scene) -> Motion:
    """History and future as one motion."""
    if scene.future is None:
        return scene.history
    return Motion(
        t=scene.history.t + scene.future.t,
        poses=scene.history.poses + scene.future.poses,
        v=scene.history.v + scene.future.v,
    )
