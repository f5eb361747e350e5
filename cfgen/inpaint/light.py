"""The light on a hazard, read off the frame it goes into: local ground, lit or in shade, sun, haze.

The road is the grey card. Where sunlight or its direction cannot be told with confidence, the light is overcast.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from cfgen.geometry.camera import (
    centre,
    ground_points,
    horizon_rows,
    inside,
    project,
    rotation,
    unproject,
)
from cfgen.inpaint.colour import LUMA, luminance, to_linear
from cfgen.inpaint.protocol import Setting
from cfgen.records import Camera

#: Confidence below which a finding is not used.
CONFIDENT = 0.5
#: Albedo of worn asphalt, and how far (natural log) roads stray from it.
_ASPHALT, _ASPHALT_SPREAD = 0.10, 0.40
#: Typical camera contrast (exponent about the road), and how far it strays.
_CONTRAST, _CONTRAST_SPREAD = 1.10, 0.10
_WHITE_SPREAD = 0.35
#: Share of direct light on ground in the sun, where its direction is unknown.
_STRAY = 0.7
#: Distance taken for what stands along the horizon, m, and extinction of clear air, 1/m.
_FAR_M, _CLEAR = 120.0, 0.0003


@dataclass(frozen=True, eq=False)
class Light:
    """How the scene lights and shows an object at the hazard's place.

    Attributes:
        ground: (3,) linear image RGB of the ground under the hazard.
        albedo: estimated albedo of that ground.
        contrast: exponent of the camera's tone curve about the ground.
        tint: (3,) white balance, luminance 1: what a neutral card shows.
        sky, sun: (3,) light levels, so that level ground gets 1 in all (sprites' units).
        sun_dir: (3,) unit vector to the sun in the ego frame at t0; None: overcast, in shade, or unknown.
        stray: share of the ground's light that comes from a sun of unknown direction; 0 otherwise.
        haze: (3,) linear image RGB that distance tends to.
        haze_per_m: extinction per metre.
        floor: (3,) linear image RGB that even a black thing shows near by (veiling glare).
        day: how bright the scene is against an open sky without sun, the unit of lamps and flames.
        report: JSON values: what was found and with what confidence.
    """

    ground: np.ndarray
    albedo: float
    contrast: float
    tint: np.ndarray
    sky: np.ndarray
    sun: np.ndarray
    sun_dir: np.ndarray | None
    stray: float
    haze: np.ndarray
    haze_per_m: float
    floor: np.ndarray
    day: float
    report: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class _Frame:
    """A frame made small, in linear light, and what of it is ground or above the horizon."""

    linear: np.ndarray
    lum: np.ndarray
    scale: float
    horizon: np.ndarray
    camera: Camera


def estimate(setting: Setting) -> Light:
    """The light at the setting's placement."""
    frame = _shrink(setting)
    road = _road_samples(frame)
    local = _local_ground(setting)
    if local is None:
        local = np.median(road, 0)
    lit_level = float(np.percentile(luminance(road), 65))
    white = _white_level(frame)
    sunny, shade = _sunny(frame, local, max(lit_level, 1e-4), white)
    all_shade = shade >= CONFIDENT and lit_level < 2 * float(local @ LUMA)
    albedo, contrast = _calibrate(lit_level, None if all_shade else white)
    sun_dir, sure = _sun_direction(frame, setting)
    in_sun = sunny * (1 - shade)
    use_sun = in_sun >= CONFIDENT and sure >= CONFIDENT
    sky, sun = _levels(sun_dir if use_sun else None)
    haze, per_m, floor = _air(frame)
    report = {
        "ground": _rounded(local),
        "albedo": round(albedo, 3),
        "contrast": round(contrast, 3),
        "white": round(white, 3),
        "sunny": round(sunny, 2),
        "shade": round(shade, 2),
        "sun_dir": None if sun_dir is None else _rounded(sun_dir),
        "sun_dir_confidence": round(sure, 2),
        "light": "sun" if use_sun else "shade" if sunny >= CONFIDENT and shade >= CONFIDENT else "overcast",
        "haze_per_m": round(per_m, 5),
    }
    if (
        shade >= CONFIDENT
    ):  # what stands up catches more of the bright surroundings than the shaded road shows
        local = local * np.float32(max(lit_level / float(local @ LUMA), 1.0) ** 0.2)
    return Light(
        ground=local,
        albedo=albedo,
        contrast=contrast,
        tint=_tint(local),
        sky=sky,
        sun=sun,
        sun_dir=sun_dir if use_sun else None,
        stray=_STRAY if in_sun >= CONFIDENT and not use_sun else 0.0,
        haze=haze,
        haze_per_m=per_m,
        floor=floor,
        day=3.0 if sunny * (1 - shade) >= CONFIDENT else 1.0,
        report=report,
    )


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(v), 4) for v in values]


