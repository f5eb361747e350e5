"""Where a camera sees what: ego-frame points to pixels, pixels to rays and to the ground.

Pixels: (u, v), u right, v down, the centre of the top-left pixel is (0, 0). Metres, radians.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from cfgen.geometry.lens import Array, Mask, to_pixels, to_rays
from cfgen.records import Camera

Pose = Sequence[float] | Array


def project(camera: Camera, points: ArrayLike) -> tuple[Array, Mask]:
    """Ego-frame points (N, 3) to pixels (N, 2) and validity (N,).

    Invalid (NaN): behind the camera or outside the lens model's field. Valid does not mean inside the image; see
    :func:`inside`.
    """
    return to_pixels(camera, to_camera(camera, points))


def unproject(camera: Camera, px: ArrayLike) -> tuple[Array, Mask]:
    """Pixels (N, 2) to unit rays (N, 3) in the camera frame and validity (N,); invalid rays are NaN."""
    return to_rays(camera, np.asarray(px, float).reshape(-1, 2))


def ground_points(camera: Camera, px: ArrayLike) -> tuple[Array, Mask]:
    """Pixels (N, 2) to where their rays meet the ground z = 0: (N, 2) ego x, y and validity (N,).

    Invalid (NaN): at or above the horizon, or outside the lens model's field.
    """
    rays, valid = unproject(camera, px)
    directions = rays @ rotation(camera)  # rows times R = R^T applied to each ray
    origin = centre(camera)
    with np.errstate(all="ignore"):
        scale = -origin[2] / directions[:, 2]
        xy = origin[:2] + scale[:, None] * directions[:, :2]
        valid &= (directions[:, 2] < -1e-9) & (scale > 0)
    return np.where(valid[:, None], xy, np.nan), valid


def inside(camera: Camera, px: ArrayLike, margin: float = 0.0) -> Mask:
    """Whether pixels (N, 2) lie in the image, at least ``margin`` pixels from its edge; NaN is outside."""
    px = np.asarray(px, float).reshape(-1, 2)
    low, high = -0.5 + margin, np.array([camera.width, camera.height]) - 0.5 - margin
    with np.errstate(invalid="ignore"):
        result: Mask = np.all((px >= low) & (px <= high), axis=1)
    return result


def to_camera(camera: Camera, points: ArrayLike) -> Array:
    """Ego-frame points (N, 3) in the camera frame (N, 3)."""
    transform = np.array(camera.T_cam_ego)
    return np.asarray(points, float).reshape(-1, 3) @ transform[:3, :3].T + transform[:3, 3]


def rotation(camera: Camera) -> Array:
    """(3, 3): takes ego-frame directions into the camera frame."""
    return np.array(camera.T_cam_ego)[:3, :3]


def centre(camera: Camera) -> Array:
    """(3,) position of the camera in the ego frame, m."""
    transform = np.array(camera.T_cam_ego)
    return -transform[:3, :3].T @ transform[:3, 3]


def mounted(
    height: float, pitch: float = 0.0, yaw: float = 0.0, roll: float = 0.0, x: float = 0.0, y: float = 0.0
) -> tuple[tuple[float, float, float, float], ...]:
    """T_cam_ego of a camera at (x, y, height), m.

    Angles in radians: ``pitch`` > 0 looks down, ``yaw`` > 0 looks left, ``roll`` > 0 tips its right side down.
    """
    cp, sp, cy, sy = math.cos(pitch), math.sin(pitch), math.cos(yaw), math.sin(yaw)
    forward = np.array([cy * cp, sy * cp, -sp])
    level_right = np.array([sy, -cy, 0.0])
    level_down = _cross(forward, level_right)
    cr, sr = math.cos(roll), math.sin(roll)
    right = cr * level_right + sr * level_down
    rot = np.array([right, _cross(forward, right), forward])
    return as_matrix(rot, -rot @ np.array([x, y, height]))


def _cross(a: Array, b: Array) -> Array:
    """np.cross of two vectors (3,), to the last bit, in a tenth of its time."""
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def angles(camera: Camera) -> tuple[float, float, float]:
    """pitch, yaw, roll, rad: the inverse of :func:`mounted`."""
    right, _, forward = rotation(camera)
    yaw = math.atan2(forward[1], forward[0])
    level_right = np.array([math.sin(yaw), -math.cos(yaw), 0.0])
    level_down = np.cross(forward, level_right)
    roll = math.atan2(float(right @ level_down), float(right @ level_right))
    return math.atan2(-forward[2], math.hypot(forward[0], forward[1])), yaw, roll


def as_matrix(rot: ArrayLike, translation: ArrayLike) -> tuple[tuple[float, float, float, float], ...]:
    """Rotation (3, 3) and translation (3,) as the tuple that :class:`Camera` stores."""
    top = np.column_stack([np.asarray(rot, float), np.asarray(translation, float)])
    rows = [(float(a), float(b), float(c), float(d)) for a, b, c, d in top]
    return (*rows, (0.0, 0.0, 0.0, 1.0))


def resized(camera: Camera, width: int, height: int) -> Camera:
    """The camera of its image resized to width x height, each axis by its own factor."""
    sx, sy = width / camera.width, height / camera.height
    return camera.model_copy(
        update={
            "width": width,
            "height": height,
            "fx": camera.fx * sx,
            "fy": camera.fy * sy,
            "cx": (camera.cx + 0.5) * sx - 0.5,
            "cy": (camera.cy + 0.5) * sy - 0.5,
        }
    )


def cropped(camera: Camera, x0: int, y0: int, width: int, height: int) -> Camera:
    """The camera of the crop ``image[y0 : y0 + height, x0 : x0 + width]``."""
    return camera.model_copy(
        update={"width": width, "height": height, "cx": camera.cx - x0, "cy": camera.cy - y0}
    )


def at_pose(camera: Camera, pose: Pose) -> Camera:
    """The camera while the car stands at ``pose`` (x, y, theta in the ego frame at t0): it takes points given in the
    ego frame at t0."""
    x, y, theta = pose
    c, s = math.cos(theta), math.sin(theta)
    ego_from_t0 = np.array([[c, s, 0, -c * x - s * y], [-s, c, 0, s * x - c * y], [0, 0, 1, 0], [0, 0, 0, 1]])
    moved = np.array(camera.T_cam_ego) @ ego_from_t0
    return camera.model_copy(update={"T_cam_ego": as_matrix(moved[:3, :3], moved[:3, 3])})


def horizon_rows(camera: Camera, columns: ArrayLike) -> Array:
    """Image row of the horizon at each column (N,), by bisection on the ray's slope; NaN where it leaves the field.

    The horizon is where rays run parallel to the ground; rows outside the image are returned as they are.
    """
    columns = np.asarray(columns, float).reshape(-1)
    up = rotation(camera)[:, 2]
    span = float(max(camera.width, camera.height))
    low, high = np.full(len(columns), -span), np.full(len(columns), camera.height + span)
    for _ in range(50):
        middle = (low + high) / 2
        rays, valid = unproject(camera, np.column_stack([columns, middle]))
        above = np.where(valid, rays @ up > 0, middle < camera.cy)
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    rays, valid = unproject(camera, np.column_stack([columns, high]))
    return np.where(valid & (np.abs(np.nan_to_num(rays) @ up) < 5e-3), high, np.nan)
