"""Data sets that Hugging Face's own package writes."""

import json

import numpy as np
import pyarrow as pa
import pytest
from datasets import Dataset, DatasetDict, DatasetInfo, Features, Image, Value
from pyarrow import parquet as pq

from cfgen.scenes.drive import flatten
from cfgen.scenes.folder import find_scenes, load_scene
from cfgen.scenes.importing import import_scenes, open_reader
from tests.scene_truth import HEIGHT, MOUNTING, SECONDS, WIDTH, V, imported, picture, poses, wxyz

START_NS = 1_700_000_000_000_000_000
TIMES = np.arange(0, SECONDS, 0.1)


@pytest.fixture(scope="module")
def camera(tmp_path_factory) -> str:
    """The calibration as a file, which --options camera= names."""
    path = tmp_path_factory.mktemp("camera") / "camera.json"
    path.write_text(json.dumps({"intrinsics": {"fx": 80, "fy": 80, "cx": 47.5, "cy": 26.5},
                                "extrinsics": {"T_cam_ego": MOUNTING}}))  # fmt: skip
    return str(path)


def rows(pose: str = "matrix", drives: tuple[str, ...] = ("a",)) -> dict[str, list]:
    every = poses(TIMES)
    given = {
        "matrix": {"pose": [each.tolist() for each in every]},
        "quaternion": {"ego_pose": [[*each[:3, 3], *wxyz(each)] for each in every]},
        "columns": dict(zip(("x", "y", "heading"), flatten(every, 0).T.tolist(), strict=True)),
    }[pose]
    one = {"front": [picture(i) for i in range(len(TIMES))], "rear": [picture(200) for _ in TIMES],
           "timestamp_ns": [START_NS + round(t * 1e9) for t in TIMES], **given}  # fmt: skip
    many = {key: values * len(drives) for key, values in one.items()}
    return many | {"drive": [name for name in drives for _ in TIMES]}


def data_set(info: DatasetInfo | None = None, **what) -> Dataset:
    made = Dataset.from_dict(rows(**what), info=info)
    return made.cast_column("front", Image()).cast_column("rear", Image())


def test_parquet_files_with_a_card(tmp_path, camera):
    """A drive may go on in the next file, as the hub cuts them."""
    whole = data_set(drives=("a", "b"))
    (tmp_path / "set" / "data").mkdir(parents=True)
    for i in range(3):
        part = whole.shard(3, i, contiguous=True)
        part.to_parquet(str(tmp_path / "set" / "data" / f"train-{i:05d}-of-00003.parquet"), batch_size=30)
    (tmp_path / "set" / "README.md").write_text("---\nlicense: cc-by-4.0\ntags: [driving]\n---\n# Roads\n")
    folders = imported("hugging-face", tmp_path / "set", tmp_path / "out", {"camera": camera})
    assert [folder.scene.scene_id for folder in folders] == [
        f"set_{d}_{t}" for d in "ab" for t in ("002000", "004000")
    ]
    scene = folders[0].scene
    assert scene.license == "cc-by-4.0"
    assert scene.timestamp == "2023-11-14T22:13:22.000Z"
    assert abs(float(folders[0].image().mean()) - 20) < 2, "the column called front, not rear"


@pytest.mark.parametrize("pose", ["quaternion", "columns"])
def test_a_folder_that_was_saved_to_disk(tmp_path, camera, pose):
    made = data_set(DatasetInfo(license="MIT"), pose=pose)
    DatasetDict({"train": made}).save_to_disk(str(tmp_path / "set"), num_shards={"train": 2})
    folders = imported("hugging-face", tmp_path / "set" / "train", tmp_path / "out", {"camera": camera})
    assert folders[0].scene.license == "MIT"
    assert (folders[0].root / folders[0].scene.frames[0].image).suffix == ".png", "as the data set has it"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pose": "position"}, "expected pose in the column position, found drive, front, pose, rear, timestamp_ns"),
        ({"image": "left"}, "expected one column of images, found none (columns: front"),
    ],
)  # fmt: skip
def test_columns_that_do_not_fit_are_named(tmp_path, options, said):
    data_set().to_parquet(str(tmp_path / "a.parquet"))
    summary = import_scenes(open_reader("hugging-face", tmp_path, options), tmp_path / "out", quiet=True)
    (why,) = summary.failed.values()
    assert said in why
    assert "--options" in why


