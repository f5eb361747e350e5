"""People on foot: crossing, running, standing, working, lying."""

from dataclasses import replace

import numpy as np
from body.parts import Part, build, moved, settle
from body.person import person
from body.poses import (
    BECKON,
    BOUND,
    CALLING,
    DIG,
    HALT,
    PROPPED,
    PUSHING,
    STAND,
    STOOPED,
    STRIDE,
    TALK,
    WAIT,
    running,
    walking,
)
from body.props import ball, phone, shovel, stop_paddle, stroller, walking_stick
from body.skeleton import Pose, Skeleton, turn
from body.wardrobe import OUTFITS
from common import Model, Objects, about

POSES: dict[str, Pose] = {"stand": STAND, "wait": WAIT, "talk": TALK, "halt": HALT, "beckon": BECKON}


def someone(who: str, pose: Pose, seed: int) -> tuple[Skeleton, list[Part]]:
    """A named outfit in a pose."""
    wear = OUTFITS[who]
    hatted = any(name in {"hard_hat", "peaked_cap", "cap"} for name, _ in wear.gear)
    return person(pose, wear, seed, bare_head=not hatted)


def _stride(who: str, stride: float) -> float:
    """What a stride of so many metres is to an adult of 1.75 m."""
    return stride * 1.75 / OUTFITS[who].height


def standing(seed: int = 0, who: str = "man", pose: str = "stand") -> Objects:
    """One person on foot, not going anywhere."""
    return build(someone(who, POSES[pose], seed)[1])


def pedestrian(seed: int = 0, who: str = "man", stride: float = STRIDE, phase: int | None = 0) -> Objects:
    """One person walking; phase: quarter of the gait, None standing."""
    return build(someone(who, walking(phase, _stride(who, stride)), seed)[1])


def runner(seed: int = 0, who: str = "man", stride: float = BOUND, phase: int | None = 0) -> Objects:
    """One person running."""
    return build(someone(who, running(phase, _stride(who, stride)), seed)[1])


def phoning(seed: int = 0, who: str = "hooded", stride: float = STRIDE, phase: int | None = 0) -> Objects:
    """Someone walking bent over a phone."""
    s, parts = someone(who, walking(phase, _stride(who, stride), **CALLING), seed)
    return build([*parts, *phone(s)])


def group(seed: int = 0, members: tuple = (("man", "talk"), ("woman", "stand"), ("teen", "wait"))) -> Objects:
    """People standing together, turned to each other."""
    rng = np.random.default_rng(seed)
    parts = []
    for i, (who, pose) in enumerate(members):
        y = (i - (len(members) - 1) / 2) * 0.72
        facing = (0, 0, -70 * np.sign(y) + rng.normal(0, 12))
        parts += moved(someone(who, POSES[pose], seed + i)[1], turn(facing), (rng.normal(0, 0.25), y, 0))
    return build(parts)


def with_sign(seed: int = 0, who: str = "worker") -> Objects:
    """A flagger holding a STOP paddle towards the traffic."""
    s, parts = someone(who, WAIT, seed)
    return build([*parts, *stop_paddle(s.arms[-1], s.k)])


def digging(seed: int = 0, who: str = "worker_orange") -> Objects:
    """A worker bent over a shovel."""
    s, parts = person(DIG, OUTFITS[who], seed, bare_head=False)
    return build(settle([*parts, *shovel(s)]))


def after_ball(seed: int = 0, who: str = "child", stride: float = BOUND, phase: int | None = 0) -> Objects:
    """A child running after a ball."""
    hop = 0.11 if phase is None else (0.11, 0.2, 0.11, 0.16)[phase]
    return build([*someone(who, running(phase, _stride(who, stride)), seed)[1], *ball((1.15, 0.1, hop))])


def elderly(seed: int = 0, who: str = "older", stride: float = STRIDE, phase: int | None = 1) -> Objects:
    """An old person walking bent, with a stick."""
    s, parts = someone(who, walking(phase, _stride(who, stride), **STOOPED), seed)
    return build([*parts, *walking_stick(s)])


