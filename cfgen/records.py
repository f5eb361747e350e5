"""What is stored: the value objects that every room shares.

Frames and units: ego frame x forward, y left, z up, origin on the ground; camera frame x right, y down,
z forward; metres, seconds, radians, m/s. Images are HWC uint8 RGB. "At t0" means in the ego frame of the
moment at which the planner is asked.
"""

import math
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

SCHEMA_VERSION: Literal[1] = 1

#: The papers' plan: 24 waypoints, 0.25 s apart, 6 s.
PLAN_STEPS = 24
PLAN_DT = 0.25

DIMENSIONS = ("reasoning", "waypoints", "overall")

LONGITUDINAL = (
    "stop",
    "yield",
    "follow lead vehicle",
    "gap search",
    "pass",
    "speed adapt",
    "set speed tracking",
)
LATERAL = (
    "turn left",
    "turn right",
    "lane change left",
    "lane change right",
    "merge",
    "out-of-lane nudge left",
    "out-of-lane nudge right",
    "in-lane nudge left",
    "in-lane nudge right",
    "pull over",
    "lane keeping",
)

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$")]
#: "original", "hazard", "rerun", "null", "nuisance", or a hazard at another distance, e.g. "hazard_d0.7".
Arm = Annotated[str, Field(pattern=r"^(original|hazard|rerun|null|nuisance|hazard_d\d+\.\d+)$")]
Zone = Literal["ego_lane", "crossing", "oncoming", "adjacent", "shoulder"]
Score = Literal[0, 1, 2]
Sha256 = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Point3 = tuple[float, float, float]


class Record(BaseModel):
    """Immutable, strict about names, no NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Stored(Record):
    """A record that is a file of its own."""

    schema_version: Literal[1] = SCHEMA_VERSION


# --- scenes ---------------------------------------------------------------------------------------------


class Camera(Record):
    """Intrinsics and mounting of one camera; the functions are in :mod:`cfgen.geometry.camera`.

    ``model`` decides which fields count:

    - ``pinhole``: fx, fy, cx, cy (pixels; the centre of the top-left pixel is (0, 0)).
    - ``opencv``: also ``distortion`` k1 k2 p1 p2 k3 [k4 k5 k6] (radial-tangential or rational).
    - ``fisheye``: also ``distortion`` k1..k4 (Kannala-Brandt, as in ``cv2.fisheye``).
    - ``ftheta``: cx, cy, ``fw_poly`` (pixel radius = sum_i fw_i theta^i) and ``bw_poly`` (its inverse).
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


class Scene(Stored):
    """A moment of a drive. ``cameras[0]`` is the front camera that gets edited; each has a frame at or before t0."""

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
    #: False for single stills and guessed motion
    motion_known: bool = True
    #: free key-values of the source, carried along
    extra: dict[str, Any] = Field(default_factory=dict)

    @property
    def front(self) -> Camera:
        return self.cameras[0]

    @property
    def speed(self) -> float:
        """Ego speed at t0, m/s."""
        return self.history.v[-1]

    def camera(self, name: str) -> Camera:
        return next(c for c in self.cameras if c.name == name)


# --- hazards --------------------------------------------------------------------------------------------


class Size(Record):
    """Metres: length along the object's own x (its front), width along y, height along z."""

    length: float = Field(gt=0, le=40)
    width: float = Field(gt=0, le=40)
    height: float = Field(gt=0, le=20)


class DistancePolicy(Record):
    """Where along the path a hazard may stand.

    ``decel`` is the band of constant deceleration (m/s^2) that stopping short of it would require; None takes
    the build's default band. ``min_m`` and ``max_m`` bound the distance in any case.
    """

    decel: tuple[float, float] | None = None
    min_m: float = Field(default=6.0, gt=0)
    max_m: float = Field(default=80.0, gt=0)


class HazardMotion(Record):
    """How the object moves in the world: ``kind`` relative to the ego path, ``speed`` range in m/s."""

    kind: Literal["static", "crossing", "contraflow", "along"] = "static"
    speed: tuple[float, float] = (0.0, 0.0)


