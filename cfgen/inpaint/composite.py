"""The default inpainter: path-traced sprites, lit like the frame and set into it in linear light. Needs no GPU."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from cfgen.errors import InpaintRefusedError
from cfgen.geometry.camera import centre
from cfgen.inpaint import optics, sprites
from cfgen.inpaint.colour import LUMA, luminance, to_code, to_linear
from cfgen.inpaint.draw import draw_object, draw_shade
from cfgen.inpaint.light import Light, estimate
from cfgen.inpaint.protocol import InpaintRequest, InpaintResult, Needs, Setting
from cfgen.records import Hazard

#: Linear level from which highlights are compressed, as film and sensors do, instead of clipped.
_KNEE = 0.7


@dataclass(frozen=True, eq=False)
class _Scene:
    """What is found once a case."""

    light: Light
    optics: optics.Optics


class Composite:
    """Sprites composited in linear light.

    Scale, foot and yaw follow from the placement through the camera; ground under the hazard is the grey card for
    brightness and colour. Same request, same bytes.
    """

    name = "composite"
    version = "1"
    needs = Needs(every_frame=True, context=0.0, min_side=16, square=False, shadow=2.5)

    def __init__(self) -> None:
        self.options: Mapping[str, Any] = {}

    def can_draw(self, hazard: Hazard) -> bool:
        return hazard.kind == "null" or bool(hazard.model and sprites.list_variants(hazard.model))

    def inpaint(self, requests: Sequence[InpaintRequest]) -> list[InpaintResult | InpaintRefusedError]:
        known: dict[int, _Scene] = {}
        results: list[InpaintResult | InpaintRefusedError] = []
        for request in requests:
            key = id(request.setting)
            if key not in known:
                known[key] = _read(request.setting)
            results.append(_draw(request, known[key]))
        return results


def _read(setting: Setting) -> _Scene:
    return _Scene(estimate(setting), optics.measure(setting.image))


def _draw(request: InpaintRequest, scene: _Scene) -> InpaintResult:
    rng = np.random.default_rng([request.seed % 2**63, round((request.t + 1e4) * 1000)])
    if request.hazard.kind == "null":
        return _draw_nothing(request, scene, rng)
    variant = _variant(request)
    sprite = sprites.load(str(request.hazard.model), variant)
    light = scene.light
    under = to_linear(request.image)
    shade = draw_shade(sprite, request.camera, request.placement, light)
    shade = optics.soften(np.clip(shade, 0, 2) ** np.float32(light.contrast), scene.optics)
    drawn = draw_object(sprite, request.camera, request.placement, light, 1 / light.day)
    over = optics.soften(_shown(drawn, light, _distance(request)), scene.optics)
    cover = np.clip(over[..., 3], 0, 1)
    mixed = _shoulder(under * shade * (1 - cover[..., None]) + over[..., :3])
    # the knee is for what was added: ground that was bright before stays as it was
    mixed = np.where((cover > 0)[..., None], mixed, under * shade)
    codes = optics.grain(to_code(mixed), cover, scene.optics, rng)
    image = optics.recompress(codes, scene.optics.quality)
    alpha = 1 - (1 - cover) * np.clip(shade.min(-1), 0, 1)
    alpha = np.where(alpha < 1 / 255, 0, alpha).astype(np.float32)
    report = {
        "sprite": f"{request.hazard.model}/{variant}",
        "light": dict(light.report),
        "blur_px": round(scene.optics.blur, 2),
        "noise": round(scene.optics.noise, 2),
        "jpeg": scene.optics.quality,
    }
    return InpaintResult(image, alpha, report)


def _draw_nothing(request: InpaintRequest, scene: _Scene, rng: np.random.Generator) -> InpaintResult:
    """The null edit: grain and compression as for an object that fills the mask, but no object."""
    cover = (request.mask > 0).astype(np.float32)
    codes = to_code(to_linear(request.image))
    smooth = cv2.GaussianBlur(codes, (0, 0), 0.5)
    image = optics.recompress(optics.grain(smooth, cover, scene.optics, rng), scene.optics.quality)
    return InpaintResult(image, None, {"light": dict(scene.light.report)})


def _variant(request: InpaintRequest) -> str:
    names = sprites.list_variants(str(request.hazard.model))
    if not names:
        raise InpaintRefusedError(
            f"no sprite for hazard '{request.hazard.id}' (model {request.hazard.model})"
        )
    return names[int(np.random.default_rng(request.seed % 2**63).integers(len(names)))]


def _distance(request: InpaintRequest) -> float:
    eye = centre(request.camera)
    return float(np.hypot(eye[0] - request.placement.x, eye[1] - request.placement.y))


def _shown(drawn: np.ndarray, light: Light, distance: float) -> np.ndarray:
    """(H, W, 4) premultiplied, as the camera shows it: exposed and toned by the ground, veiled by the air."""
    alpha = drawn[..., 3:]
    colour = drawn[..., :3] / np.maximum(alpha, 1e-3)
    lum = np.maximum(luminance(colour), 1e-5)[..., None]
    level = float(light.ground @ LUMA) * (lum / light.albedo) ** light.contrast
    shown = colour * (level / lum) * light.tint
    through = np.float32(np.exp(-light.haze_per_m * distance))
    shown = shown * through + light.haze * (1 - through) + light.floor
    return np.dstack([shown * alpha, alpha]).astype(np.float32)


def _shoulder(linear: np.ndarray) -> np.ndarray:
    """Bright things bend towards white instead of clipping channel by channel."""
    top = linear.max(-1, keepdims=True)
    fade = np.clip((top - 1) / 4, 0, 0.75)
    eased = linear * (1 - fade) + top * fade
    return np.where(eased > _KNEE, _KNEE + (1 - _KNEE) * (1 - np.exp(-(eased - _KNEE) / (1 - _KNEE))), eased)
