"""Importing: windows cut out of drives, resumed runs, and the readers for footage and comma2k19."""

import cv2
import numpy as np
import pytest
from PIL import Image

from cfgen.cli.main import main
from cfgen.core.errors import InputError
from cfgen.geometry.camera import angles, horizon_rows, mounted
from cfgen.geometry.frames import compose
from cfgen.perception.light import PLACE_KEYS
from cfgen.records import Camera
from cfgen.scenes.check import check_folder
from cfgen.scenes.drive import Drive, Stream, raised
from cfgen.scenes.folder import find_scenes, load_scene, scene_hash
from cfgen.scenes.importing import import_scenes, open_reader
from cfgen.scenes.readers.motion import integrated
from cfgen.scenes.readers.sources import VideoFrames

CAMERA = Camera(width=64, height=36, fx=50, fy=50, cx=31.5, cy=17.5, T_cam_ego=mounted(1.5, 0.03))
SIDE = CAMERA.model_copy(update={"name": "side"})


def drive(seconds: float = 20.0, v: float = 10.0, yaw_rate: float = 0.05) -> Drive:
    """Poses at 50 Hz from 100 s on; a front camera at 10 Hz and a side camera at 7 Hz with an offset."""
    t = np.arange(0, seconds, 0.02)
    poses = compose((500.0, -300.0, 2.9), integrated(t, np.full(len(t), v), np.full(len(t), yaw_rate)))
    front, side = np.arange(0, seconds, 0.1), np.arange(0.03, seconds, 1 / 7)
    grey = lambda i: np.full((36, 64, 3), i % 256, np.uint8)  # noqa: E731
    streams = (Stream(CAMERA, 100 + front, grey), Stream(SIDE, 100 + side, grey))
    return Drive("d", "made", "CC0", streams, 100 + t, raised(poses), np.full(len(t), v), epoch=1e9)


def test_moments_have_history_and_future_around_them():
    found = drive().moments(every_s=3.0)
    assert [round(m.t0 - 100, 3) for m in found] == [2, 5, 8, 11]
    assert [m.scene_id for m in found] == ["d_002000", "d_005000", "d_008000", "d_011000"]


def test_a_cut_scene_has_the_motion_and_the_frames_before_each_time():
    scene, images = drive(v=12.0, yaw_rate=0.1).moments(3.0)[1].cut()
    s, theta = 12.0 * 6, 0.6
    chord = s * np.sinc(theta / 2 / np.pi)
    expected = (chord * np.cos(theta / 2), chord * np.sin(theta / 2), theta)
    np.testing.assert_allclose(scene.future.poses[-1], expected, atol=1e-3)
    np.testing.assert_allclose(scene.history.v, 12, atol=1e-6)
    assert scene.history.t[0] == -2
    front = sorted(f.t for f in scene.frames if f.camera == "front")
    np.testing.assert_allclose(front, [-2, -1.8, -1.5, -1.3, -1, -0.8, -0.5, -0.3, 0], atol=1e-6)
    side = sorted(f.t for f in scene.frames if f.camera == "side")
    own = 0.03 + np.arange(140) / 7 - 5.0
    for asked, t in zip(np.arange(-2, 0.1, 0.25), side, strict=True):
        assert t == pytest.approx(own[own <= asked + 1e-4].max(), abs=1e-4)
    assert scene.timestamp == "2001-09-09T01:48:25.000Z"
    assert set(images) == {f.image for f in scene.frames}


def test_frames_at_any_times(tmp_path):
    times = (0, -0.1, -0.2, -0.3, -0.6)
    import_scenes(_Source(drive()), tmp_path, 20.0, frame_times=times, quiet=True)
    scene = load_scene(find_scenes(tmp_path)[0]).scene
    np.testing.assert_allclose([f.t for f in scene.frames if f.camera == "front"], times, atol=1e-6)
    assert not check_folder(tmp_path)[find_scenes(tmp_path)[0]]


def test_scenes_begin_where_the_frames_that_are_wanted_are_there():
    times = drive().streams[0].times
    assert drive().moments(3.0)[0].t0 == pytest.approx(times[0] + 2, abs=0.11)
    (first, *_) = drive().moments(3.0, 5.0)
    assert first.t0 == pytest.approx(times[0] + 5, abs=0.11)
    scene, _ = first.cut([-0.5 * k for k in range(11)])
    assert min(f.t for f in scene.frames if f.camera == "front") == pytest.approx(-5, abs=0.11)
    assert scene.history.t[0] == -5
    assert len(drive(seconds=9.0).moments(3.0, 5.0)) == 1  # too short: as if nothing further back was wanted


