"""The front camera at each frame of a scene, past cameras that tremble by known angles, and a drive's camera height."""

import math
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from cfgen.benchmark.drive_heights import DriveHeights
from cfgen.geometry.camera import angles, centre, horizon_rows, mounted, project, unproject
from cfgen.geometry.frames import camera_at
from cfgen.perception import scene_camera
from cfgen.perception.camera import TOLD, LaneReading, read_lane_lines, sights, turned
from cfgen.perception.networks import TwinLiteNet
from cfgen.perception.scene_camera import (
    HeightClue,
    curves_up,
    drive_height,
    frame_cameras,
    height_clue,
    pitched,
    raised,
    steadied,
)
from cfgen.perception.settings import CAMERA as SETTINGS
from cfgen.perception.views import Views
from cfgen.records import Camera, Frame, Motion, Scene
from cfgen.scenes.check import check_folder
from cfgen.scenes.folder import load_scene, write_scene
from tests.hazards import drawn
from tests.perception.seeing import Painted
from tests.perception.test_camera import LENS, PLACES, seen

# --- each frame's pitch ---

PINHOLE = Camera(**LENS, T_cam_ego=mounted(1.5, math.radians(1.7)))
BLIND = LaneReading(reason="0 lane lines seen")


def pitch_at(t: float, **readings_and_things) -> float:
    """Degrees, of frames given by ``at_<ms before t0>=(reading, things)``."""
    frames = {-int(name.removeprefix("at_")) / 1000: each for name, each in readings_and_things.items()}
    shown = {at: SimpleNamespace(things=things) for at, (_, things) in frames.items()}
    camera = pitched(PINHOLE, {at: reading for at, (reading, _) in frames.items()}, shown, t)
    assert centre(camera) == pytest.approx(centre(PINHOLE))
    return math.degrees(angles(camera)[0])


def reading(pitch: float, error: float = 0.05, confidence: float = 0.9) -> LaneReading:
    return LaneReading(pitch, pitch_error_deg=error, lines=3, confidence=confidence)


def test_a_frames_pitch_by_sizes_alone_by_lines_alone_and_by_both():
    assert pitch_at(0.0, at_0=(BLIND, None)) == pytest.approx(1.7, abs=1e-9), "as stated"
    assert pitch_at(0.0, at_0=(BLIND, seen(*PLACES))) == pytest.approx(1.0, abs=0.15)
    assert pitch_at(0.0, at_0=(reading(1.0), None)) == pytest.approx(1.0, abs=0.1)
    assert pitch_at(0.0, at_0=(reading(1.1), seen(*PLACES))) == pytest.approx(1.0, abs=0.1)


def test_neighbours_replace_a_frame_that_is_astray_or_blind():
    """Between frames of a second a road does not jump. Far off in time they say nothing: it is as stated."""
    for odd in (BLIND, reading(4.0, 1.5, 0.2)):
        near = pitch_at(0.0, at_500=(reading(1.0), None), at_250=(reading(1.1), None), at_0=(odd, None))
        assert near == pytest.approx(1.1, abs=0.15)
    own = pitch_at(0.0, at_500=(reading(1.0), None), at_250=(reading(1.0), None), at_0=(reading(1.6), None))
    assert own == pytest.approx(1.5, abs=0.2)
    assert pitch_at(0.0, at_5000=(reading(0.7), None), at_0=(BLIND, None)) == pytest.approx(1.7, abs=0.1)


def test_an_absurd_pitch_is_not_believed():
    assert pitch_at(0.0, at_0=(reading(7.0, confidence=0.5), None)) == pytest.approx(1.7, abs=0.3)


def test_a_crest_that_the_stated_pitch_misses_is_seen(real, models):
    """At -1.5 s the real car ahead, 47 px wide, stands on row 263: 1.8 m of it were 79 px by the stated pitch."""
    folder = load_scene(real / "udacity_hmb3" / "scenes" / "hmb3_05139")
    own = folder.frames_at("front", [-1.75, -1.5, -1.25])
    images = {("front", frame.t): folder.image(frame) for frame in own}
    network = TwinLiteNet(str(models / "twinlitenet.onnx"))
    cameras = frame_cameras(Views.of(network).scene(folder.scene, images))
    scale = []
    for camera in (folder.scene.front, cameras[-1.5]):
        below = 263 - horizon_rows(camera, [camera.cx])[0]
        scale.append(1.8 * below / centre(camera)[2])
    assert scale[0] > 75
    assert 35 < scale[1] < 55


