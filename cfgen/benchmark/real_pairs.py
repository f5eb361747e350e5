"""Pairs of real frames as a benchmark directory: planners are asked, judged and reported on as on any other."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from cfgen.benchmark.frames import frame_path
from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import stored_png
from cfgen.core.hashing import derive_case_id, hash_json
from cfgen.geometry.camera import ground_points
from cfgen.hazards.taxonomy import Taxonomy, load_taxonomy
from cfgen.geometry.collision import FRONT_M
from cfgen.records import Benchmark, Camera, Case, Hazard, Placement, Planned, Provenance, Scene, Size, Zone
from cfgen.scenes.folder import SceneFolder, copy_scene, load_scene, scene_hash, write_scene
from cfgen.scenes.pairs import ObstaclePair, PairsFile, load_pairs
from cfgen.storage.store import MARKER, Store
from cfgen.version import __version__

#: in the place of an inpainter's name: nothing was edited
REAL = "real"
#: where a case's scene tells which clear scene it shows
CLEAR = "clear_scene"
_SEED = 0
_HALF_LANE_M = 1.75
_LEAST_M, _MOST_M = 0.05, 20.0


def pairs_benchmark(folder: Path, root: Path) -> Store:
    """The pairs of ``folder`` as the benchmark directory ``root``; what is there already is kept.

    In a case the clear frame is the original, the obstacle's the hazard arm, and the control, where there is one, the
    null arm. All are told the obstacle scene's motion; front cameras only, at the times that all of them have.

    Raises:
        InputError: a pair or a scene that does not hold. StoreError: ``root`` holds something else.
    """
    pairs = load_pairs(folder)
    taxonomy = load_taxonomy()
    with TemporaryDirectory() as work:
        results = [_made(folder, pairs, pair, taxonomy, Path(work)) for pair in pairs.pairs]
        benchmark = _benchmark(pairs, results, taxonomy)
        if (root / MARKER).is_file():
            store = Store(root)
            if store.benchmark.inpainter_options != benchmark.inpainter_options:
                raise StoreError(
                    f"{root}: expected the benchmark of {folder}, found another; choose another folder"
                )
        else:
            store = Store.create(root, benchmark)
        with store.planning():
            if not store.planned:
                store.add_planned([_planned(result.case) for result in results])
        case_ids = set(store.case_ids())
        for result in results:
            if result.case.case_id not in case_ids:
                copy_scene(result.scene, store.scene_dir(result.pair.id))
                store.write_case(result.case, _files(folder, result.pair))
    return store


@dataclass(frozen=True)
class _Made:
    """``scene``: that of the obstacle with the clear frames."""

    pair: ObstaclePair
    scene: SceneFolder
    case: Case


def _benchmark(pairs: PairsFile, results: Sequence[_Made], taxonomy: Taxonomy) -> Benchmark:
    return Benchmark(
        cfgen_version=__version__,
        n=len(results),
        seed=_SEED,
        taxonomy_hash=taxonomy.hash,
        scenes={result.pair.id: result.case.provenance.scene_hash for result in results},
        inpainter=REAL,
        inpainter_options={"pairs": hash_json(pairs), "name": pairs.name},
        decel_band=(0.0, 100.0),
        controls=("null",) if any(pair.control for pair in pairs.pairs) else (),
    )


def _planned(case: Case) -> Planned:
    return Planned(case_id=case.case_id, scene_id=case.scene_id, hazard_id=case.hazard.id)


def _made(folder: Path, pairs: PairsFile, pair: ObstaclePair, taxonomy: Taxonomy, work: Path) -> _Made:
    scenes = _sides(folder, pair)
    camera = _one_camera(pair, scenes)
    images = _images(scenes)["original"]
    obstacle = scenes["hazard"].scene
    frames = tuple(
        f.model_copy(update={"image": f"{round(-1000 * f.t)}.png"})
        for f in obstacle.frames
        if f.camera == camera.name and f.t in images
    )
    scene = obstacle.model_copy(
        update={
            "scene_id": pair.id,
            "cameras": (camera,),
            "frames": frames,
            "license": pairs.license or obstacle.license,
            "extra": {**obstacle.extra, CLEAR: scenes["original"].scene.scene_id},
        }
    )
    written = write_scene(work / pair.id, scene, {f.image: images[f.t] for f in frames})
    hazard, placement = placed(pair, camera, obstacle, taxonomy)
    case = Case(
        case_id=derive_case_id(_SEED, pair.id, hazard.id),
        scene_id=pair.id,
        seed=_SEED,
        hazard=hazard,
        placement=placement,
        arms=("hazard", "null") if pair.control else ("hazard",),
        attempts=(),
        gates=(),
        provenance=Provenance(
            inpainter=REAL,
            inpainter_version="",
            cfgen_version=__version__,
            scene_hash=scene_hash(written),
            hazard_hash=hash_json(hazard),
        ),
        files={},
    )
    return _Made(pair, written, case)


def _files(folder: Path, pair: ObstaclePair) -> dict[str, bytes]:
    """Pixels of every arm by their places in the case folder."""
    scenes = _sides(folder, pair)
    camera = scenes["hazard"].scene.front.name
    images = _images(scenes)
    files = {"original.png": images["original"][0.0], "augmented.png": images["hazard"][0.0]}
    for arm in set(scenes) - {"original"}:
        times = [t for t in images[arm] if arm != "hazard" or t != 0.0]
        files |= {frame_path(arm, camera, t): images[arm][t] for t in times}
    return {name: stored_png(pixels) for name, pixels in files.items()}


def _sides(folder: Path, pair: ObstaclePair) -> dict[str, SceneFolder]:
    """By arm; the null arm is the control's."""
    sides = {"original": pair.clear, "hazard": pair.obstacle, "null": pair.control}
    return {arm: load_scene(folder / path) for arm, path in sides.items() if path}


