"""nuScenes v1.0: the JSON tables and image files, read directly."""

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.files import reading
from cfgen.scenes.drive import Drive, Opener, Place, Stream, speeds_of
from cfgen.scenes.readers.road_map import RoadMap
from cfgen.scenes.readers.sources import keeps_left
from cfgen.scenes.readers.traffic import ADVICE, MAP_ADVICE, Vehicles, calibrated, from_quaternion

_FRONT = "CAM_FRONT"
_TABLES = ("scene", "sample", "sample_data", "calibrated_sensor", "sensor", "ego_pose")
_AGAIN = "unpack the metadata again"
#: Origins of the maps, whose x axis points east: degrees north and east, from the data set's development kit.
_ORIGINS = {
    "boston-seaport": Place(42.3368, -71.0579),
    "singapore-onenorth": Place(1.2882, 103.7848),
    "singapore-hollandvillage": Place(1.2994, 103.7822),
    "singapore-queenstown": Place(1.2783, 103.7674),
}

Row = dict[str, Any]
#: instance, kind, and place (3), rotation (4) and size (3) of an annotation
Box = tuple[str, str, "array[float]"]


class NuScenes:
    """The data root with samples/, sweeps/ and v1.0-trainval/, v1.0-mini/ or v1.0-test/.

    Frames are the key frames and, where the files are there, the sweeps between them (12 Hz). Annotated vehicles are
    told as traffic, and where the map expansion is unpacked (maps/expansion/ or maps/), drivable areas, crossings and
    lanes as the road.

    Options: version (needed when there are several), cameras (all; else like CAM_FRONT,CAM_FRONT_LEFT).
    """

    def __init__(self, source: Path, version: str = "", cameras: str = "") -> None:
        self._root = source
        self._folder = _table_folder(source, version)
        self._tables = {name: _table(self._folder / f"{name}.json") for name in _TABLES}
        self._by_token = {name: {row["token"]: row for row in rows} for name, rows in self._tables.items()}
        log = self._folder / "log.json"  # says only where: the rest does without
        self._logs = {row["token"]: row for row in (_table(log) if log.is_file() else [])}
        self._wanted = {name.strip() for name in cameras.split(",") if name.strip()} | {_FRONT}
        self._all = not cameras
        self._boxes = self._annotated()
        self._data: dict[str, list[Row]] = defaultdict(list)
        for row in self._tables["sample_data"]:  # one whose sample is missing is missed by its scene, below
            sample = self._by_token["sample"].get(row.get("sample_token"), {})
            self._data[sample.get("scene_token", "")].append(row)

    def recordings(self) -> Iterable[Opener]:
        return [
            Opener(f"scene {scene.get('name', scene['token'])}", partial(self._scene, scene))
            for scene in self._tables["scene"]
        ]

    def _scene(self, scene: Row) -> Drive:
        with reading(self._folder, f"whole rows for scene {scene.get('name', scene['token'])}", _AGAIN):
            return self._drive(scene)

    def _row(self, table: str, token: str) -> Row:
        row: Row | None = self._by_token[table].get(token)
        if row is None:
            raise InputError(
                f"{self._folder / f'{table}.json'}: expected a row with token '{token}', found none; "
                f"the table is cut short, {_AGAIN}"
            )
        return row

    def _drive(self, scene: Row) -> Drive:
        rows = self._data[scene["token"]]
        stamped = {self._pose(row)["timestamp"]: self._pose(row) for row in rows}
        if len(stamped) < 2:
            raise InputError(
                f"{self._root}: scene {scene['name']}: expected ego poses, found {len(stamped)}; "
                "the tables are incomplete, unpack the metadata again"
            )
        poses = [stamped[key] for key in sorted(stamped)]
        start = poses[0]["timestamp"]
        t = np.array([(pose["timestamp"] - start) / 1e6 for pose in poses])
        matrices = from_quaternion([p["rotation"] for p in poses], [p["translation"] for p in poses])
        channels: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            channel = self._channel(row)
            is_requested = channel in self._wanted or (self._all and channel.startswith("CAM"))
            if is_requested and (self._root / row["filename"]).is_file():
                channels[channel].append(row)
        if not channels[_FRONT]:
            raise InputError(
                f"{self._root}: scene {scene['name']}: none of its {_FRONT} images is there; "
                "unpack the samples archive of this part of the data set"
            )
        names = sorted(channels, key=lambda name: (name != _FRONT, name))
        traffic = self._traffic(scene, start, (t, matrices))
        return Drive(
            name=scene["name"],
            source=f"nuScenes {scene['name']} {scene['token']}",
            license="CC BY-NC-SA 4.0",
            streams=tuple(self._stream(name, channels[name], start) for name in names),
            t=t,
            poses=matrices,
            v=speeds_of(t, matrices),
            epoch=start / 1e6,
            place=_ORIGINS.get(self._location(scene)),
            extra={"description": scene.get("description", "")} | keeps_left(self._location(scene)),
            traffic=traffic,
            road=self._road(self._location(scene), (t, matrices)),
        )

    def _annotated(self) -> dict[str, list[Box]]:
        """The boxes of each sample; a sample that somebody annotated is there without a vehicle too."""
        path = self._folder / "sample_annotation.json"
        if not path.is_file():
            return {}
        names = {row["token"]: str(row.get("name", "")) for row in _table(self._folder / "category.json")}
        kinds = {
            row["token"]: names.get(row.get("category_token"), "")
            for row in _table(self._folder / "instance.json")
        }
        boxes_by_frame: dict[str, list[Box]] = defaultdict(list)

        def kept(row: Row) -> None:
            """Of a million rows only what counts: they never all lie in the memory."""
            boxes, kind = boxes_by_frame[row["sample_token"]], kinds[row["instance_token"]]
            if kind.startswith("vehicle."):
                numbers = array("d", (*row["translation"], *row["rotation"], *row["size"]))
                boxes.append((row["instance_token"], kind, numbers))

        with reading(path, "a nuScenes table of annotations", ADVICE):
            if not isinstance(json.loads(path.read_bytes(), object_hook=kept), list):
                raise ValueError("JSON that is no list of rows")
        return boxes_by_frame

    def _traffic(self, scene: Row, start: int, ego: tuple[np.ndarray, np.ndarray]) -> Vehicles | None:
        samples = [
            ((row["timestamp"] - start) / 1e6, self._boxes[row["token"]])
            for row in self._tables["sample"]
            if row.get("scene_token") == scene["token"] and row["token"] in self._boxes
        ]
        if not samples:  # a test split
            return None
        rows = [(t, *box) for t, boxes in samples for box in boxes]
        t, ids, kinds, numbers = zip(*rows, strict=True) if rows else ((),) * 4
        with reading(self._folder / "sample_annotation.json", "boxes with place, rotation and size", ADVICE):
            placed = np.reshape(numbers, (-1, 10))
            sizes = placed[:, [8, 7, 9]]  # it tells width, length, height
            poses = from_quaternion(placed[:, 3:7], placed[:, :3])
            return Vehicles.of(ids, kinds, t, poses, sizes, [t for t, _ in samples], ego)

    def _road(self, location: str, ego: tuple[np.ndarray, np.ndarray]) -> RoadMap | None:
        """The map expansion of the scene's town, whose frame is that of its poses; None where it is not there."""
        for folder in ("expansion", "."):
            path = self._root / "maps" / folder / f"{location}.json"
            if location and path.is_file():
                areas, crossings, lanes = _map_layers(path)
                up = np.array([0.0, 0.0, float(np.median(ego[1][:, 2, 3]))])  # the map is flat
                return RoadMap(
                    path,
                    [(area + up, [hole + up for hole in holes]) for area, holes in areas],
                    [crossing + up for crossing in crossings],
                    [(middle + up, width, use) for middle, width, use in lanes],
                    ego,
                )
        return None

    def _location(self, scene: Row) -> str:
        return str(self._logs.get(scene.get("log_token"), {}).get("location", ""))

    def _stream(self, channel: str, rows: list[Row], start: int) -> Stream:
        rows = sorted(rows, key=lambda row: row["timestamp"])
        calibration = self._row("calibrated_sensor", rows[0]["calibrated_sensor_token"])
        intrinsic = np.array(calibration["camera_intrinsic"], float)
        size = rows[0]["width"], rows[0]["height"]
        mounting = np.linalg.inv(from_quaternion(calibration["rotation"], calibration["translation"]))
        camera = calibrated(channel, size, intrinsic, mounting)
        times = np.array([(row["timestamp"] - start) / 1e6 for row in rows])
        return Stream(camera, times, lambda index: self._root / rows[index]["filename"])

    def _pose(self, row: Row) -> Row:
        return self._row("ego_pose", row["ego_pose_token"])

    def _channel(self, row: Row) -> str:
        sensor = self._row("calibrated_sensor", row["calibrated_sensor_token"])["sensor_token"]
        return str(self._row("sensor", sensor)["channel"])


