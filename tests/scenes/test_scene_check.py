"""Each fault that a first import tends to have is named; a right scene has none."""

import math
import re

import numpy as np
import pytest

from cfgen.cli.main import main
from cfgen.geometry.camera import mounted
from cfgen.scenes.check import SceneFault, check_folder, check_scene, in_lines

V, DT = 10.0, 0.25
#: of a camera that nobody calibrated
GUESS = {"pitch_deg": 3.0, "height": 0.4, "correlation": 0.0, "camera_height_m": 1.4}


def rows(start: int, end: int, v: float = V, theta: float = 0.0, y: float = 0.0) -> list[list[float]]:
    return [[i * DT * V, y * i, theta * (i != 0), v] for i in range(start, end)]


def words(folder) -> str:
    return "\n".join(f"{f.level}: {f.where}: {f.what}" for f in check_scene(folder)[1])


def test_a_right_scene_has_no_fault(hand):
    assert words(hand()) == ""


def test_real_drives_have_no_fault(real):
    found = check_folder(real / "udacity_hmb3" / "scenes")
    assert len(found) == 72
    assert not any(found.values())


TILTED_UP = {"camera_height_m": 1.5, "pitch_deg": -40}
TO_THE_LEFT = {"camera_height_m": 1.5, "pitch_deg": 2, "yaw_deg": 30}
TWICE = {"T_cam_ego": mounted(1.5, math.radians(2)), "camera_height_m": 1.5, "pitch_deg": 5}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"future": rows(1, 25, v=36.0)}, r"speed does not match poses.*v is 36\.0 m/s.*move at 10\.0"),
        ({"future": [[*r[:3], r[3] + 0.6 * (i == 7)] for i, r in enumerate(rows(1, 25))]},
         r"1 of 31 speeds jump: at t = 2\.00 s v is 10\.60 m/s.*the poses move at 10\.00"),
        ({"future": rows(1, 25, theta=90.0)}, "off its heading; theta is in radians"),
        ({"future": None}, "future: none"),
        ({"history": rows(-2, 1), "history_images": None}, "expected 2 s before t0, found 0.5 s"),
        ({"history": rows(-8, -4) + rows(-2, 1), "history_t": [-2, -1.75, -1.5, -1.25, -0.5, -0.25, 0],
          "history_images": None}, r"history: gap of 0\.75 s at t = -1\.25 s"),
        ({"history_images": ["hist/0.png", "hist/1.png"] + [None] * 5 + ["hist/2.png"]}, "frames of .*: gap of 1.50 s"),
        ({"history_images": [f"hist/{i}.png" for i in (3, 2, 1, 0)]}, "timestamps out of order"),
        ({"history": None, "history_images": None, "speed_t0": 10.0}, "motion_known: false"),
        ({"history_extrapolated": True}, "history: continued backwards at constant speed"),
        ({"extrinsics": TILTED_UP}, "expected the horizon inside the frame.*found it at row"),
        ({"extrinsics": TO_THE_LEFT}, "off the road's bottom"),
        ({"extrinsics": {"camera_height_m": 15.0, "pitch_deg": 2}}, "15.00 m above the ground; metres"),
        ({"extrinsics": TWICE}, "T_cam_ego counts, and differs"),
        ({"image": "nowhere.png"}, "error: scene.json: .*nowhere.png"),
    ],
)  # fmt: skip
def test_faults_are_named(hand, changes, says):
    assert re.search(says, words(hand(**changes)))


def test_image_faults(hand):
    folder = hand()
    data = (folder / "hist" / "1.png").read_bytes()
    (folder / "hist" / "2.png").write_bytes(data)
    (folder / "hist" / "3.png").write_bytes(data[:500])
    found = words(folder)
    assert "hist/2.png: same picture at t = -0.75 and -0.5 s although the car moves" in found
    assert "error: hist/3.png" in found
    assert "truncated" in found


def test_a_standing_car_may_repeat_its_picture(hand):
    still = [[0, 0, 0, 0.0]] * 9
    folder = hand(history=still, future=None)
    (folder / "hist" / "2.png").write_bytes((folder / "hist" / "1.png").read_bytes())
    assert "same picture" not in words(folder)


def test_two_scenes_with_one_id(hand, tmp_path):
    hand("a"), hand("b")
    assert "is also" in check_folder(tmp_path)[tmp_path / "b"][0].what


# --- commands -----------------------------------------------------------------------------------------------


