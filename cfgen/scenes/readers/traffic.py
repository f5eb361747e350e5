"""Rigid transforms as data sets write them down, and the vehicles that they annotate as a scene tells of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from cfgen.geometry.camera import as_matrix
from cfgen.geometry.frames import interpolate
from cfgen.geometry.lens import Array
from cfgen.records import Camera
from cfgen.scenes.drive import flatten, raised


def from_quaternion(wxyz: ArrayLike, translation: ArrayLike) -> Array:
    """(N, 4, 4) of quaternions (N, 4), scalar first, and translations (N, 3); or (4, 4) of one of each."""
    wxyz, translation = np.asarray(wxyz, float), np.asarray(translation, float)
    if not wxyz.size:
        return np.zeros((0, 4, 4))  # SciPy before 1.16 refuses none
    out = np.zeros((*wxyz.shape[:-1], 4, 4))
    out[..., :3, :3] = Rotation.from_quat(wxyz[..., [1, 2, 3, 0]]).as_matrix()
    out[..., :3, 3] = translation
    out[..., 3, 3] = 1
    return out


def from_rotation(rotation: ArrayLike, translation: ArrayLike) -> Array:
    """(4, 4) of a rotation (3, 3) and a translation (3,)."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = (
        np.asarray(rotation, float).reshape(3, 3),
        np.asarray(translation, float).reshape(3),
    )
    return out


def axes(names: str) -> Array:
    """(4, 4) of a rotation (or mirror): each new axis by the old one that it is, such as "-y -z x"."""
    rows = [np.eye(3)["xyz".index(name[-1])] * (-1 if name[0] == "-" else 1) for name in names.split()]
    return from_rotation(rows, np.zeros(3))


def headed(middle: ArrayLike, yaw: ArrayLike) -> Array:
    """(N, 4, 4) of places (N, 3) and angles (N,), rad, about z."""
    yaw, middle = np.asarray(yaw, float), np.asarray(middle, float).reshape(-1, 3)
    out = np.tile(np.eye(4), (len(middle), 1, 1))
    out[:, 0, 0], out[:, 0, 1], out[:, 1, 0], out[:, 1, 1] = (
        np.cos(yaw),
        -np.sin(yaw),
        np.sin(yaw),
        np.cos(yaw),
    )
    out[:, :3, 3] = middle
    return out


def lowered(by_m: float) -> Array:
    """(4, 4) vehicle from ego: the ego origin on the ground, ``by_m`` below the vehicle's own origin."""
    return from_rotation(np.eye(3), (0.0, 0.0, -by_m))


def camera_matrix(camera_from_ego: ArrayLike) -> tuple[tuple[float, float, float, float], ...]:
    """T_cam_ego with the rounding of the source's digits taken out: the nearest rotation, by SVD."""
    matrix = np.asarray(camera_from_ego, float)
    u, _, vt = np.linalg.svd(matrix[:3, :3])
    return as_matrix(u @ vt, matrix[:3, 3])


def calibrated(
    name: str,
    size: tuple[int, int],
    k: Array,
    camera_from_ego: ArrayLike,
    model: Literal["pinhole", "opencv", "fisheye"] = "pinhole",
    distortion: Iterable[float] = (),
) -> Camera:
    """A camera of width and height ``size``, px, a matrix ``k`` (3, 3) or (3, 4), and T_cam_ego (4, 4)."""
    return Camera(
        name=name,
        model=model,
        width=int(size[0]),
        height=int(size[1]),
        fx=k[0, 0],
        fy=k[1, 1],
        cx=k[0, 2],
        cy=k[1, 2],
        distortion=tuple(float(each) for each in distortion),
        T_cam_ego=camera_matrix(camera_from_ego),
    )


# --- annotated vehicles (``traffic`` in scene.json) ---

