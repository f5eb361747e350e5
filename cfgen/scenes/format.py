"""scene.json: the file format of one scene, flat for one camera so that it can be written by hand.

The record that the rest of cfgen uses is :class:`cfgen.records.Scene`; this module converts both ways.
"""

import difflib
import json
import math
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cfgen.geometry.camera import centre, mounted
from cfgen.geometry.frames import MAX_EXTRAPOLATION_S
from cfgen.perception.light import PLACE_KEYS
from cfgen.records import Camera, Frame, Lane, Motion, RoadUser, Scene
from cfgen.records.base import Identifier
from cfgen.records.scenes import Polygon

#: numbers that no car or camera has would only fail later and less clearly
_Metres = Annotated[float, Field(ge=-1e4, le=1e4)]
_Radians = Annotated[float, Field(ge=-100, le=100)]
_Speed = Annotated[float, Field(ge=-150, le=150)]
_Seconds = Annotated[float, Field(ge=-600, le=600)]
_Coefficient = Annotated[float, Field(ge=-1e6, le=1e6)]
_Position = Annotated[float, Field(ge=-100, le=100)]
Row = tuple[_Metres, _Metres, _Radians, _Speed]
_COLUMNS = ("x", "y", "theta", "v")
#: Where a hand-written scene without history gets one from: constant speed over this long, s.
_ASSUMED_HISTORY_S = 2.0
_SAME_TIME_S = 1e-3
_MIN_CAMERA_HEIGHT_M = 0.05


