"""Light on a sprite's view: the sky's part as it was path-traced, the sun's by normals and a shadow map of the hull."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cfgen.inpaint.composite.surroundings import Surroundings
from cfgen.perception.colour import luminance

Floats = NDArray[Any]  # float32; cv2's stubs lose the type
ASPHALT = 0.10
#: Share of their colourfulness that things keep in a camera's picture, in the sun and without: crosstalk of the sensor
#: and stray light take the rest. Lamps and flames keep theirs.
_COLOURFUL = np.float32(0.92), np.float32(0.8)
#: Reflectance at normal incidence of clear coats, glass and plastic (refractive index 1.5).
_F0 = np.float32(0.04)
#: GGX width of the sun's highlight on the smoothest surface, and what roughness adds: broader than it is, since the
#: normals are those of 2x2 pixels, as bright in all.
_SHARPEST, _ROUGHER = np.float32(0.085), np.float32(0.5)
#: Most that a highlight adds, in white cards that face the sun: more burns jagged edges.
_BRIGHTEST = np.float32(4.0)
#: Most light, in white cards, that something mirrored sends.
_MIRRORED_MOST = np.float32(2.0)
#: Metal flakes in paint: a broad lobe about the sun's highlight in the paint's colour, as a share of the square root of
#: what is matt, its GGX width squared, and from what gloss on.
_FLAKES, _FLAKES_WIDE, _COAT = np.float32(0.5), np.float32(0.12), np.float32(0.8)
#: Lamps and plates, smooth and bright but no coat, turn the sun's light back: gain of their albedo over so much.
_TURNED_BACK, _BRIGHT = np.float32(3.0), np.float32(0.2)
#: Gloss between which what is bright is a coat or a mirror, no lamp.
_MIRROR = 0.68, 0.8
#: Metres from which on what is bright and smooth is no lamp or plate: both ways, and one way.
_PANEL = 0.3, 0.75
#: Radiance of the sunlit skyline that shiny surfaces mirror, and up to which sine of elevation it stands.
_SKYLINE, _SKYLINE_TOP = np.float32(0.06), np.float32(0.12)


@dataclass(frozen=True, eq=False)
class Layers:
    sky: Floats  # HxWx4: premultiplied radiance under the unit sky, alpha
    albedo: Floats  # hxwx3 at half size
    normal: Floats  # hxwx3 in the model frame
    position: Floats  # hxwx3 in the model frame
    gloss: Floats | None  # hxw in 0-1; None when nothing shines
    eye: Floats  # (3,) unit vector to the camera in the model frame
    emission: Floats | None  # HxWx3
    detail: Floats  # HxW: what halving the size takes away, for the sun's half-size part
    lamps: Floats | None = None  # hxw in 0-1: lamps and plates, which turn light back


class HullShadow:
    """A shadow map: how far towards the sun the hull reaches, over a grid across the sun's rays.

    fur: metres that hair stands over the skin, which it does not shade.
    """

    def __init__(self, points: Floats, pitch: float, light: NDArray[np.float64], fur: float = 0.0) -> None:
        side = np.cross([0.0, 0.0, 1.0], light) if abs(light[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
        side = side / np.linalg.norm(side)
        self.axes = np.stack([side, np.cross(light, side), light], 1).astype(np.float32)
        self.grid = 1.25 * pitch
        projected = points @ self.axes
        self.low = projected[:, :2].min(0) - 2 * self.grid
        cols, rows = (np.ceil((projected[:, :2].max(0) - self.low) / self.grid) + 2).astype(int)
        reach = np.full(rows * cols, -1e3, np.float32)
        order = np.argsort(projected[:, 2], kind="stable")
        index = ((projected[:, :2] - self.low) / self.grid).astype(int)
        reach[(index[:, 1] * cols + index[:, 0])[order]] = projected[order, 2]
        self.reach = reach.reshape(rows, cols)
        self.slack = max(2.0 * pitch, fur)

    def visible(self, position: Floats, normal: Floats) -> Floats:
        """Share of the sun seen, hxw in 0-1, from points hxwx3 nudged off their surface; softened over 2x2 cells."""
        projected = (position + normal * np.float32(self.slack)) @ self.axes
        at = (projected[..., :2] - self.low) / np.float32(self.grid) - np.float32(0.5)
        lit = np.zeros(at.shape[:2], np.float32)
        for dx, dy in ((-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)):
            x, y = at[..., 0] + np.float32(dx), at[..., 1] + np.float32(dy)
            reach = cv2.remap(
                self.reach, x, y, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT, borderValue=-1e3
            )
            lit += projected[..., 2] + np.float32(self.slack) > reach
        return lit / 4


def relight(
    layers: Layers,
    light: NDArray[np.float64] | None,
    sky: ArrayLike,
    sun: ArrayLike,
    emission: ArrayLike,
    shadow: HullShadow | None,
    around: Surroundings | None = None,
) -> Floats:
    """HxWx4 float32, premultiplied linear: the sky's part, the sun's part, what glows and what is mirrored."""
    in_sun = light is not None and light[2] > 0
    saturation = _COLOURFUL[0 if in_sun else 1]
    rgba = layers.sky.copy()
    rgba[..., :3] = _paler(rgba[..., :3], saturation) * np.asarray(sky, np.float32)
    if light is not None and in_sun:
        towards = light.astype(np.float32)
        facing = np.clip(_along(layers.normal, towards), 0, 1)
        if shadow is not None:
            facing *= shadow.visible(layers.position, layers.normal)
        bounce = np.float32(ASPHALT * light[2] * 0.35) * (1 - layers.normal[..., 2])
        matt = facing + bounce
        if layers.gloss is not None:
            matt = matt + _metal(layers, layers.gloss, towards) * facing
        added = _paler(layers.albedo, saturation) * matt[..., None]
        if layers.gloss is not None:
            added += _mirrored(layers, layers.gloss, towards, facing)[..., None]
        added *= np.asarray(sun, np.float32)
        size = rgba.shape[1::-1]
        sharp = (layers.detail * rgba[..., 3])[..., None]
        rgba[..., :3] += cv2.resize(added, size, interpolation=cv2.INTER_LINEAR) * sharp
    if layers.gloss is not None and around is not None:
        mirrored = _around(layers, layers.gloss, np.asarray(sky, np.float32), around)
        mirror_full = cv2.resize(mirrored, rgba.shape[1::-1], interpolation=cv2.INTER_LINEAR)
        rgba[..., :3] = np.maximum(rgba[..., :3] + mirror_full * rgba[..., 3:], 0)
    if layers.emission is not None:
        rgba[..., :3] += layers.emission * np.asarray(emission, np.float32)
    return rgba


def relit(
    layers: Layers,
    light: NDArray[np.float64] | None,
    sky: ArrayLike,
    sun: ArrayLike,
    emission: ArrayLike,
    shadow: HullShadow | None,
    around: Surroundings | None,
    flip: bool,
) -> Floats:
    """`relight`, mirrored where asked for, and not done again for the next frame of a case; nobody may write to it."""
    levels = (tuple(np.broadcast_to(np.asarray(v, np.float32), 3).tolist()) for v in (sky, sun, emission))
    return _relit(layers, None if light is None else tuple(light.tolist()), *levels, shadow, around, flip)


@lru_cache(maxsize=4)
def _relit(
    layers: Layers,
    light: tuple[float, ...] | None,
    sky: tuple[float, ...],
    sun: tuple[float, ...],
    emission: tuple[float, ...],
    shadow: HullShadow | None,
    around: Surroundings | None,
    flip: bool,
) -> Floats:
    towards = None if light is None else np.array(light)
    rgba = relight(layers, towards, sky, sun, emission, shadow, around)
    if flip:
        rgba = np.ascontiguousarray(rgba[:, ::-1])
    rgba.flags.writeable = False
    return rgba


def _paler(colour: Floats, saturation: np.float32) -> Floats:
    return colour * saturation + (luminance(colour) * (1 - saturation))[..., None]


def _mirrored(layers: Layers, gloss: Floats, light: Floats, facing: Floats) -> Floats:
    """Sunlight mirrored towards the camera, hxw, sun 1: the highlight (GGX, Walter et al. 2007, with the visibility
    of Kelemen and Szirmay-Kalos 2001), and the sunlit ground and skyline around, by Fresnel (Schlick 1994)."""
    eye, normal = layers.eye, layers.normal
    half = (light + eye) / np.linalg.norm(light + eye)
    grazing = np.maximum(light @ half, np.float32(0.2))[None]
    width2 = (_SHARPEST + _ROUGHER * (1 - gloss) ** 2) ** 2
    spread = (np.clip(_along(normal, half), 0, 1) ** 2) * (width2 - 1) + 1
    peak = _schlick(grazing) / (4 * grazing**2)
    highlight = np.minimum(width2 / spread**2 * peak * facing, _BRIGHTEST)
    cosine = np.clip(_along(normal, eye), 0.02, 1)
    rise = 2 * cosine * normal[..., 2] - eye[2]
    below = np.clip(0.5 - rise / np.float32(0.04), 0, 1)
    skyline = np.clip((_SKYLINE_TOP - rise) / np.float32(0.06), 0, 1)
    around = np.float32(ASPHALT * light[2]) * below + _SKYLINE * skyline * (1 - below)
    return gloss * (highlight + _schlick(cosine) * around)


def _metal(layers: Layers, gloss: Floats, light: Floats) -> Floats:
    """What flakes in paint, lamps and plates send back of sunlight beside what is matt, times that, hxw."""
    half = (light + layers.eye) / np.linalg.norm(light + layers.eye)
    bright = luminance(layers.albedo)
    lobe = np.clip(_along(layers.normal, half), 0, 1) ** 2 * (_FLAKES_WIDE - 1) + 1
    coat = np.clip((gloss - _COAT) / (1 - _COAT), 0, 1) * (gloss <= 1)  # panes hold none
    level = _FLAKES * coat * _FLAKES_WIDE / lobe**2 / np.sqrt(np.maximum(bright, np.float32(0.01)))
    return level if layers.lamps is None else level + _TURNED_BACK * layers.lamps


def lamps_of(albedo: Floats, gloss: Floats, alpha: Floats, ppm: float) -> Floats:
    """How far lamps and plates turn light back, hxw in 0-1: bright, smooth, but no coat or mirror, and smaller than
    panels are."""
    coat = np.clip((gloss - _MIRROR[0]) / (_MIRROR[1] - _MIRROR[0]), 0, 1)
    bright = np.clip(luminance(albedo) / _BRIGHT - 1, 0, 1)
    lamps: Floats = (np.clip(gloss / _BRIGHT - 1, 0, 1) * (1 - coat) * bright * alpha).astype(np.float32)
    wide, long = (max(3, round(metres * ppm) | 1) for metres in _PANEL)  # odd: centred
    for size in ((wide, wide), (1, long), (long, 1)):
        shape = np.ones(size, np.uint8)
        lamps = lamps - cv2.morphologyEx(
            lamps, cv2.MORPH_OPEN, shape, borderType=cv2.BORDER_CONSTANT, borderValue=0
        )
    return lamps


def _around(layers: Layers, gloss: Floats, sky: Floats, around: Surroundings) -> Floats:
    """What is mirrored of the surroundings beyond the even sky that the sky's part was traced under, hxwx3."""
    cosine = np.clip(_along(layers.normal, layers.eye), 0.05, 1)[..., None]
    back = 2 * cosine * layers.normal - layers.eye
    above = np.clip(0.5 + back[..., 2:] / np.float32(0.04), 0, 1)
    beyond = np.clip(around.seen(back) - sky * above, -1, _MIRRORED_MOST)
    return gloss[..., None] * _schlick(cosine) * beyond


