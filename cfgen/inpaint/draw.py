"""A sprite as one camera sees it at one place: the lit object, and what it does to the light on the ground."""

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import centre, cropped, project
from cfgen.inpaint.colour import LUMA
from cfgen.inpaint.light import Light
from cfgen.inpaint.propagate import board, magnification
from cfgen.inpaint.sprites import GroundMap, Sprite, View
from cfgen.records import Camera, Placement, Size

#: Oversampling of ground pictures across and down: the ground is seen at a grazing angle.
_ACROSS, _DOWN = 2, 4
#: Radiant intensity from which a thing lights the road around it: flames, not lamps; how far, m; cells a side.
_FIRE, _FIRE_REACH, _FIRE_CELLS = 3.0, 9.0, 180
#: Share of a solid thing's shadow that flames and smoke cast.
_THIN = 0.35
#: Image level that flames give a unit of their radiance, at least and at most.
_FLAME = (0.15, 0.30)
#: Height of a sun of unknown direction: 50 degrees.
_STRAY_RISE, _STRAY_FLAT = math.sin(math.radians(50)), math.cos(math.radians(50))


@dataclass(frozen=True, eq=False)
class Drawing:
    """A sprite in a part of an image.

    Attributes:
        box: x0, y0, x1, y1 of that part, outside of which nothing changes.
        rgba: (h, w, 4) float32 premultiplied linear RGBA of the object, in sprite light units.
        shade: (h, w, 3) float32, light on the ground with the object ÷ without it.
        mirror: (h, w) float32 in [0, 1], how much of a pixel is still water; None without water.
    """

    box: tuple[int, int, int, int]
    rgba: np.ndarray
    shade: np.ndarray
    mirror: np.ndarray | None = None


def draw(sprite: Sprite, camera: Camera, placement: Placement, light: Light) -> Drawing | None:
    """The sprite as the camera sees it, or None when it touches no pixel."""
    shadow = _shadow(sprite, placement, light)
    x0, y0, x1, y1 = _touched(sprite, shadow, camera, placement)
    if x1 <= x0 or y1 <= y0:
        return None
    part = cropped(camera, x0, y0, x1 - x0, y1 - y0)
    shade = _on_ground(shadow, part, placement, np.ones(3))
    rgba = draw_object(sprite, part, placement, light)
    mirror = np.clip((rgba[..., 3] - 0.7) / 0.28, 0, 1) if sprite.is_water else None
    return Drawing((x0, y0, x1, y1), rgba, shade, mirror)


def _shadow(sprite: Sprite, placement: Placement, light: Light) -> GroundMap:
    """Light on the ground with the object ÷ without it: its shadow, and what a fire adds."""
    if light.stray:
        shadow = _stray_shadow(sprite, light.stray)
    else:
        shadow = sprite.shadow_map(_in_model(light.sun_dir, placement), light.sky, light.sun)
    intensity, height = sprite.glow()
    if float(intensity.max()) < _FIRE:
        return shadow
    return _lit_by(shadow, intensity * np.float32(_shine(sprite, light)), max(height, 0.3))


def _shine(sprite: Sprite, light: Light) -> float:
    """Gain of what shines by itself, against the light on the ground.

    Flames are bright enough to burn out, yet cameras show them orange: theirs is held in the range that does.
    """
    gain = 1 / light.day
    if float(sprite.glow()[0].max()) < _FIRE:
        return gain
    white = max(float(light.ground @ LUMA), 1e-4) / light.albedo
    return float(np.clip(gain * white, *_FLAME)) / white


def _lit_by(shadow: GroundMap, intensity: np.ndarray, height: float) -> GroundMap:
    """A ground map with the light of a point source of radiant ``intensity`` (3,) at ``height`` metres added.

    A white card at distance r from its foot gets intensity * h / (pi * (h^2 + r^2)^1.5).
    """
    step = 2 * _FIRE_REACH / _FIRE_CELLS
    frame = np.array([[0, -step, _FIRE_REACH - step / 2], [-step, 0, _FIRE_REACH - step / 2], [0, 0, 1]])
    move = (np.linalg.inv(frame) @ shadow.to_model)[:2]
    size = (_FIRE_CELLS, _FIRE_CELLS)
    seen = cv2.warpAffine(shadow.values, move, size, flags=cv2.INTER_LINEAR, borderValue=(1, 1, 1))
    across = np.linspace(-_FIRE_REACH, _FIRE_REACH, _FIRE_CELLS)
    away = np.hypot(across[:, None], across[None, :])
    added = height / (math.pi * (height**2 + away**2) ** 1.5) * np.clip(2 * (1 - away / _FIRE_REACH), 0, 1)
    thin = 1 - (1 - seen) * np.float32(_THIN)  # the hull takes flames and smoke for solid
    return GroundMap((thin + added[..., None] * intensity).astype(np.float32), frame)


