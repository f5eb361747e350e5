"""Networks from files: what they see, and every way in which a file can be wrong, as one line before work begins."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.core.hashing import hash_bytes
from cfgen.models.files import FILES
from cfgen.perception import networks, road_users
from cfgen.perception.networks import Layout, RoadNetwork, _whole
from cfgen.perception.registry import create_perceiver
from tests.benches import build_arguments, run
from tests.perception.seeing import view_of
from tests.perception.tiny_onnx import tiny_onnx

LAYOUT = Layout((64, 36), "road", "lanes")
#: Road where it is not blue, lines where it is bright.
TINY = {
    "road": (((0, 0, 0), (0, 0, -4.0)), (0.0, 2.0)),
    "lanes": (((0, 0, 0), (1.0, 1.0, 1.0)), (2.7, 0.0)),
}


def picture() -> np.ndarray:
    image = np.full((90, 160, 3), 90, np.uint8)
    image[:40] = (120, 160, 240)
    image[50:, 70:76] = 255
    return image


def test_a_network_sees_what_its_weights_say():
    network = RoadNetwork("tiny", tiny_onnx(LAYOUT.size, TINY), LAYOUT, "")
    view = view_of(network, picture())
    assert view.is_road(np.array([[10, 60], [10, 20], [73, 70]])).tolist() == [True, False, True]
    assert view.is_lane_line(np.array([[73, 70], [10, 60]])).tolist() == [True, False]
    assert view.things is None


def test_likely_road_between_sure_road_is_sure_but_not_what_stands_there():
    """As a network that is sure of less than it finds likely; the export drew the road's far end in by a row."""
    sure, likely = np.zeros((60, 100), bool), np.zeros((60, 100), bool)
    likely[20:], sure[26:] = True, True
    sure[40:44, 20:26] = False  # a shadow
    sure[40:44, 60:66] = likely[40:44, 60:66] = False  # a box
    sure[30:58, 80:] = False  # a verge, too wide a gap
    road = _whole(sure, likely)
    assert road[40:44, 20:26].all()
    assert not road[40:44, 60:66].any()
    assert not road[38:50, 90:].any()
    assert np.flatnonzero(road[:, 40])[0] == 25


def test_paint_is_road_only_where_a_network_leaves_it_out():
    """Blue ground is no road here; the line on it, two cells from road, is for a network that is read at one half."""
    image = np.full((36, 64, 3), 90, np.uint8)
    image[:, :20] = (90, 90, 250)
    image[:, 17:19] = (255, 255, 255)
    weights = {**TINY, "road": (((0, 0, 0), (0, 0, -9.0)), (0.0, 5.0))}
    plain, sure = (
        view_of(RoadNetwork("tiny", tiny_onnx(LAYOUT.size, weights), layout, ""), image)
        for layout in (LAYOUT, replace(LAYOUT, road_margin=0.5))
    )
    assert plain.lanes[10, 17]
    assert sure.lanes[10, 17]
    assert plain.road[10, 17]
    assert not sure.road[10, 17]
    assert not sure.likely[10, 17]


