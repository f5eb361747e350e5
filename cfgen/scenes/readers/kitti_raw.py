"""KITTI raw data: synced and rectified drives with OXTS poses."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from cfgen.errors import InputError
from cfgen.files import read_image
from cfgen.records import Camera
from cfgen.scenes.drive import Drive, Stream
from cfgen.scenes.readers.frames import image_files
from cfgen.scenes.readers.rigid import camera_matrix, from_rotation, lowered

Array = NDArray[np.float64]
_EARTH_RADIUS_M = 6378137.0
#: of the inertial unit above the road, from the data set's sensor drawing
_IMU_HEIGHT_M = 0.93
_LAT, _LON, _ALT, _ROLL, _PITCH, _YAW, _FORWARD_SPEED = 0, 1, 2, 3, 4, 5, 8


class KittiRaw:
    """A drive folder like 2011_09_26_drive_0001_sync, its date folder, or a folder above several dates.

    Options: camera (image_02, the left colour camera).
    """

    def __init__(self, source: Path, camera: str = "image_02") -> None:
        self._drives = sorted(p.parent for p in source.rglob("oxts") if (p / "data").is_dir())
        self._camera = camera
        if not self._drives:
            raise InputError(
                f"{source}: expected KITTI raw drives (folders with oxts/data), found none; unpack a synced drive"
            )

    def recordings(self) -> Iterable[Callable[[], Drive]]:
        return [lambda folder=folder: self._drive(folder) for folder in self._drives]  # type: ignore[misc]

    def _drive(self, folder: Path) -> Drive:
        oxts = _oxts(folder / "oxts")
        images = folder / self._camera
        files = image_files(images / "data")
        start = _times(folder / "oxts" / "timestamps.txt")[0]
        frame_times = _times(images / "timestamps.txt")
        numbers = [int(path.stem) for path in files]
        if max(numbers) >= len(frame_times):
            raise InputError(
                f"{images}: expected at most {len(frame_times)} images, one per line of timestamps.txt, "
                f"found {files[-1].name}; unpack the drive again"
            )
        height, width = read_image(files[0]).shape[:2]
        camera = _camera(folder.parent, self._camera, width, height)
        return Drive(
            name=folder.name,
            source=f"KITTI raw {folder.name}",
            license="CC BY-NC-SA 3.0",
            streams=(Stream(camera, (frame_times[numbers] - start) / 1e9, files.__getitem__),),
            t=(_times(folder / "oxts" / "timestamps.txt") - start) / 1e9,
            poses=_imu_poses(oxts) @ lowered(_IMU_HEIGHT_M),
            v=oxts[:, _FORWARD_SPEED],
            extra={"log_time": str(np.datetime64(int(start), "ns"))},
        )


def _oxts(folder: Path) -> Array:
    """(T, 30) rows of the inertial unit."""
    rows = []
    for path in sorted((folder / "data").glob("*.txt")):
        try:
            row = [float(word) for word in path.read_text().split()]
        except ValueError as error:
            raise InputError(f"{path}: expected 30 numbers, found {error}; unpack the drive again") from error
        if len(row) != 30:
            raise InputError(f"{path}: expected 30 numbers, found {len(row)}; unpack the drive again")
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
    poses[:, 0, 3] = scale * _EARTH_RADIUS_M * np.radians(oxts[:, _LON])
    poses[:, 1, 3] = scale * _EARTH_RADIUS_M * np.log(np.tan(np.radians(90 + oxts[:, _LAT]) / 2))
    poses[:, 2, 3] = oxts[:, _ALT]
    return poses


def _camera(date: Path, name: str, width: int, height: int) -> Camera:
    number = name.removeprefix("image_")
    cameras = _calibration(date / "calib_cam_to_cam.txt")
    velodyne = _calibration(date / "calib_velo_to_cam.txt")
    imu = _calibration(date / "calib_imu_to_velo.txt")
    try:
        projection = cameras[f"P_rect_{number}"].reshape(3, 4)
        rectify = from_rotation(cameras["R_rect_00"], np.zeros(3))
        camera_from_velodyne = from_rotation(velodyne["R"], velodyne["T"])
        velodyne_from_imu = from_rotation(imu["R"], imu["T"])
    except (KeyError, ValueError) as error:
        raise InputError(
            f"{date}: calibration of '{name}' is incomplete ({error}); unpack the date's calib archive"
        ) from error
    k = projection[:, :3]
    offset = from_rotation(np.eye(3), np.linalg.solve(k, projection[:, 3]))
    camera_from_imu = offset @ rectify @ camera_from_velodyne @ velodyne_from_imu
    return Camera(
        name=name,
        width=width,
        height=height,
        fx=k[0, 0],
        fy=k[1, 1],
        cx=k[0, 2],
        cy=k[1, 2],
        T_cam_ego=camera_matrix(camera_from_imu @ lowered(_IMU_HEIGHT_M)),
    )


def _calibration(path: Path) -> dict[str, Array]:
    """Rows ``name: numbers``; rows that are not numbers (dates) are left out."""
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise InputError(
            f"{path}: cannot read ({error.strerror}); unpack the date's calib archive"
        ) from error
    found: dict[str, Array] = {}
    for line in lines:
        key, _, values = line.partition(":")
        try:
            found[key.strip()] = np.array([float(word) for word in values.split()])
        except ValueError:
            continue
    return found


def _times(path: Path) -> NDArray[np.int64]:
    """(T,) nanoseconds of lines like 2011-09-26 13:02:25.964389445."""
    try:
        lines = [line for line in path.read_text().splitlines() if line.strip()]
        return np.array(lines, "datetime64[ns]").astype(np.int64)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: expected one time per line, found {error}; unpack the drive again"
        ) from error
