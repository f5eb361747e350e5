"""comma2k19 (commaai): minute-long highway segments with video, global pose and CAN logs."""

import io
import math
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from cfgen.core.errors import InputError
from cfgen.core.files import reading
from cfgen.geometry.camera import mounted
from cfgen.records import Camera
from cfgen.scenes.drive import Drive, Opener, Place, Stream
from cfgen.scenes.folder import Image
from cfgen.scenes.readers.sources import VideoFrames, openers_below
from cfgen.scenes.readers.traffic import axes

Array = NDArray[np.float64]
_WIDTH, _HEIGHT, _FOCAL = 1164, 874, 910.0
#: axes of the device (forward, right, down) of the camera's (right, down, forward)
_DEVICE_FROM_CAMERA = axes("z x y")[:3, :3]
#: GPS time starts on 1980-01-06 and is ahead of UTC by the leap seconds of 2017 to now
_GPS_EPOCH, _WEEK_S, _LEAP_S = 315964800, 604800, 18
_MOVING_MPS = 3.0
#: of the WGS 84 ellipsoid
_ECCENTRICITY_SQ = 6.69437999e-3


class Comma2k19:
    """A segment folder (with global_pose/), or any folder above segments.

    Frames come from video.hevc, or else from preview.png, which is the first frame. Pitch and yaw of the device on the
    car follow from its direction of travel; its roll cannot be told from the road's camber and is taken as 0.

    Options: camera_height_m (1.22), source_name.
    """

    def __init__(self, source: Path, camera_height_m: float = 1.22, source_name: str = "comma2k19") -> None:
        self._segments = openers_below(
            source,
            lambda _, names: "global_pose" in names or {"video.hevc", "processed_log"} <= names,
            self._drive,
        )
        if not self._segments:
            raise InputError(
                f"{source}: expected comma2k19 segments (global_pose/frame_positions), found none; unpack a Chunk"
            )
        self._height, self._source = float(camera_height_m), source_name

    def recordings(self) -> Iterable[Opener]:
        return self._segments

    def _drive(self, folder: Path) -> Drive:
        pose = folder / "global_pose"
        t = _array(pose / "frame_times", 1)
        positions = _array(pose / "frame_positions", 2, len(t))
        orientations = _array(pose / "frame_orientations", 2, len(t))
        velocities = _array(pose / "frame_velocities", 2, len(t))
        with reading(pose / "frame_orientations", "quaternions w x y z", "unpack the segment again"):
            world_from_device = Rotation.from_quat(orientations[:, [1, 2, 3, 0]])
        with reading(pose / "frame_velocities", "velocities x y z", "unpack the segment again"):
            in_device = world_from_device.inv().apply(velocities)
        with reading(pose / "frame_positions", "positions x y z", "unpack the segment again"):
            positions = positions.reshape(len(t), 3)
        speed = np.linalg.norm(velocities, axis=1)
        camera = _camera(in_device, speed, self._height, folder)
        world_from_camera = np.tile(np.eye(4), (len(t), 1, 1))
        world_from_camera[:, :3, :3] = world_from_device.as_matrix() @ _DEVICE_FROM_CAMERA
        world_from_camera[:, :3, 3] = positions
        frame_count, read = _frames(folder, len(t))
        return Drive(
            name=_name(folder),
            source=f"{self._source} {_name(folder)}",
            license="MIT",
            streams=(Stream(camera, t[:frame_count], read),),
            t=t,
            poses=world_from_camera @ np.array(camera.T_cam_ego),
            v=_can_speed(folder, t, speed),
            epoch=_epoch(pose / "frame_gps_times", float(t[0])),
            place=_place(positions[0]),
        )


