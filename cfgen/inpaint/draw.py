"""A sprite as one camera sees it at one place: the lit object, and what it does to the light on the ground."""

import math

import cv2
import numpy as np

from cfgen.geometry.camera import centre, project
from cfgen.inpaint.light import Light
from cfgen.inpaint.propagate import board, magnification
from cfgen.inpaint.sprites import GroundMap, Sprite
from cfgen.records import Camera, Placement

#: Oversampling of ground pictures across and down: the ground is seen at a grazing angle.
_ACROSS, _DOWN = 2, 4


def draw_object(
    sprite: Sprite, camera: Camera, placement: Placement, light: Light, emission: float
) -> np.ndarray:
    """(H, W, 4) float32 premultiplied linear RGBA of the lit sprite in the camera's image, sprite light units."""
    if sprite.is_decal:
        decal = sprite.decal(_in_model(light.sun_dir, placement), light.sky, light.sun, emission)
        return _on_ground(decal, camera, placement, np.zeros(4))
    eye = centre(camera)
    dx, dy = eye[0] - placement.x, eye[1] - placement.y
    view = sprite.view(
        azimuth=math.atan2(dy, dx) - placement.yaw,
        elevation=math.atan2(eye[2], math.hypot(dx, dy)),
        sun_dir=_in_model(light.sun_dir, placement),
        sky=light.sky,
        sun=light.sun,
        emission=emission,
    )
    step = 1 / view.ppm
    to_board = np.array(
        [[step, 0, (0.5 - view.foot[0]) * step], [0, -step, (view.foot[1] - 0.5) * step], [0, 0, 1]]
    )
    warp = board(camera, placement) @ to_board
    picture, rescale = _reduced(view.rgba, magnification(warp, view.foot))
    return cv2.warpPerspective(
        picture, warp @ np.linalg.inv(rescale), (camera.width, camera.height), flags=cv2.INTER_LINEAR
    )


def draw_shade(sprite: Sprite, camera: Camera, placement: Placement, light: Light) -> np.ndarray:
    """(H, W, 3) float32: light on the ground with the object ÷ without it, 1 away from it."""
    shadow = sprite.shadow_map(_in_model(light.sun_dir, placement), light.sky, light.sun)
    return _on_ground(shadow, camera, placement, np.ones(3))


def _in_model(direction: np.ndarray | None, placement: Placement) -> tuple[float, float, float] | None:
    if direction is None:
        return None
    x, y, z = (float(v) for v in direction)
    c, s = math.cos(placement.yaw), math.sin(placement.yaw)
    return c * x + s * y, -s * x + c * y, z


def _reduced(picture: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """The picture shrunk by area to ``factor`` when below 1, and the 3x3 that takes its old pixels to the new."""
    height, width = picture.shape[:2]
    new = max(1, round(width * min(factor, 1))), max(1, round(height * min(factor, 1)))
    sx, sy = new[0] / width, new[1] / height
    small = picture if new == (width, height) else cv2.resize(picture, new, interpolation=cv2.INTER_AREA)
    return small, np.array([[sx, 0, (sx - 1) / 2], [0, sy, (sy - 1) / 2], [0, 0, 1]])


def _on_ground(picture: GroundMap, camera: Camera, placement: Placement, outside: np.ndarray) -> np.ndarray:
    """A ground picture in the camera's image, ``outside`` where it does not reach."""
    warp = ground_homography(camera, placement) @ picture.to_model
    finer = np.diag([_ACROSS, _DOWN, 1.0]) @ np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    finer = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1]]) @ finer
    seen = cv2.warpPerspective(
        picture.values,
        finer @ warp,
        (camera.width * _ACROSS, camera.height * _DOWN),
        flags=cv2.INTER_LINEAR,
        borderValue=tuple(outside),
    )
    return cv2.resize(seen, (camera.width, camera.height), interpolation=cv2.INTER_AREA)


def ground_homography(camera: Camera, placement: Placement) -> np.ndarray:
    """(3, 3): metres on the ground in the object's frame (x front, y left) to pixels, exact near its foot."""
    eye = centre(camera)[:2]
    reach = 0.2 * math.hypot(eye[0] - placement.x, eye[1] - placement.y)
    flat = np.array([(reach, reach), (reach, -reach), (-reach, -reach), (-reach, reach)])
    c, s = math.cos(placement.yaw), math.sin(placement.yaw)
    world = flat @ np.array([[c, s], [-s, c]]) + (placement.x, placement.y)
    px, _ = project(camera, np.column_stack([world, np.zeros(4)]))
    return cv2.getPerspectiveTransform(flat.astype(np.float32), px.astype(np.float32))
