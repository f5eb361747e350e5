"""NAVSIM and OpenScene logs: pickled frame lists at 2 Hz and the nuPlan camera images."""

import io
import itertools
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.files import reading
from cfgen.scenes.drive import Drive, Moment, Opener, Place, Recording, Stream
from cfgen.scenes.readers.sources import camera_names, keeps_left, openers, size_of, unlisted, walk
from cfgen.scenes.readers.traffic import (
    Vehicles,
    calibrated,
    from_quaternion,
    from_rotation,
    headed,
    lowered,
)

_FRONT = "CAM_F0"
_MAX_GAP_S = 1.0
#: NumPy's own pickles and nothing else: a log is data, not a program
_ALLOWED = {"_reconstruct", "ndarray", "dtype", "scalar", "_frombuffer"}
#: Degrees north and east of the cities; poses are in UTM, whose x axis points east to within a degree or two.
CITIES = {
    "us-nv-las-vegas-strip": Place(36.11, -115.17),
    "us-ma-boston": Place(42.34, -71.05),
    "us-pa-pittsburgh-hazelwood": Place(40.41, -79.95),
    "sg-one-north": Place(1.30, 103.79),
}

FrameInfo = dict[str, Any]


class NavsimLogs:
    """A log (.pkl) or a folder of logs (navsim_logs/<split>, meta_datas/<split>).

    The data set's ego origin is the middle of the rear axle; axle_height_m brings it down to the road. Frames carry one
    time for all cameras. Vehicles are told as traffic where the frames have annotations.

    Options: images (folder that data_path is relative to, e.g. sensor_blobs/<split>; looked for beside the logs),
    axle_height_m (0.37), cameras (those that are there; else like CAM_F0,CAM_L0,CAM_R0).
    """

    def __init__(
        self, source: Path, images: str = "", axle_height_m: float = 0.37, cameras: str = ""
    ) -> None:
        troubles: list[OSError] = []
        below = (folder / n for folder, names in walk(source, troubles) for n in names if n.endswith(".pkl"))
        self._logs = openers(self._log, [source] if source.is_file() else sorted(below))
        if source.is_dir():
            self._logs += unlisted(troubles)
        if not self._logs:
            raise InputError(
                f"{source}: expected NAVSIM logs (.pkl), found none; point to navsim_logs/<split>"
            )
        self._images = Path(images) if images else None
        self._axle, self._cameras = float(axle_height_m), cameras

    def recordings(self) -> Iterable[Opener]:
        return self._logs

    def _log(self, log: Path) -> Recording:
        frames = _frames(log)
        with reading(log, "a NAVSIM log", "download it again"):
            return _Stretches([self._drive(log, i, stretch) for i, stretch in enumerate(_stretches(frames))])

    def _drive(self, log: Path, number: int, frames: list[FrameInfo]) -> Drive:
        root = self._image_root(log, frames[0])
        start = int(frames[0]["timestamp"])
        t = np.array([(int(frame["timestamp"]) - start) / 1e6 for frame in frames])
        city = str(frames[0].get("map_location", ""))
        present = [k for k, v in frames[0]["cams"].items() if (root / v["data_path"]).is_file()]
        names = camera_names(self._cameras, present, _FRONT)
        poses = np.array([_pose(frame) for frame in frames])
        ego = (t, poses @ lowered(self._axle))
        return Drive(
            name=f"{log.stem}_{number}" if number else log.stem,
            source=f"NAVSIM/OpenScene {log.stem}",
            license="CC BY-NC-SA 4.0 (nuPlan)",
            streams=tuple(self._stream(root, name, frames, t) for name in names),
            t=t,
            poses=ego[1],
            v=np.array([float(frame["ego_dynamic_state"][0]) for frame in frames]),
            epoch=start / 1e6,
            place=CITIES.get(city),
            extra={"map": city} | keeps_left(city),
            traffic=_traffic(frames, poses, ego) if any("anns" in frame for frame in frames) else None,
        )

    def _image_root(self, log: Path, frame: FrameInfo) -> Path:
        relative = frame["cams"][_FRONT]["data_path"]
        near = [log.parent, *log.parents[1:4]]
        split = log.parent.name
        candidates = [self._images] if self._images else [
            root for base in near for root in (base, base / "sensor_blobs", base / "sensor_blobs" / split)
        ]  # fmt: skip
        for root in candidates:
            if (root / relative).is_file():
                return root
        raise InputError(
            f"{log}: its image '{relative}' is not below {candidates[0]}"
            + ("" if self._images else " nor in sensor_blobs beside it")
            + "; give --options images=.../sensor_blobs/<split>"
        )

    def _stream(self, root: Path, name: str, frames: list[FrameInfo], t: np.ndarray) -> Stream:
        present = [
            i
            for i, f in enumerate(frames)
            if (root / f["cams"].get(name, {}).get("data_path", "?")).is_file()
        ]
        if not present:
            raise InputError(
                f"{root}: no image of camera {name}; download it, or name others, as in --options cameras={_FRONT}"
            )
        info = frames[present[0]]["cams"][name]
        intrinsic = np.asarray(info["cam_intrinsic"], float)
        size = size_of(root / frames[i]["cams"][name]["data_path"] for i in present)
        mounting = np.linalg.inv(_ego_from_camera(frames[present[0]], info)) @ lowered(self._axle)
        camera = calibrated(name, size, intrinsic, mounting, "opencv", np.ravel(info["distortion"]))
        return Stream(
            camera, t[present], lambda index: root / frames[present[index]]["cams"][name]["data_path"]
        )