def test_check_list_and_show(hand, tmp_path, capsys):
    hand("good"), hand("odd", scene_id="odd", future=None)
    assert main(["scenes", "check", str(tmp_path)]) == 0
    assert "2 scenes: 1 without fault, 1 with warnings, 0 unusable" in capsys.readouterr().out
    assert main(["scenes", "list", str(tmp_path)]) == 0
    assert "hand_1" in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert main(["scenes", "show", str(tmp_path), "--out", str(page), "--quiet"]) == 0
    html = page.read_text()
    assert html.count("<article>") == 2
    assert html.count("no fault found") == 1
    assert "http" not in html


def test_a_broken_scene_is_shown_as_broken_and_exits_1(hand, tmp_path, capsys):
    hand("good"), hand("bad", width=-4)
    assert main(["scenes", "check", str(tmp_path)]) == 1
    assert "1 unusable" in capsys.readouterr().out
    page = tmp_path / "page.html"
    assert main(["scenes", "show", str(tmp_path), "--out", str(page), "--quiet"]) == 1
    assert "field &#x27;width&#x27;" in page.read_text()
    assert main(["scenes", "check", str(tmp_path / "none")]) == 2


def test_the_overlay_is_where_the_road_is(hand):
    """The path over the frame starts at the bottom centre and ends at the horizon."""
    from cfgen.geometry.camera import horizon_rows
    from cfgen.geometry.path import EgoPath
    from cfgen.scenes.folder import load_scene
    from cfgen.scenes.show import path_overlay

    scene = load_scene(hand()).scene
    overlay = path_overlay(scene.front, EgoPath.from_scene(scene))
    points = re.search(r'<polygon points="([^"]*)"', overlay)[1]
    px = np.array([[float(n) for n in p.split(",")] for p in points.split()])
    assert px[:, 1].min() > horizon_rows(scene.front, [80.0])[0]
    assert px[:, 1].max() > 90
    at_bottom = px[np.abs(px[:, 1] - 85) < 3]
    assert at_bottom[:, 0].min() < 79.5 < at_bottom[:, 0].max()


def test_real_faults_come_first_and_what_is_alike_is_told_once(tmp_path):
    guess = "the camera is a guess: what is drawn 12 m away may be off by {} in size"
    a, b, c = (tmp_path / name for name in "abc")
    guesses = [SceneFault("error", "camera 'front'", guess.format(share)) for share in ("25%", "31%")]
    images = ("frame.png", "hist/0.png", "hist/1.png")
    wide = [SceneFault("error", name, f"{c / name}: expected 9x8 pixels, found 8x8") for name in images]
    common = SceneFault("warning", "future", "none")
    rare = SceneFault("warning", "history", "gap")
    lines = list(in_lines({a: [common, guesses[0]], b: [common, guesses[1]], c: [common, *wide, rare]}))
    assert lines == [
        f"error: {c}: frame.png (and 2 more alike, in 1 scenes: to c): {c}/frame.png: expected 9x8 pixels, found 8x8",
        f"error: {a}: camera 'front' (and 1 more alike, in 2 scenes: to b): {guesses[0].what}",
        f"warning: {c}: history: gap",
        f"warning: {a}: future (and 2 more alike, in 3 scenes: to c): none",
    ]


def test_the_page_tells_what_check_tells_and_draws_what_a_build_refuses(hand, tmp_path, monkeypatch):
    from cfgen.scenes.check import CalibrationCheck

    said = "the lane lines of 9 frames say pitch 0.5 degrees where 2.0 is stated"
    monkeypatch.setattr(CalibrationCheck, "disagreements", lambda self: {tmp_path / "a": said})
    hand("a", scene_id="a")
    hand("b", scene_id="b", camera_from={"doubts": GUESS})
    page = tmp_path / "page.html"
    assert (
        main(["scenes", "show", str(tmp_path), "--out", str(page), "--perception", "road-net", "--quiet"])
        == 0
    )
    text = page.read_text()
    assert said in text
    assert "the camera is a guess" in text
    assert text.count('class="frame"') == 4


def test_a_scene_whose_tags_are_none_is_unusable_wherever_it_is_counted(hand, tmp_path, capsys):
    hand("a", scene_id="a")
    hand("b", scene_id="b", tags={"rain": {"mm": 3}})
    assert main(["scenes", "list", str(tmp_path)]) == 1
    assert "unusable: " in (told := capsys.readouterr().out)
    assert "scene.json: tags: 'rain': expected a text" in told
    assert main(["scenes", "list", str(tmp_path), "--where", "speed > 1"]) == 0
    assert "1 of 2 scenes match; 1 have a record that cannot be read" in capsys.readouterr().out
