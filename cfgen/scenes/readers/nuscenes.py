"""nuScenes v1.0: the JSON tables and image files, read directly."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.errors import InputError
from cfgen.records import Camera
from cfgen.scenes.drive import Drive, Stream, speeds_of
from cfgen.scenes.readers.rigid import camera_matrix, from_quaternion

_FRONT = "CAM_FRONT"
_TABLES = ("scene", "sample", "sample_data", "calibrated_sensor", "sensor", "ego_pose")

Row = dict[str, Any]


class NuScenes:
    """The data root with samples/, sweeps/ and v1.0-trainval/, v1.0-mini/ or v1.0-test/.

    Frames are the key frames and, where the files are there, the sweeps between them (12 Hz).

    Options: version (needed when there are several), cameras (all; else like CAM_FRONT,CAM_FRONT_LEFT).
    """

    def __init__(self, source: Path, version: str = "", cameras: str = "") -> None:
        self._root = source
        self._tables = {name: _table(_table_folder(source, version) / f"{name}.json") for name in _TABLES}
        self._by_token = {
            name: {row["token"]: row for row in self._tables[name]}
            for name in ("sample", "calibrated_sensor", "sensor", "ego_pose")
        }
        self._wanted = {name.strip() for name in cameras.split(",") if name.strip()} | {_FRONT}
        self._all = not cameras
        self._data: dict[str, list[Row]] = defaultdict(list)
        for row in self._tables["sample_data"]:
            self._data[self._by_token["sample"][row["sample_token"]]["scene_token"]].append(row)

    def recordings(self) -> Iterable[Callable[[], Drive]]:
        return [lambda scene=scene: self._drive(scene) for scene in self._tables["scene"]]  # type: ignore[misc]

    def _drive(self, scene: Row) -> Drive:
        rows = self._data[scene["token"]]
        stamped = {self._pose(row)["timestamp"]: self._pose(row) for row in rows}
        if len(stamped) < 2:
            raise InputError(
                f"{self._root}: scene {scene['name']}: expected ego poses, found {len(stamped)}; "
                "the tables are incomplete, unpack the metadata again"
            )
        poses = [stamped[key] for key in sorted(stamped)]
        start = poses[0]["timestamp"]
        t = np.array([(pose["timestamp"] - start) / 1e6 for pose in poses])
        matrices = from_quaternion([p["rotation"] for p in poses], [p["translation"] for p in poses])
        channels: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            channel = self._channel(row)
            wanted = channel in self._wanted or (self._all and channel.startswith("CAM"))
            if wanted and (self._root / row["filename"]).is_file():
                channels[channel].append(row)
        if not channels[_FRONT]:
            raise InputError(
                f"{self._root}: scene {scene['name']}: none of its {_FRONT} images is there; "
                "unpack the samples archive of this part of the data set"
            )
        names = sorted(channels, key=lambda name: (name != _FRONT, name))
        return Drive(
            name=scene["name"],
            source=f"nuScenes {scene['name']} {scene['token']}",
            license="CC BY-NC-SA 4.0",
            streams=tuple(self._stream(name, channels[name], start) for name in names),
            t=t,
            poses=matrices,
            v=speeds_of(t, matrices),
            epoch=start / 1e6,
            extra={"description": scene.get("description", "")},
        )

    def _stream(self, channel: str, rows: list[Row], start: int) -> Stream:
        rows = sorted(rows, key=lambda row: row["timestamp"])
        calibrated = self._by_token["calibrated_sensor"][rows[0]["calibrated_sensor_token"]]
        intrinsic = np.array(calibrated["camera_intrinsic"], float)
        camera = Camera(
            name=channel,
            width=rows[0]["width"],
            height=rows[0]["height"],
            fx=intrinsic[0, 0],
            fy=intrinsic[1, 1],
            cx=intrinsic[0, 2],
            cy=intrinsic[1, 2],
            T_cam_ego=camera_matrix(
                np.linalg.inv(from_quaternion(calibrated["rotation"], calibrated["translation"]))
            ),
        )
        times = np.array([(row["timestamp"] - start) / 1e6 for row in rows])
        return Stream(camera, times, lambda index: self._root / rows[index]["filename"])

    def _pose(self, row: Row) -> Row:
        pose: Row = self._by_token["ego_pose"][row["ego_pose_token"]]
        return pose

    def _channel(self, row: Row) -> str:
        sensor = self._by_token["calibrated_sensor"][row["calibrated_sensor_token"]]["sensor_token"]
        return str(self._by_token["sensor"][sensor]["channel"])


def _table_folder(source: Path, version: str) -> Path:
    found = [source / version] if version else sorted(p for p in source.glob("v1.0-*") if p.is_dir())
    if len(found) != 1 or not found[0].is_dir():
        names = [p.name for p in found if p.is_dir()]
        raise InputError(
            f"{source}: expected one folder of nuScenes tables (v1.0-trainval, v1.0-mini, ...), "
            f"found {', '.join(names) or 'none'}; "
            "point to the data root, and give --option version=... when there are several"
        )
    return found[0]


def _table(path: Path) -> list[Row]:
    try:
        rows: list[Row] = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: expected a nuScenes table, found {error}; unpack the metadata again"
        ) from error
    return rows