class Hazard(Record):
    """One entry of the taxonomy."""

    id: Identifier
    kind: Literal["hazard", "nuisance", "null"] = "hazard"
    name: str
    cluster: str
    #: one line: why a driver must respond
    why: str
    size: Size
    prompt: str = ""
    negative_prompt: str = ""
    zones: tuple[Zone, ...] = Field(min_length=1)
    motion: HazardMotion = HazardMotion()
    #: object's front relative to the ego path direction
    heading: Literal["along", "facing", "across", "any"] = "any"
    distance: DistancePolicy = DistancePolicy()
    #: for breakdowns only, never shown to a judge
    responses: tuple[Literal["stop", "brake", "yield", "nudge", "lane change", "follow", "none"], ...] = (
        "brake",
    )
    #: sprite or 3-D model for the inpainters that need no prompt; None: generative inpainters only
    model: str | None = None


class Placement(Record):
    """A pose on the road in the ego frame at t0, and what follows from it through the front camera."""

    zone: Zone
    x: float
    y: float
    yaw: float
    #: world velocity in the ego frame at t0, m/s
    vx: float = 0.0
    vy: float = 0.0
    size: Size
    #: arc length along the ego path and signed offset to its left, m
    distance_m: float
    lateral_m: float
    #: constant deceleration that stops short of it, m/s^2
    required_decel: float
    #: contact point of the object's centre on the ground, pixels
    foot_px: tuple[float, float]
    #: x0, y0, x1, y1 of the projected box, pixels, clipped to the frame
    box_px: tuple[float, float, float, float]


# --- cases ----------------------------------------------------------------------------------------------


class GateResult(Record):
    """One quality gate: the value it measured, the bound it has to keep, and whether it does."""

    gate: Identifier
    passed: bool
    value: float | None = None
    bound: str = ""
    reason: str = ""


class Attempt(Record):
    """One try at a case. ``seed`` drew placement and appearance; ``gates`` are empty when it failed before them."""

    number: int
    seed: int
    placement: Placement | None = None
    gates: tuple[GateResult, ...] = ()
    reason: str = ""


class Provenance(Record):
    """All that decided the pixels."""

    inpainter: str
    inpainter_version: str
    #: options after defaults, and what the backend reported: model revision, sprite variant, light estimate, ...
    options: dict[str, Any] = Field(default_factory=dict)
    report: dict[str, Any] = Field(default_factory=dict)
    cfgen_version: str
    scene_hash: Sha256
    hazard_hash: Sha256


class Case(Stored):
    """One accepted counterfactual. ``files`` maps paths relative to the case folder to content hashes."""

    case_id: Identifier
    scene_id: Identifier
    seed: int
    hazard: Hazard
    placement: Placement
    #: the harmless object of the nuisance arm, when built
    nuisance: Hazard | None = None
    nuisance_placement: Placement | None = None
    #: arms whose frames this case holds besides the original
    arms: tuple[Arm, ...] = ("hazard",)
    #: placements of the hazard_d* arms
    distance_placements: dict[str, Placement] = Field(default_factory=dict)
    attempts: tuple[Attempt, ...]
    gates: tuple[GateResult, ...]
    provenance: Provenance
    files: dict[str, Sha256]


class Rejection(Stored):
    """A planned case that was refused, by the gates or by a person."""

    case_id: Identifier
    scene_id: Identifier
    hazard_id: Identifier
    reason: str
    attempts: tuple[Attempt, ...] = ()
    by: str = "gates"


# --- planners -------------------------------------------------------------------------------------------


class Trace(Record):
    """What the planner said, parsed. Empty fields were not said."""

    scene: str = ""
    justification: str = ""
    longitudinal: str = ""
    lateral: str = ""


class Plan(Record):
    """A plan on the papers' grid: (24, 3) x, y, theta in the ego frame at t0, first point at 0.25 s."""

    waypoints: tuple[Point3, ...] = Field(min_length=PLAN_STEPS, max_length=PLAN_STEPS)
    trace: Trace = Trace()
    #: what the parser had to tolerate, in words
    faults: tuple[str, ...] = ()