@lru_cache(maxsize=64)
def _stray_shadow(sprite: Sprite, share: float) -> GroundMap:
    """What a sun of unknown direction leaves on the ground: the mean over all sides, ``share`` of the light."""
    sky, sun = (1 - share,) * 3, (share / _STRAY_RISE,) * 3
    turns = np.linspace(0, 2 * math.pi, 12, endpoint=False)
    suns = [(_STRAY_FLAT * math.cos(a), _STRAY_FLAT * math.sin(a), _STRAY_RISE) for a in turns]
    maps = [sprite.shadow_map(towards, sky, sun) for towards in suns]
    reach = max(float(np.abs(_mapped(m.to_model, _edge(m))).max()) for m in maps)
    step = max(reach / 100, float(np.abs(maps[0].to_model[:2, :2]).max()))
    cells = math.ceil(2 * reach / step)
    frame = np.array([[0, -step, reach - step / 2], [-step, 0, reach - step / 2], [0, 0, 1]])
    total = np.zeros((cells, cells, 3), np.float32)
    for one in maps:
        move = np.linalg.inv(frame) @ one.to_model
        total += cv2.warpAffine(
            one.values, move[:2], (cells, cells), flags=cv2.INTER_LINEAR, borderValue=(1, 1, 1)
        )
    return GroundMap(total / len(maps), frame)


def _edge(picture: GroundMap) -> np.ndarray:
    """(1, 4, 2) corners of a ground picture, pixels."""
    rows, cols = picture.values.shape[:2]
    return np.array([[(-0.5, -0.5), (cols, -0.5), (cols, rows), (-0.5, rows)]], np.float32)


def _touched(
    sprite: Sprite, shadow: GroundMap, camera: Camera, placement: Placement
) -> tuple[int, int, int, int]:
    """x0, y0, x1, y1 of the pixels that the object's box or its shadow's map can reach, inside the image."""
    length, width, height = sprite.size
    size = Size(length=length, width=width, height=max(height, 0.01))
    corners, valid = project(camera, box_corners(placement.x, placement.y, placement.yaw, size)[0])
    eye = centre(camera)[:2]
    reach = 0.6 * math.hypot(eye[0] - placement.x, eye[1] - placement.y)
    on_ground = np.clip(_mapped(shadow.to_model, _edge(shadow)), -reach, reach)
    px = np.vstack([corners[valid], _mapped(ground_homography(camera, placement), on_ground)[0]])
    margin = 4 + 0.03 * np.ptp(px, axis=0)
    low = np.floor(px.min(0) - margin).clip(0, (camera.width, camera.height)).astype(int)
    high = np.ceil(px.max(0) + margin).clip(0, (camera.width, camera.height)).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def draw_object(sprite: Sprite, camera: Camera, placement: Placement, light: Light) -> np.ndarray:
    """(H, W, 4) float32 premultiplied linear RGBA of the lit sprite in the camera's image, sprite light units."""
    if sprite.is_decal:
        decal = sprite.decal(_in_model(light.sun_dir, placement), light.sky, light.sun, 1 / light.day)
        return _on_ground(decal, camera, placement, np.zeros(4))
    eye = centre(camera)
    dx, dy = eye[0] - placement.x, eye[1] - placement.y
    view = sprite.view(
        azimuth=math.atan2(dy, dx) - placement.yaw,
        elevation=math.atan2(eye[2], math.hypot(dx, dy)),
        sun_dir=_in_model(light.sun_dir, placement),
        sky=light.sky,
        sun=light.sun,
        emission=_shine(sprite, light),
    )
    return _reproject(view, camera, placement)


