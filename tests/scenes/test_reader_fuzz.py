"""Any file of any source may break in any way: no traceback, the file is named, and the other drives are imported."""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cfgen.cli.main import main
from cfgen.scenes.check import check_folder
from tests.scene_truth import SECONDS, picture
from tests.scenes.test_reader_argoverse2 import write_argoverse2
from tests.scenes.test_reader_bench2drive import write_bench2drive
from tests.scenes.test_reader_hugging_face import data_set
from tests.scenes.test_reader_kitti_raw import write_kitti
from tests.scenes.test_reader_mcap import write_bag
from tests.scenes.test_reader_navsim import navsim_frames
from tests.scenes.test_reader_nuplan import kit_lists, write_nuplan
from tests.scenes.test_reader_nuscenes import write_nuscenes
from tests.scenes.test_reader_physical_ai_av import write_physical_ai
from tests.scenes.test_reader_waymo_e2e import numbers, record, write
from tests.scenes.test_scene_import import comma_segment, film

FRONT = {"intrinsics": {"fx": 80, "fy": 80, "cx": 48, "cy": 27}, "extrinsics": {"camera_height_m": 1.2}}
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345\n"


def command(reader: str, source: Path, out: Path, *more: str) -> list[str]:
    return ["scenes", "import", reader, str(source), "--out", str(out), "--every-s", "2s", "--quiet", *more]


# --- one source of two drives for each reader ---------------------------------------------------------------


def kitti(root: Path) -> list[str]:
    write_kitti(root)
    date = root / "2011_09_26"
    shutil.copytree(date / "2011_09_26_drive_0001_sync", date / "2011_09_26_drive_0002_sync")
    return []


def argoverse2(root: Path) -> list[str]:
    write_argoverse2(root / "log1")
    shutil.copytree(root / "log1", root / "log2")
    return []


def navsim(root: Path) -> list[str]:
    import pickle

    frames = navsim_frames(root / "sensor_blobs" / "mini")
    (root / "navsim_logs" / "mini").mkdir(parents=True)
    for name in ("one", "two"):
        (root / "navsim_logs" / "mini" / f"{name}.pkl").write_bytes(pickle.dumps(frames))
    return []


def nuscenes(root: Path) -> list[str]:
    write_nuscenes(root)
    return []


def comma(root: Path) -> list[str]:
    comma_segment(root / "route" / "1")
    Image.fromarray(np.zeros((874, 1164, 3), np.uint8)).save(root / "route" / "1" / "preview.png")
    shutil.copytree(root / "route" / "1", root / "route" / "2")
    return []


def physical(root: Path) -> list[str]:
    write_physical_ai(root)
    return []


def bench2drive(root: Path) -> list[str]:
    write_bench2drive(root, "clip1")
    shutil.copytree(root / "Accident" / "clip1", root / "Accident" / "clip2")
    return []


def mcap(root: Path) -> list[str]:
    write_bag(root / "one.mcap")
    shutil.copy(root / "one.mcap", root / "two.mcap")
    return []


def nuplan(root: Path) -> list[str]:
    with kit_lists():
        write_nuplan(root, "one")
        write_nuplan(root, "two")
    return []


def waymo(root: Path) -> list[str]:
    root.mkdir()
    for name in ("one", "two"):
        write(root / f"{name}.tfrecord", [record(n, segment=name) for n in numbers()[::4]])
    return []


def hugging_face(root: Path) -> list[str]:
    root.mkdir()
    for name in ("one", "two"):
        data_set(drives=(name,)).to_parquet(str(root / f"{name}.parquet"))
    (root / "camera.json").write_text(json.dumps(FRONT))
    return [f"--options=camera={root / 'camera.json'}"]


def pictures(root: Path) -> list[str]:
    root.mkdir()
    for i in range(4):
        picture(40 * i).save(root / f"{i}.{'jpg' if i % 2 else 'png'}")
    return []


def frames(root: Path) -> list[str]:
    root.mkdir()
    for i in range(int(SECONDS * 5)):
        picture(2 * i).save(root / f"{i:04d}.jpg")
    (root / "speed.csv").write_text("t,speed\n" + "".join(f"{i},10\n" for i in range(13)))
    (root / "camera.json").write_text(json.dumps(FRONT))
    return [
        f"--options=speed={root / 'speed.csv'}",
        f"--options=camera={root / 'camera.json'}",
        "--options=fps=5",
    ]


def video(root: Path) -> list[str]:
    root.mkdir()
    film(root / "v.mp4")
    return []


def ready(root: Path) -> list[str]:
    pictures(root.parent / "stills")
    assert main(command("image", root.parent / "stills", root)) == 0
    shutil.rmtree(root / "imports")
    return []


