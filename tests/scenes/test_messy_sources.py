"""Drives as people have them: each stands alone, what is wrong is named, and the rest is imported."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cfgen.cli.main import main
from cfgen.scenes.folder import find_scenes, load_scene, scene_hash
from tests.scene_truth import picture
from tests.scenes.test_reader_fuzz import LFS, command, kitti, pictures
from tests.scenes.test_reader_nuscenes import write_nuscenes


def record_of(out: Path) -> dict:
    (path,) = (out / "imports").glob("*.json")
    return json.loads(path.read_text())


def test_kitti_as_a_mac_left_it(tmp_path, capsys):
    """One drive without images, one twice, and what Finder and Explorer leave everywhere."""
    source, out = tmp_path / "kitti", tmp_path / "out"
    kitti(source)
    one, two = (source / "2011_09_26" / f"2011_09_26_drive_000{i}_sync" for i in (1, 2))
    shutil.copytree(source / "2011_09_26", source / "copy" / "2011_09_26")
    again = source / "copy" / "2011_09_26" / one.name
    shutil.rmtree(again.with_name(two.name))
    shutil.rmtree(two / "image_02")
    for folder_ in (one / "image_02" / "data", one / "oxts" / "data", source):
        for name in ("._0000000003.png", "._0000000003.txt", ".DS_Store", "Thumbs.db"):
            (folder_ / name).write_bytes(b"\0\5\x16\7")
    (source / "__MACOSX" / one.name / "oxts").mkdir(parents=True)
    assert main(command("kitti-raw", source, out)) == 1
    said = capsys.readouterr()
    assert "2 scenes written" in said.out
    assert (
        f"left out: {two / 'image_02' / 'data'}: expected a folder of images, found No such file" in said.out
    )
    assert f"scene_id '{one.name}_002000' is also that of" in said.out
    assert "2 drives or scenes left out, 0 faults" in said.err
    assert set(record_of(out)["left_out"]) == {str(two), str(again)}
    assert len(find_scenes(out)) == 2
    assert main(command("kitti-raw", source, out)) == 1
    assert "0 scenes written" in capsys.readouterr().out
    assert len(list((out / "imports").glob("*.json"))) == 1


def test_a_pipe_among_stills_is_named_and_not_waited_for(tmp_path, capsys):
    source = tmp_path / "stills"
    pictures(source)
    os.mkfifo(source / "pipe.png")
    assert main(command("image", source, tmp_path / "out")) == 1
    assert f"left out: {source / 'pipe.png'}: expected a file, found a pipe" in capsys.readouterr().out
    assert len(find_scenes(tmp_path / "out")) == 4


def test_other_kinds_of_pictures_are_read_or_named(tmp_path, capsys):
    source = tmp_path / "stills"
    source.mkdir()
    for i, suffix in enumerate(("webp", "tif", "tiff", "gif", "bmp", "GIF")):
        Image.new("RGB", (96, 54), (200, 40, 90)).save(source / f"{i}.{suffix}")
    (source / "phone.HEIC").write_bytes(b"\0\0\0\x18ftypheic")
    assert main(command("image", source, tmp_path / "out")) == 1
    said = capsys.readouterr().out
    assert f"left out: {source / 'phone.HEIC'}: expected a picture that cfgen reads, found .heic" in said
    made = find_scenes(tmp_path / "out")
    assert len(made) == 6
    for path in made:
        folder = load_scene(path)
        assert folder.front_frame().image.endswith(".jpg")
        assert folder.image().shape == (54, 96, 3)
        assert np.abs(folder.image().mean((0, 1)) - (200, 40, 90)).max() < 4


def test_pointers_are_no_images(tmp_path, capsys):
    pictures(tmp_path / "in")
    for path in (tmp_path / "in").iterdir():
        path.write_bytes(LFS)
    (tmp_path / "in" / "annexed.jpg").symlink_to(".git/annex/objects/x1/y2/MD5E-s1.jpg")
    assert main(command("image", tmp_path / "in", tmp_path / "out")) == 1
    said = capsys.readouterr().out
    assert "0 scenes written" in said
    assert "a Git LFS pointer; run: git lfs pull" in said
    assert "run: git annex get" in said
    assert said.count("left out") == 5, "4 of one cause: 3 examples and the count; 1 of another"
    assert "and 1 more like these, 4 in all" in said


def test_names_that_are_not_utf_8(tmp_path, capsys):
    (tmp_path / "in").mkdir()
    picture(40).save(tmp_path / "good.jpg")
    shutil.copy(tmp_path / "good.jpg", os.fsencode(tmp_path / "in") + b"/caf\xe9.jpg")
    Path(os.fsdecode(os.fsencode(tmp_path / "in") + b"/b\xffd.jpg")).write_bytes(b"no")
    assert main(command("image", tmp_path / "in", tmp_path / "out")) == 1
    said = capsys.readouterr().out
    assert "1 scenes written" in said
    assert r"b\udcffd.jpg" in said
    assert load_scene(find_scenes(tmp_path / "out")[0]).scene.source == r"image caf\udce9.jpg"


def test_what_nobody_expected_is_a_fault(tmp_path, monkeypatch, capsys):
    from cfgen.scenes import drive

    pictures(tmp_path / "in")
    whole = drive._motion

    def breaks(made, *more):
        return (np.zeros(0).max(), None, False) if made.name == "2" else whole(made, *more)

    monkeypatch.setattr(drive, "_motion", breaks)
    assert main(command("image", tmp_path / "in", tmp_path / "out")) == 1
    said = capsys.readouterr()
    assert "3 scenes written" in said.out
    assert "fault: 2_000000: ValueError: zero-size array" in said.out
    assert "0 drives or scenes left out, 1 faults" in said.err
    (fault,) = record_of(tmp_path / "out")["faults"]
    assert fault["frames"][-1].startswith("cfgen/scenes/drive.py")
    with pytest.raises(ValueError, match="zero-size"):
        main(command("image", tmp_path / "in", tmp_path / "out", "--strict"))


def test_nothing_to_import_is_no_success(tmp_path, capsys):
    write_nuscenes(tmp_path / "in")
    (tmp_path / "in" / "v1.0-mini" / "scene.json").write_text("[]")
    assert main(command("nuscenes", tmp_path / "in", tmp_path / "out")) == 1
    assert "has no drive" in capsys.readouterr().err
    assert main(command("nuscenes", tmp_path / "nowhere", tmp_path / "out")) == 2


def test_one_scene_that_breaks_cfgen_ends_neither_check_nor_show(hand, tmp_path, monkeypatch, capsys):
    from cfgen.scenes import check, show

    hand("good"), hand("odd", scene_id="odd")
    facts = show._facts
    monkeypatch.setattr(show, "_facts", lambda f: 1 / 0 if f.scene.scene_id == "odd" else facts(f))
    page = tmp_path / "page.html"
    assert main(["scenes", "show", str(tmp_path), "--out", str(page), "--quiet"]) == 1
    assert page.read_text().count("<article") == 2
    assert "ZeroDivisionError" in page.read_text()
    monkeypatch.setattr(
        check, "_CHECKS", (*check._CHECKS, lambda f: 1 / 0 if f.scene.scene_id == "odd" else [])
    )
    assert main(["scenes", "check", str(tmp_path), "--quiet"]) == 1
    said = capsys.readouterr().out
    assert (
        "2 scenes: 1 without fault, 0 with warnings, 1 unusable, 1 of these because cfgen itself broke"
        in said
    )
    with pytest.raises(ZeroDivisionError):
        main(["scenes", "check", str(tmp_path), "--quiet", "--strict"])


def test_an_import_killed_at_any_moment_ends_the_same(tmp_path):
    kitti(tmp_path / "in")
    assert main(command("kitti-raw", tmp_path / "in", tmp_path / "fine", "--every-s", "0.5s")) == 0
    expected = [scene_hash(path) for path in find_scenes(tmp_path / "fine")]
    words = command("kitti-raw", tmp_path / "in", tmp_path / "out", "--every-s", "0.5s")
    for wanted in (2, 7):
        running = subprocess.Popen([sys.executable, "-m", "cfgen", *words], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while running.poll() is None and time.monotonic() < deadline:
            if len(list((tmp_path / "out").glob("*/frames"))) >= wanted:
                break
            time.sleep(0.002)
        running.kill()
        running.wait()
        for path in (tmp_path / "out").glob("*/scene.json"):
            load_scene(path.parent).image()
    assert main(words) == 0
    assert [scene_hash(path) for path in find_scenes(tmp_path / "out")] == expected
    assert not list((tmp_path / "out").rglob("*.tmp"))
