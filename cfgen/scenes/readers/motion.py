"""How a car moved where no log of poses says it: by satellite fixes, a GPS track, a file of speeds, or its frames."""

import csv
import itertools
import math
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import InputError, install_command
from cfgen.core.files import stand_in
from cfgen.geometry.lens import Array
from cfgen.perception.ego_motion import GAP_S, ego_motion
from cfgen.records import Camera
from cfgen.scenes.drive import Place, raised
from cfgen.scenes.folder import Image

_EARTH_RADIUS_M = 6378137.0
#: Fixes farther apart than this do not tell the way between them, s.
_MAX_GAP_S = 3.0
#: Weight of a smooth way against fixes that are some 0.5 m off: turns and braking slower than half a second are kept.
_SMOOTH = 0.1
_STEP_S = 0.1
#: Below this speed the direction of travel is noise; the last one is kept.
_MOVING_MPS = 1.0
#: A way shorter than this does not tell how two worlds are turned against each other.
_TURNING_M = 20.0


def metres(fixes: Array) -> Array:
    """(N, 2) east and north of the first of ``fixes`` (N, 2 or more; latitude, longitude in degrees)."""
    north, east = np.radians(fixes[:, :2] - fixes[0, :2]).T * _EARTH_RADIUS_M
    return np.column_stack([east * math.cos(math.radians(fixes[0, 0])), north])


def poses_of_fixes(t: Array, fixes: Array) -> tuple[Array, Array, Array]:
    """Times (T,), poses (T, 4, 4) and speeds (T,) at 10 Hz of the longest stretch of fixes without a gap.

    The world is flat, x to the east, y to the north; the heading is the direction of travel.

    Args:
        t: (N,) s, increasing. fixes: (N, 2 or more) latitude, longitude in degrees.

    Raises:
        ValueError: fewer than five fixes without a gap.
    """
    from scipy.interpolate import make_smoothing_spline  # slow to import

    cuts = [0, *(np.flatnonzero(np.diff(t) > _MAX_GAP_S) + 1), len(t)]
    start, end = max(itertools.pairwise(cuts), key=lambda cut: t[cut[1] - 1] - t[cut[0]])
    if end - start < 5:
        raise ValueError(f"{end - start} fixes no more than {_MAX_GAP_S:g} s apart, of at least 5")
    t, xy = t[start:end], metres(fixes[start:end])
    grid = np.arange(t[0], t[-1] + 1e-9, _STEP_S)
    ways = [make_smoothing_spline(t, xy[:, axis], lam=_SMOOTH) for axis in (0, 1)]
    position = np.column_stack([way(grid) for way in ways])
    velocity = np.column_stack([way.derivative()(grid) for way in ways])
    moving = np.hypot(*velocity.T) > _MOVING_MPS
    theta = np.zeros(len(grid))
    if moving.any():
        heading = np.unwrap(np.arctan2(velocity[moving, 1], velocity[moving, 0]))
        theta = np.interp(grid, grid[moving], heading)
    speed = velocity[:, 0] * np.cos(theta) + velocity[:, 1] * np.sin(theta)
    return grid, raised(np.column_stack([position, theta])), speed


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
    if np.ptp(earth, axis=0).max() < _TURNING_M or np.ptp(own, axis=0).max() < _TURNING_M:
        return None
    a, b = own - own.mean(axis=0), earth - earth.mean(axis=0)
    angle = math.atan2(float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum()), float((a * b).sum()))
    c, s = math.cos(angle), math.sin(angle)
    return Place(float(fixes[shared][0, 0]), float(fixes[shared][0, 1]), east=(c, -s, 0.0), north=(s, c, 0.0))


# --- GPS of a dash camera, inside its video or beside it ---

