"""KITTI raw, on a small fixture in its exact on-disk format."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cfgen.core.errors import InputError
from cfgen.scenes.importing import open_reader
from tests.scene_truth import (
    CAR,
    MOUNTING,
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
)


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
    boxes = to_velodyne @ np.linalg.inv(imu[10:]) @ lifted(car(t[10:]), -0.75)  # it stands on its feet
    told = "".join(
        f"<item><tx>{x}</tx><ty>{y}</ty><tz>{z}</tz><rx>0</rx><ry>0</ry><rz>{yaw}</rz><state>2</state></item>"
        for (x, y, z), yaw in zip(boxes[:, :3, 3], np.arctan2(boxes[:, 1, 0], boxes[:, 0, 0]), strict=True)
    )
    items = "".join(
        f"<item><objectType>{kind}</objectType><h>{CAR[2]}</h><w>{CAR[1]}</w><l>{CAR[0]}</l>"
        f"<first_frame>10</first_frame><poses><count>{len(boxes)}</count>{told}</poses></item>"
        for kind in ("Car", "Pedestrian")
    )
    (drive / "tracklet_labels.xml").write_text(
        f"<?xml version='1.0'?>\n<boost_serialization><tracklets>{items}</tracklets></boost_serialization>"
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
    assert folders[0].scene.extra["latitude_deg"] == pytest.approx(0, abs=0.01)
    assert folders[0].scene.extra["heading_deg"] == pytest.approx(heading(2.0), abs=0.1)
    assert folders[0].image().mean() == 20
    tells_of_the_car(folders[1].scene, 4.0, atol=0.02)
    assert len(folders[0].scene.frames) == 9


def test_kitti_faults(tmp_path):
    with pytest.raises(InputError, match="expected KITTI raw drives"):
        open_reader("kitti-raw", tmp_path, {})
    write_kitti(tmp_path)
    drive = tmp_path / "2011_09_26" / "2011_09_26_drive_0001_sync"
    opener = next(iter(open_reader("kitti-raw", tmp_path, {}).recordings()))
    tracklets = drive / "tracklet_labels.xml"
    whole = tracklets.read_text()
    tracklets.write_text(whole.replace(">10<", ">11<"))
    with pytest.raises(InputError, match=r"tracklet_labels\.xml: expected tracklets, found frames 11 to 120"):
        opener()
    tracklets.unlink()
    assert opener().traffic is None
    (drive / "oxts" / "data" / "0000000007.txt").write_text("1 2 3")
    with pytest.raises(InputError, match=r"0000000007\.txt: expected 30 numbers, found 3"):
        opener()