#: Vehicles that come so near to the car, m.
_REACH_M = 120.0
#: So much higher or lower than the road under the car, m, and for each metre away, is another road.
_OFF_M, _SLOPE = 3.0, 0.05
#: Data sets annotate every 0.5 s at least; with some room, s.
_STEP_S = 0.6
#: Frames may be that much older than the motion, s.
_BEYOND_S = 0.25
#: What moves less than this, m, stands: boxes tremble.
_STILL_M = 0.3
#: Least and most length, width and height, m: simulators give bicycles no width.
_LEAST, _MOST = 0.3, (60.0, 6.0, 6.0)
#: m/s, beyond which an identity has jumped.
_FASTEST = 70.0
#: What a reader says of damaged annotations.
ADVICE = "get it again, or take it away to import without traffic"
MAP_ADVICE = "get it again, or take it away to import without a map"


@dataclass(frozen=True)
class Vehicles:
    """The boxes around the vehicles of a drive, one a row, in any order.

    Attributes:
        ids, kinds: which vehicle, and what it is. t: (N,) s on the drive's clock.
        middle, forward: (N, 3) the middle of the box, m, and the direction along it, in the drive's world frame.
        size: (N, 3) length, width and height, m.
        sweeps: times at which somebody annotated, whether or not a vehicle was there.
        ego: times (T,) and poses (T, 4, 4) of the drive.
    """

    ids: Sequence[Any]
    kinds: Sequence[str]
    t: Array
    middle: Array
    forward: Array
    size: Array
    sweeps: Array
    ego: tuple[Array, Array]

    @classmethod
    def of(
        cls,
        ids: Sequence[Any],
        kinds: Sequence[str],
        t: ArrayLike,
        poses: Array,
        size: ArrayLike,
        sweeps: ArrayLike,
        ego: tuple[Array, Array],
    ) -> Self:
        """The same with poses (N, 4, 4) world from box.

        Raises:
            ValueError: columns that differ in length, or values that are not finite.
        """
        times, sizes, annotated = (np.asarray(values, float) for values in (t, size, sweeps))
        middle, forward, sizes = poses[:, :3, 3], poses[:, :3, 0], sizes.reshape(-1, 3)
        shapes = [column.shape for column in (times, middle, forward, sizes)]
        if len(kinds) != len(ids) or shapes != [(len(ids),), *[(len(ids), 3)] * 3]:
            raise ValueError(f"columns that differ in length: {len(ids)}, {len(kinds)}, {shapes}")
        for values in (times, middle, forward, sizes, annotated):
            odd = np.argwhere(~np.isfinite(values))
            if len(odd):
                raise ValueError(f"{values[tuple(odd[0])]} in row {odd[0][0]}")
        return cls(ids, kinds, times, middle, forward, sizes, annotated, ego)

    @cached_property
    def _order(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The rows by vehicle and time, each time once, and the numbers of their vehicles."""
        numbers = np.unique(np.array([str(identity) for identity in self.ids]), return_inverse=True)[1]
        order = np.lexsort((self.t, numbers))
        key = np.column_stack([numbers, self.t])[order]
        order = order[np.append(True, (key[1:] != key[:-1]).any(axis=1))[: len(order)]]
        return order, numbers[order]

    def __call__(self, t0: float, times: Sequence[float]) -> list[dict[str, Any]] | None:
        """The vehicles near the car at ``t0``, s, and where they were at ``times``, s relative to it, which rise to 0,
        in the ego frame at t0; None where nobody annotated."""
        since = max(t0 + times[0], float(self.ego[0][0]))
        first, last = since - _STEP_S, t0 + _STEP_S
        annotated = np.sort(self.sweeps[(self.sweeps >= first) & (self.sweeps <= last)])
        if np.diff([first, *annotated, last]).max() > 2 * _STEP_S:
            return None
        order, numbers = self._order
        t = self.t[order] - t0
        current = (t >= times[0] - _STEP_S) & (t <= _STEP_S)
        rows, numbers, t = order[current], numbers[current], t[current]
        seen_from = np.linalg.inv(ego_at(*self.ego, t0))
        middle = self.middle[rows] @ seen_from[:3, :3].T + seen_from[:3, 3]
        forward = self.forward[rows] @ seen_from[:3, :3].T
        away = np.hypot(middle[:, 0], middle[:, 1])
        foot = middle[:, 2] - self.size[rows, 2] / 2
        nearby = np.flatnonzero((away <= _REACH_M) & ~off_the_road(foot, away))
        flat = np.column_stack([middle[:, :2], np.arctan2(forward[:, 1], forward[:, 0])])
        each = np.split(nearby, np.flatnonzero(np.diff(numbers[nearby])) + 1) if len(nearby) else []
        return [
            {"kind": str(self.kinds[rows[vehicle[-1]]])}
            | _driven(t[vehicle], flat[vehicle], np.array([times[0] - _BEYOND_S, *times[:-1], 0.0]))
            | _sized(self.size[rows[vehicle]])
            for vehicle in each
        ]


def off_the_road(height: Array, away: Array) -> NDArray[np.bool_]:
    """(N,) bool: what is on a road above or below: at ``height``, m, over that under the car, ``away`` m from it."""
    return np.abs(height) > _OFF_M + _SLOPE * away


def ego_at(t: Array, poses: Array, t0: float) -> Array:
    """(4, 4) world from the ego frame at ``t0``, as a scene that is cut there has it."""
    nearest = int(np.abs(t - t0).argmin())
    near = slice(max(nearest - 3, 0), nearest + 4)
    flat = flatten(poses[near], nearest - near.start)
    current: Array = poses[nearest] @ raised(interpolate(t[near], flat, [t0]))[0]
    return current


def _driven(t: Array, flat: Array, times: Array) -> dict[str, Any]:
    """Where a vehicle is at 0 s and was at ``times``, and its speed, by its boxes (N, 3) at ``t`` (N,), s.

    Before and after these it drives straight on.
    """
    flat[:, 2] = np.unwrap(flat[:, 2])
    flat[:, 2] -= 2 * np.pi * np.round(flat[-1, 2] / (2 * np.pi))
    still = bool(np.ptp(flat[:, :2], axis=0).max() < _STILL_M)
    ends = (times[0] - 2 * _STEP_S, 2 * _STEP_S)
    before, after = (_straight_on(t, flat, side, at) for side, at in zip((0, -1), ends, strict=True))
    t, flat = np.array([ends[0], *t, ends[1]]), np.vstack([before, flat, after])
    samples = np.array([-_STEP_S / 2, *times, _STEP_S / 2])
    back, *way, current, front = np.column_stack([np.interp(samples, t, column) for column in flat.T])
    x, y, theta = _rounded(current)
    fields: dict[str, Any] = {"x": x, "y": y, "theta": theta, "v": 0.0}
    if not still:
        v = min(float(np.hypot(*(front - back)[:2])) / _STEP_S, _FASTEST)
        track = [[round(float(at), 4), *_rounded(pose)] for at, pose in zip(times[:-1], way, strict=True)]
        fields |= {"v": round(v, 3), "track": _since_it_leapt([*track, [0.0, x, y, theta]])}
    return fields


def _since_it_leapt(rows: list[list[float]]) -> list[list[float]]:
    """The rows (t, x, y, theta) but the last, those before an identity jumped left out."""
    for i in reversed(range(len(rows) - 1)):
        (t, x, y, _), (u, a, b, _) = rows[i : i + 2]
        if np.hypot(a - x, b - y) > _FASTEST * (u - t) + _STILL_M:
            return rows[i + 1 : -1]
    return rows[:-1]


def _straight_on(t: Array, flat: Array, side: int, at: float) -> Array:
    """(3,) where it is at ``at``, s, outside of ``t``, by its first or last half second."""
    if len(t) == 1:
        return flat[0]
    away = np.abs(t - t[side])
    neighbour = np.flatnonzero(away <= max(_STEP_S, away[away > 0].min()))[-1 - side]
    velocity = (flat[neighbour, :2] - flat[side, :2]) / (t[neighbour] - t[side])
    velocity *= min(1.0, _FASTEST / max(float(np.hypot(*velocity)), 1e-9))
    return np.append(flat[side, :2] + velocity * (at - t[side]), flat[side, 2])


def _sized(sizes: Array) -> dict[str, float]:
    size = np.clip(np.median(sizes, axis=0), _LEAST, _MOST)
    return dict(zip(("length_m", "width_m", "height_m"), np.round(size, 3).tolist(), strict=True))


def _rounded(pose: Array) -> list[float]:
    x, y, theta = (np.round(pose, 3) + 0.0).tolist()
    return [x, y, theta]
