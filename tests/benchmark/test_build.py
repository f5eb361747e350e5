"""The build story on real drives: exact, resumable, self-contained, and clear about what it cannot do."""

import json
import shutil
from pathlib import Path

import cv2
import pytest
from PIL import Image

from cfgen.benchmark.frames import frame_file
from cfgen.benchmark.verifying import Verification
from cfgen.core.files import png_bytes, write_record
from cfgen.core.hashing import hash_image
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store
from tests.benches import build_arguments, copy, kill_when, run, tree


def test_names_and_images_carry_no_hint_of_the_hazard(bench: Path):
    words = ("cone", "barrier", "work", "line", "hazard_")
    for path in (p for p in bench.rglob("*") if ".work" not in p.parts):
        inside = str(path.relative_to(bench)).replace("frames/hazard/", "").lower()
        assert not any(w in inside for w in words), inside
    for path in bench.glob("cases/**/*.png"):
        image = Image.open(path)
        assert image.info == {}
        assert not image.getexif()


def test_pixels_outside_the_mask_are_the_originals(bench: Path):
    from cfgen.core.files import read_image

    for case in Store(bench).cases():
        folder = Store(bench).case_dir(case.case_id)
        original, augmented, mask = (
            read_image(folder / f"{n}.png") for n in ("original", "augmented", "mask")
        )
        assert (original != augmented).any()
        assert (original == augmented)[mask == 0].all()


def test_frames_are_stored_as_what_changed_and_nothing_outside_of_it_does(bench: Path):
    store = Store(bench)
    for case in store.cases():
        folder, scene = store.case_dir(case.case_id), load_scene(store.scene_dir(case.scene_id))
        size, whole = 0, 0
        for name, patch in case.patches.items():
            frame = frame_file(store, case, name).read()
            source = scene.image(next(f for f in scene.scene.frames if f.image == patch.source))
            h, w = cv2.imread(str(folder / patch.file)).shape[:2]
            changed = (frame != source).any(2)
            assert changed.any()
            assert changed.sum() == changed[patch.y : patch.y + h, patch.x : patch.x + w].sum()
            assert hash_image(frame) == patch.whole
            size, whole = size + (folder / patch.file).stat().st_size, whole + len(png_bytes(frame))
        assert case.patches
        assert size < whole / 4
        assert not any(path.name in case.patches for path in folder.rglob("*"))


def test_verify_sees_a_patch_that_gives_another_frame(bench: Path, tmp_path: Path):
    """Its file is whole by its hash, and yet the frame is not: another place, another source."""
    store = Store(copy(bench, tmp_path / "b"))
    case = store.cases()[0]
    name, patch = next(iter(case.patches.items()))
    for change, words in (
        ({"x": patch.x + 1}, "does not give the frame"),
        ({"x": 10_000}, "expected a difference within"),
        ({"source": "frame.gif"}, "cannot be read as a frame"),
    ):
        changed = {**case.patches, name: patch.model_copy(update=change)}
        write_record(store.case_dir(case.case_id) / "case.json", case.model_copy(update={"patches": changed}))
        faults = Verification(store.root).run()
        assert any(words in fault for fault in faults), faults


def test_a_killed_build_goes_on_to_the_same_end(real: Path, bench: Path, tmp_path: Path):
    out = tmp_path / "b"
    arguments = build_arguments(real, out)
    kill_when(arguments, lambda: len(list(out.glob("cases/*/*/case.json"))) >= 2)
    done = len(list(out.glob("cases/*/*/case.json")))
    assert done >= 2
    code, _, _ = run(*arguments)
    assert code == 0
    kept = ("cases/**/*", "rejected/**/*.json", "scenes/**/*", "benchmark.json", "plan.jsonl")
    assert tree(out, *kept) == tree(bench, *kept)
    assert run("bench", "verify", out)[0] == 0


