"""Roads from maps of Argoverse 2 and nuScenes, on small ones in their exact formats, against shapely in the world."""

import json

import numpy as np
import pytest
import shapely
from shapely import affinity

from cfgen.core.errors import InputError
from cfgen.scenes.importing import open_reader
from tests.scene_truth import imported, poses
from tests.scenes.test_reader_argoverse2 import write_argoverse2
from tests.scenes.test_reader_nuscenes import write_nuscenes

#: Where the car is over 14 s, world from ego, and the road's borders: 5 m to its right, 3 m to its left.
TRACK = poses(np.arange(0.0, 14.01, 0.25))


def beside(lateral: float) -> np.ndarray:
    """(N, 3) m, world: a line beside the car's path."""
    return TRACK[:, :3, 3] + lateral * TRACK[:, :3, 1]


def strip(right: float, left: float) -> np.ndarray:
    return np.concatenate([beside(right), beside(left)[::-1]])


ROAD = strip(-5.0, 3.0)
#: A hole in it, an island between the lanes 20 m before the car at 2 s.
ISLAND = (TRACK[12] @ np.array([[x, y, 0, 1] for x, y in ((-1, -1), (2, -1), (2, 0.5), (-1, 0.5))]).T).T[
    :, :3
]


def expected(t0: float, outline: np.ndarray, holes=()) -> shapely.Polygon:
    """An area as seen from the car at ``t0``, s, within 120 m ahead, 70 m behind and 60 m aside."""
    [pose] = poses([t0])
    x, y, theta = pose[0, 3], pose[1, 3], float(np.arctan2(pose[1, 0], pose[0, 0]))
    local = affinity.rotate(
        affinity.translate(shapely.Polygon(outline[:, :2], [hole[:, :2] for hole in holes]), -x, -y),
        -theta,
        origin=(0, 0),
        use_radians=True,
    )
    return shapely.intersection(local.buffer(0), shapely.box(-70, -60, 120, 60))


def told(areas) -> shapely.Geometry:
    return shapely.union_all([shapely.make_valid(shapely.Polygon(area)) for area in areas])


def alike(found, truth) -> bool:
    return shapely.symmetric_difference(found, truth).area < 0.02 * truth.area + 0.3


def rows(points: np.ndarray, up: float = 0.0) -> list[dict]:
    return [{"x": x, "y": y, "z": z + up} for x, y, z in points.tolist()]


def av2_map(shift: float = 0.0) -> dict:
    def lane(number, left, right, kind="VEHICLE"):
        return {"id": number, "is_intersection": False, "lane_type": kind, "left_lane_boundary": rows(left),
                "left_lane_mark_type": "SOLID_WHITE", "right_lane_boundary": rows(right),
                "right_lane_mark_type": "NONE", "successors": [], "predecessors": [], "right_neighbor_id": None,
                "left_neighbor_id": None}  # fmt: skip

    bridge = rows(ROAD, up=9.0)
    zebra = TRACK[12] @ np.array([[0, -5, 0, 1], [0, 3, 0, 1], [3, -5, 0, 1], [3, 3, 0, 1]]).T
    zebra = zebra.T[:, :3]
    return {
        "drivable_areas": {"1": {"id": 1, "area_boundary": rows(ROAD + np.array([shift, 0, 0]))},
                           "2": {"id": 2, "area_boundary": bridge}},
        "lane_segments": {"7": lane(7, beside(1.75), beside(-1.75)),
                          "8": lane(8, beside(-5.0)[::-1], beside(-1.75)[::-1]),
                          "9": lane(9, beside(3.0), beside(1.75), "BIKE")},
        "pedestrian_crossings": {"3": {"id": 3, "edge1": rows(zebra[:2]), "edge2": rows(zebra[2:])}},
    }  # fmt: skip


def write_av2_map(log, content: object) -> None:
    (log / "map").mkdir(exist_ok=True)
    (log / "map" / f"log_map_archive_{log.name}____PIT_city_1.json").write_text(json.dumps(content))


