"""Tabulates how often detectors recognize what is inserted, by model and height, beside photographs of the same class.

    python -m tools.assets.recognize --detector fastestdet.onnx --detector yolox_nano.onnx [--models dog,cat]
        [--frame-times DRIVE ...] [--heights 30,45,60,90,120] [--assets DIR] [--photos DIR] [--sheet inserts.png]

Each model stands in the middle of the lane ahead, turned as its hazard is, where its box is as many pixels high; places
where a detector already sees something are left out. A detector looks at a window around the insert, as in a build.
``--assets`` takes other sprites than those that ship.

``--photos`` has ``images/NAME.jpg`` and ``labels/NAME.txt``, a line ``class x y width height`` a thing: its number in
COCO and shares of the picture. Each photograph is scaled down until its largest thing of a class is so high.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from cfgen.benchmark.detector_gates import recognized, window
from cfgen.core.errors import CfgenError
from cfgen.core.files import read_image
from cfgen.core.paths import scenarios_dir
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.composite import sprites
from cfgen.inpaint.composite.inpainter import Composite
from cfgen.inpaint.edit import Edit, EditJob, make_edits
from cfgen.inpaint.region import seen_by
from cfgen.perception.box_network import COCO
from cfgen.perception.detection import BoxPx
from cfgen.perception.onnx_detector import OnnxDetector
from cfgen.records import Hazard, Placement, Size
from cfgen.scenes.folder import SceneFolder, find_scenes, load_scene

FRAMES, HEIGHTS = 12, [30, 45, 60, 90, 120]
#: Yaw, radians, by which way a hazard stands, when the road runs straight ahead; "any" and "across" go on turning.
_YAW = {"along": 0.0, "facing": math.pi, "across": math.pi / 2, "any": 0.0}
_STEP = math.radians(37.0)  # from one frame to the next, of what stands anyhow
_JITTER = math.radians(20.0)
_NEAREST = 4.0  # m
#: Share of an insert's box on which nothing may have been seen before.
_TAKEN = 0.1
#: Sheet: side of a tile, tiles in a row.
_TILE, _ROW = 150, 12


#: By name: height in pixels, and by detector whether it was recognized.
Told = dict[str, list[tuple[int, dict[str, bool]]]]


@dataclass(frozen=True, eq=False)
class Shown:
    """A thing in a picture (H, W, 3) uint8 RGB, with its box, and how high it is meant to be, pixels."""

    image: np.ndarray
    box: BoxPx
    hazard: Hazard
    name: str
    height: int


def main() -> int:
    asked = _parser().parse_args()
    if asked.assets:
        sprites.assets_dir = lambda: asked.assets
    try:
        detectors = {path.stem: OnnxDetector(str(path)) for path in asked.detector}
        folders = [load_scene(path) for path in _scenes(asked.frames)]
        hazards = _hazards([m for m in asked.models.split(",") if m])
    except CfgenError as error:
        _parser().error(str(error))
    told: Told = defaultdict(list)
    tiles = []
    for hazard in hazards:
        for shown in inserts(hazard, folders, asked.heights, list(detectors.values())):
            seen = judged(shown, detectors)
            told[shown.name].append((shown.height, seen))
            if asked.sheet:
                tiles.append(_tile(shown, list(seen.values())))
    table(told, list(detectors), asked.heights)
    if asked.photos:
        beside: Told = defaultdict(list)
        for shown in photographs(asked.photos, hazards, asked.heights):
            beside[shown.name].append((shown.height, judged(shown, detectors)))
        table(beside, list(detectors), asked.heights)
    if asked.sheet:
        cv2.imwrite(str(asked.sheet), _sheet(tiles)[..., ::-1])
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--detector", type=Path, action="append", required=True, help="an ONNX file")
    parser.add_argument("--frame-times", type=Path, nargs="*", help=f"scenes; default {FRAMES} demo scenes")
    parser.add_argument("--models", default="", help="separated by commas; default: all with a class")
    parser.add_argument("--heights", type=_numbers, default=HEIGHTS, help="pixels, separated by commas")
    parser.add_argument("--assets", type=Path, help="folder of sprites instead of scenarios/assets")
    parser.add_argument("--photos", type=Path, help="labelled photographs")
    parser.add_argument(
        "--sheet", type=Path, help="draw every insert to this PNG, a square for each detector"
    )
    return parser


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def judged(shown: Shown, detectors: Mapping[str, OnnxDetector]) -> dict[str, bool]:
    """By detector, whether it takes what is shown for what it is."""
    return {
        name: bool(recognized(detector, shown.image, shown.box, shown.hazard).value)
        for name, detector in detectors.items()
    }


def _scenes(given: Sequence[Path] | None) -> list[Path]:
    if given:
        return [path for folder in given for path in find_scenes(folder)]
    found = find_scenes(scenarios_dir() / "scenes")
    return [found[round(i)] for i in np.linspace(0, len(found) - 1, FRAMES)]


def _hazards(models: Sequence[str]) -> list[Hazard]:
    """One entry a model: of those named, or of all that a detector has a class for."""
    found: dict[str, Hazard] = {}
    taxonomy = load_taxonomy()
    for hazard in taxonomy.hazards:
        if (
            hazard.model
            and hazard.model not in found
            and (hazard.model in models or (not models and hazard.seen_as))
        ):
            found[hazard.model] = hazard
    if missing := set(models) - set(found):
        raise CfgenError(
            f"--models: no hazard has the model {', '.join(sorted(missing))}; see `cfgen list hazards`"
        )
    return list(found.values())


def inserts(
    hazard: Hazard, folders: Sequence[SceneFolder], heights: Sequence[int], detectors: Sequence[OnnxDetector]
) -> Iterator[Shown]:
    """The hazard in every frame at every height where the place is free; its variants and sides take turns."""
    names = sprites.list_variants(str(hazard.model))
    for i, folder in enumerate(folders):
        image = folder.image()
        key = (folder.scene.front.name, 0.0)
        jpeg_grids = {key: folder.jpeg_grid(folder.front_frame())}
        for j, height in enumerate(heights):
            size = sprites.load(str(hazard.model), names[(i + j) % len(names)]).size
            place = placed(folder, hazard, Size(length=size[0], width=size[1], height=size[2]), height, i)
            if place is None or any(_taken(detector, image, place.box_px) for detector in detectors):
                continue
            job = EditJob(folder.scene, {key: image}, hazard, place, i, jpeg_grids=jpeg_grids)
            edit = make_edits([job], Composite())[0]
            if isinstance(edit, Edit):
                yield Shown(
                    edit.frames[key][0], edit.placements[key].box_px, hazard, str(hazard.model), height
                )


def _taken(detector: OnnxDetector, image: np.ndarray, box: BoxPx) -> bool:
    """Whether the detector sees something in the frame where the insert will be."""
    x0, y0, x1, y1 = window(box, image.shape)
    for _, found in detector.see(np.ascontiguousarray(image[y0:y1, x0:x1])):
        left, top, right, bottom = found.box[0] + x0, found.box[1] + y0, found.box[2] + x0, found.box[3] + y0
        wide, high = min(right, box[2]) - max(left, box[0]), min(bottom, box[3]) - max(top, box[1])
        if wide > 0 and high > 0 and wide * high > _TAKEN * (box[2] - box[0]) * (box[3] - box[1]):
            return True
    return False


def placed(folder: SceneFolder, hazard: Hazard, size: Size, height: int, turn: int) -> Placement | None:
    """Where on the way ahead it is ``height`` pixels high; None where it never is."""
    camera = folder.scene.front
    away = camera.fy * size.height / height
    seen = None
    for _ in range(8):
        seen = _seen(folder, hazard, size, away, turn)
        if seen is None:
            return None
        away *= (seen.box_px[3] - seen.box_px[1]) / height
    assert seen is not None
    return seen if away > _NEAREST and abs(seen.box_px[3] - seen.box_px[1] - height) < 0.1 * height else None


def _seen(folder: SceneFolder, hazard: Hazard, size: Size, away: float, turn: int) -> Placement | None:
    x, y, heading = _ahead(folder, away)
    yaw = heading + _YAW[hazard.heading] + _JITTER * math.sin(1 + 2.4 * turn)
    if hazard.heading in ("any", "across"):
        yaw += turn * (_STEP if hazard.heading == "any" else math.pi)
    place = Placement(
        zone=hazard.zones[0],
        x=x,
        y=y,
        yaw=math.remainder(yaw, math.tau),
        size=size,
        distance_m=away,
        lateral_m=0.0,
        required_decel=0.0,
        foot_px=(0.0, 0.0),
        box_px=(0.0, 0.0, 0.0, 0.0),
    )
    return seen_by(folder.scene.front, place)


def _ahead(folder: SceneFolder, away: float) -> tuple[float, float, float]:
    """The pose ``away`` metres along the car's own way, straight on where that ends."""
    future = folder.scene.future
    poses = np.array([(0.0, 0.0, 0.0), *(future.poses if future else ())])
    along = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(poses[:, :2], axis=0).T))])
    x, y, heading = (
        float(np.interp(away, along, values)) for values in (poses[:, 0], poses[:, 1], np.unwrap(poses[:, 2]))
    )
    beyond = max(away - float(along[-1]), 0.0)
    return x + beyond * math.cos(heading), y + beyond * math.sin(heading), heading


