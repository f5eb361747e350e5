"""How a car moved where no log of poses says it: by satellite fixes, a file of speeds, or its frames."""

import contextlib
import csv
import math
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError, install_command
from cfgen.core.files import stand_in
from cfgen.geometry.lens import Array
from cfgen.perception.ego_motion import GAP_S, ego_motion
from cfgen.records import Camera
from cfgen.scenes.drive import Place, raised
from cfgen.scenes.folder import Image
from cfgen.scenes.settings import MOTION as SETTINGS

#: of the WGS 84 ellipsoid, at the equator
EARTH_RADIUS_M = 6378137.0
#: a smooth way needs so many
FEWEST_FIXES = 5


@dataclass(frozen=True)
class FittedMotion:
    """t, poses, v (T,), (T, 4, 4), (T,) and what else :class:`cfgen.scenes.drive.Drive` takes of a motion."""

    t: Array
    poses: Array
    v: Array
    motion_known: bool
    fit: Array | None = None
    place: Place | None = None
    epoch: float | None = None
    #: what measured it, for the scene
    measured_by: str = ""
    #: times of the satellite fixes
    fixes: Array | None = None
    #: what of the video it does not cover, and what was left out of it, for who imports
    lacks: str = ""


def metres(fixes: Array) -> Array:
    """(N, 2) east and north of the first of ``fixes`` (N, 2 or more; latitude, longitude in degrees)."""
    latitude, longitude = np.radians(fixes[:, 0]), np.unwrap(np.radians(fixes[:, 1]))
    east, north = (longitude - longitude[0]) * math.cos(latitude[0]), latitude - latitude[0]
    return np.column_stack([east, north]) * EARTH_RADIUS_M


def without_leaps(t: Array, fixes: Array) -> NDArray[np.bool_]:
    """(N,) False for single fixes that lie further off than any car comes, there and back."""
    at = metres(fixes)

    def speeds(apart: int) -> Array:
        return np.hypot(*(at[apart:] - at[:-apart]).T) / (t[apart:] - t[:-apart])

    keep = np.ones(len(t), bool)
    if len(t) > 2:
        near = speeds(1)
        keep[1:-1] = (np.minimum(near[:-1], near[1:]) < SETTINGS.leap_mps) | (speeds(2) > SETTINGS.leap_mps)
    return keep


@dataclass(frozen=True)
class PositionTrack:
    """``t`` (T,) s: from the first frame, or UTC since 1970 where ``absolute``; ``fixes`` (T, 2) latitude and
    longitude, degrees; ``v`` (T,) m/s, NaN where not told.

    ``epoch``: UTC at t = 0, None where unknown.
    """

    by: str
    t: Array
    fixes: Array
    v: Array
    absolute: bool = False
    epoch: float | None = None

    @classmethod
    def of(
        cls, by: str, rows: Iterable[tuple[float, float, float, float | None]], **fields: Any
    ) -> "PositionTrack":
        """Of rows (t, latitude, longitude, speed), one for each time. Rows without a fix, and fixes that leap, are left
        out and counted.

        Raises:
            InputError: too few, or degrees that are none.
        """
        table = np.array([[np.nan if value is None else value for value in row] for row in rows], float)
        table = table.reshape(-1, 4)
        # a receiver without a fix says nothing, or 0, 0
        kept = table[np.isfinite(table[:, :3]).all(axis=1) & table[:, 1:3].any(axis=1)]
        kept = kept[np.unique(kept[:, 0], return_index=True)[1]]
        if (np.abs(kept[:, 1:3]) > (90, 180)).any():
            raise InputError(
                f"{by}: expected degrees of latitude up to 90 and of longitude up to 180, found "
                f"{np.abs(kept[:, 1:3]).max(axis=0)}; are the two swapped, or in other units?"
            )
        if len(kept):
            kept = kept[without_leaps(kept[:, 0], kept[:, 1:3])]
        if len(kept) < FEWEST_FIXES:
            raise InputError(f"{by}: expected {FEWEST_FIXES} GPS points or more, found {len(kept)}")
        if len(kept) < len(table):
            by = f"{by}, without {len(table) - len(kept)} rows that have no fix or leap"
        return cls(by, kept[:, 0], kept[:, 1:3], kept[:, 3], **fields)


