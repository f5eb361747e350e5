"""Light on a sprite's view: the sky's part as it was path-traced, the sun's by normals and a shadow map of the hull."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from cfgen.inpaint.composite.light import Surroundings
from cfgen.inpaint.settings import SURFACE
from cfgen.perception.colour import luminance

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
# What sprites are made of, read off their layers: panes, which the path tracer's pass looks through, and body paint,
# which can be another without another rendering.

#: Paints of cars, linear albedo: as on roads four in five are white, silver, grey or nearly black.
PAINTS: dict[str, tuple[float, float, float]] = {
    "pearl": (0.59, 0.575, 0.53),
    "platinum": (0.45, 0.455, 0.46),
    "silver": (0.30, 0.31, 0.32),
    "grey": (0.12, 0.125, 0.13),
    "graphite": (0.045, 0.047, 0.05),
    "dark blue": (0.012, 0.026, 0.075),
    "light blue": (0.16, 0.24, 0.33),
    "wine": (0.085, 0.012, 0.018),
}
#: Models whose paint is all one coat, and the variant of them that no other paint comes out clean on.
_PAINTED, _AS_IT_IS = frozenset({"car", "car_braking", "car_oncoming", "van"}), ("van", "grey")
#: The other paints that come out clean by a variant's own, the last word of its name: none over black, which trim and
#: window frames are too, none over red, which lamps are, and none brighter than what it covers.
_OVER = {
    "white": ("pearl", "silver", "platinum", "grey", "dark blue", "graphite"),
    "silver": ("graphite", "grey", "light blue"),
    "grey": ("wine", "graphite"),
    "blue": ("graphite", "wine"),
}
#: Gloss of a clear coat from which on (in all: over which it sets in) it is body paint; how far albedo strays in it.
_COAT_materials, _STRAYS = (0.45, 0.86), 0.10
_AROUND = {n: np.ones((n, n), np.uint8) for n in (3, 5)}

#: Models with windows above their waist, and those of them that lie on their roof.
_GLAZED = _PAINTED | {
    "ambulance",
    "car_door_open",
    "car_overturned",
    "child_behind_car",
    "fire_engine",
    "garbage_truck",
    "police_car",
    "school_bus",
}
_GLAZED |= {"tow_truck", "tram", "truck_box", "truck_hivis_person"}
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


def repainted(layers: Layers, paint: str) -> Layers:
    """The layers with the body's paint replaced, as light and dark as it was."""
    if layers.gloss is None:
        return layers
    sure = (layers.gloss > _COAT_materials[1]) & (layers.gloss <= 1)
    if sure.sum() < 50:
        return layers
    own, new = np.median(layers.albedo[sure], 0).astype(np.float32), np.array(PAINTS[paint], np.float32)
    share, mixed, pale = coat_of(layers, own)
    # what the coat mirrors of the even sky stays; flakes in it seen at a slant are as pale as the sky
    cosine = np.clip((layers.normal * layers.eye).sum(-1), 0.02, 1)
    mirrored = (np.float32(SURFACE.f0) + (1 - np.float32(SURFACE.f0)) * (1 - cosine) ** 5) * np.clip(
        0.5 + 4 * (2 * cosine * layers.normal[..., 2] - layers.eye[2]), 0, 1
    )
    mirrored = cv2.GaussianBlur(
        np.minimum(mirrored, np.float32(SURFACE.mirrored)).astype(np.float32), (0, 0), 2
    )  # coarse normals
    size, grey = layers.sky.shape[1::-1], float(luminance(own))
    planes = np.dstack([share, mirrored, grey + pale * (1 - grey)]).astype(np.float32)
    cover, mirror, level = cv2.split(cv2.resize(planes, size, interpolation=cv2.INTER_LINEAR))
    alpha, radiance = layers.sky[..., 3], layers.sky[..., :3]
    seen_light = luminance(radiance) / np.maximum(alpha, 1e-3)
    mirror = np.minimum(mirror, seen_light)
    lit = np.clip((seen_light - mirror) / level, 0, 1.1)
    sky, base, lit, mirror = layers.sky.copy(), 1 - cover, cover * alpha * lit, cover * alpha * mirror
    for channel in range(3):
        sky[..., channel] = sky[..., channel] * base + lit * new[channel] + mirror
    albedo = layers.albedo + share[..., None] * (mixed[..., None] * new - layers.albedo)
    return replace(layers, sky=sky.astype(np.float32), albedo=albedo.astype(np.float32))