def photographs(folder: Path, hazards: Sequence[Hazard], heights: Sequence[int]) -> Iterator[Shown]:
    """Each labelled photograph, scaled until its largest thing that a hazard may be seen as is so high."""
    kinds = {kind: hazard for hazard in reversed(hazards) for kind in hazard.seen_as[:1]}
    for label in sorted((folder / "labels").glob("*.txt")):
        image = read_image(folder / "images" / f"{label.stem}.jpg")
        rows = [line.split() for line in label.read_text().splitlines() if line.strip()]
        things = [(COCO[int(row[0])], [float(v) for v in row[1:5]]) for row in rows]
        for kind, hazard in kinds.items():
            boxes = [box for name, box in things if name == kind]
            if boxes:
                only = hazard.model_copy(update={"seen_as": (kind,)})
                yield from _scaled(image, max(boxes, key=lambda box: box[3]), only, heights)


def _scaled(
    image: np.ndarray, shares: Sequence[float], hazard: Hazard, heights: Sequence[int]
) -> Iterator[Shown]:
    """A photograph at the heights that do not enlarge its thing; shares: middle and size of the thing's box."""
    x, y, w, h = shares
    for height in heights:
        scale = height / (h * image.shape[0])
        if scale <= 1:
            small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            rows, cols = small.shape[:2]
            box = ((x - w / 2) * cols, (y - h / 2) * rows, (x + w / 2) * cols, (y + h / 2) * rows)
            yield Shown(small, box, hazard, f"photo: {hazard.seen_as[0]}", height)


