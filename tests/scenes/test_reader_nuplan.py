"""nuPlan, in tables as its development kit makes them (nuplan-devkit, Apache-2.0: minimal_db_test_utils.py)."""

import contextlib
import pickle
import sqlite3
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from cfgen.perception.light import PLACE_KEYS
from cfgen.scenes.importing import import_scenes, open_reader
from cfgen.scenes.readers.navsim import CITIES
from cfgen.scenes.readers.sources import keeps_left
from tests.scene_truth import (
    CAR,
    HEIGHT,
    SECONDS,
    WIDTH,
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
    wxyz,
)

DISTORTION = [-0.05, 0.02, 0.001, -0.001, 0.003]
START = 1624989000051000
TABLES = """
CREATE TABLE log (token BLOB NOT NULL, vehicle_name VARCHAR(64), date VARCHAR(64), timestamp INTEGER,
    logfile VARCHAR(64), location VARCHAR(64), map_version VARCHAR(64), PRIMARY KEY (token));
CREATE TABLE ego_pose (token BLOB NOT NULL, timestamp INTEGER, x FLOAT, y FLOAT, z FLOAT, qw FLOAT, qx FLOAT,
    qy FLOAT, qz FLOAT, vx FLOAT, vy FLOAT, vz FLOAT, acceleration_x FLOAT, acceleration_y FLOAT,
    acceleration_z FLOAT, angular_rate_x FLOAT, angular_rate_y FLOAT, angular_rate_z FLOAT, epsg INTEGER,
    log_token BLOB NOT NULL, PRIMARY KEY (token));
CREATE TABLE camera (token BLOB NOT NULL, log_token BLOB NOT NULL, channel VARCHAR(64), model VARCHAR(64),
    translation BLOB, rotation BLOB, intrinsic BLOB, distortion BLOB, width FLOAT, height FLOAT,
    PRIMARY KEY (token));
CREATE TABLE image (token BLOB NOT NULL, next_token BLOB, prev_token BLOB, ego_pose_token BLOB NOT NULL,
    camera_token BLOB NOT NULL, filename_jpg VARCHAR(128), timestamp INTEGER, PRIMARY KEY (token));
CREATE TABLE lidar_pc (token BLOB NOT NULL, next_token BLOB, prev_token BLOB, ego_pose_token BLOB NOT NULL,
    lidar_token BLOB NOT NULL, scene_token BLOB, filename VARCHAR(128), timestamp INTEGER, PRIMARY KEY (token));
CREATE TABLE lidar_box (token BLOB NOT NULL, lidar_pc_token BLOB NOT NULL, track_token BLOB NOT NULL,
    next_token BLOB, prev_token BLOB, x FLOAT, y FLOAT, z FLOAT, width FLOAT, length FLOAT, height FLOAT, vx FLOAT,
    vy FLOAT, vz FLOAT, yaw FLOAT, confidence FLOAT, PRIMARY KEY (token));
CREATE TABLE track (token BLOB NOT NULL, category_token BLOB NOT NULL, width FLOAT, length FLOAT, height FLOAT,
    PRIMARY KEY (token));
CREATE TABLE category (token BLOB NOT NULL, name VARCHAR(64), description TEXT, PRIMARY KEY (token));
INSERT INTO category VALUES (X'AA', 'vehicle', ''), (X'BB', 'pedestrian', '');
INSERT INTO track VALUES (X'01', X'AA', 0, 0, 0), (X'02', X'BB', 0, 0, 0);
"""


@contextlib.contextmanager
def kit_lists():
    """The classes of the kit that its logs hold pickled, for as long as they are needed: lists by other names."""
    module = types.ModuleType("nuplan.database.common.data_types")
    for name in ("Translation", "Rotation", "CameraIntrinsic"):
        setattr(module, name, type(name, (list,), {"__module__": module.__name__}))
    kept = ("nuplan", "nuplan.database", "nuplan.database.common")
    sys.modules.update({name: types.ModuleType(name) for name in kept} | {module.__name__: module})
    yield
    for name in (*kept, module.__name__):
        del sys.modules[name]


@pytest.fixture(scope="module", autouse=True)
def _kit():
    with kit_lists():
        yield


