"""A camera for footage without calibration: what the user gives, what the pictures show, and a guess for the rest."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import Field, ValidationError

from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import explain, read_json
from cfgen.geometry.camera import angles, centre, mounted
from cfgen.geometry.path import EgoPath
from cfgen.perception.camera import (
    APART,
    GUESS,
    LANE_M,
    SEEN_BY,
    THINGS_SOUGHT,
    UNBELIEVED,
    CameraFit,
    Clue,
    LaneReading,
    doubts,
    fit_camera,
    in_doubt,
    read_lane_lines,
    typical,
)
from cfgen.perception.protocol import CameraFrame, Perceiver
from cfgen.perception.road_check import road_end
from cfgen.perception.view import SceneView
from cfgen.records import Camera
from cfgen.scenes.format import CameraBlock
from cfgen.scenes.settings import UNKNOWN_CAMERA as SETTINGS

_NAMES = {
    "fov_deg": "field of view {:.0f} degrees",
    "camera_height_m": "height {:.2f} m",
    "horizon_row": "horizon at row {:.0f}",
    "yaw_deg": "yaw {:+.1f} degrees",
}


#: options of readers: horizontal field of view, degrees, m above the road, and degrees off the car's direction
Fov = Annotated[float | None, Field(ge=5, le=160)]
Height = Annotated[float | None, Field(ge=0.3, le=5)]
Yaw = Annotated[float | None, Field(ge=-60, le=60)]


@dataclass(frozen=True)
class CameraOptions:
    """What the user says of the camera; None where nothing."""

    camera: str | None = None
    fov_deg: Fov = None
    camera_height_m: Height = None
    horizon_row: float | None = None
    yaw_deg: Yaw = None


class CameraFrom(NamedTuple):
    """A camera, and which of its values were given, seen or guessed."""

    camera: Camera
    provenance: dict[str, Any]


class _Values:
    """The four values of a camera, and who tells each."""

    def __init__(self, height: int) -> None:
        usual = SETTINGS.fov_deg, SETTINGS.height_m, (height - 1) / 2, 0.0
        self.values: dict[str, float] = dict(zip(_NAMES, usual, strict=True))
        self.by = dict.fromkeys(_NAMES, GUESS)

    def take(self, values: Mapping[str, float], source: str) -> None:
        """Those that were not given."""
        for name, value in values.items():
            if self.by[name] != "given":
                self.values[name], self.by[name] = value, source

    @property
    def unknown(self) -> set[str]:
        return {name for name, source in self.by.items() if source != "given"}

    def provenance(self) -> dict[str, Any]:
        return {"values": {name: round(value, 3) for name, value in self.values.items()}, "from": self.by}


def plain_camera(
    width: int,
    height: int,
    fov_deg: float = SETTINGS.fov_deg,
    camera_height_m: float = SETTINGS.height_m,
    horizon_row: float | None = None,
    yaw_deg: float = 0.0,
) -> Camera:
    """A pinhole camera that looks ahead.

    Args:
        fov_deg: horizontal field of view. horizon_row: pixels from the top, < 0 above the frame; the middle by default.
        yaw_deg: > 0 looks left.

    Raises:
        InputError: a horizon that no dashcam has.
    """
    cx, cy = (width - 1) / 2, (height - 1) / 2
    row = cy if horizon_row is None else horizon_row
    focal = width / 2 / math.tan(math.radians(fov_deg) / 2)
    highest = cy - focal * math.tan(math.radians(SETTINGS.most_down_deg))
    if not highest <= row < height - 1:
        raise InputError(
            f"horizon_row: expected a row inside the frame, or above it up to {SETTINGS.most_down_deg:g} degrees over "
            f"its middle ({math.ceil(highest)} to {height - 2}), found {row:g}; it is where the road's edges would "
            "meet, in pixels from the top, below 0 where the camera looks down"
        )
    pose = mounted(camera_height_m, math.atan((cy - row) / focal), math.radians(yaw_deg))
    return Camera(width=width, height=height, fx=focal, fy=focal, cx=cx, cy=cy, T_cam_ego=pose)


def camera_for(
    width: int,
    height: int,
    options: CameraOptions,
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
        InputError: the images are too small, the file does not fit the format, or a value is
            impossible.
    """
    if min(width, height) < SETTINGS.least_px:
        raise InputError(
            f"the picture is too small: expected at least {SETTINGS.least_px}x{SETTINGS.least_px} pixels, found "
            f"{width}x{height}; use the original, not a thumbnail"
        )
    if options.camera is not None:
        return CameraFrom(_from_file(width, height, Path(options.camera)), {"calibration": "given"})
    values = _Values(height)
    values.take({name: value for name, value in vars(options).items() if value is not None}, "given")
    if exif_fov_deg is not None:
        values.take({"fov_deg": exif_fov_deg}, "EXIF")
    start = plain_camera(width, height, **values.values)
    if not values.unknown:
        return CameraFrom(start, values.provenance())
    evidence = _weigh(start, values, _views(start, images, perceiver), perceiver)
    return CameraFrom(plain_camera(width, height, **values.values), values.provenance() | evidence)


