"""nuScenes, on a small fixture in its exact on-disk format."""

import json

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.geometry import camera as cam
from cfgen.perception.light import PLACE_KEYS
from cfgen.scenes.folder import find_scenes, load_scene
from cfgen.scenes.importing import import_scenes, open_reader
from tests.scene_truth import (
    CAR,
    HEIGHT,
    MOUNTING,
    SECONDS,
    WIDTH,
    K,
    car,
    heading,
    imported,
    picture,
    poses,
    tells_of_the_car,
    wxyz,
)


def write_nuscenes(root) -> None:
    """One scene: CAM_FRONT at 12 Hz, key frames every half second, CAM_BACK at key frames, LIDAR_TOP at 20 Hz."""
    base = 1533201470412460
    tables = {
        name: [] for name in ("scene", "sample", "sample_data", "calibrated_sensor", "sensor", "ego_pose")
    }
    back = cam.mounted(1.5, yaw=np.pi, x=0.0)
    mountings = {"CAM_FRONT": np.array(MOUNTING), "CAM_BACK": np.array(back), "LIDAR_TOP": np.eye(4)}
    for channel, mounting in mountings.items():
        pose = np.linalg.inv(mounting)
        tables["sensor"].append({"token": f"s{channel}", "channel": channel, "modality": "x"})
        tables["calibrated_sensor"].append({
            "token": f"c{channel}", "sensor_token": f"s{channel}", "translation": pose[:3, 3].tolist(),
            "rotation": wxyz(pose), "camera_intrinsic": K.tolist() if "CAM" in channel else [],
        })  # fmt: skip
    samples = np.arange(0, SECONDS - 0.2, 0.5)
    tables["scene"].append(
        {"token": "sc", "name": "scene-0103", "description": "Left bend", "log_token": "lg"}
    )
    tables["log"] = [{"token": "lg", "location": "singapore-onenorth"}]
    tables["sample"] = [{"token": f"sa{i}", "scene_token": "sc", "timestamp": base + int(t * 1e6)}
                        for i, t in enumerate(samples)]  # fmt: skip
    tables["category"] = [
        {"token": "k0", "name": "vehicle.car"},
        {"token": "k1", "name": "human.pedestrian.adult"},
    ]
    tables["instance"] = [{"token": f"i{kind}", "category_token": f"k{kind}"} for kind in (0, 1)]
    tables["sample_annotation"] = [
        {"token": f"a{kind}{i}", "sample_token": f"sa{i}", "instance_token": f"i{kind}", "rotation": wxyz(box),
         "translation": box[:3, 3].tolist(), "size": [CAR[1], CAR[0], CAR[2]]}
        for i, box in enumerate(car(samples)) for kind in (0, 1)
    ]  # fmt: skip
    for channel, rate in {"CAM_FRONT": 12, "CAM_BACK": 2, "LIDAR_TOP": 20}.items():
        (root / "samples" / channel).mkdir(parents=True)
        for i, t in enumerate(np.arange(0, SECONDS - 0.2, 1 / rate)):
            token, name = f"{channel}{i}", f"samples/{channel}/{i}.jpg"
            stamp = base + round(t * 1e6)
            pose = poses([round(t * 1e6) / 1e6])[0]
            tables["ego_pose"].append({"token": token, "timestamp": stamp, "rotation": wxyz(pose),
                                       "translation": pose[:3, 3].tolist()})  # fmt: skip
            tables["sample_data"].append({
                "token": token, "sample_token": f"sa{min(int(t / 0.5), len(samples) - 1)}", "ego_pose_token": token,
                "calibrated_sensor_token": f"c{channel}", "timestamp": stamp, "filename": name,
                "width": WIDTH if "CAM" in channel else 0, "height": HEIGHT if "CAM" in channel else 0,
                "is_key_frame": True,
            })  # fmt: skip
            if "CAM" in channel:
                picture(i % 256).save(root / name)
    (root / "v1.0-mini").mkdir()
    for name, rows in tables.items():
        (root / "v1.0-mini" / f"{name}.json").write_text(json.dumps(rows))


def test_nuscenes(tmp_path):
    write_nuscenes(tmp_path / "nu")
    folders = imported("nuscenes", tmp_path / "nu", tmp_path / "out")
    scene = folders[0].scene
    assert [c.name for c in scene.cameras] == ["CAM_FRONT", "CAM_BACK"]
    assert scene.scene_id == "scene-0103_002000"
    tells_of_the_car(scene, 2.0)
    tells_of_the_car(folders[1].scene, 4.0)
    assert scene.extra["traffic"][0]["kind"] == "vehicle.car"
    place = [scene.extra[key] for key in PLACE_KEYS]
    assert place == pytest.approx([1.2882, 103.7848, heading(2.0)], abs=0.5)
    assert scene.timestamp == "2018-08-02T09:17:52.412Z"
    assert scene.extra["drive_on"] == "left", "it is in Singapore"
    assert scene.front.fx == 80
    assert abs(float(folders[0].image().mean()) - 24) < 2
    assert [f.t for f in scene.frames if f.camera == "CAM_BACK"] == [0, -0.5, -1, -1.5, -2]
    (tmp_path / "nu" / "v1.0-mini" / "sample_annotation.json").write_text("[]")  # a test split
    front_only = open_reader("nuscenes", tmp_path / "nu", {"cameras": "CAM_FRONT"})
    import_scenes(front_only, tmp_path / "one", quiet=True)
    scene = load_scene(find_scenes(tmp_path / "one")[0]).scene
    assert len(scene.cameras) == 1
    assert scene.traffic is None


def test_nuscenes_faults(tmp_path):
    with pytest.raises(InputError, match=r"expected one folder of nuScenes tables.*found none"):
        open_reader("nuscenes", tmp_path, {})
    write_nuscenes(tmp_path)
    (tmp_path / "v1.0-mini" / "sensor.json").write_text("[")
    with pytest.raises(InputError, match=r"sensor\.json: expected a nuScenes table"):
        open_reader("nuscenes", tmp_path, {})