def write_nuplan(root: Path, name: str = "2021.06.28.16.57.59_veh-26_00016_00484") -> Path:
    kit = sys.modules["nuplan.database.common.data_types"]
    log = root / "splits" / "mini" / f"{name}.db"
    log.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(log)
    db.executescript(TABLES)
    token = (n.to_bytes(8, "big") for n in range(1, 10_000))
    db.execute(
        "INSERT INTO log VALUES (?, 'veh-26', '2021-06-28', 0, ?, 'us-ma-boston', '9.12')",
        (next(token), name),
    )
    times = np.arange(0, SECONDS, 0.02)
    for s, pose in zip(times, lifted(poses(times), 0.37), strict=True):
        row = [next(token), START + round(s * 1e6), *pose[:3, 3], *wxyz(pose), V, *[0.0] * 8, 32619, b"log"]
        db.execute(f"INSERT INTO ego_pose VALUES ({','.join('?' * 20)})", row)
    camera, mounting = next(token), vehicle_from_camera(0.37)
    row = [camera, b"log", "CAM_F0", "model", pickle.dumps(kit.Translation(mounting[:3, 3].tolist())),
           pickle.dumps(kit.Rotation(wxyz(mounting))), pickle.dumps(kit.CameraIntrinsic(K.tolist())),
           pickle.dumps(DISTORTION), float(WIDTH), float(HEIGHT)]  # fmt: skip
    db.execute(f"INSERT INTO camera VALUES ({','.join('?' * 10)})", row)
    for i, s in enumerate(np.arange(0.02, SECONDS - 0.2, 0.1)):
        image = f"{name}/CAM_F0/{i:016x}.jpg"
        if i != 70:  # not every blob was downloaded
            (root / "sensor_blobs" / image).parent.mkdir(parents=True, exist_ok=True)
            picture(i).save(root / "sensor_blobs" / image, quality=95)
        row = [next(token), None, None, b"pose", camera, image, START + round(s * 1e6)]
        db.execute(f"INSERT INTO image VALUES ({','.join('?' * 7)})", row)
    times = np.arange(0.01, SECONDS, 0.05)
    for s, box in zip(times, car(times), strict=True):
        sweep, yaw = next(token), np.arctan2(box[1, 0], box[0, 0])
        db.execute(
            "INSERT INTO lidar_pc VALUES (?, '', '', '', '', '', '', ?)", (sweep, START + round(s * 1e6))
        )
        for track in (b"\x01", b"\x02"):
            row = [
                next(token),
                sweep,
                track,
                b"",
                b"",
                *box[:3, 3],
                CAR[1],
                CAR[0],
                CAR[2],
                9.0,
                9.0,
                9.0,
                yaw,
                1.0,
            ]
            db.execute(f"INSERT INTO lidar_box VALUES ({','.join('?' * 16)})", row)
    db.commit()
    db.close()
    return log


def test_nuplan(tmp_path):
    log = write_nuplan(tmp_path / "nuplan-v1.1")
    scene = imported("nuplan", tmp_path / "nuplan-v1.1" / "splits", tmp_path / "out")[0].scene
    assert scene.scene_id == f"{log.stem}_002000"
    assert scene.front.distortion == tuple(DISTORTION)
    assert scene.timestamp == "2021-06-29T17:50:02.071Z"
    assert [scene.extra[key] for key in PLACE_KEYS] == pytest.approx([42.34, -71.05, heading(2.02)], abs=0.1)
    assert "drive_on" not in scene.extra
    tells_of_the_car(scene, 2.02)
    assert [city for city in CITIES if keeps_left(city)] == ["sg-one-north"]


def test_what_is_wrong_with_a_log_leaves_its_drive_out(tmp_path):
    whole = write_nuplan(tmp_path).read_bytes()
    folder = tmp_path / "splits" / "mini"
    (folder / "cut.db").write_bytes(whole[: len(whole) // 2])
    (folder / "text.db").write_bytes(b"not a data base at all" * 100)
    (folder / "blind.db").write_bytes(whole)
    evil = sqlite3.connect(folder / "blind.db")
    evil.execute("UPDATE camera SET channel = 'CAM_B0'")
    evil.commit()
    (folder / "evil.db").write_bytes(whole)
    evil = sqlite3.connect(folder / "evil.db")
    evil.execute("UPDATE camera SET intrinsic = ?", (pickle.dumps(eval),))
    evil.commit()
    summary = import_scenes(open_reader("nuplan", tmp_path, {}), tmp_path / "out", quiet=True)
    why = {Path(name).name: words for name, words in summary.failed.items()}
    assert summary.written == 2
    assert sorted(why) == ["blind.db", "cut.db", "evil.db", "text.db"]
    assert "expected poses and camera CAM_F0, found 600 poses and the cameras CAM_B0" in why["blind.db"]
    assert "a pickle that wants to run builtins.eval" in why["evil.db"]
    assert not summary.faults
