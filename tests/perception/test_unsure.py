"""A network that is unsure of a scene's road leaves the scene to colours, and every record says so."""

import json
import shutil

import numpy as np
import pytest

from cfgen.core.paths import scenarios_dir
from cfgen.geometry.camera import project
from cfgen.perception import registry
from cfgen.perception.road_by_colour import ColourGround
from cfgen.perception.view import SceneView, sure_share
from cfgen.perception.views import Views
from cfgen.storage.store import Store
from tests.benches import run
from tests.hazards import drawn

#: Before tests/conftest.py changes it for the other rooms.
_DEFAULT = registry.DEFAULT
HEIGHT, WIDTH = drawn.CAMERA.height, drawn.CAMERA.width
#: Rows of the drawn camera in which the ground 20 m and 45 m ahead lies.
ROW_20, ROW_45 = (int(project(drawn.CAMERA, np.array([[x, 0.0, 0.0]]))[0][0, 1]) for x in (20, 45))


class Eyes:
    """Sees road from a row on down, and likely road from another."""

    name, options, identity, weaker, uses_camera = "eyes", {}, {"version": "1"}, False, False
    backed_by_colours = True

    def __init__(self, sure: int, likely: int) -> None:
        self.sure, self.likely = sure, likely

    def perceive(self, frames):
        rows = np.repeat(np.arange(HEIGHT), WIDTH).reshape(HEIGHT, WIDTH)
        road, likely = rows > self.sure, rows > self.likely
        return [
            SceneView(road, road & False, (WIDTH, HEIGHT), None, {"name": "eyes"}, likely) for _ in frames
        ]


def scene_views(sure: int, likely: int):
    return Views.of(Eyes(sure, likely)).scene(drawn.scene(), {("front", 0.0): drawn.road()})


def test_of_the_path_likely_to_45_m_and_sure_to_20_m_a_third_is_sure():
    """Lanes of equal steps along the road: (20 - 6) of (45 - 6) m, whatever the rows they fill."""
    [view] = Eyes(ROW_20, ROW_45).perceive([None])
    assert sure_share(view, drawn.CAMERA, drawn.path()) == pytest.approx(14 / 39, abs=0.04)


@pytest.mark.parametrize(
    ("sure", "likely", "by"),
    [
        (ROW_45, ROW_45, "eyes"),
        (ROW_20, ROW_45, "colour"),
        (HEIGHT, ROW_45, "colour"),
        # no likely road on the path: something stands there, or there is none, and no colour says otherwise
        (HEIGHT, HEIGHT, "eyes"),
    ],
)
def test_colours_decide_where_it_is_unsure(sure, likely, by):
    views = scene_views(sure, likely)
    assert views.provenance["name"] == by
    assert views.lanes_known == (by == "eyes")
    assert ("within" in views.provenance) == (by == "colour")
    assert views.again(drawn.road()).by["name"] == by
    assert {v.by["name"] for v in views.all().values()} == {by}


def test_colours_decide_only_of_what_is_likely_and_what_is_sure_stays():
    """On a grid of its own; the drawn road's verge is no road by its colour, and rows above ROW_20 not even likely."""
    colour = Views.of(ColourGround()).scene(drawn.scene(), {("front", 0.0): drawn.road()}).now.road
    rows = (np.arange(len(colour)) + 0.5) * HEIGHT / len(colour)
    sure = HEIGHT - 20
    road = scene_views(sure, ROW_20).now.road
    assert road.shape == colour.shape
    between = (rows > ROW_20 + 3) & (rows < sure - 3)
    assert (road[between] == colour[between]).all()
    assert colour[rows < ROW_20 - 3].any()
    assert not road[rows < ROW_20 - 3].any()
    assert road[rows > sure + 3].all()
    assert not colour[rows > sure + 3].all()


def test_others_are_not_backed(monkeypatch):
    monkeypatch.setattr(Eyes, "backed_by_colours", False)
    assert scene_views(HEIGHT, ROW_45).provenance["name"] == "eyes"


@pytest.mark.parametrize(
    ("least", "told", "road"),
    [(0.0, False, "network"), (2.0, False, "color heuristic"), (2.0, True, "annotated")],
)
def test_a_build_by_default_tells_whence_the_road_of_every_case_is_known(
    tmp_path, monkeypatch, least, told, road
):
    monkeypatch.setattr("cfgen.perception.views.SURE", least)
    monkeypatch.setattr("cfgen.perception.registry.DEFAULT", _DEFAULT)
    for name in ("rural_day_01", "street_morning_07"):
        folder = tmp_path / "scenes" / name
        shutil.copytree(scenarios_dir() / "scenes" / name, folder)
        scene = json.loads((folder / "scene.json").read_text())
        unknown = set() if told else {"drivable", "crossings", "lanes"}
        kept = {key: value for key, value in scene.items() if key not in unknown}
        (folder / "scene.json").write_text(json.dumps(kept))
    bench = tmp_path / "b"
    code, out, _ = run(
        *("build", "--n", "1", "--scenes", tmp_path / "scenes", "--out", bench, "--quiet", "--jobs", "1"),
    )
    assert code == 0
    [case] = Store(bench).cases()
    perception = case.provenance.report["perception"]
    assert perception["road"] == case.road_from == road
    assert perception["name"] == ("colour" if road == "color heuristic" else "road-net")
    words = json.loads((bench / "build.json").read_text())["perception"]
    assert words == f"road-net; road {road} in 1 of 1 cases"
    assert words in out
    assert run("bench", "verify", bench)[0] == 0
    (bench / "perception" / perception["file"]).unlink()
    assert run("bench", "verify", bench)[0] == 1
