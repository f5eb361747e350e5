"""nuPlan logs: an SQLite file per log, and the camera images beside."""

import contextlib
import io
import pickle
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError
from cfgen.core.files import check_no_pipe, reading
from cfgen.scenes.drive import Drive, Opener, Stream
from cfgen.scenes.readers.navsim import CITIES
from cfgen.scenes.readers.sources import camera_names, keeps_left, openers, unlisted, walk
from cfgen.scenes.readers.traffic import Vehicles, calibrated, from_quaternion, headed, lowered

_FRONT = "CAM_F0"
_AGAIN = "download the log again"
#: lists that the development kit pickles in classes of its own
_LISTS = {"Translation", "Rotation", "CameraIntrinsic"}
_POSES = "SELECT timestamp, x, y, z, qw, qx, qy, qz, vx FROM ego_pose ORDER BY timestamp"
_CAMERAS = "SELECT token, channel, translation, rotation, intrinsic, distortion, width, height FROM camera"
_IMAGES = "SELECT timestamp, filename_jpg FROM image WHERE camera_token = ? ORDER BY timestamp"
#: Four of 20 sweeps a second are enough for ways: a log has a million boxes.
_SWEEPS = "SELECT token, min(timestamp) AS timestamp FROM lidar_pc GROUP BY timestamp / 250000"
_BOXES = f"""SELECT sweep.timestamp, box.track_token, category.name, box.x, box.y, box.z, box.yaw, box.length,
    box.width, box.height FROM ({_SWEEPS}) AS sweep JOIN lidar_box AS box ON box.lidar_pc_token = sweep.token
    JOIN track ON track.token = box.track_token JOIN category ON category.token = track.category_token
    WHERE category.name IN ('vehicle', 'bicycle')"""