#: Files beside a video that are looked for, by its name.
BESIDE = (".gpx", ".srt")
_EXTRA = f"install it with: {install_command('gps')}"
_EARTH_M = 6_371_008.8
_FEWEST = 4
#: Between a fix and its neighbours, m/s: no car.
_LEAPS = 150.0
#: Below this speed a course is noise, m/s.
_CREEPS = 1.5
_GPS_STEP_S = 0.1
#: As far as clocks are set apart by time zones, s.
_ZONES_S = 14 * 3600
#: Above this speed, m/s, positions tell it well enough to contradict one that is told, by such a factor.
_DRIVES, _CONTRADICTS = 5.0, 1.6
_MP4_EPOCH = datetime(1904, 1, 1, tzinfo=UTC).timestamp()
_UNITS = {"km/h": 1 / 3.6, "kmh": 1 / 3.6, "mph": 0.44704, "m/s": 1.0}
_CUE = re.compile(r"(\d+):(\d\d):(\d\d)[,.](\d{1,3})\s*-->")
#: DJI's two ways, and degrees after a letter as Viofo and others burn them in
_LATITUDE = re.compile(r"latitude\s*:\s*(-?\d+\.\d+)|\b([NS])\s*:?\s*(\d+\.\d+)", re.IGNORECASE)
_LONGITUDE = re.compile(r"long(?:it|tit)ude\s*:\s*(-?\d+\.\d+)|\b([EW])\s*:?\s*(\d+\.\d+)", re.IGNORECASE)
_DJI = re.compile(r"GPS\s*\(\s*(-?\d+\.\d+)\s*,\s*(-?\d+\.\d+)")
_SPEED = re.compile(r"(\d+(?:\.\d+)?)\s*(km/h|kmh|mph|m/s)", re.IGNORECASE)


@dataclass(frozen=True)
class Track:
    """``t`` (T,) s: from the first frame, or UTC since 1970 where ``absolute``; degrees; m/s, NaN where not told.

    ``epoch``: UTC at t = 0, None where unknown.
    """

    by: str
    t: Array
    latitude: Array
    longitude: Array
    v: Array
    absolute: bool = False
    epoch: float | None = None

    @classmethod
    def of(cls, by: str, rows: Iterable[tuple[float, float, float, float | None]], **fields: Any) -> "Track":
        """Of rows (t, latitude, longitude, speed), one for each time.

        Raises:
            InputError: too few.
        """
        fixes = {t: row for t, *row in rows if row[:2] != [0.0, 0.0]}  # a receiver without a fix says 0, 0
        if len(fixes) < _FEWEST:
            raise InputError(f"{by}: expected {_FEWEST} GPS points or more, found {len(fixes)}")
        t = sorted(fixes)
        values = np.array([[np.nan if v is None else v for v in fixes[key]] for key in t], float)
        return cls(by, np.array(t, float), *values.T, **fields)


def inside(video: Path) -> Track | None:
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
    if len({point.time for point in points}) < _FEWEST:
        return None
    first = points[0]
    start = first.get_gps_epoch_time()
    rows = ((p.time, p.lat, p.lon, getattr(p, "ground_speed", None)) for p in points)
    return Track.of(by, rows, epoch=None if start is None else start - first.time)


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


def from_file(path: Path) -> Track:
    """A GPX, SRT or CSV file.

    Raises:
        InputError: none of these, or not as expected.
    """
    readers: dict[str, Callable[[Path], Track]] = {".gpx": _gpx, ".srt": _srt, ".csv": _csv}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: expected GPS as .gpx, .srt or .csv, or the words inside or none")
    try:
        return reader(path)
    except OSError as error:
        raise InputError(f"{path}: cannot read the GPS ({error.strerror}); check the path") from error
    except ImportError as error:
        raise InputError(f"{path}: reading GPX needs {error.name}; {_EXTRA}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected text in UTF-8, found {stand_in(path) or error}") from error


def _gpx(path: Path) -> Track:
    import gpxpy

    try:
        gpx = gpxpy.parse(path.read_text(encoding="utf-8-sig"))
    except gpxpy.gpx.GPXException as error:
        raise InputError(f"{path}: expected a GPX file, found {error}") from error
    points = [point for track in gpx.tracks for part in track.segments for point in part.points]
    rows = [(p.time.timestamp(), p.latitude, p.longitude, p.speed) for p in points if p.time]
    return Track.of(path.name, rows, absolute=True)


def _srt(path: Path) -> Track:
    text = path.read_text(encoding="utf-8-sig")
    rows = []
    cues = list(_CUE.finditer(text))
    for cue, following in zip(cues, [*cues[1:], None], strict=True):
        words = text[cue.end() : following.start() if following else None]
        hours, minutes, seconds, part = cue.groups()
        t = 3600 * int(hours) + 60 * int(minutes) + int(seconds) + float(f"0.{part}")
        if (place := _place_in(words)) and place != (0.0, 0.0):
            speed = _SPEED.search(words)
            rows.append((t, *place, float(speed[1]) * _UNITS[speed[2].lower()] if speed else None))
    return Track.of(path.name, rows)


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