def test_a_short_drive_gives_one_scene_with_what_it_has():
    found = drive(seconds=4.0).moments(3.0)
    assert len(found) == 1
    scene, _ = found[0].cut()
    assert scene.future.t[-1] == 2
    assert "history_extrapolated" not in scene.extra


class _Source:
    def __init__(self, *drives):
        self._drives = drives

    def recordings(self):
        return [lambda d=d: d for d in self._drives]


def test_import_resumes_and_spreads_a_limit(tmp_path):
    first = import_scenes(_Source(drive()), tmp_path, 1.0, limit=3, quiet=True)
    assert (first.written, first.kept) == (3, 0)
    names = [p.name for p in find_scenes(tmp_path)]
    assert names == ["d_002000", "d_008000", "d_014000"] or len(names) == 3
    hashes = [scene_hash(p) for p in find_scenes(tmp_path)]
    (tmp_path / names[1] / "scene.json").unlink()  # as after a kill: images there, record not yet
    again = import_scenes(_Source(drive()), tmp_path, 1.0, limit=3, quiet=True)
    assert (again.written, again.kept) == (1, 2)
    assert [scene_hash(p) for p in find_scenes(tmp_path)] == hashes


def test_lossless_keeps_every_pixel(tmp_path):
    import_scenes(_Source(drive()), tmp_path, lossless=True, quiet=True)
    folder = load_scene(find_scenes(tmp_path)[0])
    assert folder.front_frame().image.endswith(".png")
    assert (folder.image() == 20).all()


def test_a_broken_recording_is_named_and_the_others_are_imported(tmp_path):
    def broken():
        raise InputError("x: no good")

    class Two(_Source):
        def recordings(self):
            return [broken, *super().recordings()]

    summary = import_scenes(Two(drive()), tmp_path, quiet=True)
    assert summary.written == 4
    assert summary.failed == {"recording 1": "x: no good"}


# --- video, image -------------------------------------------------------------------------------------------


def film(path, frames: int = 100, fps: float = 10.0, size=(96, 54)) -> None:
    """Frame i is grey i + 20: readable after lossy coding."""
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), fps, size)
    for i in range(frames):
        writer.write(np.full((size[1], size[0], 3), i + 20, np.uint8))
    writer.release()


def test_video_frames_by_number(tmp_path):
    film(tmp_path / "v.mp4")
    frames = VideoFrames(tmp_path / "v.mp4")
    assert (frames.count, round(frames.fps)) == (100, 10)
    for index in (0, 40, 41, 5, 99, 40):
        assert abs(float(frames.read(index).mean()) - index - 20) < 3
    with pytest.raises(InputError, match="expected a frame 100, found the video's end after 100"):
        frames.read(100)


