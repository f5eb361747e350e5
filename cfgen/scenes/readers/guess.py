"""A camera for footage without calibration: field of view, height and horizon give all that placing needs."""

import math
from pathlib import Path

from pydantic import ValidationError

from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import explain, read_json
from cfgen.geometry.camera import mounted
from cfgen.records import Camera
from cfgen.scenes.format import CameraBlock


def guessed_camera(
    width: int,
    height: int,
    fov_deg: float = 70.0,
    camera_height_m: float = 1.4,
    horizon_row: float | None = None,
) -> Camera:
    """A pinhole camera that looks ahead.

    Args:
        fov_deg: horizontal field of view. horizon_row: pixels from the top; the middle by default.

    Raises:
        InputError: a value that no dashcam has.
    """
    if not 5 <= fov_deg <= 160:
        raise InputError(
            f"fov_deg: expected a horizontal field of view of 5 to 160 degrees, found {fov_deg:g}"
        )
    if not 0.3 <= camera_height_m <= 5:
        raise InputError(f"camera_height_m: expected 0.3 to 5 m above the road, found {camera_height_m:g}")
    cx, cy = (width - 1) / 2, (height - 1) / 2
    row = cy if horizon_row is None else horizon_row
    if not 0 < row < height - 1:
        raise InputError(
            f"horizon_row: expected a row inside the frame (0 to {height - 1}), found {row:g}; "
            "it is where the road's edges would meet, in pixels from the top"
        )
    focal = width / 2 / math.tan(math.radians(fov_deg) / 2)
    pitch = math.atan((cy - row) / focal)
    return Camera(
        width=width,
        height=height,
        fx=focal,
        fy=focal,
        cx=cx,
        cy=cy,
        T_cam_ego=mounted(camera_height_m, pitch),
    )


def camera_for(
    width: int,
    height: int,
    camera: str | None,
    fov_deg: float,
    camera_height_m: float,
    horizon_row: float | None,
) -> Camera:
    """The camera of a calibration file (``intrinsics`` and ``extrinsics`` as in scene.json), or else a guess.

    Raises:
        InputError: the file does not fit the format, or the guess is impossible.
    """
    if camera is None:
        return guessed_camera(width, height, fov_deg, camera_height_m, horizon_row)
    path = Path(camera)
    try:
        content = {"name": "front", "width": width, "height": height} | read_json(path)
        found = CameraBlock.model_validate(content).camera()
    except StoreError as error:
        raise InputError(str(error)) from error
    except ValidationError as error:
        raise InputError(f"{path}: {explain(error)}") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    if (found.width, found.height) != (width, height):
        raise InputError(
            f"{path}: calibration is for {found.width}x{found.height}, the images are {width}x{height}; "
            "scale fx, fy, cx and cy with the images"
        )
    return found
