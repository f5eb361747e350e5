"""What shines mirrors what stands around it: the frame itself, as far as it goes, and behind the camera its mirror."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from cfgen.geometry.camera import centre, ground_points, inside, project
from cfgen.inpaint.composite.optics import cuts, full
from cfgen.inpaint.protocol import Setting
from cfgen.inpaint.settings import LIGHT
from cfgen.perception.light import CONFIDENT, estimate_light, shade_probability
from cfgen.perception.linear_light import LUMA, LightProbe, level, luminance, probe_light, to_code, to_linear
from cfgen.records import Camera

#: Rows and columns of the map of directions, and the sine of elevation of its first and last row.
_ROWS, _COLS, _SINES = 32, 96, (0.7, -0.4)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Light from all sides.

    Attributes:
        light: (32, 96, 3) float32 by sine of elevation, downwards, and azimuth from -pi; a white card in the light
            at the hazard's place is 1.
        turn: azimuth, radians, of the frame in which directions are given, in the ego frame.
        flip: that frame is mirrored, y by -y, before it is turned.
    """

    light: np.ndarray
    turn: float = 0.0
    flip: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surroundings) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[int, float, bool]:
        return id(self.light), self.turn, self.flip

    def seen(self, directions: np.ndarray) -> np.ndarray:
        """(H, W, 3) float32 light from unit vectors (H, W, 3)."""
        azimuth = np.arctan2(directions[..., 1], directions[..., 0]) * (-1 if self.flip else 1) + self.turn
        x = (azimuth / math.tau + 0.5) % 1 * _COLS
        top, bottom = _SINES
        y = (directions[..., 2] - top) / (bottom - top) * (_ROWS - 1)
        return cv2.remap(
            self.light,
            x.astype(np.float32),
            np.clip(y, 0, _ROWS - 1).astype(np.float32),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_WRAP,
        )


def look_around(
    image: np.ndarray, camera: Camera, ground: np.ndarray, albedo: float, contrast: float
) -> np.ndarray:
    """The ``light`` of :class:`Surroundings` that a frame (H, W, 3) uint8 shows.

    Args:
        ground: (3,) linear image RGB of ground of that ``albedo``. contrast: exponent of the camera's tone curve.
    """
    height, width = image.shape[:2]
    scale = min(LIGHT.width / width, 1.0)
    size = max(round(scale * width), 1), max(round(scale * height), 1)
    frame = to_linear(cv2.resize(image, size, interpolation=cv2.INTER_AREA))
    frame = np.where(frame > LIGHT.full, frame * np.float32(LIGHT.brighter), frame)
    sine = np.linspace(*_SINES, _ROWS)[:, None]
    azimuth = np.linspace(-math.pi, math.pi, _COLS, endpoint=False)[None]
    flat = np.sqrt(1 - sine**2)
    # what is behind is taken for what is ahead
    forward = np.maximum(np.abs(np.cos(azimuth)), 0.2) * flat
    ways = np.dstack(np.broadcast_arrays(forward, np.sin(azimuth) * flat, sine)).reshape(-1, 3)
    px, valid = project(camera, centre(camera) + LIGHT.far * ways)
    # beyond the frame it goes on as at its edge
    at = np.where(valid[:, None] & np.isfinite(px), px, 0) * scale
    at = np.clip(at, 0, (size[0] - 1, size[1] - 1)).astype(np.float32).reshape(_ROWS, _COLS, 2)
    x, y = cv2.split(at)
    panorama = cv2.remap(frame, x, y, cv2.INTER_LINEAR)
    level = np.maximum(panorama, 1e-5) / max(float(ground @ LUMA), 1e-4)
    light = (albedo * level ** np.float32(1 / contrast)).astype(np.float32)
    around = np.hstack([light[:, -LIGHT.seam_reach :], light, light[:, : LIGHT.seam_reach]])
    even = cv2.GaussianBlur(around, (2 * LIGHT.seam_reach + 1, 1), LIGHT.seam)
    return np.ascontiguousarray(even[:, LIGHT.seam_reach : -LIGHT.seam_reach])


