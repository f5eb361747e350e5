"""GPS of a dash camera, inside its video or beside it, and the motion that follows from it."""

import csv
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError, install_command
from cfgen.core.files import stand_in

Array = NDArray[np.float64]
#: Files beside a video that are looked for, by its name.
BESIDE = (".gpx", ".srt")
_EXTRA = f"install it with: {install_command('gps')}"
_EARTH_M = 6_371_008.8
_FEWEST = 4
#: Between a fix and its neighbours, m/s: no car.
_LEAPS = 150.0
#: Below this speed a course is noise, m/s.
_CREEPS = 1.5
_STEP_S = 0.1
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
    def of(cls, by: str, rows: Iterable[tuple[float, float, float, float | None]], **told: Any) -> "Track":
        """Of rows (t, latitude, longitude, speed), one for each time.

        Raises:
            InputError: too few.
        """
        found = {t: row for t, *row in rows if row[:2] != [0.0, 0.0]}  # a receiver without a fix says 0, 0
        if len(found) < _FEWEST:
            raise InputError(f"{by}: expected {_FEWEST} GPS points or more, found {len(found)}")
        t = sorted(found)
        values = np.array([[np.nan if v is None else v for v in found[key]] for key in t], float)
        return cls(by, np.array(t, float), *values.T, **told)


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
        for one in described
        for point in ExifToolReadVideo(ElementTree.ElementTree(one)).extract_gps_track()
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
        found = gpxpy.parse(path.read_text(encoding="utf-8-sig"))
    except gpxpy.gpx.GPXException as error:
        raise InputError(f"{path}: expected a GPX file, found {error}") from error
    points = [point for track in found.tracks for part in track.segments for point in part.points]
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
        found = pattern.search(words)
        if not found:
            return None
        plain, letter, degrees = found.groups()
        values.append(float(plain) if plain else float(degrees) * (-1 if letter.upper() == backwards else 1))
    return values[0], values[1]


def _csv(path: Path) -> Track:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    columns = {name.strip().lower(): name for name in (rows[0] if rows else {}) if name}
    wanted = (
        ("t", "time", "timestamp"),
        ("lat", "latitude"),
        ("lon", "lng", "longitude"),
        ("speed", "speed_mps"),
    )
    t, latitude, longitude, speed = (
        next((columns[name] for name in names if name in columns), None) for names in wanted
    )
    if not (t and latitude and longitude):
        raise InputError(f"{path}: expected columns t (or time), lat and lon, found {list(columns)}")
    absolute = False
    found = []
    for number, row in enumerate(rows, start=2):
        try:
            when = str(row[t]).strip()
            try:
                seconds = float(when)
            except ValueError:
                seconds, absolute = _utc(when), True
            north, east = (_degrees(row[name]) for name in (latitude, longitude))
            if not np.isfinite([seconds, north, east]).all():
                continue
            found.append((seconds, north, east, float(row[speed]) if speed else None))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{path}: row {number}: expected times, degrees and m/s, found {error}"
            ) from error
        for name, degrees, most in ((latitude, north, 90), (longitude, east, 180)):
            if abs(degrees) > most:
                raise InputError(
                    f"{path}: row {number}: column '{name}': expected degrees from -{most} to {most}, found "
                    f"{degrees:g}; are '{latitude}' and '{longitude}' swapped, or in other units?"
                )
    lost = len(rows) - len(found)
    by = f"{path.name}, without {lost} rows that have no fix" if lost else path.name
    return Track.of(by, found, absolute=absolute or (bool(found) and found[0][0] > 1e8))


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

    def speed(one: int, two: int) -> float:
        apart = float(np.hypot(*(at[two] - at[one]))) * _EARTH_M
        return apart / max(float(track.t[two] - track.t[one]), 1e-3)

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
    t = np.arange(track.t[0], track.t[-1] + 1e-6, _STEP_S)
    speed_e, speed_n = (_slopes(t, track.t, values, reach) for values in (east, north))
    v = np.hypot(speed_e, speed_n)
    moves = v > _CREEPS
    if moves.any():
        course = np.interp(t, t[moves], np.unwrap(np.arctan2(speed_e[moves], speed_n[moves])))
    else:
        course = np.zeros(len(t))
    told = np.isfinite(track.v)
    if told.sum() >= _FEWEST:
        _agree(track, np.interp(track.t[told], t, v), track.v[told])
        v = np.interp(t, track.t[told], track.v[told])
    yaw_rate = -_slopes(t, t, course, 0.5) if len(t) > 10 else np.zeros(len(t))
    return Driven(
        t,
        v,
        yaw_rate,
        float(np.degrees(course[0])) % 360,
        float(track.latitude[0]),
        float(track.longitude[0]),
    )


def _agree(track: Track, passed: Array, told: Array) -> None:
    """
    Raises:
        InputError: speeds that the points of the same track contradict: they are in another unit.
    """
    moves = passed > _DRIVES
    if moves.sum() < _FEWEST:
        return
    ratio = float(np.median(told[moves] / passed[moves]))
    if not 1 / _CONTRADICTS < ratio < _CONTRADICTS:
        unit = min(_UNITS, key=lambda name: abs(np.log(max(ratio, 1e-6) * _UNITS[name])))
        raise InputError(
            f"{track.by}: speed: expected m/s, as its positions say ({float(np.median(passed[moves])):.1f}), found "
            f"{float(np.median(told[moves])):.1f}, {ratio:.2f} times that, perhaps {unit}; "
            "convert it, or leave the column out"
        )


def _slopes(at: Array, t: Array, values: Array, reach: float) -> Array:
    """Derivatives at ``at`` of parabolas through the points at most ``reach`` off, or the three nearest."""
    found = np.empty(len(at))
    for i, moment in enumerate(at):
        near = np.flatnonzero(np.abs(t - moment) <= reach + 1e-9)
        if len(near) < 3:
            near = np.argsort(np.abs(t - moment))[:3]
        since = t[near] - moment
        rows = np.column_stack([np.ones_like(since), since, since**2])
        found[i] = np.linalg.lstsq(rows, values[near], rcond=None)[0][1]
    return found
