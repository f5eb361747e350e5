"""Argoverse 2, on a small fixture in its exact on-disk format."""

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.scenes.importing import open_reader
from tests.scene_truth import (
    CAR,
    HEIGHT,
    SECONDS,
    WIDTH,
    car,
    imported,
    lifted,
    picture,
    poses,
    tells_of_the_car,
    vehicle_from_camera,
    wxyz,
)


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
    sweeps = np.repeat(np.arange(0, len(t), 5), 2)
    table(log / "annotations.feather", timestamp_ns=stamps[sweeps], track_uuid=["ca-r", "man"] * (len(sweeps) // 2),
          category=["REGULAR_VEHICLE", "PEDESTRIAN"] * (len(sweeps) // 2),
          **{f"{side}_m": np.full(len(sweeps), CAR[i]) for i, side in enumerate(("length", "width", "height"))},
          **columns(np.linalg.inv(vehicle[sweeps]) @ car(t[sweeps])))  # fmt: skip
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
    tells_of_the_car(folders[0].scene, 2.013)
    (log / "annotations.feather").write_bytes(b"ARROW1")
    with pytest.raises(
        InputError, match=r"annotations\.feather: expected a Feather table, found .*; get it again"
    ):
        next(iter(open_reader("argoverse2", log, {}).recordings()))()
    (log / "annotations.feather").unlink()
    assert next(iter(open_reader("argoverse2", log, {}).recordings()))().traffic is None
    with pytest.raises(InputError, match="expected frames <timestamp_ns>"):
        next(iter(open_reader("argoverse2", log, {"cameras": "ring_side_left"}).recordings()))()
