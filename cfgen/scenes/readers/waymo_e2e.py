"""Waymo Open Dataset, End-to-End Driving: TFRecord files of moments with eight cameras, the past and the future."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cfgen.core.errors import InputError
from cfgen.core.files import reading
from cfgen.records import Camera, Scene
from cfgen.scenes.drive import HISTORY_S, Drive, Moment, Opener, Picture, Stream, raised
from cfgen.scenes.readers.sources import refused, unlisted, walk
from cfgen.scenes.readers.tfrecord import ProtoMessage, RecordFile
from cfgen.scenes.readers.traffic import axes, calibrated, lowered

Array = NDArray[np.float64]
_AGAIN = "download it again"
#: numbers of fields (end_to_end_driving_data.proto, dataset.proto)
_FRAME, _FUTURE, _PAST, _INTENT = 1, 5, 6, 7
_CONTEXT, _IMAGES = 1, 4
_NAME, _CALIBRATIONS = 1, 2
_INTRINSIC, _EXTRINSIC, _WIDTH, _HEIGHT = range(2, 6)
_PIXELS = 2
_X, _Y, _VX, _VY = 1, 2, 4, 5
_CAMERAS = (
    "",
    "front",
    "front_left",
    "front_right",
    "side_left",
    "side_right",
    "rear_left",
    "rear",
    "rear_right",
)
_INTENTS = ("unknown", "straight", "left", "right")
_FRAMES_HZ, _STATES_HZ = 10.0, 4.0
#: Below this speed the direction of travel is noise.
_MOVING_MPS = 0.5
#: an image's axes (right, down, forward) of a Waymo camera's (forward, left, up)
_IMAGE_FROM_CAMERA = axes("-y -z x")


class _Place(NamedTuple):
    """A frame of a segment: its number, 10 a second, and where it is."""

    number: int
    file: RecordFile
    record: int


class WaymoE2E:
    """A .tfrecord file or a folder of them; frames of a segment (20 s) may lie in several files.

    Headings are the direction of travel. The past goes back 3.75 s and the future 5 s on; test records have none.

    Options: cameras (front,front_left,front_right of eight), axle_height_m (0: the origin is on the ground).
    """

    def __init__(
        self, source: Path, cameras: str = "front,front_left,front_right", axle_height_m: float = 0.0
    ) -> None:
        self._troubles: list[OSError] = []
        below = (
            folder / n for folder, names in walk(source, self._troubles) for n in names if ".tfrecord" in n
        )
        self._files = [RecordFile(path) for path in ([source] if source.is_file() else sorted(below))]
        if not self._files:
            raise InputError(
                f"{source}: expected .tfrecord files of the End-to-End Driving data set, found none"
            )
        names = {"front", *(name.strip() for name in cameras.split(",") if name.strip())}
        if unknown := sorted(names - set(_CAMERAS[1:])):
            raise InputError(f"option cameras: no camera '{unknown[0]}'; known are {', '.join(_CAMERAS[1:])}")
        self._cameras = sorted(names, key=_CAMERAS.index)
        self._axle = float(axle_height_m)

    def recordings(self) -> Iterable[Opener]:
        segments: dict[str, list[_Place]] = {}
        unreadable: list[Opener] = []
        for file in self._files:
            try:
                with reading(file.path, "a TFRecord file of E2EDFrame", _AGAIN):
                    for name, place in [_named(file, index) for index in range(len(file))]:
                        segments.setdefault(name, []).append(place)
            except InputError as error:
                unreadable.append(refused(str(file.path), error))
        openers = []
        for name, places in sorted(segments.items()):
            ordered = sorted(places, key=lambda place: place.number)
            openers.append(Opener(name, partial(_Segment, name, ordered, self._cameras, self._axle)))
        return [*openers, *unreadable, *unlisted(self._troubles)]


def _named(file: RecordFile, index: int) -> tuple[str, _Place]:
    """Names are like 9b46ce5f8e1a4c6e8f4a6e0e2e5a7c11-042."""
    name = file[index].message(_FRAME).message(_CONTEXT).data(_NAME).decode()
    segment, _, number = name.rpartition("-")
    if not segment or not number.isdecimal():
        raise ValueError(f"a record named '{name[:60]}' instead of <segment>-<number>")
    return segment, _Place(int(number), file, index)


@dataclass(frozen=True)
class _Segment:
    """The frames of one drive. Each has a past and a future of its own, in its own ego frame."""

    name: str
    places: list[_Place]
    cameras: list[str]
    axle_m: float

    def moments(self, every_s: float) -> list["_Instant"]:
        """Frames ``every_s`` apart, from 2 s after the first on; the last where there are less than 2 s."""
        numbers = [place.number for place in self.places]
        chosen: list[int] = []
        due = numbers[0] + HISTORY_S * _FRAMES_HZ
        for i, number in enumerate(numbers):
            if number >= due - 1e-6:
                chosen.append(i)
                due = number + every_s * _FRAMES_HZ
        return [_Instant(self, i) for i in chosen or [len(numbers) - 1]]


@dataclass(frozen=True)
class _Instant:
    segment: _Segment
    index: int

    @property
    def scene_id(self) -> str:
        first, current = self.segment.places[0].number, self.segment.places[self.index].number
        return f"{self.segment.name}_{round((current - first) / _FRAMES_HZ * 1000):06d}"

    def cut(self, frame_times: Iterable[float]) -> tuple[Scene, dict[str, Picture]]:
        place = self.segment.places[self.index]
        with reading(place.file.path, f"an E2EDFrame in record {place.record}", _AGAIN):
            moment = Moment(self._drive(place.file[place.record], place.number), self.index)
        scene, images = moment.cut(list(frame_times))
        return scene.model_copy(update={"scene_id": self.scene_id}), images

    def _drive(self, record: ProtoMessage, number: int) -> Drive:
        """The motion around this frame, and every frame of the segment on its clock."""
        t, flat, v = _motion(record.message(_PAST), record.message(_FUTURE))
        places = self.segment.places
        times = (np.array([place.number for place in places]) - number) / _FRAMES_HZ
        intent = record.integer(_INTENT)
        return Drive(
            name=self.segment.name,
            source=f"Waymo Open Dataset End-to-End {self.segment.name}",
            license="Waymo Dataset License Agreement for Non-Commercial Use",
            streams=tuple(
                Stream(self._camera(record, name), times, partial(_picture, places, name))
                for name in self.segment.cameras
            ),
            t=t,
            poses=raised(flat),
            v=v,
            extra={"intent": _INTENTS[intent] if intent < len(_INTENTS) else _INTENTS[0]},
        )

    def _camera(self, record: ProtoMessage, name: str) -> Camera:
        calibrations = record.message(_FRAME).message(_CONTEXT).messages(_CALIBRATIONS)
        matches = [each for each in calibrations if each.integer(_NAME) == _CAMERAS.index(name)]
        if not matches:
            path = self.segment.places[self.index].file.path
            advice = (
                _AGAIN if name == "front" else "name the cameras there are, as in --options cameras=front"
            )
            raise InputError(f"{path}: expected a calibration of camera '{name}', found none; {advice}")
        fx, fy, cx, cy, *bends = matches[0].numbers(_INTRINSIC, "<f8").tolist()
        ego_from_camera = matches[0].message(_EXTRINSIC).numbers(1, "<f8").reshape(4, 4)
        k = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
        return calibrated(
            name,
            (matches[0].integer(_WIDTH), matches[0].integer(_HEIGHT)),
            k,
            _IMAGE_FROM_CAMERA @ np.linalg.inv(ego_from_camera) @ lowered(self.segment.axle_m),
            "opencv" if any(bends) else "pinhole",
            bends if any(bends) else (),
        )


def _picture(places: list[_Place], camera: str, index: int) -> bytes:
    """The JPEG as it is."""
    place = places[index]
    with reading(place.file.path, f"an image of camera '{camera}' in record {place.record}", _AGAIN):
        for image in place.file[place.record].message(_FRAME).messages(_IMAGES):
            if image.integer(_NAME) == _CAMERAS.index(camera):
                return image.data(_PIXELS)
        raise ValueError("none")


def _motion(past: ProtoMessage, future: ProtoMessage) -> tuple[Array, Array, Array]:
    """Times (T,), x, y, theta (T, 3) and speeds (T,): past states end at 0 s, future ones begin after it."""
    before, after = (
        np.column_stack([states.numbers(axis, "<f4") for axis in (_X, _Y)]) for states in (past, future)
    )
    if len(before) < 2:
        raise ValueError(f"{len(before)} past states")
    xy = np.vstack([before, after])
    t = (np.arange(len(xy)) - (len(before) - 1)) / _STATES_HZ
    velocity = np.gradient(xy, t, axis=0)
    speeds_xy = np.column_stack([past.numbers(axis, "<f4") for axis in (_VX, _VY)])
    if len(speeds_xy) == len(before):
        velocity[: len(before)] = speeds_xy
    moving = np.hypot(*velocity.T) > _MOVING_MPS
    moving[len(before) - 1] = True  # the ego frame itself: its heading is 0
    heading = np.arctan2(velocity[:, 1], velocity[:, 0])
    heading[len(before) - 1] = 0.0
    theta = np.interp(t, t[moving], np.unwrap(heading[moving]))
    speed = velocity[:, 0] * np.cos(theta) + velocity[:, 1] * np.sin(theta)
    return t, np.column_stack([xy, theta - theta[len(before) - 1]]), speed
