"""Drawn hazards set into frames: toned by the ground, veiled by the air, as sharp and grainy as the frame.

What every inpainter that draws for itself shares; how the hazard is drawn is its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from cfgen.core.errors import InpaintRefusedError
from cfgen.core.identity_cache import IdentityCache
from cfgen.geometry.camera import centre, cropped, project
from cfgen.inpaint.composite import optics
from cfgen.inpaint.composite.draw import Drawing
from cfgen.inpaint.composite.light import Light, estimate
from cfgen.inpaint.composite.optics import Sensor, expose, find_sensor
from cfgen.inpaint.composite.reflections import reflection, sheen
from cfgen.inpaint.protocol import InpaintRequest, InpaintResult, Setting
from cfgen.inpaint.settings import TONE
from cfgen.perception.linear_light import LUMA, to_code, to_linear

#: Draws a request's hazard in a light: the drawing, None when it touches no pixel, and what to report of it.
Draw = Callable[[InpaintRequest, Light], tuple[Drawing | None, Mapping[str, Any]]]


@dataclass(frozen=True, eq=False)
class _Scene:
    """What is found once a case."""

    light: Light
    optics: optics.Optics
    sensor: Sensor


def insert(requests: Sequence[InpaintRequest], draw: Draw) -> list[InpaintResult | InpaintRefusedError]:
    """The requests' hazards drawn by ``draw`` and set into their crops; a refusal takes its request's place."""
    scenes: dict[int, _Scene] = {}
    results: list[InpaintResult | InpaintRefusedError] = []
    for request in requests:
        try:
            results.append(_insert(request, _read(request.setting, scenes), draw))
        except InpaintRefusedError as refusal:
            results.append(refusal)
    return results


def _read(setting: Setting, scenes: dict[int, _Scene]) -> _Scene:
    """What is found in the setting; the sun of another camera than the front is the front's."""
    if id(setting) not in scenes:
        light = estimate(setting)
        if setting.front is not None:
            light = light.with_sun_of(_read(setting.front, scenes).light)
        optics, sensor = _MEASURED.of(setting.image, _measured)
        if setting.bare and sensor.blue is not None:
            # scaled or from a video: the mosaic's mark on brightness outlives its fine colours
            sensor = replace(sensor, blue=None)
        if light.day < TONE.dark:
            # exposed for the dark, every camera's lamps burn out and spill
            sensor = replace(sensor, clips=True, reach=TONE.glare * sensor.reach)
        scenes[id(setting)] = _Scene(light, optics, sensor)
    return scenes[id(setting)]


def _measured(image: np.ndarray) -> tuple[optics.Optics, Sensor]:
    return optics.measure(image), find_sensor(image)


#: What other attempts and arms of a case ask of its frame again.
_MEASURED = IdentityCache(limit=4)


def _insert(request: InpaintRequest, scene: _Scene, draw: Draw) -> InpaintResult:
    if request.hazard.kind == "null":
        return _draw_nothing(request, scene)
    drawing, region = draw(request, scene.light)
    image, alpha = request.image.copy(), np.zeros(request.mask.shape, np.float32)
    if drawing is not None:
        x0, y0, x1, y1 = drawing.box
        image[y0:y1, x0:x1], alpha[y0:y1, x0:x1] = _harmonize(image[y0:y1, x0:x1], drawing, request, scene)
    report = {
        **region,
        "light": dict(scene.light.report),
        "blur_px": round(scene.optics.blur, 2),
        "noise": round(scene.optics.noise, 2),
    }
    return InpaintResult(image, alpha, report)


