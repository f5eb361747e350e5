"""Real obstacles matched with clear frames: a folder with pairs.json and two or three scene folders for each pair."""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import cv2
import numpy as np
from pydantic import Field, ValidationError, model_validator

from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import explain, read_image, read_json, write_bytes
from cfgen.core.hashing import canonical_json
from cfgen.core.record import Record
from cfgen.records import Size
from cfgen.records.base import Identifier
from cfgen.scenes.folder import load_scene

PAIRS_FILE = "pairs.json"


class ObstaclePair(Record):
    """A real obstacle in the road, and the same or a like road without it.

    Attributes:
        clear, obstacle: scene folders, relative to that of pairs.json; front cameras of one and the same make. The
            motion is the obstacle scene's in both.
        control: another clear scene, held against ``clear`` as the obstacle is: what planners make of two frames that
            differ and show no obstacle; "" for none.
        hazard: its class: id of a hazard of the taxonomy, or the name of a cluster.
        box_px: x0, y0, x1, y1 around it in the obstacle scene's front frame.
        distance_m: to it along x in the ego frame; None takes the ground under the middle of the box's lower edge.
        size: None takes the box at that distance, as deep as it is wide.
    """

    id: Identifier
    clear: str
    obstacle: str
    control: str = ""
    hazard: str = Field(min_length=1)
    box_px: tuple[float, float, float, float]
    distance_m: float | None = Field(default=None, gt=0)
    size: Size | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        x0, y0, x1, y1 = self.box_px
        if not (x0 < x1 and y0 < y1):
            raise ValueError(f"box_px: expected x0 < x1 and y0 < y1, found {list(self.box_px)}")
        for path in (self.clear, self.obstacle, self.control):
            if Path(path).is_absolute() or ".." in Path(path).parts:
                raise ValueError(f"expected scene folders inside the folder of the pairs, found '{path}'")
        return self