def motion_along(track: PositionTrack) -> FittedMotion:
    """The motion at 10 Hz, in a flat world, x to the east, y to the north; the heading is the direction of travel.
    Speeds are those that the track tells, where it does."""
    from scipy.interpolate import make_smoothing_spline  # slow to import

    grid = np.arange(track.t[0], track.t[-1] + 1e-9, 0.1)
    ways = [make_smoothing_spline(track.t, axis, lam=SETTINGS.smooth) for axis in metres(track.fixes).T]
    position = np.column_stack([way(grid) for way in ways])
    velocity = np.column_stack([way.derivative()(grid) for way in ways])
    moving = np.hypot(*velocity.T) > SETTINGS.moving_mps
    theta = np.zeros(len(grid))
    if moving.any():
        heading = np.unwrap(np.arctan2(velocity[moving, 1], velocity[moving, 0]))
        theta = np.interp(grid, grid[moving], heading)
    speed = velocity[:, 0] * np.cos(theta) + velocity[:, 1] * np.sin(theta)
    told = np.isfinite(track.v)
    if told.sum() >= FEWEST_FIXES:
        speed = np.interp(grid, track.t[told], track.v[told])
    return FittedMotion(
        grid,
        raised(np.column_stack([position, theta])),
        speed,
        motion_known=True,
        place=Place(float(track.fixes[0, 0]), float(track.fixes[0, 1])),
        epoch=track.epoch,
        measured_by=track.by,
        fixes=track.t,
        lacks=track.by if ", without " in track.by else "",
    )


def turned_to_earth(t: Array, positions: Array, fix_t: Array, fixes: Array) -> Place | None:
    """Where ``positions`` (T, 2) of a world that is turned anyhow are on the earth; None where too short a way tells.

    Args:
        t, fix_t: s on one clock, increasing. fixes: (N, 2 or more) latitude, longitude in degrees.
    """
    shared = (fix_t >= t[0]) & (fix_t <= t[-1])
    if shared.sum() < 2:
        return None
    earth = metres(fixes[shared])
    own = np.column_stack([np.interp(fix_t[shared], t, positions[:, axis]) for axis in (0, 1)])
    if min(np.ptp(earth, axis=0).max(), np.ptp(own, axis=0).max()) < SETTINGS.turning_m:
        return None
    a, b = own - own.mean(axis=0), earth - earth.mean(axis=0)
    angle = math.atan2(float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum()), float((a * b).sum()))
    c, s = math.cos(angle), math.sin(angle)
    return Place(float(fixes[shared][0, 0]), float(fixes[shared][0, 1]), east=(c, -s, 0.0), north=(s, c, 0.0))


# --- GPS of a dash camera, inside its video or beside it ---

_MP4_EPOCH = datetime(1904, 1, 1, tzinfo=UTC).timestamp()
_UNITS = {"km/h": 1 / 3.6, "kmh": 1 / 3.6, "mph": 0.44704, "m/s": 1.0}
_CUE = re.compile(r"(\d+):(\d\d):(\d\d)[,.](\d{1,3})\s*-->")
#: DJI's two ways, and degrees after a letter as Viofo and others burn them in
_LATITUDE = re.compile(r"latitude\s*:\s*(-?\d+\.\d+)|\b([NS])\s*:?\s*(\d+\.\d+)", re.IGNORECASE)
_LONGITUDE = re.compile(r"long(?:it|tit)ude\s*:\s*(-?\d+\.\d+)|\b([EW])\s*:?\s*(\d+\.\d+)", re.IGNORECASE)
_DJI = re.compile(r"GPS\s*\(\s*(-?\d+\.\d+)\s*,\s*(-?\d+\.\d+)")
_SPEED = re.compile(r"(\d+(?:\.\d+)?)\s*(km/h|kmh|mph|m/s)", re.IGNORECASE)