# --- light -------------------------------------------------------------------------------------
# The light on a hazard, read off the frame it goes into: local ground, lit or in shade, sun, haze.
#
# The road is the grey card. Where sunlight or its direction cannot be told with confidence, the light is overcast.


@dataclass(frozen=True, eq=False)
class Light:
    """How the scene lights and shows an object at the hazard's place.

    Attributes:
        ground: (3,) linear image RGB of the ground under the hazard.
        albedo: estimated albedo of that ground.
        contrast: exponent of the camera's tone curve about the ground.
        tint: (3,) white balance, luminance 1: what a neutral card shows.
        sky, sun: (3,) light levels, so that level ground gets 1 in all (sprites' units).
        sun_dir: (3,) unit vector to the sun in the ego frame at t0; None: overcast or in shade.
        facing: gain of ``sun`` on what stands up, less than 1 where whites that face a low sun would outshine all that
            the frame shows.
        bounce: gain of ``sky`` for what stands up, from bright surroundings that ground in shade does not show.
        haze: (3,) linear image RGB that distance tends to.
        haze_per_m: extinction per metre.
        floor: (3,) linear image RGB that even a black thing shows near by (veiling glare).
        day: how bright the scene is against an open sky without sun, the unit of lamps and flames.
        report: JSON values: what was found and with what confidence.
        vivid: how far from grey, codes, the most vivid things are that the frame shows.
        peak: image level towards which highlights roll off where the camera does not cut them.
        wet: how surely the road is a mirror, in [0, 1].
        around: what shiny things mirror (``Surroundings.light``); None: the even sky alone.
    """

    ground: np.ndarray
    albedo: float
    contrast: float
    tint: np.ndarray
    sky: np.ndarray
    sun: np.ndarray
    sun_dir: np.ndarray | None
    facing: float
    bounce: float
    haze: np.ndarray
    haze_per_m: float
    floor: np.ndarray
    day: float
    vivid: float
    peak: float
    report: Mapping[str, Any]
    around: np.ndarray | None = None
    wet: float = 0.0

    @property
    def steepness(self) -> float:
        """Exponent, less 1, with which what is brighter than the road brightens further in the picture."""
        return (1 + LIGHT.brights) * (self.contrast - 1)

    def with_sun_of(self, reference: "Light") -> "Light":
        """This camera's exposure and air, the sun and sky that another camera has found."""
        shared = {name: getattr(reference, name) for name in ("sky", "sun", "sun_dir", "day", "wet")}
        return replace(self, **shared)


