"""A benchmark directory made by hand: painted frames, scripted plans, verdicts that follow from them."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.core.files import png_bytes, write_record
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.perception.view import SceneView
from cfgen.records import (
    DIMENSIONS,
    Attempt,
    BenchmarkRecord,
    Camera,
    Case,
    Frame,
    GateResult,
    Intervention,
    Motion,
    Placement,
    Plan,
    Provenance,
    Rating,
    RatingFile,
    Rejection,
    Rollout,
    Scene,
    Trace,
    Verdict,
    Vote,
    judged_as,
)
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.scenes.folder import load_scene, scene_hash, write_scene
from cfgen.storage.store import Store
from cfgen.version import __version__

HASH = "sha256:" + "0" * 64
SIZE = (320, 180)
ARMS = ("hazard", "rerun", "null", "nuisance")
T = 0.25 * np.arange(1, 25)

#: What a scripted planner does: seed, arm -> (waypoints (24, 3) or None when it fails, scores or status).
Script = Callable[[int, str], tuple[np.ndarray | None, tuple[int, int, int] | str]]


#: Read once for all benchmarks of a run.
shipped = cache(load_taxonomy)


def straight(speed: float, decel: float = 0.0, left: float = 0.0) -> np.ndarray:
    """(24, 3): constant deceleration to a stop, drifting to ``left`` metres."""
    t = np.minimum(T, speed / decel) if decel else T
    return np.stack([speed * t - decel * t**2 / 2, left * T / 6, np.zeros(24)], axis=1)


def careful(seed: int, arm: str) -> tuple[np.ndarray | None, tuple[int, int, int] | str]:
    """Brakes for two hazards of three, and for a harmless object now and then."""
    if arm == "original":
        return straight(12), ""
    if arm == "hazard" and seed % 9 == 8:
        return None, "planner_failed"
    brakes = seed % 3 != 0 if arm == "hazard" else arm == "nuisance" and seed % 5 == 0
    scores = (2, 2, 2) if brakes else (1, 0, 0)
    if seed % 11 == 10:
        return straight(12), "unknown"
    return straight(12, 3.0 if brakes else 0.0), scores if arm in ("hazard", "nuisance") else (0, 0, 0)


def blind(seed: int, arm: str) -> tuple[np.ndarray | None, tuple[int, int, int] | str]:
    """Never reacts, but talks."""
    return straight(12), (2 if seed % 4 == 0 and arm == "hazard" else 0, 0, 0)


def make_bench(
    root: Path,
    n: int = 12,
    scripts: dict[str, Script] | None = None,
    arms: Sequence[str] = ARMS,
    frame: Callable[[int, bool], np.ndarray] | None = None,
) -> Store:
    store = Store.create(
        root,
        BenchmarkRecord(
            cfgen_version=__version__,
            n=n,
            seed=7,
            taxonomy_hash=HASH,
            scenes={f"scene{i}": HASH for i in range(n)},
            inpainter="composite",
            decel_band=(1.5, 6.0),
        ),
    )
    for i in range(n):
        _write_case(store, i, frame or painted, [arm for arm in arms if arm.startswith("hazard_d")])
    store.write_rejection(
        Rejection(case_id="refused0", scene_id="scene0", hazard_id="deer", reason="contrast below its bound")
    )
    for name, script in ({"careful": careful, "blind": blind} if scripts is None else scripts).items():
        for i in range(n):
            for arm in ("original", *arms):
                write_answer(store, name, i, arm, *script(i, arm))
    return store


def painted(i: int, modified: bool) -> np.ndarray:
    """A road to the horizon; modified: with a box on it."""
    image = np.full((SIZE[1], SIZE[0], 3), (150, 180, 210), np.uint8)
    image[90:] = (90, 110, 80)
    cv2.fillPoly(image, [np.array([[150, 90], [170, 90], [300, 180], [20, 180]])], (95, 95, 100))
    if modified:
        x = 150 + i % 20
        cv2.rectangle(image, (x, 100), (x + 18, 120), (200, 90, 30), -1)
    return image


def case_id(i: int) -> str:
    return f"{(i * 7919 + 4099) % 65536:04x}{i:04x}"


def _write_case(
    store: Store, i: int, frame: Callable[[int, bool], np.ndarray], distances: Sequence[str]
) -> None:
    hazards = shipped().hazards
    hazard = hazards[i % len(hazards)]
    height, width = frame(i, False).shape[:2]
    scene = Scene(
        scene_id=f"scene{i}",
        source="painted",
        cameras=(
            Camera(
                width=width,
                height=height,
                fx=width,
                fy=width,
                cx=width / 2,
                cy=height / 2,
                T_cam_ego=((0, -1, 0, 0), (0, 0, -1, 1.4), (1, 0, 0, 0), (0, 0, 0, 1)),
            ),
        ),
        frames=(Frame(t=0.0, image="front.png"),),
        history=Motion(t=(-1.0, 0.0), poses=((-12.0, 0.0, 0.0), (0.0, 0.0, 0.0)), v=(12.0, 12.0)),
        future=Motion(t=tuple(T), poses=tuple(map(tuple, straight(12))), v=(12.0,) * 24),
    )
    write_scene(store.scene_dir(scene.scene_id), scene, {"front.png": frame(i, False)})
    distance = 18.0 + i % 30
    placement = Placement(
        zone=hazard.zones[0],
        x=distance,
        y=0.3,
        yaw=0.0,
        size=hazard.size,
        distance_m=distance,
        lateral_m=0.3,
        required_decel=144 / (2 * distance),
        foot_px=(0.5 * width, 0.65 * height),
        box_px=(0.46 * width, 0.55 * height, 0.54 * width, 0.67 * height),
    )
    gate = GateResult(gate="contrast", passed=True, value=0.31, bound=">= 0.1")
    case = Case(
        case_id=case_id(i),
        scene_id=scene.scene_id,
        seed=i,
        hazard=hazard,
        placement=placement,
        arms=("hazard", "null", "nuisance", *distances),
        distance_placements={
            arm: placement.model_copy(update={"x": distance * float(arm.removeprefix("hazard_d"))})
            for arm in distances
        },
        attempts=(Attempt(number=1, seed=i, placement=placement, gates=(gate,)),),
        gates=(gate,),
        provenance=Provenance(
            inpainter="composite",
            inpainter_version="1",
            cfgen_version=__version__,
            scene_hash=scene_hash(load_scene(store.scene_dir(scene.scene_id))),
            hazard_hash=HASH,
        ),
        files={},
    )
    pixels = {"original.png": png_bytes(frame(i, False)), "augmented.png": png_bytes(frame(i, True))}
    store.write_case(case, pixels)


def write_answer(
    store: Store,
    planner: str,
    i: int,
    arm: str,
    waypoints: np.ndarray | None,
    outcome: tuple[int, int, int] | str,
    repeat: int = 0,
) -> None:
    trace = Trace(
        scene="A straight road.",
        justification="It is clear ahead.",
        longitudinal="yield",
        lateral="lane keeping",
    )
    store.write_rollout(
        Rollout(
            planner=planner,
            planner_hash=HASH,
            case_id=case_id(i),
            arm=arm,
            repeat=repeat,
            seed=i,
            status="failed" if waypoints is None else "ok",
            reason="" if waypoints is not None else "answered 23 waypoints",
            text=f"<think>{{'scene': '{trace.scene}'}}</think><script>alert('{planner}')</script>",
            plan=None
            if waypoints is None
            else Plan(waypoints=tuple(map(tuple, waypoints.tolist())), trace=trace),
            latency_s=0.02,
        )
    )
    if arm == "original":
        return
    status = outcome if isinstance(outcome, str) else "scored"
    scores = {} if isinstance(outcome, str) else dict(zip(DIMENSIONS, outcome, strict=True))
    votes = (
        Vote(model="m", status="scored", scores=scores, explanation="It <b>brakes</b> & waits.")
        if scores
        else None
    )
    store.write_verdict(
        Verdict(
            judge="offline",
            rubric="hazard",
            rubric_version="1",
            rubric_hash=HASH,
            planner=planner,
            case_id=case_id(i),
            arm=judged_as(arm),
            repeat=repeat,
            status=status,
            scores=scores,
            element_type="box" if scores else "",
            explanation="It <b>brakes</b> & waits." if scores else "",
            reason="" if scores else "no change found",
            flags=("distance off by 40%",) if scores and outcome[0] == 1 else (),
            votes=(votes,) if votes else (),
            input_hash=HASH,
        )
    )


def write_rating(
    store: Store, planner: str, i: int, scores: tuple[int | None, ...], rater: str = "ann"
) -> None:
    """One person's scores of the hazard arm."""
    rating = Rating(at="2026-01-01T00:00:00Z", scores=dict(zip(DIMENSIONS, scores, strict=True)))
    record = RatingFile(rater=rater, planner=planner, case_id=case_id(i), history=(rating,))
    write_record(store.rating_path(rater, planner, case_id(i)), record, store.work)


def write_swap(store: Store, planner: str, i: int, followed: bool | None) -> None:
    """One justification replaced in the hazard arm."""
    store.write_intervention(
        Intervention(
            planner=planner,
            case_id=case_id(i),
            arm="hazard",
            swap="justification",
            given=Trace(justification="A lorry blocks the lane."),
            followed=followed,
        )
    )


def all_road(patch: pytest.MonkeyPatch) -> None:
    """Every painted frame seen as road all over: there is room on the side of oncoming traffic, and to swerve."""
    view = SceneView(np.ones((90, 160), bool), np.zeros((90, 160), bool), SIZE, None, {"name": "test"})
    patch.setattr(RolloutInputs, "road", lambda self, case: view)