class _Stretches:
    """The drives of one log."""

    def __init__(self, drives: list[Drive]) -> None:
        self._drives = drives

    def moments(self, every_s: float) -> list[Moment]:
        return [moment for drive in self._drives for moment in drive.moments(every_s)]


def _pose(frame: FrameInfo) -> np.ndarray:
    if "ego2global" in frame:
        return np.asarray(frame["ego2global"], float)
    return from_quaternion(frame["ego2global_rotation"], frame["ego2global_translation"])


def _ego_from_camera(frame: FrameInfo, info: FrameInfo) -> np.ndarray:
    lidar = from_rotation(info["sensor2lidar_rotation"], info["sensor2lidar_translation"])
    if "lidar2ego" in frame:
        return np.asarray(frame["lidar2ego"], float) @ lidar
    return from_quaternion(frame["lidar2ego_rotation"], frame["lidar2ego_translation"]) @ lidar


def _traffic(frames: list[FrameInfo], poses: np.ndarray, ego: tuple[np.ndarray, np.ndarray]) -> Vehicles:
    """Boxes are given in the ego frame of the data set: x, y, z of the middle, length, width, height, angle."""
    annotations = [
        (t, pose, frame["anns"])
        for t, pose, frame in zip(ego[0], poses, frames, strict=True)
        if "anns" in frame
    ]
    boxes = [
        (track, str(name), t, pose, *np.asarray(box, float)[:7])
        for t, pose, told_then in annotations
        for track, name, box in zip(
            told_then["track_tokens"], told_then["gt_names"], told_then["gt_boxes"], strict=True
        )
        if str(name) in ("vehicle", "bicycle")
    ]
    ids, kinds, t, world_from_ego, *columns = zip(*boxes, strict=True) if boxes else ((),) * 11
    x, y, z, length, width, height, yaw = np.array(columns, float).reshape(7, -1)
    placed = np.reshape(world_from_ego, (-1, 4, 4)) @ headed(np.column_stack([x, y, z]), yaw)
    times = [t for t, _, _ in annotations]
    return Vehicles.of(ids, kinds, t, placed, np.column_stack([length, width, height]), times, ego)


def _stretches(frames: list[FrameInfo]) -> Iterable[list[FrameInfo]]:
    """Frames in order, cut where the log has a gap."""
    frames = sorted(frames, key=lambda frame: frame["timestamp"])
    gaps = [
        i + 1
        for i, (a, b) in enumerate(itertools.pairwise(frames))
        if b["timestamp"] - a["timestamp"] > _MAX_GAP_S * 1e6
    ]
    for start, end in itertools.pairwise([0, *gaps, len(frames)]):
        yield frames[start:end]


def _frames(path: Path) -> list[FrameInfo]:
    with reading(path, "a NAVSIM log", "download it again"):
        frames = _NumPyOnly(io.BytesIO(path.read_bytes())).load()
    needed = {"timestamp", "cams", "ego_dynamic_state"}
    complete = isinstance(frames, list) and all(isinstance(f, dict) and needed <= f.keys() for f in frames)
    if not complete or not frames:
        raise InputError(
            f"{path}: expected a list of frames with {sorted(needed)}; is it a NAVSIM or OpenScene log?"
        )
    return frames


class _NumPyOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == "numpy" and name in _ALLOWED:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"a pickle that wants to run {module}.{name}")
