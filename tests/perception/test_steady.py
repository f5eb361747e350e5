"""Past cameras that tremble by known angles, over a road with texture and hills behind it."""

import math

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import angles, centre, unproject
from cfgen.geometry.frames import camera_at
from cfgen.perception import steady
from cfgen.perception.frame_camera import turned
from cfgen.perception.steady import curves_up, steadied
from tests.hazards import drawn

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
    monkeypatch.setattr(steady, "_turn", lambda *given: (-told[given[2][0]], 0.0))
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
