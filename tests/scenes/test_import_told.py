"""What an import tells: speeds from poses, the room on the disk, and images that it only links to."""

import shutil
from dataclasses import replace

import numpy as np

from cfgen.cli.main import main
from cfgen.scenes.drive import raised, speeds_of
from cfgen.scenes.folder import copy_scene, find_scenes, load_scene
from cfgen.scenes.importing import import_scenes, size_of
from tests.scenes.test_reader_bench2drive import write_bench2drive
from tests.scenes.test_scene_import import _Source, drive


def test_noise_of_poses_that_lie_a_nanosecond_apart_is_no_speed():
    """Poses at the times of several sensors, as logs of Argoverse 2 and nuScenes have them, a centimetre off."""
    rng = np.random.default_rng(0)
    t = np.sort(
        np.concatenate([np.arange(0, 16, 0.05), np.arange(0, 16, 0.01), np.arange(0, 16, 0.05) + 1e-9])
    )
    t = np.unique(t)
    truth = 8.0 + 2.0 * np.sin(0.5 * t)  # up to 1 m/s²
    flat = np.column_stack([8.0 * t - 4.0 * np.cos(0.5 * t), np.zeros((len(t), 2))])
    flat[:, :2] += rng.normal(0, 0.01, (len(t), 2))
    found = speeds_of(t, raised(flat))
    assert np.abs(found - truth)[5:-5].max() < 0.3
    assert np.abs(found - truth).mean() < 0.06
    sparse = slice(None, None, 60)  # keyframes at 2 Hz and less
    assert np.abs(speeds_of(t[sparse], raised(flat[sparse])) - truth[sparse])[1:-1].max() < 0.1


def test_the_room_on_the_disk_is_that_of_all_files(tmp_path):
    found = import_scenes(_Source(drive()), tmp_path, 1.0, quiet=True)
    assert size_of(found.folders) == sum(f.stat().st_size for f in tmp_path.rglob("*") if f.is_file())


def test_every_frame_is_kept_by_reference(tmp_path, capsys):
    source, out = tmp_path / "clips", tmp_path / "out"
    clip = write_bench2drive(source)
    command = ["scenes", "import", "bench2drive", str(source), "--out", str(out), "--quiet", "--limit", "1"]
    assert main([*command, "--frame-times", "all", "--by-reference"]) == 0
    said = capsys.readouterr().out
    assert f"21 images link to {source}: keep it where it is; 0 lie inside" in said
    (path,) = find_scenes(out)
    folder = load_scene(path)
    assert [frame.t for frame in folder.scene.frames] == [-round(i / 10, 1) + 0.0 for i in range(21)]
    at_t0 = path / folder.front_frame().image
    assert at_t0.is_symlink()
    assert at_t0.read_bytes() == (clip / "camera" / "rgb_front" / "00020.jpg").read_bytes()
    assert not copy_scene(folder, tmp_path / "copy").root.joinpath(folder.front_frame().image).is_symlink()
    (clip / "camera" / "rgb_front" / "00013.jpg").rename(tmp_path / "elsewhere.jpg")
    assert main(["scenes", "check", str(out), "--quiet"]) == 1
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("error:"))
    assert "frames/front@-700.jpg: expected the image at t = -0.7 s" in line
    assert "found a link to" in line
    assert line.endswith("00013.jpg, which is not here; put it back, or import the scene again")


def test_scenes_of_other_options_do_not_pass_for_these(tmp_path, capsys):
    source, out = tmp_path / "clips", tmp_path / "out"
    write_bench2drive(source)
    command = ["scenes", "import", "bench2drive", str(source), "--out", str(out), "--quiet", "--limit", "1"]
    assert main([*command, "--frame-times", "0,0.5"]) == 0
    (record,) = (out / "imports").glob("*.json")
    kept = record.read_bytes()
    for more, said in (
        (["--frame-times", "all"], "--frame-times 0,0.5 (now 0,0.01,"),
        (["--frame-times", "0,0.5", "--by-reference"], "--by-reference False (now True)"),
        (
            ["--frame-times", "0,0.5", "--options", "source_name=B"],
            "--options source_name Bench2Drive (now B)",
        ),
    ):
        assert main([*command, *more]) == 2
        assert f"found them made with {said}" in (told := capsys.readouterr().err)
        assert "give another --out, or delete these scenes first" in told
        assert [record.read_bytes() for record in (out / "imports").glob("*.json")] == [kept]
    same = ["--frame-times", "0.5,0", "--options", "source_name=Bench2Drive"]  # in other words
    assert main([*command, *same]) == 0
    assert "0 scenes written to" in capsys.readouterr().out
    (scene,) = find_scenes(out)
    shutil.rmtree(scene)
    assert main([*command, "--frame-times", "0"]) == 0, "what was deleted may be made otherwise"
    assert main([*command, *same]) == 2, "and is what it then is"


def test_an_import_says_which_drives_have_speeds_in_other_units(tmp_path):
    made = drive()
    found = import_scenes(_Source(replace(made, v=made.v * 3.6)), tmp_path, 1.0, quiet=True)
    ((name, words),) = found.notes.items()
    assert name == made.name
    assert "speed does not match poses" in words
    assert "v is in m/s" in words