def estimate(setting: Setting) -> Light:
    """The light at the setting's placement."""
    frame = probe_light(setting.image, setting.camera)
    road = _road_samples(frame)
    local = _local_ground(setting)
    if local is None:
        local = np.median(road, 0)
    local = np.maximum(local, 1e-4)  # black road still divides
    lit_level = max(float(np.percentile(luminance(road), 65)), float(local @ LUMA))
    white = _white_level(frame)
    shaded = shade_probability(local, lit_level, white)
    all_shade = shaded >= CONFIDENT and lit_level < 2 * float(local @ LUMA)
    burnt = full(setting.image)
    typical = float(np.interp(burnt, LIGHT.clipped, (LIGHT.contrast, LIGHT.steep)))
    albedo, contrast = _calibrate(lit_level, None if all_shade else white, typical)
    scene_light = setting.light or estimate_light(
        setting.image, setting.camera, None, setting.extra, setting.timestamp
    )
    estimated, sunny = scene_light.sun, scene_light.hardness
    sun_dir, sure = estimated.vector, estimated.confidence
    in_sun = sunny * (1 - shaded)
    confident = sure >= CONFIDENT
    use_sun = sun_dir is not None and in_sun > (LIGHT.hazy if confident else CONFIDENT)
    towards = None
    if sun_dir is not None and use_sun:
        towards = sun_dir if confident else _likeliest(setting, sun_dir)
    share = float(np.clip((in_sun - LIGHT.hazy) / (LIGHT.clear_sun - LIGHT.hazy), 0, 1)) if use_sun else 0.0
    sky, sun = _levels(towards, share)
    haze, per_m, floor = _air(frame)
    bounce = _bounce(frame, local, albedo)
    card = float(local @ LUMA) * (LIGHT.whitest / albedo) ** contrast
    peak = _peak(frame, card)
    report = {
        "ground": _rounded(local),
        "albedo": round(albedo, 3),
        "contrast": round(contrast, 3),
        "white": round(white, 3),
        "sunny": round(sunny, 2),
        "shade": round(shaded, 2),
        "sun_dir": None if sun_dir is None else _rounded(sun_dir),
        "sun_dir_confidence": round(sure, 2),
        "sun_dir_by": estimated.source,
        "sun_share": round(share, 2),
        "sun_dir_apart_deg": None
        if estimated.disagreement_deg is None
        else round(estimated.disagreement_deg),
        "light": _name(sunny, shaded, use_sun, confident),
        "bounce": round(bounce, 2),
        "haze_per_m": round(per_m, 5),
        "wet": round(scene_light.wetness, 2),
    }
    return Light(
        ground=local,
        albedo=albedo,
        contrast=contrast,
        tint=_tint(local),
        sky=sky,
        sun=sun,
        sun_dir=towards,
        haze=haze,
        haze_per_m=per_m,
        floor=floor,
        bounce=bounce,
        around=look_around(setting.image, setting.camera, local, albedo, contrast),
        day=1 + 2 * share if use_sun else _daylight(frame),
        vivid=_vividness(frame),
        wet=scene_light.wetness,
        peak=peak,
        facing=1.0 if cuts(burnt) else _facing(sky, sun, max(peak / card, 1.0)),
        report=report,
    )


def _vividness(frame: LightProbe) -> float:
    """Strength of colour, codes, that one in 200 pixels below the sky reaches: lane paint, lamps, signs, cars."""
    codes = to_code(frame.linear[frame.height // 3 :]).astype(np.uint8)
    blue, red = (cv2.cvtColor(codes, cv2.COLOR_RGB2YCrCb)[..., c].astype(np.float32) - 128 for c in (2, 1))
    return float(np.percentile(np.hypot(blue, red), 99.5))


def _peak(frame: LightProbe, card: float) -> float:
    """The level of the brightest thing below the horizon, or of a white ``card`` on the hazard's ground."""
    below = frame.rows > 0
    brightest = float(np.percentile(frame.lum[below], LIGHT.brightest)) if below.any() else 1.0
    return float(np.clip(max(LIGHT.over * brightest, card), LIGHT.least_peak, 1))


def _facing(sky: np.ndarray, sun: np.ndarray, limit: float) -> float:
    """Gain of the sun with which a white wall that faces it is ``most`` times as bright as white ground, or a bit more.

    The lower the sun, the more of its light a wall gets; where no wall shows that, the place lies in shade.
    """
    towards = float(sun @ LUMA)
    rise = (1 - float(sky @ LUMA)) / max(towards, 1e-6)
    on_wall = towards * math.sqrt(max(1 - rise**2, 0.0))
    headroom = LIGHT.over * limit - 0.5 * float(sky @ LUMA)
    return float(np.clip(headroom / max(on_wall, 1e-6), LIGHT.least_facing, 1))


def _bounce(frame: LightProbe, ground: np.ndarray, albedo: float) -> float:
    """Light on a wall ÷ light on the ground, twofold: half of what a wall sees is the surroundings, not the sky."""
    band = (frame.rows > -0.22 * frame.height) & (frame.rows < 0.06 * frame.height) & ~frame.sky()
    around = float(np.median(frame.lum[band])) if band.any() else 0.0
    return float(np.clip(1 + 0.5 * albedo * around / float(ground @ LUMA), 1, LIGHT.most_bounce))


def _daylight(frame: LightProbe) -> float:
    """How bright it is without sun against an overcast day: what stands above the horizon is dark at night."""
    above = frame.lum[frame.rows < -2]
    sky = float(np.percentile(above, 90)) if above.size > LIGHT.above * frame.lum.size else LIGHT.day_sky
    return float(np.clip(sky / LIGHT.day_sky, LIGHT.night, 1))


def _name(sunny: float, shade: float, use_sun: bool, confident: bool) -> str:
    if use_sun:
        return "sun" if confident else "sun from an unknown side"
    return "shade" if sunny >= CONFIDENT and shade >= CONFIDENT else "overcast"


def _likeliest(setting: Setting, colours: np.ndarray) -> np.ndarray:
    """(3,) unit vector to a sun whose side is not sure: a hard shadow to a wrong side passes more than none."""
    back = centre(setting.camera)[:2] - (setting.placement.x, setting.placement.y)
    azimuth = math.atan2(colours[1], colours[0])
    off = math.remainder(azimuth - math.atan2(back[1], back[0]), math.pi)
    azimuth += math.copysign(max(abs(off), LIGHT.aside), off) - off
    flat = float(np.hypot(colours[0], colours[1]))
    return np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), colours[2]])


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(v), 4) for v in values]


