"""The folder format: by hand, from the real drives, and every fault named."""

import copy
import json
import math
import random

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.core.paths import scenarios_dir
from cfgen.geometry.camera import mounted
from cfgen.records import Camera, Frame, Motion, Scene
from cfgen.scenes.check import check_scene
from cfgen.scenes.folder import SCENE_FILE, copy_scene, find_scenes, load_scene, scene_hash, write_scene
from cfgen.scenes.format import json_schema
from cfgen.scenes.show import describe


def test_a_hand_written_scene_loads(hand):
    folder = load_scene(hand())
    scene = folder.scene
    assert scene.front.model == "pinhole"
    assert scene.speed == 10
    assert scene.motion_known
    assert [f.t for f in scene.frames] == [0, -1, -0.75, -0.5, -0.25]
    assert folder.image().shape == (90, 160, 3)
    assert scene.history.t[0] == -2
    assert scene.future.t[-1] == 6


def test_the_least_that_is_needed(hand):
    scene = load_scene(hand(history=None, future=None, history_images=None, speed_t0=8.0)).scene
    assert not scene.motion_known
    assert scene.history.poses[0] == (-16, 0, 0)
    assert scene.future is None


def test_frames_are_the_latest_at_or_before(hand):
    folder = load_scene(hand())
    times = [-2.0, -0.9, -0.8, -0.3, 0.0]
    found = folder.frames_at("front", times)
    assert [f and f.image for f in found] == [None, "hist/0.png", None, None, "frame.png"]
    wide = folder.frames_at("front", times, tolerance_s=0.3)
    assert [f and f.t for f in wide] == [None, -1, -1, -0.5, 0]
    assert [i is not None for i in folder.frames_at("front", times)] == [False, True, False, False, True]


def test_several_cameras_go_there_and_back(tmp_path):
    front = Camera(name="wide", model="ftheta", width=64, height=40, cx=32, cy=20, fw_poly=(0, 50), bw_poly=(0, 0.02),
                   T_cam_ego=mounted(1.4))  # fmt: skip
    left = Camera(name="left", model="fisheye", width=32, height=24, fx=20, fy=20, cx=16, cy=12,
                  distortion=(0.1, 0, 0, 0), T_cam_ego=mounted(1.4, yaw=math.pi / 2))  # fmt: skip
    frames = (
        Frame(camera="wide", t=0.0, image="a.png"),
        Frame(camera="wide", t=-0.4, image="b.jpg"),
        Frame(camera="left", t=-0.013, image="c.png"),
    )
    scene = Scene(
        scene_id="two", license="CC0", timestamp="2026-01-01T00:00:00Z", cameras=(front, left), frames=frames,
        history=Motion(t=(-1.0, 0.0), poses=((-5, 0, 0), (0, 0, 0)), v=(5, 5)), extra={"weather": "rain"},
    )  # fmt: skip
    pixels = {"a.png": np.full((40, 64, 3), 7, np.uint8), "b.jpg": np.zeros((40, 64, 3), np.uint8),
              "c.png": np.full((24, 32, 3), 9, np.uint8)}  # fmt: skip
    write_scene(tmp_path / "s", scene, pixels)
    folder = load_scene(tmp_path / "s")
    assert folder.scene == scene
    assert folder.image().mean() == 7
    assert folder.image(folder.frames_at("left", [0.0])[0]).mean() == 9


def test_real_drives_load_and_copy_to_the_same_hash(real, tmp_path):
    folders = find_scenes(real)
    assert len(folders) == 76
    for path in folders[::9]:
        folder = load_scene(path)
        folder.image()
        copied = copy_scene(folder, tmp_path / path.name)
        assert load_scene(copied.root).scene == folder.scene
        assert scene_hash(copied.root) == scene_hash(path)


def test_hash_knows_content_and_not_layout(hand):
    a, b = hand("a"), hand("b")
    (b / "scene.json").write_text(json.dumps(json.loads((b / "scene.json").read_text()), indent=3))
    assert scene_hash(a) == scene_hash(b)
    image = b / "hist" / "2.png"
    image.write_bytes(image.read_bytes() + b"\0")
    assert scene_hash(a) != scene_hash(b)


def test_schema_that_ships_is_the_formats():
    shipped = json.loads((scenarios_dir() / "scene.schema.json").read_text())
    assert shipped == json_schema(), "run: python -m cfgen scenes schema > scenarios/scene.schema.json"


