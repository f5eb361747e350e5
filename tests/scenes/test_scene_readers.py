"""Readers of public data sets, on small fixtures in the exact on-disk formats.

One invented drive, a left bend at 10 m/s seen by one camera, is written in each format; what comes back must be the
drive: motion, camera, frames and identity.
"""

import io
import json
import pickle
import zipfile

import cv2
import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

from cfgen.errors import InputError, MissingExtraError
from cfgen.geometry import camera as cam
from cfgen.records import Camera
from cfgen.scenes.check import check_folder
from cfgen.scenes.drive import raised
from cfgen.scenes.folder import find_scenes, load_scene
from cfgen.scenes.importing import import_scenes, open_reader
from cfgen.scenes.readers.video import integrated

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


# --- nuScenes -----------------------------------------------------------------------------------------------


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
    tables["scene"].append({"token": "sc", "name": "scene-0103", "description": "Left bend"})
    tables["sample"] = [{"token": f"sa{i}", "scene_token": "sc", "timestamp": base + int(t * 1e6)}
                        for i, t in enumerate(samples)]  # fmt: skip
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
    assert scene.timestamp == "2018-08-02T09:17:52.412Z"
    assert scene.front.fx == 80
    assert abs(float(folders[0].image().mean()) - 24) < 2
    assert [f.t for f in scene.frames if f.camera == "CAM_BACK"] == [0, -0.5, -1, -1.5, -2]
    front_only = open_reader("nuscenes", tmp_path / "nu", {"cameras": "CAM_FRONT"})
    import_scenes(front_only, tmp_path / "one", quiet=True)
    assert len(load_scene(find_scenes(tmp_path / "one")[0]).scene.cameras) == 1


def test_nuscenes_faults(tmp_path):
    with pytest.raises(InputError, match=r"expected one folder of nuScenes tables.*found none"):
        open_reader("nuscenes", tmp_path, {})
    write_nuscenes(tmp_path)
    (tmp_path / "v1.0-mini" / "sensor.json").write_text("[")
    with pytest.raises(InputError, match=r"sensor\.json: expected a nuScenes table"):
        open_reader("nuscenes", tmp_path, {})


# --- KITTI raw ----------------------------------------------------------------------------------------------


def write_kitti(root) -> None:
    """Near the equator, where the data set's Mercator metres are the same everywhere; 10 Hz."""
    date = root / "2011_09_26"
    drive = date / "2011_09_26_drive_0001_sync"
    t = np.arange(0, SECONDS, 0.1)
    imu = lifted(poses(t), 0.93)
    radius = 6378137.0
    yaw, pitch, roll = Rotation.from_matrix(imu[:, :3, :3]).as_euler("ZYX").T
    start = np.datetime64("2011-09-26T13:02:25.964389445", "ns")
    stamps = "".join(f"{str(start + int(s * 1e9)).replace('T', ' ')}\n" for s in t)
    for folder in ("oxts", "image_02"):
        (drive / folder / "data").mkdir(parents=True)
        (drive / folder / "timestamps.txt").write_text(stamps)
    for i in range(len(t)):
        x, y, z = imu[i, :3, 3]
        latitude = np.degrees(2 * np.arctan(np.exp(y / radius)) - np.pi / 2)
        row = [latitude, np.degrees(x / radius), z, roll[i], pitch[i], yaw[i], 0, 0, V, 0, 0, *[0.0] * 19]
        (drive / "oxts" / "data" / f"{i:010d}.txt").write_text(" ".join(f"{v:.16g}" for v in row))
        picture(i).save(drive / "image_02" / "data" / f"{i:010d}.png")
    # any split of the mounting over the calibration's links is right; take one with every link in use
    to_velodyne = np.eye(4)
    to_velodyne[:3, :3] = Rotation.from_euler("xyz", [0.01, 0.02, -0.01]).as_matrix()
    to_velodyne[:3, 3] = (-0.8, 0.3, -0.8)
    rectify = Rotation.from_euler("xyz", [0.01, -0.01, 0.005]).as_matrix()
    shift = np.array([0.06, -0.001, 0.003])
    rectified = np.eye(4)
    rectified[:3, :3] = rectify
    offset = np.eye(4)
    offset[:3, 3] = shift
    camera_from_imu = lifted(np.array(MOUNTING), 0.93)
    velodyne_to_camera = np.linalg.inv(offset @ rectified) @ camera_from_imu @ np.linalg.inv(to_velodyne)

    def line(values) -> str:
        return " ".join(f"{v:.12e}" for v in np.ravel(values))

    (date / "calib_imu_to_velo.txt").write_text(
        f"calib_time: 25-May-2012 16:47:16\nR: {line(to_velodyne[:3, :3])}\nT: {line(to_velodyne[:3, 3])}\n"
    )
    (date / "calib_velo_to_cam.txt").write_text(
        f"R: {line(velodyne_to_camera[:3, :3])}\nT: {line(velodyne_to_camera[:3, 3])}\n"
    )
    projection = np.column_stack([K, K @ shift])
    (date / "calib_cam_to_cam.txt").write_text(
        f"calib_time: 09-Jan-2012 13:57:47\nR_rect_00: {line(rectify)}\nP_rect_02: {line(projection)}\n"
    )


