"""A drive's camera height by lanes and cars: found where the stated one is wrong, left alone where it is right."""

import math
from pathlib import Path

import numpy as np
import pytest

from cfgen.benchmark.drive_heights import DriveHeights
from cfgen.geometry.camera import centre, mounted, project
from cfgen.perception.camera_doubt import TOLD
from cfgen.perception.frame_camera import FrameCamera, corrected, frame_camera
from cfgen.perception.networks import TwinLiteNet
from cfgen.perception.stands import FEWEST, HeightClue, height_clue, height_seen, raised
from cfgen.perception.vehicle_sizes import sights
from cfgen.perception.views import Views
from cfgen.records import Camera, Frame, Motion, Scene
from cfgen.scenes.check import check_folder
from cfgen.scenes.folder import load_scene, write_scene
from tests.perception.seeing import Painted
from tests.perception.test_vehicle_sizes import LENS, seen

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
    found = height_seen(CAMERA, clues(lane, cars))
    assert (found is not None and found.sure) == (height is not None)
    if height is not None:
        assert found.height_m == pytest.approx(height, rel=0.03)
        assert 0.05 < found.error < 0.15


def test_few_frames_tell_nothing():
    assert height_seen(CAMERA, clues(0.8, 0.8, 3)) is None
    assert height_clue(CAMERA, FrameCamera(reason="0 lane lines seen"), ()) == HeightClue(None, None)


def test_cars_tell_by_their_own_frame_s_pitch():
    stated = Camera(**LENS, T_cam_ego=mounted(1.8, 0.0))  # stands 1.5 m high and looks 1 degree down
    lines = FrameCamera(pitch_deg=1.0, pitch_error_deg=0.1, confidence=0.9)
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
    few = dict(list(drive.items())[: FEWEST - 1])
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
    views = Views.of(TwinLiteNet(str(models / "twinlitenet.onnx"), things=str(models / "fastestdet.onnx")))
    told, drawn = [], []
    for path in sorted((real / "udacity_hmb3" / "scenes").iterdir())[7::9]:
        folder = load_scene(path)
        front = folder.scene.front
        image = {(front.name, 0.0): folder.image()}
        view = views.scene(folder.scene, image).now
        lines = frame_camera(view.road, view.lanes, front)
        told.append(height_clue(front, lines, view.things))
        camera = corrected(raised(folder.scene, 1.25).front, lines)
        drawn += [one.ratio for one in sights(camera, view.things) if one.distance_m < 80]
    found = height_seen(front, told)
    assert found.sure
    assert found.height_m == pytest.approx(1.25, rel=0.08)
    assert len(drawn) >= 6
    assert 0.9 < np.median(drawn) < 1.1
