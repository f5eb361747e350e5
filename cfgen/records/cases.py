"""What a build makes: how scenes were drawn, planned, accepted and refused cases, and the benchmark itself."""

from typing import Any, Literal

from pydantic import Field

from cfgen.core.faults import Fault
from cfgen.core.record import Record, Stored
from cfgen.records.base import Arm, Count, Identifier, Point3, Sha256
from cfgen.records.hazards import Hazard, Placement


class Sampling(Record):
    """Scenes of a folder that meet a condition: how many there were, and how many matched."""

    where: str
    #: folders with a scene.json, and those of them that cannot be read
    found: Count
    unreadable: Count = 0
    matched: Count


# --- cases -------------------------------------------------------------------------------------


class GateResult(Record):
    """One quality gate: the value it measured, the bound it has to keep, and whether it does."""

    gate: Identifier
    passed: bool
    value: float | None = None
    bound: str = ""
    reason: str = ""


class Attempt(Record):
    """One try at a case. ``seed`` drew placement and appearance; ``gates`` are empty when it failed before them.

    ``report`` is what the inpainter tells of a try that failed; that of the accepted one is in the provenance.
    """

    number: int
    seed: int
    placement: Placement | None = None
    gates: tuple[GateResult, ...] = ()
    reason: str = ""
    report: dict[str, Any] = Field(default_factory=dict)
    #: set when it broke instead of being refused
    fault: Fault | None = None


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


class Patch(Record):
    """A frame that is stored as its difference, modulo 256, from another picture.

    ``file``: the difference, relative to the case folder; its upper left pixel belongs at ``x``, ``y``. ``source``: the
    other picture, an image of the scene or ``original.png``. ``whole``: hash of the frame's pixels.
    """

    file: str
    source: str
    x: Count
    y: Count
    whole: Sha256


class Case(Stored):
    """One accepted counterfactual. ``files`` maps paths relative to the case folder to content hashes."""

    case_id: Identifier
    scene_id: Identifier
    seed: int
    hazard: Hazard
    placement: Placement
    #: a plan (24, 3) of x, y, theta every 0.25 s, in the ego frame at t0, that clears the hazard; None: it cannot be
    #: avoided
    clearing_plan: tuple[Point3, ...] | None = None
    #: the control object of the nuisance arm, when built: the hazard's own, where no response is due
    nuisance: Hazard | None = None
    nuisance_placement: Placement | None = None
    #: its changed area and summed difference over the hazard's
    nuisance_ratios: tuple[float, float] | None = None
    #: arms whose frames this case holds besides the original
    arms: tuple[Arm, ...] = ("hazard",)
    #: wanted arms that could not be made, and why
    arms_missing: dict[str, str] = Field(default_factory=dict)
    #: what broke on the way to an arm, the first of it; the arm may have been made all the same
    arm_faults: dict[str, Fault] = Field(default_factory=dict)
    #: placements of the hazard_d* arms
    distance_placements: dict[str, Placement] = Field(default_factory=dict)
    #: those of them that need a harder response than the benchmark's band allows: they count in the sweep only
    nearer_arms: tuple[Arm, ...] = ()
    attempts: tuple[Attempt, ...]
    gates: tuple[GateResult, ...]
    provenance: Provenance
    files: dict[str, Sha256]
    #: path of a frame relative to the case folder -> what is stored in its place
    patches: dict[str, Patch] = Field(default_factory=dict)

    @property
    def pictures(self) -> dict[str, Sha256]:
        """Every picture, whole: its path -> hash of its file, or of its pixels where no file holds it whole."""
        parts = {patch.file for patch in self.patches.values()}
        stored = {name: digest for name, digest in self.files.items() if name not in parts}
        return stored | {name: patch.whole for name, patch in self.patches.items()}

    @property
    def road_from(self) -> str:
        """Whence its road is known: "annotated", "map", "network" or "color heuristic"; "" where that is not told."""
        return str(self.provenance.report.get("perception", {}).get("road", ""))


class Rejection(Stored):
    """A planned case that was refused, by the gates or by a person, or that broke: then there is a ``fault``."""

    case_id: Identifier
    scene_id: Identifier
    hazard_id: Identifier
    reason: str
    attempts: tuple[Attempt, ...] = ()
    by: str = "gates"
    fault: Fault | None = None


class Spent(Record):
    """What a benchmark's inpainter has cost so far, over all builds. ``usd`` is None where no prices were given."""

    requests: int
    #: of these, how many were declined
    declined: int
    images: int
    tokens_in: int
    tokens_out: int
    usd: float | None = None
    #: requests that are not in ``usd``
    unpriced: int = 0