def test_kitti_raw(tmp_path):
    write_kitti(tmp_path / "kitti")
    folders = imported("kitti-raw", tmp_path / "kitti", tmp_path / "out")
    assert folders[0].scene.scene_id == "2011_09_26_drive_0001_sync_002000"
    assert folders[0].scene.extra["log_time"].startswith("2011-09-26T13:02:25.964")
    assert folders[0].image().mean() == 20
    assert len(folders[0].scene.frames) == 9


def test_kitti_faults(tmp_path):
    with pytest.raises(InputError, match="expected KITTI raw drives"):
        open_reader("kitti-raw", tmp_path, {})
    write_kitti(tmp_path)
    drive = tmp_path / "2011_09_26" / "2011_09_26_drive_0001_sync"
    opener = next(iter(open_reader("kitti-raw", tmp_path, {}).recordings()))
    (drive / "oxts" / "data" / "0000000007.txt").write_text("1 2 3")
    with pytest.raises(InputError, match=r"0000000007\.txt: expected 30 numbers, found 3"):
        opener()
    (drive / "oxts" / "data" / "0000000007.txt").unlink()
    with pytest.raises(InputError, match=r"expected 120 files in data.*found 119"):
        opener()


# --- Argoverse 2 --------------------------------------------------------------------------------------------


def write_argoverse2(log) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather

    start = 315968112437425433
    t = np.arange(0, SECONDS, 0.02)
    vehicle = lifted(poses(t), 0.33)
    (log / "calibration").mkdir(parents=True)

    def table(path, **columns) -> None:
        feather.write_feather(pa.table(columns), str(path))

    def columns(matrices) -> dict:
        q = np.array([wxyz(m) for m in matrices])
        names = ("qw", "qx", "qy", "qz", "tx_m", "ty_m", "tz_m")
        return dict(zip(names, [*q.T, *matrices[:, :3, 3].T], strict=True))

    stamps = start + np.round(t * 1e9).astype(np.int64)
    table(log / "city_SE3_egovehicle.feather", timestamp_ns=stamps, **columns(vehicle))
    table(log / "calibration" / "egovehicle_SE3_sensor.feather",
          sensor_name=["ring_front_center", "up_lidar"],
          **columns(np.array([vehicle_from_camera(0.33), np.eye(4)])))  # fmt: skip
    table(log / "calibration" / "intrinsics.feather", sensor_name=["ring_front_center"], fx_px=[80.0], fy_px=[80.0],
          cx_px=[47.5], cy_px=[26.5], k1=[0.0], k2=[-0.2], k3=[0.3], height_px=np.array([HEIGHT], np.uint16),
          width_px=np.array([WIDTH], np.uint16))  # fmt: skip
    folder = log / "sensors" / "cameras" / "ring_front_center"
    folder.mkdir(parents=True)
    for i, s in enumerate(np.arange(0.013, SECONDS - 0.1, 0.05)):
        picture(i).save(folder / f"{start + round(s * 1e9)}.jpg", quality=95)