def inside(video: Path) -> PositionTrack | None:
    """GPS that GoPro, BlackVue and CAMM cameras keep in the video, by mapillary_tools; of others, such as Garmin and
    Viofo, by ExifTool where that is installed. None where there is none.

    Raises:
        ImportError: mapillary_tools is not installed.
    """
    from construct import ConstructError
    from mapillary_tools import exceptions
    from mapillary_tools.geotag.video_extractors.native import NativeVideoExtractor
    from mapillary_tools.mp4.simple_mp4_parser import ParsingError

    try:
        points = NativeVideoExtractor(video).extract().points
        by = f"GPS in {video.name}"
    except (
        exceptions.MapillaryDescriptionError,
        ParsingError,
        ConstructError,
        OSError,
        ValueError,
        LookupError,
    ):
        points, by = _by_exiftool(video), f"GPS in {video.name}, by ExifTool"
    if len({point.time for point in points}) < FEWEST_FIXES:
        return None
    first = points[0]
    start = first.get_gps_epoch_time()
    rows = ((p.time, p.lat, p.lon, getattr(p, "ground_speed", None)) for p in points)
    return PositionTrack.of(by, rows, epoch=None if start is None else start - first.time)


def _by_exiftool(video: Path) -> list[Any]:
    if not shutil.which("exiftool"):
        return []
    from xml.etree import ElementTree

    from mapillary_tools.exiftool_read import EXIFTOOL_NAMESPACES
    from mapillary_tools.exiftool_read_video import ExifToolReadVideo
    from mapillary_tools.exiftool_runner import ExiftoolRunner

    try:
        root = ElementTree.fromstring(ExiftoolRunner().extract_xml([video]))
    except ElementTree.ParseError:
        return []
    described = root.findall("rdf:Description", EXIFTOOL_NAMESPACES)
    return [
        point
        for description in described
        for point in ExifToolReadVideo(ElementTree.ElementTree(description)).extract_gps_track()
    ]


def from_file(path: Path) -> PositionTrack:
    """A GPX, SRT or CSV file.

    Raises:
        InputError: none of these, or not as expected.
    """
    readers: dict[str, Callable[[Path], PositionTrack]] = {".gpx": _gpx, ".srt": _srt, ".csv": _csv}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: expected GPS as .gpx, .srt or .csv, or the words inside or none")
    try:
        return reader(path)
    except ImportError as error:
        raise InputError(
            f"{path}: reading GPX needs {error.name}; install it with: {install_command('gps')}"
        ) from error


