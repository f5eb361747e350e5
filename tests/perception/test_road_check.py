"""A frame that shows no road is refused once, in words, by the check of scenes and by the build."""

import json
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.core.files import read_image
from cfgen.perception.camera import TOLD, Clue, doubts, fit_camera
from cfgen.perception.road_check import NO_ROAD, why_no_road, why_not_a_road_picture
from cfgen.perception.view import SceneView
from cfgen.storage.store import Store
from tests.benches import run
from tests.hazards import drawn


def seen(road: np.ndarray) -> str:
    view = SceneView(road, road & False, (640, 400), None, {"name": "drawn"})
    return why_no_road(view, drawn.CAMERA)


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
        *("build", "--n", "2", "--scenes", folder, "--seed", "7", "--out", bench, "--quiet", "--jobs", "1"),
        *eyes,
    )
    assert {p.scene_id for p in Store(bench).planned} == {good}, "the others are not tried"
    told = json.loads((bench / "build.json").read_text())
    assert set(told["unusable_scenes"]) == {p.name for p in folder.iterdir()} - {good}
    assert all(reason.startswith(NO_ROAD) for reason in told["unusable_scenes"].values())
    assert told["perception"] == "twinlitenet; road network in 2 of 2 cases"
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


def test_colour_is_named_as_the_weaker_test(bench):
    told = json.loads((bench / "build.json").read_text())
    assert told["perception"].startswith("colour (the weaker test")
    assert run("report", bench, "--out", bench.parent / "seen")[0] == 0
    page = (bench.parent / "seen" / "index.html").read_text()
    assert "road mask by colour (the weaker test: it guesses the road from its colour)" in page
