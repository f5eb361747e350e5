"""A frame that shows no road is refused once, in words, by the check of scenes and by the build."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from cfgen.benchmark.context import BuildContext
from cfgen.core.files import read_image
from cfgen.perception import no_road
from cfgen.perception.camera import TOLD, Clue, doubts, fit_camera, why_unsure
from cfgen.perception.clear_ground import ColourGround
from cfgen.perception.no_road import NO_CLEAR, NO_ROAD, why_no_road, why_not_a_road_picture
from cfgen.perception.view import SceneView, Thing
from cfgen.perception.views import Views
from cfgen.storage.store import Store
from tests.benches import run
from tests.hazards import drawn


def seen(road: np.ndarray, **extra) -> str:
    view = SceneView(road, road & False, (640, 400), None, {"name": "drawn"})
    return why_no_road(view, drawn.CAMERA, extra)


def test_road_before_the_car_is_enough_and_its_lack_is_told():
    rows, cols = np.mgrid[:40, :64]
    assert seen((rows > 20) & (np.abs(cols - 32) < rows - 18)) == ""
    assert seen(rows < 0) == (
        f"{NO_ROAD}: 0.0% of what lies before the car is road (expected at least 2%), as perception 'drawn' sees it"
    )
    beside = (rows > 25) & (cols < 15)
    assert "0.0% of what lies before the car" in seen(beside)
    specks = (rows % 8 == 0) & (cols % 8 == 0)
    assert "of what lies before the car is road" in seen(specks)
    assert "lies above the horizon: upside down" in seen((rows < 25) & (cols > 20) & (cols < 44))


def test_traffic_that_covers_the_road_is_told_as_that():
    none = np.zeros((40, 64), bool)
    cars = (Thing("car", (150.0, 190.0, 480.0, 390.0), 0.9), Thing("car", (480.0, 190.0, 630.0, 330.0), 0.9))
    view = SceneView(none, none, (640, 400), cars, {"name": "drawn"})
    assert why_no_road(view, drawn.CAMERA).startswith(
        "no clear ground: vehicles ahead cover 100% of what lies"
    )
    people = tuple(replace(car, kind="person") for car in cars)
    assert why_no_road(replace(view, things=people), drawn.CAMERA).startswith(NO_ROAD)


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({}, True),
        ({"many": 13}, False),
        ({"wide": 15.0}, False),
        ({"high": 6.0}, False),
        ({"road": 26}, False),
    ],
)
def test_vehicles_all_over_with_little_road_between_them_are_a_car_park_or_a_jam(change, refused):
    """Bays that face the camera: an aisle's end before the car, and cars beside each other over the whole width."""
    many, wide, high, last = ({"many": 15, "wide": 30.0, "high": 30.0, "road": 36} | change).values()
    rows, _ = np.mgrid[:40, :64]
    cars = tuple(Thing("car", (42.0 * k, 180.0 - high, 42.0 * k + wide, 180.0), 0.9) for k in range(many))
    view = SceneView(rows >= last, rows < 0, (640, 400), cars, {"name": "drawn"})
    why = why_no_road(view, drawn.CAMERA)
    assert why.startswith(NO_CLEAR) is refused
    assert ("a car park, or a jam" in why) is refused
    assert bool(why) is refused


def test_who_saw_a_road_at_the_import_is_named_where_another_looks():
    none = np.zeros((40, 64), bool)
    assert seen(none, camera_from={"seen_by": "other"}).endswith(
        "as perception 'drawn' sees it; the scene was imported with other: try --perception other"
    )
    assert seen(none, camera_from={"seen_by": "drawn"}) == seen(none, camera_from="by hand") == seen(none)


def test_no_road_is_told_before_a_guessed_camera():
    black = {("front", 0.0): pictures()["black"]}
    guess = fit_camera(drawn.CAMERA, [], (Clue("pitch", 0.0, 0.06), Clue("height", 1.5, 0.2)))
    scene = drawn.scene(10.0).model_copy(update={"extra": {TOLD: doubts(guess)}})
    assert why_unsure(scene.extra)
    context = SimpleNamespace(views=Views.of(ColourGround()), _no_road={})
    assert BuildContext.no_road(context, scene, black).startswith(NO_ROAD)


def pictures() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    sky = np.linspace(250, 150, 480)[:, None, None] * np.array([0.6, 0.8, 1.0])
    return {
        "black": np.zeros((480, 640, 3), np.uint8),
        "sky": np.broadcast_to(sky, (480, 640, 3)).astype(np.uint8),
        "noise": rng.integers(0, 256, (480, 640, 3), np.uint8),
    }