def _camera(in_device: Array, speed: Array, height: float, folder: Path) -> Camera:
    """Mounting from the mean direction of travel in the device frame (forward, right, down)."""
    moving = speed > _MOVING_MPS
    pitch = yaw = 0.0
    if moving.any():
        forward, right, down = in_device[moving].sum(axis=0)
        yaw, pitch = math.atan2(right, math.hypot(forward, down)), math.atan2(-down, forward)
    if max(abs(yaw), abs(pitch)) > math.radians(20):
        raise InputError(
            f"{folder}: the car seems to move {math.degrees(yaw):.0f} degrees beside the camera's axis; "
            "frame_orientations and frame_velocities do not belong together"
        )
    return Camera(
        width=_WIDTH,
        height=_HEIGHT,
        fx=_FOCAL,
        fy=_FOCAL,
        cx=_WIDTH / 2,
        cy=_HEIGHT / 2,
        T_cam_ego=mounted(height, pitch, yaw),
    )


def _frames(folder: Path, count: int) -> tuple[int, Callable[[int], Image | Path]]:
    video, preview = folder / "video.hevc", folder / "preview.png"
    if video.is_file():
        VideoFrames(video)  # says at once when it is none
        frames = cache(lambda: VideoFrames(video))  # an open file: not before its turn
        return count, lambda index: _sized(frames().read(index), video)
    if preview.is_file():
        return 1, lambda _: preview
    raise InputError(f"{folder}: expected video.hevc or preview.png, found neither; unpack the whole segment")


def _sized(pixels: Image, video: Path) -> Image:
    if pixels.shape[:2] == (_HEIGHT, _WIDTH):
        return pixels
    if abs(pixels.shape[1] / pixels.shape[0] - _WIDTH / _HEIGHT) > 0.02:
        raise InputError(
            f"{video}: expected frames of {_WIDTH}x{_HEIGHT} or that shape, found {pixels.shape[1]}x{pixels.shape[0]}"
        )
    return np.asarray(cv2.resize(pixels, (_WIDTH, _HEIGHT), interpolation=cv2.INTER_CUBIC), np.uint8)


def _can_speed(folder: Path, t: Array, fallback: Array) -> Array:
    """Speed of the car's own bus at times ``t`` where it is logged, else of the pose."""
    for can in (folder / "processed_log" / "CAN" / "speed", folder / "CAN" / "speed"):
        if (can / "t").is_file() and (can / "value").is_file():
            times = _array(can / "t", 1)
            with reading(can / "value", "one speed per time in t", "unpack the segment again"):
                values = _array(can / "value", None, len(times)).reshape(len(times), -1)[:, 0]
                return np.interp(t, times, values)
    return fallback


def _epoch(path: Path, first: float) -> float | None:
    if not path.is_file():
        return None
    with reading(path, "week and second", "unpack the segment again"):
        week, second = _array(path, 2)[0]
    return _GPS_EPOCH + week * _WEEK_S + second - _LEAP_S - first


def _place(position: Array) -> Place:
    """Of earth-centred, earth-fixed metres (3,): geodetic (WGS 84) for a point near the ground."""
    x, y, z = position
    lat = math.atan2(z, (1 - _ECCENTRICITY_SQ) * math.hypot(x, y))
    lon = math.atan2(y, x)
    north = (-math.sin(lat) * math.cos(lon), -math.sin(lat) * math.sin(lon), math.cos(lat))
    return Place(math.degrees(lat), math.degrees(lon), (-math.sin(lon), math.cos(lon), 0.0), north)


def _array(path: Path, dimensions: int | None, length: int | None = None) -> Array:
    with reading(path, "a NumPy array", "unpack the segment again"):
        values = np.asarray(np.load(io.BytesIO(path.read_bytes()), allow_pickle=False), float)
        if not values.size:
            raise ValueError(f"an empty one, shape {values.shape}")
    wrong_length = length is not None and len(values) != length
    if (
        wrong_length
        or (dimensions is not None and values.ndim != dimensions)
        or not np.isfinite(values).all()
    ):
        raise InputError(
            f"{path}: expected {length or 'any number of'} finite rows, found shape {values.shape}"
            f"{'' if np.isfinite(values).all() else ' with NaN'}; unpack the segment again"
        )
    return values


def _name(folder: Path) -> str:
    """Segments are numbered folders below their route."""
    return f"{folder.parent.name}_{folder.name}" if folder.name.isdigit() else folder.name