WRONG = {
    "another output": (tiny_onnx(LAYOUT.size, {"depth": TINY["road"]}), "found depth"),
    "more classes": (
        tiny_onnx(LAYOUT.size, {**TINY, "road": (((0, 0, 0),) * 3, (0, 0, 0))}),
        "found road 1 x 3 x 36 x 64",
    ),
    "cut short": (tiny_onnx(LAYOUT.size, TINY)[:-60], "cannot read"),
    "a web page": (b"<html>not found</html>", "cannot read (22 bytes)"),
    "empty": (b"", "cannot read (0 bytes)"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_file_that_does_not_serve_is_one_line(kind, capfd):
    data, said = WRONG[kind]
    with pytest.raises(InputError) as error:
        RoadNetwork("tiny", data, LAYOUT, "get it with: cfgen models get tiny")
    assert said in str(error.value)
    assert "perception 'tiny': expected an ONNX file with outputs road 1 x 2 x 36 x 64" in str(error.value)
    assert str(error.value).endswith("get it with: cfgen models get tiny")
    assert capfd.readouterr().err == "", "OpenCV is silent"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CFGEN_MODELS", str(tmp_path / "models"))
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


@pytest.mark.parametrize(
    "kind", ["none", "nowhere", "cut short", "another", "unreadable", "folder", "kept cut short"]
)
def test_a_build_with_a_bad_file_writes_nothing(real, folder, tmp_path, monkeypatch, capfd, kind):
    file, out = tmp_path / "mine.onnx", tmp_path / "b"
    file.write_bytes({"cut short": b"\x08\x08" * 400}.get(kind, b"something else"))
    option = {"none": None, "kept cut short": None, "nowhere": "nowhere.onnx", "folder": str(folder)}
    path = option.get(kind, str(file))
    if kind == "unreadable":  # the right hash, but cv2.dnn has changed its mind about it
        monkeypatch.setitem(networks.TWINLITENET, hash_bytes(file.read_bytes()), LAYOUT)
    if kind == "kept cut short":
        FILES["twinlitenet"].place.write_bytes(b"short")
    more = [] if path is None else ["--perception-options", f"path={path}"]
    code, _, err = run(*build_arguments(real, out, 5, "--perception", "twinlitenet", *more))
    assert code == 2
    assert len(err.splitlines()) == 1, err
    assert "perception 'twinlitenet'" in err
    assert "expected" in err
    assert "found" in err
    assert err.strip().endswith(
        "get it with: cfgen models get twinlitenet (--from FILE where you have it already)"
    )
    assert not out.exists()
    assert capfd.readouterr().err == ""


def test_the_kept_file_is_taken_where_none_is_named(models, folder, monkeypatch):
    data = (models / "twinlitenet.onnx").read_bytes()
    monkeypatch.setattr("cfgen.perception.networks.kept", lambda *_: models / "twinlitenet.onnx")
    assert create_perceiver("twinlitenet").identity["weights"] == hash_bytes(data)


def test_who_finds_things_is_known_by_name():
    assert create_perceiver("road-net").identity.keys() == {"weights", "things", "reading"}
    assert create_perceiver("road-net", {"things": ""}).identity.keys() == {"weights", "reading"}
    with pytest.raises(InputError, match=r"'things': expected fastestdet, or nothing .*found 'yolo'"):
        create_perceiver("road-net", {"things": "yolo"})


def test_a_damaged_file_that_came_with_cfgen_is_one_line(tmp_path, monkeypatch):
    cut = tmp_path / "fastestdet.onnx"
    cut.write_bytes(road_users.FASTESTDET.read_bytes()[:5000])
    monkeypatch.setattr(road_users, "FASTESTDET", cut)
    with pytest.raises(
        InputError, match=r"fastestdet.onnx: expected sha256:31cb.*5000 bytes; install cfgen again"
    ):
        create_perceiver("road-net")


def test_vehicles_are_found_near_and_far_the_same_each_time(models, real):
    image = cv2.imread(str(real / "images" / "carnd_test1.jpg"))[:, :, ::-1].copy()
    perceiver = create_perceiver("twinlitenet", {"path": str(models / "twinlitenet.onnx")})
    view = view_of(perceiver, image)
    assert set(perceiver.identity) == {"weights", "things"}
    assert view_of(perceiver, image).things == view.things
    cars = [t for t in view.things if t.kind == "car"]
    # the black and the white car to the right, by hand
    for u, v in ((868, 430), (1180, 425)):
        assert any(t.box[0] < u < t.box[2] and t.box[1] < v < t.box[3] for t in cars)
    assert all(0 <= t.box[0] < t.box[2] < 1280 and 0 <= t.box[1] < t.box[3] < 720 for t in view.things)
