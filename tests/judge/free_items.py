"""Free answers without a benchmark: a box of about the hazard's size on a made-up road."""

import math
import zlib
from functools import cache

import numpy as np

from cfgen.geometry.camera import mounted
from cfgen.geometry.path import path_of_plan, travelled
from cfgen.hazards.vocabulary import class_of, things
from cfgen.judge.free import FreeAnswer
from cfgen.judge.protocol import JudgeItem
from cfgen.planners.answer import to_plan
from cfgen.planners.builtin import constant_turn
from cfgen.planners.responder_motion import Baseline, Target
from cfgen.records import Camera, Size
from tests.judge.painted import PARTS, WHOLE, _painted, place

CAMERA = Camera(width=640, height=360, fx=560, fy=560, cx=320, cy=150, T_cam_ego=mounted(1.5))
BLANK = np.zeros((4, 4, 3), np.uint8)


@cache
def road() -> np.ndarray:
    """(360, 640, 3) uint8: noise."""
    return np.clip(np.random.default_rng(0).normal(100, 6, (360, 640, 3)), 0, 255).astype(np.uint8)


def size_of(name: str) -> Size:
    """Geometric middle of what a thing of that name may measure; a metre where it has none."""
    found = things(name.lower())
    if not found:
        return Size(length=1.0, width=1.0, height=1.0)
    kind = class_of(found[0][0])
    width, height = (math.sqrt(max(low, 0.05) * high) for low, high in (kind.width, kind.height))
    return Size(length=width, width=width, height=height)


def parts_of(name: str) -> tuple[tuple[float, ...], ...]:
    """Limbs for what has them."""
    found = things(name.lower())
    limbs = bool(found) and class_of(found[0][0]).fill[1] < 1
    return PARTS["deer crossing the road"] if limbs else WHOLE


def free_item(answer: FreeAnswer) -> JudgeItem:
    """What a judge sees of it."""
    plan = constant_turn(answer.speed_mps, 0.0)
    path = path_of_plan(plan)
    rng = np.random.default_rng(zlib.crc32(answer.id.encode()))
    distance, lateral = (
        min(answer.hazard.distance_m, 60.0),
        answer.side * min(abs(answer.hazard.lateral_m), 4.0),
    )
    at = place(path, CAMERA, distance, lateral, size_of(answer.hazard.name), rng)
    base = Baseline(path, travelled(plan), answer.speed_mps)
    before, after = answer.answers(base, Target.of(at, base))
    (before, plan_a), (after, plan_b) = to_plan(before), to_plan(after)
    changed = _painted(road(), CAMERA, at, rng, parts_of(answer.hazard.name))
    return JudgeItem("k", road(), changed, BLANK, BLANK, "", before, after, plan_a, plan_b, CAMERA)
