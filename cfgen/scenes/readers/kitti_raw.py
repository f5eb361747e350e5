"""KITTI raw data: synced and rectified drives with OXTS poses."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from cfgen.core.errors import InputError
from cfgen.core.files import reading
from cfgen.records import Camera
from cfgen.scenes.drive import Drive, Opener, Place, Stream
from cfgen.scenes.readers.motion import EARTH_RADIUS_M
from cfgen.scenes.readers.sources import is_visible, numbered_images, openers_below, size_of
from cfgen.scenes.readers.traffic import (
    ADVICE,
    Vehicles,
    calibrated,
    from_rotation,
    headed,
    lowered,
)

Array = NDArray[np.float64]
#: of the inertial unit above the road, from the data set's sensor drawing
_IMU_HEIGHT_M = 0.93
_VEHICLES = {"Car", "Van", "Truck", "Tram", "Cyclist"}
_LAT, _LON, _ALT, _ROLL, _PITCH, _YAW, _FORWARD_SPEED = *range(6), 8


class KittiRaw:
    """A drive folder like 2011_09_26_drive_0001_sync, its date folder, or a folder above several dates.

    Vehicles of a drive's tracklet_labels.xml are told as traffic.

    Options: camera (image_02, the left colour camera).
    """

    def __init__(self, source: Path, camera: str = "image_02") -> None:
        self._camera = camera
        self._drives = openers_below(
            source,
            lambda folder, names: "oxts" in names or ("_drive_" in folder.name and camera in names),
            self._drive,
        )
        if not self._drives:
            raise InputError(
                f"{source}: expected KITTI raw drives (folders with oxts/data), found none; unpack a synced drive"
            )

    def recordings(self) -> Iterable[Opener]:
        return self._drives

    def _drive(self, folder: Path) -> Drive:
        oxts = _oxts(folder / "oxts")
        images = folder / self._camera
        files = numbered_images(images / "data")
        start = _times(folder / "oxts" / "timestamps.txt")[0]
        frame_times = _times(images / "timestamps.txt")
        numbers = [int(path.stem) for path in files]
        if max(numbers) >= len(frame_times):
            raise InputError(
                f"{images}: expected at most {len(frame_times)} images, one per line of timestamps.txt, "
                f"found {files[-1].name}; unpack the drive again"
            )
        camera = _camera(folder.parent, self._camera, *size_of(files))
        t, poses = (_times(folder / "oxts" / "timestamps.txt") - start) / 1e9, _imu_poses(oxts)
        ego = (t, poses @ lowered(_IMU_HEIGHT_M))
        tracklets = folder / "tracklet_labels.xml"
        return Drive(
            name=folder.name,
            source=f"KITTI raw {folder.name}",
            license="CC BY-NC-SA 3.0",
            streams=(Stream(camera, (frame_times[numbers] - start) / 1e9, files.__getitem__),),
            t=t,
            poses=ego[1],
            v=oxts[:, _FORWARD_SPEED],
            place=Place(oxts[0, _LAT], oxts[0, _LON]),
            extra={"log_time": str(np.datetime64(int(start), "ns"))},
            traffic=_traffic(tracklets, (frame_times - start) / 1e9, poses, ego)
            if tracklets.exists()
            else None,
        )


def _oxts(folder: Path) -> Array:
    """(T, 30) rows of the inertial unit."""
    rows = []
    for path in sorted(path for path in (folder / "data").glob("*.txt") if is_visible(path.name)):
        with reading(path, "30 numbers", "unpack the drive again"):
            row = [float(word) for word in path.read_text().split()]
        if len(row) != 30 or not np.isfinite(row).all() or abs(row[_LAT]) > 89:
            fault = len(row) if len(row) != 30 else "NaN, infinity, or a latitude that no road has"
            raise InputError(f"{path}: expected 30 numbers, found {fault}; unpack the drive again")
        rows.append(row)
    expected = len(_times(folder / "timestamps.txt"))
    if not rows or len(rows) != expected:
        raise InputError(
            f"{folder}: expected {expected} files in data, one per line of timestamps.txt, found {len(rows)}; "
            "unpack the drive again"
        )
    return np.array(rows)


def _imu_poses(oxts: Array) -> Array:
    """(T, 4, 4) world from IMU, by the Mercator projection of the data set's development kit."""
    scale = np.cos(np.radians(oxts[0, _LAT]))
    poses = np.tile(np.eye(4), (len(oxts), 1, 1))
    poses[:, :3, :3] = Rotation.from_euler("ZYX", oxts[:, [_YAW, _PITCH, _ROLL]]).as_matrix()
    poses[:, 0, 3] = scale * EARTH_RADIUS_M * np.radians(oxts[:, _LON])
    poses[:, 1, 3] = scale * EARTH_RADIUS_M * np.log(np.tan(np.radians(90 + oxts[:, _LAT]) / 2))
    poses[:, 2, 3] = oxts[:, _ALT]
    return poses


