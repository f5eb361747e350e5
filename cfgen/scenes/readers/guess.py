"""A camera for footage without calibration: what the user gives, what lane lines show, and a guess for the rest."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import explain, read_json
from cfgen.geometry.camera import mounted
from cfgen.geometry.path import EgoPath
from cfgen.perception.frame_camera import LANE_M, SURE, FrameCamera, frame_camera, typical
from cfgen.perception.protocol import Frame, Perceiver
from cfgen.records import Camera
from cfgen.scenes.format import CameraBlock

FOV_DEG, HEIGHT_M = 70.0, 1.4
#: Heights that a camera on a car has, m: what lane lines say beyond them is wrong.
_HEIGHTS_M = (0.8, 3.0)
_MOST_YAW_DEG = 30.0
_NAMES = {
    "fov_deg": "field of view {:.0f} degrees",
    "camera_height_m": "height {:.2f} m",
    "horizon_row": "horizon at row {:.0f}",
    "yaw_deg": "yaw {:+.1f} degrees",
}
#: The key of a scene's extra values under which it tells where its camera comes from.
TOLD = "camera_from"


@dataclass(frozen=True)
class Wanted:
    """What the user says of the camera; None where nothing."""

    camera: str | None = None
    fov_deg: float | None = None
    camera_height_m: float | None = None
    horizon_row: float | None = None
    yaw_deg: float | None = None


class CameraFrom(NamedTuple):
    """A camera, and which of its values were given, seen or guessed."""

    camera: Camera
    told: dict[str, Any]


def guessed_camera(
    width: int,
    height: int,
    fov_deg: float = FOV_DEG,
    camera_height_m: float = HEIGHT_M,
    horizon_row: float | None = None,
    yaw_deg: float = 0.0,
) -> Camera:
    """A pinhole camera that looks ahead.

    Args:
        fov_deg: horizontal field of view. horizon_row: pixels from the top; the middle by default.
        yaw_deg: > 0 looks left.

    Raises:
        InputError: a value that no dashcam has.
    """
    if not 5 <= fov_deg <= 160:
        raise InputError(
            f"fov_deg: expected a horizontal field of view of 5 to 160 degrees, found {fov_deg:g}"
        )
    if not 0.3 <= camera_height_m <= 5:
        raise InputError(f"camera_height_m: expected 0.3 to 5 m above the road, found {camera_height_m:g}")
    if not -60 <= yaw_deg <= 60:
        raise InputError(f"yaw_deg: expected -60 to 60 degrees off the car's direction, found {yaw_deg:g}")
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
        T_cam_ego=mounted(camera_height_m, pitch, math.radians(yaw_deg)),
    )


def camera_for(
    width: int, height: int, wanted: Wanted, images: Iterable[np.ndarray], perceiver: Perceiver | None
) -> CameraFrom:
    """The camera of a calibration file; or else what is given, what lane lines in ``images`` show, and a guess.

    Args:
        images: (height, width, 3) uint8 RGB, looked at only where something is left to find out.
        perceiver: sees the lane lines; without one, the rest is guessed.

    Raises:
        InputError: the file does not fit the format, or a value is impossible.
    """
    if wanted.camera is not None:
        return CameraFrom(_from_file(width, height, Path(wanted.camera)), {"calibration": "given"})
    given = {key: value for key, value in vars(wanted).items() if value is not None and key != "camera"}
    start = guessed_camera(width, height, **given)
    seen = _seen(start, images, perceiver) if set(_NAMES) - set(given) else FrameCamera()
    found = _found(seen, height) if seen.confidence >= SURE else {}
    guess = {"fov_deg": FOV_DEG, "camera_height_m": HEIGHT_M, "horizon_row": (height - 1) / 2, "yaw_deg": 0.0}
    values = {**guess, **found, **given}
    by = {key: "given" if key in given else "lane lines" if key in found else "guess" for key in values}
    told: dict[str, Any] = {"values": {key: round(value, 3) for key, value in values.items()}, "from": by}
    told |= {"confidence": round(seen.confidence, 2), "reason": seen.reason}
    return CameraFrom(guessed_camera(width, height, **values), told)


def _seen(start: Camera, images: Iterable[np.ndarray], perceiver: Perceiver | None) -> FrameCamera:
    """What lane lines say over all images, each looked at as if the road ran straight ahead."""
    if perceiver is None or perceiver.weaker:
        return FrameCamera(reason=f"perception '{perceiver.name if perceiver else 'none'}' sees none")
    s = np.arange(0.0, 100.0, 0.5)
    ahead = EgoPath(s, np.column_stack([s, np.zeros_like(s)]), np.zeros_like(s), 0.0)
    views = (perceiver.perceive([Frame(image, start, ahead)])[0] for image in images)
    return typical([frame_camera(view.road, view.lanes, start) for view in views])


def _found(seen: FrameCamera, height: int) -> dict[str, float]:
    """What is believable of what was seen, as options."""
    found: dict[str, float] = {}
    if seen.horizon_row is not None and 0 < seen.horizon_row < height - 1:
        found["horizon_row"] = seen.horizon_row
    if seen.yaw_deg is not None and abs(seen.yaw_deg) < _MOST_YAW_DEG:
        found["yaw_deg"] = seen.yaw_deg
    if seen.camera_height_m is not None and _HEIGHTS_M[0] <= seen.camera_height_m <= _HEIGHTS_M[1]:
        found["camera_height_m"] = seen.camera_height_m
    return found


def in_words(told: Mapping[str, Any]) -> str:
    """Where a scene's camera comes from, as a sentence for the user."""
    if "values" not in told:
        return "calibration given"
    named = {
        source: [_NAMES[key].format(told["values"][key]) for key, by in told["from"].items() if by == source]
        for source in ("given", "lane lines", "guess")
    }
    parts = []
    if named["given"]:
        parts.append(f"given: {', '.join(named['given'])}")
    if named["lane lines"]:
        parts.append(
            f"from lane lines, confidence {told['confidence']:.2f}: {', '.join(named['lane lines'])} "
            f"(a lane taken to be {LANE_M:g} m wide)"
        )
    elif told["reason"] or told["confidence"]:
        parts.append(
            f"no use of lane lines: {told['reason'] or 'confidence {:.2f}'.format(told['confidence'])}"
        )
    if named["guess"]:
        parts.append(f"guessed: {', '.join(named['guess'])}")
    return "; ".join(parts)


def _from_file(width: int, height: int, path: Path) -> Camera:
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
