"""Draws hazards into real frames, untouched by hand, to be looked at.

    python tools/look_sheet.py ../shared/real --out sheets

For each hazard three frames of different kinds (narrow and wide lens; sun, shade, fog, low sun, dark): the whole
frame at a planner's size, and a cut-out at 100%. One page for every six hazards.
"""

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from cfgen.benchmark.gates import GateInput, own_gates, run_gates
from cfgen.geometry.camera import mounted
from cfgen.hazards.placement import find_placements
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.edit import Edit, EditFailure, EditJob, make_edits
from cfgen.inpaint.protocol import Inpainter
from cfgen.inpaint.registry import create_inpainter
from cfgen.records import Camera, Frame, Hazard, Motion, Placement, Scene
from cfgen.scenes.folder import load_scene

#: Frames by what makes them hard; drives by folder, stills by file name.
KINDS = {
    "narrow, sun": ["hmb3_01420", "hmb3_02500", "hmb3_02140", "hmb3_00280", "hmb3_02560", "hmb3_05259"],
    "narrow, shade": ["hmb3_00700", "hmb3_05079", "hmb3_04419", "hmb3_03999", "hmb3_01180", "hmb3_03819"],
    "wide, sun": [
        "lanelines_050",
        "carnd_straight_lines1",
        "carnd_test6",
        "dgp_scene_02_CAMERA_01",
        "boreas_camera",
        "carnd_test5",
        "carnd_test3",
        "carnd_test1",
    ],
    "fog, dark": ["comma2k19_0000", "hmb3_02919"],
}
#: Rough calibration of the stills: focal length, principal point, camera height (m), pitch and yaw (degrees).
STILLS = {
    "carnd": (1157.0, 669.6, 388.1, 1.3, -1.6, -2.0),
    "dgp_scene_01": (2162.0, 951.5, 605.0, 1.4, 0.3, 0.0),
    "dgp_scene_02": (2162.0, 939.5, 622.4, 1.4, -1.2, 0.0),
    "boreas_camera": (740.0, 607.0, 508.0, 1.8, 0.6, 0.0),
    "boreas_rt": (1458.0, 1224.0, 1024.0, 1.8, -1.4, 0.0),
}
PLANNER_PIXELS = 196_608
CUT = (440, 330)
TRIES = 4  # places in a frame, as in a build
ROWS = 6


@dataclass
class Shot:
    """One frame to draw into."""

    name: str
    kind: str
    scene: Scene
    image: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("real", type=Path, help="folder of real drives")
    parser.add_argument("--out", type=Path, default=Path("sheets"), help="folder for the pages")
    parser.add_argument("--hazards", help="only these, separated by commas")
    parser.add_argument("--inpainter", default="composite")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    inpainter = create_inpainter(args.inpainter)
    taxonomy = load_taxonomy()
    wanted = args.hazards.split(",") if args.hazards else None
    entries = [taxonomy.get(w) for w in wanted] if wanted else taxonomy.hazards
    entries = [h for h in entries if inpainter.can_draw(h)]
    args.out.mkdir(parents=True, exist_ok=True)
    pools = {kind: [shot(args.real, name, kind) for name in names] for kind, names in KINDS.items()}
    for page, batch in enumerate(_batched(entries)):
        rows = [row(hazard, pools, inpainter, args.seed + page * ROWS + i) for i, hazard in enumerate(batch)]
        path = args.out / f"page_{page + 1:02d}.png"
        cv2.imwrite(str(path), np.vstack(rows)[..., ::-1])
        print(path, ", ".join(h.id for h in batch))


def _batched(entries: list[Hazard]) -> Iterator[list[Hazard]]:
    for i in range(0, len(entries), ROWS):
        yield entries[i : i + ROWS]


def row(hazard: Hazard, pools: dict[str, list[Shot]], inpainter: Inpainter, seed: int) -> np.ndarray:
    """Three inserts of the hazard, each in a frame of another kind."""
    kinds = list(pools)
    tiles = []
    for k in range(3):
        kind = kinds[(seed + k) % len(kinds)]
        tiles.append(insert(hazard, pools[kind], inpainter, seed))
    return np.hstack(tiles)