MIRRORED = [[0, 1, 0, 0], [0, 0, -1, 1.5], [1, 0, 0, -1], [0, 0, 0, 1]]  # x to the left
INVERTED = np.linalg.inv(np.array(mounted(1.5))).tolist()
HISTORY = [[-2.5, 0, 0, 10], [0, 0, 0, 10]]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"width": 0}, "field 'width'"),
        ({"history": [[-2.5, 0, 0, math.nan], [0, 0, 0, 1]]}, r"history\.0\.3.*finite"),
        ({"history": [[-2.5, 0, 0, 10], [1, 0, 0, 10]], "history_images": None}, "history: expected the last row"),
        ({"history": HISTORY, "history_t": [-1, -0.5, 0]}, "history_t: expected 2 times.*found 3"),
        ({"history": HISTORY, "history_t": [0, 0]}, "increase strictly"),
        ({"history": HISTORY}, "history_images: expected at most 2.*found 8"),
        ({"history": None}, "speed_t0.*found neither"),
        ({"future_t": list(range(24))}, "future_t: expected times after 0"),
        ({"drive_on": "Left"}, "field 'drive_on': Input should be 'left' or 'right', found 'Left'"),
        ({"road": {"kind": "rails"}}, "field 'road"),
        ({"sun": [0, 0, 0]}, "sun: expected x, y, z towards the sun"),
        ({"latitude_deg": 91, "longitude_deg": 0, "heading_deg": 0}, "field 'latitude_deg'"),
        ({"latitude_deg": 48.1}, "latitude_deg: expected all of .*heading_deg or none"),
        ({"traffic": [{"x": 3}]}, r"field 'traffic\.0\.y'"),
        ({"futur": [[1, 0, 0, 1]], "future": None}, "'futur' is not known; did you mean 'future'"),
        ({"extrinsics": {"T_cam_ego": INVERTED}}, "above the ground.*inverted"),
        ({"extrinsics": {"pitch_deg": 3}}, "expected T_cam_ego or camera_height_m"),
        ({"extrinsics": {"T_cam_ego": MIRRORED}}, "T_cam_ego: expected a rotation, found a mirrored one"),
        ({"intrinsics": {"cx": 80, "cy": 45}}, "fx and fy are missing"),
        ({"image": "../frame.png"}, "inside the scene folder"),
        ({"image": "missing.png"}, r"missing\.png: expected the image at t = 0 s.*found none"),
        ({"frames": [{"camera": "rear", "t": 0, "image": "frame.png"}]}, "camera 'rear'; known are"),
        ({"frames": [{"camera": "front", "t": 0.5, "image": "hist/0.png"}]}, "a planner sees none after t0"),
        ({"frames": [{"camera": "front", "t": -9, "image": "hist/0.png"}]}, "history starts at -2 s"),
        ({"history": [[-25, 0, 0, 1000], [0, 0, 0, 1000]], "history_images": None}, r"history\.0\.3.*150"),
    ],
)  # fmt: skip
def test_faults_are_named(hand, changes, says):
    folder = hand(**changes)
    with pytest.raises(InputError, match=says) as caught:
        load_scene(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_image_faults_are_named(hand):
    folder = hand()
    image = folder / "frame.png"
    image.write_bytes(image.read_bytes()[:2000])
    with pytest.raises(InputError, match=r"frame\.png.*truncated"):
        load_scene(folder).image()
    image.write_text("not an image")
    with pytest.raises(InputError, match="expected an image"):
        load_scene(folder).image()
    with pytest.raises(InputError, match="expected 80x90 pixels as camera 'front' says, found 160x90"):
        load_scene(hand("narrow", width=80)).image()


def test_no_scenes(tmp_path):
    with pytest.raises(InputError, match="found none; make them with"):
        find_scenes(tmp_path)
    with pytest.raises(InputError, match="expected a folder of scenes"):
        find_scenes(tmp_path / "nowhere")


def test_scenes_are_found_in_the_order_of_their_folders(tmp_path):
    for name in ("a-b", "a/b", "a/b/c", ".hidden/d", "e/scene.json"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / SCENE_FILE).write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert [str(p.relative_to(tmp_path)) for p in find_scenes(tmp_path)] == [
        "a/b",
        "a/b/c",
        "a-b",
        "e/scene.json",
    ]
    assert find_scenes(tmp_path / "a-b") == [tmp_path / "a-b"]
    (tmp_path / "scene.json").write_text("{ nope")
    with pytest.raises(InputError, match="expected JSON"):
        load_scene(tmp_path)


JUNK = [
    None,
    "",
    "x",
    -1,
    0,
    1e308,
    -1e308,
    1e-308,
    math.nan,
    math.inf,
    [],
    {},
    True,
    1e9,
    "../x",
    10**400,
    0.5,
]


def places(value, path=()):
    """Paths to every value in nested JSON."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def test_no_content_makes_it_stumble(hand):
    """Any value anywhere replaced by junk: a usable scene that check and show take, or one clear error."""
    folder = hand()
    text = (folder / "scene.json").read_text()
    rng = random.Random(11)
    where = list(places(json.loads(text)))
    refused = []
    for _ in range(250):
        content = json.loads(text)
        *path, last = rng.choice(where)
        inner = content
        for key in path:
            inner = inner[key]
        inner[last] = copy.deepcopy(rng.choice(JUNK))
        (folder / "scene.json").write_text(json.dumps(content))
        try:
            load_scene(folder)
        except InputError as error:
            refused.append(str(error))
        else:
            describe(folder, check_scene(folder)[1])
    assert 100 < len(refused) < 250
    assert not any("\n" in reason for reason in refused)
