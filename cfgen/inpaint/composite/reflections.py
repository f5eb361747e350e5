"""The sky's sheen on a road seen at a slant, and how what stands on it takes that away: its dull, dark mirror image.

Asphalt scatters light forwards, so that at the slant of a car's camera a good part of what an overcast road shows is
the sky low above it. Before a thing that part is missing, most at its foot: it is what sets things on the ground where
no sun casts shadows. A wet road mirrors more, farther down and in colour.
"""

import cv2
import numpy as np

from cfgen.geometry.camera import centre as eye_of
from cfgen.geometry.camera import project, rotation, unproject
from cfgen.inpaint.protocol import Setting
from cfgen.inpaint.settings import REFLECTION
from cfgen.perception.linear_light import luminance, to_linear
from cfgen.records import Camera


def sheen_rows(height: float, wet: float = 0.0) -> float:
    """Rows below the foot of a thing of ``height`` pixels that its mirror image reaches."""
    return min(2.5 * _reach(wet), 1.0) * float(height)


def _reach(wet: float) -> float:
    return REFLECTION.reach + wet * (REFLECTION.wet_reach - REFLECTION.reach)


def sheen(rgba: np.ndarray, sky: float, free: np.ndarray, wet: float = 0.0) -> np.ndarray:
    """(H, W, 1) float32, light that the road shows with a thing ÷ without it, for want of sheen; (H, W, 3) if wet.

    Args:
        rgba: (H, W, 4) premultiplied linear light of the thing, 1 a white card under the open sky.
        sky: the sky's share of the light on the road; the sun's makes no sheen towards most cameras.
        free: (H, W) bool, where pixels may change: the image has faded out at that edge, and is fainter near it.
        wet: in [0, 1], how surely the road is a mirror.
    """
    gloss = np.ones((*rgba.shape[:2], 3 if wet > 0 else 1), np.float32)
    cover = rgba[..., 3]
    x, _, w, h = cv2.boundingRect((cover > 0.5).astype(np.uint8))
    if w < 3 or h < 3 or sky <= 0:
        return gloss
    rows, end = np.arange(len(cover), dtype=np.float32), min(x + w, cover.shape[1])
    solid = cover[:, x:end] > 0.5
    lowest = np.where(solid.any(0), len(cover) - 1 - np.argmax(solid[::-1], 0), 0).astype(np.float32)
    feet = cv2.dilate(lowest[None], np.ones((1, max(round(REFLECTION.feet * w), 1) | 1), np.uint8))
    feet = cv2.GaussianBlur(feet, (0, 0), max(0.04 * w, 0.5))[0]
    below = rows[:, None] - feet[None]
    thing = rgba[:, x:end, :3]
    grey = luminance(thing)[..., None]
    coverage = np.clip(
        cover[:, x:end, None] - (grey + np.float32(wet) * (thing - grey) if wet > 0 else grey), 0, 1
    )
    columns = np.broadcast_to(np.arange(end - x, dtype=np.float32), below.shape)
    image = cv2.remap(coverage, np.ascontiguousarray(columns), feet[None] - below, cv2.INTER_LINEAR)
    fades = np.exp(-np.maximum(below, 0) / np.float32(_reach(wet) * h)) * np.clip(below + 1, 0, 1)
    room = len(free) - 1 - np.argmax(free[::-1, x:end], 0) - REFLECTION.rim - REFLECTION.blur * h - feet
    room = np.where(free[:, x:end].any(0), np.maximum(room, 0), 0)
    ends = 0.5 + 0.5 * np.cos(np.pi * np.clip(below / np.maximum(room, 1), 0, 1))
    fades *= ends * np.minimum(2 * room / np.float32(REFLECTION.reach * h), 1)
    share = np.float32((REFLECTION.share + wet * (REFLECTION.wet_share - REFLECTION.share)) * sky)
    gloss[:, x:end] -= share * (fades[..., None] * image.reshape(*fades.shape, -1))
    return cv2.GaussianBlur(gloss, (0, 0), max(REFLECTION.blur * h, 0.5)).reshape(gloss.shape)