def _text(path: Path) -> str:
    """
    Raises:
        InputError: it cannot be read, or is no text.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected text in UTF-8, found {stand_in(path) or error}") from error


def _gpx(path: Path) -> PositionTrack:
    import gpxpy

    try:
        gpx = gpxpy.parse(_text(path))
    except gpxpy.gpx.GPXException as error:
        raise InputError(f"{path}: expected a GPX file, found {error}") from error
    points = [point for track in gpx.tracks for part in track.segments for point in part.points]
    rows = [(p.time.timestamp(), p.latitude, p.longitude, p.speed) for p in points if p.time]
    return PositionTrack.of(path.name, rows, absolute=True)


def _srt(path: Path) -> PositionTrack:
    text = _text(path)
    rows = []
    cues = list(_CUE.finditer(text))
    for cue, following in zip(cues, [*cues[1:], None], strict=True):
        words = text[cue.end() : following.start() if following else None]
        hours, minutes, seconds, part = cue.groups()
        t = 3600 * int(hours) + 60 * int(minutes) + int(seconds) + float(f"0.{part}")
        if place := _place_in(words):
            speed = _SPEED.search(words)
            rows.append((t, *place, float(speed[1]) * _UNITS[speed[2].lower()] if speed else None))
    return PositionTrack.of(path.name, rows)


def _place_in(words: str) -> tuple[float, float] | None:
    if old := _DJI.search(words):
        return float(old[2]), float(old[1])
    values = []
    for pattern, backwards in ((_LATITUDE, "S"), (_LONGITUDE, "W")):
        match = pattern.search(words)
        if not match:
            return None
        number, letter, degrees = match.groups()
        values.append(
            float(number) if number else float(degrees) * (-1 if letter.upper() == backwards else 1)
        )
    return values[0], values[1]


def _csv(path: Path) -> PositionTrack:
    rows = _csv_rows(path)
    columns = {name.strip().lower(): name for name in next(iter(rows), {})}
    usual = (
        ("t", "time", "timestamp"),
        ("lat", "latitude"),
        ("lon", "lng", "longitude"),
        ("speed", "speed_mps"),
    )
    t, latitude, longitude, speed = (
        next((columns[name] for name in names if name in columns), "") for names in usual
    )
    if not (t and latitude and longitude):
        raise InputError(f"{path}: expected columns t (or time), lat and lon, found {list(columns)}")
    fixes = []
    for number, row in enumerate(rows, start=2):
        try:
            fix = [float(row[name].strip() or "nan") for name in (latitude, longitude)]
            fixes.append((_csv_time(row[t].strip()), fix[0], fix[1], float(row[speed]) if speed else None))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{path}: row {number}: expected times, degrees and m/s, found {error}"
            ) from error
    return PositionTrack.of(path.name, fixes, absolute=bool(fixes) and fixes[0][0] > 1e8)


def _csv_time(text: str) -> float:
    """Seconds, of an ISO time those of UTC since 1970."""
    try:
        return float(text)
    except ValueError:
        when = datetime.fromisoformat(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _csv_rows(path: Path) -> list[dict[str, str]]:
    """
    Raises:
        InputError: it cannot be read, or is no CSV file.
    """
    try:
        return list(csv.DictReader(_text(path).splitlines(), restkey=""))
    except csv.Error as error:
        raise InputError(f"{path}: expected a CSV file, found {error}; export it again") from error


def created(video: Path) -> float | None:
    """UTC since 1970 of the first frame, as the video's header says; None where it does not."""
    from mapillary_tools.mp4 import simple_mp4_parser

    try:
        with video.open("rb") as file:
            header = simple_mp4_parser.parse_mp4_data_first(file, [b"moov", b"mvhd"])
    except (OSError, simple_mp4_parser.ParsingError):
        return None
    if not header:
        return None
    seconds = int.from_bytes(header[4:12] if header[0] else header[4:8], "big")
    return seconds + _MP4_EPOCH if seconds else None


def on_the_videos_clock(
    track: PositionTrack, start: float | None, length_s: float, offset_s: float
) -> PositionTrack:
    """The track with times from the first frame.

    Args:
        start: UTC of the first frame, for tracks that tell UTC; None: their first point is at the first frame.
        offset_s: added to their times.

    Raises:
        InputError: less than 2 s of it are within the video.
    """
    zero = 0.0
    if track.absolute:
        zero = float(track.t[0]) if start is None else start
    t = track.t - zero + offset_s
    if min(t[-1], length_s) - max(t[0], 0.0) < 2.0:
        quarter_hours = round(
            (length_s / 2 - float(t.mean())) / 900
        )  # cameras' clocks are often in local time
        raise InputError(
            f"{track.by}: covers {t[0]:.1f} to {t[-1]:.1f} s of a video of {length_s:.1f} s; if a clock is in another "
            f"zone: --options gps_offset_s={900 * quarter_hours + offset_s:.0f}; if the track is another drive's, give "
            "this one's, or do without it: --options gps=none"
        )
    return replace(track, t=t, absolute=False, epoch=zero - offset_s if track.absolute else track.epoch)


# --- the car of a video: as the user says, as a file says, or as the frames show ---

_CSV_SPEEDS = {"speed": 1.0, "speed_mps": 1.0, "speed_kmh": 1 / 3.6}


def constant(times: Array, speed: float) -> FittedMotion:
    """Straight on at one speed."""
    t = np.arange(times[0], times[-1] + 0.1, 0.1)
    v = np.full(len(t), speed)
    return FittedMotion(t, raised(integrated(t, v, np.zeros(len(t)))), v, motion_known=False)


