"""Free answers without a benchmark: a box of about the hazard's size on a made-up road."""

import math
import re
import zlib
from functools import cache

import numpy as np

from cfgen.geometry.camera import mounted
from cfgen.geometry.path import path_of_plan, travelled
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.hazards.vocabulary import class_of, things
from cfgen.judge.free import FreeAnswer
from cfgen.judge.protocol import JudgeItem
from cfgen.planners.answer import to_plan
from cfgen.planners.builtin import constant_turn
from cfgen.planners.responder_motion import Baseline, Target
from cfgen.records import Camera, Hazard, Size
from tests.judge.painted import WHOLE, _painted, place

CAMERA = Camera(width=640, height=360, fx=560, fy=560, cx=320, cy=150, T_cam_ego=mounted(1.5))
BLANK = np.zeros((4, 4, 3), np.uint8)
#: Legs with a gap between them from every side, and a head; a trunk and what stands out from it.
LIMBS = (
    (-0.5, -0.3, -0.5, -0.25, 0.0, 0.6),
    (0.3, 0.5, 0.25, 0.5, 0.0, 0.6),
    (-0.5, 0.35, -0.4, 0.4, 0.5, 0.8),
    (0.3, 0.5, -0.1, 0.1, 0.7, 1.0),
)
BRANCHES = (
    (-0.5, 0.5, -0.5, 0.5, 0.0, 0.3),
    (-0.4, -0.3, -0.4, -0.3, 0.3, 1.0),
    (0.2, 0.3, 0.2, 0.3, 0.3, 0.8),
)


@cache
def road() -> np.ndarray:
    """(360, 640, 3) uint8: noise."""
    return np.clip(np.random.default_rng(0).normal(100, 6, (360, 640, 3)), 0, 255).astype(np.uint8)


#: Words of a hazard's name that tell it from no other.
_COMMON = frozenset(
    ("the", "with", "out", "into", "across", "crossing", "lane", "road", "ahead", "our", "from")
)


@cache
def _catalogue() -> tuple[Hazard, ...]:
    return load_taxonomy().hazards


@cache
def shown_as(name: str) -> Hazard | None:
    """The catalogue's hazard that is most like a name: of its class, with most words in common and fewest others."""
    kind = _kind(name)
    same = [h for h in _catalogue() if kind in (None, _kind(h.name))]
    ours = _content(name)
    found = max(
        same, key=lambda h: (len(_content(h.name) & ours), -len(_content(h.name) - ours)), default=None
    )
    return found if found and (kind or _content(found.name) & ours) else None


def _kind(name: str) -> str | None:
    found = things(name.lower())
    return class_of(found[0][0]).name if found else None


def _content(name: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall(r"[a-z]{3,}", name.lower())} - _COMMON


def size_of(name: str) -> Size:
    """That of the catalogue's; else the geometric middle of what a thing of that name may measure, or a metre."""
    if like := shown_as(name):
        return like.size
    found = things(name.lower())
    if not found:
        return Size(length=1.0, width=1.0, height=1.0)
    kind = class_of(found[0][0])
    width, height = (math.sqrt(max(low, 0.05) * high) for low, high in (kind.width, kind.height))
    return Size(length=width, width=width, height=height)


def parts_of(name: str) -> tuple[tuple[float, ...], ...]:
    """Limbs for what has them."""
    like = shown_as(name)
    found = things((like.name if like else name).lower())
    kind = class_of(found[0][0]) if found else None
    if kind is None or kind.fill[1] == 1:
        return WHOLE
    return BRANCHES if kind.name == "tree" else LIMBS


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
