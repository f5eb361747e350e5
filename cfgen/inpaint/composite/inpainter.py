"""The default inpainter: path-traced sprites, lit like the frame and set into it in linear light. Needs no GPU."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cfgen.core.errors import InpaintRefusedError
from cfgen.geometry.camera import centre
from cfgen.inpaint.composite import sprites
from cfgen.inpaint.composite.draw import Drawing, draw
from cfgen.inpaint.composite.harmonize import insert
from cfgen.inpaint.composite.light import Light
from cfgen.inpaint.protocol import InpainterRequirements, InpaintRequest, InpaintResult, Setting
from cfgen.records import Hazard, Placement, Size

#: A hazard is turned by at most this, radians, to face the camera with a view that its sprite has.
MAX_TURN = math.radians(15)
#: Another phase of the gait is drawn only where it was seen from within this of the camera's direction, radians.
_BESIDE = math.radians(25)
#: Words in a hazard's text that name its paint.
_COLOURS = frozenset({"white", "black", "silver", "grey", "gray", "red", "blue", "green", "yellow"})
#: What is wider than this share of its length takes up about the same room whichever way it is turned.
_SQUARE = 0.6


class Composite:
    """Sprites composited in linear light.

    Scale, foot and yaw follow from the placement through the camera; ground under the hazard is the grey card for
    brightness and colour. Same request, same bytes.
    """

    name = "composite"
    version = "1"
    needs = InpainterRequirements(
        every_frame=True, context=0.0, min_side=16, square=False, shadow=2.5, turn=MAX_TURN
    )

    def __init__(self) -> None:
        self.options: Mapping[str, Any] = {}

    def can_draw(self, hazard: Hazard) -> bool:
        return hazard.kind == "null" or bool(hazard.model and sprites.list_variants(hazard.model))

    def sizes(self, hazard: Hazard) -> list[Size]:
        if hazard.model is None:
            return []
        return _sizes(hazard.model)

    def inpaint(self, requests: Sequence[InpaintRequest]) -> list[InpaintResult | InpaintRefusedError]:
        return insert(requests, _draw)


def _draw(request: InpaintRequest, light: Light) -> tuple[Drawing | None, Mapping[str, Any]]:
    model = str(request.hazard.model)
    names = sprites.list_variants(model)
    if not names:
        raise InpaintRefusedError(f"no sprite for hazard '{request.hazard.id}' (model {model})")
    variant = pick(names, _sizes(model), request)
    sprite = sprites.load(model, variant)
    turn = _turn(sprite, request.setting.front or request.setting)
    turned = request.placement.model_copy(update={"yaw": request.placement.yaw + turn})
    report: dict[str, Any] = {"sprite": f"{model}/{variant}", "turned_deg": round(math.degrees(turn), 1)}
    step = in_step(sprite.meta["params"], request)
    if step:
        sprite = _stepping(sprite, step, turned, request)
    return draw(sprite, request.camera, turned, light), report


def in_step(params: Mapping[str, Any], request: InpaintRequest) -> str:
    """The phase of its gait in which a figure is in this frame: "0" to "3", "stand" before it sets off.

    It steps on as far as it goes, so that its feet stay where they meet the road; "" is the phase of t0, in which it
    is also where it has no gait. Who rides only stands: a foot down until it sets off. ``params`` are those of its
    model: metres a ``stride``, the ``phase`` at t0.
    """
    placed, stride = request.placement, params.get("stride")
    speed = math.hypot(placed.vx, placed.vy)
    since = placed.moving_since
    if speed and since is not None and request.t < since:
        return "stand"
    if not stride or not speed:
        return ""
    steps = round(4 * speed * request.t / stride)
    return "" if steps % 4 == 0 else str((params["phase"] + steps) % 4)


def _stepping(
    still: sprites.Sprite, step: str, placement: Placement, request: InpaintRequest
) -> sprites.Sprite:
    """The sprite in another phase of its gait; ``still`` where there is none as this camera sees it."""
    model, variant = gait_of(still.meta["model"], still.meta["variant"], step)
    if variant not in sprites.list_variants(model):
        return still
    sprite, eye = sprites.load(model, variant), centre(request.camera)
    dx, dy = eye[0] - placement.x, eye[1] - placement.y
    azimuth = math.atan2(dy, dx) - placement.yaw
    view = sprite.seen_from(azimuth, math.atan2(eye[2], math.hypot(dx, dy)))
    return sprite if abs(math.remainder(azimuth - view, math.tau)) <= _BESIDE else still


def gait_of(model: str, variant: str, step: str) -> tuple[str, str]:
    """Model and variant that show a variant in another phase of its gait."""
    return f"{model}_gait", f"{variant}_{step}"


def _turn(sprite: sprites.Sprite, setting: Setting) -> float:
    """Turn, radians, that shows the front camera at t0 a stored view as it is: sides it never saw cannot be made up."""
    placement, eye = setting.placement, centre(setting.camera)
    dx, dy = eye[0] - placement.x, eye[1] - placement.y
    azimuth = math.atan2(dy, dx) - placement.yaw
    stored = sprite.seen_from(azimuth, math.atan2(eye[2], math.hypot(dx, dy)))
    short, long = sorted(sprite.size[:2])
    limit = math.pi if short > _SQUARE * long else MAX_TURN
    return min(max(math.remainder(azimuth - stored, math.tau), -limit), limit)


def _sizes(model: str) -> list[Size]:
    """Of each variant, in their order."""
    variants = (sprites.load(model, name).size for name in sprites.list_variants(model))
    return [Size(length=length, width=width, height=height) for length, width, height in variants]


def pick(names: Sequence[str], sizes: Sequence[Size], request: InpaintRequest) -> str:
    """The variant that the hazard's look means, or one drawn by the case's seed, with the size of the placement.

    Where the hazard's text names a colour it is one of that colour, if there is one.
    """
    size = np.array(list(request.placement.size.model_dump().values()))
    off = [np.abs(np.array(list(s.model_dump().values())) - size).max() for s in sizes]
    fitting = [name for name, error in zip(names, off, strict=True) if error <= min(off) + 1e-3]
    if colours := _COLOURS & {*request.hazard.prompt.lower().split()}:
        fitting = [name for name in fitting if name.rsplit("_", 1)[-1] in colours] or fitting
    look = request.hazard.look
    if look is not None and names[look % len(names)] in fitting:
        return names[look % len(names)]
    return fitting[int(np.random.default_rng(request.seed % 2**63).integers(len(fitting)))]