def test_argoverse2(tmp_path):
    log = tmp_path / "54bc6dbc"
    log.mkdir()
    write_argoverse2(log)
    write_av2_map(log, av2_map())
    [scene, *_] = [folder.scene for folder in imported("argoverse2", log, tmp_path / "out")]
    t0 = 2.013
    assert scene.extra["road_from"] == "map"
    assert alike(told(scene.drivable), expected(t0, ROAD)), "and nothing of the bridge above it"
    assert len(scene.drivable) == 1
    [zebra] = scene.crossings
    assert shapely.Polygon(zebra).area == pytest.approx(24, rel=0.02)
    own, oncoming, bicycle = scene.lanes
    assert (own.width_m, oncoming.width_m, bicycle.width_m) == pytest.approx((3.5, 3.25, 1.25), abs=0.03)
    assert (own.use, oncoming.use, bicycle.use) == ("traffic", "traffic", "bicycle")
    assert shapely.LineString(own.line).distance(shapely.Point(0, 0)) < 0.1
    assert own.line[0][0] < own.line[-1][0]
    assert oncoming.line[0][0] > oncoming.line[-1][0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            av2_map(shift=5000.0),
            r"log_map_archive_\S+: expected drivable areas within 60 m .*another log or town",
        ),
        (
            {"lane_segments": {}},
            r"expected drivable_areas, lane_segments and pedestrian_crossings, found .*without a",
        ),
        ([], r"log_map_archive_\S+: expected drivable_areas"),
    ],
)
def test_a_map_that_is_not_the_logs_is_named(tmp_path, content, message):
    log = tmp_path / "54bc6dbc"
    log.mkdir()
    write_argoverse2(log)
    write_av2_map(log, content)
    with pytest.raises(InputError, match=message):
        next(iter(open_reader("argoverse2", log, {}).recordings()))().road(2.0)


def nuscenes_map() -> dict:
    """The road with an island, a crossing, and one lane: 20 m straight on, then a left quarter of 20 m radius."""
    nodes: list[dict] = []
    polygons: list[dict] = []

    def outline(points: np.ndarray) -> list[str]:
        first = len(nodes)
        nodes.extend(
            {"token": f"n{first + i}", "x": x, "y": y} for i, (x, y) in enumerate(points[:, :2].tolist())
        )
        return [node["token"] for node in nodes[first:]]

    def polygon(points: np.ndarray, *holes: np.ndarray) -> str:
        token = f"p{len(polygons)}"
        exterior = outline(points)
        inner = [{"node_tokens": outline(hole)} for hole in holes]
        polygons.append(
            {"token": token, "exterior_node_tokens": exterior, "holes": [*inner, {"node_tokens": []}]}
        )
        return token

    start = poses([2.0])[0]
    heading = float(np.arctan2(start[1, 0], start[0, 0]))
    lane_area = np.array([[0, -1.5, 0], [20 + 10 * np.pi, -1.5, 0], [20 + 10 * np.pi, 1.5, 0], [0, 1.5, 0]])
    return {
        "drivable_area": [{"token": "d", "polygon_tokens": [polygon(ROAD, ISLAND)]}],
        "ped_crossing": [{"token": "z", "polygon_token": polygon(ISLAND), "road_segment_token": ""}],
        "lane": [{"token": "l", "polygon_token": polygon(lane_area), "lane_type": "CAR"},
                 {"token": "without a path", "polygon_token": polygon(lane_area), "lane_type": "CAR"}],
        "arcline_path_3": {"l": [{"start_pose": [start[0, 3], start[1, 3], heading], "end_pose": [0, 0, 0],
                                  "shape": "LSL", "radius": 20.0, "segment_length": [0.0, 20.0, 10 * np.pi]}]},
        "node": nodes, "polygon": polygons, "canvas_edge": [1585.6, 2025.0],
    }  # fmt: skip


def test_nuscenes(tmp_path):
    root = tmp_path / "nu"
    write_nuscenes(root)
    (root / "maps" / "expansion").mkdir(parents=True)
    (root / "maps" / "expansion" / "singapore-onenorth.json").write_text(json.dumps(nuscenes_map()))
    scene = imported("nuscenes", root, tmp_path / "out")[0].scene
    assert scene.extra["road_from"] == "map"
    truth = expected(2.0, ROAD, [ISLAND])
    assert alike(told(scene.drivable), truth), "the island is none of it"
    assert not told(scene.drivable).contains(shapely.Point(expected(2.0, ISLAND).centroid))
    [zebra], [lane] = scene.crossings, scene.lanes
    assert alike(shapely.Polygon(zebra), expected(2.0, ISLAND))
    assert lane.width_m == pytest.approx(3.0, abs=0.02)
    assert lane.line[0] == pytest.approx((0, 0), abs=0.05), "the map is flat, the drive is not"
    assert lane.line[-1] == pytest.approx((40, 20), abs=0.1), "after a quarter to the left"


def test_a_map_cut_short_is_named(tmp_path):
    write_nuscenes(tmp_path)
    (tmp_path / "maps").mkdir()
    content = nuscenes_map()
    content["node"] = content["node"][5:]
    (tmp_path / "maps" / "singapore-onenorth.json").write_text(json.dumps(content))
    with pytest.raises(
        InputError, match=r"singapore-onenorth.json: expected a map expansion .*without a map"
    ):
        next(iter(open_reader("nuscenes", tmp_path, {}).recordings()))()


def test_without_a_map_no_road_is_told(tmp_path):
    write_nuscenes(tmp_path)
    assert next(iter(open_reader("nuscenes", tmp_path, {}).recordings()))().road is None
