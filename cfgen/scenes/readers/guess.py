"""A camera for footage without calibration: what the user gives, what lane lines show, and a guess for the rest."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import explain, read_json
from cfgen.geometry.camera import angles, centre, mounted
from cfgen.geometry.path import EgoPath
from cfgen.perception.camera_doubt import (
    APART,
    GUESS,
    SEEN_BY,
    THINGS_SOUGHT,
    UNBELIEVED,
    doubts,
    in_doubt,
)
from cfgen.perception.camera_fit import Clue, fit_camera
from cfgen.perception.frame_camera import LANE_M, SURE, FrameCamera, frame_camera, typical
from cfgen.perception.no_road import road_end
from cfgen.perception.protocol import Frame, Perceiver
from cfgen.perception.round_picture import is_round
from cfgen.perception.view import SceneView, Thing
from cfgen.records import Camera
from cfgen.scenes.format import CameraBlock

FOV_DEG, HEIGHT_M = 60.0, 1.4
#: Heights that a camera on a car has, m: what lane lines say beyond them is wrong.
_HEIGHTS_M = (0.8, 3.0)
#: Heights in which the camera of a road vehicle stands, m: what all clues together say beyond them is wrong.
_BELIEVED_M = (1.0, 3.0)
#: Lane lines that say more of the yaw are those of another road, of a forecourt or of a car park's bays.
_MOST_YAW_DEG = 15.0
#: Cameras that look down more see no road that anything stands on.
_MOST_DOWN_DEG = 40.0
_NAMES = {
    "fov_deg": "field of view {:.0f} degrees",
    "camera_height_m": "height {:.2f} m",
    "horizon_row": "horizon at row {:.0f}",
    "yaw_deg": "yaw {:+.1f} degrees",
}
#: Standard errors: of a horizon that is guessed, as a share of the frame's height, and of a guessed height, as a share.
_GUESSED_ROW, _GUESSED_HEIGHT = 0.06, 0.4
#: Of lane lines' horizon, deg, at best; of a height by the own lane's width, as a share: lanes are not all as wide;
#: and how often two clear lines are not those of one lane.
_LINES_DEG, _LINES_HEIGHT, _OTHER_LANE = 0.3, 0.12, 0.1
#: The horizon is so far above the far end of the road that is seen, and that much off, as shares of the frame's height;
#: and how often something hides that end, or it is a crest.
_ABOVE_END, _END_ERROR, _HIDDEN_END = 0.05, 0.03, 0.25
#: A value that several weak clues have moved this far from its guess, as a share of the frame's or the usual height, is
#: no mere guess any more.
_MOVED = 0.01
#: How far the ground far off tilts against that under the camera, rad.
_TILT = 0.012
#: Lane lines and sizes of things disagree that tell heights further apart than this factor; so well do sizes know it.
_APART, _SIZES_KNOW = 1.2, 0.28
#: Pixels along a side below which a picture shows nothing of a road.
_LEAST_PX = 32


@dataclass(frozen=True)
class WorkerNeeds:
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
        fov_deg: horizontal field of view. horizon_row: pixels from the top, < 0 above the frame; the middle by default.
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
    focal = width / 2 / math.tan(math.radians(fov_deg) / 2)
    pitch = math.atan((cy - row) / focal)
    if row >= height - 1 or pitch > math.radians(_MOST_DOWN_DEG):
        highest = cy - focal * math.tan(math.radians(_MOST_DOWN_DEG))
        raise InputError(
            f"horizon_row: expected a row inside the frame, or above it up to {_MOST_DOWN_DEG:g} degrees over its "
            f"middle ({math.ceil(highest)} to {height - 2}), found {row:g}; it is where the road's edges would meet, "
            "in pixels from the top, below 0 where the camera looks down"
        )
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
    width: int,
    height: int,
    wanted: WorkerNeeds,
    images: Iterable[np.ndarray],
    perceiver: Perceiver | None,
    exif_fov_deg: float | None = None,
) -> CameraFrom:
    """The camera of a calibration file; or else what is given, what ``images`` show, and a guess.

    Horizon and height are weighed from all that tells of them, each as far as it can be trusted: lane lines, the
    road's far end, the sizes of cars and people where the perceiver looks for them, and what is usual. The yaw is that
    of clear lane lines.

    Args:
        images: (height, width, 3) uint8 RGB, looked at only where something is left to find out.
        perceiver: sees the lane lines; without one, the rest is guessed.
        exif_fov_deg: horizontal field of view that the picture's EXIF data tell; what is given counts before it.

    Raises:
        InputError: the images are too small or a round fisheye's, the file does not fit the format, or a value is
            impossible.
    """
    if min(width, height) < _LEAST_PX:
        raise InputError(
            f"the picture is too small: expected at least {_LEAST_PX}x{_LEAST_PX} pixels, found {width}x{height}; "
            "use the original, not a thumbnail"
        )
    if wanted.camera is not None:
        return CameraFrom(_from_file(width, height, Path(wanted.camera)), {"calibration": "given"})
    images = iter(images)
    first = list(islice(images, 1))
    if first and is_round(first[0]):
        raise InputError(
            "expected a picture of a pinhole camera, found the round one of a fisheye lens (black corners); give the "
            "lens with --option camera=FILE, a calibration of model 'fisheye' or 'ftheta' (docs/scenes.md)"
        )
    images = chain(first, images)
    given = {key: value for key, value in vars(wanted).items() if value is not None and key != "camera"}
    by = dict.fromkeys(_NAMES, GUESS)
    values = {
        "fov_deg": FOV_DEG,
        "camera_height_m": HEIGHT_M,
        "horizon_row": (height - 1) / 2,
        "yaw_deg": 0.0,
    }
    if exif_fov_deg is not None:
        _take(values, by, {"fov_deg": exif_fov_deg}, "EXIF")
    _take(values, by, given, "given")
    start = guessed_camera(width, height, **values)
    if not set(_NAMES) - set(given):
        return CameraFrom(start, {"values": _rounded(values), "from": by})
    views = _views(start, images, perceiver)
    seen = _by_lines(start, views, perceiver)
    unbelieved = _not_of_this_road(seen, given)
    if unbelieved:
        seen = FrameCamera(reason=unbelieved)
    if seen.yaw_deg is not None and seen.confidence >= SURE and abs(seen.yaw_deg) < _MOST_YAW_DEG:
        _take(values, by, dict.fromkeys({"yaw_deg"} - set(given), seen.yaw_deg), "lane lines")
    things = [view.things or () for view in views]
    clues = _clues(start, by, seen, views)
    fit = fit_camera(start, things, clues, _TILT)
    apart, why = (0.0, "") if "camera_height_m" in given else _apart(start, things, clues)
    fit = fit.doubted(apart / 2)
    low, high = _BELIEVED_M
    if "camera_height_m" not in given and not low <= fit.height <= high:
        unbelieved = f"all clues say a height of {fit.height:.2f} m (expected {low:g} to {high:g} m)"
        fit = fit_camera(start, [], _clues(start, by, FrameCamera(), []), _TILT)
    row = float(np.clip(start.cy - start.fy * math.tan(fit.pitch), 1, height - 2))
    found = {"horizon_row": (row, fit.by[0], height), "camera_height_m": (fit.height, fit.by[1], HEIGHT_M)}
    for key, (value, source, scale) in found.items():
        if key not in given:
            moved = source == GUESS and abs(value - values[key]) > _MOVED * scale
            _take(values, by, {key: value}, "clues" if moved else source)
    told: dict[str, Any] = {"values": _rounded(values), "from": by}
    told |= {
        "confidence": round(seen.confidence * math.exp(-apart), 2),
        "reason": seen.reason,
        "sizes": fit.count,
    }
    if perceiver is not None:
        told |= {SEEN_BY: perceiver.name, THINGS_SOUGHT: any(view.things is not None for view in views)}
    told |= ({UNBELIEVED: unbelieved} if unbelieved else {}) | ({APART: why} if why else {})
    return CameraFrom(guessed_camera(width, height, **values), told | doubts(fit))


def _not_of_this_road(seen: FrameCamera, given: Mapping[str, Any]) -> str:
    """Why clear lane lines are not those of the road that the car is on; "" where they may be."""
    if (
        "yaw_deg" in given
        or seen.yaw_deg is None
        or seen.confidence < SURE
        or abs(seen.yaw_deg) < _MOST_YAW_DEG
    ):
        return ""
    return (
        f"the clear lines run {abs(seen.yaw_deg):.0f} degrees off the car's direction (expected under "
        f"{_MOST_YAW_DEG:g}): a turn, a forecourt or a car park?"
    )


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {key: round(value, 3) for key, value in values.items()}


def _take(values: dict[str, float], by: dict[str, str], found: Mapping[str, float], source: str) -> None:
    values.update(found)
    by.update(dict.fromkeys(found, source))


def _views(start: Camera, images: Iterable[np.ndarray], perceiver: Perceiver | None) -> list[SceneView]:
    """What each image shows, looked at as if the road ran straight ahead; nothing where nobody sees lane lines."""
    if perceiver is None or perceiver.weaker:
        return []
    s = np.arange(0.0, 100.0, 0.5)
    ahead = EgoPath(s, np.column_stack([s, np.zeros_like(s)]), np.zeros_like(s), 0.0)
    frames, seen = (Frame(image, start, ahead) for image in images), list[SceneView]()
    while group := list(islice(frames, getattr(perceiver, "at_once", 1))):
        seen += perceiver.perceive(group)
    return seen


def _by_lines(start: Camera, views: Sequence[SceneView], perceiver: Perceiver | None) -> FrameCamera:
    """What lane lines say over all images."""
    if perceiver is None or perceiver.weaker:
        return FrameCamera(reason=f"perception '{perceiver.name if perceiver else 'none'}' sees none")
    return typical([frame_camera(view.road, view.lanes, start) for view in views])


def _clues(start: Camera, by: Mapping[str, str], seen: FrameCamera, views: Sequence[SceneView]) -> list[Clue]:
    """What is given, or usual, of pitch and height, and what lane lines and the road's far end tell of them."""
    pitch, stands = angles(start)[0], float(centre(start)[2])
    row_given, height_given = (by[key] == "given" for key in ("horizon_row", "camera_height_m"))
    across = _GUESSED_ROW * start.height / start.fy
    clues = [
        Clue("pitch", pitch, 1e-4 if row_given else across, by["horizon_row"]),
        Clue("height", stands, 1e-3 if height_given else _GUESSED_HEIGHT * stands, by["camera_height_m"]),
    ]
    if seen.pitch_deg is not None:
        error = math.radians(math.hypot(seen.pitch_error_deg or 0.0, _LINES_DEG))
        clues.append(Clue("pitch", math.radians(seen.pitch_deg), error, "lane lines", 1 - seen.confidence))
    if seen.camera_height_m is not None and _HEIGHTS_M[0] <= seen.camera_height_m <= _HEIGHTS_M[1]:
        error = _LINES_HEIGHT * seen.camera_height_m
        astray = 1 - (1 - _OTHER_LANE) * seen.confidence
        clues.append(Clue("height", seen.camera_height_m, error, "lane lines", astray))
    ends = [end for view in views if (end := road_end(view)) is not None]
    if ends:
        row = float(np.median(ends)) - _ABOVE_END * start.height
        end_pitch = math.atan((start.cy - row) / start.fy)
        end_error = _END_ERROR * start.height / start.fy
        clues.append(Clue("pitch", end_pitch, end_error, "the road's far end", _HIDDEN_END))
    return clues


