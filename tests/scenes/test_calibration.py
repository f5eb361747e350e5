"""A stated calibration is held against the lane lines of the drive's frames; imports without one ask these."""

import json
import math

import numpy as np
import pytest
from PIL import Image

from cfgen.geometry.camera import angles, centre, horizon_rows, mounted
from cfgen.perception.camera import GUESSED, TOLD, turned
from cfgen.perception.road_by_colour import ColourGround
from cfgen.records import Camera
from cfgen.scenes.check import check_folder, check_scene
from cfgen.scenes.folder import find_scenes, load_scene
from cfgen.scenes.importing import import_scenes, open_log, open_reader
from cfgen.scenes.readers.camera_options import plain_camera
from tests.perception.seeing import Painted

# The hand-written scene: 160 x 90, 67 degrees wide, 1.5 m high, 2 degrees down.


def told(folder, perceiver) -> list[str]:
    found = check_folder(folder, perceiver=perceiver)
    return [f.what for faults in found.values() for f in faults if f.where == "calibration"]


def turned_by(pitch: float, yaw: float = 0.0):
    return lambda frame: turned(frame.camera, math.radians(2.0 + pitch), math.radians(yaw))


def test_a_right_calibration_is_not_spoken_of(hand):
    perceiver = Painted(turned_by(0.2))
    assert told(hand(), perceiver) == []
    # t0 and 1 s before, there is none 2 s before; whether t0 shows a road is not looked at again
    assert perceiver.asked == 2


@pytest.mark.parametrize(
    ("true", "says"),
    [
        (turned_by(-1.0), "pitch 1.0 degrees where 2.0 is stated"),
        (turned_by(1.2), "pitch 3.2 degrees where 2.0 is stated"),
        (turned_by(0, 4.0), "yaw 4.0 degrees where 0.0 is stated"),
    ],
)
def test_a_wrong_angle_is_named_with_figures(hand, true, says):
    hand()
    [words] = told(hand(), Painted(true))
    assert says in words
    assert "confidence 0." in words
    assert "2 frames in 1 scenes" in words


def test_a_height_that_makes_lanes_too_wide_is_named(hand):
    low = mounted(1.1, math.radians(2))
    [words] = told(hand(), Painted(lambda frame: frame.camera.model_copy(update={"T_cam_ego": low})))
    assert "a lane 4.8 m wide from the stated 1.50 m of height (1.10 m would make it 3.5 m)" in words


def test_scenes_of_one_drive_are_told_of_once_and_the_farthest_named(hand, tmp_path):
    drive = tmp_path / "drive"
    for i in range(3):
        hand(scene_id=f"hand_{i}").rename(
            (drive / str(i)) if drive.is_dir() else (drive.mkdir() or drive / str(i))
        )
    pixels = np.asarray(Image.open(drive / "2" / "frame.png"))
    other = np.full_like(pixels, 9)
    Image.fromarray(other).save(drive / "2" / "frame.png")
    farther = lambda frame: turned_by(-2.0 if (frame.image == 9).all() else -1.0)(frame)  # noqa: E731
    [words] = told(drive, Painted(farther))
    assert "6 frames in 3 scenes" in words
    assert "farthest off is hand_2" in words


def test_nothing_is_said_without_lane_lines(hand):
    assert told(hand(), ColourGround()) == []
    assert told(hand(), Painted(turned_by(-3.0), lines=(1.8,))) == []
    assert told(hand(), None) == []


# --- import ---

TRUE = Camera(
    width=320,
    height=180,
    fx=228.5,
    fy=228.5,
    cx=159.5,
    cy=89.5,
    T_cam_ego=mounted(1.2, math.radians(4), math.radians(-2)),
)
ROW = float(horizon_rows(TRUE, [159.5])[0])


@pytest.fixture
def still(tmp_path):
    file = tmp_path / "still.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (180, 320, 3), np.uint8)).save(file)
    return file


def imported(still, tmp_path, perceiver, **options):
    reader = open_reader("image", still, options, perceiver)
    summary = import_scenes(reader, tmp_path / "out", quiet=True)
    scene = load_scene(find_scenes(tmp_path / "out")[0]).scene
    return scene, summary


