"""Detectors from ONNX files: what their heads mean, what is judged and refused, and files that do not serve."""

import math

import cv2
import numpy as np
import pytest

from cfgen import open_benchmark
from cfgen.benchmark.detector_gates import classes_of, recognized, window
from cfgen.benchmark.masks import MaskPipeline
from cfgen.core.errors import InputError
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.inpaint.edit import make_edits
from cfgen.perception.box_network import COCO
from cfgen.perception.detection import Detection, create_detector
from cfgen.perception.onnx_detector import OnnxDetector
from tests.benches import build_arguments, run
from tests.benchmark.painted import job_of, placed
from tests.benchmark.truth import Repaint
from tests.hazards import drawn
from tests.perception.tiny_onnx import tiny_onnx
from tests.perception.tiny_yolox import tiny_yolox

TAXONOMY = load_taxonomy()
#: a real car of that picture, boxed by eye
CAR = ("carnd_test1.jpg", (827.0, 410.0, 938.0, 493.0))


@pytest.fixture
def yolox(tmp_path):
    path = tmp_path / "yolox.onnx"
    path.write_bytes(tiny_yolox(96, math.log(4.0), math.log(3.0)))
    return OnnxDetector(str(path), side=96)


@pytest.mark.parametrize(("shape", "scale"), [((96, 96), 1), ((192, 384), 4), ((48, 24), 0.5)])
def test_a_box_of_yolox_is_where_its_cell_says(yolox, shape, scale):
    # one cell of the grid of 16 pixels, the second from the left and the third from the top, is red
    image = np.zeros((*shape, 3), np.uint8)
    x, y = round(16 * scale), round(32 * scale)
    image[y : y + round(16 * scale), x : x + round(16 * scale)] = (255, 0, 0)
    [(kind, found)] = yolox.see(image)
    middle = np.array([(1 + 0.25) * 16, (2 + 0.5) * 16]) * scale
    half = np.array([16 * 4.0, 16 * 3.0]) / 2 * scale
    expected = np.clip([*(middle - half), *(middle + half)], 0, [shape[1] - 1, shape[0] - 1] * 2)
    assert kind == "car"
    assert found.box == pytest.approx(tuple(expected), abs=0.1)
    assert found.score == pytest.approx(1.0, abs=0.15)  # a picture scaled up bleeds over the cell


def test_only_what_is_asked_for_is_told_and_each_thing_once(yolox):
    image = np.zeros((96, 96, 3), np.uint8)
    image[32:48, 16:48] = (255, 0, 0)  # two cells, whose boxes share most of themselves
    assert len(yolox.detect(image, "car, truck")) == 1
    assert yolox.detect(image, "person") == []
    assert len(yolox.detect(image, "")) == 1


def test_a_real_detector_sees_a_real_car_in_a_window(models, real):
    detector = create_detector("onnx")
    image = cv2.imread(str(real / "images" / CAR[0]))[..., ::-1]
    x0, y0, x1, y1 = window(CAR[1], image.shape)
    seen = detector.see(np.ascontiguousarray(image[y0:y1, x0:x1]))
    assert seen[0][0] == "car"
    assert dict(detector.options) == {"head": "fastestdet", "side": 352, "threshold": 0.6}


class Seer:
    """Sees what it is told where it is told, in the whole picture."""

    name, classes, threshold, options, identity = "seer", COCO, 0.5, {}, {}

    def __init__(self, *seen):
        self.seen = seen

    def see(self, image):
        return [(kind, Detection(box, score)) for kind, score, box in self.seen]

    def detect(self, image, text):
        raise AssertionError("asked by name")


LARGE, SMALL = (40.0, 20.0, 80.0, 70.0), (40.0, 20.0, 60.0, 50.0)
FRAME = np.zeros((96, 96, 3), np.uint8)  # as large as the window, so that boxes are those of the picture


