"""A recorded drive as every reader gives it, and the scenes that are cut out of it."""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError
from cfgen.geometry.frames import compose, interpolate, relative
from cfgen.perception.camera import GUESS, TOLD
from cfgen.perception.ego_motion import SURE
from cfgen.perception.light import PLACE_KEYS
from cfgen.records import Camera, Frame, Motion, Scene
from cfgen.scenes.folder import Image

HISTORY_S, FUTURE_S, STEP_S = 2.0, 6.0, 0.25
#: Times of the frames that are taken along by default, s relative to t0.
FRAME_TIMES = tuple((-np.arange(0.0, HISTORY_S + 1e-6, STEP_S)).tolist())
#: A frame counts for a time when it is at most this much older, s.
_FRESH_S = 0.15
#: A longer gap between satellite fixes in a scene's past or at its t0 does not tell its motion, s.
_BLIND_S = 2.0

#: Speeds of poses are fitted over so many points, so far apart, s.
_FIT_POINTS, _FIT_STEP_S = 7, 0.05

#: key of a scene's ``extra``: its one picture stands for every frame that a planner wants
STILL = "still"
#: key of what tells how its motion was measured
MEASURED = "motion_from"

Array = NDArray[np.float64]
#: pixels, an encoded JPEG or PNG, or a file to copy byte by byte
Picture = Image | bytes | Path


class Cuttable(Protocol):
    """A scene that can be made."""

    @property
    def scene_id(self) -> str: ...

    def cut(self, frame_times: Sequence[float]) -> tuple[Scene, Mapping[str, Picture]]:
        """The scene and its images at the times asked for (s relative to t0) or before.

        Both as :func:`cfgen.scenes.folder.write_scene` takes them.

        Raises:
            InputError: an image or pose cannot be read; names the file.
        """
        ...


class Recording(Protocol):
    """Something that scenes can be cut from: usually a :class:`Drive`."""

    def moments(self, every_s: float) -> Sequence[Cuttable]: ...


@dataclass(frozen=True)
class Opener:
    """Opens a recording; ``name`` says which one in messages."""

    name: str
    open: Callable[[], Recording]

    def __call__(self) -> Recording:
        return self.open()


class Reader(Protocol):
    """Opened on a source; built-in and third-party ones alike. Options are its keyword arguments."""

    def recordings(self) -> Iterable[Callable[[], Recording]]:
        """One opener (an :class:`Opener`, or any function) per recording, in a fixed order.

        Opening is cheap: images are read when a scene is cut.

        Raises (also the openers):
            InputError: names the file, what was expected and found.
        """
        ...


@dataclass(frozen=True)
class Stream:
    """One camera's frames: ``times`` (F,) s, increasing, on the drive's clock; ``read`` gives the i-th image as pixels,
    as an encoded JPEG or PNG, or as a file to copy byte by byte."""

    camera: Camera
    times: Array
    read: Callable[[int], Picture]


@dataclass(frozen=True)
class Place:
    """Where on earth a drive is, and unit vectors (3,) to the east and north in its world frame."""

    latitude_deg: float
    longitude_deg: float
    east: tuple[float, float, float] = (1.0, 0.0, 0.0)
    north: tuple[float, float, float] = (0.0, 1.0, 0.0)

    def keys(self, pose: Array) -> dict[str, float]:
        """A scene's keys of time and place, for the pose (4, 4) world from ego at t0."""
        heading = math.degrees(math.atan2(pose[:3, 0] @ self.east, pose[:3, 0] @ self.north)) % 360
        values = (self.latitude_deg, self.longitude_deg, heading)
        return {key: round(float(value), 4) for key, value in zip(PLACE_KEYS, values, strict=True)}