def _weigh(
    start: Camera, values: _Values, views: Sequence[SceneView], perceiver: Perceiver | None
) -> dict[str, Any]:
    """Take what the pictures tell into ``values``; more of where they come from, for the provenance."""
    lines = typical([read_lane_lines(view.road, view.lanes, start) for view in views])
    if perceiver is None or perceiver.weaker:
        lines = LaneReading(reason=f"perception '{perceiver.name if perceiver else 'none'}' sees none")
    unbelieved = _take_yaw(values, lines)
    if unbelieved:
        lines = LaneReading(reason=unbelieved)
    things = [(view.things or (), SETTINGS.tilt) for view in views]
    clues = _clues(start, values, lines, views)
    fit, gap, why = _fit_with_doubt(start, things, clues)
    low, high = SETTINGS.heights_m
    if "camera_height_m" in values.unknown and not low <= fit.height <= high:
        unbelieved = f"all clues say a height of {fit.height:.2f} m (expected {low:g} to {high:g} m)"
        fit = fit_camera(start, [], clues[:2])
    _take_fit(start, values, fit)
    evidence = {
        "confidence": round(lines.confidence * math.exp(-gap), 2),
        "reason": lines.reason,
        "sizes": fit.count,
    }
    if perceiver is not None:
        evidence |= {SEEN_BY: perceiver.name, THINGS_SOUGHT: any(view.things is not None for view in views)}
    evidence |= ({UNBELIEVED: unbelieved} if unbelieved else {}) | ({APART: why} if why else {})
    return evidence | doubts(fit)


def _take_fit(start: Camera, values: _Values, fit: CameraFit) -> None:
    """Take horizon and height into ``values``, with who decides them."""
    row = float(np.clip(start.cy - start.fy * math.tan(fit.pitch), 1, start.height - 2))
    for name, value, source, scale in (
        ("horizon_row", row, fit.by[0], start.height),
        ("camera_height_m", fit.height, fit.by[1], SETTINGS.height_m),
    ):
        moved = source == GUESS and abs(value - values.values[name]) > SETTINGS.moved * scale
        values.take({name: value}, "clues" if moved else source)


def _take_yaw(values: _Values, lines: LaneReading) -> str:
    """Take the yaw of clear lane lines into ``values``; why they are not those of the car's own road, else ""."""
    if "yaw_deg" not in values.unknown or lines.yaw_deg is None or not lines.sure:
        return ""
    if abs(lines.yaw_deg) < SETTINGS.most_yaw_deg:
        values.take({"yaw_deg": lines.yaw_deg}, "lane lines")
        return ""
    return (
        f"the clear lines run {abs(lines.yaw_deg):.0f} degrees off the car's direction (expected under "
        f"{SETTINGS.most_yaw_deg:g}): a turn, a forecourt or a car park?"
    )


def _views(start: Camera, images: Iterable[np.ndarray], perceiver: Perceiver | None) -> list[SceneView]:
    """What each image shows, looked at as if the road ran straight ahead; nothing where nobody sees lane lines."""
    if perceiver is None or perceiver.weaker:
        return []
    s = np.arange(0.0, 100.0, 0.5)
    straight = EgoPath(s, np.column_stack([s, np.zeros_like(s)]), np.zeros_like(s), 0.0)
    return [view for image in images for view in perceiver.perceive([CameraFrame(image, start, straight)])]


