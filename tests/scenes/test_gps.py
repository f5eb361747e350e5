"""GPS inside dash camera videos and beside them; the video's box and the GPX are written by the libraries' own kits."""

import dataclasses
import datetime as dt

import cv2
import gpxpy.gpx
import numpy as np
import pytest
from mapillary_tools.mp4 import construct_mp4_parser

from cfgen.core.errors import InputError
from cfgen.scenes.folder import find_scenes, load_scene
from cfgen.scenes.importing import import_scenes, open_reader
from cfgen.scenes.readers.motion import (
    PositionTrack,
    created,
    from_file,
    inside,
    motion_along,
    on_the_videos_clock,
)

START = dt.datetime(2021, 6, 7, 20, 12, 0, tzinfo=dt.UTC)
METRE = 1 / 111_194.93  # degrees of latitude


def circle(count=20, v=14.0, yaw_rate=0.1):
    """Times, latitudes and longitudes, once a second, of a left turn that begins to the north at 60 degrees north."""
    t = np.arange(count, dtype=float)
    radius = v / yaw_rate
    north, west = radius * np.sin(yaw_rate * t), radius * (1 - np.cos(yaw_rate * t))
    return t, 60 + north * METRE, 8 - west * METRE / np.cos(np.radians(60))


def track(t, latitude, longitude, v=None):
    return PositionTrack.of("here", zip(t, latitude, longitude, np.broadcast_to(v, len(t)), strict=True))


def test_motion_follows_from_points():
    points = circle()
    found = motion_along(track(*points))
    inner = slice(10, -10)
    np.testing.assert_allclose(found.v[inner], 14, atol=0.3)
    theta = np.unwrap(np.arctan2(found.poses[:, 1, 0], found.poses[:, 0, 0]))
    np.testing.assert_allclose(theta[inner], np.pi / 2 + 0.1 * found.t[inner], atol=0.03)
    east, north = found.poses[:, 0, 3], found.poses[:, 1, 3]
    np.testing.assert_allclose(np.hypot(east + 140, north)[inner], 140, atol=0.3)
    np.testing.assert_allclose(motion_along(track(*points, 13.0)).v, 13.0)


def test_a_fix_that_leaps_and_the_date_line_are_no_speed():
    t = np.arange(30.0)
    step = np.degrees(20 * t / 6_378_137)
    latitude = step + 48
    latitude[17] += 0.02  # 2 km, there and back
    whole = track(t, latitude, np.full(30, 11.0))
    assert whole.by == "here, without 1 rows that have no fix or leap"
    assert 17.0 not in whole.t
    np.testing.assert_allclose(motion_along(whole).v, 20, atol=0.01)
    east = (179.999 + step + 180) % 360 - 180
    np.testing.assert_allclose(motion_along(track(t, np.zeros(30), east)).v, 20, atol=0.01)


def test_a_car_that_stands_does_not_turn():
    jitter = np.random.default_rng(1).normal(0, 0.3 * METRE, (2, 20))
    found = motion_along(track(np.arange(20.0), 48 + jitter[0], 11 + jitter[1], 0.0))
    assert found.v.max() == 0
    assert np.ptp(np.arctan2(found.poses[:, 1, 0], found.poses[:, 0, 0])) == 0


@pytest.mark.parametrize(
    ("words", "speed"),
    [
        ("[iso : 110] [latitude: {0:.6f}] [longitude: {1:.6f}] [rel_alt: 1.2]", np.nan),
        ("GPS({1:.6f},{0:.6f},19) BAROMETER:1.9", np.nan),
        ("07/06/2021 20:12:00 N:{0:.6f} E:{1:.6f} 36 km/h", 10.0),
    ],
)
def test_subtitles(tmp_path, words, speed):
    cues = [
        f"{i + 1}\n00:00:{i:02d},500 --> 00:00:{i + 1:02d},500\n{words.format(47 + i * 1e-4, 8.5)}\n"
        for i in range(6)
    ]
    (tmp_path / "v.SRT").write_text("\n".join(cues))
    track = from_file(tmp_path / "v.SRT")
    assert track.t.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    np.testing.assert_allclose(track.fixes[[0, 5]], [[47, 8.5], [47.0005, 8.5]])
    np.testing.assert_allclose(track.v, speed)


