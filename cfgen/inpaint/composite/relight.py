"""Light on a sprite's view: the sky's part as it was path-traced, the sun's by normals and a shadow map of the hull."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cfgen.inpaint.composite.light import Surroundings
from cfgen.inpaint.settings import SURFACE
from cfgen.perception.linear_light import luminance

Floats = NDArray[Any]  # float32; cv2's stubs lose the type
#: Share of their colourfulness that things keep in a camera's picture, in the sun and without: crosstalk of the sensor
#: and stray light take the rest. Lamps and flames keep theirs.
_COLOURFUL = np.float32(0.92), np.float32(0.8)


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
        bounce = np.float32(SURFACE.asphalt * light[2] * 0.35) * (1 - layers.normal[..., 2])
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
    width2 = (np.float32(SURFACE.sharpest) + np.float32(SURFACE.rougher) * (1 - gloss) ** 2) ** 2
    spread = (np.clip(_along(normal, half), 0, 1) ** 2) * (width2 - 1) + 1
    peak = _schlick(grazing) / (4 * grazing**2)
    highlight = np.minimum(width2 / spread**2 * peak * facing, np.float32(SURFACE.brightest))
    cosine = np.clip(_along(normal, eye), 0.02, 1)
    rise = 2 * cosine * normal[..., 2] - eye[2]
    below = np.clip(0.5 - rise / np.float32(0.04), 0, 1)
    skyline = np.clip((np.float32(SURFACE.skyline_top) - rise) / np.float32(0.06), 0, 1)
    around = np.float32(SURFACE.asphalt * light[2]) * below + np.float32(SURFACE.skyline) * skyline * (
        1 - below
    )
    return gloss * (highlight + _schlick(cosine) * around)


def _metal(layers: Layers, gloss: Floats, light: Floats) -> Floats:
    """What flakes in paint, lamps and plates send back of sunlight beside what is matt, times that, hxw."""
    half = (light + layers.eye) / np.linalg.norm(light + layers.eye)
    bright = luminance(layers.albedo)
    lobe = np.clip(_along(layers.normal, half), 0, 1) ** 2 * (np.float32(SURFACE.flakes_wide) - 1) + 1
    coat = np.clip((gloss - np.float32(SURFACE.coat)) / (1 - np.float32(SURFACE.coat)), 0, 1) * (
        gloss <= 1
    )  # panes hold none
    level = (
        np.float32(SURFACE.flakes)
        * coat
        * np.float32(SURFACE.flakes_wide)
        / lobe**2
        / np.sqrt(np.maximum(bright, np.float32(0.01)))
    )
    return level if layers.lamps is None else level + np.float32(SURFACE.turned_back) * layers.lamps


def lamps_of(albedo: Floats, gloss: Floats, alpha: Floats, ppm: float) -> Floats:
    """How far lamps and plates turn light back, hxw in 0-1: bright, smooth, but no coat or mirror, and smaller than
    panels are."""
    coat = np.clip((gloss - SURFACE.mirror[0]) / (SURFACE.mirror[1] - SURFACE.mirror[0]), 0, 1)
    bright = np.clip(luminance(albedo) / np.float32(SURFACE.bright) - 1, 0, 1)
    lamps: Floats = (
        np.clip(gloss / np.float32(SURFACE.bright) - 1, 0, 1) * (1 - coat) * bright * alpha
    ).astype(np.float32)
    wide, long = (max(3, round(metres * ppm) | 1) for metres in SURFACE.panel)  # odd: centred
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
    beyond = np.clip(around.seen(back) - sky * above, -1, np.float32(SURFACE.mirrored_most))
    return gloss[..., None] * _schlick(cosine) * beyond


def _along(vectors: Floats, way: Floats) -> Floats:
    """(H, W) of vectors (H, W, 3) along a way (3,); no matrix product, as in ``luminance``."""
    dots: Floats = vectors[..., 0] * way[0] + vectors[..., 1] * way[1] + vectors[..., 2] * way[2]
    return dots


def _schlick(cosine: Floats) -> Floats:
    return np.float32(SURFACE.f0) + (1 - np.float32(SURFACE.f0)) * (1 - cosine) ** 5


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


# --- materials ---------------------------------------------------------------------------------
# What sprites are made of, read off their layers: panes, which the path tracer's pass looks through, coats and hair.

#: Models with windows above their waist, and those of them that lie on their roof.
_GLAZED = {
    "ambulance",
    "car",
    "car_braking",
    "car_door_open",
    "car_oncoming",
    "car_overturned",
    "child_behind_car",
    "van",
}
_GLAZED |= {"fire_engine", "garbage_truck", "police_car", "school_bus", "tow_truck", "tram", "truck_box"}
_GLAZED |= {"truck_hivis_person"}
_UPSIDE_DOWN = frozenset({"car_overturned"})


#: Models with a coat of hair, and what hair scatters at its surface whatever its colour.
FURRED = frozenset({"boar", "cat", "cattle", "deer", "dog", "horse"})
#: Models whose darks are hair or clothes, which have no gloss.
_CLOTHED = ("child", "flagger", "pedestrian", "person", "police_officer", "stroller", "wheelchair", "worker")


def dull(model: str) -> bool:
    """Whether the darks of a model are hair or clothes: a contrast that paint and glass show is not theirs."""
    return model in FURRED or model.startswith(_CLOTHED)


def glazed(model: str, gloss: Floats, albedo: Floats, height: Floats) -> tuple[Floats, Floats]:
    """Gloss (h, w) with that of panes, which are black and matt to the path tracer's pass, and albedo (h, w, 3) with
    who and what it saw behind them in the shade of the roof; ``height`` in [0, 1]."""
    if model not in _GLAZED:
        return gloss, albedo
    low, full = SURFACE.waist
    above = np.clip(((1 - height if model in _UPSIDE_DOWN else height) - low) / (full - low), 0, 1)
    dark = np.clip(2 - 2 * albedo.max(-1) / SURFACE.pane_dark, 0, 1)
    open_to = (above * np.clip(2 - 2 * gloss / SURFACE.pane_matt, 0, 1)).astype(np.float32)
    bare = open_to * dark
    wide = (max(3, round(SURFACE.behind * len(bare)) | 1),) * 2
    pane = (
        cv2.morphologyEx(bare, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, wide)) * open_to
    )
    shaded = albedo * (1 - np.float32(SURFACE.shaded) * np.maximum(pane - bare, 0))[..., None]
    return np.maximum(gloss, np.float32(SURFACE.pane) * pane).astype(np.float32), shaded.astype(np.float32)


def unmirrored(albedo: Floats, gloss: Floats, facing: Floats) -> Floats:
    """Albedo (h, w, 3) without the sky's light that coats mirror at a slant, which older sprites count as matt white.

    facing: cosine to the camera (h, w).
    """
    weight = np.clip((gloss - SURFACE.shines[0]) / (SURFACE.shines[1] - SURFACE.shines[0]), 0, 1)
    level = cv2.GaussianBlur(weight, (0, 0), SURFACE.even) + np.float32(1e-4)
    shading = np.clip(cv2.GaussianBlur(facing * weight, (0, 0), SURFACE.even) / level, 0.08, 1)
    mirrored = (
        1 - (1 - (np.float32(SURFACE.f0) + (1 - np.float32(SURFACE.f0)) * (1 - shading) ** 5)) ** 2
    )  # by a coat and by what is below it
    highlight = (
        np.float32(SURFACE.told)
        * np.maximum(mirrored - np.float32(0.06), 0)
        * np.clip((mirrored - 0.2) / 0.2, 0, 1)
    )
    white = np.minimum(weight * highlight, albedo.min(-1) - np.float32(SURFACE.left) * albedo.max(-1))
    return (albedo - np.maximum(white, 0)[..., None]).astype(np.float32)


def haired(sky: Floats, albedo: Floats) -> tuple[Floats, Floats]:
    """Premultiplied sky light HxWx4 and albedo hxwx3 of a coat whose every hair also scatters at its surface."""
    level = np.maximum(luminance(albedo), np.float32(1e-3))
    gain = np.minimum(np.hypot(level, np.float32(SURFACE.hair)) / level, 3)
    sky = sky.copy()
    sky[..., :3] *= cv2.resize(gain, sky.shape[1::-1], interpolation=cv2.INTER_LINEAR)[..., None]
    return sky, albedo * gain[..., None]