class PairsFile(Record):
    """``pairs.json``; written by hand, or by a reader."""

    schema_version: Literal[1] = 1
    name: Identifier
    source: str = ""
    license: str = ""
    pairs: tuple[ObstaclePair, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _unlike(self) -> Self:
        ids = [pair.id for pair in self.pairs]
        if twice := next((pair_id for pair_id in ids if ids.count(pair_id) > 1), None):
            raise ValueError(f"pairs: id '{twice}' is there twice")
        return self


def load_pairs(folder: Path) -> PairsFile:
    """
    Raises:
        InputError: no pairs.json, or one that does not read as such; names file and field.
    """
    path = folder / PAIRS_FILE
    try:
        return PairsFile.model_validate(read_json(path))
    except StoreError as error:
        raise InputError(f"{error}; docs/validity.md has the format") from error
    except ValidationError as error:
        raise InputError(f"{path}: {explain(error)}; docs/validity.md has the format") from error


# --- out of data sets that mark obstacles by pixel and name no class: all are debris unless told otherwise ---

#: the cluster of WOD-E2E that these sets are made of
DEBRIS = "Foreign Object Debris"
#: an obstacle needs this many pixels to become a pair
_FEWEST_PX = 100
_VOID = 255
#: what a sequence of LostAndFound has around the name of its street
_NUMBERS = re.compile(r"^\d+_|_\d+$")


@dataclass(frozen=True)
class ObstacleOptions:
    """What the data sets do not tell.

    Attributes:
        clear: CSV with the columns obstacle, clear and, where wanted, control: frame names without folders and endings.
        fov_deg, camera_height_m, pitch_deg, speed_mps: of RoadObstacle21's camera and car, where it names none.
    """

    clear: Path | None = None
    hazard: str = DEBRIS
    limit: int | None = None
    fov_deg: float = 60.0
    camera_height_m: float = 1.5
    pitch_deg: float = 0.0
    speed_mps: float = 8.0


@dataclass(frozen=True)
class _PairFrame:
    """``scene``: scene.json without id and image."""

    name: str
    image: Path
    labels: Path
    #: frames that show the same road
    place: str
    obstacle_from: int
    scene: Mapping[str, Any] = field(default_factory=dict)

    def box(self) -> tuple[float, float, float, float] | None:
        """Around the largest obstacle; None where there is none."""
        labels = cv2.imread(str(self.labels), cv2.IMREAD_UNCHANGED)
        if labels is None:
            raise InputError(f"{self.labels}: expected a label image, found none that can be read")
        plane = labels if labels.ndim == 2 else labels[..., 0]
        marked = ((plane >= self.obstacle_from) & (plane < _VOID)).astype(np.uint8)
        count, _, stats, _ = cv2.connectedComponentsWithStats(marked)
        if count < 2:
            return None
        x, y, w, h, area = max(stats[1:].tolist(), key=lambda row: row[4])
        return (x, y, x + w, y + h) if area >= _FEWEST_PX else None


def import_pairs(reader: str, source: Path, out: Path, options: ObstacleOptions | None = None) -> PairsFile:
    """Write pairs.json and the scenes it names to ``out``.

    Raises:
        InputError: no such reader, none of the set's files at ``source``, or no obstacle with a clear frame.
    """
    options = options or ObstacleOptions()
    if reader not in READERS:
        raise InputError(f"reader '{reader}': expected one of {', '.join(READERS)}")
    frames = {frame.name: frame for frame in READERS[reader](source, options)}
    if not frames:
        raise InputError(
            f"{source}: expected {reader} frames with labels, found none; docs/validity.md has the layout"
        )
    boxes = {name: frame.box() for name, frame in frames.items()}
    partners = _told(options.clear, frames) if options.clear else _same_place(frames, boxes)
    pairs: list[ObstaclePair] = []
    for name, (clear, control) in partners.items():
        box = boxes[name]
        if box is None or len(pairs) == options.limit:
            continue
        for scene_name in filter(None, (name, clear, control)):
            _write_scene(out / "scenes" / scene_name, frames[scene_name])
        clear, obstacle, control = (f"scenes/{each}" if each else "" for each in (clear, name, control))
        pairs.append(
            ObstaclePair(
                id=name, clear=clear, obstacle=obstacle, control=control, hazard=options.hazard, box_px=box
            )
        )
    if not pairs:
        without = sum(box is None for box in boxes.values())
        raise InputError(
            f"{source}: expected frames with an obstacle of {_FEWEST_PX} pixels and clear frames of the same road, "
            f"found {len(boxes) - without} with and {without} without; name the pairs in a CSV (--clear)"
        )
    pairs_file = PairsFile(name=reader, source=reader, license="see the data set", pairs=tuple(pairs))
    write_bytes(out / PAIRS_FILE, (pairs_file.model_dump_json(indent=1) + "\n").encode())
    return pairs_file


def _same_place(frames: dict[str, _PairFrame], boxes: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Obstacle frames with the first two clear ones of the same place; those without are left out."""
    clear: dict[str, list[str]] = {}
    for name, frame in frames.items():
        if boxes[name] is None:
            clear.setdefault(frame.place, []).append(name)
    return {
        name: (candidates[0], candidates[1] if len(candidates) > 1 else "")
        for name, frame in frames.items()
        if boxes[name] is not None and (candidates := clear.get(frame.place, []))
    }


def _told(path: Path, frames: Mapping[str, _PairFrame]) -> dict[str, tuple[str, str]]:
    try:
        rows = list(csv.DictReader(path.read_text().splitlines()))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    options = {}
    for number, row in enumerate(rows, start=2):
        names = [(row.get(column) or "").strip() for column in ("obstacle", "clear", "control")]
        wrong = next((n for n in (names[0], names[1], *filter(None, names[2:])) if n not in frames), None)
        if wrong is not None:
            raise InputError(
                f"{path}, line {number}: expected names of frames in the columns obstacle and clear, found '{wrong}'"
            )
        options[names[0]] = (names[1], names[2])
    return options


def _write_scene(folder: Path, frame: _PairFrame) -> None:
    if (folder / "scene.json").is_file():
        return
    height, width = read_image(frame.image).shape[:2]
    image = f"frame{frame.image.suffix}"
    write_bytes(folder / image, frame.image.read_bytes())
    content = {"scene_id": frame.name, "image": image, "width": width, "height": height, **frame.scene}
    if "intrinsics" not in content:
        f = width / 2 / np.tan(np.radians(content.pop("fov_deg")) / 2)
        content["intrinsics"] = {"fx": f, "fy": f, "cx": (width - 1) / 2, "cy": (height - 1) / 2}
    write_bytes(folder / "scene.json", canonical_json(content))
    load_scene(folder)


def _lost_and_found(source: Path, options: ObstacleOptions) -> Iterator[_PairFrame]:
    """``leftImg8bit/<split>/<sequence>/``, beside it gtCoarse, camera and vehicle, named as in Cityscapes.

    A sequence is called by its number, its street and another number; frames of one street match.

    Label 1 is free road, 2 and more are obstacles. The camera's file has fx, fy, u0, v0 in pixels, and x, y, z in m and
    pitch, roll, yaw in rad as mounted; the vehicle's has the speed in m/s.
    """
    for image in sorted(source.glob("leftImg8bit/*/*/*_leftImg8bit.png")):
        split, place = image.parts[-3:-1]
        name = image.name.removesuffix("_leftImg8bit.png")
        labels = source / "gtCoarse" / split / place / f"{name}_gtCoarse_labelIds.png"
        if not labels.is_file():
            continue
        camera = _json(source / "camera" / split / place / f"{name}_camera.json")
        vehicle = _json(source / "vehicle" / split / place / f"{name}_vehicle.json")
        try:
            inner, outer = camera["intrinsic"], camera["extrinsic"]
            scene = {
                "intrinsics": {"fx": inner["fx"], "fy": inner["fy"], "cx": inner["u0"], "cy": inner["v0"]},
                "extrinsics": {
                    "camera_height_m": outer["z"],
                    "pitch_deg": float(np.degrees(outer["pitch"])),
                    "yaw_deg": float(np.degrees(outer["yaw"])),
                },
                "speed_t0": vehicle["speed"],
                "source": "LostAndFound",
            }
        except (KeyError, TypeError) as error:
            raise InputError(
                f"{source}, frame {name}: camera or vehicle file: expected the field {error}"
            ) from error
        yield _PairFrame(name, image, labels, _NUMBERS.sub("", place), 2, scene)


def _road_obstacles(source: Path, options: ObstacleOptions) -> Iterator[_PairFrame]:
    """``images/`` and ``labels_masks/`` (or ``label_masks/``) with ``<name>_labels_semantic.png``: 1 is obstacle.

    No two frames of it are known to show one road, and camera and speed are not told: a CSV names the clear frames.
    """
    if options.clear is None:
        raise InputError(
            "road-obstacles: expected a CSV that names a clear frame for each obstacle; give it (--clear)"
        )
    masks = next(
        (source / n for n in ("labels_masks", "label_masks") if (source / n).is_dir()),
        source / "labels_masks",
    )
    scene = {
        "fov_deg": options.fov_deg,
        "extrinsics": {"camera_height_m": options.camera_height_m, "pitch_deg": options.pitch_deg},
        "speed_t0": options.speed_mps,
        "source": "RoadObstacle21",
    }
    for image in sorted(p for p in source.glob("images/*") if p.suffix in (".webp", ".jpg", ".png")):
        labels = masks / f"{image.stem}_labels_semantic.png"
        if labels.is_file():
            yield _PairFrame(image.stem, image, labels, image.stem, 1, scene)


def _json(path: Path) -> dict[str, Any]:
    try:
        return read_json(path)
    except StoreError as error:
        raise InputError(str(error)) from error


READERS = {"lost-and-found": _lost_and_found, "road-obstacles": _road_obstacles}