def _apart(start: Camera, things: Sequence[Sequence[Thing]], clues: Sequence[Clue]) -> tuple[float, str]:
    """How far (log) lane lines' height is from what it is by the sizes of things, and in words; 0 where they agree, or
    one is mute. Where they do not, the lane is none or the cars are none, and nobody knows which."""
    lines = [clue.value for clue in clues if clue.of == "height" and clue.by == "lane lines"]
    if not lines:
        return 0.0, ""
    rest = [clue for clue in clues if not (clue.of == "height" and clue.by == "lane lines")]
    sizes = fit_camera(start, things, rest, _TILT)
    gap = abs(math.log(lines[0] / sizes.height))
    if gap <= math.log(_APART) or sizes.height_error > _SIZES_KNOW * sizes.height:
        return 0.0, ""
    return gap, f"lane lines say a height of {lines[0]:.2f} m, the sizes of things {sizes.height:.2f} m"


def in_words(told: Mapping[str, Any]) -> str:
    """Where a scene's camera comes from, as a sentence for the user."""
    if "values" not in told:
        return "calibration given"
    named: dict[str, list[str]] = {}
    for key, by in told["from"].items():
        named.setdefault(by, []).append(_NAMES[key].format(told["values"][key]))
    words = {
        "given": "given: ",
        "EXIF": "from the picture's EXIF data: ",
        "sizes": f"from the sizes of {told.get('sizes')} cars or people: ",
        "lane lines": f"from lane lines (confidence {told.get('confidence', 0):.2f}, a lane {LANE_M:g} m wide): ",
        "the road's far end": "from the road's far end: ",
        "clues": "weighed from weak clues, none of which decides: ",
        GUESS: "guessed: ",
    }
    parts = [words[by] + ", ".join(named[by]) for by in words if by in named]
    if told.get("reason"):
        parts.append(f"no use of lane lines: {told['reason']}")
    if told.get(APART):
        parts.append(told[APART])
    if told.get(UNBELIEVED) and told[UNBELIEVED] != told.get("reason"):
        parts.append(f"not believed: {told[UNBELIEVED]}")
    return "; ".join(parts + in_doubt(told))


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