@dataclass(frozen=True)
class Drive:
    """A stretch of driving on one clock.

    Attributes:
        name: unique within the source. streams: front camera first.
        t: (T,) s, increasing. poses: (T, 4, 4) world from ego (x forward, y left, z up, origin on the ground), in any
            world frame. v: (T,) m/s.
        epoch: seconds to add to ``t`` for UTC since 1970; None when unknown.
        place: None when unknown. With ``epoch`` it tells where the sun stands.
        motion_known: False when poses or speeds are guesses.
        fit: (T,) 0..1, of motion that was measured in the frames: how well they bear it out; else None.
        fixes: times of the satellite fixes that it follows from, where it does.
    """

    name: str
    source: str
    license: str
    streams: tuple[Stream, ...]
    t: Array
    poses: Array
    v: Array
    epoch: float | None = None
    place: Place | None = None
    motion_known: bool = True
    fit: Array | None = None
    fixes: Array | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    #: what its reader left out of it, in words; an import ends with it
    note: str = ""
    #: tells the vehicles near the car, for t0 and a scene's times of motion; None of a moment that nobody annotated
    traffic: Callable[[float, Sequence[float]], list[dict[str, Any]] | None] | None = None
    #: tells ``drivable``, ``crossings`` and ``lanes`` near the car, for t0
    road: Callable[[float], dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        """Refuses a log that no scene can be cut from.

        Raises:
            InputError: lengths that differ, values that are not finite, or times that go back.
        """
        if not len(self.t) == len(self.poses) == len(self.v) or not len(self.t):
            self._refuse("poses", f"as many times as poses and speeds, found {len(self.t)}, {len(self.poses)} "
                         f"and {len(self.v)}")  # fmt: skip
        for name, values in (("times", self.t), ("poses", self.poses), ("speeds", self.v)):
            odd = np.argwhere(~np.isfinite(values))
            if len(odd):
                self._refuse(name, f"finite numbers, found {values[tuple(odd[0])]} in row {odd[0][0]}")
        self._increasing("times of the poses", self.t, strictly=True)
        for stream in self.streams:
            self._increasing(f"times of camera '{stream.camera.name}'", stream.times, strictly=False)

    def _increasing(self, what: str, times: Array, strictly: bool) -> None:
        steps = np.diff(times)
        wrong = ~((steps > 0) if strictly else (steps >= 0))  # NaN is wrong too
        if wrong.any():
            row = int(wrong.argmax())
            self._refuse(what, f"times that increase, found {times[row]:.6f} s and then {times[row + 1]:.6f} s "
                         f"in rows {row} and {row + 1}")  # fmt: skip

    def _refuse(self, what: str, why: str) -> None:
        raise InputError(f"drive '{self.name}': {what}: expected {why}; get the log again or mend it")

    def moments(self, every_s: float, reach_s: float = HISTORY_S) -> list["Moment"]:
        """Front frames ``every_s`` apart that have 2 s of motion before and 6 s after them.

        Where frames further back are wanted (``reach_s``), they begin where the drive has these, if it is long enough.
        A drive too short for that gives its one best moment; what is missing is marked in the scene.
        """
        times = self.streams[0].times
        if not len(times):
            raise InputError(
                f"drive '{self.name}': its front camera has no frame; check the source's image folder"
            )
        first, last = self.t[0] + HISTORY_S, self.t[-1] - FUTURE_S
        if reach_s > HISTORY_S and first <= (further := max(first, times[0] + reach_s)) <= last:
            first = further
        chosen: list[Moment] = []
        due = -math.inf
        for i, time in enumerate(times):
            if first - 1e-3 <= time <= last + 1e-3 and time >= due - 1e-3:
                chosen.append(Moment(self, i))
                due = time + every_s
        if chosen:
            return chosen
        middle = min(max(first, times[0]), times[-1])
        return [Moment(self, int(np.abs(times - middle).argmin()))]


@dataclass(frozen=True)
class Moment:
    """A scene that can be cut: t0 is the time of the front camera's frame ``index``."""

    drive: Drive
    index: int

    @property
    def t0(self) -> float:
        return float(self.drive.streams[0].times[self.index])

    @property
    def scene_id(self) -> str:
        since = self.t0 - float(self.drive.streams[0].times[0])
        return f"{identifier(self.drive.name)}_{round(since * 1000):06d}"

    def cut(self, frame_times: Sequence[float] = FRAME_TIMES) -> tuple[Scene, dict[str, Picture]]:
        """The scene at this moment and its images: every camera's frames closest before each of ``frame_times``."""
        drive, t0 = self.drive, self.t0
        _refuse_blind(drive, t0)
        history, future, guessed = _motion(drive, t0, max(HISTORY_S, -min(frame_times, default=0.0)))
        frames: list[Frame] = []  # front camera first, t0 first and then back in time
        images: dict[str, Picture] = {}
        for stream in drive.streams:
            own: list[Frame] = []
            for index in sorted(
                _frame_indices(stream.times, t0, frame_times)
            ):  # forwards: videos are decoded that way
                dt = min(0.0, round(float(stream.times[index]) - t0, 4))
                image = stream.read(index)
                name = f"frames/{stream.camera.name}@{round(dt * 1000)}{_suffix(image)}"
                own.append(Frame(camera=stream.camera.name, t=dt, image=name))
                images[name] = image
            frames.extend(reversed(own))
        extra = dict(drive.extra) | ({"history_extrapolated": True} if guessed else {})
        if drive.place:
            extra |= drive.place.keys(drive.poses[int(np.abs(drive.t - t0).argmin())])
        if drive.traffic and (vehicles := drive.traffic(t0, history.t)) is not None:
            extra["traffic"] = vehicles
        if drive.road:
            extra |= drive.road(t0)
        scene = Scene(
            scene_id=self.scene_id,
            source=plain(drive.source),
            license=plain(drive.license),
            timestamp="" if drive.epoch is None else _utc(drive.epoch + t0),
            cameras=tuple(s.camera for s in drive.streams if any(f.camera == s.camera.name for f in frames)),
            frames=tuple(frames),
            history=history,
            future=future,
            motion_known=self._known(extra),
            extra=extra
            | {"drive": plain(drive.name), "t0_in_drive_s": round(t0 - float(drive.streams[0].times[0]), 4)},
        )
        return scene, images

    def _known(self, extra: dict[str, Any]) -> bool | Literal["estimated"]:
        """Whether the motion is known; of one that was measured in the frames, ``extra`` is told how well."""
        drive = self.drive
        if drive.fit is None:
            return drive.motion_known
        near = (drive.t >= self.t0 - HISTORY_S - 1e-3) & (drive.t <= self.t0 + 1e-3)
        fit = float(drive.fit[near].mean()) if near.any() else 0.0
        extra[MEASURED] = {"by": "pictures", "fit": round(fit, 3)}
        camera = extra.get(TOLD, {}).get("from", {})
        if camera.get("fov_deg") == GUESS:  # speeds are in proportion to the focal length
            extra[MEASURED]["lens"] = GUESS
            return False
        return "estimated" if fit >= SURE else False


def _refuse_blind(drive: Drive, t0: float) -> None:
    """
    Raises:
        InputError: its satellite fixes have a gap in the 2 s before ``t0``.
    """
    fixes = np.zeros(0) if drive.fixes is None else drive.fixes
    for last, following in itertools.pairwise(fixes.tolist()):
        if following - last > _BLIND_S + 0.05 and last < t0 - 1e-3 and following > t0 - HISTORY_S + 1e-3:
            raise InputError(
                f"drive '{drive.name}': expected GPS fixes {_BLIND_S:g} s apart or less before {t0:.1f} s, "
                f"found none from {last:.1f} to {following:.1f} s; give a fuller track, or --options gps=none"
            )


def identifier(name: str) -> str:
    """``name`` in the characters that an identifier may have."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name)[-100:].lstrip("-._").rstrip("-.") or "drive"


def plain(text: str) -> str:
    """A file name that is not UTF-8 made storable."""
    return text.encode("utf-8", "backslashreplace").decode()


def _suffix(image: Picture) -> str:
    if isinstance(image, Path):
        return image.suffix.lower()
    return ".png" if isinstance(image, bytes) and image.startswith(b"\x89PNG") else ".jpg"


def _frame_indices(times: Array, t0: float, offsets: Sequence[float]) -> list[int]:
    """Each frame once; the one at t0 always."""
    indices: list[int] = []
    for dt in {0.0, *offsets}:
        index = int(np.searchsorted(times, t0 + dt + 1e-4, side="right")) - 1
        if index >= 0 and times[index] >= t0 + dt - _FRESH_S and index not in indices:
            indices.append(index)
    return indices


def _motion(drive: Drive, t0: float, reach_s: float) -> tuple[Motion, Motion | None, bool]:
    """History and future in the ego frame at t0; whether part of the history is a guess at constant speed.

    Args:
        reach_s: how far back the history goes where the drive does; else it goes back ``HISTORY_S``.
    """
    near = np.flatnonzero((drive.t >= t0 - reach_s - 1.0) & (drive.t <= t0 + FUTURE_S + 1.0))
    if not len(near):
        raise InputError(
            f"drive '{drive.name}': no pose near its frame at {t0:.3f} s; poses cover {drive.t[0]:.3f} to "
            f"{drive.t[-1]:.3f} s: are both on one clock?"
        )
    t, v = drive.t[near], drive.v[near]
    flat = flatten(drive.poses[near], int(np.abs(t - t0).argmin()))
    flat = relative(interpolate(t, flat, [t0])[0], flat)
    speed = float(np.interp(t0, t, v))
    guessed = bool(t[0] > t0 - HISTORY_S + 0.05)
    if guessed:
        reach = t[0] - (t0 - HISTORY_S)
        t, v = np.append(t0 - HISTORY_S, t), np.append(v[0], v)
        flat = np.vstack([compose(flat[0], (-v[0] * reach, 0.0, 0.0)), flat])
    reach_s = max(HISTORY_S, STEP_S * math.floor(min(reach_s, t0 - t[0] + 0.05) / STEP_S))
    back = np.round(np.arange(-reach_s, 1e-9, STEP_S), 6)
    ahead = np.round(np.arange(STEP_S, FUTURE_S + 1e-9, STEP_S), 6)
    ahead = ahead[t0 + ahead <= t[-1] + 0.02]
    history = _sampled(t, flat, v, t0, back)
    history = history.model_copy(
        update={"poses": (*history.poses[:-1], (0.0, 0.0, 0.0)), "v": (*history.v[:-1], round(speed, 4))}
    )
    return history, _sampled(t, flat, v, t0, ahead) if len(ahead) else None, guessed


def _sampled(t: Array, flat: Array, v: Array, t0: float, at: Array) -> Motion:
    poses = np.round(interpolate(t, flat, t0 + at), 5) + 0.0
    speeds = np.round(np.interp(t0 + at, t, v), 4)
    return Motion(
        t=tuple(at.tolist()),
        poses=tuple((float(x), float(y), float(a)) for x, y, a in poses),
        v=tuple(speeds.tolist()),
    )


def flatten(poses: Array, reference: int) -> Array:
    """Poses (T, 4, 4) seen from one of them as x, y, theta (T, 3), theta unwrapped."""
    local = np.linalg.inv(poses[reference]) @ poses
    theta = np.unwrap(np.arctan2(local[:, 1, 0], local[:, 0, 0]))
    return np.column_stack([local[:, 0, 3], local[:, 1, 3], theta])


def raised(poses: Array) -> Array:
    """x, y, theta (T, 3) as (T, 4, 4): the opposite of :func:`flatten`."""
    out = np.tile(np.eye(4), (len(poses), 1, 1))
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    out[:, 0, 0], out[:, 0, 1], out[:, 1, 0], out[:, 1, 1] = c, -s, s, c
    out[:, :2, 3] = poses[:, :2]
    return out


def speeds_of(t: Array, poses: Array) -> Array:
    """Forward speed (T,) m/s of poses (T, 4, 4), by a parabola over 0.3 s of them at 20 Hz.

    Logs give poses whenever some sensor fired, as little as 1 ns apart: between neighbours their noise is all there is.
    Poses sparser than 10 Hz, and less than 0.3 s of them, are taken as they are, by central differences.
    """
    if len(t) < 2:
        return np.zeros(len(t))
    grid = np.arange(t[0], t[-1] + 1e-9, _FIT_STEP_S)
    if np.median(np.diff(t)) > 2 * _FIT_STEP_S or len(grid) < _FIT_POINTS:
        velocity = np.gradient(poses[:, :3, 3], t, axis=0)
    else:
        from scipy.signal import savgol_filter  # slow to import, and few readers need it

        even = np.column_stack([np.interp(grid, t, poses[:, axis, 3]) for axis in range(3)])
        fitted = savgol_filter(even, _FIT_POINTS, 2, deriv=1, delta=_FIT_STEP_S, axis=0)
        velocity = np.column_stack([np.interp(t, grid, fitted[:, axis]) for axis in range(3)])
    return np.einsum("ti,ti->t", velocity, poses[:, :3, 0])


def _utc(seconds: float) -> str:
    """Empty for what is no time of this era."""
    if not 0 <= seconds < 4e9:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