# --- the past, held to t0 ---

TIMES = (-0.5, -0.25, 0.0)
#: Pitch and yaw, deg, by which the camera looks elsewhere than stated.
TREMBLES = {-0.5: (0.3, -0.25), -0.25: (-0.2, 0.15), 0.0: (0.0, 0.0)}
RNG = np.random.default_rng(5)
GROUND = 110 + 6 * cv2.GaussianBlur(RNG.normal(0, 60, (900, 400)).astype(np.float32), (0, 0), 2, sigmaY=9)
HILLS = 120 + 7 * cv2.GaussianBlur(RNG.normal(0, 60, (600, 3600)).astype(np.float32), (0, 0), 2)


def trembling(camera, t):
    pitch, yaw, _ = angles(camera)
    down, left = (math.radians(angle) for angle in TREMBLES[t])
    return turned(camera, pitch + down, yaw + left)


def film(scene, t) -> np.ndarray:
    """(H, W, 3) uint8 by a camera that trembles: ground 0.1 m a cell, hills 0.05 degrees a cell."""
    camera = camera_at(scene.model_copy(update={"seen_cameras": {t: trembling(scene.front, t)}}), "front", t)
    v, u = np.mgrid[: camera.height, : camera.width]
    rays, _ = unproject(camera, np.column_stack([u.ravel(), v.ravel()]).astype(float))
    world = np.array(camera.T_cam_ego)
    ahead = rays @ world[:3, :3]
    eye = -world[:3, :3].T @ world[:3, 3]
    ground = eye[:2] - eye[2] / np.minimum(ahead[:, 2:], -1e-6) * ahead[:, :2]
    far = np.degrees(np.stack([np.arctan2(ahead[:, 1], ahead[:, 0]), np.arcsin(ahead[:, 2])], 1))
    down = (ahead[:, 2] < -1e-3) & (ground[:, 0] < 75)
    shown = np.where(
        down,
        _at(GROUND, ground[:, 1] * 10 + 200, ground[:, 0] * 10 + 100),
        _at(HILLS, far[:, 0] * 20 + 1800, far[:, 1] * 20 + 200),
    )
    grey = np.clip(shown, 0, 255).astype(np.uint8).reshape(v.shape)
    return np.repeat(grey[..., None], 3, axis=2)


def _at(texture, cols, rows) -> np.ndarray:
    maps = (np.clip(each, -10, 5000).astype(np.float32).reshape(-1, 100) for each in (cols, rows))
    return cv2.remap(texture, *maps, cv2.INTER_LINEAR, borderValue=128).ravel()


def off(camera, other) -> np.ndarray:
    return np.degrees(np.subtract(angles(camera)[:2], angles(other)[:2]))


@pytest.fixture(scope="module")
def filmed():
    scene = drawn.scene(8.0, curvature=1 / 150)
    return scene, {("front", t): film(scene, t) for t in TIMES}


def test_cameras_that_tremble_are_found_by_what_the_frames_share(filmed):
    scene, images = filmed
    found = steadied(scene, images, dict.fromkeys(TIMES, scene.front))
    assert found[0.0] == scene.front
    for t in TIMES[:2]:
        assert np.abs(off(found[t], trembling(scene.front, t))).max() < 0.05, t


def test_a_car_that_pitched_evenly_came_over_a_hill(filmed, monkeypatch):
    """Nose down by 0.002 a metre driven, towards t0: R = 500 m, 0.4 m lower 20 m before; a nod of t0 does not count."""
    scene, images = filmed
    times = tuple(np.arange(-10, 1) / 4)
    told = dict.fromkeys(times, 0.002 * 8.0 * 0.25)
    told[0.0] += 0.01
    monkeypatch.setattr(scene_camera, "_turn", lambda *given: (-told[given[2][0]], 0.0))
    grey = {("front", t): images["front", 0.0] for t in times}
    found = steadied(scene, grey, dict.fromkeys(times, scene.front))
    assert curves_up(scene, found) == pytest.approx(-0.002, rel=0.02)
    assert centre(found[-2.5])[2] - centre(scene.front)[2] == pytest.approx(-0.001 * 20**2, rel=0.05)
    assert centre(found[-2.5])[:2] == pytest.approx(centre(scene.front)[:2])


