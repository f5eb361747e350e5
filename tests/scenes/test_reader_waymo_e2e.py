"""Waymo End-to-End records that Google's protobuf writes, in TFRecord's framing."""

import io
import struct
from pathlib import Path

import numpy as np
import pytest

from cfgen.core.errors import InputError
from cfgen.scenes.check import check_scene
from cfgen.scenes.drive import flatten
from cfgen.scenes.folder import find_scenes, load_scene
from cfgen.scenes.importing import import_scenes, open_reader
from cfgen.scenes.readers.tfrecord import ProtoMessage
from tests.scene_truth import (
    HEIGHT,
    MOUNTING,
    SECONDS,
    WIDTH,
    YAW_RATE,
    K,
    V,
    picture,
    poses,
    vehicle_from_camera,
)
from tests.scenes.waymo_messages import e2ed_frame

SEGMENT = "9b46ce5f8e1a4c6e8f4a6e0e2e5a7c11"
DISTORTION = [0.01, -0.02, 0.001, 0.0, 0.003]
#: columns: a camera's axes forward, left, up in an image's right, down, forward
AXES = np.array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]])
E2EDFrame = e2ed_frame()


def jpeg(value: int) -> bytes:
    held = io.BytesIO()
    picture(value).save(held, "JPEG", quality=95)
    return held.getvalue()


def record(number: int, segment: str = SEGMENT, cameras: tuple[int, ...] = (1, 2, 3)) -> bytes:
    """The frame at number / 10 s of the drive, with 16 past states and 20 future ones at 4 Hz."""
    made = E2EDFrame(intent=2)
    made.frame.context.name = f"{segment}-{number:03d}"
    made.frame.timestamp_micros = 1_600_000_000_000_000 + number * 100_000
    mounting = vehicle_from_camera()
    mounting[:3, :3] = mounting[:3, :3] @ AXES
    for name in cameras:
        calibration = made.frame.context.camera_calibrations.add(name=name, width=WIDTH, height=HEIGHT)
        calibration.intrinsic.extend([K[0, 0], K[1, 1], K[0, 2], K[1, 2], *DISTORTION])
        calibration.extrinsic.transform.extend(mounting.ravel())
        image = made.frame.images.add(name=name, image=jpeg(number + name - 1), shutter=0.01)
        image.pose.transform.extend(np.eye(4).ravel())
    now = number / 10
    t = now + np.arange(-15, 21) / 4
    around = flatten(poses(np.clip(t, 0, None)), 15)
    around[t < 0, 0] = around[t >= 0][0, 0] + (t[t < 0] - t[t >= 0][0]) * V
    past, future = made.past_states, made.future_states
    for states, rows in ((past, around[:16]), (future, around[16:])):
        states.pos_x.extend(rows[:, 0])
        states.pos_y.extend(rows[:, 1])
    past.vel_x.extend(V * np.cos(around[:16, 2]))
    past.vel_y.extend(V * np.sin(around[:16, 2]))
    return made.SerializeToString()


def write(path: Path, records: list[bytes]) -> Path:
    with path.open("wb") as file:
        for data in records:
            file.write(struct.pack("<QI", len(data), 0) + data + bytes(4))
    return path


def numbers() -> list[int]:
    return list(range(round((SECONDS - 5.2) * 10)))


def test_a_segment_over_two_files_in_any_order(tmp_path):
    shuffled = np.random.default_rng(1).permutation(numbers())
    write(tmp_path / "training.tfrecord-00000-of-00002", [record(n) for n in shuffled[:30]])
    write(tmp_path / "training.tfrecord-00001-of-00002", [record(n) for n in shuffled[30:]])
    summary = import_scenes(open_reader("waymo-e2e", tmp_path, {}), tmp_path / "out", every_s=2.0, quiet=True)
    assert not summary.failed
    folders = [load_scene(path) for path in find_scenes(tmp_path / "out")]
    assert [folder.scene.scene_id for folder in folders] == [
        f"{SEGMENT}_{ms}" for ms in ("002000", "004000", "006000")
    ]
    scene = folders[1].scene
    assert [camera.name for camera in scene.cameras] == ["front", "front_left", "front_right"]
    np.testing.assert_allclose(scene.front.T_cam_ego, MOUNTING, atol=1e-6)
    assert scene.front.distortion == tuple(DISTORTION)
    np.testing.assert_allclose(scene.history.v, V, atol=0.02)
    np.testing.assert_allclose(
        [pose[2] for pose in scene.history.poses], np.array(scene.history.t) * YAW_RATE, atol=5e-3
    )
    np.testing.assert_allclose(
        [pose[2] for pose in scene.future.poses], np.array(scene.future.t) * YAW_RATE, atol=0.02
    )
    assert (len(scene.history.t), scene.future.t[-1], scene.extra["intent"]) == (9, 5.0, "left")
    assert not [fault for fault in check_scene(folders[1].root)[1] if fault.where == "future"], (
        "5 s are its whole"
    )
    assert (folders[1].root / scene.frames[0].image).read_bytes() == jpeg(40)
    assert [f.t for f in scene.frames if f.camera == "front"][:3] == pytest.approx([0, -0.3, -0.5])


def test_damaged_files_are_left_out(tmp_path):
    whole = write(tmp_path / "whole.tfrecord", [record(n) for n in numbers()[::2]]).read_bytes()
    (tmp_path / "cut.tfrecord").write_bytes(whole[:-100])
    write(tmp_path / "names.tfrecord", [E2EDFrame(intent=1).SerializeToString()])
    summary = import_scenes(open_reader("waymo-e2e", tmp_path, {}), tmp_path / "out", quiet=True)
    why = {Path(name).name: words for name, words in summary.failed.items()}
    assert sorted(why) == ["cut.tfrecord", "names.tfrecord"]
    assert "cut off or damaged, from byte" in why["cut.tfrecord"]
    assert summary.written == 2
    assert not summary.faults


def test_a_camera_that_is_not_there(tmp_path):
    write(tmp_path / "a.tfrecord", [record(30, cameras=(1,))])
    summary = import_scenes(open_reader("waymo-e2e", tmp_path, {}), tmp_path / "out", quiet=True)
    assert "expected a calibration of camera 'front_left', found none; name the cameras there are" in str(
        summary.failed
    )
    with pytest.raises(InputError, match="no camera 'roof'; known are front, front_left"):
        open_reader("waymo-e2e", tmp_path, {"cameras": "roof"})


def test_numbers_of_every_kind():
    message = ProtoMessage(memoryview(e2ed_frame()(intent=300).SerializeToString()))
    assert (message.integer(7), message.integer(99), message.data(1)) == (300, 0, b"")
    with pytest.raises(ValueError, match="no Protocol Buffers message"):
        ProtoMessage(memoryview(b"\xff" * 12)).integer(1)