@cache
def _map_layers(path: Path) -> tuple[list[Any], list[Any], list[Any]]:
    """Drivable areas with their holes, crossings and lanes of a town's map expansion; as :class:`RoadMap` has them."""
    with reading(path, "a map expansion with node, polygon, drivable_area, ped_crossing, lane", MAP_ADVICE):
        content = json.loads(path.read_bytes())
        nodes = {node["token"]: (node["x"], node["y"], 0.0) for node in content["node"]}
        polygons = {polygon["token"]: polygon for polygon in content["polygon"]}

        def outline(tokens: list[str]) -> np.ndarray:
            return np.array([nodes[token] for token in tokens], float).reshape(-1, 3)

        areas = [
            (
                outline(polygons[token]["exterior_node_tokens"]),
                [outline(hole["node_tokens"]) for hole in polygons[token]["holes"] if hole["node_tokens"]],
            )
            for area in content["drivable_area"]
            for token in area["polygon_tokens"]
        ]
        crossings = [
            outline(polygons[row["polygon_token"]]["exterior_node_tokens"]) for row in content["ped_crossing"]
        ]
        lanes = []
        for lane in content["lane"]:
            middle = _along(content["arcline_path_3"].get(lane["token"], []))
            area = outline(polygons[lane["polygon_token"]]["exterior_node_tokens"])
            length = float(np.hypot(*np.diff(middle[:, :2], axis=0).T).sum())
            if length > 1.0:
                width = _area(area) / length
                use = "bicycle" if "BIKE" in str(lane.get("lane_type", "")) else "traffic"
                lanes.append((middle, float(np.clip(width, 1.0, 10.0)), use))
        return areas, [crossing for crossing in crossings if len(crossing)], lanes