def test_a_table(tmp_path):
    rows = "".join(f"2021-06-07T20:12:{i:02d}Z,{47 + i * 1e-4},8.5,11.0\n" for i in range(5))
    (tmp_path / "t.csv").write_text("time,lat,lon,speed\n" + rows)
    track = from_file(tmp_path / "t.csv")
    assert track.absolute
    assert track.t[0] == START.timestamp()
    (tmp_path / "t.csv").write_text("time,lat,lon\n1,2,north\n")
    with pytest.raises(InputError, match="row 2: expected times, degrees and m/s"):
        from_file(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("when,lat,lon\n")
    with pytest.raises(InputError, match="expected columns t"):
        from_file(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"expected GPS as \.gpx"):
        from_file(tmp_path / "t.kml")


def film(path, seconds=10):
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), 10, (96, 54))
    for i in range(10 * seconds):
        writer.write(np.full((54, 96, 3), i, np.uint8))
    writer.release()


def sentence(i):
    """One BlackVue line: the camera's clock, and NMEA 0183 RMC; due north at 15 m/s."""
    degrees = 48 + 15 * i * METRE
    body = (
        f"GPRMC,2012{i:02d}.00,A,{48:02d}{60 * (degrees - 48):08.5f},N,01130.00000,E,29.158,0.00,070621,,,A"
    )
    check = 0
    for letter in body:
        check ^= ord(letter)
    return f"[{int(START.timestamp() + i) * 1000}]${body}*{check:02X}\n"


def test_gps_inside_a_blackvue_video(tmp_path):
    film(tmp_path / "v.mp4")
    box = {"type": b"free", "data": [{"type": b"gps ", "data": "".join(map(sentence, range(11))).encode()}]}
    film_only = (tmp_path / "v.mp4").read_bytes().replace(b"\0\0\0\x08free", b"\0\0\0\x08skip", 1)
    (tmp_path / "v.mp4").write_bytes(
        film_only + construct_mp4_parser.Box32ConstructBuilder({b"free": {}}).Box.build(box)
    )
    import_scenes(open_reader("video", tmp_path / "v.mp4", {}), tmp_path / "out", limit=1, quiet=True)
    scene = load_scene(find_scenes(tmp_path / "out")[0]).scene
    assert scene.motion_known is True
    assert scene.speed == pytest.approx(15, abs=0.1)
    assert scene.timestamp == "2021-06-07T20:12:02.000Z"
    assert scene.extra["motion_from"] == {"by": "GPS in v.mp4"}
    assert scene.extra["latitude_deg"] == pytest.approx(48, abs=1e-3)
    assert (scene.extra["heading_deg"] + 180) % 360 - 180 == pytest.approx(0, abs=0.5)
    assert inside(tmp_path / "none.mp4") is None


def test_gps_beside_a_video(tmp_path):
    film(tmp_path / "v.mp4")
    gpx, segment = gpxpy.gpx.GPX(), gpxpy.gpx.GPXTrackSegment()
    gpx.tracks.append(gpxpy.gpx.GPXTrack())
    gpx.tracks[0].segments.append(segment)
    for t, latitude, longitude in zip(*circle(14), strict=True):
        when = START + dt.timedelta(seconds=t)
        segment.points.append(gpxpy.gpx.GPXTrackPoint(latitude, longitude, time=when))
    (tmp_path / "v.gpx").write_text(gpx.to_xml())
    # OpenCV writes no time: the first point is at the first frame
    assert created(tmp_path / "v.mp4") is None
    import_scenes(open_reader("video", tmp_path / "v.mp4", {}), tmp_path / "out", limit=1, quiet=True)
    scene = load_scene(find_scenes(tmp_path / "out")[0]).scene
    assert scene.speed == pytest.approx(14, abs=0.3)
    assert scene.future.poses[-1][2] == pytest.approx(0.6, abs=0.05)
    assert scene.extra["motion_from"] == {"by": "v.gpx"}
    with pytest.raises(InputError, match="no GPS was found inside"):
        next(iter(open_reader("video", tmp_path / "v.mp4", {"gps": "inside"}).recordings()))()
    (tmp_path / "v.gpx").write_text("no GPX")
    with pytest.raises(InputError, match="expected a GPX file"):
        from_file(tmp_path / "v.gpx")


