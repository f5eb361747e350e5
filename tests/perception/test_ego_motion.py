"""Speed and yaw rate of a car from its pictures, on a road that is drawn and on real drives with known motion."""

import cv2
import numpy as np
import pytest

from cfgen.geometry.camera import ground_points, project, rotation, unproject
from cfgen.perception.ego_motion import SURE, ego_motion
from cfgen.scenes.check import check_scene
from cfgen.scenes.folder import find_scenes, load_scene
from cfgen.scenes.importing import import_scenes, open_reader
from cfgen.scenes.readers.camera_options import plain_camera
from cfgen.scenes.readers.sources import VideoFrames

SIZE = (480, 270)


def _noise(rng, shape, grain):
    small = rng.uniform(40, 220, (shape[0] // grain + 1, shape[1] // grain + 1)).astype(np.float32)
    return cv2.resize(small, shape[::-1], interpolation=cv2.INTER_CUBIC)


def drawn_drive(v, yaw_rate, count=12, step=0.1):
    """A camera over noise: ground in metres, leaves beside it, and hills far off in every direction."""
    camera = plain_camera(*SIZE, fov_deg=60, camera_height_m=1.4, horizon_row=round(SIZE[1] * 0.45))
    rng = np.random.default_rng(3)
    road, hills = _noise(rng, (1600, 1600), 6), _noise(rng, (500, 2000), 12)
    u, w = np.meshgrid(np.arange(SIZE[0]), np.arange(SIZE[1]))
    px = np.column_stack([u.ravel(), w.ravel()]).astype(float)
    ground, low = ground_points(camera, px)
    rays = unproject(camera, px)[0] @ rotation(camera)
    leaves = rng.uniform((5, -1, 0.5), (90, 1, 6), (150, 3))
    leaves[:, 1] = np.sign(leaves[:, 1]) * rng.uniform(4, 14, 150)
    sizes, shades = rng.uniform(60, 160, 150), rng.integers(0, 255, 150).tolist()
    distance = np.hypot(*np.nan_to_num(ground, nan=1e3).T)
    near = np.clip(1.5 - distance / 30, 0, 1).reshape(SIZE[::-1])  # the road fades into haze
    high = np.clip(20 * rays[:, 2], 0, 1).reshape(SIZE[::-1])
    frames, x, y, theta = [], 0.0, 0.0, 0.0
    for i in range(count):
        c, s = np.cos(theta), np.sin(theta)
        at = np.where(low[:, None], ground, 0) @ np.array([[c, s], [-s, c]]) + (x, y)
        here = cv2.remap(road, *_maps(20 * at[:, 0] + 40, 20 * at[:, 1] + 800), cv2.INTER_LINEAR)
        bearing, slope = np.arctan2(rays[:, 1], rays[:, 0]) + theta, rays[:, 2]
        far = cv2.remap(hills, *_maps(1000 + 700 * bearing, 250 - 700 * slope), cv2.INTER_LINEAR)
        grey = (130 + near * (here - 130) + high * (far - 130)).clip(0, 255).astype(np.uint8)
        for spot, size, shade in zip(leaves, sizes, shades, strict=True):
            here = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) @ (spot - (x, y, 0))
            if here[0] > 3:
                at_px = project(camera, here[None])[0][0]
                middle = tuple((16 * at_px).round().astype(int).tolist())
                cv2.circle(grey, middle, round(16 * size / here[0]), shade, -1, cv2.LINE_AA, 4)
        frames.append((i * step, np.dstack([grey] * 3)))
        x, y = x + v * step * np.cos(theta), y + v * step * np.sin(theta)
        theta += yaw_rate * step
    return camera, frames


def _maps(u, v):
    return tuple(np.asarray(m, np.float32).reshape(SIZE[::-1]) for m in (u, v))


@pytest.mark.parametrize(("v", "yaw_rate"), [(0.0, 0.0), (12.0, 0.08), (24.0, -0.03)])
def test_a_drawn_drive_is_measured(v, yaw_rate):
    camera, frames = drawn_drive(v, yaw_rate)
    found = ego_motion(camera, frames)
    assert np.abs(found.v - v).max() < 0.1 * v + 0.3
    assert np.abs(found.yaw_rate - yaw_rate).mean() < 0.008
    assert found.fit.mean() > SURE


def test_the_stated_horizon_may_be_off():
    """Where the points flow from tells where the car drives to: half a degree would else be a fifth of the speed."""
    _, frames = drawn_drive(15.0, 0.0)
    wrong = plain_camera(*SIZE, fov_deg=60, camera_height_m=1.4, horizon_row=round(SIZE[1] * 0.45) - 4)
    assert np.abs(ego_motion(wrong, frames).v - 15).mean() < 1.6


def test_too_few_frames_and_frames_that_show_nothing_say_nothing():
    camera, frames = drawn_drive(10.0, 0.0, count=2)
    assert ego_motion(camera, frames) is None
    black = [(0.1 * i, np.zeros((*SIZE[::-1], 3), np.uint8)) for i in range(4)]
    assert ego_motion(camera, black).fit.max() < SURE


def test_real_drives_are_measured(real):
    """A motorway at 30.4 m/s, and three scenes of a country road; docs/scenes.md has the figures of all of them."""
    scene = load_scene(real / "udacity_lanelines" / "scenes" / "lanelines_050").scene
    video = VideoFrames(real / "udacity_lanelines" / "solidWhiteRight.mp4")
    found = ego_motion(scene.front, [(i / 25, video.read(i)) for i in range(0, 36, 3)])
    assert abs(float(found.v.mean()) / scene.speed - 1) < 0.08
    assert np.abs(found.yaw_rate).mean() < 0.01
    off, turned = [], []
    for number in ("01840", "02080", "04059"):
        folder = load_scene(real / "udacity_hmb3" / "scenes" / f"hmb3_{number}")
        history = folder.scene.history
        frames = sorted(folder.scene.frames, key=lambda f: f.t)
        one = ego_motion(folder.scene.front, [(f.t, folder.image(f)) for f in frames])
        off.append(abs(one.v.mean() / np.mean(history.v) - 1))
        theta = np.interp(one.t, history.t, [pose[2] for pose in history.poses])
        turned.append(np.abs(one.yaw_rate - np.gradient(theta, one.t)).mean())
    assert np.median(off) < 0.15
    assert np.median(turned) < 0.01


def test_what_stays_on_the_picture_is_no_standing_car(real):
    """Upside down the sky is where the road was, and stays where it is while the points of the picture move."""
    scene = load_scene(real / "udacity_lanelines" / "scenes" / "lanelines_050").scene
    video = VideoFrames(real / "udacity_lanelines" / "solidWhiteRight.mp4")
    turned = [(i / 25, video.read(i)[::-1, ::-1].copy()) for i in range(0, 24, 3)]
    assert ego_motion(scene.front, turned).fit.mean() < SURE


def test_a_bare_video_becomes_scenes_with_estimated_motion(tmp_path):
    _, frames = drawn_drive(8.0, 0.0, count=24)
    (tmp_path / "drive").mkdir()
    for i, (_, image) in enumerate(frames):
        cv2.imwrite(str(tmp_path / "drive" / f"{i:03d}.jpg"), image)
    options = {"fps": 10, "fov_deg": 60, "camera_height_m": 1.4, "horizon_row": round(SIZE[1] * 0.45)}
    import_scenes(open_reader("video", tmp_path / "drive", options), tmp_path / "out", limit=1, quiet=True)
    folder = find_scenes(tmp_path / "out")[0]
    scene = load_scene(folder).scene
    assert scene.motion_known == "estimated"
    assert scene.extra["motion_from"]["fit"] > SURE
    assert abs(scene.speed - 8) < 1.2
    faults = [fault.what for fault in check_scene(folder)[1] if fault.where == "motion_known"]
    assert faults == ["estimated: speeds are measured in the frames, often 15% off"]
    del options["fov_deg"]
    import_scenes(open_reader("video", tmp_path / "drive", options), tmp_path / "lens", limit=1, quiet=True)
    folder = find_scenes(tmp_path / "lens")[0]
    scene = load_scene(folder).scene
    assert scene.motion_known is False
    assert scene.extra["motion_from"]["lens"] == "guess"
    [fault] = [fault.what for fault in check_scene(folder)[1] if fault.where == "motion_known"]
    assert "through a lens that nobody named" in fault