def _harmonize(
    under: np.ndarray, drawing: Drawing, request: InpaintRequest, scene: _Scene
) -> tuple[np.ndarray, np.ndarray]:
    """The part ``under`` (h, w, 3) uint8 of a crop with the drawing in it, and its coverage (h, w)."""
    light = scene.light
    motion = _motion(request)
    dimmed = np.clip(drawing.shade, 0, 8)
    if request.placement.size.height > TONE.stands and not drawing.burns:
        x0, y0, x1, y1 = drawing.box
        free = request.mask[y0:y1, x0:x1] > 0
        dimmed = dimmed * sheen(drawing.rgba, float(light.sky @ LUMA), free, light.wet)
    shade = optics.smear(dimmed ** np.float32(min(light.contrast, TONE.shadows)), motion)
    shade = optics.soften(shade, scene.optics)
    lit = optics.smear(_shown(drawing.rgba, light, _distance(request), drawing.dull), motion)
    if drawing.mirror is not None:
        x0, y0, x1, y1 = drawing.box
        part = cropped(request.camera, x0, y0, x1 - x0, y1 - y0)
        mirrored, share = reflection(part, request.setting, light.day >= TONE.dark)
        still = drawing.mirror[..., None]
        share = share[..., None] * still
        body = lit[..., :3] * (1 - (1 - TONE.water) * still)
        lit[..., :3] = body * (1 - share) + mirrored * share * lit[..., 3:]
    over = optics.soften(lit, scene.optics, scene.sensor.blur)
    cover = np.clip(over[..., 3], 0, 1)
    ground = to_linear(under) * shade
    through = (1 - cover)[..., None]
    mixed = ground * through + over[..., :3]
    if not scene.sensor.clips:
        # the shoulder is for what was added: a bright background keeps its level where it shows through
        peak = 1.0 if drawing.burns else light.peak
        mixed = _shoulder(mixed, peak) + through * (ground - _shoulder(ground, peak))
    codes = to_code(mixed)
    x, y, w, h = cv2.boundingRect((cover > 0).astype(np.uint8))
    if w:
        new = np.s_[y : y + h, x : x + w]
        origin = request.corner[0] + drawing.box[0] + x, request.corner[1] + drawing.box[1] + y
        exposed = expose(mixed[new], cover[new], scene.sensor, origin, scene.optics.noise, _random(request))
        if light.day >= TONE.dark and not drawing.burns:
            exposed = limit_saturation(exposed, cover[new], light.vivid)
        if scene.sensor.blue is None:
            exposed = optics.settle(exposed, cover[new], scene.optics)
        codes[new] = np.where(cover[new][..., None] > 0, exposed, codes[new])
    alpha = 1 - (1 - cover) * np.minimum(np.clip(_least(shade), 0, 1), 1 / np.maximum(_most(shade), 1))
    return optics.to_pixels(codes), np.where(alpha < 1 / 255, 0, alpha)


def limit_saturation(codes: np.ndarray, cover: np.ndarray, vivid: float) -> np.ndarray:
    """Codes (h, w, 3) float with colours no stronger than the frame's own, ``vivid``: cameras and the air pale them."""
    limit = max(TONE.vivid * vivid, TONE.vivid_least)
    grey = codes[..., :1] * 0.299 + codes[..., 1:2] * 0.587 + codes[..., 2:] * 0.114
    chroma = codes - grey
    # of surfaces, not of the sensor's false colours at edges
    broad = cv2.GaussianBlur(chroma, (0, 0), TONE.vivid_area)
    strength = np.hypot(broad[..., 0] * 0.713, broad[..., 2] * 0.564)
    bend = np.float32(TONE.vivid_bend * limit)
    if float(strength.max(initial=0)) <= bend:
        return codes
    span = limit - bend
    over = np.maximum(strength - bend, 0)
    compressed = np.minimum(strength, bend) + span * (1 - np.exp(-over / span))
    gain = 1 + (compressed / np.maximum(strength, 1e-3) - 1) * cover
    return (grey + chroma * gain[..., None]).astype(np.float32)


def _random(request: InpaintRequest) -> np.random.Generator:
    """Grain of its own for each frame, the same each time."""
    return np.random.default_rng([request.seed % 2**63, round((request.t + 1e4) * 1000)])


