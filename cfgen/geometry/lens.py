"""Lens models: camera-frame points to pixels and back, without regard to where the camera is mounted.

pinhole and opencv work on the plane z = 1 (Brown 1966; the rational form of OpenCV); fisheye
(Kannala & Brandt 2006) and ftheta work on the angle theta from the optical axis:
``u = cx + fx r(theta) x / hypot(x, y)``. ftheta radii are pixels already, so its fx and fy are 1 as calibrated and
only scale a resized image.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import polynomial as poly
from numpy.typing import ArrayLike, NDArray

from cfgen.records import Camera

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_MIN_DEPTH = 1e-6
_INVERSE_TOLERANCE = 1e-9


def to_pixels(camera: Camera, points: Array) -> tuple[Array, Mask]:
    """Camera-frame points (N, 3), m, to pixels (N, 2) and validity (N,). Invalid pixels are NaN.

    Invalid: behind the camera, or where the lens polynomial folds back or was never fitted.
    """
    with np.errstate(all="ignore"):
        px, valid = (_plane_to_pixels if _is_planar(camera) else _angle_to_pixels)(camera, points)
    valid &= np.isfinite(px).all(axis=1)
    return np.where(valid[:, None], px, np.nan), valid


def to_rays(camera: Camera, px: Array) -> tuple[Array, Mask]:
    """Pixels (N, 2) to unit rays (N, 3) in the camera frame and validity (N,). Invalid rays are NaN."""
    scaled = (px - (camera.cx, camera.cy)) / (camera.fx, camera.fy)
    with np.errstate(all="ignore"):
        rays, valid = (_plane_to_rays if _is_planar(camera) else _angle_to_rays)(camera, scaled)
    valid &= np.isfinite(rays).all(axis=1)
    return np.where(valid[:, None], rays, np.nan), valid


def _is_planar(camera: Camera) -> bool:
    return camera.model in ("pinhole", "opencv")


# --- pinhole, opencv --------------------------------------------------------------------------------------


def _plane_to_pixels(camera: Camera, points: Array) -> tuple[Array, Mask]:
    z = points[:, 2]
    xy = points[:, :2] / z[:, None]
    valid = z > _MIN_DEPTH
    if camera.distortion:
        valid &= (xy**2).sum(axis=1) < _fold_radius_sq(camera.distortion)
        xy, _ = _distort(camera.distortion, xy)
    return xy * (camera.fx, camera.fy) + (camera.cx, camera.cy), valid


def _plane_to_rays(camera: Camera, distorted: Array) -> tuple[Array, Mask]:
    xy, valid = distorted, np.ones(len(distorted), bool)
    if camera.distortion:
        xy, valid = _undistort(camera.distortion, distorted)
    rays = np.column_stack([xy, np.ones(len(xy))])
    return rays / np.linalg.norm(rays, axis=1, keepdims=True), valid


def _radial(distortion: tuple[float, ...]) -> tuple[Array, Array]:
    """Numerator and denominator of the radial factor as polynomials in r^2."""
    k1, k2, _, _, k3, k4, k5, k6 = (*distortion, 0.0, 0.0, 0.0)[:8]
    return np.array([1.0, k1, k2, k3]), np.array([1.0, k4, k5, k6])


@lru_cache(maxsize=256)
def _fold_radius_sq(distortion: tuple[float, ...]) -> float:
    """r^2 at which the distorted radius r N/D stops growing; beyond it two directions share a pixel."""
    n, d = _radial(distortion)
    two_q = np.array([0.0, 2.0])
    growth = poly.polysub(
        poly.polymul(poly.polyadd(n, poly.polymul(two_q, poly.polyder(n))), d),
        poly.polymul(two_q, poly.polymul(n, poly.polyder(d))),
    )
    return min(_first_root(growth), _first_root(d))


def _first_root(coefficients: ArrayLike) -> float:
    """Smallest positive real root of a polynomial, lowest power first; infinity when there is none, 0 of 0 itself."""
    trimmed = np.trim_zeros(np.asarray(coefficients, float), "b")
    if not len(trimmed):
        return 0.0
    roots = poly.polyroots(trimmed)
    real = roots[(np.abs(roots.imag) < 1e-9) & (roots.real > 1e-12)].real
    return float(real.min(initial=math.inf))


def _distort(distortion: tuple[float, ...], xy: Array) -> tuple[Array, Array]:
    """Distorted plane coordinates (N, 2) and their Jacobian (N, 2, 2)."""
    n, d = _radial(distortion)
    p1, p2 = distortion[2:4]
    x, y = xy[:, 0], xy[:, 1]
    q = x * x + y * y
    num, den = poly.polyval(q, n), poly.polyval(q, d)
    radial = num / den
    slope = (poly.polyval(q, poly.polyder(n)) * den - num * poly.polyval(q, poly.polyder(d))) / den**2
    out = np.column_stack(
        [
            x * radial + 2 * p1 * x * y + p2 * (q + 2 * x * x),
            y * radial + p1 * (q + 2 * y * y) + 2 * p2 * x * y,
        ]
    )
    cross = 2 * x * y * slope + 2 * p1 * x + 2 * p2 * y
    jacobian = np.empty((len(xy), 2, 2))
    jacobian[:, 0, 0] = radial + 2 * x * x * slope + 2 * p1 * y + 6 * p2 * x
    jacobian[:, 0, 1] = jacobian[:, 1, 0] = cross
    jacobian[:, 1, 1] = radial + 2 * y * y * slope + 6 * p1 * y + 2 * p2 * x
    return out, jacobian


def _undistort(distortion: tuple[float, ...], distorted: Array) -> tuple[Array, Mask]:
    """Newton's method from the inverse of the radial part, which alone is monotone up to the fold."""
    n, d = _radial(distortion)
    limit = math.sqrt(_fold_radius_sq(distortion))
    radius = np.hypot(distorted[:, 0], distorted[:, 1])
    start = _invert(lambda r: r * poly.polyval(r * r, n) / poly.polyval(r * r, d), radius, min(limit, 1e3))
    xy = distorted * (start / np.maximum(radius, 1e-12))[:, None]
    for _ in range(12):
        value, jacobian = _distort(distortion, xy)
        residual = distorted - value
        if np.nanmax(np.abs(residual), initial=0.0) < _INVERSE_TOLERANCE:
            break
        determinant = jacobian[:, 0, 0] * jacobian[:, 1, 1] - jacobian[:, 0, 1] ** 2
        step_x = jacobian[:, 1, 1] * residual[:, 0] - jacobian[:, 0, 1] * residual[:, 1]
        step_y = jacobian[:, 0, 0] * residual[:, 1] - jacobian[:, 0, 1] * residual[:, 0]
        xy = xy + np.column_stack([step_x, step_y]) / determinant[:, None]
    error = np.abs(distorted - _distort(distortion, xy)[0]).max(axis=1)
    return xy, (error < 1e-7) & ((xy**2).sum(axis=1) < limit**2)


