"""Data sets in Hugging Face's format with a column of images and one of poses."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError
from cfgen.core.files import decode_image, read_image, reading
from cfgen.perception.camera import TOLD
from cfgen.perception.protocol import Perceiver
from cfgen.scenes.drive import Drive, Opener, Picture, Stream, raised, speeds_of
from cfgen.scenes.folder import Image
from cfgen.scenes.readers.camera_options import CameraOptions, Fov, Height, Yaw, camera_for
from cfgen.scenes.readers.sources import DataShard, license_of, refused, shards_of, unlisted
from cfgen.scenes.readers.traffic import from_quaternion

Array = NDArray[np.float64]
#: names that columns commonly have, the first that is there counts
_TIMES = ("timestamp", "time", "t", "timestamp_ns", "timestamp_us")
_POSES = ("pose", "ego_pose", "ego2global", "ego_to_world", "x,y,yaw", "x,y,heading", "x,y,theta")
_SPEEDS = ("speed", "velocity", "v", "speed_mps")
_DRIVES = ("drive", "log", "log_id", "episode_index", "episode", "sequence", "segment", "clip", "scene")
#: a time counted since 1970 is above this in s
_ERA_S = 1e8
_LOOKED_AT = 24
_HINT = "name the columns with --options"


class _FrameRow(NamedTuple):
    shard: DataShard
    row: int
    t: float
    pose: Sequence[float]
    speed: float | None


class HuggingFace:
    """A Parquet file, a folder of them, or one that save_to_disk wrote; nothing is downloaded.

    One row is one moment of the front camera. Poses are x, y, heading (m, rad) in one column or three; x, y, z and a
    quaternion; or 3x4 or 4x4 matrices (world from ego). Times are in seconds or since 1970 in any unit. Without a
    column of speeds, they are fitted to the poses. The camera is given or found as for reader video.

    Options: image, time, pose, speed, drive (columns; common names are found), quaternion (wxyz, or xyzw), camera (JSON
    file), or of it fov_deg, camera_height_m, horizon_row, yaw_deg; license (else the card's).
    """

    def __init__(
        self,
        source: Path,
        image: str = "",
        time: str = "",
        pose: str = "",
        speed: str = "",
        drive: str = "",
        quaternion: Literal["wxyz", "xyzw"] = "wxyz",
        camera: str | None = None,
        fov_deg: Fov = None,
        camera_height_m: Height = None,
        horizon_row: float | None = None,
        yaw_deg: Yaw = None,
        license: str = "",  # noqa: A002 - the option's name
        perceiver: Perceiver | None = None,
    ) -> None:
        self._source, self._scalar_first = source, quaternion == "wxyz"
        self._asked = {"image": image, "time": time, "pose": pose, "speed": speed, "drive": drive}
        self._wanted = CameraOptions(camera, fov_deg, camera_height_m, horizon_row, yaw_deg)
        self._license, self._perceiver = license, perceiver
        self._troubles: list[OSError] = []
        self._shards = shards_of(source, self._troubles)

    def recordings(self) -> Iterable[Opener]:
        """Rows of one drive may lie in several files; a file that cannot be read is left out by itself."""
        drives: dict[str, list[_FrameRow]] = {}
        unreadable: list[Opener] = []
        for shard in self._shards:
            try:
                for name, row in self._rows(shard):
                    drives.setdefault(name, []).append(row)
            except InputError as error:
                unreadable.append(refused(str(shard.path), error))
        opener_list = [Opener(name, partial(self._drive, name, rows)) for name, rows in drives.items()]
        return [*opener_list, *unreadable, *unlisted(self._troubles)]

    def _rows(self, shard: DataShard) -> Iterator[tuple[str, _FrameRow]]:
        column_names = set(shard.schema.names)
        columns = {
            what: self._column(shard, column_names, what, usual_names, needed)
            for what, usual_names, needed in (
                ("time", _TIMES, True),
                ("pose", _POSES, True),
                ("speed", _SPEEDS, False),
                ("drive", _DRIVES, False),
            )
        }
        times, poses, speeds, drives = (
            [shard.column(name) for name in columns[what]] for what in ("time", "pose", "speed", "drive")
        )
        with reading(shard.path, f"numbers in the columns {columns}", _HINT):
            t = _seconds(times[0])
            for row in range(len(t)):
                pose = np.ravel([np.ravel(np.array(each[row], float)) for each in poses]).tolist()
                speed = float("nan" if speeds[0][row] is None else speeds[0][row]) if speeds else None
                name = f"{self._source.stem}_{drives[0][row]}" if drives else self._source.stem
                yield name, _FrameRow(shard, row, float(t[row]), pose, speed)

    def _column(
        self, shard: DataShard, columns: set[str], what: str, usual_names: Sequence[str], needed: bool
    ) -> list[str]:
        """The columns asked for, else those with a common name."""
        for names in [self._asked[what]] if self._asked[what] else usual_names:
            requested = [name.strip() for name in names.split(",")]
            if set(requested) <= columns:
                return requested
        if needed or self._asked[what]:
            raise InputError(
                f"{shard.path}: expected {what} in the column {self._asked[what] or ' or '.join(usual_names)}, found "
                f"{', '.join(sorted(columns))}; {_HINT} {what}="
            )
        return []

    def _image(self, shard: DataShard) -> str:
        candidates = (
            [self._asked["image"]] if self._asked["image"] in shard.schema.names else shard.image_columns()
        )
        if self._asked["image"] and self._asked["image"] not in candidates:
            candidates = []
        front = [name for name in candidates if "front" in name.lower()]
        for some in (candidates, front):
            if len(some) == 1:
                return some[0]
        listing = f"{', '.join(candidates) or 'none'} (columns: {', '.join(shard.schema.names)})"
        raise InputError(f"{shard.path}: expected one column of images, found {listing}; {_HINT} image=")

    def _drive(self, name: str, rows: list[_FrameRow]) -> Drive:
        rows, told_rows = _complete_rows(rows)
        rows = [rows[i] for i in np.unique([row.t for row in rows], return_index=True)[1]]
        column, start = self._image(rows[0].shard), rows[0].t
        t = np.array([row.t for row in rows]) - start
        with reading(rows[0].shard.path, "poses as the reader knows them", _HINT + " pose="):
            poses = _poses(np.array([row.pose for row in rows], float), self._scalar_first)
        speeds = [row.speed for row in rows if row.speed is not None]
        looked_at = {round(i) for i in np.linspace(0, len(rows) - 1, min(len(rows), _LOOKED_AT))}
        height, width = _pixels(rows[0], column).shape[:2]
        frames = (_pixels(rows[i], column) for i in sorted(looked_at))
        camera, provenance = camera_for(width, height, self._wanted, frames, self._perceiver)
        return Drive(
            name=name,
            source=f"Hugging Face data set {self._source.name}",
            license=self._license or license_of(self._source),
            streams=(Stream(camera, t, lambda i: _picture(rows[i], column)),),
            t=t,
            poses=poses,
            v=np.array(speeds) if len(speeds) == len(rows) else speeds_of(t, poses),
            epoch=start if start > _ERA_S else None,
            extra={TOLD: provenance},
            note=told_rows,
        )


def _complete_rows(rows: list[_FrameRow]) -> tuple[list[_FrameRow], str]:
    """The rows without a hole in time, pose or speed, and how many others there are, in words.

    A column of speeds that has none at all counts as left out.
    """
    if not any(row.speed is not None and np.isfinite(row.speed) for row in rows):
        rows = [row._replace(speed=None) for row in rows]
    length = max((len(row.pose) for row in rows), default=0)
    wrong = {
        "time": [not np.isfinite(row.t) for row in rows],
        "pose": [len(row.pose) < length or not np.isfinite(row.pose).all() for row in rows],
        "speed": [row.speed is not None and not np.isfinite(row.speed) for row in rows],
    }
    valid = [row for row, *odd in zip(rows, *wrong.values(), strict=True) if not any(odd)]
    where = " or ".join(name for name, odd in wrong.items() if any(odd))
    if not valid:
        raise InputError(
            f"{rows[0].shard.path}: expected rows with numbers, found none with {where} in {len(rows)}; {_HINT}"
        )
    dropped = len(rows) - len(valid)
    return valid, f"{dropped} of {len(rows)} rows left out: no number as {where}" if dropped else ""


def _seconds(values: list[Any]) -> Array:
    """Times of any unit in s; those since 1970 stay so. What is missing is NaN."""
    stamps = [value.timestamp() if isinstance(value, datetime) else value for value in values]
    t = np.array(stamps, float)
    finite = np.isfinite(t)
    # since 1970 in ns, us or ms; a double does not hold ns
    per_s = next((10**n for n in (9, 6, 3) if finite.any() and t[finite].min() > _ERA_S * 10**n), 1)
    if per_s == 1:
        return t
    integers = np.array(
        [int(stamp) for stamp, is_finite in zip(stamps, finite, strict=True) if is_finite], np.int64
    )
    t[finite] = integers // per_s + integers % per_s / per_s
    return t


def _poses(values: Array, scalar_first: bool) -> Array:
    """(N, 4, 4) world from ego of (N, 3), (N, 7), (N, 12) or (N, 16) numbers."""
    count = values.shape[1] if values.ndim == 2 else 0
    if count == 3:
        return raised(np.column_stack([values[:, :2], np.unwrap(values[:, 2])]))
    if count == 7:
        turns = values[:, 3:] if scalar_first else values[:, [6, 3, 4, 5]]
        return from_quaternion(turns, values[:, :3])
    if count in (12, 16):
        out = np.tile(np.eye(4), (len(values), 1, 1))
        out[:, :3] = values.reshape(len(values), -1, 4)[:, :3]
        return out
    raise ValueError(f"{count} numbers a row instead of 3 (x, y, heading), 7 (with quaternion), 12 or 16")


def _picture(row: _FrameRow, column: str) -> Picture:
    """Bytes of JPEG and PNG as they are, other formats as pixels, a path as the file."""
    value = row.shard.value(column, row.row)
    data = value.get("bytes") if isinstance(value, dict) else value
    name = value.get("path") if isinstance(value, dict) else None
    if isinstance(data, bytes):
        if data.startswith((b"\xff\xd8", b"\x89PNG")):
            return data
        return np.asarray(decode_image(data, Path(f"{row.shard.path}, {column} of row {row.row}")), np.uint8)
    where = data if isinstance(data, str) else name
    if not where:
        raise InputError(
            f"{row.shard.path}: expected an image in row {row.row} of column '{column}', found none; {_HINT} image="
        )
    return row.shard.beside(where)


def _pixels(row: _FrameRow, column: str) -> Image:
    picture = _picture(row, column)
    if isinstance(picture, bytes):
        picture = decode_image(picture, Path(f"{row.shard.path}, {column} of row {row.row}"))
    return np.asarray(read_image(picture) if isinstance(picture, Path) else picture, np.uint8)
