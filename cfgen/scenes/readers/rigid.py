"""Rigid transforms as data sets write them down."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from cfgen.geometry.camera import as_matrix

Array = NDArray[np.float64]


def from_quaternion(wxyz: ArrayLike, translation: ArrayLike) -> Array:
    """(N, 4, 4) of quaternions (N, 4), scalar first, and translations (N, 3); or (4, 4) of one of each."""
    wxyz, translation = np.asarray(wxyz, float), np.asarray(translation, float)
    if not wxyz.size:
        return np.zeros((0, 4, 4))  # SciPy before 1.16 refuses none
    out = np.zeros((*wxyz.shape[:-1], 4, 4))
    out[..., :3, :3] = Rotation.from_quat(wxyz[..., [1, 2, 3, 0]]).as_matrix()
    out[..., :3, 3] = translation
    out[..., 3, 3] = 1
    return out


def from_rotation(rotation: ArrayLike, translation: ArrayLike) -> Array:
    """(4, 4) of a rotation (3, 3) and a translation (3,)."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = (
        np.asarray(rotation, float).reshape(3, 3),
        np.asarray(translation, float).reshape(3),
    )
    return out


def headed(middle: ArrayLike, yaw: ArrayLike) -> Array:
    """(N, 4, 4) of places (N, 3) and angles (N,), rad, about z."""
    yaw, middle = np.asarray(yaw, float), np.asarray(middle, float).reshape(-1, 3)
    out = np.tile(np.eye(4), (len(middle), 1, 1))
    out[:, 0, 0], out[:, 0, 1], out[:, 1, 0], out[:, 1, 1] = (
        np.cos(yaw),
        -np.sin(yaw),
        np.sin(yaw),
        np.cos(yaw),
    )
    out[:, :3, 3] = middle
    return out


def lowered(by_m: float) -> Array:
    """(4, 4) vehicle from ego: the ego origin on the ground, ``by_m`` below the vehicle's own origin."""
    return from_rotation(np.eye(3), (0.0, 0.0, -by_m))


def camera_matrix(camera_from_ego: ArrayLike) -> tuple[tuple[float, float, float, float], ...]:
    """T_cam_ego with the rounding of the source's digits taken out: the nearest rotation, by SVD."""
    matrix = np.asarray(camera_from_ego, float)
    u, _, vt = np.linalg.svd(matrix[:3, :3])
    return as_matrix(u @ vt, matrix[:3, 3])
