"""A sprite as one camera sees it at one place: the lit object, and what it does to the light on the ground."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np

from cfgen.core.errors import InpaintRefusedError
from cfgen.core.identity_cache import IdentityCache
from cfgen.geometry.box import box_corners
from cfgen.geometry.camera import centre, cropped, project
from cfgen.inpaint.composite.light import Light, Surroundings
from cfgen.inpaint.composite.reflections import sheen_rows
from cfgen.inpaint.composite.relight import dull
from cfgen.inpaint.composite.reproject import mapped, reproject
from cfgen.inpaint.composite.sprites import GroundMap, Sprite
from cfgen.inpaint.region import homography
from cfgen.inpaint.settings import DRAWING
from cfgen.perception.linear_light import LUMA
from cfgen.records import Camera, Placement, Size


@dataclass(frozen=True, eq=False)
class Drawing:
    """A sprite in a part of an image.

    Attributes:
        box: x0, y0, x1, y1 of that part, outside of which nothing changes.
        rgba: (h, w, 4) float32 premultiplied linear RGBA of the object, in sprite light units.
        shade: (h, w, 3) float32, light on the ground with the object ÷ without it.
        mirror: (h, w) float32 in [0, 1], how much of a pixel is still water; None without water.
        burns: it is in flames.
        dull: its darks are hair or clothes.
    """

    box: tuple[int, int, int, int]
    rgba: np.ndarray
    shade: np.ndarray
    mirror: np.ndarray | None = None
    burns: bool = False
    dull: bool = False


def draw(sprite: Sprite, camera: Camera, placement: Placement, light: Light) -> Drawing | None:
    """The sprite as the camera sees it, or None when it touches no pixel."""
    shadow = _shadow(sprite, placement.yaw, light)
    x0, y0, x1, y1 = _touched(sprite, shadow, camera, placement, light.wet)
    if x1 <= x0 or y1 <= y0:
        return None
    part = cropped(camera, x0, y0, x1 - x0, y1 - y0)
    shade = _on_ground(shadow, part, placement, np.ones(3))
    rgba = draw_object(sprite, part, placement, light)
    burns = float(sprite.glow()[0].max()) >= DRAWING.fire
    if not sprite.is_water:
        return Drawing((x0, y0, x1, y1), rgba, shade, burns=burns, dull=dull(sprite.meta["model"]))
    rgba = cv2.GaussianBlur(rgba, (0, 0), 1.2)  # a film that thins out has no outline
    mirror = np.clip((rgba[..., 3] - 0.6) / 0.38, 0, 1)
    return Drawing((x0, y0, x1, y1), rgba, shade, mirror)


@lru_cache(maxsize=4)
def _shadow(sprite: Sprite, yaw: float, light: Light) -> GroundMap:
    """Light on the ground with the object ÷ without it: its shadow, and what a fire adds. One for a case's frames."""
    shadow = sprite.shadow_map(_in_model(light.sun_dir, yaw), light.sky, light.sun)
    intensity, height = sprite.glow()
    lit = intensity * np.float32(_shine(sprite, light))
    if float(intensity.max()) < DRAWING.fire:
        if light.day >= 1 or not intensity.any():
            return shadow
        lit = lit * np.float32(min(DRAWING.lamps / float(lit.max()), 1))
    return _lit_by(shadow, lit, max(height, 0.3))


def _shine(sprite: Sprite, light: Light) -> float:
    """Gain of what shines by itself, against the light on the ground.

    Flames are bright enough to burn out, yet cameras show them orange: theirs is held in the range that does. In the
    dark a lamp is as bright in the picture as it is by itself, however dark the road.
    """
    gain = 1 / light.day
    white = max(float(light.ground @ LUMA), 1e-4) / light.albedo
    if float(sprite.glow()[0].max()) < DRAWING.fire:
        return max(gain, (1 - light.day) * DRAWING.lamp / white)
    level = float(np.clip(gain * white, *DRAWING.flame)) / white
    steep = max(light.steepness, 0.0)  # the camera's contrast comes on top
    return float((level * (light.albedo / DRAWING.hot) ** steep) ** (1 / (1 + steep)))


def _lit_by(shadow: GroundMap, intensity: np.ndarray, height: float) -> GroundMap:
    """A ground map with the light of a point source of radiant ``intensity`` (3,) at ``height`` metres added.

    A white card at distance r from its foot gets intensity * h / (pi * (h^2 + r^2)^1.5).
    """
    step = 2 * DRAWING.fire_reach / DRAWING.fire_cells
    frame = np.array(
        [[0, -step, DRAWING.fire_reach - step / 2], [-step, 0, DRAWING.fire_reach - step / 2], [0, 0, 1]]
    )
    move = (np.linalg.inv(frame) @ shadow.to_model)[:2]
    size = (DRAWING.fire_cells, DRAWING.fire_cells)
    shade = cv2.warpAffine(shadow.values, move, size, flags=cv2.INTER_LINEAR, borderValue=(1, 1, 1))
    across = np.linspace(-DRAWING.fire_reach, DRAWING.fire_reach, DRAWING.fire_cells)
    away = np.hypot(across[:, None], across[None, :])
    added = (
        height / (math.pi * (height**2 + away**2) ** 1.5) * np.clip(2 * (1 - away / DRAWING.fire_reach), 0, 1)
    )
    return GroundMap((shade + added[..., None] * intensity).astype(np.float32), frame)


def _edge(picture: GroundMap) -> np.ndarray:
    """(1, 4, 2) corners of a ground picture, pixels."""
    rows, cols = picture.values.shape[:2]
    return np.array([[(-0.5, -0.5), (cols, -0.5), (cols, rows), (-0.5, rows)]], np.float32)


