"""Dashcam footage: a video or an image sequence with a speed, and a camera given, seen or guessed."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError
from cfgen.core.files import read_image
from cfgen.perception.camera import TOLD
from cfgen.perception.protocol import Perceiver
from cfgen.records import Camera
from cfgen.scenes.drive import MEASURED, Drive, Opener, Stream
from cfgen.scenes.folder import Image
from cfgen.scenes.readers.camera_options import CameraOptions, Fov, Height, Yaw, camera_for
from cfgen.scenes.readers.motion import FittedMotion, by_gps, constant, from_csv, measured
from cfgen.scenes.readers.sources import VideoFrames, image_files, openers, oriented_image, size_of

Array = NDArray[np.float64]
_MAX_FPS, _MAX_S = 1000.0, 48 * 3600.0  # beyond these a container lies
_LOOKED_AT = 24  # frames whose lane lines tell of the camera


class VideoReader:
    """A video file, or a folder of numbered images (then fps is needed).

    Options: speed (m/s, or a CSV file with columns t and speed or speed_kmh, and yaw_rate in rad/s if known; left
    out: by GPS, else measured in the frames), gps (a .gpx, .srt or .csv file, inside, or none; left out: that inside
    the video, else VIDEO.gpx or VIDEO.srt beside it), gps_offset_s (added to its times), fps (of the video), camera
    (JSON file), or of it fov_deg (else 60: nothing in the frames tells it, and measured speeds change in proportion),
    camera_height_m, horizon_row (px), yaw_deg (> 0 looks left): what is left out is weighed as for reader image;
    license.
    """

    def __init__(
        self,
        source: Path,
        speed: float | str | None = None,
        fps: float | None = None,
        fov_deg: Fov = None,
        camera_height_m: Height = None,
        horizon_row: float | None = None,
        yaw_deg: Yaw = None,
        camera: str | None = None,
        gps: str = "",
        gps_offset_s: float = 0.0,
        license: str = "",  # noqa: A002 - the option's name
        perceiver: Perceiver | None = None,
    ) -> None:
        self._source, self._speed, self._fps, self._license = source, speed, fps, license
        self._wanted = CameraOptions(camera, fov_deg, camera_height_m, horizon_row, yaw_deg)
        self._perceiver, self._gps, self._gps_offset_s = perceiver, gps, gps_offset_s

    def recordings(self) -> Iterable[Opener]:
        return openers(self._drive, [self._source])

    def _drive(self, source: Path) -> Drive:
        read, count, (width, height), fps = self._frames()
        if not 0 < fps <= _MAX_FPS:
            raise InputError(f"{source}: its frame rate is unknown; give it with --options fps=30")
        if count / fps > _MAX_S:
            raise InputError(
                f"{source}: says that it has {count} frames, {count / fps / 3600:.0f} hours; its header is damaged, "
                "convert it to mp4 (H.264)"
            )
        looked_at = sorted({round(i) for i in np.linspace(0, count - 1, min(count, _LOOKED_AT))})
        camera, provenance = camera_for(
            width, height, self._wanted, (_pixels(read(i)) for i in looked_at), self._perceiver
        )
        times = np.arange(count) / fps
        moved = self._motion(camera, times, read)
        return Drive(
            name=source.stem,
            source=f"video {source.name}",
            license=self._license,
            streams=(Stream(camera, times, read),),
            t=moved.t,
            poses=moved.poses,
            v=moved.v,
            motion_known=moved.motion_known,
            fit=moved.fit,
            fixes=moved.fixes,
            epoch=moved.epoch,
            place=moved.place,
            extra={TOLD: provenance} | ({MEASURED: {"by": moved.measured_by}} if moved.measured_by else {}),
            note=moved.lacks,
        )

    def _frames(self) -> tuple[Callable[[int], Image | Path], int, tuple[int, int], float]:
        if self._source.is_dir():
            files = image_files(self._source)
            return lambda i: oriented_image(files[i]), len(files), size_of(files), float(self._fps or 0)
        video = VideoFrames(self._source)
        if not video.count:
            raise InputError(
                f"{self._source}: does not say how many frames it has; convert it to mp4 (H.264)"
            )
        height, width = video.read(0).shape[:2]
        return video.read, video.count, (width, height), float(self._fps or video.fps)

    def _motion(self, camera: Camera, times: Array, read: Callable[[int], Image | Path]) -> FittedMotion:
        if self._speed is None:
            if motion := by_gps(self._source, times, self._gps, self._gps_offset_s):
                return motion
            return measured(camera, times, lambda i: _pixels(read(i)))
        if isinstance(self._speed, (int, float)):
            return constant(times, float(self._speed))
        return from_csv(Path(self._speed), times)


def _pixels(image: Image | Path) -> Image:
    return read_image(image) if isinstance(image, Path) else image
