"""NAVSIM and OpenScene, on a small fixture in its exact on-disk format."""

import pickle

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.hazards.history import HazardHistory
from cfgen.hazards.occupancy import STOOD, HistoryInconsistency
from cfgen.perception.light import PLACE_KEYS
from cfgen.perception.road_by_colour import ColourGround
from cfgen.perception.views import Views
from cfgen.records import Placement
from cfgen.scenes.folder import SceneFolder, find_scenes, load_scene
from cfgen.scenes.importing import import_scenes, open_reader
from tests.scene_truth import (
    CAR,
    SECONDS,
    K,
    V,
    car,
    heading,
    imported,
    lifted,
    picture,
    poses,
    tells_of_the_car,
    vehicle_from_camera,
)

DISTORTION = (-0.05, 0.02, 0.001, -0.001, 0.003)


def navsim_frames(root, gap_at: float = 1e9) -> list[dict]:
    start, frames = 1624989000051000, []
    for i, t in enumerate(np.arange(0, SECONDS, 0.5)):
        name = f"2021.06.28/CAM_F0/{i}.jpg"
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        picture(i * 5).save(root / name, quality=95)
        ego = lifted(poses([t]), 0.37)[0]
        camera = {"data_path": name, "sensor2lidar_rotation": vehicle_from_camera()[:3, :3],
                  "sensor2lidar_translation": vehicle_from_camera(0.37)[:3, 3], "cam_intrinsic": K,
                  "distortion": np.array(DISTORTION)}  # fmt: skip
        box = np.linalg.inv(ego) @ car([t])[0]
        told = [*box[:3, 3], *CAR, np.arctan2(box[1, 0], box[0, 0])]
        anns = {"gt_boxes": np.array([told, told]), "gt_names": np.array(["pedestrian", "vehicle"]),
                "gt_velocity_3d": np.zeros((2, 3)), "track_tokens": ["p", "v"]}  # fmt: skip
        frames.append({"token": str(i), "timestamp": start + int((t + (30 if t > gap_at else 0)) * 1e6),
                       "map_location": "us-ma-boston", "ego2global": ego, "lidar2ego": np.eye(4),
                       "anns": anns, "ego_dynamic_state": [V, 0.0, 0.0, 0.0], "cams": {"CAM_F0": camera}})  # fmt: skip
    return frames


def spoiled(folder: SceneFolder, x: float, y: float) -> str:
    """What spoils the past of a hazard at that place."""
    scene = folder.scene
    size = {"length": 0.8, "width": 0.8, "height": 1.0}
    place = Placement(
        zone="ego_lane", x=x, y=y, yaw=0, size=size, distance_m=x, lateral_m=y, required_decel=3, foot_px=(48, 40),
        box_px=(44, 30, 52, 40),
    )  # fmt: skip
    views = Views.of(ColourGround()).scene(scene, {(f.camera, f.t): folder.image(f) for f in scene.frames})
    found = HazardHistory(views, views.now, 0.88, 0.8).of(place, crosses=False)
    return found.rule if isinstance(found, HistoryInconsistency) else ""


def test_navsim(tmp_path):
    frames = navsim_frames(tmp_path / "d" / "sensor_blobs" / "mini")
    log = tmp_path / "d" / "navsim_logs" / "mini" / "2021.06.28.16.57.59_veh-26_00016_00484.pkl"
    log.parent.mkdir(parents=True)
    log.write_bytes(pickle.dumps(frames, protocol=pickle.HIGHEST_PROTOCOL))
    folders = imported("navsim", tmp_path / "d" / "navsim_logs", tmp_path / "out")
    scene = folders[0].scene
    assert scene.front.model == "opencv"
    assert scene.front.distortion == DISTORTION
    tells_of_the_car(scene, 2.0)
    assert spoiled(folders[0], *scene.traffic[0].track[3][1:3]) == STOOD, "the car was there 1.5 s before"
    assert spoiled(folders[0], scene.traffic[0].x, scene.traffic[0].y + 6) != STOOD
    assert [f.t for f in scene.frames] == [0, -0.5, -1, -1.5, -2]
    assert scene.timestamp.startswith("2021-06-29T")
    assert [scene.extra[key] for key in PLACE_KEYS] == pytest.approx([42.34, -71.05, heading(2.0)], abs=0.1)
    assert abs(float(folders[0].image().mean()) - 20) < 2


def test_navsim_is_cut_at_gaps_and_runs_no_code(tmp_path):
    frames = navsim_frames(tmp_path, gap_at=3.0)
    log = tmp_path / "log.pkl"
    for frame in frames[:4]:
        del frame["anns"]["gt_names"]
    log.write_bytes(pickle.dumps(frames))
    with pytest.raises(InputError, match=r"log\.pkl: expected a NAVSIM log, found no 'gt_names'"):
        next(iter(open_reader("navsim", log, {}).recordings()))()
    for frame in frames[:4]:
        del frame["anns"]
    log.write_bytes(pickle.dumps(frames))
    summary = import_scenes(open_reader("navsim", log, {}), tmp_path / "out", every_s=2.0, quiet=True)
    names = [p.name for p in find_scenes(tmp_path / "out")]
    assert summary.written == 2
    assert names == ["log_002000", "log_1_002000"]
    assert [load_scene(tmp_path / "out" / name).scene.traffic is None for name in names] == [True, False]

    class Evil:
        def __reduce__(self):
            return eval, ("1",)

    log.write_bytes(pickle.dumps([Evil()]))
    with pytest.raises(InputError, match=r"wants to run builtins\.eval"):
        next(iter(open_reader("navsim", log, {}).recordings()))()