def _touched(
    sprite: Sprite, shadow: GroundMap, camera: Camera, placement: Placement, wet: float
) -> tuple[int, int, int, int]:
    """x0, y0, x1, y1 of the pixels that the object's box or its shadow's map can reach, inside the image."""
    length, width, height = sprite.size
    size = Size(length=length, width=width, height=max(height, 0.01))
    corners, valid = project(camera, box_corners(placement.x, placement.y, placement.yaw, size)[0])
    eye = centre(camera)[:2]
    reach = 0.6 * math.hypot(eye[0] - placement.x, eye[1] - placement.y)
    on_ground = np.clip(mapped(shadow.to_model, _edge(shadow)), -reach, reach)
    px = np.vstack([corners[valid], mapped(ground_homography(camera, placement), on_ground)[0]])
    if not np.isfinite(px).all():
        return 0, 0, 0, 0
    margin = 4 + 0.03 * np.ptp(px, axis=0)
    mirrored = sheen_rows(np.ptp(corners[valid][:, 1]), wet) if valid.any() else 0.0
    low = np.floor(px.min(0) - margin).clip(0, (camera.width, camera.height)).astype(int)
    deepest = np.maximum(px.max(0), (0, float(corners[valid][:, 1].max(initial=0)) + mirrored))
    high = np.ceil(deepest + margin).clip(0, (camera.width, camera.height)).astype(int)
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])


def draw_object(sprite: Sprite, camera: Camera, placement: Placement, light: Light) -> np.ndarray:
    """(H, W, 4) float32 premultiplied linear RGBA of the lit sprite in the camera's image, sprite light units."""
    if sprite.is_decal:
        decal = sprite.decal(_in_model(light.sun_dir, placement.yaw), light.sky, light.sun, 1 / light.day)
        return _on_ground(decal, camera, placement, np.zeros(4))
    eye = centre(camera)
    dx, dy = eye[0] - placement.x, eye[1] - placement.y
    view = sprite.view(
        azimuth=math.atan2(dy, dx) - placement.yaw,
        elevation=math.atan2(eye[2], math.hypot(dx, dy)),
        sun_dir=_in_model(light.sun_dir, placement.yaw),
        sky=light.sky * np.float32(light.bounce),
        sun=light.sun * np.float32(light.facing),
        emission=_shine(sprite, light) / light.tint,
        around=None if light.around is None else Surroundings(light.around, placement.yaw),
    )
    calm, hollow = _CALMED.of(view.rgba, _calmed)
    return reproject(replace(view, rgba=calm), camera, placement, one_sheet=hollow)


def _calmed(rgba: np.ndarray) -> tuple[np.ndarray, bool]:
    """(H, W, 4) premultiplied: smoke and flames, traced with few paths, without their speckle, the rest as it is; and
    whether much of it is."""
    alpha = rgba[..., 3]
    covered = (alpha > 0.04).astype(np.float32)
    thin = covered * (alpha < DRAWING.solid)
    around = (round(DRAWING.thin_reach * max(alpha.shape)) | 1,) * 2
    share = cv2.blur(thin, around) / np.maximum(cv2.blur(covered, around), 1e-3)
    calm = np.clip((share - 0.65) / 0.15, 0, 1)[..., None]
    if not calm.any():
        return rgba, False
    result = rgba + (cv2.GaussianBlur(rgba, (0, 0), 1.8) - rgba) * calm
    return result, float((result != rgba).any(-1).mean()) > DRAWING.hollow


#: A case's frames mostly show one view, lit alike.
_CALMED = IdentityCache(limit=4)


def _in_model(direction: np.ndarray | None, yaw: float) -> tuple[float, float, float] | None:
    if direction is None:
        return None
    x, y, z = (float(v) for v in direction)
    c, s = math.cos(yaw), math.sin(yaw)
    return c * x + s * y, -s * x + c * y, z


def _on_ground(picture: GroundMap, camera: Camera, placement: Placement, outside: np.ndarray) -> np.ndarray:
    """A ground picture in the camera's image, ``outside`` where it does not reach."""
    warp = ground_homography(camera, placement) @ picture.to_model
    finer = np.diag([DRAWING.across, DRAWING.down, 1.0]) @ np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    finer = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1]]) @ finer
    warped = cv2.warpPerspective(
        picture.values,
        finer @ warp,
        (camera.width * DRAWING.across, camera.height * DRAWING.down),
        flags=cv2.INTER_LINEAR,
        borderValue=tuple(outside),
    )
    return cv2.resize(warped, (camera.width, camera.height), interpolation=cv2.INTER_AREA)


def ground_homography(camera: Camera, placement: Placement) -> np.ndarray:
    """(3, 3): metres on the ground in the object's frame (x front, y left) to pixels, exact near its foot.

    Raises:
        InpaintRefusedError: the camera does not see that ground, or sees it edge-on.
    """
    eye = centre(camera)[:2]
    away = math.hypot(eye[0] - placement.x, eye[1] - placement.y)
    c, s = math.cos(placement.yaw), math.sin(placement.yaw)
    for reach in (share * away for share in DRAWING.ground):
        flat = np.array([(reach, reach), (reach, -reach), (-reach, -reach), (-reach, reach)])
        world = flat @ np.array([[c, s], [-s, c]]) + (placement.x, placement.y)
        px, valid = project(camera, np.column_stack([world, np.zeros(4)]))
        matrix = homography(flat, px) if valid.all() else None
        if matrix is not None:
            return matrix
    raise InpaintRefusedError(
        f"the ground at x = {placement.x:.1f} m is not wholly in front of camera '{camera.name}'"
    )
