"""Argoverse 2 sensor data set: Feather tables and JPEG frames."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError, MissingExtraError
from cfgen.core.files import reading
from cfgen.scenes.drive import Drive, Opener, Stream, speeds_of
from cfgen.scenes.readers.road_map import RoadMap, between
from cfgen.scenes.readers.sources import camera_names, is_visible, numbered_images, openers_below
from cfgen.scenes.readers.traffic import ADVICE, MAP_ADVICE, Vehicles, calibrated, from_quaternion, lowered

_FRONT = "ring_front_center"
_POSES = "city_SE3_egovehicle.feather"
_AGAIN = "download the log again"
_BOXES = "annotations.feather"
#: Categories of what takes up road; who rides is annotated apart from the bicycle.
_VEHICLES = (
    "ARTICULATED_BUS", "BICYCLE", "BICYCLIST", "BOX_TRUCK", "BUS", "LARGE_VEHICLE", "MESSAGE_BOARD_TRAILER",
    "MOTORCYCLE", "MOTORCYCLIST", "RAILED_VEHICLE", "REGULAR_VEHICLE", "SCHOOL_BUS", "TRAFFIC_LIGHT_TRAILER", "TRUCK",
    "TRUCK_CAB", "VEHICULAR_TRAILER", "WHEELED_DEVICE",
)  # fmt: skip

Column = NDArray[np.generic]


class Argoverse2:
    """A log folder (with city_SE3_egovehicle.feather), or a split or folder above logs.

    Images are undistorted already; vehicles of annotations.feather are told as traffic, and drivable areas, crossings
    and lanes of map/log_map_archive_*.json as the road. The data set's ego origin is the middle of the rear axle;
    axle_height_m brings it down to the road.

    Options: axle_height_m (0.33), cameras (the ring cameras there are; else ring_front_center,...).
    """

    def __init__(self, source: Path, axle_height_m: float = 0.33, cameras: str = "") -> None:
        self._logs = openers_below(
            source,
            lambda _, names: _POSES.lower() in names or {"calibration", "sensors"} <= names,
            self._drive,
        )
        if not self._logs:
            raise InputError(
                f"{source}: expected Argoverse 2 logs (city_SE3_egovehicle.feather), found none; "
                "point to a log, a split or the sensor folder"
            )
        self._axle, self._cameras = float(axle_height_m), cameras

    def recordings(self) -> Iterable[Opener]:
        return self._logs

    def _drive(self, folder: Path) -> Drive:
        table = _feather(folder / _POSES)
        with reading(folder / _POSES, "timestamp_ns, qw qx qy qz and tx_m ty_m tz_m", _AGAIN):
            stamps, first = np.unique(table["timestamp_ns"].astype(np.int64), return_index=True)
            t = (stamps - stamps[0]) / 1e9
            poses = _transforms(table)[first] @ lowered(self._axle)
        present = (p.name for p in (folder / "sensors" / "cameras").glob("ring_*") if is_visible(p.name))
        names = camera_names(self._cameras, present, _FRONT)
        return Drive(
            name=folder.name,
            source=f"Argoverse 2 sensor {folder.name}",
            license="CC BY-NC-SA 4.0",
            streams=tuple(self._stream(folder, name, int(stamps[0])) for name in names),
            t=t,
            poses=poses,
            v=speeds_of(t, poses),
            traffic=self._traffic(folder / _BOXES, stamps, poses) if (folder / _BOXES).exists() else None,
            road=_road(folder, (t, poses)),
        )

    def _traffic(self, path: Path, stamps: NDArray[np.int64], poses: NDArray[np.float64]) -> Vehicles:
        """Boxes are given in the vehicle's frame, at the times of lidar sweeps."""
        table = _feather(path, ADVICE)
        with reading(path, "cuboids with timestamp_ns, track_uuid and category", ADVICE):
            at = table["timestamp_ns"].astype(np.int64)
            times = np.unique(at)
            is_vehicle = np.isin(table["category"].astype(str), _VEHICLES)
            table = {key: column[is_vehicle] for key, column in table.items()}
            nearest = np.searchsorted(stamps[:-1] + np.diff(stamps) // 2, at[is_vehicle])
            return Vehicles.of(
                table["track_uuid"].tolist(),
                table["category"].tolist(),
                (at[is_vehicle] - stamps[0]) / 1e9,
                poses[nearest] @ lowered(-self._axle) @ _transforms(table),
                np.column_stack([table[key] for key in ("length_m", "width_m", "height_m")]),
                sweeps=(times - stamps[0]) / 1e9,
                ego=((stamps - stamps[0]) / 1e9, poses),
            )

    def _stream(self, folder: Path, name: str, start: int) -> Stream:
        try:
            files = numbered_images(folder / "sensors" / "cameras" / name)
        except InputError as error:
            raise InputError(
                f"{folder / 'sensors' / 'cameras' / name}: expected frames <timestamp_ns>.jpg, found none; "
                "download the camera, or leave it out with --options cameras=..."
            ) from error
        mounting = _row(folder / "calibration" / "egovehicle_SE3_sensor.feather", name)
        with reading(folder / "calibration" / "egovehicle_SE3_sensor.feather", "a pose", _AGAIN):
            vehicle_from_camera = _transforms({key: np.array([value]) for key, value in mounting.items()})[0]
            camera_from_ego = np.linalg.inv(vehicle_from_camera) @ lowered(self._axle)
        intrinsics = _row(folder / "calibration" / "intrinsics.feather", name)
        with reading(folder / "calibration" / "intrinsics.feather", "a camera", _AGAIN):
            fx, fy, cx, cy, width, height = (
                intrinsics[key] for key in ("fx_px", "fy_px", "cx_px", "cy_px", "width_px", "height_px")
            )
            k = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
            camera = calibrated(name, (int(width), int(height)), k, camera_from_ego)
        times = (np.array([int(path.stem) for path in files]) - start) / 1e9
        return Stream(camera, times, files.__getitem__)


def _road(folder: Path, ego: tuple[NDArray[np.float64], NDArray[np.float64]]) -> RoadMap | None:
    """The log's own map, in the city frame of the poses; None where it has none."""
    files = sorted((folder / "map").glob("log_map_archive_*.json"))
    if not files:
        return None
    with reading(files[0], "drivable_areas, lane_segments and pedestrian_crossings", MAP_ADVICE):
        content = json.loads(files[0].read_bytes())
        lanes = [
            (
                *between(*(_points(lane[f"{side}_lane_boundary"]) for side in ("left", "right"))),
                lane["lane_type"],
            )
            for lane in content["lane_segments"].values()
        ]
        crossings = content.get("pedestrian_crossings", {}).values()
        edges = [[_points(crossing[edge]) for edge in ("edge1", "edge2")] for crossing in crossings]
        return RoadMap(
            files[0],
            [(_points(area["area_boundary"]), ()) for area in content["drivable_areas"].values()],
            [np.concatenate([first, second[::-1]]) for first, second in edges],
            [(middle, width, "bicycle" if kind == "BIKE" else "traffic") for middle, width, kind in lanes],
            ego,
        )


def _points(rows: list[dict[str, Any]]) -> NDArray[np.float64]:
    return np.array([(row["x"], row["y"], row["z"]) for row in rows], float)


def _feather(path: Path, advice: str = _AGAIN) -> dict[str, Column]:
    try:
        from pyarrow import feather
    except ImportError as error:
        raise MissingExtraError("reader 'argoverse2'", "argoverse2", error) from error
    with reading(path, "a Feather table", advice):
        table = feather.read_table(path, memory_map=False)
        return {name: table[name].to_numpy() for name in table.column_names}


def _row(path: Path, sensor: str) -> dict[str, float]:
    table = _feather(path)
    with reading(path, "numbers by sensor_name", _AGAIN):
        index = np.flatnonzero(table["sensor_name"] == sensor)
        if not len(index):
            raise InputError(
                f"{path}: no sensor '{sensor}'; it has {', '.join(map(str, table['sensor_name']))}"
            )
        return {key: float(values[index[0]]) for key, values in table.items() if key != "sensor_name"}


def _transforms(table: dict[str, Column]) -> NDArray[np.float64]:
    """(N, 4, 4) of the columns qw qx qy qz tx_m ty_m tz_m."""
    return from_quaternion(
        np.column_stack([table[key] for key in ("qw", "qx", "qy", "qz")]),
        np.column_stack([table[key] for key in ("tx_m", "ty_m", "tz_m")]),
    )