def test_raw_hevc_by_number(tmp_path):
    """comma2k19's video.hevc has no container: no seeking, no frame count."""
    av = pytest.importorskip("av")
    path = tmp_path / "video.hevc"
    with av.open(str(path), "w", format="hevc") as container:
        stream = container.add_stream("libx265", rate=20, options={"x265-params": "log-level=none"})
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for i in range(30):
            picture = av.VideoFrame.from_ndarray(np.full((64, 96, 3), 5 * i + 20, np.uint8), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    frames = VideoFrames(path)
    for index in (12, 29, 3):
        assert abs(float(frames.read(index).mean()) - 5 * index - 20) < 2.5


def test_video_with_constant_speed(tmp_path, capsys):
    film(tmp_path / "v.mp4")
    command = ["scenes", "import", "video", str(tmp_path / "v.mp4"), "--out", str(tmp_path / "out"), "--every-s", "1s",
               "--frame-times", "0,0.5,1", "--options", "speed=12.5",
               "--options", "horizon_row=20", "--drive-on", "left", "--quiet"]  # fmt: skip
    assert main(command) == 0
    assert "2 scenes written" in capsys.readouterr().out
    folder = load_scene(tmp_path / "out" / "v_002000")
    assert folder.scene.speed == 12.5
    assert folder.scene.extra["drive_on"] == "left"
    assert not folder.scene.motion_known
    assert folder.scene.future.poses[-1][0] == pytest.approx(75)
    assert horizon_rows(folder.scene.front, [48.0])[0] == pytest.approx(20, abs=0.1)
    pixels = [folder.image(frame) for frame in folder.frames_at("front", [-1.0, 0.0])]
    assert abs(float(pixels[0].mean()) - 30) < 3
    assert abs(float(pixels[1].mean()) - 40) < 3


def test_video_with_a_speed_file_and_a_calibration(tmp_path):
    film(tmp_path / "v.mp4")
    t = np.arange(0, 10.5, 0.5)
    rows = "\n".join(f"{a},{36 + 3.6 * a},{0.1}" for a in t)
    (tmp_path / "speed.csv").write_text("t,speed_kmh,yaw_rate\n" + rows)
    (tmp_path / "cal.json").write_text(
        '{"intrinsics": {"fx": 80, "fy": 80, "cx": 48, "cy": 27, "distortion": [-0.1, 0, 0, 0]},'
        ' "extrinsics": {"camera_height_m": 1.2, "pitch_deg": 3}}'
    )
    options = {"speed": str(tmp_path / "speed.csv"), "camera": str(tmp_path / "cal.json")}
    import_scenes(open_reader("video", tmp_path / "v.mp4", options), tmp_path / "out", quiet=True)
    scene = load_scene(tmp_path / "out" / "v_002000").scene
    assert scene.motion_known
    assert scene.front.model == "opencv"
    assert scene.speed == pytest.approx(12, abs=0.01)
    assert scene.future.v[-1] == pytest.approx(18, abs=0.05)
    assert scene.future.poses[-1][2] == pytest.approx(0.6, abs=1e-3)


def test_single_images_are_marked_as_without_motion(tmp_path):
    Image.fromarray(np.zeros((54, 96, 3), np.uint8)).save(tmp_path / "still.png")
    import_scenes(open_reader("image", tmp_path / "still.png", {"fov_deg": 60}), tmp_path / "out", quiet=True)
    scene = load_scene(tmp_path / "out" / "still_000000").scene
    assert not scene.motion_known
    assert scene.future is None
    assert scene.extra["history_extrapolated"]
    assert scene.front.fx == pytest.approx(48 / np.tan(np.radians(30)))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sped": 1}, "has no option 'sped'; it takes: speed, fps"),
        ({"fov_deg": "wide"}, "option 'fov_deg'.*found 'wide'"),
        ({"fov_deg": 400}, "option 'fov_deg'.*160, found 400"),
        ({"horizon_row": 500}, "row inside the frame, or above it up to 40 degrees"),
        ({"speed": "nowhere.csv"}, r"nowhere\.csv: cannot be read"),
        ({"camera": "nowhere.json"}, "expected a file, found none"),
    ],
)
def test_wrong_options_are_named(tmp_path, options, says):
    film(tmp_path / "v.mp4", frames=10)
    with pytest.raises(InputError, match=says):
        next(iter(open_reader("video", tmp_path / "v.mp4", options).recordings()))()


def test_unknown_reader_and_missing_source(tmp_path):
    with pytest.raises(InputError, match=r"scene reader 'nuscene' is not known; expected one of:.*image"):
        open_reader("nuscene", tmp_path, {})
    with pytest.raises(InputError, match="found nothing there"):
        open_reader("video", tmp_path / "none.mp4", {})
    (tmp_path / "x.mp4").write_text("no video")
    with pytest.raises(InputError, match="does not decode"):
        next(iter(open_reader("video", tmp_path / "x.mp4", {}).recordings()))()


def test_a_third_partys_reader_is_found_by_its_entry_point(tmp_path, monkeypatch):
    """An installed package with one entry-point line, as pip leaves it on disk."""
    site = tmp_path / "site"
    info = site / "their_logs-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-logs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[cfgen.scenes]\ntheirs = their_logs:Reader\n")
    (site / "their_logs.py").write_text(
        "class Reader:\n    def __init__(self, source, pace: float = 1.0):\n        self.pace = pace\n"
        "    def recordings(self):\n        return []\n"
    )
    monkeypatch.syspath_prepend(str(site))
    reader = open_reader("theirs", tmp_path, {"pace": 2})
    assert reader.pace == 2.0
    assert import_scenes(reader, tmp_path / "out", quiet=True).written == 0


