"""Single frames without any log."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from cfgen.core.files import read_image
from cfgen.perception.protocol import Perceiver
from cfgen.scenes.drive import Drive, Opener, Stream
from cfgen.scenes.readers.frames import image_files
from cfgen.scenes.readers.guess import TOLD, Wanted, camera_for
from cfgen.scenes.readers.listing import openers


class ImageReader:
    """One image, or a folder of unrelated ones: a scene each, with a guessed speed, and a camera by its lane lines.

    Options: speed (m/s, 10), camera (JSON file with intrinsics and extrinsics), or of it fov_deg (else 70: no lane
    line tells it), camera_height_m, horizon_row (px), yaw_deg (> 0 looks left): what is left out is taken from lane
    lines where these are clear, else 1.4 m, the middle and 0; license.
    """

    def __init__(
        self,
        source: Path,
        speed: float = 10.0,
        fov_deg: float | None = None,
        camera_height_m: float | None = None,
        horizon_row: float | None = None,
        yaw_deg: float | None = None,
        camera: str | None = None,
        license: str = "",  # noqa: A002 - the option's name
        perceiver: Perceiver | None = None,
    ) -> None:
        self._files = image_files(source) if source.is_dir() else [source]
        self._speed, self._license = float(speed), license
        self._wanted = Wanted(camera, fov_deg, camera_height_m, horizon_row, yaw_deg)
        self._perceiver = perceiver

    def recordings(self) -> Iterable[Opener]:
        return openers(self._drive, self._files)

    def _drive(self, path: Path) -> Drive:
        pixels = read_image(path)
        height, width = pixels.shape[:2]
        camera, told = camera_for(width, height, self._wanted, [pixels], self._perceiver)
        return Drive(
            name=path.stem,
            source=f"image {path.name}",
            license=self._license,
            streams=(Stream(camera, np.zeros(1), lambda _: path),),
            t=np.zeros(1),
            poses=np.eye(4)[None],
            v=np.array([self._speed]),
            motion_known=False,
            extra={TOLD: told},
        )