# --- reading the frame ----------------------------------------------------------------------------------


def _shrink(setting: Setting) -> _Frame:
    """The front frame about 320 pixels wide."""
    height, width = setting.image.shape[:2]
    scale = min(1.0, 320 / width)
    small = cv2.resize(setting.image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    linear = to_linear(small)
    rows = horizon_rows(setting.camera, np.linspace(0, width - 1, 9))
    rows = np.where(np.isfinite(rows), rows, 0.45 * height) * scale
    columns = np.interp(np.arange(linear.shape[1]), np.linspace(0, linear.shape[1] - 1, 9), rows)
    return _Frame(linear, luminance(linear), scale, columns, setting.camera)


def _sample(frame: _Frame, ground_xy: np.ndarray) -> np.ndarray:
    """Linear RGB (N, 3) at ground points (M, 2), those in view."""
    px, valid = project(frame.camera, np.column_stack([ground_xy, np.zeros(len(ground_xy))]))
    at = np.rint((np.where(valid[:, None], px, -1e6) + 0.5) * frame.scale - 0.5).astype(int)
    height, width = frame.lum.shape
    seen = (at[:, 0] >= 0) & (at[:, 0] < width) & (at[:, 1] >= 0) & (at[:, 1] < height)
    return frame.linear[at[seen, 1], at[seen, 0]]


def _road_samples(frame: _Frame) -> np.ndarray:
    """(N, 3) linear RGB of the ground ahead, without its brightest tenth (paint)."""
    px = _grid(frame.camera, 0.35, 0.65, 24)
    ground, valid = ground_points(frame.camera, px)
    ahead = valid & (ground[:, 0] > 7) & (ground[:, 0] < 45) & (np.abs(ground[:, 1]) < 3.0)
    samples = _sample(frame, ground[ahead]) if ahead.any() else frame.linear[-8:].reshape(-1, 3)
    lum = luminance(samples)
    return samples[lum <= np.percentile(lum, 90)]


def _grid(camera: Camera, left: float, right: float, n: int) -> np.ndarray:
    u = np.linspace(left * camera.width, right * camera.width, n)
    v = np.linspace(0.3 * camera.height, camera.height - 1, 2 * n)
    return np.stack(np.meshgrid(u, v), -1).reshape(-1, 2)


def _local_ground(setting: Setting) -> np.ndarray | None:
    """(3,) linear RGB of the ground just before and beside the hazard's foot, without paint and cracks."""
    placement = setting.placement
    away = np.array([placement.x, placement.y]) - centre(setting.camera)[:2]
    away /= np.hypot(*away)
    side = np.array([-away[1], away[0]])
    reach = max(placement.size.width, placement.size.length) / 2
    across = np.linspace(-min(reach, 1.2) - 0.4, min(reach, 1.2) + 0.4, 13)
    along = np.linspace(-min(reach, 2.0) - 1.2, 0.3, 9)
    spots = np.array([placement.x, placement.y]) + (
        along[:, None, None] * away + across[None, :, None] * side
    ).reshape(-1, 2)
    px, valid = project(setting.camera, np.column_stack([spots, np.zeros(len(spots))]))
    at = px[valid & inside(setting.camera, px)].round().astype(int)
    if len(at) < 5:
        return None
    samples = to_linear(setting.image[at[:, 1], at[:, 0]][None])[0]
    lum = luminance(samples)
    low, high = np.percentile(lum, [15, 75])
    return np.median(samples[(lum >= low) & (lum <= high)], 0).astype(np.float32)


def _below_horizon(frame: _Frame) -> np.ndarray:
    """(H, W) bool."""
    return np.arange(frame.lum.shape[0])[:, None] > frame.horizon[None, :]


def _white_level(frame: _Frame) -> float:
    """Image level of a white card in the frame's main light: bright things are taken for albedo 0.55."""
    band = np.abs(np.arange(frame.lum.shape[0])[:, None] - frame.horizon[None, :]) < 0.25 * frame.lum.shape[0]
    return float(np.percentile(frame.lum[band & _below_horizon(frame)], 98.5)) / 0.55


def _calibrate(road: float, white: float | None) -> tuple[float, float]:
    """Most plausible (albedo of the road, contrast), given that a white card shows ``white`` in the road's light.

    road * (1 / albedo) ** contrast = white is fitted with Gaussian priors on log albedo, contrast and log white.
    """
    if white is None:
        return _ASPHALT, _CONTRAST
    rho = np.linspace(math.log(0.05), math.log(0.40), 60)[:, None]
    power = np.linspace(0.95, 1.30, 15)[None, :]
    miss = math.log(max(road, 1e-4)) - power * rho - math.log(max(white, 1e-3))
    cost = (miss / _WHITE_SPREAD) ** 2
    cost = cost + ((rho - math.log(_ASPHALT)) / _ASPHALT_SPREAD) ** 2
    cost = cost + ((power - _CONTRAST) / _CONTRAST_SPREAD) ** 2
    i, j = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return float(np.exp(rho[i, 0])), float(power[0, j])


def _tint(ground: np.ndarray) -> np.ndarray:
    """White balance towards the ground's colour: strongly where it is blue (shade), else mildly."""
    relative = np.maximum(ground, 1e-4) / max(float(ground @ LUMA), 1e-4)
    blue = math.log(float(relative[2] / relative[0]))
    share = float(np.clip(0.35 + 1.5 * (blue - 0.12), 0.35, 0.9))
    tint = np.power(relative, share)
    return (tint / float(tint @ LUMA)).astype(np.float32)


# --- sun ------------------------------------------------------------------------------------------------


def _sunny(frame: _Frame, local: np.ndarray, lit: float, white: float) -> tuple[float, float]:
    """Probabilities that the sun shines in the scene, and that the hazard's place lies in shade if it does.

    Sun makes the ground as bright as the sky, the sky blue and the darks deep. Shade is blue, darker than other
    road, and far below what a white card shows in the scene's main light. Weights were set on real drives.
    """
    below, above = _below_horizon(frame), _sky(frame)
    bright = float(np.percentile(frame.lum[below], 95))
    deep = math.log(bright / max(float(np.percentile(frame.lum, 5)), 1e-3))
    against_sky = math.log(max(bright, 1e-3) / float(np.median(frame.lum[above]))) if above.any() else -0.4
    sunny = _sigmoid(2.5 * (against_sky + 0.85) + (deep - 3.2) + 3 * (_sky_blue(frame, above) - 0.4))
    level = max(float(local @ LUMA), 1e-4)
    blue = math.log(max(float(local[2]), 1e-4) / max(float(local[0]), 1e-4))
    shade = _sigmoid(
        4 * (blue - 0.5) + 2 * (math.log(max(white, 1e-3) / level) - 3.0) + 3 * (math.log(lit / level) - 0.5)
    )
    return sunny, shade


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-float(np.clip(x, -30, 30))))