def test_clocks_that_do_not_fit_are_told_with_what_to_try():
    t, latitude, longitude = circle(30)
    rows = track(START.timestamp() + t, latitude, longitude)
    utc = dataclasses.replace(rows, absolute=True)
    moved = on_the_videos_clock(utc, START.timestamp() + 5, 20.0, 0.5)
    assert moved.t[0] == -4.5
    assert moved.epoch == START.timestamp() + 4.5
    local = START.timestamp() + 7200 + 3
    with pytest.raises(InputError, match=r"covers -7203\.0 to -7174\.0 s of a video .* gps_offset_s=7200;"):
        on_the_videos_clock(utc, local, 20.0, 0.0)
    assert on_the_videos_clock(utc, local, 20.0, 7200.0).t[0] == -3


def table(path, t, speed=None, zeros=()):
    at = [(0.0, 0.0) if i in zeros else (48 + i * 15 * METRE, 11.0) for i in t]
    told = "" if speed is None else f",{speed}"
    rows = "".join(f"{i},{a:.7f},{b}{told}\n" for i, (a, b) in zip(t, at, strict=True))
    path.write_text(("t,lat,lon" if speed is None else "t,lat,lon,speed") + "\n" + rows)
    return from_file(path)


def test_rows_without_a_fix_are_none(tmp_path):
    assert table(tmp_path / "t.csv", range(9), zeros=(3, 4)).t.tolist() == [0, 1, 2, 5, 6, 7, 8]
    with pytest.raises(InputError, match="expected 5 GPS points or more, found 0"):
        table(tmp_path / "t.csv", range(9), zeros=range(9))


def test_rows_of_no_number_are_left_out_and_degrees_out_of_range_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i},{48 + i * 15 * METRE:.7f},11" for i in range(9)]
    path.write_text("\n".join(["t,lat,lon", *rows[:4], "4,nan,11", "5,,", *rows[6:]]))
    found = from_file(path)
    assert found.by == "t.csv, without 2 rows that have no fix or leap"
    assert found.t.tolist() == [0, 1, 2, 3, 6, 7, 8]
    np.testing.assert_allclose(motion_along(found).v, 15, atol=0.1)
    path.write_text("\n".join(["t,lat,lon", *rows, "10,148,11"]))
    with pytest.raises(InputError, match=r"latitude up to 90 .* found \[148\. +11\.\]; are the two swapped"):
        from_file(path)


def test_a_scene_in_a_gap_of_fixes_is_left_out(tmp_path):
    film(tmp_path / "v.mp4", 12)
    table(tmp_path / "t.csv", [0, 1, 2, 6, 7, 8, 9, 10, 11])
    reader = open_reader("video", tmp_path / "v.mp4", {"gps": str(tmp_path / "t.csv")})
    drive = next(iter(reader.recordings()))()
    moments = drive.moments(1.0)
    assert moments[0].cut()[0].motion_known is True
    with pytest.raises(InputError, match=r"found none from 2\.0 to 6\.0 s"):
        moments[1].cut()


def test_a_table_that_is_shorter_than_the_video_is_told_at_the_import(tmp_path):
    film(tmp_path / "v.mp4", 16)
    table(tmp_path / "t.csv", range(11), zeros=(3,))
    reader = open_reader("video", tmp_path / "v.mp4", {"gps": str(tmp_path / "t.csv")})
    summary = import_scenes(reader, tmp_path / "out", limit=1, quiet=True)
    assert (
        "without 1 rows that have no fix or leap: covers 0.0 to 10.0 s of a video of 15.9 s"
        in summary.notes["v"]
    )
    table(tmp_path / "t.csv", range(16))
    assert next(iter(reader.recordings()))().note == ""
