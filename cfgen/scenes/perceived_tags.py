"""Tags of what perception finds in each scene's front frame at t0: looked at once a frame, kept beside the scenes."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.faults import contained
from cfgen.core.files import write_bytes
from cfgen.core.hashing import hash_bytes, hash_json
from cfgen.core.progress import Progress
from cfgen.geometry.camera import ground_points, project
from cfgen.geometry.path import EgoPath
from cfgen.perception.lanes import LanesSeen, Unrolled
from cfgen.perception.light import CONFIDENT, estimate_scene_light
from cfgen.perception.protocol import Perceiver
from cfgen.perception.view import Thing
from cfgen.perception.views import Views
from cfgen.records import Camera, Fault
from cfgen.scenes.folder import SCENE_FILE, SceneFolder, find_scenes, load_scene
from cfgen.scenes.tags import SEEN, SEEN_BY, Tags

#: Hidden, so that it is taken for no scene. It may be deleted at any time: then the frames are looked at again.
SEEN_FILE = ".cfgen-seen.jsonl"
_VERSION = 3
#: What was seen is written down every so many scenes.
_EVERY = 50
#: Half of the width along the path that has to be road, m.
_HALF_M = 1.0
#: The nearest part of the path that is in the frame may be the hood, a shadow or glare: road begins so far on at most.
_HOOD_M = 8.0
#: Of people and animals that are counted: least score, height as a share of the frame's, width as a share of height; m.
#: Cameras that are guesses make people as small as the first. Nearer to a side of the frame, px, they are cut.
_SURE, _SPECK, _SLIVER, _TALL_M, _CUT_PX = 0.7, 0.05, 0.25, (0.6, 2.3), 2
_KINDS = {
    "people": ("person",),
    "vehicles": ("car", "truck", "bus", "train", "motorcycle", "bicycle"),
    "animals": ("cat", "dog", "horse", "sheep", "cow", "bear"),
}


@dataclass
class SeenTags:
    """What is kept for a folder of scenes.

    Attributes:
        by: the perceiver's name and identity.
        rows: name of the scene's folder -> stamp of its files, its front image, hash of what was looked at, tags; image
            and hash are "" where it could not be looked at.
    """

    folder: Path
    by: Mapping[str, Any] = field(default_factory=dict)
    rows: dict[str, list[Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "SeenTags":
        """Empty where there is none; one that is damaged, or of another version, is made anew."""
        try:
            first, *lines = (folder / SEEN_FILE).read_text(encoding="utf-8").rstrip("\n").split("\n")
            header = json.loads(first)
            if header["cfgen_seen"] != _VERSION:
                return cls(folder)
            rows = {name: row for name, *row in json.loads(f"[{','.join(lines)}]")}
            if not all(len(row) == 4 and isinstance(row[3], dict) for row in rows.values()):
                return cls(folder)
            return cls(folder, header["by"], rows)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return cls(folder)

    def write(self) -> None:
        head = json.dumps({"cfgen_seen": _VERSION, "by": dict(self.by)}, sort_keys=True)
        lines = [json.dumps([name, *row], ensure_ascii=False) for name, row in sorted(self.rows.items())]
        text = "\n".join([head, *lines]) + "\n"
        write_bytes(self.folder / SEEN_FILE, text.encode("utf-8", "surrogateescape"))

    def of(self, name: str) -> Tags:
        """Of a scene's folder; none where it was not looked at since its record or its frame changed."""
        row = self.rows.get(name)
        return row[3] if row and row[0] == _stamp(self.folder / name, row[1]) else {}

    @property
    def who(self) -> str:
        """The perceiver with what decides its views, for records."""
        return f"{self.by.get('name', '?')} {hash_json(dict(self.by)).removeprefix('sha256:')[:12]}"


@dataclass(frozen=True)
class TagCounts:
    """How many scenes there are, how many of them were looked at now, and those that could not be: name -> why."""

    scenes: int
    new: int
    failed: dict[str, str | Fault]


def look(folder: Path, perceiver: Perceiver, quiet: bool = True, strict: bool = False) -> TagCounts:
    """Look at the front frame of every scene below ``folder`` that is not known yet, and keep its tags.

    What another perceiver saw is forgotten. May be ended at any time and goes on where it stopped.

    Raises:
        InputError: no scene there. StoreError: the folder cannot be written to.
    """
    views = Views.of(perceiver)
    earlier = SeenTags.read(folder)
    before = earlier.rows if earlier.by == views.by else {}
    by_frame = {row[2]: row[3] for row in before.values() if row[2]}
    tags = SeenTags(folder, views.by)
    paths = find_scenes(folder)
    progress = Progress("look", len(paths), quiet)
    count, failed = 0, {}
    for path in paths:
        name = str(path.relative_to(folder))
        result = contained(partial(_row, path, views, by_frame), f"looking at {path}", strict=strict)
        if isinstance(result, (str, Fault)):
            failed[name] = result
            tags.rows[name] = [_stamp(path, ""), "", "", {SEEN_BY: perceiver.name}]
        else:
            row, new = result
            tags.rows[name] = row
            count += new
            if new and count % _EVERY == 0:
                SeenTags(folder, views.by, before | tags.rows).write()
        progress.step(name)
    tags.write()
    return TagCounts(len(paths), count, failed)


