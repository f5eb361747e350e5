"""Camera models against OpenCV and physical_ai_av, and how fast scenes are imported, checked and shown.

    python benchmarks/scenes.py [real drives]

Errors are the largest over points spread over the whole frame at 2 to 80 m. Speeds are ratios or scenes a second in
one process.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from cfgen.geometry import camera as cam
from cfgen.records import Camera
from cfgen.scenes.check import check_folder
from cfgen.scenes.importing import import_scenes, open_reader
from cfgen.scenes.show import write_page

FW = (0.0, 930.0, -12.0, -25.0, 4.0)
MOUNTING = cam.mounted(1.5, 0.05, 0.03, -0.02, x=1.7)
PINHOLE = {"fx": 640.0, "fy": 655.0, "cx": 633.0, "cy": 371.0, "width": 1280, "height": 720}
LENSES = {
    "pinhole": {"model": "pinhole"},
    "opencv 5": {"model": "opencv", "distortion": (-0.28, 0.07, 0.0007, -0.0004, 0.01)},
    "opencv 8": {"model": "opencv", "distortion": (0.4, -0.1, 0.0005, -0.0003, 0.02, 0.7, -0.05, 0.01)},
    "fisheye": {"model": "fisheye", "fx": 420.0, "fy": 421.0, "distortion": (-0.02, 0.004, -0.003, 0.0006)},
}


def lenses() -> None:
    print("camera model   reference        points  project px   there and back px  time, reference = 1")
    for name, fields in LENSES.items():
        camera = Camera(T_cam_ego=MOUNTING, **(PINHOLE | fields))
        points = _points(camera, 200_000)
        _row(name, "OpenCV", camera, points, _opencv(camera))
    radius = np.polynomial.polynomial.polyval(np.linspace(0, 1.3, 400), FW)
    backward = np.polynomial.polynomial.polyfit(
        radius / 900, np.linspace(0, 1.3, 400), 4
    ) / 900.0 ** np.arange(5)
    size = {"width": 1920, "height": 1080, "cx": 963.0, "cy": 541.0}
    camera = Camera(model="ftheta", fw_poly=FW, bw_poly=tuple(backward), T_cam_ego=MOUNTING, **size)
    try:
        from physical_ai_av.utils.camera_models import FThetaCameraModel
    except ImportError:
        print('f-theta needs: pip install "cfgen-bench[physical-ai-av]"')
        return
    row = (
        size
        | {f"fw_poly_{i}": c for i, c in enumerate(FW)}
        | {f"bw_poly_{i}": c for i, c in enumerate(backward)}
    )
    theirs = FThetaCameraModel.from_camera_row(row)
    _row("ftheta", "physical_ai_av", camera, _points(camera, 200_000),
         lambda points: theirs.ray2pixel(cam.to_camera(camera, points)))  # fmt: skip


def _row(name: str, reference: str, camera: Camera, points: np.ndarray, theirs: Callable) -> None:  # type: ignore[type-arg]
    px, valid = cam.project(camera, points)
    seen = valid & cam.inside(camera, px)
    error = np.abs(px[seen] - theirs(points[seen])).max()
    ground, on_ground = cam.ground_points(camera, px[seen])
    again, _ = cam.project(camera, np.column_stack([ground, np.zeros(len(ground))])[on_ground])
    back = np.abs(again - px[seen][on_ground]).max()
    ratio = _best(lambda: cam.project(camera, points)) / _best(lambda: theirs(points))
    print(f"{name:<14} {reference:<14} {seen.sum():8}  {error:10.1e}  {back:17.1e}  {ratio:19.2f}")


def _opencv(camera: Camera) -> Callable[[np.ndarray], np.ndarray]:
    transform = np.array(camera.T_cam_ego)
    rvec, tvec = cv2.Rodrigues(transform[:3, :3])[0], transform[:3, 3]
    k = np.array([[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1]])
    d = np.array(camera.distortion) if camera.distortion else None
    if camera.model == "fisheye":
        return lambda points: cv2.fisheye.projectPoints(points[:, None], rvec, tvec, k, d)[0][:, 0]
    return lambda points: cv2.projectPoints(points, rvec, tvec, k, d)[0][:, 0]


def _points(camera: Camera, n: int) -> np.ndarray:
    """(n, 3) ego points in front of the camera, spread over and a little beyond its frame."""
    rng = np.random.default_rng(5)
    z = rng.uniform(2, 80, n)
    points = np.column_stack([rng.uniform(-1.0, 1.0, n) * z, rng.uniform(-0.6, 0.6, n) * z, z])
    return (points - np.array(camera.T_cam_ego)[:3, 3]) @ cam.rotation(camera)


def imports(real: Path) -> None:
    print("\nsource                                        scenes  frames  scenes/s")
    hmb3, film = real / "udacity_hmb3" / "scenes", real / "udacity_lanelines" / "solidWhiteRight.mp4"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _imported("folder, 72 scenes of 9 frames 640x480", "folder", hmb3, folder / "a", {})
        _imported(
            "comma2k19, one minute, preview 1164x874", "comma2k19", real / "comma2k19", folder / "b", {}
        )
        _imported("image, 13 stills up to 2448x2048", "image", real / "images", folder / "c", {})
        _imported("video, 960x540 at 25 Hz", "video", film, folder / "d", {"speed": 30})
        long = folder / "minute.mp4"
        _minute(long)
        _imported("video, a minute of 1920x1080 at 30 Hz", "video", long, folder / "e", {"speed": 15})
        seconds = _best(lambda: check_folder(hmb3), 1)
        print(f"check, every image decoded{'':<20}{72:>6}{72 * 9:>8}{72 / seconds:>10.1f}")
        seconds = _best(lambda: write_page(hmb3, folder / "page.html", quiet=True), 1)
        print(f"show{'':<42}{72:>6}{72 * 9:>8}{72 / seconds:>10.1f}")


def _imported(label: str, reader: str, source: Path, out: Path, options: dict[str, object]) -> None:
    start = time.perf_counter()
    summary = import_scenes(open_reader(reader, source, options), out, every_s=3.0, quiet=True)
    seconds = time.perf_counter() - start
    frames = sum(1 for p in out.rglob("*") if p.suffix in (".jpg", ".png"))
    print(f"{label:<46}{summary.written:>6}{frames:>8}{summary.written / seconds:>10.1f}")


def _minute(path: Path) -> None:
    """Moving noise, so that the decoder has something to do."""
    rng = np.random.default_rng(0)
    tile = cv2.resize(rng.integers(0, 255, (68, 120, 3), np.uint8), (1920, 1080))
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), 30, (1920, 1080))
    for i in range(60 * 30):
        writer.write(np.roll(tile, 3 * i, axis=1))
    writer.release()


def _best(function: Callable[[], object], times: int = 5) -> float:
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return min(spent)


if __name__ == "__main__":
    lenses()
    imports(
        Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared" / "real"
    )