def _area(outline: np.ndarray) -> float:
    """m² within a polygon (N, 3)."""
    x, y = outline[:, 0] - outline[0, 0], outline[:, 1] - outline[0, 1]
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def _along(arcs: list[Row]) -> np.ndarray:
    """(N, 3) m: points a metre apart along a lane's path of arcs and straight lines, turning as ``shape`` says (L left,
    S straight, R right) at ``radius``, each as long as ``segment_length`` says."""
    points: list[tuple[float, float, float]] = []
    for arc in arcs:
        x, y, heading = arc["start_pose"]
        points.append((x, y, 0.0))
        for turn, length in zip(arc["shape"], arc["segment_length"], strict=True):
            curvature = {"L": 1.0, "S": 0.0, "R": -1.0}[turn] / arc["radius"]
            steps = max(round(length), 1)
            for _ in range(steps if length > 0 else 0):
                step = length / steps
                middle = heading + curvature * step / 2
                chord = step * float(np.sinc(curvature * step / 2 / np.pi))
                x, y, heading = (
                    x + chord * np.cos(middle),
                    y + chord * np.sin(middle),
                    heading + curvature * step,
                )
                points.append((x, y, 0.0))
    return np.array(points, float).reshape(-1, 3)


def _table_folder(source: Path, version: str) -> Path:
    folders = [source / version] if version else sorted(p for p in source.glob("v1.0-*") if p.is_dir())
    if len(folders) != 1 or not folders[0].is_dir():
        names = [p.name for p in folders if p.is_dir()]
        raise InputError(
            f"{source}: expected one folder of nuScenes tables (v1.0-trainval, v1.0-mini, ...), "
            f"found {', '.join(names) or 'none'}; "
            "point to the data root, and give --options version=... when there are several"
        )
    return folders[0]


def _table(path: Path) -> list[Row]:
    with reading(path, "a nuScenes table", _AGAIN):
        rows: list[Row] = json.loads(path.read_bytes())
        if not isinstance(rows, list) or not all(isinstance(r, dict) and "token" in r for r in rows):
            raise ValueError("JSON that is no list of rows with a token")
    return rows
