"""One invented drive, a left bend at 10 m/s on a hill, that tests write in the format of each data set."""

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

from cfgen.geometry import camera as cam
from cfgen.scenes.check import check_folder
from cfgen.scenes.drive import raised
from cfgen.scenes.folder import find_scenes, load_scene
from cfgen.scenes.importing import import_scenes, open_reader
from cfgen.scenes.readers.motion import integrated

V, YAW_RATE, SECONDS = 10.0, 0.05, 12.0
WIDTH, HEIGHT = 96, 54
MOUNTING = cam.mounted(1.6, pitch=0.03, yaw=0.01, roll=0.005, x=1.7, y=0.02)
K = np.array([[80.0, 0, 47.5], [0, 80.0, 26.5], [0, 0, 1]])
#: the world in which the drive's log is written: turned, away from the origin, on a hill
WORLD = np.eye(4)
WORLD[:3, :3] = Rotation.from_euler("ZYX", [2.0, 0.03, -0.02]).as_matrix()
WORLD[:3, 3] = (300.0, -120.0, 15.0)


def poses(t) -> np.ndarray:
    """(T, 4, 4) world from ego at times from 0 on."""
    t = np.asarray(t, float)
    fine = np.arange(0, SECONDS + 0.01, 0.01)
    flat = integrated(fine, np.full(len(fine), V), np.full(len(fine), YAW_RATE))
    return WORLD @ raised(np.column_stack([np.interp(t, fine, flat[:, i]) for i in range(3)]))


#: length, width and height of a car that drives before it, m
CAR = (4.4, 1.9, 1.5)


def car(t) -> np.ndarray:
    """(T, 4, 4) world from that car's box, at its middle, at times from 0 on: it keeps to a line at 6 m/s."""
    t = np.asarray(t, float)
    turn = np.full(len(t), 0.2)
    return lifted(
        WORLD @ raised(np.column_stack([30 + 6 * np.cos(0.2) * t, 1 + 6 * np.sin(0.2) * t, turn])), 0.75
    )


def tells_of_the_car(scene, t0: float, atol: float = 0.01) -> None:
    """The scene tells of this one vehicle, where it is at t0, s, and was in the 2 s before."""
    [one] = scene.traffic
    back = [row[0] for row in one.track]
    seen = np.linalg.inv(poses([t0])[0]) @ car(t0 + np.array([*back, 0.0]))
    expected = np.column_stack([seen[:, 0, 3], seen[:, 1, 3], np.arctan2(seen[:, 1, 0], seen[:, 0, 0])])
    np.testing.assert_allclose([(row[1:]) for row in one.track], expected[:-1], atol=atol)
    np.testing.assert_allclose((one.x, one.y, one.theta, one.v), (*expected[-1], 6.0), atol=atol)
    assert -2.0 in back
    assert one.size.model_dump() == pytest.approx(
        dict(zip(("length", "width", "height"), CAR, strict=True)), abs=1e-3
    )


def heading(t: float) -> float:
    """Degrees clockwise from the world's y axis, which data sets of known place point north."""
    forward = poses([t])[0][:3, 0]
    return float(np.degrees(np.arctan2(forward[0], forward[1])) % 360)


def picture(value: int) -> Image.Image:
    return Image.fromarray(np.full((HEIGHT, WIDTH, 3), value, np.uint8))


def wxyz(matrix: np.ndarray) -> list[float]:
    x, y, z, w = Rotation.from_matrix(matrix[:3, :3]).as_quat()
    return [float(w), float(x), float(y), float(z)]


def vehicle_from_camera(raise_m: float = 0.0) -> np.ndarray:
    """Camera pose in a vehicle frame whose origin is ``raise_m`` above the road."""
    pose = np.linalg.inv(np.array(MOUNTING))
    pose[2, 3] -= raise_m
    return pose


def lifted(matrices: np.ndarray, by_m: float) -> np.ndarray:
    up = np.eye(4)
    up[2, 3] = by_m
    return matrices @ up


def imported(reader: str, source, out, options=None, atol: float = 2e-3):
    """Import, check motion and camera against the truth, and give back the scenes."""
    summary = import_scenes(open_reader(reader, source, options or {}), out, every_s=2.0, quiet=True)
    assert not summary.failed
    folders = [load_scene(path) for path in find_scenes(out)]
    assert len(folders) == summary.written
    for folder in folders:
        scene = folder.scene
        theta = YAW_RATE * 6
        chord = V * 6 * np.sinc(theta / 2 / np.pi)
        end = (chord * np.cos(theta / 2), chord * np.sin(theta / 2), theta)
        np.testing.assert_allclose(scene.future.poses[-1], end, atol=atol * 10)
        np.testing.assert_allclose(scene.history.v, V, atol=0.05)
        np.testing.assert_allclose(scene.front.T_cam_ego, MOUNTING, atol=atol)
        assert scene.license
        assert scene.source
    assert not [f for found in check_folder(out).values() for f in found if f.level == "error"]
    return folders