def test_argoverse2(tmp_path):
    log = tmp_path / "av2" / "train" / "54bc6dbc-ebfb-3fba-b5b3-57f88b4b79ca"
    write_argoverse2(log)
    folders = imported("argoverse2", tmp_path / "av2", tmp_path / "out")
    assert folders[0].scene.scene_id == f"{log.name}_002000"
    assert folders[0].scene.front.model == "pinhole"
    assert abs(float(folders[0].image().mean()) - 40) < 2
    with pytest.raises(InputError, match="expected frames <timestamp_ns>"):
        next(iter(open_reader("argoverse2", log, {"cameras": "ring_side_left"}).recordings()))()


def test_argoverse2_without_its_package(tmp_path, monkeypatch):
    import builtins

    real_import = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError("No module named 'pyarrow'", name="pyarrow")
        return real_import(name, *args, **kwargs)

    (tmp_path / "city_SE3_egovehicle.feather").write_bytes(b"")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r'pip install "cfgen\[argoverse2\]"'):
        next(iter(open_reader("argoverse2", tmp_path, {}).recordings()))()


# --- NAVSIM, OpenScene --------------------------------------------------------------------------------------

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
        frames.append({"token": str(i), "timestamp": start + int((t + (30 if t > gap_at else 0)) * 1e6),
                       "map_location": "us-ma-boston", "ego2global": ego, "lidar2ego": np.eye(4),
                       "ego_dynamic_state": [V, 0.0, 0.0, 0.0], "cams": {"CAM_F0": camera}})  # fmt: skip
    return frames


def test_navsim(tmp_path):
    frames = navsim_frames(tmp_path / "d" / "sensor_blobs" / "mini")
    log = tmp_path / "d" / "navsim_logs" / "mini" / "2021.06.28.16.57.59_veh-26_00016_00484.pkl"
    log.parent.mkdir(parents=True)
    log.write_bytes(pickle.dumps(frames, protocol=pickle.HIGHEST_PROTOCOL))
    folders = imported("navsim", tmp_path / "d" / "navsim_logs", tmp_path / "out")
    scene = folders[0].scene
    assert scene.front.model == "opencv"
    assert scene.front.distortion == DISTORTION
    assert [f.t for f in scene.frames] == [0, -0.5, -1, -1.5, -2]
    assert scene.timestamp.startswith("2021-06-29T")
    assert abs(float(folders[0].image().mean()) - 20) < 2


def test_navsim_is_cut_at_gaps_and_runs_no_code(tmp_path):
    frames = navsim_frames(tmp_path, gap_at=3.0)
    log = tmp_path / "log.pkl"
    log.write_bytes(pickle.dumps(frames))
    summary = import_scenes(open_reader("navsim", log, {}), tmp_path / "out", every_s=2.0, quiet=True)
    names = [p.name for p in find_scenes(tmp_path / "out")]
    assert summary.written == 2
    assert names == ["log_002000", "log_1_002000"]

    class Evil:
        def __reduce__(self):
            return print, ("ran",)

    log.write_bytes(pickle.dumps([Evil()]))
    with pytest.raises(InputError, match=r"wants to run builtins\.print"):
        next(iter(open_reader("navsim", log, {}).recordings()))()


# --- PhysicalAI-AV ------------------------------------------------------------------------------------------

FW = (0.0, 62.0, -0.8, -1.6, 0.25)
CLIP = "030c760c-ae38-49aa-9ad8-f5650a545d26"


def backward(forward) -> np.ndarray:
    theta = np.linspace(0, 1.2, 300)
    radius = np.polynomial.polynomial.polyval(theta, forward)
    return np.polynomial.polynomial.polyfit(radius / 50, theta, 4) / 50.0 ** np.arange(5)