def coat_of(layers: Layers, own: Floats) -> tuple[Floats, Floats, Floats]:
    """Where body paint ``own`` is, hxw with soft edges; its share of a pixel beside what is dark; flakes' paleness."""
    assert layers.gloss is not None
    albedo, gloss, upward = layers.albedo, layers.gloss, layers.normal[..., 2]
    low, full = _COAT_materials
    planes = cv2.split(albedo)
    along = sum(plane * part for plane, part in zip(planes, own, strict=True)) / float((own * own).sum())
    mixed = np.clip(along, 0, 1)
    slant = np.clip(5 * upward - 2.5, 0, 1)  # lamps' clear fronts are steeper
    pale = np.clip((sum(planes) / 3 - own.mean()) / float(1 - own.mean()), 0, 1) * slant
    off = [np.abs(plane - mixed * part - pale * (1 - part)) for plane, part in zip(planes, own, strict=True)]
    distance = np.maximum(np.maximum(off[0], off[1]), off[2])
    alike = np.clip(2 - distance / (_STRAYS * (1 + 2 * float(own.max()))), 0, 1)
    coat = np.clip((gloss - low) / (full - low), 0, 1) * (gloss <= 1)
    # roofs are seen in so few rows that their gloss is lost
    height = layers.position[..., 2] / max(float(layers.position[..., 2][coat >= 1].max(initial=0)), 0.1)
    roof = (
        SURFACE.roof if float(luminance(own)) < SURFACE.bright_coat else 0.5
    )  # whoever sits below it may be as dark as the coat
    coat = np.maximum(coat, (gloss <= 1) * (mixed > 0.5) * (height > roof) * np.clip(4 * upward - 2, 0, 1))
    # lamps, with what is clear in them
    lamps = ((planes[0] > 0.06) & (planes[0] > 2.2 * planes[2])).astype(np.uint8)
    if layers.emission is not None:
        lamps |= (
            cv2.resize(layers.emission[..., 0], gloss.shape[::-1], interpolation=cv2.INTER_AREA)
            > SURFACE.glows
        )
    panes = cv2.morphologyEx((gloss > 1).astype(np.uint8), cv2.MORPH_CLOSE, _AROUND[5]) * (mixed < 0.5)
    body = (1 - cv2.morphologyEx(lamps, cv2.MORPH_CLOSE, _AROUND[5])) * (1 - panes)
    # dirt and rims take gloss away, but not where a plate can be: what hangs together with the coat is the coat
    mask = ((coat * alike > 0.4) & (mixed > 0.35)).astype(np.uint8)
    dull = (height < SURFACE.plate[0]) | (height > SURFACE.plate[1]) | (np.abs(layers.normal[..., 1]) > 0.7)
    dull &= (alike > 0.4) & (mixed > 0.4) & (gloss > SURFACE.dull)
    _, part = cv2.connectedComponents((dull | (mask > 0)).astype(np.uint8) * body, connectivity=4)
    count = np.bincount(part.ravel())
    mostly_coat = (np.bincount(part.ravel(), mask.ravel()) > 0.5 * count) & (count >= SURFACE.speck)
    mostly_coat[0] = False
    mask = mostly_coat[part].astype(np.uint8)
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, _AROUND[5])
    # seams and rims, mixed with what is dark
    border = cv2.dilate(mask, _AROUND[3]) * ((mixed < 0.7) | (coat > 0.4))
    share: Floats = cv2.blur(body * np.maximum(mask, border) * alike.astype(np.float32), (2, 2))
    return share, mixed, pale


def paints_of(model: str, variant: str) -> tuple[str, ...]:
    """Names of the PAINTS that a variant can have besides its own."""
    if model not in _PAINTED or (model, variant) == _AS_IT_IS:
        return ()
    return _OVER.get(variant.rsplit("_", 1)[-1], ())