def _row(path: Path, views: Views, by_frame: Mapping[str, Tags]) -> tuple[list[Any], bool] | str:
    """What is kept of a scene and whether it was looked at now, or why it cannot be."""
    try:
        folder = load_scene(path)
        image = folder.front_frame().image
        stamp = _stamp(path, image)
        hashes = [hash_bytes((path / name).read_bytes()) for name in (SCENE_FILE, image)]
        key = hash_json(hashes).removeprefix("sha256:")[:32]
        tags = by_frame.get(key)
        return [stamp, image, key, tags or tags_seen(folder, views)], tags is None
    except InputError as error:
        return str(error)


def _stamp(path: Path, image: str) -> str:
    try:
        files = [(path / name).stat() for name in (SCENE_FILE, image) if name]
    except OSError:
        return ""
    return " ".join(f"{file.st_mtime_ns}-{file.st_size}" for file in files)


def tags_seen(folder: SceneFolder, views: Views) -> Tags:
    """What the front frame at t0 shows: see docs/scenes.md.

    Raises:
        InputError: the image does not decode.
    """
    scene, image = folder.scene, folder.image()
    scene_views = views.scene(scene, {(scene.front.name, 0.0): image})
    lanes = LanesSeen.of(scene_views.now, scene.front, EgoPath.from_scene(scene))
    light = estimate_scene_light(scene, image)
    tags: Tags = {
        SEEN_BY: str(views.by["name"]),
        "seen_night": light.sky == "night",
        "seen_sun": round(light.hardness, 2),
    }
    if light.sun.vector is not None and min(light.sun.confidence, light.hardness) >= CONFIDENT:
        tags["seen_sun_side"] = _side(light.sun.vector)
    if not views.weaker:
        tags["seen_lines"] = float(sum(line is not None for line in (lanes.left, lanes.right)))
        tags["seen_crossing"] = bool(lanes.crossing_road)
        if lanes.width_m is not None:
            tags["seen_lane_m"] = round(lanes.width_m, 2)
    return tags | _road_m(lanes.rolled) | _things(scene_views.now.things, scene.front)


def _road_m(rolled: Unrolled) -> Tags:
    """How far road reaches along the path, m: to the first row that is seen and less than half road.

    Nothing where no road begins near the car: whether it is blocked or overlooked cannot be told.
    """
    middle = np.abs(rolled.y) <= _HALF_M
    covered = rolled.seen[:, middle].mean(1) > 0.5
    road = covered & (rolled.road[:, middle].mean(1) >= 0.5)
    if not road.any() or rolled.s[road][0] > rolled.s[covered][0] + _HOOD_M:
        return {}
    ends = np.flatnonzero(covered & ~road & (rolled.s > rolled.s[road][0]))
    reached = road if not len(ends) else road & (np.arange(len(covered)) < ends[0])
    return {"seen_road_m": float(rolled.s[reached][-1])}


def _side(sun: np.ndarray) -> str:
    azimuth = math.degrees(math.atan2(sun[1], sun[0]))
    return ("ahead", "left", "behind", "right")[round(azimuth / 90) % 4]


def _things(things: Sequence[Thing] | None, camera: Camera) -> Tags:
    """Nothing where nobody looked for them."""
    if things is None:
        return {}
    alive = (*_KINDS["people"], *_KINDS["animals"])
    counted = [thing.kind for thing in things if thing.kind not in alive or _likely(thing, camera)]
    return {f"{SEEN}{name}": float(sum(kind in kinds for kind in counted)) for name, kinds in _KINDS.items()}


def _likely(thing: Thing, camera: Camera) -> bool:
    """Whether a person or an animal is sure enough, whole in the frame, no speck, no sliver, and as tall as one is."""
    x0, y0, x1, y1 = thing.box
    tall = y1 - y0
    if thing.score < _SURE or tall < _SPECK * camera.height or x1 - x0 < _SLIVER * tall:
        return False
    if x0 < _CUT_PX or x1 > camera.width - 1 - _CUT_PX:
        return False
    foot, on_ground = ground_points(camera, [[(x0 + x1) / 2, y1]])
    if not on_ground[0]:
        return False
    metre, _ = project(camera, [[*foot[0], 1.0]])
    return bool(_TALL_M[0] <= tall / max(y1 - metre[0, 1], 1e-3) <= _TALL_M[1])