def _invert(function: Callable[[Array], Any], values: Array, upper: float) -> Array:
    """Solve function(x) = value for x in [0, upper] by bisection; function grows there."""
    low, high = np.zeros_like(values), np.full_like(values, upper)
    for _ in range(30):
        middle = (low + high) / 2
        above = function(middle) > values
        high, low = np.where(above, middle, high), np.where(above, low, middle)
    return (low + high) / 2


# --- fisheye, ftheta --------------------------------------------------------------------------------------


def _angle_to_pixels(camera: Camera, points: Array) -> tuple[Array, Mask]:
    rho = np.hypot(points[:, 0], points[:, 1])
    theta = np.arctan2(rho, points[:, 2])
    direction = points[:, :2] / np.maximum(rho, 1e-300)[:, None]
    radius = poly.polyval(theta, _angle_poly(camera))
    px = direction * radius[:, None] * (camera.fx, camera.fy) + (camera.cx, camera.cy)
    return px, (theta <= field_angle(camera)) & np.any(points != 0, axis=1)


def _angle_to_rays(camera: Camera, scaled: Array) -> tuple[Array, Mask]:
    radius = np.hypot(scaled[:, 0], scaled[:, 1])
    direction = scaled / np.maximum(radius, 1e-300)[:, None]
    theta = _angle_of(camera, radius)
    rays = np.column_stack([direction * np.sin(theta)[:, None], np.cos(theta)])
    rays[radius == 0] = (0, 0, 1)
    return rays, (theta <= field_angle(camera)) & (
        radius <= poly.polyval(field_angle(camera), _angle_poly(camera)) + 1e-9
    )


def _angle_poly(camera: Camera) -> Array:
    """Radius as a polynomial in theta, lowest power first."""
    if camera.model == "ftheta":
        return np.array(camera.fw_poly)
    k1, k2, k3, k4 = camera.distortion
    return np.array([0, 1, 0, k1, 0, k2, 0, k3, 0, k4], float)


def _angle_of(camera: Camera, radius: Array) -> Array:
    """theta (N,) of radii (N,): the calibration's own backward polynomial, or the inverse of the forward one."""
    if camera.model == "ftheta":  # a fit may dip below 0 near the axis
        return np.maximum(poly.polyval(radius, np.array(camera.bw_poly)), 0.0)
    forward, limit = _angle_poly(camera), _fold_angle(camera)
    theta = _invert(lambda a: poly.polyval(a, forward), radius, limit)
    for _ in range(3):
        theta = theta - (poly.polyval(theta, forward) - radius) / poly.polyval(theta, poly.polyder(forward))
    return np.clip(theta, 0, limit)


@lru_cache(maxsize=256)
def _fold_angle(camera: Camera) -> float:
    return min(_first_root(poly.polyder(_angle_poly(camera))), math.pi)


@lru_cache(maxsize=256)
def field_angle(camera: Camera) -> float:
    """Largest valid angle from the axis, rad: to the fold, and behind the camera only as far as the image goes."""
    corners = np.array([[u, v] for u in (0, camera.width - 1) for v in (0, camera.height - 1)], float)
    scaled = (corners - (camera.cx, camera.cy)) / (camera.fx, camera.fy)
    widest = float(np.nanmax(_angle_of(camera, np.hypot(scaled[:, 0], scaled[:, 1]))))
    return min(_fold_angle(camera), max(math.pi / 2, widest))