def test_images_by_path_and_seconds(tmp_path, camera):
    """As exporters that keep pictures beside the table do; speeds in a column of their own."""
    (tmp_path / "frames").mkdir()
    for i in range(len(TIMES)):
        picture(i).save(tmp_path / "frames" / f"{i}.jpg", quality=95)
    table = {"image": [f"frames/{i}.jpg" for i in range(len(TIMES))], "t": TIMES.tolist(),
             "pose": [each.tolist() for each in poses(TIMES)], "v": [V] * len(TIMES)}  # fmt: skip
    kinds = {"image": Value("string"), "t": Value("float64"), "v": Value("float64")}
    made = Dataset.from_dict(table)
    made.cast(Features({**made.features, **kinds})).to_parquet(str(tmp_path / "set.parquet"))
    reader = open_reader("hugging-face", tmp_path / "set.parquet", {"camera": camera})
    import_scenes(reader, tmp_path / "out", quiet=True)
    scene = load_scene(find_scenes(tmp_path / "out")[0]).scene
    assert (scene.front.width, scene.front.height, scene.timestamp) == (WIDTH, HEIGHT, "")
    assert set(scene.history.v) == {V}
    assert scene.frames[0].image.endswith(".jpg")


def test_a_table_does_not_pull_in_pictures_from_elsewhere(tmp_path, camera):
    picture(1).save(tmp_path / "private.png")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "link.png").symlink_to(tmp_path / "private.png")
    for name in ("../private.png", str(tmp_path / "private.png"), "link.png"):
        held = [{"bytes": None, "path": name}] * len(TIMES)
        table = {"front": held, "t": TIMES.tolist(), "pose": [each.tolist() for each in poses(TIMES)]}
        pq.write_table(pa.table(table), tmp_path / "set" / "a.parquet")
        reader = open_reader("hugging-face", tmp_path / "set", {"camera": camera, "image": "front"})
        summary = import_scenes(reader, tmp_path / "out", quiet=True)
        assert (summary.written, summary.faults) == (0, [])
        assert f"expected images inside the data set {tmp_path / 'set'}, found the path '{name}'" in str(
            summary
        )


def test_rows_with_holes_are_left_out_and_counted(tmp_path, camera):
    """The other rows of the drive, and their speeds, still count."""
    for i in range(len(TIMES)):
        picture(i).save(tmp_path / f"{i}.png")
    pose = [each.tolist() for each in poses(TIMES)]
    pose[0] = np.full((4, 4), np.nan).tolist()
    speed = [V] * len(TIMES)
    speed[7] = None
    stamps = [START_NS + round(t * 1e9) for t in TIMES]
    stamps[1] = None
    names = [f"{i}.png" for i in range(len(TIMES))]
    pq.write_table(pa.table({"front": names, "pose": pose, "v": speed, "t": stamps}), tmp_path / "a.parquet")
    reader = open_reader("hugging-face", tmp_path / "a.parquet", {"camera": camera})
    (opener,) = reader.recordings()
    drive = opener()
    assert drive.note == f"3 of {len(TIMES)} rows left out: no number as time or pose or speed"
    assert (len(drive.t), set(drive.v)) == (len(TIMES) - 3, {V})
    np.testing.assert_allclose(drive.t[:3], [0, 0.1, 0.2], atol=1e-6)
    summary = import_scenes(reader, tmp_path / "out", limit=1, quiet=True)
    assert summary.notes == {"a": drive.note}