class NuPlan:
    """A log (.db) or a folder of logs (nuplan-v1.1/splits/<split>); images are in sensor_blobs, which only some have.

    The data set's ego origin is the middle of the rear axle; axle_height_m brings it down to the road. Its boxes of
    vehicles are told as traffic.

    Options: images (the sensor_blobs folder; looked for beside the logs), axle_height_m (0.37), cameras (those that
    are there; else like CAM_F0,CAM_L0,CAM_R0).
    """

    def __init__(
        self, source: Path, images: str = "", axle_height_m: float = 0.37, cameras: str = ""
    ) -> None:
        troubles: list[OSError] = []
        below = (folder / n for folder, names in walk(source, troubles) for n in names if n.endswith(".db"))
        self._logs = openers(self._drive, [source] if source.is_file() else sorted(below))
        self._logs += unlisted(troubles) if source.is_dir() else []
        if not self._logs:
            raise InputError(f"{source}: expected nuPlan logs (.db), found none; point to splits/<split>")
        self._images = Path(images) if images else None
        self._axle, self._cameras = float(axle_height_m), cameras

    def recordings(self) -> Iterable[Opener]:
        return self._logs

    def _names(self, root: Path, present: Mapping[str, list[Any]]) -> list[str]:
        """Of cameras asked for, else of all that have images, the front one first."""
        requested = [name.strip() for name in self._cameras.split(",") if name.strip()]
        for name in requested:
            if not present.get(name):
                raise InputError(
                    f"{root}: no image of camera {name}; download it, or name others, as in --options cameras={_FRONT}"
                )
        return camera_names(self._cameras, (name for name, rows in present.items() if rows), _FRONT)

    def _drive(self, log: Path) -> Drive:
        with reading(log, "a nuPlan log (SQLite)", _AGAIN):
            check_no_pipe(log)
            uri = f"{log.absolute().as_uri()}?mode=ro&immutable=1"
            with contextlib.closing(sqlite3.connect(uri, uri=True)) as db:
                city = str(db.execute("SELECT location FROM log").fetchone()[0])
                rows = np.array(db.execute(_POSES).fetchall(), float).reshape(-1, 9)
                cameras = {row[1]: row for row in db.execute(_CAMERAS)}
                images = {name: db.execute(_IMAGES, (row[0],)).fetchall() for name, row in cameras.items()}
                boxes, swept = _annotated(db)
        if not len(rows) or _FRONT not in cameras:
            contents = f"{len(rows)} poses and the cameras {', '.join(cameras) or 'none'}"
            raise InputError(f"{log}: expected poses and camera {_FRONT}, found {contents}; {_AGAIN}")
        rows = rows[np.unique(rows[:, 0], return_index=True)[1]]
        root, start = self._image_root(log, images[_FRONT]), rows[0, 0]
        t = (rows[:, 0] - start) / 1e6
        with reading(log, "poses and boxes", _AGAIN):
            poses = from_quaternion(rows[:, 4:8], rows[:, 1:4]) @ lowered(self._axle)
            traffic = _traffic(boxes, swept, start, (t, poses)) if len(swept) else None
        present = {name: [row for row in images[name] if (root / str(row[1])).is_file()] for name in images}
        return Drive(
            name=log.stem,
            source=f"nuPlan {log.stem}",
            license="CC BY-NC-SA 4.0",
            streams=tuple(
                self._stream(log, root, cameras[name], present[name], start)
                for name in self._names(root, present)
            ),
            t=t,
            poses=poses,
            v=rows[:, 8],
            epoch=start / 1e6,
            place=CITIES.get(city),
            extra={"map": city} | keeps_left(city),
            traffic=traffic,
        )

    def _image_root(self, log: Path, images: list[Any]) -> Path:
        near = [self._images] if self._images else [
            base / name for base in log.parents[:4] for name in ("sensor_blobs", ".")
        ]  # fmt: skip
        for root in near:
            if any((root / str(name)).is_file() for _, name in images):
                return root
        raise InputError(
            f"{log}: expected its {len(images)} images of {_FRONT} below sensor_blobs, found none; download the "
            "log's camera blobs, or give --options images=.../sensor_blobs"
        )

    def _stream(self, log: Path, root: Path, row: Any, images: list[Any], start: float) -> Stream:
        _, name, translation, rotation, intrinsic, distortion, width, height = row
        with reading(log, f"the calibration of camera {name}", _AGAIN):
            k = np.array(_unpickled(intrinsic), float).reshape(3, 3)
            ego_from_camera = from_quaternion(_unpickled(rotation), _unpickled(translation))
            mounting = np.linalg.inv(ego_from_camera) @ lowered(self._axle)
            camera = calibrated(
                name, (int(width), int(height)), k, mounting, "opencv", _unpickled(distortion)
            )
        times = (np.array([row[0] for row in images], float) - start) / 1e6
        return Stream(camera, times, [root / str(row[1]) for row in images].__getitem__)


def _annotated(db: sqlite3.Connection) -> tuple[list[Any], list[float]]:
    """Rows of boxes, and the times of the sweeps in which they were looked for; none where a log has no boxes."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'lidar_box'").fetchone():
        return [], []
    if not db.execute("SELECT 1 FROM lidar_box LIMIT 1").fetchone():
        return [], []
    return db.execute(_BOXES).fetchall(), [row[1] for row in db.execute(_SWEEPS)]


def _traffic(
    boxes: list[Any], swept: list[float], start: float, ego: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> Vehicles:
    t, ids, kinds, *columns = zip(*boxes, strict=True) if boxes else ((),) * 10
    x, y, z, yaw, *size = np.array(columns, float).reshape(7, -1)
    return Vehicles.of(
        ids,
        kinds,
        (np.array(t, float) - start) / 1e6,
        headed(np.column_stack([x, y, z]), yaw),
        np.column_stack(size),
        (np.array(swept, float) - start) / 1e6,
        ego,
    )


def _unpickled(data: bytes) -> Any:
    return _ListsOnly(io.BytesIO(data)).load()


class _ListsOnly(pickle.Unpickler):
    """A log is data, not a program."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("nuplan.") and name in _LISTS:
            return _List
        raise pickle.UnpicklingError(f"a pickle that wants to run {module}.{name}")


class _List(list[Any]):
    """Stands in for the kit's lists, which may carry attributes."""