def _least(rgb: np.ndarray) -> np.ndarray:
    return np.minimum(np.minimum(rgb[..., 0], rgb[..., 1]), rgb[..., 2])


def _most(rgb: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(rgb[..., 0], rgb[..., 1]), rgb[..., 2])


def _draw_nothing(request: InpaintRequest, scene: _Scene) -> InpaintResult:
    """The null edit: grain as for an object that fills the mask, but no object."""
    cover = (request.mask > 0).astype(np.float32)
    # in codes: blurred as light, the dark side of every edge would brighten visibly
    smooth = to_linear(cv2.GaussianBlur(request.image, (0, 0), TONE.null_blur))
    # the frame has been through its sensor: once more, edges would move visibly
    grain_only = replace(scene.sensor, blue=None, clips=False)
    shot = expose(
        smooth, cover, grain_only, request.corner, TONE.fresh * scene.optics.noise, _random(request)
    )
    return InpaintResult(optics.to_pixels(shot), None, {"light": dict(scene.light.report)})


def _motion(request: InpaintRequest) -> np.ndarray:
    """(2,) pixels that the hazard goes while the shutter is open; the car's own motion blurs the road alike."""
    placed = request.placement
    if placed.moving_since is not None and request.t < placed.moving_since:
        return np.zeros(2)
    foot = np.array([placed.x, placed.y, 0.0])
    way = TONE.shutter_s * np.array([placed.vx, placed.vy, 0.0])
    px, valid = project(request.camera, [foot, foot + way])
    return px[1] - px[0] if valid.all() else np.zeros(2)


def _distance(request: InpaintRequest) -> float:
    eye = centre(request.camera)
    return float(np.hypot(eye[0] - request.placement.x, eye[1] - request.placement.y))


def _shown(rgba: np.ndarray, light: Light, distance: float, dull: bool = False) -> np.ndarray:
    """(H, W, 4) premultiplied, as the camera shows it: exposed and toned by the ground, veiled by the air."""
    result = np.zeros_like(rgba)
    x, y, w, h = cv2.boundingRect((rgba[..., 3] > 0).astype(np.uint8))
    if not w:
        return result
    region = np.s_[y : y + h, x : x + w]
    *colours, alpha = cv2.split(rgba[region])
    colours = [colour / np.maximum(alpha, 1e-3) for colour in colours]
    lum = np.maximum(colours[0] * LUMA[0] + colours[1] * LUMA[1] + colours[2] * LUMA[2], 1e-5)
    reflectance, steep = lum / np.float32(light.albedo), light.contrast - 1
    dark = min(steep, TONE.coats) if dull else steep
    level = np.minimum(reflectance, 1) ** np.float32(dark)
    level *= np.maximum(reflectance, 1) ** np.float32(light.steepness)
    level *= np.float32(float(light.ground @ LUMA) / light.albedo)
    through = np.float32(np.exp(-light.haze_per_m * distance))
    gain, air = light.tint * through, light.haze * (1 - through) + light.floor
    channels = [(c * level * gain[k] + air[k]) * alpha for k, c in enumerate(colours)]
    result[region] = cv2.merge([np.asarray(plane, np.float32) for plane in (*channels, alpha)])
    return result


def _shoulder(linear: np.ndarray, peak: float) -> np.ndarray:
    """Bright things bend towards ``peak`` and white instead of clipping channel by channel."""
    top = _most(linear)[..., None]
    knee = np.float32(TONE.knee * peak)
    if float(top.max(initial=0.0)) <= knee:
        return linear
    fade = np.clip((top / np.float32(peak) - 1) / 4, 0, 0.75)
    eased = linear + (top - linear) * fade
    span = np.float32(peak) - knee
    bent = knee + span * (1 - np.exp((knee - np.maximum(eased, knee)) / span))
    return np.where(eased > knee, bent, eased)
