"""People on foot: crossing, running, standing, working, lying."""

from dataclasses import replace

import numpy as np
from body.parts import Part, build, moved, settle
from body.person import person
from body.poses import BECKON, CALL, DIG, FALLEN, HALT, PASS, PUSH, RUN, STAND, STOOP, WAIT, WALK
from body.props import ball, shovel, stop_paddle, stroller, walking_stick
from body.skeleton import Pose, Skeleton, turn
from body.wardrobe import OUTFITS
from common import ACROSS, FACING, Model, Objects

POSES: dict[str, Pose] = {
    "walk": WALK,
    "walk2": WALK.mirrored(),
    "pass": PASS,
    "pass2": PASS.mirrored(),
    "stoop": STOOP,
    "run": RUN,
    "run2": RUN.mirrored(),
    "stand": STAND,
    "wait": WAIT,
    "halt": HALT,
    "beckon": BECKON,
    "call": CALL,
    "push": PUSH,
}


def someone(who: str, pose: str, seed: int) -> tuple[Skeleton, list[Part]]:
    """A named outfit in a named pose."""
    wear = OUTFITS[who]
    hatted = any(name in {"hard_hat", "peaked_cap", "cap"} for name, _ in wear.gear)
    return person(POSES[pose], wear, seed, bare_head=not hatted)


def pedestrian(seed: int = 0, who: str = "man", pose: str = "walk") -> Objects:
    """One person on foot."""
    return build(someone(who, pose, seed)[1])


def group(
    seed: int = 0, members: tuple = (("man", "walk"), ("woman", "pass2"), ("teen", "walk2"))
) -> Objects:
    """People crossing together, side by side and a little apart."""
    rng = np.random.default_rng(seed)
    parts = []
    for i, (who, pose) in enumerate(members):
        at = (rng.normal(0, 0.3), (i - (len(members) - 1) / 2) * 0.75, 0)
        parts += moved(someone(who, pose, seed + i)[1], turn((0, 0, rng.normal(0, 7))), at)
    return build(parts)


def with_sign(seed: int = 0, who: str = "worker") -> Objects:
    """A flagger holding a STOP paddle towards the traffic."""
    s, parts = someone(who, "wait", seed)
    return build([*parts, *stop_paddle(s.arms[-1], s.k)])


def digging(seed: int = 0, who: str = "worker_orange") -> Objects:
    """A worker bent over a shovel."""
    s, parts = person(DIG, OUTFITS[who], seed, bare_head=False)
    return build(settle([*parts, *shovel(s)]))


def after_ball(seed: int = 0, who: str = "child", pose: str = "run") -> Objects:
    """A child running after a ball."""
    return build([*someone(who, pose, seed)[1], *ball((1.15, 0.1, 0.11))])


def elderly(seed: int = 0, who: str = "older") -> Objects:
    """An old person walking bent, with a stick."""
    s, parts = someone(who, "stoop", seed)
    return build([*parts, *walking_stick(s)])


def with_stroller(seed: int = 0, who: str = "woman") -> Objects:
    """Someone pushing a stroller."""
    wear = replace(OUTFITS[who], gear=[])
    return build([*person(PUSH, wear, seed)[1], *stroller((0.74, 0, 0))])


def lying(seed: int = 0, who: str = "man") -> Objects:
    """Someone lying on the road."""
    return build(settle(moved(person(FALLEN, OUTFITS[who], seed)[1], turn((0, 0, 90)), (-0.2, 0, 0))))


FEW: dict = {"samples": 10}
CROSSING: dict = {**FEW, "azimuths": ACROSS}
FACED: dict = {**FEW, "azimuths": FACING}
CROWD = {
    "three": {},
    "family": {"members": (("suit", "pass"), ("girl", "walk2"), ("coat", "walk2")), "seed": 2},
    "standing": {"members": (("summer", "stand"), ("woman", "wait"), ("teen", "stand")), "seed": 3},
}
MODELS = {
    "pedestrian_walking": Model(
        pedestrian,
        {
            "man": {},
            "woman": {"who": "woman", "pose": "pass2"},
            "teen": {"who": "teen", "pose": "walk2"},
            "summer": {"who": "summer", "pose": "pass"},
            "coat": {"who": "coat", "pose": "walk2"},
            "suit": {"who": "suit", "pose": "walk"},
            "dress": {"who": "dress", "pose": "pass"},
        },
        **FEW,
    ),
    "pedestrian_running": Model(
        pedestrian, {"man": {"pose": "run"}, "teen": {"who": "hooded", "pose": "run2"}}, **CROSSING
    ),
    "pedestrian_elderly": Model(elderly, {"man": {}, "woman": {"who": "coat"}}, **CROSSING),
    "pedestrian_phone": Model(
        pedestrian,
        {"teen": {"who": "hooded", "pose": "call"}, "woman": {"who": "woman", "pose": "call"}},
        **CROSSING,
    ),
    "pedestrian_standing": Model(
        pedestrian,
        {"summer": {"who": "summer", "pose": "stand"}, "coat": {"who": "coat", "pose": "stand"}},
        **FEW,
    ),
    "pedestrian_lying": Model(lying, {"man": {}, "woman": {"who": "dress"}}, **FEW),
    "pedestrian_group": Model(group, CROWD, **FEW, pixels=280),
    "child_running": Model(
        after_ball, {"boy": {}, "girl": {"who": "girl", "pose": "run2"}}, **CROSSING, pixels=200
    ),
    "person_vest": Model(
        pedestrian,
        {"man": {"who": "marshal", "pose": "stand"}, "woman": {"who": "driver", "pose": "beckon"}},
        **FACED,
    ),
    "flagger": Model(
        with_sign, {"lime": {}, "orange": {"who": "worker_orange", "seed": 1}}, **FACED, pixels=280
    ),
    "worker": Model(
        pedestrian,
        {"lime": {"who": "worker", "pose": "pass"}, "orange": {"who": "worker_orange", "pose": "walk"}},
        **CROSSING,
    ),
    "worker_digging": Model(digging, {"orange": {}}, **FEW),
    "police_officer": Model(
        pedestrian,
        {"halt": {"who": "officer", "pose": "halt"}, "wave": {"who": "officer", "pose": "beckon"}},
        **FACED,
    ),
    "stroller": Model(with_stroller, {"woman": {}, "man": {"who": "suit"}}, **CROSSING),
}