# --- reflect -----------------------------------------------------------------------------------
# What water standing on the road mirrors: the scene beyond it, upside down and blurred by ripples.

#: Sky above a frame that ends below it: times as bright as the road by day, linear RGB, and over how many radians.
_SKY, _RISE = np.array([1.7, 1.9, 2.1], np.float32), 0.08


def reflection(camera: Camera, setting: Setting, by_day: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Linear RGB (H, W, 3) that water at each pixel of ``camera``'s image mirrors, and its reflectance (H, W).

    The mirrored ray is looked up in the setting's frame as if what it meets stood ``far`` metres off, so that trunks
    and walls stand on their own feet; what lies above the frame is the sky ``by_day``. Reflectance is
    Schlick's (Computer Graphics Forum 1994, Eq. 24): r + (1 - r) (1 - cos)^5.
    """
    grid = np.stack(np.meshgrid(np.arange(camera.width), np.arange(camera.height)), -1).reshape(-1, 2)
    rays, _ = unproject(camera, grid)
    world = np.nan_to_num(rays @ rotation(camera))
    steep = np.clip(-world[:, 2], 0, 1)
    level = world[:, :2] / np.maximum(np.linalg.norm(world[:, :2], axis=1, keepdims=True), 1e-6)
    away = eye_of(camera)[2] / np.maximum(steep, 1e-3)
    spots = away[:, None] * world
    facet = np.column_stack([-REFLECTION.lean * level, np.ones(len(world))])
    world = world - 2 * (world * facet).sum(1, keepdims=True) * facet
    beyond = np.maximum(REFLECTION.far - away, (REFLECTION.beyond - 1) * away)[:, None]
    px, in_view = project(setting.camera, eye_of(setting.camera) + spots + beyond * world)
    at = np.where(in_view[:, None], px, -1).astype(np.float32).reshape(camera.height, camera.width, 2)
    up_down = max(2 * REFLECTION.fine * setting.camera.fy, 0.6)
    frame = cv2.GaussianBlur(setting.image, (0, 0), 0.12 * up_down + 0.5, sigmaY=up_down)
    x, y = cv2.split(at)
    mirrored = to_linear(cv2.remap(frame, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101))
    mirrored += np.float32(REFLECTION.murky) * (luminance(mirrored)[..., None] - mirrored)
    road = _road(setting.image)
    if by_day:
        above = np.clip(-y / np.float32(_RISE * setting.camera.fy), 0, 1)[..., None]
        mirrored += above * (np.maximum(_SKY * np.float32(road), mirrored) - mirrored)
    share = (
        REFLECTION.straight + (1 - REFLECTION.straight) * (1 - np.minimum(steep + REFLECTION.turned, 1)) ** 5
    )
    mirrored = cv2.GaussianBlur(mirrored, (0, 0), 1.0, sigmaY=1.6)  # facets are small: no edge is hard
    return _held_back(mirrored, road), share.astype(np.float32).reshape(at.shape[:2])


def _road(image: np.ndarray) -> float:
    """Median linear luminance of where the road ahead is."""
    height, width = image.shape[:2]
    across = slice(width // 4, max(width - -(-width // 4), width // 4 + 1))
    road = image[int(0.65 * height) : max(int(0.85 * height), int(0.65 * height) + 1), across]
    return float(np.median(luminance(to_linear(road))))


def _held_back(mirrored: np.ndarray, road: float) -> np.ndarray:
    """Linear RGB whose glare is eased towards three times the level it begins at."""
    knee = REFLECTION.glare * road
    level = np.maximum(luminance(mirrored), 1e-6)
    over = np.maximum(level - knee, 0)
    return mirrored * ((np.minimum(level, knee) + over / (1 + over / (2 * knee + 1e-6))) / level)[..., None]
