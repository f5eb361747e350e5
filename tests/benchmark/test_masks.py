"""``cfgen build --masks --detector``: the real classes on tiny random weights, from command line to record."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cfgen.core.files import read_image
from cfgen.core.paths import scenarios_dir
from cfgen.storage.store import Store
from tests import tiny_masks
from tests.benches import run, tree

pytest.importorskip("torch", reason='needs pip install ".[sam]"')


@pytest.fixture(scope="module")
def scenes(tmp_path_factory) -> Path:
    """Two demo scenes at half size with one past frame each, so that a case stays quick."""
    folder = tmp_path_factory.mktemp("scenes")
    for name in ("arterial_day_02", "lane_day_01"):
        shutil.copytree(scenarios_dir() / "scenes" / name, folder / name)
        for frame in folder.glob(f"{name}/**/*.jpg"):
            with Image.open(frame) as picture:
                half = picture.resize((picture.width // 2, picture.height // 2))
            half.save(frame, quality=92)
        file = folder / name / "scene.json"
        scene = json.loads(file.read_text())
        scene["history_images"] = [None] * 6 + ["hist/06.jpg", None]
        scene["width"], scene["height"] = scene["width"] // 2, scene["height"] // 2
        lens = scene["intrinsics"]
        lens["fx"], lens["fy"] = lens["fx"] / 2, lens["fy"] / 2
        lens["cx"], lens["cy"] = lens["cx"] / 2 - 0.25, lens["cy"] / 2 - 0.25
        file.write_text(json.dumps(scene))
    return folder


@pytest.fixture
def checkpoint(tmp_path, monkeypatch) -> Path:
    import segment_anything

    monkeypatch.setitem(segment_anything.sam_model_registry, "tiny", tiny_masks.build_tiny_sam)
    return tiny_masks.tiny_sam(tmp_path / "tiny.pth")


def arguments(scenes: Path, out: Path, *more) -> list:
    fixed = [
        "build",
        "--n",
        2,
        "--scenes",
        scenes,
        "--seed",
        5,
        "--jobs",
        1,
        "--quiet",
        "--out",
        out,
        "--decel-band",
        "1,6",
    ]
    return [*fixed, "--hazards", "cone_line,work_barrier", *more]


def masks(checkpoint: Path, *more) -> list:
    options = (f"checkpoint={checkpoint}", "model_type=tiny", *more)
    return ["--masks", "segment-anything", *(part for o in options for part in ("--masks-options", o))]


def test_a_build_with_masks_ends_resumes_and_says_what_it_used(scenes, checkpoint, tmp_path):
    out = tmp_path / "b"
    command = arguments(scenes, out, *masks(checkpoint, "min_score=-1"))
    code, _, err = run(*command)
    assert code in (0, 1), err
    made = tree(out, "cases/**/*", "rejected/**/*.json", "benchmark.json", "plan.jsonl")
    store = Store(out)
    assert store.benchmark.masks == "segment-anything"
    for case in store.cases():
        told = case.provenance.report["segmenter"]
        assert told["weights"].startswith("sha256:")
        assert (told["name"], told["model"], told["options"]["min_score"]) == ("segment-anything", "tiny", -1)
        assert 0 <= case.provenance.report["masks"]["hidden"] <= 0.5
        assert "detector" not in case.provenance.report
        folder = store.case_dir(case.case_id)
        original, after, mask = (read_image(folder / f"{n}.png") for n in ("original", "augmented", "mask"))
        assert np.array_equal(original[mask == 0], after[mask == 0])
    done = [*store.root.glob("cases/*/*"), *store.root.glob("rejected/*")]
    assert len(done) >= 2
    shutil.rmtree(done[0])
    assert run(*command)[0] == code
    assert tree(out, "cases/**/*", "rejected/**/*.json", "benchmark.json", "plan.jsonl") == made
    assert run("bench", "verify", out)[0] == 0
    other = arguments(scenes, out)
    code, _, err = run(*other)
    assert code == 2
    assert "was built with masks = segment-anything, now asked for" in err


def test_the_detector_is_a_gate_with_its_values_on_record(scenes, tmp_path):
    dino = tiny_masks.tiny_grounding_dino(tmp_path / "dino")
    options = ("--detector", "grounding-dino", "--detector-options", f"model={dino}")
    code, text, err = run(*arguments(scenes, tmp_path / "b", *options, "--attempts", 1))
    assert code == 1, err
    assert "detected" in text
    tried = [a for r in Store(tmp_path / "b").rejections() for a in r.attempts if a.gates]
    assert tried
    for attempt in tried:
        gates = {g.gate: g for g in attempt.gates}
        more = {"detected_inside", "detected_size"} if gates["detected"].passed else set()
        assert {g for g in gates if g.startswith("detected")} == {"detected", *more}
        assert {"outside-mask", "seam"} <= set(gates)
        assert gates["detected"].bound == ">= 0.3"
    assert tree(tmp_path / "b", "rejected/*/augmented.png"), "the refused picture can be looked at"
