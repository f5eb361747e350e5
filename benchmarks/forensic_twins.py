"""Whether a classifier tells an inserted vehicle from the real one in whose place it was drawn.

    python -m benchmarks.forensic_twins BENCH [--scenes REGEX] [--half A|B] [--sheet pairs.png]

Every vehicle that FastestDet finds in the front frames of BENCH's scenes, at t0 and 2 s before, gets a twin: one of
its class as high as it is, drawn over it with the code at hand. Pairs are then alike in class, size, distance, scene
and light, and the detector finds the boxes of both. What still tells them apart is paint, which is drawn as often as
cfgen draws it, and what cfgen does wrong. Classifier and folds are those of ``benchmarks.forensics``. Halves are
blocks of six scenes: develop on A, tell B.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from benchmarks.forensics import (
    LEAST_PX,
    Crop,
    real_vehicles,
    samples,
    scene_ids,
    sheet,
    table,
)
from cfgen.benchmark.context import BuildContext, WorkerSettings
from cfgen.geometry.box import box_corners, boxes_px
from cfgen.geometry.camera import angles, centre, mounted
from cfgen.inpaint.edit import Edit, EditJob, make_edits
from cfgen.perception.road_users import RoadUserNetwork
from cfgen.records import Camera, Hazard, Placement, Scene, Size
from cfgen.scenes.folder import SceneFolder, load_scene
from cfgen.storage.store import Store

#: Times of frames whose vehicles get twins, s.
_TIMES = (0.0, -2.0)
#: Hazards drawn for a class that goes the camera's way, and for one that comes towards it.
_AHEAD = {
    "car": ("car_spun", "car_spun", "van_parked"),
    "truck": ("truck_contraflow",),
    "bus": ("school_bus",),
}
_ONCOMING = {**_AHEAD, "car": ("car_spun", "turning_car")}
#: Least overlap, as a share of both, of the boxes of a real vehicle and its twin.
_SAME = 0.5
_BLOCK = 6


@dataclass(frozen=True, eq=False)
class Place:
    """Where a real vehicle stands: the scene with a camera that sees it so, and the twin's placement."""

    scene: Scene
    placement: Placement


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("--scenes", default="", help="regular expression of scene ids")
    parser.add_argument("--half", choices=("A", "B"), help="half of the scenes")
    parser.add_argument("--leave-out", default="", help="ids of the sheet, separated by commas")
    parser.add_argument(
        "--same-paint", action="store_true", help="of several looks the one that is as bright"
    )
    parser.add_argument("--sheet", type=Path)
    asked = parser.parse_args()
    store, network = Store(asked.bench), RoadUserNetwork()
    ids = half(scene_ids(store, asked.scenes), asked.half)
    folders = [load_scene(store.scene_dir(i)) for i in ids]
    context = BuildContext(WorkerSettings(store.root))
    left_out = set(filter(None, asked.leave_out.split(",")))
    pairs = list(twins(context, folders, network, left_out, asked.same_paint))
    if asked.sheet:
        cv2.imwrite(str(asked.sheet), sheet([c for pair in pairs for c in pair])[..., ::-1])
    print(f"{len(pairs)} pairs of {len({p[0].scene for p in pairs})} of {len(ids)} scenes")
    reals, drawn = [p[0] for p in pairs], [p[1] for p in pairs]
    table("drawn against real in the same place", samples(drawn, True) + samples(reals, False))
    return 0