def test_a_still_takes_horizon_yaw_and_height_from_its_lane_lines(still, tmp_path):
    scene, summary = imported(still, tmp_path, Painted(lambda _: TRUE))
    assert horizon_rows(scene.front, [159.5])[0] == pytest.approx(ROW, abs=1.5)
    assert centre(scene.front)[2] == pytest.approx(1.2, rel=0.08)
    as_wide = math.tan(math.radians(30)) / (160 / 228.5)  # by the guessed lens, 60 degrees wide
    assert math.degrees(angles(scene.front)[1]) == pytest.approx(-2 * as_wide, abs=0.3)
    assert scene.extra[TOLD]["from"] == {
        "fov_deg": "guess",
        "camera_height_m": "lane lines",
        "horizon_row": "lane lines",
        "yaw_deg": "lane lines",
    }
    [words] = summary.cameras.values()
    assert "from lane lines (confidence 0." in words
    assert "guessed: field of view 60 degrees" in words
    assert "sizes 12 m away good to" in words
    record = open_log(tmp_path / "out", "image", still, {}).end(summary)
    assert json.loads(record.read_text())["cameras"] == {"still": words}


def test_what_the_user_gives_wins(still, tmp_path):
    options = {"fov_deg": 50, "camera_height_m": 1.9, "horizon_row": 60, "yaw_deg": 1}
    perceiver = Painted(lambda _: TRUE)
    scene, summary = imported(still, tmp_path, perceiver, **options)
    assert horizon_rows(scene.front, [159.5])[0] == pytest.approx(60, abs=0.1)
    assert centre(scene.front)[2] == pytest.approx(1.9)
    assert math.degrees(angles(scene.front)[1]) == pytest.approx(1)
    assert set(scene.extra[TOLD]["from"].values()) == {"given"}
    assert summary.cameras["still"].startswith("given: ")
    assert perceiver.asked == 0


@pytest.mark.parametrize("perceiver", [None, ColourGround()])
def test_without_anybody_who_sees_lines_the_guess_stays_and_is_called_one(
    still, tmp_path, perceiver, monkeypatch
):
    scene, summary = imported(still, tmp_path, perceiver)
    guess = plain_camera(320, 180)
    assert horizon_rows(scene.front, [160.0])[0] == pytest.approx(horizon_rows(guess, [160.0])[0])
    assert centre(scene.front) == pytest.approx(centre(guess))
    assert scene.front.fx == guess.fx
    assert set(scene.extra[TOLD]["from"].values()) == {"guess"}
    assert scene.extra[TOLD]["reason"]
    assert "no use of lane lines: " in summary.cameras["still"]
    assert "guessed: field of view 60 degrees, height 1.40 m, horizon at row 90" in summary.cameras["still"]
    monkeypatch.setattr("cfgen.scenes.check.why_not_a_road_picture", lambda *_: "")  # the still is noise
    faults = check_scene(find_scenes(tmp_path / "out")[0], Painted(lambda _: scene.front))[1]
    assert any(f.level == "error" and f.what.startswith(f"{GUESSED}: what is drawn 12 m") for f in faults)


def test_a_video_goes_by_many_frames(tmp_path):
    frames = tmp_path / "frames"
    frames.mkdir()
    for i in range(90):
        Image.fromarray(np.full((180, 320, 3), i, np.uint8)).save(frames / f"{i:03d}.png")
    sway = lambda frame: turned(TRUE, math.radians(4 + np.sin(frame.image[0, 0, 0])), math.radians(-2))  # noqa: E731
    perceiver = Painted(sway)
    scenes = import_scenes(open_reader("video", frames, {"fps": 10}, perceiver), tmp_path / "out", quiet=True)
    camera = load_scene(find_scenes(tmp_path / "out")[0]).scene.front
    assert horizon_rows(camera, [159.5])[0] == pytest.approx(ROW, abs=2)
    assert perceiver.asked == 24
    assert list(scenes.cameras) == ["frames"]