def _reproject(view: View, camera: Camera, placement: Placement) -> np.ndarray:
    """(H, W, 4) float32: the sprite's view moved, point by point, to where the camera sees each point.

    The sprite was taken 25 m away from one of a few directions. Its plane through the foot maps exactly; what is
    nearer or farther than that plane is shifted by its own parallax, so that wheels meet the road at any range.
    """
    step = 1 / view.ppm
    rgba = _calmed(view.rgba)
    to_board = np.array(
        [[step, 0, (0.5 - view.foot[0]) * step], [0, -step, (view.foot[1] - 0.5) * step], [0, 0, 1]]
    )
    warp = board(camera, placement) @ to_board
    picture, rescale = _reduced(rgba, magnification(warp, view.foot))
    warp = warp @ np.linalg.inv(rescale)
    height, width = picture.shape[:2]
    shift = _parallax(view, (height, width), warp, camera, placement)
    x0, y0, x1, y1 = _target(warp, shift, camera)
    drawn = np.zeros((camera.height, camera.width, 4), np.float32)
    if x1 <= x0 or y1 <= y0:
        return drawn
    back = np.linalg.inv(warp)
    seen = np.stack(np.meshgrid(np.arange(x0, x1), np.arange(y0, y1)), -1).astype(np.float32)
    at = _mapped(back, seen)
    for _ in range(2):  # the shift is given where a pixel comes from: two rounds of fixed-point iteration
        moved = _looked_up(shift, at, cv2.BORDER_REPLICATE)
        at = _mapped(back, seen - moved)
    drawn[y0:y1, x0:x1] = _looked_up(picture, at, cv2.BORDER_CONSTANT)
    return drawn


def _calmed(rgba: np.ndarray) -> np.ndarray:
    """Smoke and flames, which are traced with few paths, without their speckle; solid things as they are."""
    alpha = rgba[..., 3]
    covered = alpha > 0.04
    if (alpha[covered] < 0.85).mean() < 0.6:
        return rgba
    solid = cv2.GaussianBlur(np.clip((alpha - 0.85) / 0.1, 0, 1), (0, 0), 1.0)[..., None]
    return rgba * solid + cv2.GaussianBlur(rgba, (0, 0), 1.8) * (1 - solid)


def _parallax(
    view: View, shape: tuple[int, int], warp: np.ndarray, camera: Camera, placement: Placement
) -> np.ndarray:
    """(h, w, 2) float32: true pixel less ``warp``'s pixel of what each sprite pixel shows, spread over the gaps."""
    height, width = shape
    points = cv2.resize(view.points, (width, height), interpolation=cv2.INTER_NEAREST).reshape(-1, 3)
    solid = cv2.resize(view.rgba[..., 3], (width, height), interpolation=cv2.INTER_AREA) > 0.5
    c, s = math.cos(placement.yaw), math.sin(placement.yaw)
    world = points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + (placement.x, placement.y, 0)
    true, valid = project(camera, world)
    plane = _mapped(warp, np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).astype(np.float32))
    known = (solid & valid.reshape(shape)).astype(np.float32)[..., None]
    shift = np.nan_to_num(true.reshape(height, width, 2) - plane).astype(np.float32) * known
    reach = 0.02 * max(shape) + 1.0
    weight = cv2.GaussianBlur(known, (0, 0), reach)[..., None]
    mean = shift.sum((0, 1)) / max(float(known.sum()), 1.0)
    around = (cv2.GaussianBlur(shift, (0, 0), reach) + 1e-3 * mean) / (weight + 1e-3)
    return cv2.blur(shift + (1 - known) * around, (3, 3))


def _target(warp: np.ndarray, shift: np.ndarray, camera: Camera) -> tuple[int, int, int, int]:
    """x0, y0, x1, y1 of the pixels that the sprite can reach, inside the image."""
    height, width = shift.shape[:2]
    edge = np.array([[(0, 0), (width, 0), (width, height), (0, height)]], np.float32)
    corners = _mapped(warp, edge).reshape(-1, 2)
    margin = np.abs(shift).max((0, 1)) + 2
    low = np.floor(corners.min(0) - margin).clip(0, (camera.width, camera.height)).astype(int)
    high = np.ceil(corners.max(0) + margin).clip(0, (camera.width, camera.height)).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def _looked_up(picture: np.ndarray, at: np.ndarray, border: int) -> np.ndarray:
    """Values of a picture (h, w, C) at pixels (H, W, 2) float32."""
    x, y = cv2.split(at)
    return cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=border)


def _mapped(warp: np.ndarray, pixels: np.ndarray) -> np.ndarray:
    """Pixels (h, w, 2) float32 through a homography (3, 3)."""
    return cv2.perspectiveTransform(pixels, warp)


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