@pytest.mark.parametrize(
    ("hazard", "box", "seen", "passed", "value", "said"),
    [
        ("car_stopped", LARGE, [("car", 0.8, LARGE)], True, 0.8, ""),
        ("car_stopped", LARGE, [("truck", 0.7, LARGE)], True, 0.7, ""),
        (
            "car_stopped",
            LARGE,
            [("dog", 0.7, LARGE)],
            False,
            0.0,
            "sees no car or truck or bus in it; it sees a dog",
        ),
        ("car_stopped", LARGE, [], False, 0.0, "sees no car"),
        ("car_stopped", LARGE, [("car", 0.9, (0.0, 0.0, 30.0, 40.0))], False, 0.0, "sees no car"),
        ("car_stopped", LARGE, [("car", 0.9, (0.0, 0.0, 95.0, 95.0))], True, 0.9, ""),
        ("car_stopped", SMALL, [], True, 0.0, "sees no car"),
        ("deer", LARGE, [("bench", 0.9, LARGE)], True, 0.0, "it sees a bench there"),
        ("deer", LARGE, [("horse", 0.6, LARGE)], True, 0.6, ""),
        ("pedestrian_crossing", LARGE, [], False, 0.0, "sees no person"),
        ("pedestrian_fallen", LARGE, [], True, 0.0, "sees no person"),
    ],
)
def test_what_must_be_seen_is_refused_unseen_and_the_rest_is_kept(hazard, box, seen, passed, value, said):
    result = recognized(Seer(*seen), FRAME, box, TAXONOMY.get(hazard))
    assert (result.gate, result.passed, result.value) == ("recognized", passed, value)
    assert said in result.reason
    assert bool(result.reason) == (value == 0)


def test_what_has_no_class_is_not_judged_and_an_own_entry_goes_by_its_name():
    result = recognized(Seer(), FRAME, LARGE, TAXONOMY.get("flooding"))
    assert (result.passed, result.value, result.bound) == (True, None, "not judged")
    own = TAXONOMY.get("flooding").model_copy(update={"name": "Elephant in the lane"})
    assert classes_of(own, Seer()) == ("elephant",)


def test_every_class_that_the_taxonomy_names_is_one_of_cocos():
    named = {c for h in TAXONOMY for c in h.seen_as}
    assert named <= set(COCO)
    assert len(named) > 10
    assert all(h.seen_as for h in TAXONOMY if h.refuse_unseen)


def test_the_gate_is_on_record_for_every_case_and_resumes(real, tmp_path):
    out = tmp_path / "b"
    arguments = build_arguments(real, out, 3, "--detector", "onnx")
    code, _, err = run(*arguments)
    assert code == 0, err
    gates = [g for case in open_benchmark(out) for g in case.record.gates if g.gate == "recognized"]
    assert len(gates) == 3
    assert all(g.passed for g in gates)


WRONG = {
    "another head": (
        lambda: tiny_onnx((96, 96), {"y": (((0, 0, 0),) * 2, (0, 0))}),
        {},
        "the head of FastestDet or YOLOX",
    ),
    "a web page": (lambda: b"<html>", {}, "cv2.dnn cannot read (6 bytes)"),
    "other classes": (lambda: tiny_yolox(96, 0, 0, 20), {}, "tells 20 classes apart, COCO names 80"),
    "a side": (lambda: tiny_yolox(96, 0, 0), {"side": 100}, "multiple of 32, found 100"),
    "a threshold": (lambda: tiny_yolox(96, 0, 0), {"threshold": 3.0}, "expected 0 to 1, found 3"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_file_that_does_not_serve_is_one_line(kind, tmp_path):
    make, options, said = WRONG[kind]
    path = tmp_path / "d.onnx"
    path.write_bytes(make())
    with pytest.raises(InputError) as error:
        OnnxDetector(str(path), **{"side": 96, **options})
    assert said in str(error.value)
    assert "detector 'onnx'" in str(error.value)
    assert "\n" not in str(error.value)


def test_names_of_another_world_are_told_before_anything_is_built(real, tmp_path):
    weights, names, out = tmp_path / "d.onnx", tmp_path / "names.txt", tmp_path / "b"
    weights.write_bytes(tiny_yolox(96, 0, 0, 3))
    names.write_text("Fussgaenger\nRad\nAuto\n")
    options = [f"path={weights}", "side=96", f"names={names}"]
    more = [word for option in options for word in ("--detector-options", option)]
    code, _, err = run(*build_arguments(real, out, 2, "--detector", "onnx", *more))
    assert code == 2
    assert len(err.splitlines()) == 1, err
    assert "names.txt: expected classes by COCO's names" in err
    assert "Fussgaenger".lower() in err
    assert not out.exists()
    names.write_text("person\nbicycle\ncar\n")
    assert classes_of(TAXONOMY.get("car_stopped"), OnnxDetector(str(weights), str(names), 96)) == ("car",)


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(InputError, match=r"detector 'onnx': option 'path': .*leave the option out"):
        OnnxDetector(str(tmp_path / "gone.onnx"))


def test_the_null_edit_is_not_looked_at():
    null = job_of(drawn.road(), TAXONOMY.null, placed(TAXONOMY.null, 15.0, 0.0))
    assert MaskPipeline(None, Seer()).gates(null, make_edits([null], Repaint())[0]) == ()