def insert(hazard: Hazard, pool: list[Shot], inpainter: Inpainter, seed: int) -> np.ndarray:
    """In the first frame of the pool, from the seed's on, that takes the hazard and passes the gates of a build."""
    reason = ""
    sizes = inpainter.sizes(hazard)
    if sizes:
        hazard = hazard.model_copy(update={"size": sizes[seed % len(sizes)]})
    for k in range(len(pool)):
        one = pool[(seed + k) % len(pool)]
        places = find_placements(one.scene, one.image, hazard, np.random.default_rng(seed))
        if isinstance(places, str):
            reason = places
            continue
        for place in places[:TRIES]:
            job = EditJob(one.scene, {(one.scene.front.name, 0.0): one.image}, hazard, place, seed)
            edit = make_edits([job], inpainter)[0]
            reason = edit.reason if isinstance(edit, EditFailure) else _failed(one, edit, place, hazard)
            if not isinstance(edit, EditFailure) and not reason:
                return tile(hazard, one, edit)
    return _labelled(np.zeros((CUT[1], CUT[0] + CUT[0] * 2 // 3, 3), np.uint8), f"{hazard.id}: {reason}")


def _failed(one: Shot, edit: Edit, place: Placement, hazard: Hazard) -> str:
    front = (one.scene.front.name, 0.0)
    shown = GateInput(one.image, *edit.frames[front], one.scene.front, place, hazard)
    gates = run_gates(shown, own_gates())
    return "; ".join(gate.reason for gate in gates if not gate.passed)


def tile(hazard: Hazard, one: Shot, edit: Edit) -> np.ndarray:
    """Cut-out at 100% beside the frame at a planner's size (itself shown at two thirds of the cut-out's width)."""
    key = (one.scene.front.name, 0.0)
    image = edit.frames[key][0]
    x0, y0, x1, y1 = edit.placements[key].box_px
    left = int(np.clip((x0 + x1 - CUT[0]) / 2, 0, image.shape[1] - CUT[0]))
    top = int(np.clip((y0 + y1 - CUT[1]) / 2, 0, image.shape[0] - CUT[1]))
    cut = image[top : top + CUT[1], left : left + CUT[0]].copy()
    scale = math.sqrt(min(1.0, PLANNER_PIXELS / (image.shape[0] * image.shape[1])))
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    width = CUT[0] * 2 // 3
    left = int(np.clip((x0 + x1) / 2 * scale - width / 2, 0, max(small.shape[1] - width, 0)))
    top = int(np.clip((y0 + y1) / 2 * scale - CUT[1] / 2, 0, max(small.shape[0] - CUT[1], 0)))
    part = np.zeros((CUT[1], width, 3), np.uint8)
    seen = small[top : top + CUT[1], left : left + width]
    part[: seen.shape[0], : seen.shape[1]] = seen
    found = edit.report["inpainter"].get("light", {}).get("light", "")
    return np.hstack([_labelled(cut, f"{hazard.id}  {one.kind}: {one.name}  {found}"), part])


def _labelled(image: np.ndarray, text: str) -> np.ndarray:
    cv2.rectangle(image, (0, 0), (image.shape[1], 15), (0, 0, 0), -1)
    cv2.putText(image, text[:66], (3, 11), cv2.FONT_HERSHEY_SIMPLEX, 0.36, (255, 255, 255), 1, cv2.LINE_AA)
    return image


def shot(real: Path, name: str, kind: str) -> Shot:
    """A drive's scene, or a still with its rough calibration."""
    for folder in real.glob(f"*/scenes/{name}"):
        found = load_scene(folder)
        return Shot(name, kind, found.scene, found.image())
    image = cv2.imread(str(real / "images" / f"{name}.jpg"))
    if image is None:
        raise SystemExit(f"{real}: no scene and no still called '{name}'")
    image = np.ascontiguousarray(image[..., ::-1])
    return Shot(name, kind, _still(real, name, image), image)


def _still(real: Path, name: str, image: np.ndarray) -> Scene:
    fx, cx, cy, height, pitch, yaw = next(v for k, v in STILLS.items() if name.startswith(k))
    lens = {"model": "pinhole", "distortion": ()}
    if name.startswith("carnd"):
        known = json.loads((real / "images" / "carnd_intrinsics.json").read_text())
        lens = {"model": "opencv", "distortion": tuple(known["dist"])}
    camera = Camera(
        width=image.shape[1],
        height=image.shape[0],
        fx=fx,
        fy=fx,
        cx=cx,
        cy=cy,
        T_cam_ego=mounted(height, math.radians(pitch), math.radians(yaw)),
        **lens,
    )
    times = tuple(t / 4 for t in range(-8, 1))
    history = Motion(t=times, poses=tuple((12 * t, 0.0, 0.0) for t in times), v=(12.0,) * 9)
    return Scene(
        scene_id=name, cameras=(camera,), frames=(Frame(t=0.0, image=f"{name}.jpg"),), history=history
    )


if __name__ == "__main__":
    main()