class FaultCount(Record):
    """Faults of one kind: how often, the first of them, and some of the files or scenes in which they are."""

    kind: str
    count: int
    example: Fault
    #: relative to the benchmark directory
    places: tuple[str, ...] = ()


class BuildReport(Stored):
    """``build.json``: what came of the last build, by hazard and by reason.

    A fault is no refusal: ``reasons`` counts the pairs that were refused, ``faults`` all that broke, in lost pairs and
    in accepted cases; ``lost`` the pairs that are no case because of one.
    """

    accepted: int
    wanted: int
    #: hazard -> (accepted, tried)
    acceptance: dict[str, tuple[int, int]]
    #: refusals without their numbers -> count
    reasons: dict[str, int]
    faults: tuple[FaultCount, ...] = ()
    lost: int = 0
    #: scene folder, or id where it was looked into, -> why it was left out
    unusable_scenes: dict[str, str]
    #: hazards that the inpainter cannot draw
    undrawable: tuple[str, ...]
    #: why the build ended before its end; planned cases are still open
    stopped: str = ""
    spent: Spent | None = None
    #: who saw the road in the frames, in words
    perception: str = ""
    #: what could be reached and how that was held; "": everything
    network: str = ""
    #: versions of cfgen, Python and the packages that drew and wrote the pictures, and the system
    environment: dict[str, str] = Field(default_factory=dict)


class Planned(Record):
    """One (scene, hazard) pair that a build may try: the first of its ``slot``, or its ``reserve``-th replacement.

    ``slot``: None where a person asked for the pair; ``variant`` is then above 0 for further cases of it. ``look``
    tells cases apart whose hazards share a model: each shows another of its variants while there are more; None: the
    case's seed decides. ``decel``, m/s^2, and ``side``, 1 left or -1 right of the own lane's middle: what its placement
    should come near to. ``alike``: a control object looked alike in the survey, and without one the pair is refused.
    """

    case_id: Identifier
    scene_id: Identifier
    hazard_id: Identifier
    slot: Count | None = None
    reserve: Count = 0
    variant: Count = 0
    look: Count | None = None
    decel: float | None = None
    side: Literal[-1, 0, 1] = 0
    alike: bool = False


class BenchmarkRecord(Stored):
    """``benchmark.json``: what was asked for; written first. What was planned is in ``plan.jsonl`` beside it."""

    cfgen_version: str
    n: int = Field(gt=0)
    seed: int
    taxonomy_hash: Sha256
    #: hazards and a null edit besides those that ship, by their ids, or in place of all that do
    own_hazards: tuple[Hazard, ...] = ()
    own_hazards_only: bool = False
    #: scene_id -> hash of its folder; every scene the build may use. Of thousands: "" until it has a case
    scenes: dict[str, Sha256 | Literal[""]]
    #: the condition that they meet, where not all that there were are used
    sampling: Sampling | None = None
    #: the hazards chosen by name; empty: the whole taxonomy
    hazards: tuple[Identifier, ...] = ()
    inpainter: str
    inpainter_options: dict[str, Any] = Field(default_factory=dict)
    #: the inpainter whose insert the other one starts from; "" for none
    guide: str = ""
    #: the segmenter behind the masks, "" for the placement's geometry alone; the detector behind a gate, or ""
    masks: str = ""
    masks_options: dict[str, Any] = Field(default_factory=dict)
    detector: str = ""
    detector_options: dict[str, Any] = Field(default_factory=dict)
    #: who saw the road in the frames, and the weights' hash or the version
    perception: str = "colour"
    perception_identity: dict[str, Any] = Field(default_factory=dict)
    #: third parties' gates that every edit had to pass besides cfgen's own: name -> distribution and version
    gates: dict[str, str] = Field(default_factory=dict)
    decel_band: tuple[float, float]
    #: s within which braking has to begin
    horizon: float = 4.0
    #: how hazards are drawn: even over what is feasible, or as the paper does
    protocol: Literal["even", "pinocchio"] = "even"
    #: shares of hazards that are not 1
    hazard_weights: dict[str, float] = Field(default_factory=dict)
    controls: tuple[Literal["null", "nuisance"], ...] = ()
    distances: tuple[float, ...] = ()


# --- shards ------------------------------------------------------------------------------------
# One of several folders that become one benchmark.


class Shard(Stored):
    """``shard.json``: which part of a plan is built in this folder; the others are planned here and built elsewhere.

    ``plan``: hash of the pairs that the shards share out; ``done``: every pair of this part is accepted or refused.
    """

    index: int = Field(ge=1)
    count: int = Field(ge=1)
    plan: Sha256
    done: bool = False
