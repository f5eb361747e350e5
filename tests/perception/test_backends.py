"""The real model classes on tiny random weights: what goes in, what comes out, what is refused."""

import shutil
import sys

import numpy as np
import pytest

from cfgen.core.errors import InputError, MissingExtraError
from cfgen.perception.detection import MaskPrompt, create_detector, create_segmenter
from tests import tiny_masks

pytest.importorskip("torch", reason='needs pip install ".[sam]"')
PICTURE = np.random.default_rng(0).integers(0, 256, (90, 160, 3), dtype=np.uint8)
PROMPTS = [
    MaskPrompt(box=(10.0, 10.0, 50.0, 60.0)),
    MaskPrompt(inside=((5.0, 5.0), (80.0, 40.0))),
    MaskPrompt(box=(10.0, 10.0, 50.0, 60.0), inside=((20.0, 20.0),), outside=((90.0, 50.0),)),
]
SEGMENTERS = ("segment-anything", "sam2", "sam3")
DETECTORS = ("grounding-dino", "sam3")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Checkpoints by kind and name, as options."""
    folder = tmp_path_factory.mktemp("weights")
    patch = pytest.MonkeyPatch()
    import segment_anything

    patch.setitem(segment_anything.sam_model_registry, "tiny", tiny_masks.build_tiny_sam)
    yield {
        "segment-anything": {
            "checkpoint": str(tiny_masks.tiny_sam(folder / "sam.pth")),
            "model_type": "tiny",
        },
        "sam2": {"model": str(tiny_masks.tiny_sam2(folder / "sam2"))},
        "sam3": {"model": str(tiny_masks.tiny_sam3_tracker(folder / "sam3_tracker"))},
        "detector grounding-dino": {
            "model": str(tiny_masks.tiny_grounding_dino(folder / "dino")),
            "threshold": 0.1,
        },
        "detector sam3": {"model": str(tiny_masks.tiny_sam3(folder / "sam3")), "threshold": 0.1},
    }
    patch.undo()


@pytest.mark.parametrize("name", SEGMENTERS)
def test_a_segmenter_gives_masks_of_the_picture_best_first_and_the_same_again(weights, name):
    segmenter = create_segmenter(name, weights[name])
    answers = segmenter.segment(PICTURE, PROMPTS)
    assert [len(segments) for segments in answers] == [3, 3, 3]
    for segments in answers:
        assert all(s.mask.shape == (90, 160) and s.mask.dtype == bool for s in segments)
        scores = [s.score for s in segments]
        assert scores == sorted(scores, reverse=True)
    alone = create_segmenter(name, weights[name]).segment(PICTURE.copy(), PROMPTS[1:2])[0]
    for first, second in zip(answers[1], alone, strict=True):
        assert np.array_equal(first.mask, second.mask)
        assert first.score == second.score
    assert any(not np.array_equal(a.mask, b.mask) for a, b in zip(answers[0], answers[1], strict=True)), (
        "the prompt counts"
    )


@pytest.mark.parametrize("name", SEGMENTERS)
def test_the_picture_counts_and_points_follow_it_to_its_place(weights, name):
    segmenter = create_segmenter(name, weights[name])
    other = 255 - PICTURE
    first = segmenter.segment(PICTURE, PROMPTS[:1])[0][0]
    second = segmenter.segment(other, PROMPTS[:1])[0][0]
    assert first.score != second.score
    again = segmenter.segment(PICTURE, PROMPTS[:1])[0][0]
    assert np.array_equal(first.mask, again.mask), "what is kept of one picture is not used for another"


@pytest.mark.parametrize("name", SEGMENTERS)
def test_half_precision_agrees_and_is_on_record(weights, name):
    exact = create_segmenter(name, weights[name])
    half = create_segmenter(name, {**weights[name], "dtype": "bfloat16"})
    assert (exact.options["dtype"], half.options["dtype"]) == ("float32", "bfloat16")
    assert exact.options["device"] == "cpu"
    by_mask = [
        max((a.mask == b.mask).mean() for b in half.segment(PICTURE, PROMPTS)[0])
        for a in exact.segment(PICTURE, PROMPTS)[0]
    ]
    assert min(by_mask) > 0.9


@pytest.mark.parametrize("name", DETECTORS)
def test_a_detector_in_half_precision_finds_the_same(weights, name):
    options = weights[f"detector {name}"]
    exact, half = (
        create_detector(name, {**options, "dtype": d}).detect(PICTURE, "deer")
        for d in ("float32", "bfloat16")
    )
    assert half
    assert half[0].score == pytest.approx(exact[0].score, abs=0.02)


@pytest.mark.parametrize("name", DETECTORS)
def test_a_detector_gives_boxes_in_the_picture_best_first_and_the_same_again(weights, name):
    detector = create_detector(name, weights[f"detector {name}"])
    found = detector.detect(PICTURE, "Fallen cyclist")
    assert found, "random weights find something at a low threshold"
    for detection in found:
        x0, y0, x1, y1 = detection.box
        assert -160 < x0 < x1 < 320
        assert -90 < y0 < y1 < 180
        assert detector.threshold <= detection.score <= 1
        assert (detection.mask is None) == (name == "grounding-dino")
        assert detection.mask is None or (detection.mask.shape, detection.mask.dtype) == ((90, 160), bool)
    scores = [d.score for d in found]
    assert scores == sorted(scores, reverse=True)
    again = detector.detect(PICTURE.copy(), "Fallen cyclist")
    assert [(d.box, d.score) for d in again] == [(d.box, d.score) for d in found]
    strict = create_detector(name, {**weights[f"detector {name}"], "threshold": 1.0})
    assert strict.detect(PICTURE, "Fallen cyclist") == []


def test_the_weights_are_on_record_and_change_with_the_file(weights, tmp_path):
    tiny = weights["segment-anything"]
    first = create_segmenter("segment-anything", tiny).identity
    assert first["model"] == "tiny"
    assert first["file"] == "sam.pth"
    assert str(tmp_path.parent) not in str(first), "no path of this machine"
    import torch

    torch.manual_seed(9)
    torch.save(tiny_masks.build_tiny_sam().state_dict(), tmp_path / "sam.pth")
    other = create_segmenter("segment-anything", {**tiny, "checkpoint": str(tmp_path / "sam.pth")}).identity
    assert other["weights"] != first["weights"]
    assert create_segmenter("sam2", weights["sam2"]).identity["weights"].startswith("sha256:")


@pytest.mark.parametrize(
    ("create", "name", "package"),
    [
        (create_segmenter, "segment-anything", "torch"),
        (create_segmenter, "segment-anything", "segment_anything"),
        (create_segmenter, "sam2", "torchvision"),
        (create_segmenter, "sam3", "transformers"),
        (create_detector, "grounding-dino", "transformers"),
        (create_detector, "sam3", "torch"),
    ],
)
def test_a_missing_extra_names_the_package_and_the_install_command(monkeypatch, create, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    options = {"checkpoint": "x.pth"} if name == "segment-anything" else {"model": "x"}
    with pytest.raises(MissingExtraError, match=rf"'{package}'.*\.\[sam\]"):
        create(name, options)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("segment-anything", {"checkpoint": "nowhere.pth"}, "expected a file of SAM weights, found none"),
        ("segment-anything", {"model_type": "vit_x"}, "expected one of tiny, vit_b, vit_h, vit_l"),
        ("segment-anything", {"dtype": "int8"}, "'dtype': expected one of"),
        ("segment-anything", {"device": "cuda"}, "sees no GPU"),
        ("segment-anything", {"sparkle": 1}, "sparkle"),
        ("sam2", {"device": "cuda:1"}, "sees no GPU"),
    ],
)
def test_bad_options_are_told_at_once(weights, name, change, message):
    import torch

    if torch.cuda.is_available() and "device" in change:
        pytest.xfail("this machine has a GPU")
    with pytest.raises(InputError, match=message):
        create_segmenter(name, {**weights[name], **change})


def test_files_that_are_no_such_checkpoint_are_named(weights, tmp_path):
    import torch

    garbage, other = tmp_path / "garbage.pth", tmp_path / "other.pth"
    garbage.write_bytes(b"<html>not found</html>")
    torch.save({"image_encoder.pos_embed": torch.zeros(1)}, other)
    tiny = weights["segment-anything"]
    for file in (garbage, other):
        with pytest.raises(InputError, match=f"{file.name}: cannot be read as weights of 'tiny'"):
            create_segmenter("segment-anything", {**tiny, "checkpoint": str(file)}).segment(PICTURE, PROMPTS)
    cut = tmp_path / "cut"
    shutil.copytree(weights["sam2"]["model"], cut)
    model = cut / "model.safetensors"
    model.write_bytes(model.read_bytes()[:1000])
    (tmp_path / "empty").mkdir()
    dino = weights["detector grounding-dino"]["model"]
    for folder, name in ((cut, "sam2"), (tmp_path / "empty", "sam2"), (dino, "sam2")):
        with pytest.raises(InputError, match=f"segmenter '{name}': .*checkpoint"):
            create_segmenter(name, {"model": str(folder)}).segment(PICTURE, PROMPTS)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(
        InputError, match="'sam9' is not known; expected one of: sam2, sam3, segment-anything"
    ):
        create_segmenter("sam9")
    with pytest.raises(InputError, match="expected one of: grounding-dino, onnx, sam3"):
        create_detector("yolo")


def test_a_whole_sam3_as_transformers_saves_it_serves_as_segmenter_and_as_detector(tmp_path):
    """Every weight of both is the one that was saved, none is drawn anew."""
    import torch
    from safetensors.torch import load_file

    whole = tiny_masks.tiny_sam3_whole(tmp_path)
    segmenter = create_segmenter("sam3", {"model": str(whole)})
    detector = create_detector("sam3", {"model": str(whole), "threshold": 0.0})
    assert len(segmenter.segment(PICTURE, PROMPTS)) == 3
    assert detector.detect(PICTURE, "deer")
    saved = load_file(whole / "model.safetensors")
    for made in (segmenter, detector):
        for name, weight in made._model[0].state_dict().items():
            ends = (name.replace("vision_encoder.neck.", ""), name)
            assert any(
                saved[k].shape == weight.shape and torch.equal(saved[k], weight)
                for k in saved
                if k.endswith(ends)
            ), name