def test_frames_that_share_nothing_are_as_they_are_told(filmed):
    scene, images = filmed
    told = {t: trembling(scene.front, t) for t in TIMES}
    blank = {key: np.full_like(image, 90) for key, image in images.items()}
    small = {key: image[::2, ::2] if key[1] == -0.25 else image for key, image in images.items()}
    for without in (blank, small):
        found = steadied(scene, without, told)
        for t in TIMES[:2]:
            assert abs(off(found[t], told[t])[0]) < 0.02
            assert abs(off(found[t], scene.front)[1]) < 0.02  # the pose's yaw


def test_a_turn_that_poses_rule_out_is_another_cars(filmed):
    scene, images = filmed
    poses = [
        (x, y, th + (0.05 if t == -0.25 else 0))
        for t, (x, y, th) in zip(scene.history.t, scene.history.poses, strict=True)
    ]
    far = scene.model_copy(update={"history": scene.history.model_copy(update={"poses": tuple(poses)})})
    found = steadied(far, images, dict.fromkeys(TIMES, scene.front))
    assert np.abs(off(found[-0.25], scene.front)).max() < 0.02


# --- how high the camera stands ---

STATED, LOW = mounted(1.5, 0.02), mounted(1.2, 0.02)
CAMERA = Camera(width=320, height=180, fx=280, fy=280, cx=159.5, cy=89.5, T_cam_ego=STATED)
STILL = Motion(t=(-0.5, 0.0), poses=((-5.0, 0.0, 0.0), (0.0, 0.0, 0.0)), v=(10.0, 10.0))


def clues(lane: float | None, cars: float | None, count: int = 12) -> list[HeightClue]:
    """Of frames in which height / stated is so much by lanes and by cars, give or take a tenth."""
    logs = [None if one is None else math.log(one) for one in (lane, cars)]
    strays = np.linspace(-0.1, 0.1, count)
    return [HeightClue(*(None if one is None else one + off for one in logs)) for off in strays]


@pytest.mark.parametrize(
    ("lane", "cars", "height"),
    [
        (0.82, 0.84, 1.25),
        (0.8, None, 1.2),  # lanes 4.4 m wide: there are none
        (None, 0.8, 1.2),
        (0.86, None, None),  # 4.1 m: a wide lane, perhaps
        (1.0, 0.97, None),
        (0.8, 1.2, None),  # they contradict each other
        (0.5, 0.5, None),  # absurd: something else is wrong
    ],
)
def test_what_is_sure_is_measured_and_the_rest_left_as_stated(lane, cars, height):
    found = drive_height(CAMERA, clues(lane, cars))
    assert (found is not None and found.sure) == (height is not None)
    if height is not None:
        assert found.height_m == pytest.approx(height, rel=0.03)
        assert 0.05 < found.error < 0.15


def test_few_frames_tell_nothing():
    assert drive_height(CAMERA, clues(0.8, 0.8, 3)) is None
    assert height_clue(CAMERA, LaneReading(reason="0 lane lines seen"), ()) == HeightClue()


def test_cars_tell_by_their_own_frame_s_pitch():
    stated = Camera(**LENS, T_cam_ego=mounted(1.8, 0.0))  # stands 1.5 m high and looks 1 degree down
    lines = LaneReading(pitch_deg=1.0, pitch_error_deg=0.1, confidence=0.9)
    clue = height_clue(stated, lines, seen((15.0, -4.0), (25.0, 3.5), (40.0, 0.2)))
    assert clue.by_lane is None
    assert math.exp(clue.by_cars) == pytest.approx(1.5 / 1.8, abs=0.05)


