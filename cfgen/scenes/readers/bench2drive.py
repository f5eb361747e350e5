"""Bench2Drive: recordings of CARLA with camera images and gzipped JSON annotations at 10 Hz."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError
from cfgen.core.files import file_bytes, reading
from cfgen.scenes.drive import Drive, Opener, Stream
from cfgen.scenes.readers.sources import camera_names, is_visible, numbered_images, openers_below
from cfgen.scenes.readers.traffic import Vehicles, axes, calibrated

_FRONT = "front"
_RATE_HZ = 10.0
_AGAIN = "unpack the clip again"
#: CARLA's axes are left-handed (x forward, y right, z up): the same with y to the left
_MIRRORED = axes("x -y z")
#: an image's axes (right, down, forward) of CARLA's of a camera (x forward, y right, z up)
_IMAGE_FROM_CAMERA = axes("y -z x")


class Bench2Drive:
    """A clip folder (anno/00000.json.gz, camera/rgb_front/00000.jpg), or any folder above clips.

    CARLA's ego origin is on the ground. The images are rendered, without a lens; the clock starts at 0. The weather is
    kept, vehicles are told as traffic. Its licence (CC BY-NC-ND 4.0) forbids passing on altered images: share a
    benchmark as a recipe.

    Options: cameras (those that are there; else like front,front_left,back), source_name.
    """

    def __init__(self, source: Path, cameras: str = "", source_name: str = "Bench2Drive") -> None:
        self._clips = openers_below(source, lambda _, names: {"anno", "camera"} <= names, self._drive)
        if not self._clips:
            raise InputError(
                f"{source}: expected Bench2Drive clips (folders with anno and camera), found none; unpack the archives"
            )
        self._cameras, self._source = cameras, source_name

    def recordings(self) -> Iterable[Opener]:
        return self._clips

    def _drive(self, folder: Path) -> Drive:
        files = _annotations(folder / "anno")
        rows = [_row(path) for path in files]
        t, poses = np.array([_number(path) for path in files]) / _RATE_HZ, np.array([row[0] for row in rows])
        present = [
            path.name.removeprefix("rgb_")
            for path in (folder / "camera").glob("rgb_*")
            if is_visible(path.name) and path.name != "rgb_top_down"
        ]
        names = camera_names(self._cameras, present, _FRONT)
        return Drive(
            name=folder.name,
            source=f"{self._source} {folder.name}",
            license="CC BY-NC-ND 4.0",
            streams=tuple(_stream(folder, files[0], rows[0], name) for name in names),
            t=t,
            poses=poses,
            v=np.array([row[1] for row in rows]),
            extra={"weather": rows[0][2]["weather"]} if "weather" in rows[0][2] else {},
            traffic=_traffic(folder / "anno", rows, (t, poses)),
        )


#: id, kind, pose and size of a vehicle's box
Box = tuple[str, str, NDArray[np.float64], NDArray[np.float64]]
Row = tuple[NDArray[np.float64], float, dict[str, Any], list[Box]]


def _annotations(folder: Path) -> list[Path]:
    with reading(folder, "a folder of annotations", _AGAIN):
        files = [path for path in folder.iterdir() if is_visible(path.name) and ".json" in path.suffixes]
    files = [path for path in files if path.name.partition(".")[0].isdecimal()]
    if not files:
        raise InputError(f"{folder}: expected annotations like 00000.json.gz, found none; {_AGAIN}")
    return sorted(files, key=_number)


def _number(path: Path) -> int:
    return int(path.name.partition(".")[0])


def _row(path: Path) -> Row:
    """Pose (4, 4) world from ego, forward speed, all else and the vehicles of one moment."""
    with reading(path, "annotations of a moment", _AGAIN):
        data = file_bytes(path)
        content = json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
        ego = next((box for box in content["bounding_boxes"] if box["class"] == "ego_vehicle"), None)
        if ego is None:
            raise ValueError("bounding_boxes without the ego_vehicle")
        pose = np.linalg.inv(np.array(ego["world2ego"], float).reshape(4, 4))
        speed = float(ego["speed"])  # the speedometer's own is missing at times
        boxes = [_box(box) for box in content["bounding_boxes"] if box["class"] == "vehicle"]
        return _MIRRORED @ pose @ _MIRRORED, speed, content, boxes


def _box(actor: dict[str, Any]) -> Box:
    """Extents are half of a side. The rotation and location of parked vehicles are wrong, their matrix is right."""
    pose = _MIRRORED @ np.linalg.inv(np.array(actor["world2vehicle"], float).reshape(4, 4)) @ _MIRRORED
    pose[:3, 3] = np.array(actor["center"], float) * (1, -1, 1)
    return (
        str(actor["id"]),
        str(actor.get("base_type") or "vehicle"),
        pose,
        2 * np.array(actor["extent"], float),
    )


def _traffic(folder: Path, rows: list[Row], ego: tuple[NDArray[np.float64], NDArray[np.float64]]) -> Vehicles:
    boxes = [(t, *box) for t, row in zip(ego[0], rows, strict=True) for box in row[3]]
    t, ids, kinds, poses, sizes = zip(*boxes, strict=True) if boxes else ((),) * 5
    with reading(folder, "the boxes of vehicles", _AGAIN):
        return Vehicles.of(ids, kinds, t, np.reshape(poses, (-1, 4, 4)), sizes, ego[0], ego)


def _stream(folder: Path, path: Path, row: Row, name: str) -> Stream:
    files = numbered_images(folder / "camera" / f"rgb_{name}")
    with reading(path, f"the calibration of camera '{name}'", _AGAIN):
        sensor = row[2]["sensors"][f"CAM_{name.upper()}"]
        k = np.array(sensor["intrinsic"], float).reshape(3, 3)
        ego_from_camera = np.array(sensor["cam2ego"], float).reshape(4, 4)
        size = int(sensor["image_size_x"]), int(sensor["image_size_y"])
        mounting = _IMAGE_FROM_CAMERA @ np.linalg.inv(ego_from_camera) @ _MIRRORED
        camera = calibrated(name, size, k, mounting)
    return Stream(camera, np.array([_number(file) for file in files]) / _RATE_HZ, files.__getitem__)
