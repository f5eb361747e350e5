"""What the demo scenes tell of their roads: as the tool makes it, around the path, lanes where cars drive."""

import json
from pathlib import Path

import numpy as np
import pytest
import shapely

from cfgen.scenes.folder import load_scene
from tools.demo_scenes.road_map import KEYS, road_map
from tools.demo_scenes.scenes import SCENES

FOLDER = Path(__file__).resolve().parents[2] / "scenarios" / "scenes"


@pytest.fixture(params=sorted(SCENES))
def scene(request: pytest.FixtureRequest):
    return load_scene(FOLDER / request.param).scene


def test_scene_json_tells_what_the_tool_makes():
    for name, spec in SCENES.items():
        content = json.loads((FOLDER / name / "scene.json").read_text())
        assert {key: content[key] for key in KEYS} == json.loads(json.dumps(road_map(spec))), name


def test_the_car_drives_in_a_lane_of_its_own_direction(scene):
    road = shapely.union_all([shapely.Polygon(area) for area in scene.drivable])
    path = np.array([pose for motion in (scene.history, scene.future) for pose in motion.poses])
    path = path[path[:, 0] < 110]
    body = shapely.LineString(path[:, :2]).buffer(0.9, cap_style="flat")
    assert shapely.difference(body, road).area < 0.1
    own = min(scene.lanes, key=lambda lane: shapely.LineString(lane.line).distance(shapely.Point(0, 0)))
    line = shapely.LineString(own.line)
    assert own.use == "traffic"
    assert max(line.distance(shapely.Point(p[:2])) for p in path) < 0.3
    assert line.project(shapely.Point(path[-1, :2])) > line.project(shapely.Point(0, 0))


def test_lanes_lie_on_the_road_and_vehicles_in_lanes_that_go_their_way(scene):
    road = shapely.union_all([shapely.Polygon(area) for area in scene.drivable])
    lanes = [(lane, shapely.LineString(lane.line)) for lane in scene.lanes]
    for lane, line in lanes:
        area = line.buffer(lane.width_m / 2, cap_style="flat")
        assert shapely.difference(area, road).area < 0.01 * area.area
    for car in scene.traffic:
        at = shapely.Point(car.x, car.y)
        if not road.contains(at) or car.x > 115:
            continue
        lane, line = min(lanes, key=lambda pair: pair[1].distance(at))
        s = line.project(at)
        ahead = np.subtract(line.interpolate(s + 0.5).coords, line.interpolate(s - 0.5).coords)[0]
        assert line.distance(at) < 0.6
        assert ahead @ (np.cos(car.theta), np.sin(car.theta)) > 0.9 * np.hypot(*ahead)
        assert (lane.use == "parking") == (car.v == 0) or line.length < 40


def test_crossings_lie_across_the_road(scene):
    road = shapely.union_all([shapely.Polygon(area) for area in scene.drivable])
    for crossing in map(shapely.Polygon, scene.crossings):
        assert 30 < crossing.area < 60
        assert shapely.difference(crossing, road).area < 0.5