def table(told: Told, detectors: Sequence[str], heights: Sequence[int]) -> None:
    """Shares by name, detector and height, and the number that each rests on."""
    print(f"{'':24}{'':14}" + "".join(f"{h:>7} px" for h in heights) + "    45 px and more")
    for name, rows in told.items():
        for detector in detectors:
            cells = [_share([seen[detector] for h, seen in rows if h == height]) for height in heights]
            large = _share([seen[detector] for h, seen in rows if h >= 45])
            print(
                f"{name:24}{detector[:12]:14}" + "".join(f"{c:>10}" for c in cells) + f"{large:>18}",
                flush=True,
            )


def _share(seen: Sequence[bool]) -> str:
    return f"{sum(seen) / len(seen):.2f} /{len(seen)}" if seen else "-"


def _tile(shown: Shown, seen: Sequence[bool]) -> np.ndarray:
    x0, y0, x1, y1 = window(shown.box, shown.image.shape)
    tile = cv2.resize(shown.image[y0:y1, x0:x1], (_TILE, _TILE), interpolation=cv2.INTER_AREA)
    for at, found in enumerate(seen):
        colour = (40, 200, 60) if found else (230, 40, 40)
        cv2.rectangle(tile, (4 + 14 * at, 4), (14 + 14 * at, 14), colour, -1)
    return tile


def _sheet(tiles: Sequence[np.ndarray]) -> np.ndarray:
    blank = np.zeros((_TILE, _TILE, 3), np.uint8)
    filled = [*tiles, *[blank] * (-len(tiles) % _ROW)]
    return np.vstack([np.hstack(filled[i : i + _ROW]) for i in range(0, len(filled), _ROW)])


if __name__ == "__main__":
    raise SystemExit(main())
