"""Cameras of every lens model by their field of view, and a frame as another camera in the same place sees it."""

import math

import cv2
import numpy as np

from cfgen.geometry.camera import mounted, project, rotation, unproject
from cfgen.records import Camera

#: Most of the field of view, degrees, that each model is drawn with.
WIDEST = {"pinhole": 150, "opencv": 150, "fisheye": 190, "ftheta": 190}


def lens(model: str, fov: float, width: int, height: int, bend: float = 0.0) -> Camera:
    """A camera that sees ``fov``, rad, across its picture, looking along the ego's x from 1.5 m up.

    ``bend`` in [-1, 1] is how much it distorts.
    """
    known = {"width": width, "height": height, "cx": width / 2 - 0.5, "cy": height / 2 - 0.5}
    known["T_cam_ego"] = mounted(1.5, 0.02)
    if model in ("pinhole", "opencv"):
        edge = math.tan(fov / 2)
        k = (0.2 * bend / edge**2, 0.02 * bend / edge**4, 0.0005 * bend, 0.0, 0.0)
        bent = 1 + k[0] * edge**2 + k[1] * edge**4 if model == "opencv" else 1.0
        focal = width / 2 / (edge * bent)
        return Camera(model=model, fx=focal, fy=focal, distortion=k if model == "opencv" else (), **known)
    theta = fov / 2
    cubic = 0.1 * bend / theta**2
    focal = width / 2 / (theta * (1 + cubic * theta**2))
    if model == "fisheye":
        return Camera(model=model, fx=focal, fy=focal, distortion=(cubic, 0.0, 0.0, 0.0), **known)
    angle = np.linspace(0, 1.3 * theta, 200)
    radius = focal * (angle + cubic * angle**3)
    powers = np.arange(1, 6)
    back = (
        np.linalg.lstsq((radius[:, None] / radius[-1]) ** powers, angle, rcond=None)[0] / radius[-1] ** powers
    )
    fw, bw = (0.0, focal, 0.0, focal * cubic), (0.0, *(float(b) for b in back))
    return Camera(model=model, fw_poly=fw, bw_poly=bw, **known)


def seen_through(image: np.ndarray, camera: Camera, other: Camera) -> np.ndarray:
    """A frame (H, W, 3) of ``camera`` as ``other``, in the same place, sees it; what the frame lacks is carried on."""
    grid = np.stack(np.meshgrid(np.arange(other.width), np.arange(other.height)), -1).reshape(-1, 2)
    rays, seen = unproject(other, grid)
    # so far away that where exactly the two are mounted does not matter
    px, there = project(camera, 1e7 * (rays @ rotation(other)))
    at = np.where((seen & there)[:, None], px, -1).astype(np.float32).reshape(other.height, other.width, 2)
    x, y = cv2.split(at)
    return cv2.remap(image, x, y, cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