def with_stroller(
    seed: int = 0, who: str = "woman", stride: float = STRIDE, phase: int | None = 0
) -> Objects:
    """Someone pushing a stroller."""
    wear, pose = replace(OUTFITS[who], gear=[]), walking(phase, _stride(who, stride), **PUSHING)
    return build([*person(pose, wear, seed)[1], *stroller((0.74, 0, 0))])


def fallen(seed: int = 0, who: str = "man") -> Objects:
    """Someone half sitting on the road after a fall, side on, the face to the camera."""
    parts = person(PROPPED, replace(OUTFITS[who], gear=[]), seed)[1]
    return build(settle(moved(parts, turn((0, 0, -76)), (-0.1, 0.3, 0))))


def in_gait(model: Model) -> Model:
    """The other phases of a model's variants, and how they stand before they set off: who crosses keeps in step.

    Seen from the sides only, where a stride shows.
    """
    phases = {
        f"{name}_{'stand' if phase is None else phase}": {**params, "phase": phase}
        for name, params in model.variants.items()
        for phase in (None, 0, 1, 2, 3)
        if phase != params["phase"]
    }
    return replace(model, variants=phases, azimuths=(75, 90, 105, 255, 270, 285))


def afoot(stride: float, phase: int, **params: object) -> dict:
    """A variant that walks `stride` metres a cycle, and its phase at t0."""
    return {"stride": stride, "phase": phase, **params}


FEW: dict = {"samples": 10}
CROWD = {
    "three": {},
    "talking": {"members": (("dress", "stand"), ("suit", "talk"), ("summer", "wait")), "seed": 3},
}
WALKERS = {
    "pedestrian_walking": Model(
        pedestrian,
        {
            "man": afoot(STRIDE, 0),
            "woman": afoot(1.29, 3, who="woman"),
            "teen": afoot(1.3, 2, who="teen"),
            "summer": afoot(STRIDE, 2, who="summer"),
            "coat": afoot(1.29, 3, who="coat"),
            "suit": afoot(STRIDE, 0, who="suit"),
            "dress": afoot(1.29, 1, who="dress"),
        },
        **FEW,
    ),
    "pedestrian_running": Model(runner, {"man": afoot(BOUND, 0), "teen": afoot(2.1, 2, who="hooded")}, **FEW),
    "pedestrian_elderly": Model(elderly, {"man": afoot(0.9, 1), "woman": afoot(0.9, 3, who="coat")}, **FEW),
    "pedestrian_phone": Model(phoning, {"teen": afoot(1.1, 1), "woman": afoot(1.1, 3, who="woman")}, **FEW),
    "child_running": Model(
        after_ball, {"boy": afoot(1.48, 0), "girl": afoot(1.56, 2, who="girl")}, **FEW, pixels=200
    ),
    "worker": Model(
        pedestrian,
        {"lime": afoot(1.2, 1, who="worker"), "orange": afoot(1.2, 3, who="worker_orange")},
        **FEW,
    ),
    "stroller": Model(with_stroller, {"woman": afoot(1.2, 0)}, **FEW),
}
STANDERS = {
    "pedestrian_standing": Model(standing, {"summer": {"who": "summer"}}, **FEW),
    "pedestrian_fallen": Model(
        fallen, {"man": {"who": "summer"}, "woman": {"who": "woman"}}, **FEW, azimuths=about(0)
    ),
    "pedestrian_group": Model(group, CROWD, **FEW, pixels=280),
    "person_vest": Model(
        standing,
        {"man": {"who": "marshal"}, "woman": {"who": "driver", "pose": "beckon"}},
        **FEW,
    ),
    "flagger": Model(
        with_sign, {"lime": {}, "orange": {"who": "worker_orange", "seed": 1}}, **FEW, pixels=280
    ),
    "worker_digging": Model(digging, {"orange": {}}, **FEW),
    "police_officer": Model(standing, {"halt": {"who": "officer", "pose": "halt"}}, **FEW),
}
MODELS = {**STANDERS, **WALKERS, **{f"{name}_gait": in_gait(model) for name, model in WALKERS.items()}}