def _sample(frame: LightProbe, ground_xy: np.ndarray) -> np.ndarray:
    """Linear RGB (N, 3) at ground points (M, 2), those in view."""
    px, valid = project(frame.camera, np.column_stack([ground_xy, np.zeros(len(ground_xy))]))
    at = np.rint((np.where(valid[:, None], px, -1e6) + 0.5) * frame.scale - 0.5).astype(int)
    height, width = frame.lum.shape
    in_frame = (at[:, 0] >= 0) & (at[:, 0] < width) & (at[:, 1] >= 0) & (at[:, 1] < height)
    return frame.linear[at[in_frame, 1], at[in_frame, 0]]


def _road_samples(frame: LightProbe) -> np.ndarray:
    """(N, 3) linear RGB of the ground ahead, without its brightest tenth (paint)."""
    px = _grid(frame.camera, 0.35, 0.65, 24)
    ground, valid = ground_points(frame.camera, px)
    on_road = valid & (ground[:, 0] > 7) & (ground[:, 0] < 45) & (np.abs(ground[:, 1]) < 3.0)
    samples = _sample(frame, ground[on_road])
    if not len(samples):
        samples = frame.linear[-8:].reshape(-1, 3)
    lum = luminance(samples)
    return samples[lum <= np.percentile(lum, 90)]


def _grid(camera: Camera, first_col: float, end_col: float, n: int) -> np.ndarray:
    u = np.linspace(first_col * camera.width, end_col * camera.width, n)
    v = np.linspace(0.3 * camera.height, camera.height - 1, 2 * n)
    return np.stack(np.meshgrid(u, v), -1).reshape(-1, 2)


def _local_ground(setting: Setting) -> np.ndarray | None:
    """(3,) linear RGB of the ground just before and beside the hazard's foot, without paint and cracks."""
    placement = setting.placement
    away = np.array([placement.x, placement.y]) - centre(setting.camera)[:2]
    away /= max(float(np.hypot(*away)), 1e-9)
    side = np.array([-away[1], away[0]])
    reach = max(placement.size.width, placement.size.length) / 2
    across = np.linspace(-min(reach, 1.2) - 0.4, min(reach, 1.2) + 0.4, 13)
    along = np.linspace(-min(reach, 2.0) - 1.2, 0.3, 9)
    spots = np.array([placement.x, placement.y]) + (
        along[:, None, None] * away + across[None, :, None] * side
    ).reshape(-1, 2)
    px, valid = project(setting.camera, np.column_stack([spots, np.zeros(len(spots))]))
    at = px[valid & inside(setting.camera, px)].round().astype(int)
    at = np.clip(
        at, 0, (setting.camera.width - 1, setting.camera.height - 1)
    )  # its edge is half a pixel further
    if len(at) < 5:
        return None
    samples = to_linear(setting.image[at[:, 1], at[:, 0]][None])[0]
    lum = luminance(samples)
    low, high = np.percentile(lum, [15, 75])
    return np.median(samples[(lum >= low) & (lum <= high)], 0).astype(np.float32)


