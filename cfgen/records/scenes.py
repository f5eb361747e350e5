"""A moment of a drive: cameras, frames, ego motion."""

import math
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, TypeAdapter, field_validator, model_validator

from cfgen.core.record import Record, Stored
from cfgen.records.base import Identifier, Point2, Point3
from cfgen.records.hazards import Size


class Camera(Record):
    """Intrinsics and mounting of one camera; the functions are in :mod:`cfgen.geometry.camera`.

    ``model`` decides which fields count:

    - ``pinhole``: fx, fy, cx, cy (pixels; the centre of the top-left pixel is (0, 0)).
    - ``opencv``: also ``distortion`` k1 k2 p1 p2 k3 [k4 k5 k6] (radial-tangential or rational).
    - ``fisheye``: also ``distortion`` k1..k4 (Kannala-Brandt, as in ``cv2.fisheye``).
    - ``ftheta``: cx, cy, ``fw_poly`` (pixel radius = sum_i fw_i theta^i) and ``bw_poly`` (its inverse); fx and fy
      are 1 as calibrated and scale the radius along each axis once the image is resized.
    """

    name: Identifier = "front"
    model: Literal["pinhole", "opencv", "fisheye", "ftheta"] = "pinhole"
    width: int = Field(gt=0)
    height: int = Field(gt=0)
    fx: float = Field(default=1.0, gt=0)
    fy: float = Field(default=1.0, gt=0)
    cx: float
    cy: float
    distortion: tuple[float, ...] = ()
    fw_poly: tuple[float, ...] = ()
    bw_poly: tuple[float, ...] = ()
    #: 4x4, row-major: takes homogeneous ego-frame points (at this frame's own time) into the camera frame.
    T_cam_ego: tuple[tuple[float, float, float, float], ...]

    @field_validator("T_cam_ego")
    @classmethod
    def _is_rigid(cls, value: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
        if len(value) != 4:
            raise ValueError(f"T_cam_ego: expected 4 rows, found {len(value)}")
        if any(abs(a - b) > 1e-6 for a, b in zip(value[3], (0, 0, 0, 1), strict=True)):
            raise ValueError(f"T_cam_ego: expected last row 0 0 0 1, found {value[3]}")
        for i in range(3):
            for j in range(3):
                dot = sum(value[i][k] * value[j][k] for k in range(3))
                if abs(dot - (i == j)) > 1e-3:
                    raise ValueError(
                        f"T_cam_ego: rows {i} and {j} of the rotation are not orthonormal ({dot:.4f})"
                    )
        x, y, z = (row[:3] for row in value[:3])
        if sum(z[k] * (x[k - 2] * y[k - 1] - x[k - 1] * y[k - 2]) for k in range(3)) < 0:
            raise ValueError(
                "T_cam_ego: expected a rotation, found a mirrored one (determinant -1); a camera looks along z with x "
                "to the right and y down: turn the sign of one row of the rotation"
            )
        return value

    @model_validator(mode="after")
    def _has_what_its_model_needs(self) -> Self:
        expected = {"pinhole": (0,), "opencv": (5, 8), "fisheye": (4,), "ftheta": (0,)}[self.model]
        if len(self.distortion) not in expected:
            raise ValueError(
                f"camera '{self.name}': model {self.model} takes {' or '.join(map(str, expected))} distortion "
                f"coefficients, found {len(self.distortion)}"
            )
        if self.model == "ftheta" and (len(self.fw_poly) < 2 or len(self.bw_poly) < 2):
            raise ValueError(f"camera '{self.name}': model ftheta needs fw_poly and bw_poly")
        return self


class Frame(Record):
    """One image: ``t`` its camera's own time, s relative to t0; ``image`` a path relative to the scene folder."""

    camera: Identifier = "front"
    t: float
    image: str


class Motion(Record):
    """Ego motion: ``t`` (T,) s relative to t0, ``poses`` (T, 3) x, y, theta in the ego frame at t0, ``v`` (T,) m/s."""

    t: tuple[float, ...]
    poses: tuple[Point3, ...]
    v: tuple[float, ...]

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        if not len(self.t) == len(self.poses) == len(self.v):
            raise ValueError(
                f"t, poses and v differ in length: {len(self.t)}, {len(self.poses)}, {len(self.v)}"
            )
        if any(b <= a for a, b in zip(self.t, self.t[1:], strict=False)):
            raise ValueError("t must increase strictly")
        return self


#: Tracks go back so far, s; faster than this, m/s, and farther than that, m, is another vehicle.
_LONGEST_S, _FASTEST, _LEAP_M = 600.0, 90.0, 5.0


class RoadUser(Record):
    """A vehicle beside the own car: ``x``, ``y`` m, its middle, and ``theta`` rad in the ego frame at t0; ``v`` m/s.

    ``track`` (T, 4) tells where it was before: t, s relative to t0, rising, x, y, theta, all in the ego frame at t0.
    """

    model_config = ConfigDict(extra="ignore")

    x: float = Field(ge=-1e4, le=1e4)
    y: float = Field(ge=-1e4, le=1e4)
    theta: float = Field(ge=-100, le=100)
    v: float = Field(ge=0, le=150)
    length_m: float = Field(gt=0, le=60)
    #: left out: of a car, or of a lorry where it is longer than 6 m
    width_m: float | None = Field(default=None, gt=0, le=6)
    height_m: float | None = Field(default=None, gt=0, le=6)
    track: tuple[tuple[float, float, float, float], ...] = ()

    @field_validator("track")
    @classmethod
    def _rises(cls, value: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
        if any(b[0] <= a[0] for a, b in pairwise(value)):
            raise ValueError("expected rows t, x, y, theta with t rising")
        return value

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        past = [row for row in self.track if row[0] < 0]
        if past and past[0][0] < -_LONGEST_S:
            raise ValueError(
                f"track: expected t in s, at most {_LONGEST_S:g} before t0, found {past[0][0]:g}"
            )
        for (t, x, y, _), (u, a, b, _) in pairwise([*past, (0.0, self.x, self.y, self.theta)]):
            if math.hypot(a - x, b - y) > _FASTEST * (u - t) + _LEAP_M:
                raise ValueError(
                    f"track: expected the way to x, y at t0, found ({x:g}, {y:g}) at t = {t:g} and ({a:g}, {b:g}) "
                    f"at {u:g}"
                )
        return self

    @property
    def size(self) -> Size:
        """Length, width and height, m."""
        width, height = (2.5, 3.2) if self.length_m > 6 else (1.85, 1.6)
        return Size(length=self.length_m, width=self.width_m or width, height=self.height_m or height)


#: x, y in m
Polygon = tuple[Point2, ...]


class Lane(Record):
    """One lane near the car: ``line`` (P, 2) m, its centre in the ego frame at t0, in its own driving direction."""

    model_config = ConfigDict(extra="ignore")

    line: tuple[Point2, ...] = Field(min_length=2)
    width_m: float = Field(gt=0.5, le=20)
    #: what it is for: through traffic, parked cars, an emergency shoulder, or bicycles
    use: Literal["traffic", "parking", "shoulder", "bicycle"] = "traffic"


_TRAFFIC = TypeAdapter(tuple[RoadUser, ...])
_LANES = TypeAdapter(tuple[Lane, ...])
_POLYGONS = TypeAdapter(tuple[Annotated[Polygon, Field(min_length=3)], ...])


class Scene(Stored):
    """A moment of a drive. ``cameras[0]`` is the front camera that gets edited; each has a frame at or before t0."""

    schema_version: Literal[1] = 1  # type: ignore[assignment]  # of the scene folder's own format
    scene_id: Identifier
    source: str = ""
    license: str = ""
    timestamp: str = ""
    cameras: tuple[Camera, ...] = Field(min_length=1)
    frames: tuple[Frame, ...] = Field(min_length=1)
    #: ends with t = 0, pose (0, 0, 0)
    history: Motion
    #: starts after t0; None when the log has none
    future: Motion | None = None
    #: False for single stills and guessed motion; "estimated" where the frames themselves tell it
    motion_known: bool | Literal["estimated"] = True
    #: free key-values of the source, carried along
    extra: dict[str, Any] = Field(default_factory=dict)
    #: the front camera as its own frames show it, by their time; filled by who looks, never stored
    seen_cameras: dict[float, Camera] = Field(default_factory=dict, exclude=True)

    @property
    def traffic(self) -> tuple[RoadUser, ...] | None:
        """The vehicles that the scene tells of, in ``extra``; None where it tells of none, () where none is there.

        Raises:
            ValueError: it is something else (pydantic's ValidationError).
        """
        content = self.extra.get("traffic")
        return None if content is None else _TRAFFIC.validate_python(content)

    @property
    def drivable(self) -> tuple[Polygon, ...] | None:
        """Where cars may drive: polygons (P, 2) m in the ego frame at t0; None where the scene does not say.

        Raises:
            ValueError: it is something else (pydantic's ValidationError).
        """
        content = self.extra.get("drivable")
        return None if content is None else _POLYGONS.validate_python(content)

    @property
    def crossings(self) -> tuple[Polygon, ...] | None:
        """Pedestrian crossings, as :attr:`drivable`."""
        content = self.extra.get("crossings")
        return None if content is None else _POLYGONS.validate_python(content)

    @property
    def lanes(self) -> tuple[Lane, ...] | None:
        """The lanes that the scene knows of; None where it does not say.

        Raises:
            ValueError: it is something else (pydantic's ValidationError).
        """
        content = self.extra.get("lanes")
        return None if content is None else _LANES.validate_python(content)

    @property
    def front(self) -> Camera:
        return self.cameras[0]

    @property
    def speed(self) -> float:
        """Ego speed at t0, m/s."""
        return self.history.v[-1]

    def camera(self, name: str) -> Camera:
        return next(c for c in self.cameras if c.name == name)


def recording_of(scene: Scene) -> str:
    """Its drive. One that names none, but when in a recording it was, is of its source's one recording."""
    drive = scene.extra.get("drive")
    if not drive and scene.source and any(name.startswith("t0_") for name in scene.extra):
        return scene.source
    return f"{drive or scene.scene_id} {scene.source}"