def _csv(path: Path) -> Track:
    rows = _csv_rows(path, "the track")
    t, latitude, longitude, speed = _csv_columns(path, rows)
    absolute = False
    fixes = []
    for number, row in enumerate(rows, start=2):
        try:
            seconds, is_utc = _csv_time(str(row[t]).strip())
            absolute = absolute or is_utc
            north, east = (_degrees(row[name]) for name in (latitude, longitude))
            if not np.isfinite([seconds, north, east]).all():
                continue
            fixes.append((seconds, north, east, float(row[speed]) if speed else None))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{path}: row {number}: expected times, degrees and m/s, found {error}"
            ) from error
        for name, degrees, bound in ((latitude, north, 90), (longitude, east, 180)):
            _check_degrees(degrees, bound, f"{path}: row {number}: column '{name}'", (latitude, longitude))
    dropped = len(rows) - len(fixes)
    by = f"{path.name}, without {dropped} rows that have no fix" if dropped else path.name
    return Track.of(by, fixes, absolute=absolute or (bool(fixes) and fixes[0][0] > 1e8))


def _csv_columns(path: Path, rows: Sequence[Mapping[str, str]]) -> tuple[str, str, str, str | None]:
    """Of time, latitude, longitude and, where there is one, speed."""
    columns = {name.strip().lower(): name for name in (rows[0] if rows else {}) if name}

    def column(*names: str) -> str | None:
        return next((columns[name] for name in names if name in columns), None)

    t, latitude, longitude = (
        column("t", "time", "timestamp"),
        column("lat", "latitude"),
        column("lon", "lng", "longitude"),
    )
    if not (t and latitude and longitude):
        raise InputError(f"{path}: expected columns t (or time), lat and lon, found {list(columns)}")
    return t, latitude, longitude, column("speed", "speed_mps")


def _csv_time(text: str) -> tuple[float, bool]:
    """Seconds, and whether they are those of UTC."""
    try:
        return float(text), False
    except ValueError:
        return _utc(text), True


def _check_degrees(degrees: float, bound: float, where: str, columns: tuple[str, str]) -> None:
    if abs(degrees) > bound:
        raise InputError(
            f"{where}: expected degrees from -{bound} to {bound}, found {degrees:g}; are '{columns[0]}' and "
            f"'{columns[1]}' swapped, or in other units?"
        )