def _along(vectors: Floats, way: Floats) -> Floats:
    """(H, W) of vectors (H, W, 3) along a way (3,); no matrix product, as in ``luminance``."""
    dots: Floats = vectors[..., 0] * way[0] + vectors[..., 1] * way[1] + vectors[..., 2] * way[2]
    return dots


def _schlick(cosine: Floats) -> Floats:
    return _F0 + (1 - _F0) * (1 - cosine) ** 5


def detail_of(sky: Floats) -> Floats:
    """Luminance of premultiplied sky light ÷ the same halved and doubled in size, HxW; 1 where the object is not."""
    light, alpha = sky[..., :3].sum(-1) + np.float32(1e-4), sky[..., 3] + np.float32(1e-4)
    rows, cols = alpha.shape
    soft = cv2.resize(
        cv2.resize(np.dstack([light, alpha]), (cols // 2, rows // 2), interpolation=cv2.INTER_AREA),
        (cols, rows),
    )
    return np.clip(light * soft[..., 1] / (alpha * soft[..., 0]), 0.4, 1.8)


def gathered(light: Floats) -> Floats:
    """Contact shadow HxW of what stands on legs gathered about them: spread under the body it shows as a bar."""
    dark = 1 - light
    deepest = max(float(dark.max()), 1e-3)
    return 1 - deepest * (dark / deepest) ** (3 - 2 * deepest)