SOURCES: dict[str, Callable[[Path], list[str]]] = {
    "argoverse2": argoverse2, "bench2drive": bench2drive, "comma2k19": comma, "folder": ready,
    "hugging-face": hugging_face, "image": pictures, "kitti-raw": kitti, "mcap": mcap, "navsim": navsim,
    "nuplan": nuplan, "nuscenes": nuscenes, "physical-ai-av": physical, "video frames": frames, "video file": video,
    "waymo-e2e": waymo,
}  # fmt: skip


# --- what happens to files ----------------------------------------------------------------------------------


def delete(path: Path, rng: random.Random) -> None:
    path.unlink()


def truncate(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(1, max(2, len(data)))])


def garble(path: Path, rng: random.Random) -> None:
    path.write_bytes(rng.randbytes(rng.choice([3, 400, path.stat().st_size])))


def scratch(path: Path, rng: random.Random) -> None:
    """A few bytes in the middle are others."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 4, 30])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    path.write_bytes(data)


def renumber(path: Path, rng: random.Random) -> None:
    """One number of a text file becomes another thing."""
    words = path.read_bytes().split(b" ")
    words[rng.randrange(len(words))] = rng.choice(
        [b"nan", b"inf", b"1e308", b"-1", b"0", b"", b"x", b"null", b"[]"]
    )
    path.write_bytes(b" ".join(words))


def empty(path: Path, rng: random.Random) -> None:
    path.write_bytes(b"")


def point(path: Path, rng: random.Random) -> None:
    path.write_bytes(LFS)


def folder(path: Path, rng: random.Random) -> None:
    path.unlink()
    path.mkdir()


def rename(path: Path, rng: random.Random) -> None:
    other = path.with_name(path.name.swapcase())
    path.rename(other if other != path else path.with_name(path.name + ".bak"))


def loop(path: Path, rng: random.Random) -> None:
    path.unlink()
    path.symlink_to(path.name)


MISHAPS = [delete, truncate, garble, scratch, renumber, empty, point, folder, rename, loop]


def source_of(root: Path) -> Path:
    return root / "v.mp4" if (root / "v.mp4").exists() else root


def scene_ids(out: Path) -> set[str]:
    return {path.parent.name for path in out.rglob("scene.json")}


def is_about(path: Path, scene_id: str) -> bool:
    """Whether a file belongs to the drive of one scene alone."""
    drive = scene_id.rpartition("_")[0]
    return {drive, scene_id} & {*path.parts, path.stem} != set() or drive.replace("_", "/") in path.as_posix()


def one_mishap(reader: str, whole: Path, work: Path, more: list[str], fine: set[str], rng, capsys) -> None:
    """Break one file of a copy and import it.

    No traceback and no fault; the file or its folder is named when it counts; drives that it is no part of are
    imported as before, and every scene that is written can be used.
    """
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(whole, work / "in")
    files = sorted(p for p in (work / "in").rglob("*") if p.is_file())
    kind = rng.choice(
        sorted({(p.parent.name, p.suffix) for p in files})
    )  # a table as often as one of 1000 frames
    path = rng.choice([p for p in files if (p.parent.name, p.suffix) == kind])
    relative = path.relative_to(work / "in")
    source = source_of(work / "in")
    mishap = rng.choice(MISHAPS)
    mishap(path, rng)
    options = [word.replace(str(whole), str(work / "in")) for word in more]
    code = main(command(reader, source, work / "out", *options))
    said = "".join(capsys.readouterr())
    label = f"{mishap.__name__} {relative}: exit code {code}: {said}"
    assert code in (0, 1, 2), label
    assert "Traceback" not in said, label
    assert "fault:" not in said, label
    assert not code or path.name in said or path.parent.name in said, label
    made = scene_ids(work / "out") if (work / "out").exists() else set()
    if mine := {scene_id for scene_id in fine if is_about(relative, scene_id)}:
        assert fine - mine <= made, label
    for place, faults in (check_folder(work / "out") if made else {}).items():
        assert not [f for f in faults if f.level != "warning"], f"{label}: {place}: {faults}"


@pytest.mark.parametrize("name", SOURCES)
def test_any_file_may_break(name, tmp_path, capsys):
    """Longer: CFGEN_FUZZ=300 CFGEN_FUZZ_SEED=5 pytest tests/scenes/test_reader_fuzz.py."""
    count, seed = int(os.environ.get("CFGEN_FUZZ", "2")), os.environ.get("CFGEN_FUZZ_SEED", "1")
    reader, whole = name.partition(" ")[0], tmp_path / "whole"
    more = SOURCES[name](whole)
    assert main(command(reader, source_of(whole), tmp_path / "fine", *more)) == 0
    fine = scene_ids(tmp_path / "fine")
    capsys.readouterr()
    for i in range(count):
        rng = random.Random(f"{name} {seed} {i}")
        try:
            one_mishap(reader, whole, tmp_path / "work", more, fine, rng, capsys)
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}, mishap {i}") from error