def _sky(frame: _Frame) -> np.ndarray:
    """(H, W) bool: bright and not yellowish above the horizon; empty when that is too little to be the sky."""
    rows = np.arange(frame.lum.shape[0])[:, None]
    found = (rows < frame.horizon[None, :] - 2) & (frame.lum > 0.06)
    found &= frame.linear[..., 2] >= 0.95 * frame.linear[..., 0]
    return found if found.mean() > 0.02 else np.zeros_like(found)


def _sky_blue(frame: _Frame, sky: np.ndarray) -> float:
    """Saturation of the sky's blue in [0, 1]; 0.3 where no sky is seen."""
    if not sky.any():
        return 0.3
    seen = frame.linear[sky]
    return float(np.median(1 - seen[:, 0] / np.maximum(seen[:, 2], 1e-3)))


def _sun_direction(frame: _Frame, setting: Setting) -> tuple[np.ndarray | None, float]:
    """Unit vector to the sun (ego frame at t0) and confidence: told by the source, seen, or told by its side."""
    told = setting.extra.get("sun")
    if told is not None:
        vector = np.asarray(told, float)
        return vector / np.linalg.norm(vector), 1.0
    seen = _sun_disc(frame)
    if seen is not None:
        return seen, 0.9
    side, sure = _sun_side(frame)
    azimuth, elevation = side * math.radians(125), math.radians(40)
    flat = math.cos(elevation)
    return np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)]), sure


