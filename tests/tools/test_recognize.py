"""The table of recognition, on inserts and photographs whose sizes and classes are known."""

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from cfgen.core.errors import CfgenError
from cfgen.core.paths import scenarios_dir
from cfgen.geometry.camera import centre
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.perception.detection import Detection
from cfgen.perception.onnx_detector import OnnxDetector
from cfgen.records import Size
from cfgen.scenes.folder import load_scene
from tools.assets import recognize


@pytest.fixture(scope="module")
def scene():
    return load_scene(scenarios_dir() / "scenes" / "rural_day_01")


@pytest.mark.parametrize("height", [30, 120])
def test_a_thing_stands_where_a_pinhole_camera_shows_it_so_high(scene, height):
    hazard, size = load_taxonomy().get("pedestrian_crossing"), Size(length=0.4, width=0.4, height=1.75)
    place = recognize.placed(scene, hazard, size, height, 0)
    camera = scene.scene.front
    assert place.box_px[3] - place.box_px[1] == pytest.approx(height, rel=0.1)
    away = np.hypot(*(np.array([place.x, place.y]) - centre(camera)[:2]))
    assert away == pytest.approx(camera.fy * size.height / height, rel=0.08)


def test_what_would_be_too_near_has_no_place(scene):
    low = Size(length=0.4, width=0.4, height=0.2)
    assert recognize.placed(scene, load_taxonomy().get("cat"), low, 120, 0) is None


def test_a_place_where_something_is_seen_is_taken():
    image = np.zeros((400, 600, 3), np.uint8)

    def seeing(*box):
        return SimpleNamespace(see=lambda part: [("car", Detection(box, 0.9))])

    x0, y0, *_ = recognize.window((300, 200, 340, 260), image.shape)
    on_it, beside = (300 - x0, 200 - y0, 340 - x0, 260 - y0), (10, 10, 20, 20)
    assert recognize._taken(seeing(*on_it), image, (300, 200, 340, 260))
    assert not recognize._taken(seeing(*beside), image, (300, 200, 340, 260))


def test_photographs_are_scaled_until_their_largest_thing_is_so_high(tmp_path):
    for name in ("images", "labels"):
        (tmp_path / name).mkdir()
    picture = np.full((400, 800, 3), 30, np.uint8)
    picture[100:300, 200:300] = 200  # a dog by its label, 200 px high
    cv2.imwrite(str(tmp_path / "images" / "a.jpg"), picture)
    (tmp_path / "labels" / "a.txt").write_text(
        "16 0.3125 0.5 0.125 0.5\n16 0.9 0.9 0.01 0.1\n0 0.5 0.5 0.1 0.1\n"
    )
    [shown] = recognize.photographs(
        tmp_path, [load_taxonomy().get("dog")], [50, 250]
    )  # 250 px would enlarge it
    assert (shown.name, shown.height, shown.hazard.seen_as) == ("photo: dog", 50, ("dog",))
    x0, y0, x1, y1 = (round(v) for v in shown.box)
    assert y1 - y0 == 50
    assert shown.image[y0 + 4 : y1 - 4, x0 + 4 : x1 - 4].min() > 150 > shown.image[: y0 - 4].max()


def test_the_table_counts_each_height_and_all_large_ones(capsys):
    rows = [(30, {"d": False}), (60, {"d": True}), (60, {"d": False}), (90, {"d": True})]
    recognize.table({"dog": rows}, ["d"], [30, 60, 90])
    assert capsys.readouterr().out.splitlines()[1].split() == (
        ["dog", "d", "0.00", "/1", "0.50", "/2", "1.00", "/1", "0.67", "/3"]
    )


def test_collie_and_labrador_are_seen_as_dogs_in_most_scenes(models, monkeypatch):
    """docs/hazards.md has the shares."""
    monkeypatch.setattr(recognize.sprites, "list_variants", lambda _: ["collie", "labrador"])
    detector = OnnxDetector(str(models / "fastestdet.onnx"))
    folders = [load_scene(path) for path in recognize._scenes(None)]
    shown = recognize.inserts(load_taxonomy().get("dog"), folders, [60, 90], [detector])
    seen = [recognize.judged(one, {"d": detector})["d"] for one in shown]
    assert len(seen) >= 20
    assert sum(seen) >= 0.6 * len(seen)


def test_a_model_that_no_hazard_has_is_named():
    with pytest.raises(CfgenError, match="unicorn"):
        recognize._hazards(["dog", "unicorn"])