def test_the_whole_rig_is_raised_and_looks_as_before():
    side = CAMERA.model_copy(update={"name": "left", "T_cam_ego": mounted(1.6, 0.1, 0.9)})
    scene = Scene(
        scene_id="s",
        source="test",
        cameras=(CAMERA, side),
        frames=(Frame(t=0.0, image="f.png"),),
        history=STILL,
    )
    up = raised(scene, 1.2)
    assert [float(centre(c)[2]) for c in up.cameras] == pytest.approx([1.2, 1.3])
    point = np.array([[10.0, 2.0, 0.5]])
    for before, after in zip(scene.cameras, up.cameras, strict=True):
        assert project(after, point - (0, 0, 0.3))[0] == pytest.approx(project(before, point)[0])


@pytest.fixture
def drive(tmp_path) -> dict[str, str]:
    """Six scenes of one drive, which state 1.5 m."""
    folders = {}
    for number in range(6):
        scene = Scene(
            scene_id=f"d_{number}",
            source="test",
            cameras=(CAMERA,),
            frames=(Frame(t=0.0, image="frame.png"),),
            history=STILL,
            extra={"drive": "d"},
        )
        image = np.full((180, 320, 3), 90 + number, np.uint8)
        place = tmp_path / "scenes" / scene.scene_id
        write_scene(place, scene, {"frame.png": image})
        folders[scene.scene_id] = str(place)
    return folders


def test_all_scenes_of_a_drive_get_the_same_height_and_it_is_kept(drive, tmp_path):
    perceiver = Painted(lambda frame: frame.camera.model_copy(update={"T_cam_ego": LOW}))
    views = Views.of(perceiver, tmp_path / "kept")
    scenes = [load_scene(folder).scene for folder in map(Path, drive.values())]
    found = {float(centre(DriveHeights(drive, views).corrected(scene).front)[2]) for scene in scenes}
    assert found.pop() == pytest.approx(1.2, abs=0.02)
    assert not found
    assert perceiver.asked == 6, "each frame once; later the file tells"
    alone = DriveHeights({}, Views.of(perceiver, tmp_path / "kept")).of(scenes[0])
    assert alone.sure, "the app, which has some scenes only, reads it"
    guessed = scenes[0].model_copy(update={"extra": {"drive": "d", TOLD: {}}})
    assert DriveHeights(drive, views).corrected(guessed) is guessed, "never stated, so fitted at import"


def test_a_drive_of_few_scenes_is_not_looked_at(drive):
    perceiver = Painted(lambda frame: frame.camera.model_copy(update={"T_cam_ego": LOW}))
    few = dict(list(drive.items())[: SETTINGS.fewest - 1])
    scene = load_scene(Path(few["d_0"])).scene
    assert DriveHeights(few, Views.of(perceiver)).corrected(scene) is scene
    assert perceiver.asked == 0


def test_check_names_the_height(drive, tmp_path):
    low = Painted(lambda frame: frame.camera.model_copy(update={"T_cam_ego": LOW}))
    [words] = [
        fault.what
        for faults in check_folder(tmp_path / "scenes", perceiver=low).values()
        for fault in faults
        if fault.where == "calibration"
    ]
    assert "camera height 1.20 m (good to 12%; lanes in 6 frames, cars in 0) where 1.50 is stated" in words


def test_cars_of_a_real_drive_are_drawn_in_their_size(real, models):
    """HMB_3 states 1.5 m: eight frames over the drive draw real cars at 0.8 of their size, its lanes 4.3 m wide."""
    views = Views.of(TwinLiteNet(str(models / "twinlitenet.onnx")))
    told, drawn = [], []
    for path in sorted((real / "udacity_hmb3" / "scenes").iterdir())[7::9]:
        folder = load_scene(path)
        front = folder.scene.front
        image = {(front.name, 0.0): folder.image()}
        view = views.scene(folder.scene, image).now
        lines = read_lane_lines(view.road, view.lanes, front)
        told.append(height_clue(front, lines, view.things))
        camera = pitched(raised(folder.scene, 1.25).front, {0.0: lines}, {0.0: view}, 0.0)
        drawn += [one.ratio for one in sights(camera, view.things) if one.distance_m < 80]
    found = drive_height(front, told)
    assert found.sure
    assert found.height_m == pytest.approx(1.25, rel=0.08)
    assert len(drawn) >= 6
    assert 0.9 < np.median(drawn) < 1.1