def _clues(start: Camera, values: _Values, lines: LaneReading, views: Sequence[SceneView]) -> list[Clue]:
    """What is given, or usual, of pitch and height, and what lane lines and the road's far end tell of them."""
    pitch, height = angles(start)[0], float(centre(start)[2])
    row_error, height_error = SETTINGS.row_error * start.height / start.fy, SETTINGS.height_error * height
    clues = [
        Clue(
            "pitch", pitch, row_error if "horizon_row" in values.unknown else 1e-4, values.by["horizon_row"]
        ),
        Clue(
            "height",
            height,
            height_error if "camera_height_m" in values.unknown else 1e-3,
            values.by["camera_height_m"],
        ),
    ]
    if lines.pitch_deg is not None:
        error = math.radians(math.hypot(lines.pitch_error_deg, SETTINGS.lines_deg))
        clues.append(Clue("pitch", math.radians(lines.pitch_deg), error, "lane lines", 1 - lines.confidence))
    low, high = SETTINGS.heights_m
    if lines.height_m is not None and low <= lines.height_m <= high:
        astray = 1 - (1 - SETTINGS.other_lane) * lines.confidence
        error = SETTINGS.lines_height * lines.height_m
        clues.append(Clue("height", lines.height_m, error, "lane lines", astray))
    if ends := [end for view in views if (end := road_end(view)) is not None]:
        row = float(np.median(ends)) - SETTINGS.above_end * start.height
        error = SETTINGS.end_error * start.height / start.fy
        by_end = math.atan((start.cy - row) / start.fy)
        clues.append(Clue("pitch", by_end, error, "the road's far end", SETTINGS.hidden_end))
    return clues


def _fit_with_doubt(
    start: Camera, things: Sequence[Any], clues: Sequence[Clue]
) -> tuple[CameraFit, float, str]:
    """The fit; how far (log) lane lines' height is from what it is by the sizes of things, and in words; 0 where they
    agree, or one is mute. Where they do not, the lane is none or the cars are none, and nobody knows which: the height
    is the less sure."""
    fit = fit_camera(start, things, clues)
    lane = next((clue for clue in clues[2:] if clue.of == "height"), None)
    if lane is None or clues[1].by == "given":
        return fit, 0.0, ""
    sizes = fit_camera(start, things, [clue for clue in clues if clue is not lane])
    gap = abs(math.log(lane.value / sizes.height))
    if gap <= math.log(SETTINGS.disagree) or sizes.errors[1] > SETTINGS.sizes_know * sizes.height:
        return fit, 0.0, ""
    why = f"lane lines say a height of {lane.value:.2f} m, the sizes of things {sizes.height:.2f} m"
    return fit.less_sure(gap / 2), gap, why


def in_words(provenance: Mapping[str, Any]) -> str:
    """Where a scene's camera comes from, as a sentence for the user."""
    if "values" not in provenance:
        return "calibration given"
    named: dict[str, list[str]] = {}
    for name, source in provenance["from"].items():
        named.setdefault(source, []).append(_NAMES[name].format(provenance["values"][name]))
    words = {
        "given": "given: ",
        "EXIF": "from the picture's EXIF data: ",
        "sizes": f"from the sizes of {provenance.get('sizes')} cars or people: ",
        "lane lines": f"from lane lines (confidence {provenance.get('confidence', 0):.2f}, a lane {LANE_M:g} m wide): ",
        "the road's far end": "from the road's far end: ",
        "clues": "weighed from weak clues, none of which decides: ",
        GUESS: "guessed: ",
    }
    parts = [words[source] + ", ".join(named[source]) for source in words if source in named]
    if provenance.get("reason"):
        parts.append(f"no use of lane lines: {provenance['reason']}")
    if provenance.get(APART):
        parts.append(provenance[APART])
    if provenance.get(UNBELIEVED) and provenance[UNBELIEVED] != provenance.get("reason"):
        parts.append(f"not believed: {provenance[UNBELIEVED]}")
    return "; ".join(parts + in_doubt(provenance))


def _from_file(width: int, height: int, path: Path) -> Camera:
    try:
        content = {"name": "front", "width": width, "height": height} | read_json(path)
        camera = CameraBlock.model_validate(content).camera()
    except StoreError as error:
        raise InputError(str(error)) from error
    except ValidationError as error:
        raise InputError(f"{path}: {explain(error)}") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error
    if (camera.width, camera.height) != (width, height):
        raise InputError(
            f"{path}: calibration is for {camera.width}x{camera.height}, the images are {width}x{height}; "
            "scale fx, fy, cx and cy with the images"
        )
    return camera