def _csv_rows(path: Path, contents: str) -> list[dict[str, str]]:
    """
    Raises:
        InputError: it cannot be read, or is no CSV file.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise InputError(f"{path}: cannot read {contents} ({error.strerror}); check the path") from error
    except (ValueError, csv.Error) as error:
        raise InputError(
            f"{path}: expected a CSV file in UTF-8, found {stand_in(path) or error}; export it again"
        ) from error


def _degrees(text: str) -> float:
    """NaN where nothing is told."""
    return float(text) if text.strip() else float("nan")


def _utc(text: str) -> float:
    when = datetime.fromisoformat(text)
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


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


def on_the_videos_clock(track: Track, start: float | None, length_s: float, offset_s: float) -> Track:
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
        zone = 900 * round(
            (length_s / 2 - float(t.mean())) / 900
        )  # clocks of cameras are often in local time
        fits = min(t[-1] + zone, length_s) - max(t[0] + zone, 0.0) >= 2.0
        better = zone if fits and abs(zone) <= _ZONES_S else -float(t[0])
        advice = (
            "the video's clock may be in another zone: "
            f"try --options gps_offset_s={better + offset_s:.0f}, or do without it by --options gps=none"
            if abs(better) <= _ZONES_S
            else f"that is {abs(t[0]) / 86400:.0f} days off, more than a time zone: it is another drive's, or a clock "
            "is wrong; give this drive's file, or do without it by --options gps=none"
        )
        raise InputError(
            f"{track.by}: covers {t[0]:.1f} to {t[-1]:.1f} s of a video of {length_s:.1f} s; {advice}"
        )
    epoch = zero - offset_s if track.absolute else track.epoch
    return Track(track.by, t, track.latitude, track.longitude, track.v, False, epoch)


@dataclass(frozen=True)
class Driven:
    """Motion along a track: all (T,); ``v`` m/s, ``yaw_rate`` rad/s (> 0 left); ``course_deg`` (clockwise from north),
    ``latitude`` and ``longitude`` at its beginning."""

    t: Array
    v: Array
    yaw_rate: Array
    course_deg: float
    latitude: float
    longitude: float


def without_leaps(track: Track) -> Track:
    """Without single fixes that lie further off than any car comes, there and back; those before and after agree."""
    at = np.column_stack([np.radians(track.latitude), np.unwrap(np.radians(track.longitude))])
    at[:, 1] *= np.cos(at[0, 0])

    def speed(before: int, after: int) -> float:
        distance = float(np.hypot(*(at[after] - at[before]))) * _EARTH_M
        return distance / max(float(track.t[after] - track.t[before]), 1e-3)

    leaps = [
        i
        for i in range(1, len(track.t) - 1)
        if min(speed(i - 1, i), speed(i, i + 1)) > _LEAPS > speed(i - 1, i + 1)
    ]
    if not leaps:
        return track
    t, latitude, longitude, v = (
        np.delete(each, leaps) for each in (track.t, track.latitude, track.longitude, track.v)
    )
    by = f"{track.by}, without {len(leaps)} fixes that leap"
    return replace(track, t=t, latitude=latitude, longitude=longitude, v=v, by=by)


def driven(track: Track) -> Driven:
    """Speeds and turns, by parabolas through the points of some seconds; speeds as the track tells them, where it does.

    A course is taken only while the car moves; it is kept while it stands.
    """
    latitude, longitude = np.radians(track.latitude), np.unwrap(np.radians(track.longitude))
    east = (longitude - longitude[0]) * np.cos(latitude[0]) * _EARTH_M
    north = (latitude - latitude[0]) * _EARTH_M
    reach = max(1.0, 2.0 * float(np.median(np.diff(track.t))))
    t = np.arange(track.t[0], track.t[-1] + 1e-6, _GPS_STEP_S)
    speed_e, speed_n = (_slopes(t, track.t, values, reach) for values in (east, north))
    v = np.hypot(speed_e, speed_n)
    moves = v > _CREEPS
    if moves.any():
        course = np.interp(t, t[moves], np.unwrap(np.arctan2(speed_e[moves], speed_n[moves])))
    else:
        course = np.zeros(len(t))
    has_speed = np.isfinite(track.v)
    if has_speed.sum() >= _FEWEST:
        _agree(track, np.interp(track.t[has_speed], t, v), track.v[has_speed])
        v = np.interp(t, track.t[has_speed], track.v[has_speed])
    yaw_rate = -_slopes(t, t, course, 0.5) if len(t) > 10 else np.zeros(len(t))
    return Driven(
        t,
        v,
        yaw_rate,
        float(np.degrees(course[0])) % 360,
        float(track.latitude[0]),
        float(track.longitude[0]),
    )


def _agree(track: Track, passed: Array, has_speed: Array) -> None:
    """
    Raises:
        InputError: speeds that the points of the same track contradict: they are in another unit.
    """
    moves = passed > _DRIVES
    if moves.sum() < _FEWEST:
        return
    ratio = float(np.median(has_speed[moves] / passed[moves]))
    if not 1 / _CONTRADICTS < ratio < _CONTRADICTS:
        unit = min(_UNITS, key=lambda name: abs(np.log(max(ratio, 1e-6) * _UNITS[name])))
        raise InputError(
            f"{track.by}: speed: expected m/s, as its positions say ({float(np.median(passed[moves])):.1f}), found "
            f"{float(np.median(has_speed[moves])):.1f}, {ratio:.2f} times that, perhaps {unit}; "
            "convert it, or leave the column out"
        )


def _slopes(at: Array, t: Array, values: Array, reach: float) -> Array:
    """Derivatives at ``at`` of parabolas through the points at most ``reach`` off, or the three nearest."""
    slopes = np.empty(len(at))
    for i, moment in enumerate(at):
        near = np.flatnonzero(np.abs(t - moment) <= reach + 1e-9)
        if len(near) < 3:
            near = np.argsort(np.abs(t - moment))[:3]
        since = t[near] - moment
        rows = np.column_stack([np.ones_like(since), since, since**2])
        slopes[i] = np.linalg.lstsq(rows, values[near], rcond=None)[0][1]
    return slopes


# --- the car of a video: as the user says, as a file says, or as the frames show ---

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


def constant(times: Array, speed: float) -> Motion:
    """Straight on at one speed."""
    t = np.arange(times[0], times[-1] + 0.1, 0.1)
    return Motion(t, np.full(len(t), speed), np.zeros(len(t)), motion_known=False)


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

    motion = ego_motion(camera, frames())
    if motion is None:
        return constant(times, _USUAL_SPEED)
    return Motion(motion.t, motion.v, motion.yaw_rate, motion_known=False, fit=motion.fit)


def by_gps(video: Path, times: Array, gps: str, offset_s: float) -> Motion | None:
    """By the GPS in the video, or in a file beside it; None where there is none, or none is wanted.

    Args:
        gps: a file, "inside", "none", or "" for whatever there is. offset_s: added to its times.

    Raises:
        InputError: what was asked for is not there, or does not cover the video.
    """
    if gps == "none":
        return None
    track = from_file(Path(gps)) if gps not in ("", "inside") else _found(video, gps)
    if track is None:
        return None
    start = None
    if track.absolute and video.is_file():
        try:
            start = created(video)
        except ImportError:
            start = None
    track = on_the_videos_clock(track, start, float(times[-1]), offset_s)
    track = without_leaps(track)
    went = driven(track)
    course = np.radians(went.course_deg)
    place = Place(
        went.latitude,
        went.longitude,
        (float(np.sin(course)), float(-np.cos(course)), 0.0),
        (float(np.cos(course)), float(np.sin(course)), 0.0),
    )
    lacks = _lacking(track, float(times[-1]))
    return Motion(went.t, went.v, went.yaw_rate, True, None, place, track.epoch, track.by, track.t, lacks)


def _lacking(track: Track, length_s: float) -> str:
    first, last = float(track.t[0]), float(track.t[-1])
    short = first > _SHORT_S or last < length_s - _SHORT_S
    covers = f"{track.by}: covers {first:.1f} to {last:.1f} s of a video of {length_s:.1f} s; no scenes of the rest"
    return covers if short else track.by if ", without " in track.by else ""


def _found(video: Path, gps: str) -> Track | None:
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
    siblings = [video.with_suffix(suffix) for s in BESIDE for suffix in (s, s.upper())]
    return next((from_file(path) for path in siblings if path.is_file()), None)


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
    has_yaw = yaw_rate is not None
    return Motion(t, v, np.zeros(len(t)) if yaw_rate is None else yaw_rate, has_yaw)


def read_speed_csv(path: Path) -> tuple[Array, Array, Array | None]:
    """t (s), v (m/s) and yaw rate (rad/s, or None) of a CSV with a header.

    Raises:
        InputError: missing file or column, or a value that is not a number.
    """
    rows = _csv_rows(path, "the speeds")
    columns = list(rows[0]) if rows else []
    speed = next((name for name in _CSV_SPEEDS if name in columns), None)
    if "t" not in columns or speed is None or len(rows) < 2:
        raise InputError(
            f"{path}: expected a header with t and one of {', '.join(_CSV_SPEEDS)}, and 2 rows or more, "
            f"found columns {columns} and {len(rows)} rows"
        )
    names = ["t", speed] + (["yaw_rate"] if "yaw_rate" in columns else [])
    try:
        values = np.array([[float(row[name]) for name in names] for row in rows])
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: expected numbers in {names}: {error}") from error
    if not np.isfinite(values).all() or (np.diff(values[:, 0]) <= 0).any():
        raise InputError(f"{path}: expected finite numbers and t that increases; sort the rows, drop repeats")
    return values[:, 0], values[:, 1] * _CSV_SPEEDS[speed], values[:, 2] if len(names) > 2 else None


def integrated(t: Array, v: Array, yaw_rate: Array) -> Array:
    """x, y, theta (T, 3) of a car with speeds ``v`` and yaw rates (T,), from the origin; trapezoids."""
    dt = np.diff(t)
    theta = np.concatenate([[0.0], np.cumsum((yaw_rate[1:] + yaw_rate[:-1]) / 2 * dt)])
    mid = (theta[1:] + theta[:-1]) / 2
    chord = (v[1:] + v[:-1]) / 2 * dt * np.sinc(np.diff(theta) / 2 / np.pi)
    x = np.concatenate([[0.0], np.cumsum(chord * np.cos(mid))])
    y = np.concatenate([[0.0], np.cumsum(chord * np.sin(mid))])
    return np.column_stack([x, y, theta])
