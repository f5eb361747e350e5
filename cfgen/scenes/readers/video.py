"""Dashcam footage: a video or an image sequence with a speed, and a camera given, seen or guessed."""

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError
from cfgen.core.files import read_image, stand_in
from cfgen.perception.camera_doubt import TOLD
from cfgen.perception.protocol import Perceiver
from cfgen.scenes.drive import Drive, Opener, Stream, raised
from cfgen.scenes.folder import Image
from cfgen.scenes.readers.frames import VideoFrames, image_files, size_of, upright
from cfgen.scenes.readers.guess import Wanted, camera_for
from cfgen.scenes.readers.listing import openers

Array = NDArray[np.float64]
_MAX_FPS, _MAX_S = 1000.0, 48 * 3600.0  # beyond these a container lies
_LOOKED_AT = 24  # frames whose lane lines tell of the camera
_CSV_SPEEDS = {"speed": 1.0, "speed_mps": 1.0, "speed_kmh": 1 / 3.6}


class VideoReader:
    """A video file, or a folder of numbered images (then fps is needed).

    Options: speed (m/s, or a CSV file with columns t and speed or speed_kmh, and yaw_rate in rad/s if known),
    fps (of the video), camera (JSON file), or of it fov_deg (else 60: nothing in the frames tells it),
    camera_height_m, horizon_row (px), yaw_deg (> 0 looks left): what is left out is weighed as for reader image;
    license.
    """

    def __init__(
        self,
        source: Path,
        speed: float | str = 10.0,
        fps: float | None = None,
        fov_deg: float | None = None,
        camera_height_m: float | None = None,
        horizon_row: float | None = None,
        yaw_deg: float | None = None,
        camera: str | None = None,
        license: str = "",  # noqa: A002 - the option's name
        perceiver: Perceiver | None = None,
    ) -> None:
        self._source, self._speed, self._fps, self._license = source, speed, fps, license
        self._wanted = Wanted(camera, fov_deg, camera_height_m, horizon_row, yaw_deg)
        self._perceiver = perceiver

    def recordings(self) -> Iterable[Opener]:
        return openers(self._drive, [self._source])

    def _drive(self, source: Path) -> Drive:
        read, count, (width, height), fps = self._frames()
        if not 0 < fps <= _MAX_FPS:
            raise InputError(f"{source}: its frame rate is unknown; give it with --option fps=30")
        if count / fps > _MAX_S:
            raise InputError(
                f"{source}: says that it has {count} frames, {count / fps / 3600:.0f} hours; its header is damaged, "
                "convert it to mp4 (H.264)"
            )
        looked_at = sorted({round(i) for i in np.linspace(0, count - 1, min(count, _LOOKED_AT))})
        camera, told = camera_for(
            width, height, self._wanted, (_pixels(read(i)) for i in looked_at), self._perceiver
        )
        times = np.arange(count) / fps
        t, v, yaw_rate, known = self._motion(times)
        return Drive(
            name=source.stem,
            source=f"video {source.name}",
            license=self._license,
            streams=(Stream(camera, times, read),),
            t=t,
            poses=raised(integrated(t, v, yaw_rate)),
            v=v,
            motion_known=known,
            extra={TOLD: told},
        )

    def _frames(self) -> tuple[Callable[[int], Image | Path], int, tuple[int, int], float]:
        if self._source.is_dir():
            files = image_files(self._source)
            return lambda i: upright(files[i]), len(files), size_of(files), float(self._fps or 0)
        video = VideoFrames(self._source)
        if not video.count:
            raise InputError(
                f"{self._source}: does not say how many frames it has; convert it to mp4 (H.264)"
            )
        height, width = video.read(0).shape[:2]
        return video.read, video.count, (width, height), float(self._fps or video.fps)

    def _motion(self, times: Array) -> tuple[Array, Array, Array, bool]:
        if isinstance(self._speed, (int, float)):
            t = np.arange(times[0], times[-1] + 0.1, 0.1)
            return t, np.full(len(t), float(self._speed)), np.zeros(len(t)), False
        t, v, yaw_rate = read_speed_csv(Path(self._speed))
        if t[0] > times[0] + 0.5 or t[-1] < times[-1] - 0.5:
            raise InputError(
                f"{self._speed}: expected speeds from {times[0]:g} to {times[-1]:g} s, the video's length, "
                f"found {t[0]:g} to {t[-1]:g} s; t counts from the first frame"
            )
        known = yaw_rate is not None
        return t, v, np.zeros(len(t)) if yaw_rate is None else yaw_rate, known


def _pixels(image: Image | Path) -> Image:
    return read_image(image) if isinstance(image, Path) else image


def read_speed_csv(path: Path) -> tuple[Array, Array, Array | None]:
    """t (s), v (m/s) and yaw rate (rad/s, or None) of a CSV with a header.

    Raises:
        InputError: missing file or column, or a value that is not a number.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise InputError(f"{path}: cannot read the speeds ({error.strerror}); check the path") from error
    except (ValueError, csv.Error) as error:
        raise InputError(
            f"{path}: expected a CSV file in UTF-8, found {stand_in(path) or error}; export it again"
        ) from error
    columns = list(rows[0]) if rows else []
    speed = next((name for name in _CSV_SPEEDS if name in columns), None)
    if "t" not in columns or speed is None or len(rows) < 2:
        raise InputError(
            f"{path}: expected a header with t and one of {', '.join(_CSV_SPEEDS)}, and 2 rows or more, "
            f"found columns {columns} and {len(rows)} rows"
        )
    wanted = ["t", speed] + (["yaw_rate"] if "yaw_rate" in columns else [])
    try:
        values = np.array([[float(row[name]) for name in wanted] for row in rows])
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: expected numbers in {wanted}: {error}") from error
    if not np.isfinite(values).all() or (np.diff(values[:, 0]) <= 0).any():
        raise InputError(f"{path}: expected finite numbers and t that increases; sort the rows, drop repeats")
    return values[:, 0], values[:, 1] * _CSV_SPEEDS[speed], values[:, 2] if len(wanted) > 2 else None


def integrated(t: Array, v: Array, yaw_rate: Array) -> Array:
    """x, y, theta (T, 3) of a car with speeds ``v`` and yaw rates (T,), from the origin; trapezoids."""
    dt = np.diff(t)
    theta = np.concatenate([[0.0], np.cumsum((yaw_rate[1:] + yaw_rate[:-1]) / 2 * dt)])
    mid = (theta[1:] + theta[:-1]) / 2
    chord = (v[1:] + v[:-1]) / 2 * dt * np.sinc(np.diff(theta) / 2 / np.pi)
    x = np.concatenate([[0.0], np.cumsum(chord * np.cos(mid))])
    y = np.concatenate([[0.0], np.cumsum(chord * np.sin(mid))])
    return np.column_stack([x, y, theta])
