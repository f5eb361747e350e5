"""Lenses and mountings against closed forms, SciPy and finite differences."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from cfgen.geometry import camera as cam
from cfgen.geometry import lens
from cfgen.records import Camera
from tests.geometry.test_camera import KB, RADTAN, RATIONAL, make

STRONG = (-0.35, 0.12, 0.02, -0.03, 0.04, 0.15, -0.06, 0.02)


def eye(model: str = "pinhole", distortion=(), **more) -> Camera:
    """A camera at the origin that looks along its own z: ego frame and camera frame are one."""
    given = {"width": 800, "height": 600, "fx": 300.0, "fy": 310.0, "cx": 400.0, "cy": 300.0}
    here = {"T_cam_ego": tuple(map(tuple, np.eye(4).tolist()))}
    return Camera(model=model, distortion=distortion, **{**given, **here, **more})


def rays_at(*angles: float, turn: float = 0.7) -> np.ndarray:
    """Points this far from the optical axis, rad."""
    return (
        np.array([(math.sin(a) * math.cos(turn), math.sin(a) * math.sin(turn), math.cos(a)) for a in angles])
        * 7
    )


@pytest.mark.parametrize("distortion", [RADTAN, RATIONAL, STRONG])
def test_the_slope_of_a_distortion_is_its_finite_difference(distortion):
    xy = np.random.default_rng(0).uniform(-0.5, 0.5, (50, 2))
    _, jacobian = lens._distort(distortion, xy)
    h = 1e-6
    for j in (0, 1):
        step = h * np.eye(2)[j]
        slope = (lens._distort(distortion, xy + step)[0] - lens._distort(distortion, xy - step)[0]) / (2 * h)
        np.testing.assert_allclose(jacobian[:, :, j], slope, atol=1e-8)


@pytest.mark.parametrize("distortion", [RADTAN, RATIONAL, STRONG])
def test_undistortion_is_scipys_root_along_the_axis_of_a_radial_lens(distortion):
    """Without its tangential part a lens moves points along their radius: one equation in one unknown."""
    radial = (*distortion[:2], 0.0, 0.0, *distortion[4:])
    camera, (n, d) = eye("opencv", radial), lens._radial(radial)
    for radius in (0.05, 0.2, 0.4):

        def off(r, radius=radius):
            q = r * r
            return (
                r * np.polynomial.polynomial.polyval(q, n) / np.polynomial.polynomial.polyval(q, d) - radius
            )

        expected = math.atan(brentq(off, 0, 0.8, xtol=1e-14))
        rays, valid = cam.unproject(camera, [(400 + 300 * radius, 300), (400, 300 + 310 * radius)])
        assert valid.all()
        assert np.arccos(rays[:, 2]) == pytest.approx([expected] * 2, abs=1e-9)
        assert rays[0, 1] == rays[1, 0] == 0


@pytest.mark.parametrize("k1", [-0.3, -0.05])
def test_a_barrel_folds_where_its_slope_is_zero(k1):
    """r (1 + k1 r^2) grows up to r^2 = -1 / (3 k1)."""
    fold = math.sqrt(-1 / (3 * k1))
    camera = eye("opencv", (k1, 0.0, 0.0, 0.0, 0.0))
    _, valid = cam.project(camera, [(r, 0.0, 1.0) for r in (0.999 * fold, 1.001 * fold)])
    assert valid.tolist() == [True, False]
    edge = fold * (1 + k1 * fold**2)
    _, valid = cam.unproject(camera, [(400 + 300 * r * edge, 300.0) for r in (0.999, 1.001)])
    assert valid.tolist() == [True, False], "no direction is seen beyond the farthest pixel"


def test_a_rational_lens_ends_at_its_pole():
    """1 / (1 + k4 r^2) with k4 < 0 grows without end towards r^2 = -1 / k4."""
    camera = eye("opencv", (0.0, 0.0, 0.0, 0.0, 0.0, -0.25, 0.0, 0.0))
    _, valid = cam.project(camera, [(1.99, 0.0, 1.0), (2.01, 0.0, 1.0)])
    assert valid.tolist() == [True, False]


@pytest.mark.parametrize(
    ("coefficients", "root"),
    [
        ((6.0, -5.0, 1.0), 2.0),
        ((-6.0, 1.0, 1.0), 2.0),  # the other is -3
        ((0.0, -3.0, 1.0), 3.0),  # 0 itself does not count
        ((1.0, 0.0, 1.0), math.inf),
        ((4.0, -1.0, 0.0, 0.0), 4.0),
        ((5.0,), math.inf),
    ],
)
def test_first_root(coefficients, root):
    assert lens._first_root(coefficients) == pytest.approx(root)


def test_inversion_by_halving():
    values = np.array([0.0, 0.3, 2.0, 7.9])
    assert lens._invert(lambda x: x**3, values, 2.0) == pytest.approx(np.cbrt(values), abs=1e-8)


def test_equidistant_fisheye_in_closed_form():
    """r = f theta, seen up to the corner of the image and 90 degrees at least."""
    camera = eye("fisheye", (0.0, 0.0, 0.0, 0.0), fx=300.0, fy=300.0)
    corner = math.hypot(400, 300) / 300
    assert lens.field_angle(camera) == pytest.approx(max(math.pi / 2, corner))
    px, valid = cam.project(camera, rays_at(0.4, 1.2))
    assert valid.all()
    expected = [(400 + 300 * a * math.cos(0.7), 300 + 300 * a * math.sin(0.7)) for a in (0.4, 1.2)]
    np.testing.assert_allclose(px, expected, atol=1e-9)
    _, valid = cam.project(camera, rays_at(corner - 1e-3, corner + 1e-3))
    assert valid.tolist() == [True, False]
    narrow = eye("fisheye", (0.0, 0.0, 0.0, 0.0), fx=900.0, fy=900.0)
    assert lens.field_angle(narrow) == math.pi / 2
    _, valid = cam.unproject(narrow, [(400 + 900 * a, 300.0) for a in (1.57, 1.58)])
    assert valid.tolist() == [True, False]


def test_a_fisheye_ends_where_its_radius_turns_back():
    """theta (1 + k1 theta^2) with k1 = -0.1: up to sqrt(1 / 0.3), even where the image goes farther."""
    camera = eye("fisheye", (-0.1, 0.0, 0.0, 0.0), fx=200.0, fy=200.0, width=4000, cx=2000.0)
    fold = math.sqrt(1 / 0.3)
    assert lens.field_angle(camera) == pytest.approx(fold)
    _, valid = cam.project(camera, rays_at(fold - 1e-3, fold + 1e-3))
    assert valid.tolist() == [True, False]
    edge = fold * (1 - 0.1 * fold**2)
    rays, valid = cam.unproject(camera, [(2000 + 200 * edge * r, 300.0) for r in (0.99, 1.01)])
    assert valid.tolist() == [True, False]
    assert np.isnan(rays[1]).all()


@pytest.mark.parametrize(
    "camera", [eye("fisheye", KB), make("ftheta"), eye("fisheye", KB, fx=250.0, fy=400.0)]
)
def test_angles_from_the_axis_are_found_again(camera):
    """The forward polynomial decides: evaluated by hand, then sought from the pixel."""
    if camera.model == "ftheta":
        wanted = [0.001, 0.2, 0.6]
        radii = [sum(c * a**i for i, c in enumerate(camera.fw_poly)) for a in wanted]
    else:
        wanted = [0.001, 0.4, 1.1]
        radii = [a + sum(k * a ** (2 * i + 3) for i, k in enumerate(KB)) for a in wanted]
    px = [(camera.cx + camera.fx * r * 0.6, camera.cy + camera.fy * r * 0.8) for r in radii]
    rays, valid = cam.unproject(camera, px)
    assert valid.all()
    expected = [(math.sin(a) * 0.6, math.sin(a) * 0.8, math.cos(a)) for a in wanted]
    # f-theta starts from its own fitted way back
    np.testing.assert_allclose(rays, expected, atol=1e-7 if camera.model == "ftheta" else 1e-9)


def test_one_bad_point_spoils_no_other():
    for camera in (eye("fisheye", KB), eye("opencv", RADTAN), eye()):
        points = np.array([[0.2, 0.1, 1.0], [0.0, 0.0, 0.0], [0.1, 0.1, -4.0], [0.0, 0.0, 3.0]])
        px, valid = cam.project(camera, points)
        assert valid.tolist() == [True, False, False, True]
        assert np.isnan(px[[1, 2]]).all()
        assert px[3] == pytest.approx((400, 300))
        alone, _ = cam.project(camera, points[:1])
        assert np.array_equal(px[:1], alone)
        assert cam.project(camera, np.zeros((0, 3)))[0].shape == (0, 2)
        assert cam.unproject(camera, np.zeros((0, 2)))[0].shape == (0, 3)


# --- mountings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pitch", "yaw", "roll"), [(0.1, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.2), (0.2, -0.7, 0.1)]
)
def test_a_mounting_is_scipys_turns_about_moving_axes(pitch, yaw, roll):
    """Camera axes, of a level camera: right = -y, down = -z, forward = x. Then yaw, pitch, roll."""
    level = np.array([[0, 0, 1], [-1, 0, 0], [0, -1, 0]])  # columns: the camera's axes in the ego frame
    turned = Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix() @ level
    transform = np.array(cam.mounted(1.3, pitch, yaw, roll, 0.4, -0.2))
    np.testing.assert_allclose(transform[:3, :3], turned.T, atol=1e-12)
    np.testing.assert_allclose(transform @ (0.4, -0.2, 1.3, 1), (0, 0, 0, 1), atol=1e-12)
    plain = np.array(cam.mounted(1.3))
    np.testing.assert_allclose(plain @ (0, 0, 1.3, 1), (0, 0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(plain[:3, :3], level.T, atol=1e-12)


@pytest.mark.parametrize("pitch", [0.0, 0.08])
def test_ground_and_horizon_of_a_pinhole_in_closed_form(pitch):
    """A row at angle a below the horizon shows the ground at height / tan(a)."""
    camera = eye(T_cam_ego=cam.mounted(1.6, pitch, x=1.5, y=0.3))
    horizon = 300 - 310 * math.tan(pitch)
    assert cam.horizon_rows(camera, [0, 400.0, 799]) == pytest.approx([horizon] * 3, abs=0.01)
    rows = np.array([horizon + 5.0, 400.0, 599.0])
    below = pitch + np.arctan((rows - 300) / 310)
    xy, valid = cam.ground_points(camera, np.column_stack([[400.0] * 3, rows]))
    assert valid.all()
    np.testing.assert_allclose(xy[:, 0], 1.5 + 1.6 / np.tan(below), rtol=1e-9)
    np.testing.assert_allclose(xy[:, 1], 0.3, atol=1e-9)
    above, valid = cam.ground_points(camera, [[400.0, horizon - 1e-3]])
    assert not valid[0]
    assert np.isnan(above).all()


def test_a_rolled_horizon_is_a_slanted_line():
    camera = eye(fy=300.0, T_cam_ego=cam.mounted(1.6, roll=0.2))
    found = cam.horizon_rows(camera, [300.0, 500.0])
    assert found == pytest.approx([300 + 100 * math.tan(0.2), 300 - 100 * math.tan(0.2)], abs=0.01)


def test_a_camera_that_looks_down_or_up_sees_no_horizon_near():
    for pitch in (1.55, -1.55):
        assert np.isnan(cam.horizon_rows(eye(T_cam_ego=cam.mounted(1.6, pitch)), [400.0])).all()


def test_the_image_ends_half_a_pixel_outside_its_outer_centres():
    camera = eye()
    edge = [(-0.5, 0), (-0.51, 0), (799.5, 0), (799.51, 0), (5, -0.51), (5, 599.5), (5, 599.51), (np.nan, 3)]
    assert cam.inside(camera, edge).tolist() == [True, False, True, False, False, True, False, False]
    held = [(1.5, 5), (1.49, 5), (797.5, 5), (797.51, 5), (5, 1.49), (5, 597.5), (5, 597.51)]
    assert cam.inside(camera, held, 2).tolist() == [True, False, True, False, False, True, False]


def test_resized_and_cropped_cameras_know_their_size():
    camera = eye()
    small = cam.resized(camera, 400, 200)
    assert (small.width, small.height, small.fx) == (400, 200, 150.0)
    assert small.fy == pytest.approx(310 / 3)
    assert (small.cx, small.cy) == pytest.approx((199.75, 300.5 / 3 - 0.5))
    crop = cam.cropped(camera, 30, 20, 100, 50)
    assert (crop.width, crop.height, crop.cx, crop.cy, crop.fx) == (100, 50, 370, 280, 300)


@pytest.mark.parametrize("pose", [(3.0, -2.0, 0.6), (-8.0, 1.0, -2.4)])
def test_a_moved_camera_stands_where_the_car_stands(pose):
    camera = eye(T_cam_ego=cam.mounted(1.6, 0.05, 0.1, x=1.5, y=0.3))
    moved = cam.at_pose(camera, pose)
    x, y, theta = pose
    c, s = math.cos(theta), math.sin(theta)
    np.testing.assert_allclose(
        cam.centre(moved), (x + c * 1.5 - s * 0.3, y + s * 1.5 + c * 0.3, 1.6), atol=1e-12
    )
    assert cam.angles(moved) == pytest.approx((0.05, 0.1 + theta, 0.0), abs=1e-12)
