"""Bench2Drive, with the keys that its tools/data_collect.py writes, in CARLA's left-handed world."""

import gzip
import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from tests.scene_truth import (
    CAR,
    HEIGHT,
    SECONDS,
    WIDTH,
    K,
    V,
    car,
    imported,
    lifted,
    picture,
    poses,
    tells_of_the_car,
    vehicle_from_camera,
)

CLIP = "Accident_Town03_Route101_Weather23"
#: columns: a camera's axes forward, left, up in an image's right, down, forward
AXES = np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]])


def carla(pose: np.ndarray) -> np.ndarray:
    """The matrix of CARLA's transform of a thing with this pose (x forward, y left): location and angles in its own
    sense (y to the right; pitch up, yaw to the right), then as its Transform.get_matrix puts them together."""
    yaw, pitch, roll = Rotation.from_matrix(pose[:3, :3]).as_euler("ZYX")
    location, angles = pose[:3, 3] * (1, -1, 1), {"pitch": -pitch, "yaw": -yaw, "roll": roll}
    out = np.eye(4)
    out[:3, :3] = Rotation.from_euler("ZYX", [angles["yaw"], -angles["pitch"], -angles["roll"]]).as_matrix()
    out[:3, 3] = location
    return out


def write_bench2drive(root: Path, clip: str = CLIP) -> Path:
    folder = root / "Accident" / clip
    (folder / "anno").mkdir(parents=True)
    mounting = vehicle_from_camera()
    mounting[:3, :3] = mounting[:3, :3] @ AXES.T  # of the camera as a thing: x forward, y left
    sensor = {"intrinsic": K.tolist(), "cam2ego": carla(mounting).tolist(), "fov": 70.0,
              "image_size_x": WIDTH, "image_size_y": HEIGHT}  # fmt: skip
    for camera in ("rgb_front", "rgb_top_down", "depth_front"):
        (folder / "camera" / camera).mkdir(parents=True)
    times = np.arange(0, SECONDS, 0.1)
    for i, (pose, other) in enumerate(zip(poses(times), car(times), strict=True)):
        ego = {"class": "ego_vehicle", "speed": V, "world2ego": np.linalg.inv(carla(pose)).tolist()}
        vehicle = {"class": "vehicle", "id": "7", "base_type": "car", "center": carla(other)[:3, 3].tolist(),
                   "extent": [side / 2 for side in CAR],  # its origin is on the ground
                   "world2vehicle": np.linalg.inv(carla(lifted(other, -0.75))).tolist()}  # fmt: skip
        content = {"speed": None, "theta": None, "weather": {"cloudiness": 10.0, "sun_altitude_angle": 45.0},
                   "bounding_boxes": [ego, vehicle, {"class": "walker"}],
                   "sensors": {"CAM_FRONT": sensor, "TOP_DOWN": sensor}}  # fmt: skip
        with gzip.open(folder / "anno" / f"{i:05}.json.gz", "wt", encoding="utf-8") as file:
            json.dump(content, file, indent=4)
        picture(i).save(folder / "camera" / "rgb_front" / f"{i:05}.jpg", quality=20)
    return folder


def test_bench2drive(tmp_path):
    write_bench2drive(tmp_path / "b2d")
    folders = imported("bench2drive", tmp_path / "b2d", tmp_path / "out")
    scene = folders[0].scene
    assert scene.scene_id == f"{CLIP}_002000"
    assert [camera.name for camera in scene.cameras] == ["front"]
    assert scene.extra["weather"]["cloudiness"] == 10.0
    tells_of_the_car(scene, 2.0)
    assert scene.license == "CC BY-NC-ND 4.0"
    assert scene.timestamp == "", "a simulator's clock tells no time"
    assert abs(float(folders[0].image().mean()) - 20) < 4
