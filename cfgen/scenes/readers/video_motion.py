"""How the car of a video moved: as the user says, as a file says, or as the frames show."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError, install_command
from cfgen.core.files import stand_in
from cfgen.perception.ego_motion import GAP_S, ego_motion
from cfgen.records import Camera
from cfgen.scenes.drive import Place
from cfgen.scenes.folder import Image
from cfgen.scenes.readers import gps as gps_tracks

Array = NDArray[np.float64]
_CSV_SPEEDS = {"speed": 1.0, "speed_mps": 1.0, "speed_kmh": 1 / 3.6}
#: What is taken where nothing moves that could be measured, m/s.
_USUAL_SPEED = 10.0
#: Receivers tell a fix a second: what they lack at either end of a video is told from here on, s.
_SHORT_S = 1.5


@dataclass(frozen=True)
class Motion:
    """t, v, yaw_rate (T,) s from the first frame, m/s, rad/s; ``fit`` as in :class:`cfgen.scenes.drive.Drive`."""

    t: Array
    v: Array
    yaw_rate: Array
    known: bool
    fit: Array | None = None
    place: Place | None = None
    epoch: float | None = None
    #: what measured it, for the scene
    told: str = ""
    #: times of the satellite fixes
    fixes: Array | None = None
    #: what of the video it does not cover, and what was left out of it, for who imports
    lacks: str = ""


def constant(times: Array, speed: float) -> Motion:
    """Straight on at one speed."""
    t = np.arange(times[0], times[-1] + 0.1, 0.1)
    return Motion(t, np.full(len(t), speed), np.zeros(len(t)), known=False)


def measured(camera: Camera, times: Array, read: Callable[[int], Image]) -> Motion:
    """In the frames themselves; ``read`` gives the i-th one. One that cannot be read, or is of another size, is left
    out."""

    def frames() -> Iterator[tuple[float, Image]]:
        due = -np.inf
        for i, t in enumerate(times.tolist()):
            if t < due - 1e-3:
                continue
            try:
                image = read(i)
            except InputError:
                continue
            if image.shape[:2] == (camera.height, camera.width):
                yield t, image
                due = t + GAP_S

    found = ego_motion(camera, frames())
    if found is None:
        return constant(times, _USUAL_SPEED)
    return Motion(found.t, found.v, found.yaw_rate, known=False, fit=found.fit)


def by_gps(video: Path, times: Array, gps: str, offset_s: float) -> Motion | None:
    """By the GPS in the video, or in a file beside it; None where there is none, or none is wanted.

    Args:
        gps: a file, "inside", "none", or "" for whatever there is. offset_s: added to its times.

    Raises:
        InputError: what was asked for is not there, or does not cover the video.
    """
    if gps == "none":
        return None
    track = gps_tracks.from_file(Path(gps)) if gps not in ("", "inside") else _found(video, gps)
    if track is None:
        return None
    start = None
    if track.absolute and video.is_file():
        try:
            start = gps_tracks.created(video)
        except ImportError:
            start = None
    track = gps_tracks.on_the_videos_clock(track, start, float(times[-1]), offset_s)
    track = gps_tracks.without_leaps(track)
    went = gps_tracks.driven(track)
    course = np.radians(went.course_deg)
    place = Place(
        went.latitude,
        went.longitude,
        (float(np.sin(course)), float(-np.cos(course)), 0.0),
        (float(np.cos(course)), float(np.sin(course)), 0.0),
    )
    lacks = _lacking(track, float(times[-1]))
    return Motion(went.t, went.v, went.yaw_rate, True, None, place, track.epoch, track.by, track.t, lacks)


def _lacking(track: gps_tracks.Track, length_s: float) -> str:
    first, last = float(track.t[0]), float(track.t[-1])
    short = first > _SHORT_S or last < length_s - _SHORT_S
    covers = f"{track.by}: covers {first:.1f} to {last:.1f} s of a video of {length_s:.1f} s; no scenes of the rest"
    return covers if short else track.by if ", without " in track.by else ""


def _found(video: Path, gps: str) -> gps_tracks.Track | None:
    if video.is_file():
        try:
            if track := gps_tracks.inside(video):
                return track
        except ImportError as error:
            if gps == "inside":
                raise InputError(
                    f"{video}: GPS inside videos needs {error.name}: {install_command('gps')}"
                ) from error
    if gps == "inside":
        raise InputError(
            f"{video}: no GPS was found inside; install ExifTool for cameras other than GoPro and BlackVue, or give a "
            "file with --options gps=FILE"
        )
    beside = [video.with_suffix(suffix) for s in gps_tracks.BESIDE for suffix in (s, s.upper())]
    return next((gps_tracks.from_file(path) for path in beside if path.is_file()), None)


def from_csv(path: Path, times: Array) -> Motion:
    """A file of speeds that covers the video.

    Raises:
        InputError: it does not, or cannot be read.
    """
    t, v, yaw_rate = read_speed_csv(path)
    if t[0] > times[0] + 0.5 or t[-1] < times[-1] - 0.5:
        raise InputError(
            f"{path}: expected speeds from {times[0]:g} to {times[-1]:g} s, the video's length, "
            f"found {t[0]:g} to {t[-1]:g} s; t counts from the first frame"
        )
    known = yaw_rate is not None
    return Motion(t, v, np.zeros(len(t)) if yaw_rate is None else yaw_rate, known)


def read_speed_csv(path: Path) -> tuple[Array, Array, Array | None]:
    """t (s), v (m/s) and yaw rate (rad/s, or None) of a CSV with a header.

    Raises:
        InputError: missing file or column, or a value that is not a number.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise InputError(f"{path}: cannot read the speeds ({error.strerror}); check the path") from error
    except (ValueError, csv.Error) as error:
        raise InputError(
            f"{path}: expected a CSV file in UTF-8, found {stand_in(path) or error}; export it again"
        ) from error
    columns = list(rows[0]) if rows else []
    speed = next((name for name in _CSV_SPEEDS if name in columns), None)
    if "t" not in columns or speed is None or len(rows) < 2:
        raise InputError(
            f"{path}: expected a header with t and one of {', '.join(_CSV_SPEEDS)}, and 2 rows or more, "
            f"found columns {columns} and {len(rows)} rows"
        )
    wanted = ["t", speed] + (["yaw_rate"] if "yaw_rate" in columns else [])
    try:
        values = np.array([[float(row[name]) for name in wanted] for row in rows])
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: expected numbers in {wanted}: {error}") from error
    if not np.isfinite(values).all() or (np.diff(values[:, 0]) <= 0).any():
        raise InputError(f"{path}: expected finite numbers and t that increases; sort the rows, drop repeats")
    return values[:, 0], values[:, 1] * _CSV_SPEEDS[speed], values[:, 2] if len(wanted) > 2 else None


def integrated(t: Array, v: Array, yaw_rate: Array) -> Array:
    """x, y, theta (T, 3) of a car with speeds ``v`` and yaw rates (T,), from the origin; trapezoids."""
    dt = np.diff(t)
    theta = np.concatenate([[0.0], np.cumsum((yaw_rate[1:] + yaw_rate[:-1]) / 2 * dt)])
    mid = (theta[1:] + theta[:-1]) / 2
    chord = (v[1:] + v[:-1]) / 2 * dt * np.sinc(np.diff(theta) / 2 / np.pi)
    x = np.concatenate([[0.0], np.cumsum(chord * np.cos(mid))])
    y = np.concatenate([[0.0], np.cumsum(chord * np.sin(mid))])
    return np.column_stack([x, y, theta])