def half(ids: Sequence[str], which: str | None) -> list[str]:
    """Every other block of neighbouring scenes, or all."""
    odd = {None: (0, 1), "A": (0,), "B": (1,)}[which]
    return [name for number, name in enumerate(sorted(ids)) if number // _BLOCK % 2 in odd]


def twins(
    context: BuildContext,
    folders: Sequence[SceneFolder],
    network: RoadUserNetwork,
    left_out: set[str],
    same_paint: bool = False,
) -> Iterator[tuple[Crop, Crop]]:
    """Real vehicles and their twins, as the detector boxes them."""
    number = 0
    for t in _TIMES:
        for folder in folders:
            for real in real_vehicles([folder], network, t, left_out):
                number += 1
                hazards = likely(context, folder, real, number, same_paint)
                made = [drawn_over(context, folder, real, t, h, number) for h in hazards]
                drawn = [m for m in made if m is not None]
                if not drawn:
                    continue
                best = min(drawn, key=lambda m: abs(_level(m, real.box) - _level(real.frame, real.box)))
                if (box := same(network, best, real.box)) is not None:
                    yield real, Crop(f"{real.id}.twin", real.scene, best, box)


def _level(frame: np.ndarray, box: tuple[float, ...]) -> float:
    """Median code of the lower half of what is in a box, where paint is."""
    x0, y0, x1, y1 = (round(v) for v in box)
    inside = frame[(y0 + y1) // 2 : y1, x0 + (x1 - x0) // 6 : x1 - (x1 - x0) // 6]
    return float(np.median(inside))


def without_shadow(real: Crop) -> np.ndarray:
    """The frame with the road below a vehicle as it is further below, in whose light the twin then stands."""
    x0, y0, x1, y1 = (round(v) for v in real.box)
    high, frame = y1 - y0, real.frame.copy()
    top, end = y1 - high // 8, y1 + high // 2
    road = real.frame[end : end + max(high // 4, 3), max(x0, 0) : x1]
    if len(road):
        frame[top:end, max(x0, 0) : x1] = np.median(road, 0)
    return frame


def oncoming(folder: SceneFolder, real: Crop) -> bool:
    """Whether a vehicle comes towards the camera, where traffic keeps to the right."""
    return (real.box[0] + real.box[2]) / 2 < folder.scene.front.cx


def likely(
    context: BuildContext, folder: SceneFolder, real: Crop, number: int, same_paint: bool
) -> list[Hazard]:
    """A hazard of the vehicle's class in the look that is next, or in each of its looks."""
    kinds = (_ONCOMING if oncoming(folder, real) else _AHEAD)[real.kind]
    hazard = next(h for h in context.taxonomy.hazards if h.id == kinds[number % len(kinds)])
    looks = range(len(context.sizes(hazard))) if same_paint else (number,)
    return [context.sized(hazard.model_copy(update={"look": k}), number) for k in looks]


def drawn_over(
    context: BuildContext, folder: SceneFolder, real: Crop, t: float, hazard: Hazard, seed: int
) -> np.ndarray | None:
    """The frame with the hazard over the vehicle; None where it changes nothing."""
    [frame] = folder.frames_at(folder.scene.front.name, [t])
    key = folder.scene.front.name, 0.0
    [now] = folder.images_at(folder.scene.front.name, [0.0])
    if frame is None or now is None:
        return None
    seen = context.as_seen(folder.scene, {key: now})
    place = placed(seen, hazard, real.box, math.pi if oncoming(folder, real) else 0.0)
    job = EditJob(
        place.scene,
        {key: without_shadow(real)},
        hazard,
        place.placement,
        seed,
        sun=context.sun_of(seen, {key: now}),
        lattices={key: folder.lattices(frame, real.frame)},
    )
    [edit] = make_edits([job], context.inpainter)
    made = edit.frames[key][0] if isinstance(edit, Edit) else real.frame
    x0, y0, x1, y1 = (round(v) for v in real.box)
    changed = (made[y0:y1, x0:x1] != real.frame[y0:y1, x0:x1]).any(-1).mean()
    return made if changed > _SAME else None


def placed(scene: Scene, hazard: Hazard, box: tuple[float, ...], yaw: float) -> Place:
    """The hazard where its box is as high as ``box`` and ends on its last row; the camera is tilted to see it so."""
    camera, middle, high = scene.front, (box[0] + box[2]) / 2, box[3] - box[1]
    size, away = hazard.size, camera.fy * hazard.size.height / high
    for _ in range(6):
        camera = tilted(camera, size, away, yaw, middle, box[3])
        x, y = spot(camera, size, away, yaw, middle)
        found = boxes_px(camera, box_corners(x, y, yaw, size))[0][0]
        away *= (found[3] - found[1]) / high
    x, y = spot(camera, size, away, yaw, middle)
    px = boxes_px(camera, box_corners(x, y, yaw, size))[0][0]
    placement = Placement(
        zone="ego_lane",
        x=x,
        y=y,
        yaw=yaw,
        size=size,
        distance_m=x,
        lateral_m=y,
        required_decel=1.0,
        foot_px=(middle, float(px[3])),
        box_px=(float(px[0]), float(px[1]), float(px[2]), float(px[3])),
    )
    cameras = tuple(camera if c.name == camera.name else c for c in scene.cameras)
    return Place(scene.model_copy(update={"cameras": cameras}), placement)


def spot(camera: Camera, size: Size, away: float, yaw: float, column: float) -> tuple[float, float]:
    """Where on the ground, ``away`` m ahead, a thing stands in the middle of that column."""
    y = 0.0
    for _ in range(3):
        found = boxes_px(camera, box_corners(away, y, yaw, size))[0][0]
        y += ((found[0] + found[2]) / 2 - column) * away / camera.fx
    return away, y


def tilted(camera: Camera, size: Size, away: float, yaw: float, column: float, row: float) -> Camera:
    """The camera turned up or down so that the thing's box ends on ``row``."""
    for _ in range(3):
        x, y = spot(camera, size, away, yaw, column)
        low = boxes_px(camera, box_corners(x, y, yaw, size))[0][0][3]
        pitch, turn, roll = angles(camera)
        eye = centre(camera)
        pitch -= math.atan((row - low) / camera.fy)
        mount = mounted(float(eye[2]), pitch, turn, roll, float(eye[0]), float(eye[1]))
        camera = camera.model_copy(update={"T_cam_ego": mount})
    return camera


def same(
    network: RoadUserNetwork, frame: np.ndarray, box: tuple[float, ...]
) -> tuple[float, float, float, float] | None:
    """The box that the detector gives what stands at ``box`` in a frame."""
    found = [t.box for t in network.find(frame, everywhere=True) if _overlap(t.box, box) >= _SAME]
    found = [b for b in found if b[3] - b[1] >= LEAST_PX]
    return max(found, key=lambda b: _overlap(b, box), default=None)


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    wide = max(min(one[2], other[2]) - max(one[0], other[0]), 0)
    high = max(min(one[3], other[3]) - max(one[1], other[1]), 0)
    both = sum((b[2] - b[0]) * (b[3] - b[1]) for b in (one, other))
    return wide * high / (both - wide * high)


if __name__ == "__main__":
    sys.exit(main())