def measured(camera: Camera, times: Array, read: Callable[[int], Image]) -> FittedMotion:
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

    motion = ego_motion(camera, frames())
    if motion is None:
        return constant(times, SETTINGS.usual_mps)
    poses = raised(integrated(motion.t, motion.v, motion.yaw_rate))
    return FittedMotion(motion.t, poses, motion.v, motion_known=False, fit=motion.fit)


def by_gps(video: Path, times: Array, gps: str, offset_s: float) -> FittedMotion | None:
    """By the GPS in the video, or in a file beside it; None where there is none, or none is wanted.

    Args:
        gps: a file, "inside", "none", or "" for whatever there is. offset_s: added to its times.

    Raises:
        InputError: what was asked for is not there, or does not cover the video.
    """
    if gps == "none":
        return None
    track = from_file(Path(gps)) if gps not in ("", "inside") else _discover_track(video, gps)
    if track is None:
        return None
    start = None
    if track.absolute and video.is_file():
        with contextlib.suppress(ImportError):
            start = created(video)
    length_s = float(times[-1])
    track = on_the_videos_clock(track, start, length_s, offset_s)
    motion = motion_along(track)
    if track.t[0] > SETTINGS.short_s or track.t[-1] < length_s - SETTINGS.short_s:
        lacks = (
            f"{track.by}: covers {track.t[0]:.1f} to {track.t[-1]:.1f} s of a video of {length_s:.1f} s; "
            "no scenes of the rest"
        )
        return replace(motion, lacks=lacks)
    return motion


def _discover_track(video: Path, gps: str) -> PositionTrack | None:
    if video.is_file():
        try:
            if track := inside(video):
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
    siblings = [video.with_suffix(suffix) for s in (".gpx", ".srt") for suffix in (s, s.upper())]
    return next((from_file(path) for path in siblings if path.is_file()), None)


def from_csv(path: Path, times: Array) -> FittedMotion:
    """A file of speeds, and yaw rates if known, that covers the video.

    Raises:
        InputError: it does not, cannot be read, lacks a column, or has a value that is not a number.
    """
    rows = _csv_rows(path)
    columns = list(rows[0]) if rows else []
    speed = next((name for name in _CSV_SPEEDS if name in columns), None)
    if "t" not in columns or speed is None or len(rows) < 2:
        raise InputError(
            f"{path}: expected a header with t and one of {', '.join(_CSV_SPEEDS)}, and 2 rows or more, "
            f"found columns {columns} and {len(rows)} rows"
        )
    names = ["t", speed] + (["yaw_rate"] if "yaw_rate" in columns else [])
    try:
        t, v, *yaw_rates = np.array([[float(row[name]) for name in names] for row in rows]).T
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: expected numbers in {names}: {error}") from error
    v = v * _CSV_SPEEDS[speed]
    yaw_rate = yaw_rates[0] if yaw_rates else np.zeros(len(t))
    if not np.isfinite([t, v, yaw_rate]).all() or (np.diff(t) <= 0).any():
        raise InputError(f"{path}: expected finite numbers and t that increases; sort the rows, drop repeats")
    if t[0] > times[0] + 0.5 or t[-1] < times[-1] - 0.5:
        raise InputError(
            f"{path}: expected speeds from {times[0]:g} to {times[-1]:g} s, the video's length, "
            f"found {t[0]:g} to {t[-1]:g} s; t counts from the first frame"
        )
    return FittedMotion(t, raised(integrated(t, v, yaw_rate)), v, motion_known=bool(yaw_rates))


def integrated(t: Array, v: Array, yaw_rate: Array) -> Array:
    """x, y, theta (T, 3) of a car with speeds ``v`` and yaw rates (T,), from the origin; trapezoids."""
    dt = np.diff(t)
    theta = np.concatenate([[0.0], np.cumsum((yaw_rate[1:] + yaw_rate[:-1]) / 2 * dt)])
    mid = (theta[1:] + theta[:-1]) / 2
    chord = (v[1:] + v[:-1]) / 2 * dt * np.sinc(np.diff(theta) / 2 / np.pi)
    x = np.concatenate([[0.0], np.cumsum(chord * np.cos(mid))])
    y = np.concatenate([[0.0], np.cumsum(chord * np.sin(mid))])
    return np.column_stack([x, y, theta])
