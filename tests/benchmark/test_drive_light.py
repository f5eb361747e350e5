"""One sun for a drive: the scenes before and after tell what a frame alone does not show."""

import math

import cv2
import numpy as np
import pytest

from cfgen.benchmark.drive_light import DriveLight, turn_between
from cfgen.geometry.camera import ground_points, mounted
from cfgen.perception.light import CONFIDENT, estimate_scene_light
from cfgen.records import Camera, Frame, Motion, Scene
from cfgen.scenes.folder import write_scene

CAMERA = Camera(width=320, height=180, fx=280, fy=280, cx=159.5, cy=89.5, T_cam_ego=mounted(1.5, 0.04))
GROUND, SEEN = ground_points(CAMERA, np.stack(np.meshgrid(np.arange(320), np.arange(180)), -1).reshape(-1, 2))
#: deg/s to the left, s between scenes
RATE, GAP = 3.0, 3.0
#: Where shadows fall on the map, deg from the first scene's heading.
AXIS = 50.0


def picture(axis_deg: float | None) -> np.ndarray:
    """A road under a white sky, with bands of shade along ``axis_deg`` to the left of straight ahead."""
    image = np.full((180, 320, 3), 255.0)
    image[100:] = (142, 140, 136)
    if axis_deg is not None:
        angle = math.radians(axis_deg)
        across = GROUND[:, 1] * math.cos(angle) - GROUND[:, 0] * math.sin(angle)
        bands = SEEN & (np.mod(across, 3.0) < 1.0) & (np.hypot(*GROUND.T) < 60)
        image[bands.reshape(180, 320)] = (52, 55, 62)
    return cv2.GaussianBlur(image, (0, 0), 0.6).clip(0, 255).astype(np.uint8)


def motion(start: float, end: float) -> Motion:
    times = np.arange(start, end + 0.01, 0.5)
    poses = [(10 * t, 0.0, math.radians(RATE * t)) for t in times]
    return Motion(t=tuple(times), poses=tuple(poses), v=(10.0,) * len(times))


def scene_at(number: int, drive: str = "d", known: bool = True, until: float = 6.0) -> Scene:
    return Scene(
        scene_id=f"{drive}_{number:03}",
        source="test",
        cameras=(CAMERA,),
        frames=(Frame(t=0.0, image="frame.png"),),
        history=motion(-2.0, 0.0),
        future=motion(0.5, until),
        motion_known=known,
        extra={"drive": drive, "t0_in_drive_s": GAP * number},
    )


@pytest.fixture
def drive(tmp_path) -> dict[str, str]:
    """Five scenes whose car turns left; the middle one shows no shadow."""
    folders = {}
    for number in range(5):
        scene = scene_at(number)
        shown = None if number == 2 else AXIS - RATE * GAP * number
        write_scene(tmp_path / scene.scene_id, scene, {"frame.png": picture(shown)})
        folders[scene.scene_id] = str(tmp_path / scene.scene_id)
    return folders


def test_the_scenes_around_tell_where_the_sun_stands(drive):
    scene, plain = scene_at(2), picture(None)
    assert estimate_scene_light(scene, plain).sun.source == "unknown"
    sun = estimate_scene_light(scene, plain, DriveLight(drive).neighbors(scene)).sun
    assert sun.source == "drive"
    assert sun.confidence >= CONFIDENT
    azimuth = math.degrees(math.atan2(sun.vector[1], sun.vector[0]))
    behind = AXIS - RATE * GAP * 2 - 180
    assert abs((azimuth - behind + 180) % 360 - 180) < 8


def test_another_drive_an_unknown_time_or_motion_and_a_broken_scene_say_nothing(drive, tmp_path):
    drive_light = DriveLight(drive)
    assert len(drive_light.neighbors(scene_at(2))) == 4
    assert drive_light.neighbors(scene_at(2, known=False)) == []
    assert drive_light.neighbors(scene_at(2).model_copy(update={"extra": {"drive": "d"}})) == []
    elsewhere = scene_at(2, "d").model_copy(update={"extra": {"drive": "e", "t0_in_drive_s": 6.0}})
    assert drive_light.neighbors(elsewhere) == []
    (tmp_path / "d_001" / "scene.json").write_text("{")
    (tmp_path / "d_003" / "frame.png").write_bytes(b"")
    assert len(DriveLight(drive).neighbors(scene_at(2))) == 1, (
        "beyond a picture that is lost; not beyond a scene that is"
    )


def test_turns_are_read_where_motions_meet():
    assert math.degrees(turn_between(scene_at(0), scene_at(1))) == pytest.approx(RATE * GAP, abs=0.1)
    assert turn_between(scene_at(1), scene_at(0)) is None
    assert turn_between(scene_at(0), scene_at(9)) is None, "too far apart"