@pytest.fixture
def scenes(real, tmp_path):
    """Three scenes of a real drive; the frame of one shows the road, the others something else."""
    source, made = real / "udacity_hmb3" / "scenes", tmp_path / "scenes"
    names = ("hmb3_01420", "hmb3_02500", "hmb3_02919")  # of a level road
    for name in names:
        shutil.copytree(source / name, made / name)
    first, *others = sorted(made.iterdir())
    guess = fit_camera(drawn.CAMERA, [], (Clue("pitch", 0.0, 0.06), Clue("height", 1.5, 0.2)))
    for path, kind in zip(others, ("black", "noise"), strict=True):
        cv2.imwrite(str(path / "frame.jpg"), pictures()[kind])
        told = json.loads((path / "scene.json").read_text())
        told[TOLD] = doubts(guess)  # that there is no road is what matters all the same
        (path / "scene.json").write_text(json.dumps(told))
    return made, first.name


def test_check_says_it_first_and_the_build_refuses_the_scene_once(models, scenes, tmp_path):
    folder, good = scenes
    eyes = ["--perception", "twinlitenet", "--perception-options", f"path={models / 'twinlitenet.onnx'}"]
    code, out, _ = run("scenes", "check", folder, "--quiet", *eyes)
    assert code == 1
    errors = [line for line in out.splitlines() if line.startswith("error")]
    assert len(errors) == 2
    assert all(
        f"frame.jpg: {NO_ROAD}: 0." in e and "as perception 'twinlitenet' sees it" in e for e in errors
    )
    assert "2 unusable; road seen by: twinlitenet" in out

    bench = tmp_path / "b"
    code, out, err = run(
        *("build", "--n", "4", "--scenes", folder, "--seed", "7", "--out", bench, "--quiet", "--jobs", "1"),
        *eyes,
    )
    store = Store(bench)
    refused = [r for r in store.rejections() if r.reason.startswith(NO_ROAD)]
    assert {r.scene_id for r in refused} == {p.name for p in folder.iterdir()} - {good}
    assert all(p.round == 0 for p in store.planned if p.case_id in {r.case_id for r in refused})
    told = json.loads((bench / "build.json").read_text())
    assert set(told["unusable_scenes"]) == {r.scene_id for r in refused}
    assert told["perception"] == "twinlitenet"
    assert sum(f"left out: {NO_ROAD}" in line for line in err.splitlines()) == 2
    assert code == 0, (out, err)


ROAD_SCENES = Path(__file__).parents[2] / "scenarios" / "scenes"


@pytest.mark.parametrize("name", ["rural_day_01", "arterial_day_02", "arterial_dusk_03"])
def test_a_road_by_day_or_at_night_is_a_road_and_black_or_a_room_is_none(name):
    frame = read_image(ROAD_SCENES / name / "frame.jpg")
    assert why_not_a_road_picture(frame) == why_not_a_road_picture(frame // 12) == ""
    assert "is black" in why_not_a_road_picture(frame // 20)
    room = np.full((360, 640, 3), (205, 190, 170), np.uint8)
    room[250:] = (150, 110, 80)
    room[60:200, 80:260] = (90, 120, 150)
    cv2.rectangle(room, (330, 150), (610, 330), (60, 50, 45), -1)
    cv2.rectangle(room, (40, 260), (300, 350), (160, 40, 40), -1)
    assert "cfgen's own network takes" in why_not_a_road_picture(room)


@pytest.mark.parametrize(
    ("change", "sure", "own_lines", "refused"),
    [
        ({}, 0.55, False, True),
        ({}, 0.8, False, False),
        ({}, 0.55, True, False),
        ({}, 0.35, True, True),
        ({"things": (Thing("car", (300.0, 160.0, 340.0, 190.0), 0.9),)}, 0.55, False, False),
        ({"lanes": np.tile(np.arange(160) % 40 == 0, (90, 1))}, 0.55, False, False),
    ],
)
def test_water_and_sand_that_somebody_takes_for_road(monkeypatch, change, sure, own_lines, refused):
    """No lane line and no vehicle, and our own network doubts it."""
    rows, columns = np.mgrid[:90, :160]
    none = rows < 0
    view = replace(SceneView(rows > 45, none, (640, 360), (), {}), **change)
    logits = np.where(columns // 10 == 6, 3.0, np.log(sure / (1 - sure)))
    lines = np.where(own_lines & (columns % 40 == 0), 1.0, -1.0)
    network = SimpleNamespace(logits=lambda pictures: [(logits, lines)])
    monkeypatch.setattr(no_road, "_own_network", lambda: network)
    shore = np.full((360, 640, 3), (190, 195, 200), np.uint8)
    assert ("no lane line, no vehicle" in why_not_a_road_picture(shore, view)) is refused
    assert why_not_a_road_picture(shore) == "", "nobody who tells lane lines looked"


def test_colour_is_named_as_the_weaker_test(bench):
    told = json.loads((bench / "build.json").read_text())
    assert told["perception"].startswith("colour (the weaker test")
    assert run("report", bench, "--out", bench.parent / "seen")[0] == 0
    page = (bench.parent / "seen" / "index.html").read_text()
    assert "road mask by colour (the weaker test: it guesses the road from its colour)" in page
