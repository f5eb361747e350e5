"""People on foot: walking, running, standing, lying."""

from dataclasses import replace

from body.clothes import Cut
from body.parts import build
from body.person import Outfit, person
from body.poses import PASS, WALK
from body.skeleton import Pose
from common import Model, Objects

MAN = Outfit(zip=(0.02, 0.02, 0.02), top=(0.045, 0.05, 0.055), bottom=(0.2, 0.15, 0.095))
PEDESTRIANS: dict[str, tuple[Pose, Outfit]] = {
    "man": (WALK, MAN),
    "woman": (
        PASS.mirrored(),
        Outfit(
            True,
            1.66,
            hair="brown",
            style="long",
            skin=0,
            top=(0.3, 0.025, 0.03),
            cut=Cut(0.016, -0.13, fold=0.008, collar=0.03),
            bottom=(0.03, 0.032, 0.04),
            loose=0.003,
            ankle=0.046,
            shoes=(0.05, 0.03, 0.025),
            gear=[("shoulder_bag", {})],
        ),
    ),
    "teen": (
        WALK.mirrored(),
        Outfit(
            False,
            1.68,
            0.2,
            2,
            "black",
            "curly",
            top=(0.33, 0.34, 0.33),
            cut=Cut(0.02, -0.12, hood=True, fold=0.01),
            bottom=(0.1, 0.14, 0.22),
            loose=0.012,
            ankle=0.07,
            shoes=(0.4, 0.4, 0.39),
            sole=(0.6, 0.6, 0.6),
            gear=[("backpack", {})],
        ),
    ),
    "older": (
        replace(
            PASS, pelvis_turn=(0, 6, 0), chest_turn=(0, 17, 0), head_turn=(0, 6, 0), pelvis=(-0.02, 0, 0.945)
        ),
        Outfit(
            False,
            1.69,
            0,
            0,
            "grey",
            "thin",
            top=(0.22, 0.17, 0.11),
            cut=Cut(0.024, -0.16, collar=0.025, fold=0.012, belly=0.045),
            zip=(0.1, 0.08, 0.05),
            bottom=(0.09, 0.085, 0.075),
            loose=0.014,
            ankle=0.07,
        ),
    ),
}


def pedestrian(seed: int = 0, who: str = "man") -> Objects:
    """Someone walking."""
    pose, wear = PEDESTRIANS[who]
    return build(person(pose, wear, seed)[1])


MODELS = {"pedestrian": Model(pedestrian, {w: {"who": w} for w in PEDESTRIANS}, samples=12)}