def _sun_disc(frame: _Frame) -> np.ndarray | None:
    """The sun itself: a compact burnt-out patch in the sky, with a glow around it."""
    height, width = frame.lum.shape
    above = np.arange(height)[:, None] < frame.horizon[None, :] - 0.03 * height
    burnt = (above & (frame.lum > 0.97)).astype(np.uint8)
    count, labels, stats, middle = cv2.connectedComponentsWithStats(burnt)
    if count < 2:
        return None
    big = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    x, y, w, h, area = (int(v) for v in stats[big])
    round_enough = area > 0.45 * w * h and 0.4 < w / h < 2.5
    inside = x > 0 and y > 0 and x + w < width
    if not (round_enough and inside and 0.0005 < area / burnt.size < 0.08):
        return None
    patch = (labels == big).astype(np.uint8)
    grown = cv2.dilate(patch, np.ones((2 * (h // 2) + 1, 2 * (w // 2) + 1), np.uint8))
    ring = (grown > patch) & above
    if float(frame.lum[ring].mean()) < 0.35 or float(np.percentile(frame.lum[ring], 10)) < 0.12:
        return None
    rays, _ = unproject(frame.camera, [(middle[big] + 0.5) / frame.scale - 0.5])
    return rotation(frame.camera).T @ rays[0]


def _sun_side(frame: _Frame) -> tuple[float, float]:
    """+1 when the sun stands to the left, -1 to the right, and confidence.

    What faces the sun is bright: the side of the view whose upright things are darker is the sun's side.
    """
    height, width = frame.lum.shape
    rows = np.arange(height)[:, None] - frame.horizon[None, :]
    band = (rows > -0.22 * height) & (rows < 0.06 * height) & (frame.lum < 0.8)
    blue = frame.linear[..., 2] > 1.15 * frame.linear[..., 0]
    upright = band & ~(blue & (rows < 0))
    logs = np.log(np.maximum(frame.lum, 2e-3))
    halves = []
    for part in (slice(0, int(0.42 * width)), slice(int(0.58 * width), width)):
        seen = upright[:, part]
        if seen.mean() < 0.01:
            return 1.0, 0.0
        halves.append(float(logs[:, part][seen].mean()))
    lead = halves[1] - halves[0]
    return (1.0 if lead > 0 else -1.0), float(np.clip(abs(lead) / 1.4, 0, 0.8))


def _levels(sun_dir: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Sky and sun (3,), adding up to 1 on level ground; a low sun leaves more to the sky."""
    if sun_dir is None:
        return np.ones(3, np.float32), np.zeros(3, np.float32)
    rise = max(float(sun_dir[2]), 0.12)
    share = float(np.clip(0.10 + 0.07 / rise, 0.15, 0.5))
    sky = share * np.array([0.72, 0.98, 1.38], np.float32)
    return sky, (1 - sky) / np.float32(rise)


# --- air ------------------------------------------------------------------------------------------------


def _air(frame: _Frame) -> tuple[np.ndarray, float, np.ndarray]:
    """Haze colour, extinction per metre, and the floor of veiling glare, from how dark dark things are."""
    height = frame.lum.shape[0]
    rows = np.arange(height)[:, None] - frame.horizon[None, :]
    far = (rows > -0.12 * height) & (rows < 0.01 * height)
    below = (rows > 0.02 * height) & (rows < 0.35 * height)
    sky = far & _sky(frame)
    haze = np.median(frame.linear[sky if sky.mean() > 0.005 else far], 0).astype(np.float32)
    dark_far = float(np.percentile(frame.lum[far], 4))
    dark_near = float(np.percentile(frame.lum[below], 0.5))
    lifted = max(dark_far - dark_near, 0.0) / max(float(haze @ LUMA), 1e-3)
    per_m = (
        -math.log(1 - lifted) / _FAR_M if lifted < 0.6 else _CLEAR
    )  # else nothing dark stands there to tell
    darkest = frame.linear[below & (frame.lum <= dark_near)].mean(0)
    floor = darkest * (0.7 * min(0.015 / max(dark_near, 1e-6), 1.0))
    return haze, per_m, floor.astype(np.float32)
