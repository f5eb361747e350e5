"""One sun for a drive: the scenes before and after tell what a frame alone does not show."""

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest

from cfgen.benchmark.drive_suns import DriveSuns
from cfgen.geometry.camera import ground_points, mounted
from cfgen.perception.drive_sun import Turn, glance, seen_from, turn
from cfgen.perception.light_probe import probe_light
from cfgen.perception.sun import CONFIDENT, find_sun
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
    frame = probe_light(picture(None), CAMERA)
    assert find_sun(frame).source == "unknown"
    found = find_sun(frame, others=DriveSuns(drive).others(scene_at(2)))
    assert found.source == "drive"
    assert found.confidence >= CONFIDENT
    azimuth = math.degrees(math.atan2(found.direction[1], found.direction[0]))
    behind = AXIS - RATE * GAP * 2 - 180
    assert abs((azimuth - behind + 180) % 360 - 180) < 8
    clear = [replace(signs, shines=2.0) for signs in DriveSuns(drive).others(scene_at(2))]
    assert find_sun(frame, others=clear).shines > 0.5 > find_sun(frame).shines


def test_another_drive_an_unknown_time_or_motion_and_a_broken_scene_say_nothing(drive, tmp_path):
    suns = DriveSuns(drive)
    assert len(suns.others(scene_at(2))) == 4
    assert suns.others(scene_at(2, known=False)) == []
    assert suns.others(scene_at(2).model_copy(update={"extra": {"drive": "d"}})) == []
    other = scene_at(2, "d").model_copy(update={"extra": {"drive": "e", "t0_in_drive_s": 6.0}})
    assert suns.others(other) == []
    (tmp_path / "d_001" / "scene.json").write_text("{")
    (tmp_path / "d_003" / "frame.png").write_bytes(b"")
    assert len(DriveSuns(drive).others(scene_at(2))) == 1, (
        "beyond a picture that is lost; not beyond a scene that is"
    )


def test_turns_are_read_where_motions_meet_and_a_gap_makes_them_unsure():
    near = turn(scene_at(0), scene_at(1), GAP)
    assert math.degrees(near.angle) == pytest.approx(RATE * GAP, abs=0.1)
    apart = turn(scene_at(0, until=1.0), scene_at(2), 2 * GAP)
    assert apart.variance > 4 * near.variance
    assert turn(scene_at(0), scene_at(9), 9 * GAP) is None


def test_an_unsure_turn_says_less_and_azimuths_turn_with_it():
    signs = glance(scene_at(0), picture(AXIS))
    sure, unsure = seen_from(signs, Turn(0.5, 0.0)), seen_from(signs, Turn(0.5, 1.0))
    assert sure.shadows > 3 * unsure.shadows > 0
    plain = seen_from(signs, Turn(0.0, 0.0))
    steps = int(sure.log.argmax() - plain.log.argmax())
    assert steps % 180 == pytest.approx(math.degrees(0.5) / 2, abs=1)