class Rollout(Stored):
    """One answer of one planner for one arm of one case."""

    planner: Identifier
    planner_hash: Sha256
    case_id: Identifier
    arm: Arm
    repeat: int = Field(ge=0)
    seed: int
    status: Literal["ok", "failed"]
    #: why it failed, in one line; empty when ok
    reason: str = ""
    #: the planner's words, unchanged
    text: str = ""
    plan: Plan | None = None
    latency_s: float = 0.0
    #: what the planner reports of itself: calls, cost, candidates, ...
    report: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _plan_if_ok(self) -> Self:
        if (self.status == "ok") != (self.plan is not None):
            raise ValueError("a rollout has a plan exactly when its status is ok")
        return self


# --- verdicts -------------------------------------------------------------------------------------------


class Vote(Record):
    """One reply of one judge model. Scores are None where it said UNKNOWN or the reply could not be read."""

    model: str
    status: Literal["scored", "unknown", "failed"]
    scores: dict[Literal["reasoning", "waypoints", "overall"], Score | None] = Field(default_factory=dict)
    element_type: str = ""
    element_position: str = ""
    explanation: str = ""
    flags: tuple[str, ...] = ()
    reason: str = ""
    raw: str = ""
    usage: dict[str, float] = Field(default_factory=dict)


class Verdict(Stored):
    """The combined judgement of one arm's rollout against the original arm's.

    ``status``: scored; unknown (the judge could not name the change: excluded and counted); failed (the judge
    gave no usable reply: counted); planner_failed (no plan to judge: counts against the planner).
    """

    judge: Identifier
    rubric: str
    rubric_version: str
    rubric_hash: Sha256
    planner: Identifier
    case_id: Identifier
    arm: Arm
    repeat: int = Field(ge=0)
    status: Literal["scored", "unknown", "failed", "planner_failed"]
    scores: dict[Literal["reasoning", "waypoints", "overall"], Score | None] = Field(default_factory=dict)
    element_type: str = ""
    element_position: str = ""
    explanation: str = ""
    reason: str = ""
    flags: tuple[str, ...] = ()
    votes: tuple[Vote, ...] = ()
    #: hash of everything the judge was shown
    input_hash: Sha256

    @model_validator(mode="after")
    def _scored_has_all(self) -> Self:
        full = all(self.scores.get(d) is not None for d in ("reasoning", "waypoints", "overall"))
        if (self.status == "scored") != full:
            raise ValueError("a verdict has all three scores exactly when its status is scored")
        return self


# --- people ---------------------------------------------------------------------------------------------


class Rating(Record):
    """One person's scores at one time; None means UNKNOWN."""

    at: str
    scores: dict[Literal["reasoning", "waypoints", "overall"], Score | None]
    note: str = ""


class RatingFile(Stored):
    """A rater's append-only history for one response; the last entry counts."""

    rater: Identifier
    planner: Identifier
    case_id: Identifier
    arm: Arm = "hazard"
    history: tuple[Rating, ...]


class Review(Record):
    """One curation decision."""

    at: str
    decision: Literal["accept", "reject", "flag", "clear"]
    reason: str = ""


class ReviewFile(Stored):
    rater: Identifier
    case_id: Identifier
    history: tuple[Review, ...]


# --- the benchmark --------------------------------------------------------------------------------------


class Planned(Record):
    """One (scene, hazard) pair that a build has decided to try. ``round`` grows as refused pairs are replaced."""

    case_id: Identifier
    scene_id: Identifier
    hazard_id: Identifier
    round: int = Field(ge=0)


class Benchmark(Stored):
    """``benchmark.json``: what was asked for and what was planned; written first, extended round by round."""

    cfgen_version: str
    n: int = Field(gt=0)
    seed: int
    taxonomy_hash: Sha256
    scenes_hash: Sha256
    inpainter: str
    inpainter_options: dict[str, Any] = Field(default_factory=dict)
    decel_band: tuple[float, float]
    controls: tuple[Literal["null", "nuisance"], ...] = ()
    distances: tuple[float, ...] = ()
    planned: tuple[Planned, ...] = ()


def wrap_angle(theta: float) -> float:
    """Radians into (-pi, pi]."""
    return math.pi - (math.pi - theta) % (2 * math.pi)