# --- folder, comma2k19 --------------------------------------------------------------------------------------


def test_folder_reader_copies_to_the_same_hash(hand, tmp_path):
    source = hand("in")
    import_scenes(open_reader("folder", source, {}), tmp_path / "out", quiet=True)
    assert scene_hash(tmp_path / "out" / "hand_1") == scene_hash(source)
    (source / "hist" / "0.png").write_bytes(b"broken")
    summary = import_scenes(open_reader("folder", source, {}), tmp_path / "two", quiet=True)
    assert "0.png" in summary.failed["hand_1"]


def comma_segment(folder, v: float = 15.0, yaw: float = 0.02, pitch: float = 0.05) -> None:
    """A segment on a straight eastward road at the equator: ECEF y forward, z left, x up; 200 frames at 20 Hz."""
    t = 1000 + np.arange(200) * 0.05
    n = len(t)
    world_from_ego = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    camera_from_ego = np.array(mounted(1.22, pitch, yaw))[:3, :3]
    device_from_camera = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    world_from_device = world_from_ego @ camera_from_ego.T @ device_from_camera.T
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(world_from_device).as_quat()
    arrays = {
        "frame_times": t,
        "frame_positions": np.array([6378137.0, 0, 0]) + np.outer(v * (t - t[0]), [0, 1, 0]),
        "frame_velocities": np.tile([0.0, v, 0], (n, 1)),
        "frame_orientations": np.tile([w, x, y, z], (n, 1)),
        "frame_gps_times": np.column_stack([np.full(n, 2012.0), 404106.397 + t - t[0]]),
    }
    (folder / "global_pose").mkdir(parents=True)
    for name, array in arrays.items():
        with (folder / "global_pose" / name).open("wb") as file:
            np.save(file, array)
    for name, array in {"t": t, "value": np.full((n, 1), v + 0.1)}.items():
        (folder / "processed_log" / "CAN" / "speed").mkdir(parents=True, exist_ok=True)
        with (folder / "processed_log" / "CAN" / "speed" / name).open("wb") as file:
            np.save(file, array)


def test_comma2k19_with_video(tmp_path):
    segment = tmp_path / "Chunk_1" / "b0c9|2018-08-02--08-34-47" / "3"
    comma_segment(segment)
    film(segment / "v.mp4", 200, 20, (1164, 874))
    (segment / "v.mp4").rename(segment / "video.hevc")  # the decoder goes by content
    summary = import_scenes(open_reader("comma2k19", tmp_path, {}), tmp_path / "out", quiet=True)
    assert summary.written == 1
    folder = load_scene(tmp_path / "out" / "b0c9-2018-08-02--08-34-47_3_002000")
    scene = folder.scene
    pitch, yaw, roll = angles(scene.front)
    np.testing.assert_allclose((pitch, yaw, roll), (0.05, 0.02, 0), atol=1e-6)
    np.testing.assert_allclose(scene.future.poses[-1], (90, 0, 0), atol=1e-3)
    assert scene.speed == pytest.approx(15.1)
    assert scene.license == "MIT"
    assert scene.timestamp.startswith("2018-08-02T16:14:50.39")
    assert [scene.extra[key] for key in PLACE_KEYS] == pytest.approx([0, 0, 90], abs=0.01)
    assert abs(float(folder.image().mean()) - 60) < 3
    assert abs(float(folder.image(folder.frames_at("front", [-2.0])[0]).mean()) - 20) < 3
    assert not any(check_folder(tmp_path / "out").values())


def test_comma2k19_real_segment(real, tmp_path):
    """Motion as in the scene that was made from the same segment by other means."""
    segment = real / "comma2k19"
    import_scenes(open_reader("comma2k19", segment, {}), tmp_path, quiet=True)
    ours = load_scene(find_scenes(tmp_path)[0]).scene
    theirs = load_scene(segment / "scenes" / "comma2k19_0000").scene
    np.testing.assert_allclose(ours.front.T_cam_ego, theirs.front.T_cam_ego, atol=1e-3)
    difference = np.abs(np.array(ours.future.poses) - np.array(theirs.future.poses))
    assert (difference.max(axis=0) < (0.05, 0.3, 0.01)).all()