def _traffic(path: Path, times: Array, imu_poses: Array, ego: tuple[Array, Array]) -> Vehicles:
    """Boxes stand on the middle of their feet, in the laser scanner's frame at the time of each image."""
    velodyne_from_imu = _velodyne_from_imu(path.parent.parent)
    rows: list[list[float]] = []
    kinds: list[str] = []
    with reading(path, "tracklets", ADVICE):
        for number, tracklet in enumerate(ET.fromstring(path.read_bytes()).iterfind("tracklets/item")):
            if (kind := tracklet.findtext("objectType", "")) not in _VEHICLES:
                continue
            length, width, height, first = (
                float(tracklet.findtext(key, "nan")) for key in ("l", "w", "h", "first_frame")
            )
            for frame, pose in enumerate(tracklet.iterfind("poses/item"), int(first)):
                x, y, z, yaw = (float(pose.findtext(key, "nan")) for key in ("tx", "ty", "tz", "rz"))
                rows.append([number, frame, x, y, z + height / 2, yaw, length, width, height])
                kinds.append(kind)
        table = np.array(rows, float).reshape(-1, 9)
        frames = table[:, 1].astype(int)
        if len(rows) and not 0 <= frames.min() <= frames.max() < min(len(times), len(imu_poses)):
            raise ValueError(f"frames {frames.min()} to {frames.max()} of {min(len(times), len(imu_poses))}")
        placed = imu_poses[frames] @ np.linalg.inv(velodyne_from_imu) @ headed(table[:, 2:5], table[:, 5])
        return Vehicles.of(table[:, 0].tolist(), kinds, times[frames], placed, table[:, 6:], times, ego)


def _velodyne_from_imu(date: Path) -> Array:
    path = date / "calib_imu_to_velo.txt"
    imu = _calibration(path)
    with reading(path, "R and T", "unpack the date's calib archive"):
        return from_rotation(imu["R"], imu["T"])


def _camera(date: Path, name: str, width: int, height: int) -> Camera:
    number = name.removeprefix("image_")
    cameras = _calibration(date / "calib_cam_to_cam.txt")
    velodyne = _calibration(date / "calib_velo_to_cam.txt")
    velodyne_from_imu = _velodyne_from_imu(date)
    advice = "unpack the date's calib archive"
    with reading(date / "calib_velo_to_cam.txt", "R and T", advice):
        camera_from_velodyne = from_rotation(velodyne["R"], velodyne["T"])
    with reading(date / "calib_cam_to_cam.txt", f"the calibration of '{name}'", advice):
        projection = cameras[f"P_rect_{number}"].reshape(3, 4)
        rectify = from_rotation(cameras["R_rect_00"], np.zeros(3))
        k = projection[:, :3]
        offset = from_rotation(np.eye(3), np.linalg.solve(k, projection[:, 3]))
        camera_from_imu = offset @ rectify @ camera_from_velodyne @ velodyne_from_imu
        return calibrated(name, (width, height), k, camera_from_imu @ lowered(_IMU_HEIGHT_M))


def _calibration(path: Path) -> dict[str, Array]:
    """Rows ``name: numbers``; rows that are not numbers (dates) are left out."""
    with reading(path, "a calibration", "unpack the date's calib archive"):
        lines = path.read_text().splitlines()
    matrices: dict[str, Array] = {}
    for line in lines:
        key, _, values = line.partition(":")
        try:
            matrices[key.strip()] = np.array([float(word) for word in values.split()])
        except ValueError:
            continue
    return matrices


def _times(path: Path) -> NDArray[np.int64]:
    """(T,) nanoseconds of lines like 2011-09-26 13:02:25.964389445."""
    with reading(path, "one time per line", "unpack the drive again"):
        lines = [line for line in path.read_text().splitlines() if line.strip()]
        times = np.array(lines, "datetime64[ns]")
        if not len(times) or np.isnat(times).any() or (np.diff(times) < np.timedelta64(0)).any():
            raise ValueError(f"{len(times)} lines that are empty, not times, or go back")
        return times.astype(np.int64)
