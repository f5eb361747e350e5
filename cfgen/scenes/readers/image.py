"""Single frames without any log."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from cfgen.core.files import read_image
from cfgen.scenes.drive import Drive, Opener, Stream
from cfgen.scenes.readers.frames import image_files
from cfgen.scenes.readers.guess import camera_for
from cfgen.scenes.readers.listing import openers


class ImageReader:
    """One image, or a folder of unrelated ones: a scene each, with a guessed camera and speed.

    Options: speed (m/s, 10), fov_deg (70), camera_height_m (1.4), horizon_row (px, the middle), camera (JSON file with
    intrinsics and extrinsics instead of the guess), license.
    """

    def __init__(
        self,
        source: Path,
        speed: float = 10.0,
        fov_deg: float = 70.0,
        camera_height_m: float = 1.4,
        horizon_row: float | None = None,
        camera: str | None = None,
        license: str = "",  # noqa: A002 - the option's name
    ) -> None:
        self._files = image_files(source) if source.is_dir() else [source]
        self._speed, self._license = float(speed), license
        self._camera = (camera, fov_deg, camera_height_m, horizon_row)

    def recordings(self) -> Iterable[Opener]:
        return openers(self._drive, self._files)

    def _drive(self, path: Path) -> Drive:
        height, width = read_image(path).shape[:2]
        camera = camera_for(width, height, *self._camera)
        return Drive(
            name=path.stem,
            source=f"image {path.name}",
            license=self._license,
            streams=(Stream(camera, np.zeros(1), lambda _: path),),
            t=np.zeros(1),
            poses=np.eye(4)[None],
            v=np.array([self._speed]),
            motion_known=False,
        )
