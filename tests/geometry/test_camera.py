"""Every lens model against OpenCV's own functions, and there and back again."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgen.geometry import camera as cam
from cfgen.records import Camera

RADTAN = (-0.28, 0.07, 0.0007, -0.0004, 0.01)
RATIONAL = (0.4, -0.1, 0.0005, -0.0003, 0.02, 0.7, -0.05, 0.01)
KB = (-0.02, 0.004, -0.003, 0.0006)


def _fit_backward(fw: tuple[float, ...], limit: float) -> tuple[float, ...]:
    theta = np.linspace(0, limit, 400)
    radius = np.polynomial.polynomial.polyval(theta, fw)
    scale = radius[-1]  # conditioning: fit over r / scale
    fit = np.polynomial.polynomial.polyfit(radius / scale, theta, 7)
    return tuple(float(c) for c in fit / scale ** np.arange(8))


FW = (0.0, 930.0, -12.0, -25.0, 4.0)


def make(model: str, distortion: tuple[float, ...] = (), **extra) -> Camera:
    intrinsics = {"fx": 640.0, "fy": 655.0, "cx": 633.0, "cy": 371.0}
    if model == "ftheta":
        intrinsics = {"cx": 963.0, "cy": 541.0, "fw_poly": FW, "bw_poly": _fit_backward(FW, 1.3)}
    if model == "fisheye":
        intrinsics |= {"fx": 420.0, "fy": 421.0}
    values = {"width": 1280, "height": 720, "T_cam_ego": cam.mounted(1.5, 0.05, 0.03, -0.02, x=1.7, y=0.1)}
    if model == "ftheta":
        values |= {"width": 1920, "height": 1080}
    return Camera(model=model, distortion=distortion, **(values | intrinsics | extra))


CAMERAS = {
    "pinhole": make("pinhole"),
    "opencv5": make("opencv", RADTAN),
    "opencv8": make("opencv", RATIONAL),
    "fisheye": make("fisheye", KB),
    "ftheta": make("ftheta"),
}
each = pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS.keys())


def ego_points(camera: Camera, n: int = 2000) -> np.ndarray:
    """Points in front of the camera, most of them in view."""
    rng = np.random.default_rng(5)
    z = rng.uniform(2, 80, n)
    spread = 0.9
    points = np.column_stack([rng.uniform(-spread, spread, n) * z, rng.uniform(-0.5, 0.5, n) * z, z])
    return (points - np.array(camera.T_cam_ego)[:3, 3]) @ cam.rotation(camera)


def opencv_projection(camera: Camera, points: np.ndarray) -> np.ndarray:
    transform = np.array(camera.T_cam_ego)
    rvec, tvec = cv2.Rodrigues(transform[:3, :3])[0], transform[:3, 3]
    K = np.array([[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1]])
    D = np.array(camera.distortion)
    if camera.model == "fisheye":
        return cv2.fisheye.projectPoints(points[:, None], rvec, tvec, K, D)[0][:, 0]
    return cv2.projectPoints(points, rvec, tvec, K, D if len(D) else None)[0][:, 0]


@pytest.mark.parametrize("name", ["pinhole", "opencv5", "opencv8", "fisheye"])
def test_projection_is_opencvs(name):
    camera = CAMERAS[name]
    points = ego_points(camera)
    px, valid = cam.project(camera, points)
    assert valid.mean() > 0.95
    np.testing.assert_allclose(px[valid], opencv_projection(camera, points)[valid], atol=1e-6)


@pytest.mark.parametrize("name", ["opencv5", "opencv8"])
def test_undistortion_is_opencvs(name):
    camera = CAMERAS[name]
    px = cam.project(camera, ego_points(camera))[0]
    px = px[cam.inside(camera, px)]
    K = np.array([[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1]])
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 200, 1e-12)
    expected = cv2.undistortPoints(px[:, None], K, np.array(camera.distortion), criteria=criteria)[:, 0]
    rays, valid = cam.unproject(camera, px)
    assert valid.all()
    np.testing.assert_allclose(rays[:, :2] / rays[:, 2:], expected, atol=1e-7)


@each
def test_there_and_back(camera):
    points = ego_points(camera)
    px, valid = cam.project(camera, points)
    seen = valid & cam.inside(camera, px)
    assert seen.sum() > 500
    rays, ray_valid = cam.unproject(camera, px[seen])
    assert ray_valid.all()
    np.testing.assert_allclose(np.linalg.norm(rays, axis=1), 1, atol=1e-12)
    expected = cam.to_camera(camera, points[seen])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    # f-theta goes back by its own fitted polynomial
    np.testing.assert_allclose(rays, expected, atol=1e-4 if camera.model == "ftheta" else 1e-9)


@each
def test_axis_is_not_nan_and_behind_is_invalid(camera):
    axis = (np.array([[0, 0, 5.0], [0, 0, -5.0]]) - np.array(camera.T_cam_ego)[:3, 3]) @ cam.rotation(camera)
    px, valid = cam.project(camera, axis)
    assert valid.tolist() == [True, False]
    np.testing.assert_allclose(px[0], (camera.cx, camera.cy), atol=1e-6)
    assert np.isnan(px[1]).all()
    rays, valid = cam.unproject(camera, [(camera.cx, camera.cy)])
    assert valid[0]
    np.testing.assert_allclose(rays[0], (0, 0, 1), atol=1e-7)


@each
@settings(max_examples=60, deadline=None)
@given(u=st.floats(0, 1), v=st.floats(0, 1))
def test_ground_points_project_back(camera, u, v):
    px = np.array([[u * (camera.width - 1), v * (camera.height - 1)]])
    xy, valid = cam.ground_points(camera, px)
    if valid[0] and np.hypot(*xy[0]) < 500:
        again, ok = cam.project(camera, [[*xy[0], 0.0]])
        assert ok[0]
        np.testing.assert_allclose(again, px, atol=0.1 if camera.model == "ftheta" else 1e-3)


def test_pixels_above_the_horizon_meet_no_ground():
    camera = CAMERAS["pinhole"]
    row = cam.horizon_rows(camera, [600.0])[0]
    _, valid = cam.ground_points(camera, [[600, row - 2], [600, row + 2]])
    assert valid.tolist() == [False, True]


@each
def test_horizon_is_where_far_ground_is_seen(camera):
    px, valid = cam.project(camera, [[1e7, 3e6, 0.0]])
    assert valid[0]
    assert cam.horizon_rows(camera, px[:, 0])[0] == pytest.approx(px[0, 1], abs=0.05)


def test_beyond_the_fold_is_invalid():
    """Radial distortion grows back inwards: a point far to the side must not appear inside the image."""
    camera = make("opencv", (-0.3, 0.0, 0.0, 0.0, 0.0))
    side = (np.array([[3.0, 0, 1.0], [0.5, 0, 1.0]]) - np.array(camera.T_cam_ego)[:3, 3]) @ cam.rotation(
        camera
    )
    assert cam.project(camera, side)[1].tolist() == [False, True]
    turn = make("ftheta", fw_poly=(0.0, 900.0, 0.0, -200.0))
    side = np.array([[np.sin(1.4), 0, np.cos(1.4)], [np.sin(0.5), 0, np.cos(0.5)]]) * 9
    side = (side - np.array(turn.T_cam_ego)[:3, 3]) @ cam.rotation(turn)
    assert cam.project(turn, side)[1].tolist() == [False, True]


def test_a_fitted_ftheta_has_no_hole_at_its_axis():
    """Backward polynomials are fits: their constant term is a little off 0, on either side."""
    for constant in (-1e-3, 1e-3):
        bw = (constant, *CAMERAS["ftheta"].bw_poly[1:])
        camera = make("ftheta", bw_poly=bw, T_cam_ego=cam.mounted(1.5))
        u, v = np.meshgrid(np.arange(953, 974), np.arange(531, 552))
        rays, valid = cam.unproject(camera, np.column_stack([u.ravel(), v.ravel()]))
        assert valid.all()
        assert np.arccos(np.clip(rays[:, 2], -1, 1)).max() < 0.02
        assert cam.horizon_rows(camera, [963.0, 600.0]) == pytest.approx([541.0, 541.0], abs=1.0)


def test_wide_fisheye_sees_behind_its_plane():
    camera = make(
        "fisheye", (0.0, 0.0, 0.0, 0.0), fx=300.0, fy=300.0, width=1400, height=1200, cx=700.0, cy=600.0
    )
    back = np.array([[np.sin(1.8), 0, np.cos(1.8)]]) * 5
    px, valid = cam.project(camera, (back - np.array(camera.T_cam_ego)[:3, 3]) @ cam.rotation(camera))
    assert valid[0]
    assert px[0, 0] == pytest.approx(700 + 300 * 1.8)


@each
def test_resized_and_cropped_follow_the_pixels(camera):
    points = ego_points(camera, 300)
    px, valid = cam.project(camera, points)
    small = cam.resized(camera, camera.width // 2, camera.height // 4)
    expected = (px + 0.5) / (2, 4) - 0.5
    again, ok = cam.project(small, points)
    np.testing.assert_array_equal(ok, valid)
    np.testing.assert_allclose(again[valid], expected[valid], atol=1e-9)
    crop = cam.cropped(camera, 100, 50, 300, 200)
    np.testing.assert_allclose(cam.project(crop, points)[0][valid], px[valid] - (100, 50), atol=1e-9)
    rays, _ = cam.unproject(small, expected[valid])
    np.testing.assert_allclose(rays, cam.unproject(camera, px[valid])[0], atol=1e-9)


@given(x=st.floats(-20, 20), y=st.floats(-5, 5), theta=st.floats(-1, 1))
def test_at_pose_sees_what_the_moved_car_sees(x, y, theta):
    camera = CAMERAS["pinhole"]
    local = np.array([[10.0, 1.0, 0.5], [25.0, -3.0, 0.0]])
    c, s = np.cos(theta), np.sin(theta)
    world = local @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + (x, y, 0)
    np.testing.assert_allclose(
        cam.project(cam.at_pose(camera, (x, y, theta)), world)[0], cam.project(camera, local)[0], atol=1e-6
    )


@given(pitch=st.floats(-0.5, 0.5), yaw=st.floats(-1.5, 1.5), roll=st.floats(-0.5, 0.5))
def test_mounting_angles_there_and_back(pitch, yaw, roll):
    camera = Camera(width=9, height=9, cx=4, cy=4, T_cam_ego=cam.mounted(1.4, pitch, yaw, roll, 1.0, 0.2))
    np.testing.assert_allclose(cam.angles(camera), (pitch, yaw, roll), atol=1e-9)
    np.testing.assert_allclose(cam.centre(camera), (1.0, 0.2, 1.4), atol=1e-9)


def test_mounting_signs():
    """Pitch down lifts the horizon, yaw left moves what is ahead to the right, roll right lifts the right side."""

    def at(**angle):
        camera = Camera(
            width=200, height=100, fx=100, fy=100, cx=100, cy=50, T_cam_ego=cam.mounted(1.5, **angle)
        )
        return cam.project(camera, [[1e6, 0, 0], [1e6, -2e5, 0]])[0]

    assert at(pitch=0.1)[0, 1] < 50
    assert at(yaw=0.1)[0, 0] > 100
    assert at(roll=0.1)[1, 1] < at(roll=0.1)[0, 1]
