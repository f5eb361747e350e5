"""Single frames without any log."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import ExifTags, Image

from cfgen.core.errors import InputError, warn
from cfgen.core.files import read_image
from cfgen.perception.camera import DOUBTS, GUESSED, TOLD, in_doubt
from cfgen.perception.protocol import Perceiver
from cfgen.scenes.drive import STILL, Drive, Opener, Stream
from cfgen.scenes.readers.camera_options import CameraOptions, Fov, Height, Yaw, camera_for
from cfgen.scenes.readers.sources import IMAGE_SUFFIXES, image_files, openers, turned

#: Diagonal of 35 mm film, mm; fields of view that are believed, degrees.
_FILM_DIAGONAL_MM, _FOVS_DEG = math.hypot(36, 24), (10.0, 140.0)
#: Pictures that are decoded, and stored as JPEG or PNG; and those that are named and left out.
_DECODED, _NOT_READ = (".webp", ".tif", ".tiff", ".gif", ".bmp"), (".heic", ".heif", ".avif", ".jxl", ".dng")


class ImageReader:
    """One image, or a folder of unrelated ones: a scene each, with a guessed speed, and a camera by its lane lines.

    Options: speed (m/s, 10), camera (JSON file with intrinsics and extrinsics), or of it fov_deg (else by the
    picture's EXIF data, else 60: nothing in the picture tells it), camera_height_m, horizon_row (px), yaw_deg (> 0
    looks left): what is left out is weighed from lane lines, the road's far end, and the sizes of cars and people where
    the perceiver looks for them, around 1.4 m, the middle and 0; a build refuses scenes where that is too unsure;
    still (the picture stands for every frame that a planner wants); license.
    """

    def __init__(
        self,
        source: Path,
        speed: float = 10.0,
        fov_deg: Fov = None,
        camera_height_m: Height = None,
        horizon_row: float | None = None,
        yaw_deg: Yaw = None,
        camera: str | None = None,
        still: bool = False,
        license: str = "",  # noqa: A002 - the option's name
        perceiver: Perceiver | None = None,
    ) -> None:
        suffixes = IMAGE_SUFFIXES + _DECODED + _NOT_READ
        self._files = image_files(source, suffixes) if source.is_dir() else [source]
        self._speed, self._license, self._still = float(speed), license, still
        self._wanted = CameraOptions(camera, fov_deg, camera_height_m, horizon_row, yaw_deg)
        self._perceiver = perceiver

    def recordings(self) -> Iterable[Opener]:
        return openers(self._drive, self._files)

    def _drive(self, path: Path) -> Drive:
        pixels, as_stored = _oriented_pixels(path)
        height, width = pixels.shape[:2]
        fov = exif_fov_deg(path, width, height)
        camera, provenance = camera_for(width, height, self._wanted, [pixels], self._perceiver, fov)
        return Drive(
            name=path.stem,
            source=f"image {path.name}",
            license=self._license,
            streams=(
                Stream(camera, np.zeros(1), lambda _: path if as_stored else _oriented_pixels(path)[0]),
            ),
            t=np.zeros(1),
            poses=np.eye(4)[None],
            v=np.array([self._speed]),
            motion_known=False,
            extra={TOLD: self._accepted(path, provenance)} | ({STILL: True} if self._still else {}),
        )

    def _accepted(self, path: Path, provenance: Mapping[str, Any]) -> dict[str, Any]:
        """A still that is only tried is drawn on by a guessed camera as well, with a word; no figure comes of it."""
        if self._still and (unsure := in_doubt(provenance)):
            keys = ("camera_height_m", "horizon_row", "fov_deg")
            unknown = [f"--camera {key}=..." for key in keys if getattr(self._wanted, key) is None]
            advice = f"; tell more: {', '.join(unknown)}" if unknown else ""
            warn(f"{path}: {GUESSED}, {', '.join(unsure)}{advice}")
        return {key: value for key, value in provenance.items() if not (self._still and key == DOUBTS)}


def _oriented_pixels(path: Path) -> tuple[np.ndarray, bool]:
    """(H, W, 3) uint8 RGB turned as its EXIF orientation says, and whether a scene can hold the file itself.

    Raises:
        InputError: not a whole image, or of a kind that is not read.
    """
    suffix = path.suffix.lower()
    if suffix in _NOT_READ:
        raise InputError(
            f"{path}: expected a picture that cfgen reads, found {suffix}; convert it to JPEG or PNG"
        )
    pixels = read_image(path)
    oriented = turned(path, pixels)
    return oriented, oriented is pixels and suffix not in _DECODED


def exif_fov_deg(path: Path, width: int, height: int) -> float | None:
    """Horizontal field of view, degrees, by FocalLengthIn35mmFilm (EXIF 2.32, tag 41989); None where it is not told.

    It compares the diagonal of the picture, width x height pixels, with that of 35 mm film (CIPA DCG-001).
    """
    try:
        with Image.open(path) as picture:
            focal_tag = picture.getexif().get_ifd(ExifTags.IFD.Exif).get(ExifTags.Base.FocalLengthIn35mmFilm)
        focal = float(focal_tag or 0)
    except (OSError, ValueError, TypeError, SyntaxError):  # EXIF data that nobody can read tell nothing
        return None
    across = _FILM_DIAGONAL_MM * width / math.hypot(width, height)
    fov = 2 * math.degrees(math.atan2(across / 2, focal)) if focal > 0 else 0.0
    return fov if _FOVS_DEG[0] <= fov <= _FOVS_DEG[1] else None