def test_more_cases_can_be_added_later_and_it_says_what_to_do_next(real: Path, bench: Path, tmp_path: Path):
    out = copy(bench, tmp_path / "b")
    before = tree(out, "cases/**/*")
    code, said, _ = run(*build_arguments(real, out, 6))
    assert code == 0
    assert f"6 cases in {out}. Next: score a planner" in said
    assert "cone_line" in said
    after = tree(out, "cases/**/*")
    assert before.items() <= after.items()
    assert len(Store(out).cases()) == 6
    kept = json.loads((out / "build.json").read_text())
    assert kept["environment"]["opencv-python"][0].isdigit(), "what drew and wrote the pictures"
    assert kept["accepted"] == sum(accepted for accepted, _ in kept["acceptance"].values()) == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--seed", "8"), "was built with seed = 7, now asked for 8"),
        (("--n", "4"), "holds a benchmark of n = 5, asked for 4"),
    ],
)
def test_other_settings_in_the_same_folder_are_an_error(real: Path, bench: Path, change, message: str):
    code, _, err = run(*build_arguments(real, bench), *change)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_more_than_the_scenes_allow_is_a_shortfall_with_reasons(real: Path, tmp_path: Path):
    scenes = tmp_path / "scenes"
    for name in ("hmb3_00100", "hmb3_02500"):
        shutil.copytree(real / "udacity_hmb3" / "scenes" / name, scenes / name)
    code, _, err = run(
        "build",
        "--n",
        9,
        "--scenes",
        scenes,
        "--out",
        tmp_path / "b",
        "--hazards",
        "cone_line,work_barrier",
        "--quiet",
    )
    assert code == 1
    assert "of 9 cases" in err
    pairs = {(c.scene_id, c.hazard.id) for c in Store(tmp_path / "b").cases()}
    assert len(pairs) == len(Store(tmp_path / "b").cases()) <= 4


def test_a_damaged_scene_is_left_out_and_named(real: Path, tmp_path: Path):
    scenes = tmp_path / "scenes"
    for name in ("hmb3_02080", "hmb3_02500"):
        shutil.copytree(real / "udacity_hmb3" / "scenes" / name, scenes / name)
    frame = scenes / "hmb3_02500" / "frame.jpg"
    frame.write_bytes(frame.read_bytes()[:500])
    code, _, err = run(
        "build", "--n", 1, "--scenes", scenes, "--out", tmp_path / "b", "--hazards", "cone_line", "--quiet"
    )
    assert code == 0
    assert "scene hmb3_02500 left out" in err
    assert "frame.jpg" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scenes", "{empty}"), "{empty}"),
        (("--hazards", "cone_lime"), "cone_lime"),
        (("--inpainter", "magic"), "inpainter 'magic' is not known; expected one of"),
        (("--inpainter-options", "sparkle=1"), "sparkle"),
        (("--taxonomy", "{typo}"), "nmae"),
        (("--out", "{empty}/file"), "expected a new or empty folder"),
    ],
)
def test_bad_input_is_one_clear_line(real: Path, tmp_path: Path, arguments, message: str):
    empty, typo = tmp_path / "empty", tmp_path / "typo"
    (empty / "file").mkdir(parents=True)
    (empty / "file" / "x").touch()
    typo.mkdir()
    (typo / "a.yaml").write_text("hazards:\n  dog:\n    nmae: dog\n")
    places = {"empty": empty, "typo": typo}
    if "{empty}" in arguments[1] and arguments[0] == "--scenes":
        (empty / "file" / "x").unlink()
    code, _, err = run(*build_arguments(real, tmp_path / "b", 1), *(a.format(**places) for a in arguments))
    assert code == 2, err
    assert message.format(**places) in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_verify_names_what_changed_is_missing_and_is_extra(bench: Path, tmp_path: Path):
    out = copy(bench, tmp_path / "b")
    assert run("bench", "verify", out)[0] == 0
    store = Store(out)
    first, second, third = (store.case_dir(c.case_id) for c in store.cases()[:3])
    (first / "augmented.png").write_bytes((first / "original.png").read_bytes())
    (second / "mask.png").unlink()
    (third / "notes.txt").write_text("mine")
    content = json.loads((third / "case.json").read_text())
    content["seed"] += 1
    (third / "case.json").write_text(json.dumps(content))
    (next(iter((out / "scenes").iterdir())) / "frame.jpg").write_bytes(b"x")
    code, text, _ = run("bench", "verify", out)
    assert code == 1
    lines = text.splitlines()
    for path, what in [
        (first / "augmented.png", "was changed"),
        (second / "mask.png", "is missing"),
        (third / "notes.txt", "is extra"),
        (third / "case.json", "changed after cfgen wrote it"),
    ]:
        assert any(str(path) in line and what in line for line in lines), (path, what)
    assert any("scenes" in line for line in lines)


def test_control_arms_are_built_and_kept_apart(real: Path, tmp_path: Path):
    out = tmp_path / "b"
    arguments = build_arguments(real, out, 2, "--controls", "null,nuisance", "--distances", "0.8,1.3")
    assert run(*arguments)[0] == 0
    for case in Store(out).cases():
        wanted = {"hazard", "null", "nuisance", "hazard_d0.80", "hazard_d1.30"}
        assert set(case.arms) | set(case.arms_missing) == wanted
        assert "null" in case.arms
        for arm, placement in case.distance_placements.items():
            factor = float(arm.removeprefix("hazard_d"))
            assert placement.distance_m == pytest.approx(factor * case.placement.distance_m, rel=0.06)
    assert run("bench", "verify", out)[0] == 0
