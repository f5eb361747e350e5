"""PhysicalAI-AV, on a small fixture in its exact on-disk format."""

import io
import json
import zipfile

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cfgen.geometry import camera as cam
from cfgen.records import Camera
from tests.scene_truth import HEIGHT, MOUNTING, SECONDS, WIDTH, YAW_RATE, V, imported, poses

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
    asked = (
        -0.3,
        -0.2,
        -0.1,
        0.0,
    )  # what planners made for these drives ask for, without a word at the import
    for camera in scene.cameras:
        found = folders[0].frames_at(camera.name, asked)
        np.testing.assert_allclose([frame.t for frame in found], asked, atol=0.034)
        assert len({frame.image for frame in found}) == 4


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
