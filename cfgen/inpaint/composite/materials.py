"""What sprites are made of, read off their layers: panes, which the path tracer's pass looks through, and body paint,
which can be another without another rendering."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from cfgen.inpaint.composite.relight import Floats, Layers
from cfgen.perception.colour import luminance

#: Paints of cars, linear albedo.
PAINTS: dict[str, tuple[float, float, float]] = {
    "silver": (0.30, 0.31, 0.32),
    "pearl": (0.55, 0.54, 0.50),
    "dark blue": (0.012, 0.026, 0.075),
    "grey": (0.12, 0.125, 0.13),
    "wine": (0.085, 0.012, 0.018),
    "light blue": (0.16, 0.24, 0.33),
    "sand": (0.26, 0.22, 0.165),
}
#: Models whose paint is all one coat.
_PAINTED = frozenset({"car", "car_braking", "car_door_open", "car_oncoming", "car_overturned", "van"})
#: What paint a coat can be told from what it borders well enough for, by its own, the last word of a variant's name.
#: As many for each, so that looks are told apart; bright cars stay bright, as most are.
_OVER_DARK, _OVER_FULL = ("silver", "dark blue", "wine"), ("silver", "sand", "grey")
_OVER = {
    "black": _OVER_DARK,
    "grey": _OVER_DARK,
    "white": ("pearl", "silver", "light blue"),
    "silver": ("pearl", "light blue", "sand"),
    "red": _OVER_FULL,
    "blue": _OVER_FULL,
}
#: Gloss of a clear coat from which on (in all: over which it sets in) it is body paint; how far albedo strays in it.
_COAT, _STRAYS = (0.55, 0.86), 0.10
#: Albedo from which on the light on it can be read off it.
_READABLE = 0.12
_F0 = np.float32(0.04)

#: Models with windows above their waist, and those of them that lie on their roof.
_GLAZED = _PAINTED | {
    "ambulance",
    "child_behind_car",
    "fire_engine",
    "garbage_truck",
    "police_car",
    "school_bus",
}
_GLAZED |= {"tow_truck", "tram", "truck_box", "truck_hivis_person"}
_UPSIDE_DOWN = frozenset({"car_overturned"})
#: Share of the height from which on (in all: over which it sets in) dark things without gloss are panes; albedo and
#: gloss below which they are; gloss of a pane, whose two faces mirror.
_WAIST, _PANE_DARK, _PANE_MATT, _PANE = (0.48, 0.54), 0.05, 0.25, np.float32(1.3)


def glazed(model: str, gloss: Floats, albedo: Floats, height: Floats) -> Floats:
    """Gloss (h, w) with that of panes, which are black and matt to the path tracer's pass; ``height`` in [0, 1]."""
    if model not in _GLAZED:
        return gloss
    low, full = _WAIST
    above = np.clip(((1 - height if model in _UPSIDE_DOWN else height) - low) / (full - low), 0, 1)
    dark = np.clip(2 - 2 * albedo.max(-1) / _PANE_DARK, 0, 1)
    matt = np.clip(2 - 2 * gloss / _PANE_MATT, 0, 1)
    return np.maximum(gloss, _PANE * above * dark * matt).astype(np.float32)


def repainted(layers: Layers, paint: str) -> Layers:
    """The layers with the body's paint replaced: what is coated and of the colour that most of the coat has."""
    if layers.gloss is None:
        return layers
    low, full = _COAT
    coat = np.clip((layers.gloss - low) / (full - low), 0, 1) * (layers.gloss <= 1)
    sure = coat >= 1
    if sure.sum() < 50:
        return layers
    own = np.median(layers.albedo[sure], 0).astype(np.float32)
    stray = _STRAYS * (1 + 2 * float(own.max()))
    # at seams and rims, and where dirt lies on it, it is mixed with what is dark
    mixed = np.clip((layers.albedo * own).sum(-1) / float((own * own).sum()), 0, 1)[..., None]
    apart = np.abs(layers.albedo - mixed * own).max(-1)
    share: Floats = mixed * (coat * np.clip(2 - apart / stray, 0, 1))[..., None]
    change = np.array(PAINTS[paint], np.float32) - own
    albedo = np.clip(layers.albedo + share * change, 0, 1)
    # the coat's mirror image of the even sky stays; what the paint below it sends back changes with it
    upward = layers.normal[..., 2:]
    open_sky: Floats = np.clip(0.5 + 0.5 * upward, 0, 1) + 0.05 * (1 - upward)
    size = layers.sky.shape[1::-1]
    share, open_sky = (
        cv2.resize(plane, size, interpolation=cv2.INTER_LINEAR)[..., None] for plane in (share, open_sky)
    )
    alpha, radiance = layers.sky[..., 3:], layers.sky[..., :3]
    lit: Floats = open_sky
    if float(luminance(own)) > _READABLE:
        seen = np.clip((layers.normal * layers.eye).sum(-1), 0.02, 1)
        mirrored = (_F0 + (1 - _F0) * (1 - seen) ** 5) * np.clip(
            0.5 + 4 * (2 * seen * upward[..., 0] - layers.eye[2]), 0, 1
        )
        whole = cv2.resize(mirrored, size, interpolation=cv2.INTER_LINEAR)
        level = luminance(radiance) / np.maximum(alpha[..., 0], 1e-3) - whole
        lit = np.clip(level / float(luminance(own)), 0, 1.1)[..., None]
    sky = layers.sky.copy()
    sky[..., :3] = np.maximum(radiance + share * change * lit * alpha, 0)
    return replace(layers, sky=sky.astype(np.float32), albedo=albedo.astype(np.float32))


def paints_of(model: str, variant: str) -> tuple[str, ...]:
    """Names of the PAINTS that a variant can have besides its own."""
    return _OVER.get(variant.rsplit("_", 1)[-1], ()) if model in _PAINTED else ()