class _Block(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class _Carried(BaseModel):
    """Of the keys that scene.json carries along, those that placement and light read."""

    lane_width_m: float = Field(default=3.5, gt=1, lt=20, strict=True)
    sun: tuple[float, float, float] | None = None
    drive_on: Literal["left", "right"] = "right"
    road: str | tuple[str, ...] = ()
    traffic: tuple[RoadUser, ...] | None = None
    drivable: tuple[Polygon, ...] | None = None
    crossings: tuple[Polygon, ...] | None = None
    lanes: tuple[Lane, ...] | None = None
    road_from: Literal["annotated", "map"] = "annotated"
    latitude_deg: float | None = Field(default=None, ge=-90, le=90, strict=True)
    longitude_deg: float | None = Field(default=None, ge=-180, le=180, strict=True)
    heading_deg: float | None = Field(default=None, ge=-360, le=360, strict=True)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.sun is not None and math.hypot(*self.sun) < 1e-3:
            raise ValueError(
                "sun: expected x, y, z towards the sun, or null where none shines, found 0, 0, 0"
            )
        given = [key for key in PLACE_KEYS if getattr(self, key) is not None]
        if 0 < len(given) < len(PLACE_KEYS):
            raise ValueError(f"{given[0]}: expected all of {', '.join(PLACE_KEYS)} or none")
        return self


class Intrinsics(_Block):
    """Pixels; the centre of the top-left pixel is (0, 0)."""

    model: Literal["pinhole", "opencv", "fisheye", "ftheta"] | None = Field(
        default=None,
        description="left out: pinhole, or opencv when a distortion coefficient is not 0",
    )
    fx: float = Field(default=1.0, ge=1e-3, le=1e6)
    fy: float = Field(default=1.0, ge=1e-3, le=1e6)
    cx: float = Field(ge=-1e6, le=1e6)
    cy: float = Field(ge=-1e6, le=1e6)
    distortion: tuple[_Coefficient, ...] = Field(
        default=(), description="opencv: k1 k2 p1 p2 [k3 [k4 k5 k6]]; fisheye: k1 k2 k3 k4"
    )
    fw_poly: tuple[_Coefficient, ...] = Field(
        default=(), description="ftheta: pixel radius = sum fw_i theta^i"
    )
    bw_poly: tuple[_Coefficient, ...] = Field(default=(), description="ftheta: theta = sum bw_i radius^i")

    def camera_fields(self) -> dict[str, Any]:
        fields = self.model_dump()
        bends = any(self.distortion)
        model = self.model or ("opencv" if bends else "pinhole")
        if model != "ftheta" and not {"fx", "fy"} <= self.model_fields_set:
            raise ValueError("intrinsics: fx and fy are missing; give the focal lengths in pixels")
        if model == "opencv" and len(self.distortion) == 4:
            fields["distortion"] = (*self.distortion, 0.0)
        if model == "pinhole":
            if bends:
                raise ValueError("intrinsics: model pinhole has no distortion; set model to opencv")
            fields["distortion"] = ()
        return fields | {"model": model}


class Extrinsics(_Block):
    """Where the camera is on the car: T_cam_ego, or its height and angles. T_cam_ego counts when both are there."""

    T_cam_ego: tuple[tuple[_Position, _Position, _Position, _Position], ...] | None = Field(
        default=None, description="4x4, takes ego points (x forward, y left, z up, m) into the camera frame"
    )
    camera_height_m: _Position | None = None
    x_m: _Position = Field(default=0.0, description="camera ahead of the ego origin")
    y_m: _Position = Field(default=0.0, description="camera to the left of the ego origin")
    pitch_deg: float = Field(default=0.0, description="> 0 looks down")
    yaw_deg: float = Field(default=0.0, description="> 0 looks left")
    roll_deg: float = Field(default=0.0, description="> 0 tips the right side down")

    def matrix(self) -> tuple[tuple[float, float, float, float], ...]:
        if self.T_cam_ego is not None:
            return self.T_cam_ego
        if self.camera_height_m is None:
            raise ValueError(
                "extrinsics: expected T_cam_ego or camera_height_m (with pitch_deg), found neither"
            )
        pitch, yaw, roll = (math.radians(a) for a in (self.pitch_deg, self.yaw_deg, self.roll_deg))
        return mounted(self.camera_height_m, pitch, yaw, roll, x=self.x_m, y=self.y_m)


class CameraBlock(_Block):
    """One more camera besides the front one."""

    name: Identifier
    width: int = Field(ge=8, le=20_000)
    height: int = Field(ge=8, le=20_000)
    intrinsics: Intrinsics
    extrinsics: Extrinsics

    def camera(self) -> Camera:
        camera = Camera(
            name=self.name,
            width=self.width,
            height=self.height,
            T_cam_ego=self.extrinsics.matrix(),
            **self.intrinsics.camera_fields(),
        )
        height = centre(camera)[2]
        if height < _MIN_CAMERA_HEIGHT_M:
            raise ValueError(
                f"camera '{self.name}': expected it above the ground (z = 0), found it at z = {height:.2f} m; "
                "T_cam_ego takes ego points to the camera, is it inverted?"
            )
        return camera


class SceneFile(BaseModel):
    """Content of scene.json. Keys that are not listed are carried along as they are."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    schema_version: Literal[1] = 1
    scene_id: Identifier
    source: str = ""
    license: str = ""
    timestamp: str = ""
    camera: Identifier = Field(default="front", description="name of the front camera")
    image: str = Field(description="the front camera's frame at t0, relative to the scene folder")
    width: int = Field(ge=8, le=20_000)
    height: int = Field(ge=8, le=20_000)
    intrinsics: Intrinsics
    extrinsics: Extrinsics
    columns: tuple[str, ...] = Field(default=_COLUMNS, description="of history and future")
    dt: float = Field(
        default=0.25, ge=0.001, le=10, description="step of history and future where no times are given, s"
    )
    history: tuple[Row, ...] | None = Field(
        default=None, description="x, y, theta, v in the ego frame at t0; ends with 0, 0, 0, v at t0"
    )
    history_t: tuple[_Seconds, ...] | None = Field(default=None, description="s, ends with 0")
    history_images: tuple[str | None, ...] = Field(
        default=(), description="front frames at history_t; null or left out where there is none"
    )
    speed_t0: _Speed | None = Field(default=None, description="m/s; without history, it is assumed constant")
    future: tuple[Row, ...] | None = Field(default=None, description="rows as in history, after t0")
    future_t: tuple[_Seconds, ...] | None = None
    motion_known: bool | Literal["estimated"] | None = Field(
        default=None, description="false for guessed motion, estimated where it was measured in the frames"
    )
    cameras: tuple[CameraBlock, ...] = Field(default=(), description="cameras besides the front one")
    frames: tuple[Frame, ...] = Field(
        default=(), description="frames besides image: camera, t (s, its own, at or before 0), image"
    )

    @model_validator(mode="after")
    def _no_misspelt_key(self) -> Self:
        unset = frozenset(type(self).model_fields) - self.model_fields_set
        for key in self.__pydantic_extra__ or {}:
            if close := _misspelt(key, unset):
                raise ValueError(f"key '{key}' is not known; did you mean '{close}'?")
        if self.columns != _COLUMNS:
            raise ValueError(f"columns: expected {list(_COLUMNS)}, found {list(self.columns)}")
        return self

    def record(self) -> Scene:
        """The record of this file.

        Raises:
            ValueError: the parts do not fit together; names the field (pydantic's ValidationError is one).
        """
        front = CameraBlock(
            name=self.camera,
            width=self.width,
            height=self.height,
            intrinsics=self.intrinsics,
            extrinsics=self.extrinsics,
        )
        cameras = tuple(block.camera() for block in (front, *self.cameras))
        history = self._history()
        scene = Scene(
            scene_id=self.scene_id,
            source=self.source,
            license=self.license,
            timestamp=self.timestamp,
            cameras=cameras,
            frames=(Frame(camera=self.camera, t=0.0, image=self.image), *self._more_frames(history)),
            history=history,
            future=self._future(),
            motion_known=self.history is not None if self.motion_known is None else self.motion_known,
            extra=self._extra(),
        )
        _fits_together(scene)
        return scene

    def _extra(self) -> dict[str, Any]:
        extra = dict(self.__pydantic_extra__ or {})
        if self.speed_t0 is not None:
            extra["speed_t0"] = self.speed_t0
        for key, value in extra.items():
            try:
                json.dumps({key: value}, ensure_ascii=False, allow_nan=False).encode()
            except ValueError as error:  # NaN, infinity, half of a surrogate pair
                raise ValueError(f"key {key!r}: expected JSON that can be stored, found {error}") from error
        return extra

    def _history(self) -> Motion:
        if self.history is None:
            if self.speed_t0 is None:
                raise ValueError(
                    "history: expected rows x, y, theta, v (or at least speed_t0), found neither"
                )
            steps = range(-round(_ASSUMED_HISTORY_S / self.dt), 1)
            rows = [(i * self.dt * self.speed_t0, 0.0, 0.0, self.speed_t0) for i in steps]
            return _motion("history", tuple(rows), tuple(i * self.dt for i in steps))
        times = self.history_t or tuple(
            (i + 1 - len(self.history)) * self.dt for i in range(len(self.history))
        )
        return _motion("history", self.history, times)

    def _future(self) -> Motion | None:
        if not self.future:
            return None
        times = self.future_t or tuple((i + 1) * self.dt for i in range(len(self.future)))
        return _motion("future", self.future, times)

    def _more_frames(self, history: Motion) -> tuple[Frame, ...]:
        if len(self.history_images) > len(history.t):
            raise ValueError(
                f"history_images: expected at most {len(history.t)}, one per history row, "
                f"found {len(self.history_images)}"
            )
        pairs = [
            (t, image)
            for t, image in zip(history.t, self.history_images, strict=False)
            if image and (image != self.image or abs(t) > _SAME_TIME_S)
        ]
        return (*(Frame(camera=self.camera, t=t, image=image) for t, image in pairs), *self.frames)


@lru_cache(maxsize=1024)
def _misspelt(key: str, names: frozenset[str]) -> str:
    """The name that was meant, or ""."""
    return next(iter(difflib.get_close_matches(key, sorted(names), n=1, cutoff=0.82)), "")


def content_of(scene: Scene) -> dict[str, Any]:
    """What scene.json holds for a record: :meth:`SceneFile.record` gives the same record back."""
    front = scene.front
    image = next(f for f in scene.frames if f.camera == front.name and abs(f.t) <= _SAME_TIME_S)
    content: dict[str, Any] = {"schema_version": 1, "scene_id": scene.scene_id}
    for key in ("source", "license", "timestamp"):
        content[key] = getattr(scene, key)
    content |= {"camera": front.name, "image": image.image, **_camera_content(front)}
    content |= {"motion_known": scene.motion_known, "columns": list(_COLUMNS)}
    for name, motion in (("history", scene.history), ("future", scene.future)):
        if motion is not None:
            content[f"{name}_t"] = list(motion.t)
            content[name] = [[*pose, v] for pose, v in zip(motion.poses, motion.v, strict=True)]
    if scene.cameras[1:]:
        content["cameras"] = [{"name": c.name, **_camera_content(c)} for c in scene.cameras[1:]]
    content["frames"] = [f.model_dump(mode="json") for f in scene.frames if f is not image]
    return content | {key: value for key, value in scene.extra.items() if key not in content}


def _camera_content(camera: Camera) -> dict[str, Any]:
    lens = camera.model_dump(mode="json", include={"model", "fx", "fy", "cx", "cy"})
    for key in ("distortion", "fw_poly", "bw_poly"):
        if getattr(camera, key):
            lens[key] = list(getattr(camera, key))
    return {
        "width": camera.width,
        "height": camera.height,
        "intrinsics": lens,
        "extrinsics": {"T_cam_ego": [list(row) for row in camera.T_cam_ego]},
    }


def json_schema() -> dict[str, Any]:
    """JSON schema of scene.json; ships as ``scenarios/scene.schema.json``."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **SceneFile.model_json_schema()}


def _motion(name: str, rows: tuple[Row, ...], times: tuple[float, ...]) -> Motion:
    if len(rows) != len(times):
        raise ValueError(f"{name}_t: expected {len(rows)} times, one per row of {name}, found {len(times)}")
    if any(b - a < _SAME_TIME_S for a, b in pairwise(times)):
        raise ValueError(f"{name}_t: expected times that increase strictly, by 1 ms or more; correct them")
    return Motion(t=times, poses=tuple((x, y, theta) for x, y, theta, _ in rows), v=tuple(r[3] for r in rows))


def _fits_together(scene: Scene) -> None:
    """What the fields mean together, beyond their types."""
    _Carried.model_validate(scene.extra)
    t, pose = scene.history.t[-1], scene.history.poses[-1]
    if abs(t) > _SAME_TIME_S or max(map(abs, pose)) > 1e-2:
        raise ValueError(
            f"history: expected the last row at t = 0 and 0, 0, 0 (the ego frame at t0), found t = {t:g} and {pose}"
        )
    if scene.future is not None and scene.future.t[0] <= _SAME_TIME_S:
        raise ValueError(f"future_t: expected times after 0, found {scene.future.t[0]:g} first")
    names = [camera.name for camera in scene.cameras]
    if len(set(names)) < len(names):
        raise ValueError(f"cameras: expected each name once, found {names}")
    _frames_fit(scene, names)


def _frames_fit(scene: Scene, names: list[str]) -> None:
    """Each frame is of a camera that there is, at a time of its own that the history covers."""
    moments = set()
    for frame in scene.frames:
        if frame.camera not in names:
            raise ValueError(f"frames: '{frame.image}' is of camera '{frame.camera}'; known are {names}")
        if frame.t > _SAME_TIME_S:
            raise ValueError(f"frames: '{frame.image}' is at t = {frame.t:g} s; a planner sees none after t0")
        if frame.t < scene.history.t[0] - MAX_EXTRAPOLATION_S:
            raise ValueError(
                f"frames: '{frame.image}' is at t = {frame.t:g} s, but history starts at {scene.history.t[0]:g} s: "
                "where the car stood then is unknown; give a longer history or leave out the frame"
            )
        if (frame.camera, frame.t) in moments:
            raise ValueError(f"frames: camera '{frame.camera}' has two frames at t = {frame.t:g} s")
        moments.add((frame.camera, frame.t))
    without = [name for name in names if all(frame.camera != name for frame in scene.frames)]
    if without:
        raise ValueError(f"frames: camera '{without[0]}' has none; leave the camera out or add its frame")