def write_physical_ai(root) -> None:
    """One clip in chunk 0, egomotion at 100 Hz, front wide at 30 Hz and cross left at 30 Hz with an offset."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("physical_ai_av")
    cameras = {"camera_front_wide_120fov": 0.004, "camera_cross_left_120fov": 0.017}
    features = []
    for name in cameras:
        members = {
            "video": f"{{clip_id}}.{name}.mp4",
            "frame_timestamps": f"{{clip_id}}.{name}.timestamps.parquet",
        }
        features.append(
            (name, "camera", f"camera/{name}/{name}.chunk_{{chunk_id:04d}}.zip", json.dumps(members))
        )
    features.append(("egomotion", "labels", "labels/egomotion/egomotion.chunk_{chunk_id:04d}.zip",
                     json.dumps({"egomotion": "{clip_id}.egomotion.parquet"})))  # fmt: skip
    for name in ("camera_intrinsics", "sensor_extrinsics"):
        features.append(
            (name, "calibration", f"calibration/{name}/{name}.chunk_{{chunk_id:04d}}.parquet", None)
        )
    for folder in {str(f[2]).rpartition("/")[0] for f in features} | {"metadata"}:
        (root / folder).mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(features, columns=["feature", "directory", "chunk_path", "clip_files_in_zip"])
    table.to_csv(root / "features.csv", index=False)
    index = pd.Index([CLIP, "not-here"], name="clip_id")
    pd.DataFrame({"chunk": [0, 7], "split": ["train", "train"]}, index=index).to_parquet(
        root / "clip_index.parquet"
    )
    pd.DataFrame({f[0]: [True, True] for f in features}, index=index).to_parquet(
        root / "metadata" / "feature_presence.parquet"
    )
    pd.DataFrame({"country": ["US", "US"]}, index=index).to_parquet(
        root / "metadata" / "data_collection.parquet"
    )

    t = np.arange(0, SECONDS, 0.01)
    ego = poses(t)
    q = Rotation.from_matrix(ego[:, :3, :3]).as_quat()
    velocity = ego[:, :3, 0] * V
    zeros = np.zeros(len(t))
    motion = pd.DataFrame({
        "timestamp": np.round(t * 1e6).astype(np.int64), "qx": q[:, 0], "qy": q[:, 1], "qz": q[:, 2], "qw": q[:, 3],
        "x": ego[:, 0, 3], "y": ego[:, 1, 3], "z": ego[:, 2, 3], "vx": velocity[:, 0], "vy": velocity[:, 1],
        "vz": velocity[:, 2], "ax": zeros, "ay": zeros, "az": zeros, "curvature": zeros + YAW_RATE / V,
    })  # fmt: skip
    with zipfile.ZipFile(root / "labels/egomotion/egomotion.chunk_0000.zip", "w") as archive:
        archive.writestr(f"{CLIP}.egomotion.parquet", parquet(motion))
    sensors = pd.MultiIndex.from_product([[CLIP], list(cameras)], names=["clip_id", "sensor_name"])
    lens = {"width": WIDTH, "height": HEIGHT, "cx": 47.0, "cy": 26.0}
    lens |= {f"fw_poly_{i}": c for i, c in enumerate(FW)} | {
        f"bw_poly_{i}": c for i, c in enumerate(backward(FW))
    }
    pd.DataFrame([lens, lens], index=sensors).to_parquet(
        root / "calibration/camera_intrinsics/camera_intrinsics.chunk_0000.parquet"
    )
    rows = []
    for matrix in (np.array(MOUNTING), np.array(cam.mounted(1.4, yaw=1.0, x=1.5, y=0.5))):
        pose = np.linalg.inv(matrix)
        x, y, z, w = Rotation.from_matrix(pose[:3, :3]).as_quat()
        rows.append({"qx": x, "qy": y, "qz": z, "qw": w, "x": pose[0, 3], "y": pose[1, 3], "z": pose[2, 3]})
    pd.DataFrame(rows, index=sensors).to_parquet(
        root / "calibration/sensor_extrinsics/sensor_extrinsics.chunk_0000.parquet"
    )
    for name, offset in cameras.items():
        film = root / "film.mp4"
        writer = cv2.VideoWriter(str(film), cv2.VideoWriter_fourcc(*"mp4v"), 30, (WIDTH, HEIGHT))
        count = int((SECONDS - 0.1) * 30)
        for i in range(count):
            writer.write(np.full((HEIGHT, WIDTH, 3), i % 250, np.uint8))
        writer.release()
        stamps = pd.DataFrame(
            {"timestamp": np.round((np.arange(count) / 30 + offset) * 1e6).astype(np.int64)}
        )
        with zipfile.ZipFile(root / f"camera/{name}/{name}.chunk_0000.zip", "w") as archive:
            archive.writestr(f"{CLIP}.{name}.mp4", film.read_bytes())
            archive.writestr(f"{CLIP}.{name}.timestamps.parquet", parquet(stamps))
        film.unlink()


def parquet(table) -> bytes:
    buffer = io.BytesIO()
    table.to_parquet(buffer)
    return buffer.getvalue()


def test_physical_ai_av(tmp_path, monkeypatch):
    write_physical_ai(tmp_path / "pai")
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("it prompted"))
    folders = imported("physical-ai-av", tmp_path / "pai", tmp_path / "out")
    scene = folders[0].scene
    assert [c.name for c in scene.cameras] == ["camera_front_wide_120fov", "camera_cross_left_120fov"]
    assert {c.model for c in scene.cameras} == {"ftheta"}
    assert scene.front.fw_poly == FW
    assert abs(float(folders[0].image().mean()) - 60) < 3
    left = [f.t for f in scene.frames if f.camera == "camera_cross_left_120fov"]
    # closest before: offsets of 17 ms and 4 ms at 30 Hz put each left frame 20 ms before the front one
    np.testing.assert_allclose(max(left), 0.017 - 0.004 - 1 / 30, atol=1e-4)


def test_physical_ai_av_faults(tmp_path):
    with pytest.raises(InputError, match="expected a copy of PhysicalAI-Autonomous-Vehicles"):
        open_reader("physical-ai-av", tmp_path, {})
    write_physical_ai(tmp_path)
    with pytest.raises(InputError, match="clip 'nope' is not in clip_index"):
        open_reader("physical-ai-av", tmp_path, {"clips": "nope"})
    (tmp_path / "labels/egomotion/egomotion.chunk_0000.zip").unlink()
    with pytest.raises(InputError, match=r"expected clips with .*found none complete"):
        open_reader("physical-ai-av", tmp_path, {})


def test_ftheta_is_the_packages_away_from_the_axis():
    models = pytest.importorskip("physical_ai_av.utils.camera_models")
    pd = pytest.importorskip("pandas")
    forward = (0.0, 930.0, -12.0, -25.0, 4.0)
    theta = np.linspace(0, 1.3, 400)
    radius = np.polynomial.polynomial.polyval(theta, forward)
    bw = np.polynomial.polynomial.polyfit(radius / 900, theta, 4) / 900.0 ** np.arange(5)
    row = {"width": 1920, "height": 1080, "cx": 963.0, "cy": 541.0}
    row |= {f"fw_poly_{i}": c for i, c in enumerate(forward)} | {f"bw_poly_{i}": c for i, c in enumerate(bw)}
    theirs = models.FThetaCameraModel.from_camera_row(pd.Series(row))
    ours = Camera(
        model="ftheta",
        width=1920,
        height=1080,
        cx=963,
        cy=541,
        fw_poly=forward,
        bw_poly=tuple(bw),
        T_cam_ego=MOUNTING,
    )
    rng = np.random.default_rng(3)
    points = rng.uniform((-1, -0.5, 0.5), (1, 0.5, 1), (3000, 3)) * rng.uniform(2, 60, (3000, 1))
    points = points[np.hypot(points[:, 0], points[:, 1]) > 1e-3]
    ego = (points - np.array(MOUNTING)[:3, 3]) @ cam.rotation(ours)
    px, valid = cam.project(ours, ego)
    assert valid.mean() > 0.9
    np.testing.assert_allclose(px[valid], theirs.ray2pixel(points)[valid], atol=1e-6)
    inside = cam.inside(ours, px)
    rays, ok = cam.unproject(ours, px[inside])
    np.testing.assert_allclose(rays[ok], theirs.pixel2ray(px[inside])[ok], atol=1e-9)
    assert ok.mean() > 0.99
    axis = np.array([[0.0, 0.0, 5.0]])
    with np.errstate(invalid="ignore"):
        assert np.isnan(theirs.ray2pixel(axis)).all()  # the package's own gap, which ours does not have
    assert np.isfinite(cam.project(ours, (axis - np.array(MOUNTING)[:3, 3]) @ cam.rotation(ours))[0]).all()