def _white_level(frame: LightProbe) -> float:
    """Image level of a white card in the frame's main light: bright things are taken for albedo 0.55."""
    band = (frame.rows > 0) & (frame.rows < 0.25 * frame.height)
    lum = frame.lum[band] if band.any() else frame.lum
    burnt = float((lum > LIGHT.burnt).mean())
    beyond = max(burnt / LIGHT.whites, 1.0) ** LIGHT.tail
    return level(lum, 100 * (1 - LIGHT.whites), frame.lum) / 0.55 * beyond


def _calibrate(road: float, white: float | None, typical: float) -> tuple[float, float]:
    """Most plausible (albedo of the road, contrast), given that a white card shows ``white`` in the road's light.

    road * (1 / albedo) ** contrast = white is fitted with Gaussian priors on log albedo, contrast and log white.
    """
    if white is None:
        return LIGHT.asphalt, typical
    rho = np.linspace(math.log(0.05), math.log(0.40), 60)[:, None]
    power = typical + np.linspace(-0.15, 0.20, 15)[None, :]
    miss = math.log(max(road, 1e-4)) - power * rho - math.log(max(white, 1e-3))
    cost = (miss / LIGHT.white_spread) ** 2
    cost = cost + ((rho - math.log(LIGHT.asphalt)) / LIGHT.asphalt_spread) ** 2
    cost = cost + ((power - typical) / LIGHT.contrast_spread) ** 2
    i, j = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return float(np.exp(rho[i, 0])), float(power[0, j])


def _tint(ground: np.ndarray) -> np.ndarray:
    """White balance towards the ground's colour: strongly where it is blue (shade), else mildly."""
    relative = np.maximum(ground, 1e-4) / max(float(ground @ LUMA), 1e-4)
    blue = math.log(float(relative[2] / relative[0]))
    share = float(np.clip(0.35 + 1.5 * (blue - 0.12), 0.35, 0.9))
    tint = np.power(relative, share)
    return (tint / float(tint @ LUMA)).astype(np.float32)


def _levels(sun_dir: np.ndarray | None, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Sky and sun (3,), adding up to 1 on level ground; a low sun leaves more to the sky, and so does one behind
    thin cloud, which ``share`` of a clear one's light comes through."""
    if sun_dir is None:
        return np.ones(3, np.float32), np.zeros(3, np.float32)
    rise = max(float(sun_dir[2]), 0.12)
    diffuse = float(np.clip(0.10 + 0.07 / rise, 0.15, 0.5))
    clear = diffuse * np.array([0.72, 0.98, 1.38], np.float32)
    sky = (1 - np.float32(share) * (1 - clear)).astype(np.float32)
    return sky, (1 - sky) / np.float32(rise)


def _air(frame: LightProbe) -> tuple[np.ndarray, float, np.ndarray]:
    """Haze colour, extinction per metre, and the floor of veiling glare, from how dark dark things are."""
    height, rows = frame.height, frame.rows
    far = (rows > -0.12 * height) & (rows < 0.01 * height)
    below = (rows > 0.02 * height) & (rows < 0.35 * height)
    sky = far & frame.sky()
    far, below = (part if part.any() else np.ones_like(part) for part in (far, below))
    haze = np.median(frame.linear[sky if sky.mean() > 0.005 else far], 0).astype(np.float32)
    dark_far = float(np.percentile(frame.lum[far], 4))
    dark_near = float(np.percentile(frame.lum[below], 0.5))
    lifted = max(dark_far - dark_near, 0.0) / max(float(haze @ LUMA), 1e-3)
    # a far strip that is all bright has nothing dark in it to tell by
    per_m = -math.log(1 - lifted) / LIGHT.far_m if lifted < 0.6 else LIGHT.clear
    darkest = frame.linear[below & (frame.lum <= dark_near)].mean(0)
    floor = darkest * (0.7 * min(0.015 / max(dark_near, 1e-6), 1.0))
    return haze, per_m, floor.astype(np.float32)