def _one_camera(pair: ObstaclePair, scenes: dict[str, SceneFolder]) -> Camera:
    """The obstacle scene's; the others' have to show the world alike."""
    front = scenes["hazard"].scene.front
    for arm, folder in scenes.items():
        camera = folder.scene.front
        sizes_differ = (camera.width, camera.height) != (front.width, front.height)
        if sizes_differ or abs(camera.fx / front.fx - 1) > 0.02:
            raise InputError(
                f"{folder.root}: expected the front camera of the obstacle scene of pair '{pair.id}' "
                f"({front.width}x{front.height}, fx {front.fx:g}), found "
                f"{camera.width}x{camera.height}, fx {camera.fx:g} "
                f"({'clear' if arm == 'original' else 'control'}); match it with a frame of the same camera"
            )
    return front


def _images(scenes: dict[str, SceneFolder]) -> dict[str, dict[float, np.ndarray]]:
    """Front frames of each arm at the obstacle scene's times that all have, t0 among them."""
    obstacle = scenes["hazard"]
    times = sorted({f.t for f in obstacle.scene.frames if f.camera == obstacle.scene.front.name} | {0.0})
    by_arm: dict[str, dict[float, np.ndarray]] = {}
    for arm, folder in scenes.items():
        frames = folder.frames_at(folder.scene.front.name, times)
        by_arm[arm] = {t: folder.image(f) for t, f in zip(times, frames, strict=True) if f is not None}
    shared = set.intersection(*(set(images) for images in by_arm.values()))
    return {arm: {t: images[t] for t in sorted(shared)} for arm, images in by_arm.items()}


def placed(pair: ObstaclePair, camera: Camera, scene: Scene, taxonomy: Taxonomy) -> tuple[Hazard, Placement]:
    """What the pair holds, and where it stands by its box, its distance and the camera over flat ground.

    Raises:
        InputError: no distance is given, and the box's lower edge is at or above the horizon.
    """
    x0, y0, x1, y1 = pair.box_px
    foot = ((x0 + x1) / 2, y1)
    ground, valid = ground_points(camera, [foot])
    if pair.distance_m is None and not valid[0]:
        raise InputError(
            f"pair '{pair.id}': expected 'distance_m', or a box whose lower edge is below the horizon, found row {y1:g}"
        )
    x, y = map(float, ground[0]) if valid[0] else (1.0, 0.0)
    if pair.distance_m is not None:
        x, y = pair.distance_m, y * pair.distance_m / x
    width, height = (x1 - x0) * x / camera.fx, (y1 - y0) * x / camera.fy
    across, up = (float(np.clip(v, _LEAST_M, _MOST_M)) for v in (width, height))
    size = pair.size or Size(length=across, width=across, height=up)
    room = max(x - size.length / 2 - FRONT_M, 0.5)
    placement = Placement(
        zone=_zone(y),
        x=x,
        y=y,
        yaw=0.0,
        size=size,
        distance_m=x,
        lateral_m=y,
        required_decel=scene.speed**2 / (2 * room),
        foot_px=foot,
        box_px=pair.box_px,
    )
    return _hazard(pair, size, placement.zone, taxonomy), placement


def _zone(lateral: float) -> Zone:
    return "ego_lane" if abs(lateral) < _HALF_LANE_M else "adjacent"


def _hazard(pair: ObstaclePair, size: Size, zone: Zone, taxonomy: Taxonomy) -> Hazard:
    """The taxonomy's of that id, else one that is known by its cluster alone."""
    if pair.hazard in {hazard.id for hazard in taxonomy}:
        return taxonomy.get(pair.hazard).model_copy(update={"size": size})
    clusters = sorted({hazard.cluster for hazard in taxonomy})
    if pair.hazard not in clusters:
        raise InputError(
            f"pair '{pair.id}': hazard: expected an id of cfgen list hazards or a cluster ({', '.join(clusters)}), "
            f"found '{pair.hazard}'"
        )
    return Hazard(
        id="unnamed",
        name=f"unnamed, {pair.hazard}",
        cluster=pair.hazard,
        why="It is in the road.",
        size=size,
        zones=(zone,),
    )
