"""A road drawn through a known camera: grey asphalt with lane paint, green verge, sky, and what a test puts on it."""

import math

import cv2
import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import ground_points, mounted, project
from cfgen.geometry.path import EgoPath
from cfgen.perception import protocol
from cfgen.perception.road_by_colour import ColourGround
from cfgen.perception.view import SceneView
from cfgen.records import Camera, Frame, Motion, Scene, Size

CAMERA = Camera(
    width=640, height=400, fx=600, fy=600, cx=319.5, cy=180, T_cam_ego=mounted(1.5, math.radians(1), x=1.0)
)


def scene(speed: float = 13.0, curvature: float = 0.0, camera: Camera = CAMERA, frames=(0.0,)) -> Scene:
    def poses(times):
        out = []
        for t in times:
            s, k = speed * t, curvature or 1e-9
            out.append((math.sin(k * s) / k, (1 - math.cos(k * s)) / k, k * s))
        return tuple(out)

    past, future = np.arange(-8, 1) / 4, np.arange(1, 25) / 4
    return Scene(
        scene_id="drawn",
        cameras=(camera,),
        frames=tuple(Frame(camera="front", t=t, image=f"{i}.png") for i, t in enumerate(frames)),
        history=Motion(t=tuple(past), poses=poses(past), v=(speed,) * 9),
        future=Motion(t=tuple(future), poses=poses(future), v=(speed,) * 24),
    )


def road(camera: Camera = CAMERA, half: float = 5.0, shade=None, seed: int = 0) -> np.ndarray:
    """A straight road of half width ``half``, m; ``shade`` (x0, x1): a shadow across it."""
    rng = np.random.default_rng(seed)
    x, y = on_ground(camera)
    valid = x > 0
    image = np.full((*x.shape, 3), (150.0, 180.0, 215.0))
    verge = valid & (np.abs(y) >= half)
    asphalt = valid & (np.abs(y) < half)
    blotch = cv2.resize(rng.normal(0, 30, (100, 160)), (camera.width, camera.height))
    image[verge] = np.array([70.0, 105.0, 50.0]) + (blotch + rng.normal(0, 25, x.shape))[verge][:, None]
    image[asphalt] = (100.0, 100.0, 100.0)
    image[asphalt & (np.abs(np.abs(y) - 1.75) < 0.08)] = 220
    if shade:
        image[asphalt & (x > shade[0]) & (x < shade[1])] *= np.array([0.38, 0.42, 0.48])
    image += rng.normal(0, 2, x.shape)[..., None]
    return np.clip(cv2.GaussianBlur(image, (3, 3), 0.7), 0, 255).astype(np.uint8)


def on_ground(camera: Camera = CAMERA) -> np.ndarray:
    """(2, H, W): x and y, m, of the ground that each pixel shows; 0 above the horizon."""
    v, u = np.mgrid[: camera.height, : camera.width]
    xy, _ = ground_points(camera, np.column_stack([u.ravel(), v.ravel()]))
    return np.nan_to_num(xy).T.reshape(2, camera.height, camera.width)


def put_plain(image: np.ndarray, x: float, y: float, size: Size, camera: Camera = CAMERA) -> np.ndarray:
    """The image with a car in the road's own grey, without lamps or windows, and the dark beneath it."""
    out = image.copy()
    px, _ = project(camera, box_corners([x], [y], [0.0], size)[0])
    (left, top), (right, bottom) = np.round(px.min(0)).astype(int), np.round(px.max(0)).astype(int)
    out[top:bottom, left : right + 1] = 100
    out[bottom - round(0.14 * (bottom - top)) : bottom, left : right + 1] = 22
    return cv2.GaussianBlur(out, (3, 3), 0.7)


def put(
    image: np.ndarray, x: float, y: float, size: Size, colour=(150, 152, 155), camera: Camera = CAMERA
) -> np.ndarray:
    """The image with a car-like thing painted on: body, rear window, lamps, bumper, wheels and the dark beneath."""
    out = image.copy()
    px, _ = project(camera, box_corners([x], [y], [0.0], size)[0])
    (x0, y0), (x1, y1) = px.min(0), px.max(0)

    def block(left, top, right, bottom, value):
        low = np.round([x0 + left * (x1 - x0), y0 + top * (y1 - y0)]).astype(int)
        high = np.round([x0 + right * (x1 - x0), y0 + bottom * (y1 - y0)]).astype(int)
        cv2.rectangle(out, low.tolist(), high.tolist(), value, -1)

    block(0.02, 0.05, 0.98, 0.86, colour)
    block(0.15, 0.1, 0.85, 0.42, (35, 40, 48))
    block(0.03, 0.45, 0.17, 0.6, (160, 20, 20))
    block(0.83, 0.45, 0.97, 0.6, (160, 20, 20))
    block(0.38, 0.6, 0.62, 0.72, (225, 225, 220))
    block(0.05, 0.8, 0.95, 0.9, (30, 30, 32))
    block(0.02, 0.9, 0.2, 1.0, (14, 14, 14))
    block(0.8, 0.9, 0.98, 1.0, (14, 14, 14))
    block(0.2, 0.92, 0.8, 1.0, (22, 22, 24))
    return out


def put_many(image: np.ndarray, x: float, offsets, size: Size, colour) -> np.ndarray:
    """Cars side by side."""
    for y in offsets:
        image = put(image, x, y, size, colour)
    return image


def seen(image: np.ndarray) -> SceneView:
    """What its colours tell of a picture of :data:`CAMERA`."""
    return ColourGround().perceive([protocol.CameraFrame(image, CAMERA, EgoPath.from_scene(scene()))])[0]


def path() -> EgoPath:
    """The straight path of :func:`scene`."""
    return EgoPath.from_scene(scene())
