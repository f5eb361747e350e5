"""A road told in scene.json: what is wrong with it is named, with the scene, the field and what was expected."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import shapely

from cfgen.core.errors import InputError
from cfgen.core.paths import scenarios_dir
from cfgen.geometry.polygons import crossing_edges, distance
from cfgen.perception.networks import RoadNet
from cfgen.scenes.check import check_scene
from cfgen.scenes.folder import load_scene
from cfgen.scenes.show import write_page

STRIP = [[-20, -4], [90, -4], [90, 4], [-20, 4]]


def scene_with(tmp_path: Path, **told) -> Path:
    folder = tmp_path / f"s{len(list(tmp_path.iterdir()))}"
    shutil.copytree(scenarios_dir() / "scenes" / "rural_day_01", folder)
    content = json.loads((folder / "scene.json").read_text())
    (folder / "scene.json").write_text(json.dumps(content | told))
    return folder


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (
            {"drivable": [[[0, -4], [9, 4], [9, -4], [0, 4]]]},
            r"drivable\.0: .* cross itself, found .*point 0 .*point 2",
        ),
        (
            {"drivable": [STRIP], "crossings": [[[5, -4], [9, 4], [9, -4], [5, 4]]]},
            r"crossings\.0: .*cross itself",
        ),
        (
            {"drivable": [[[420, 540], [470, 270], [500, 270], [560, 540]]]},
            r"drivable: .*metres .*found .*m away: pixels",
        ),
        (
            {"drivable": [[[7000.5, -80], [7000, 80], [7100, 80]]]},
            r"found the nearest area 7000 m away: another frame",
        ),
        ({"drivable": [[[0, 0], [9, 0]]]}, r"drivable\.0.*at least 3"),
        ({"drivable": [[[0, 0], [9, 0], [9]]]}, r"drivable\.0\.2"),
        ({"drivable": "road.png"}, r"drivable"),
        ({"lanes": [{"line": [[0, 0]], "width_m": 3.5}]}, r"lanes\.0\.line.*at least 2"),
        ({"lanes": [{"line": [[0, 0], [9, 0]], "width_m": 350}]}, r"lanes\.0\.width_m.*20"),
        ({"road_from": "guess"}, r"road_from.*annotated.*map"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, told, message):
    with pytest.raises(InputError, match=rf"scene\.json: .*{message}"):
        load_scene(scene_with(tmp_path, **told))


def test_what_touches_itself_around_an_island_is_right(tmp_path):
    island = [
        [-20, -4],
        [10, -1],
        [12, -1],
        [12, 1],
        [10, 1],
        [10, -1],
        [-20, -4],
        [90, -4],
        [90, 4],
        [-20, 4],
    ]
    assert load_scene(scene_with(tmp_path, drivable=[island])).scene.drivable
    assert load_scene(scene_with(tmp_path, drivable=[])).scene.drivable == ()


@pytest.mark.parametrize("seed", range(40))
def test_crossing_edges_and_distance_are_shapelys(seed):
    points = np.random.default_rng(seed).uniform(-9, 9, (4 + seed % 5, 2)) + np.array([0, seed % 3 * 12])
    polygon = shapely.Polygon(points)
    assert (crossing_edges(points) is None) == polygon.is_valid
    if polygon.is_valid:
        assert distance(points) == pytest.approx(polygon.distance(shapely.Point(0, 0)), abs=1e-4)


def test_a_road_that_the_picture_does_not_show_is_told_of_and_drawn(tmp_path):
    folder = scene_with(tmp_path)
    assert check_scene(folder, RoadNet())[1] == []
    content = json.loads((folder / "scene.json").read_text())
    aside = [[[x, y + 6.5] for x, y in area] for area in content["drivable"]]
    (folder / "scene.json").write_text(json.dumps(content | {"drivable": aside}))
    aside_fault, no_road = check_scene(folder, RoadNet())[1]
    assert (aside_fault.level, aside_fault.where) == ("warning", "drivable")
    assert "0% of both is shared (at least 30%)" in aside_fault.what
    assert no_road.what.endswith("as the scene's 'drivable' says")
    write_page(folder, tmp_path / "page.html", quiet=True)
    page = (tmp_path / "page.html").read_text()
    assert page.count('stroke="#3d7bff"') >= 3, "its border and its lanes"
    assert "annotated road (blue" in page
