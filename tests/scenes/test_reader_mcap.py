"""ROS 2 bags that MCAP's own package writes."""

import contextlib
import io
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from mcap.writer import CompressionType
from mcap_ros2.writer import Writer
from scipy.spatial.transform import Rotation

from cfgen.core.errors import InputError, MissingExtraError
from cfgen.perception.light import PLACE_KEYS
from cfgen.scenes.importing import open_reader
from cfgen.scenes.readers import mcap
from tests.scene_truth import HEIGHT, MOUNTING, SECONDS, WIDTH, K, V, heading, imported, picture, poses
from tests.scenes.ros2_messages import definition

START = 1_700_000_000_000_000_000
BASE_M = 0.35
LATITUDE, LONGITUDE = 48.78, 9.18


def stamped(s: float, frame: str = "map") -> dict:
    ns = START + round(s * 1e9)
    return {"stamp": {"sec": ns // 10**9, "nanosec": ns % 10**9}, "frame_id": frame}


def transform(matrix: np.ndarray) -> dict:
    x, y, z, w = Rotation.from_matrix(matrix[:3, :3]).as_quat()
    names = ("x", "y", "z")
    return {
        "translation": dict(zip(names, map(float, matrix[:3, 3]), strict=True)),
        "rotation": {"x": float(x), "y": float(y), "z": float(z), "w": float(w)},
    }


def base_from(pose: np.ndarray) -> np.ndarray:
    """A pose in the ego frame as one in the base frame, which is higher."""
    up = np.eye(4)
    up[2, 3] = -BASE_M
    return up @ pose


def jpeg(value: int) -> bytes:
    held = io.BytesIO()
    picture(value).save(held, "JPEG", quality=95)
    return held.getvalue()


class Recorder:
    """Writes one bag; every message is logged 40 ms after what its header says."""

    def __init__(self, path: Path, compression: CompressionType = CompressionType.ZSTD) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb")
        self._writer = Writer(self._file, chunk_size=4096, compression=compression)
        self._schemas: dict = {}

    def __call__(self, topic: str, kind: str, s: float, message: dict) -> None:
        schema = self._schemas.get(kind) or self._writer.register_msgdef(kind, definition(kind))
        self._schemas[kind] = schema
        self._writer.write_message(topic, schema, message, log_time=START + round((s + 0.04) * 1e9))

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.finish()
        self._file.close()


def camera_info(
    topic: str, write: Recorder, model: str = "plumb_bob", d: tuple = (0.01, 0.0, 0.0, 0.0)
) -> None:
    info = {"header": stamped(0, "front_optical"), "height": HEIGHT, "width": WIDTH, "distortion_model": model,
            "d": list(d), "k": K.ravel().tolist(), "r": np.eye(3).ravel().tolist(),
            "p": np.column_stack([K, np.zeros(3)]).ravel().tolist(), "binning_x": 0, "binning_y": 0,
            "roi": {"x_offset": 0, "y_offset": 0, "height": 0, "width": 0, "do_rectify": False}}  # fmt: skip
    write(topic, "sensor_msgs/msg/CameraInfo", 0, info)


def images(write: Recorder, topic: str = "/front/image_raw/compressed", step: float = 0.1) -> None:
    for i, s in enumerate(np.arange(0, SECONDS - 0.2, step)):
        message = {
            "header": stamped(s, "front_optical"),
            "format": "bgr8; jpeg compressed bgr8",
            "data": jpeg(i),
        }
        write(topic, "sensor_msgs/msg/CompressedImage", s, message)


def odometry(write: Recorder, twist: float = V) -> None:
    zeros = [0.0] * 36
    times = np.arange(0, SECONDS, 0.05)
    for s, ego in zip(times, poses(times), strict=True):
        pose = transform(ego @ np.linalg.inv(base_from(np.eye(4))))
        still = {"x": 0.0, "y": 0.0, "z": 0.0}
        write("/odom", "nav_msgs/msg/Odometry", s, {
            "header": stamped(s, "odom"), "child_frame_id": "base_link",
            "pose": {"pose": {"position": pose["translation"], "orientation": pose["rotation"]}, "covariance": zeros},
            "twist": {"twist": {"linear": {**still, "x": twist}, "angular": still}, "covariance": zeros},
        })  # fmt: skip


def fixes(write: Recorder, noise_m: float = 0.0, lost: float = -1.0) -> None:
    rng = np.random.default_rng(3)
    for s in np.arange(0, SECONDS, 0.2):
        east, north = poses([s])[0][:2, 3] + rng.normal(0, noise_m, 2)
        status = {"status": -1 if abs(s - lost) < 0.05 else 0, "service": 1}
        write("/fix", "sensor_msgs/msg/NavSatFix", s, {
            "header": stamped(s, "gps"), "status": status, "altitude": 300.0,
            "latitude": LATITUDE + math.degrees(north / 6378137.0),
            "longitude": LONGITUDE + math.degrees(east / 6378137.0 / math.cos(math.radians(LATITUDE))),
            "position_covariance": [0.0] * 9, "position_covariance_type": 0,
        })  # fmt: skip


def mounting(write: Recorder) -> None:
    """Along two transforms, one of them the other way round."""
    camera = base_from(np.linalg.inv(np.array(MOUNTING)))
    mast = np.eye(4)
    mast[:3, 3] = (0.5, 0.0, 1.2)
    write("/tf_static", "tf2_msgs/msg/TFMessage", 0, {"transforms": [
        {"header": stamped(0, "mast"), "child_frame_id": "base_link", "transform": transform(np.linalg.inv(mast))},
        {"header": stamped(0, "mast"), "child_frame_id": "front_optical",
         "transform": transform(np.linalg.inv(mast) @ camera)},
    ]})  # fmt: skip


def write_bag(path: Path, **motion: float) -> Path:
    with Recorder(path) as write:
        camera_info("/front/camera_info", write)
        mounting(write)
        images(write)
        odometry(write, **motion)
        fixes(write, lost=3.0)
    return path


def test_mcap(tmp_path):
    bag = write_bag(tmp_path / "bags" / "drive.mcap")
    folders = imported("mcap", tmp_path / "bags", tmp_path / "out", {"base_height_m": BASE_M})
    scene = folders[0].scene
    assert scene.scene_id == "drive_002000"
    assert scene.front.model == "opencv"
    assert scene.timestamp == "2023-11-14T22:13:22.000Z"
    told = [scene.extra[key] for key in PLACE_KEYS]
    assert told == pytest.approx([LATITUDE, LONGITUDE, heading(2.0)], abs=0.05)
    assert (folders[0].root / scene.frames[0].image).read_bytes() == jpeg(20), "pictures stay as they are"
    assert [f.t for f in scene.frames] == pytest.approx([0, -0.3, -0.5, -0.8, -1, -1.3, -1.5, -1.8, -2])
    assert bag.stem in scene.source


def test_a_split_bag_is_one_drive(tmp_path):
    with Recorder(tmp_path / "b" / "b_0.mcap") as write:
        camera_info("/front/camera_info", write)
        mounting(write)
        odometry(write)
    with Recorder(tmp_path / "b" / "b_1.mcap") as write:
        images(write, "/front/image_rect")
    (tmp_path / "b" / "metadata.yaml").write_text("rosbag2_bagfile_information: {}\n")
    (folder, *_) = imported("mcap", tmp_path, tmp_path / "out", {"base_height_m": BASE_M})
    assert folder.scene.scene_id == "b_002000"
    assert folder.scene.front.model == "pinhole", "a rectified topic has no distortion left"


def test_several_cameras_as_asked_for(tmp_path):
    """Raw images with padded rows, a fisheye lens; and which is front where nobody says."""
    topics = ("/direct/left/image_raw", "/direct/front/image_raw")
    with Recorder(tmp_path / "b.mcap") as write:
        camera_info("/direct/left/camera_info", write, "equidistant", (0.0,) * 4)
        camera_info("/direct/front/camera_info", write, "rational_polynomial", (0.0,) * 8)
        mounting(write)
        odometry(write)
        for s in np.arange(0, SECONDS, 0.5):
            rows = np.zeros((HEIGHT, WIDTH * 3 + 5), np.uint8)
            rows[:, : WIDTH * 3] = np.tile(np.array([10, 20, 30], np.uint8), WIDTH)
            message = {"header": stamped(s, "front_optical"), "height": HEIGHT, "width": WIDTH, "encoding": "bgr8",
                       "is_bigendian": 0, "step": rows.shape[1], "data": rows.tobytes()}  # fmt: skip
            for topic in topics:
                write(topic, "sensor_msgs/msg/Image", s, message)
    (folder, *_) = imported(
        "mcap", tmp_path, tmp_path / "o1", {"images": topics[1] + "," + topics[0], "base_height_m": BASE_M}
    )
    assert [(c.name, c.model) for c in folder.scene.cameras] == [
        ("front", "pinhole"),
        ("direct-left", "fisheye"),
    ]
    assert folder.image()[0, 0].tolist() == pytest.approx([30, 20, 10], abs=2)
    drive = next(iter(open_reader("mcap", tmp_path, {}).recordings()))()
    assert drive.extra["topics"] == [topics[1]]
    held = [link.readlink() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert not [file for file in held if file.suffix == ".mcap"], "thousands of bags may wait for their turn"


def test_fixes_alone(tmp_path):
    """Speed and turning by a receiver that is 0.2 m off, on a level road."""
    with Recorder(tmp_path / "gps.mcap") as write:
        camera_info("/front/camera_info", write)
        images(write)
        fixes(write, noise_m=0.2)
    reader = open_reader("mcap", tmp_path, {"camera_height_m": 1.5, "pitch_deg": 2.0})
    drive = next(iter(reader.recordings()))()
    middle = (drive.t > 2) & (drive.t < SECONDS - 2)
    assert np.abs(drive.v[middle] - V).max() < 0.5
    found = np.degrees(np.arctan2(drive.poses[:, 0, 0], drive.poses[:, 1, 0])) % 360
    wanted = np.array([heading(t) for t in drive.t])
    assert np.abs((found - wanted + 180) % 360 - 180)[middle].max() < 4
    assert drive.streams[0].camera.T_cam_ego[1][3] == pytest.approx(1.5, abs=0.01)


@pytest.mark.parametrize(
    ("wrong", "options", "said"),
    [
        ({"odometry", "fixes"}, {}, "expected Odometry or NavSatFix, found the topics /chatter"),
        ({"camera_info"}, {}, "expected the CameraInfo of '/front/image_raw/compressed'"),
        ({"mounting"}, {}, "expected a transform from 'base_link' .*; give --options camera_height_m="),
        (set(), {"images": "/rear/image"}, "expected images on '/rear/image', found the topics"),
    ],
)
def test_what_a_bag_lacks_is_told_with_its_topics(tmp_path, wrong, options, said):
    parts = {"images": images, "odometry": odometry, "fixes": fixes, "mounting": mounting,
             "camera_info": lambda write: camera_info("/front/camera_info", write)}  # fmt: skip
    with Recorder(tmp_path / "x.mcap") as write:
        write("/chatter", "std_msgs/msg/String", 0, {"data": "hello"})
        for part in set(parts) - wrong:
            parts[part](write)
    with pytest.raises(InputError, match=said) as error:
        next(iter(open_reader("mcap", tmp_path, options).recordings()))()
    assert "\n" not in str(error.value)


def test_a_bag_whose_bytes_changed_is_left_out(tmp_path):
    """One bit of a speed, in a chunk that decodes as well as before."""
    with Recorder(tmp_path / "a.mcap", CompressionType.NONE) as write:
        camera_info("/front/camera_info", write)
        mounting(write)
        images(write, step=1.0)
        odometry(write)
    data = bytearray((tmp_path / "a.mcap").read_bytes())
    data[data.index(np.float64(V).tobytes()) + 6] ^= 8
    (tmp_path / "a.mcap").write_bytes(data)
    with pytest.raises(InputError, match=r"a\.mcap: .* crc validation failed .*mcap recover"):
        next(iter(open_reader("mcap", tmp_path, {}).recordings()))()


@pytest.mark.parametrize(
    ("encoding", "raw"),
    [
        ("bayer_rggb8", np.tile(np.array([[200, 100], [100, 20]], np.uint8), (4, 4))),
        ("yuv422_yuy2", np.tile(np.array([110, 90, 110, 190], np.uint8), (8, 4))),
    ],
)
def test_raw_images_of_cameras(encoding, raw):
    """Red comes out as red: a pattern of filters, or luminance and colour differences."""
    message = SimpleNamespace(encoding=encoding, height=8, width=8, step=raw.shape[1], data=raw.tobytes())
    red, green, blue = mcap._picture(_Held(message), "/cam", 0)[4, 4].tolist()
    assert red == pytest.approx(200, abs=8)
    assert max(green, blue) < 130
    message.encoding = "bayer_rggb16"
    with pytest.raises(InputError, match="found encoding 'bayer_rggb16'; play the bag through image_proc"):
        mcap._picture(_Held(message), "/cam", 0)


class _Held:
    """A bag of one message."""

    name = "a.mcap"

    def __init__(self, message: SimpleNamespace) -> None:
        self._message = message

    def message(self, *_: object) -> SimpleNamespace:
        return self._message

    def reading(self, *_: object) -> contextlib.nullcontext:
        return contextlib.nullcontext()


def test_without_bags(tmp_path, monkeypatch):
    (tmp_path / "old_0.db3").write_bytes(b"SQLite")
    with pytest.raises(InputError, match=r"found none but old_0\.db3; convert it with 'ros2 bag convert'"):
        open_reader("mcap", tmp_path, {})
    write_bag(tmp_path / "drive.mcap")
    monkeypatch.setitem(__import__("sys").modules, "mcap_ros2.decoder", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[mcap\]"'):
        next(iter(open_reader("mcap", tmp_path, {}).recordings()))()
