"""How people hold themselves. Feet and hands in metres for a 1.75 m adult; turns in degrees."""

from dataclasses import replace
from typing import Any

from body.skeleton import Foot, Hand, Pose

#: Metres from a footfall to the same foot's next, in a walk (WALK, PASS) and a run (RUN, SWING).
STRIDE, BOUND = 1.36, 2.2

WALK = Pose(
    Foot((0.33, 0.075, 0.105), pitch=-17),
    Foot((-0.36, -0.07, 0.175), pitch=42),
    Hand((-0.2, 0.075, -0.465)),
    Hand((0.2, -0.03, -0.455), elbow=(-1, 0.3, -0.2)),
    pelvis=(0, 0, 0.905),
    pelvis_turn=(0, 3, -6),
    chest_turn=(0, 4, 7),
    head_turn=(0, 3, 2),
)
PASS = Pose(
    Foot((0.0, 0.06, 0.08), pitch=0),
    Foot((-0.16, -0.07, 0.21), pitch=48, knee=(1, 0.05, 0)),
    Hand((-0.05, 0.07, -0.5)),
    Hand((0.05, -0.06, -0.5)),
    pelvis=(0.01, 0, 0.955),
    pelvis_turn=(-2, 2, 0),
    chest_turn=(1, 3, 0),
    head_turn=(0, 5, 0),
)
RUN = Pose(
    Foot((0.15, 0.07, 0.36), pitch=14),
    Foot((-0.46, -0.07, 0.165), pitch=56),
    Hand((-0.24, 0.1, -0.3), curl=60, fingers=(0.5, 0, -0.5)),
    Hand((0.24, 0.04, -0.22), curl=60, fingers=(0.4, 0, 0.7)),
    pelvis=(0, 0, 0.885),
    pelvis_turn=(0, 12, -10),
    chest_turn=(0, 15, 10),
    head_turn=(0, 5, 0),
)
SWING = Pose(
    Foot((0.04, 0.05, 0.08), pitch=0, knee=(1, 0.1, 0)),
    Foot((-0.32, -0.07, 0.46), pitch=86, knee=(1, 0.05, -0.3)),
    Hand((-0.06, 0.09, -0.33), curl=60, fingers=(0.7, 0, -0.2)),
    Hand((0.1, 0.0, -0.3), curl=60, fingers=(0.7, 0, 0.2)),
    pelvis=(0, 0, 0.885),
    pelvis_turn=(-2, 10, -2),
    chest_turn=(2, 14, 2),
    head_turn=(0, 5, 0),
)
STAND = Pose(
    Foot((0.02, 0.1, 0.08), yaw=14),
    Foot((-0.03, -0.09, 0.08), yaw=8),
    Hand((0.02, 0.1, -0.5)),
    Hand((0.05, -0.09, -0.49)),
    pelvis=(0, 0.01, 0.935),
    pelvis_turn=(2, 2, 0),
    chest_turn=(-1, 2, 3),
    head_turn=(0, 2, 6),
)
#: On the ground after a fall: half sitting, one leg drawn up, propped on the left arm, the face to the left.
PROPPED = Pose(
    Foot((0.8, 0.16, 0.075), pitch=-72, yaw=22, knee=(0.2, 0.3, 1)),
    Foot((0.44, -0.12, 0.085), pitch=4, yaw=-8, knee=(0.3, -0.25, 1)),
    Hand(
        (-0.36, 0.36, 0.06),
        world=True,
        fingers=(-0.8, 0.7, -0.1),
        palm=(0, 0, -1),
        curl=8,
        elbow=(-1, 0.4, 0.3),
    ),
    Hand(
        (0.17, -0.1, 0.5),
        world=True,
        fingers=(0.9, 0.3, -0.3),
        palm=(0.1, 0, -1),
        curl=35,
        elbow=(0.2, 1, -0.4),
    ),
    pelvis=(0, 0, 0.115),
    pelvis_turn=(0, -34, 0),
    chest_turn=(-6, -24, 14),
    head_turn=(-4, 2, 52),
)
WAIT = replace(
    STAND,
    right_hand=Hand(
        (0.16, -0.36, -0.2),
        fingers=(0.55, 0.8, 0.1),
        palm=(0.6, 0.2, -0.1),
        curl=68,
        elbow=(-0.6, 0.7, -0.5),
    ),
)
HALT = replace(
    STAND,
    right_hand=Hand(
        (0.42, -0.08, 0.14), fingers=(0.1, 0, 1), palm=(1, 0, -0.1), curl=5, elbow=(0.1, 0.6, -1)
    ),
    left_hand=Hand((0.1, 0.5, -0.04), fingers=(0.1, 1, 0.1), palm=(1, 0, 0), curl=8, elbow=(-0.5, 0.2, -1)),
)
BECKON = replace(
    STAND,
    left_hand=Hand(
        (0.16, 0.3, 0.22), fingers=(0.3, 0.2, 1), palm=(1, -0.2, 0), curl=14, elbow=(-0.2, 0.6, -1)
    ),
)
TALK = replace(
    STAND,
    left_hand=Hand(
        (0.26, 0.02, -0.24), fingers=(0.9, 0.3, 0.2), palm=(0, -0.6, 0.8), curl=20, elbow=(-0.6, 0.4, -1)
    ),
    head_turn=(0, 4, -8),
)
#: What the upper body does on top of a gait.
STOOPED: dict[str, Any] = {"chest_turn": (0, 17, 0), "head_turn": (0, 6, 0)}
CALLING: dict[str, Any] = {
    "right_hand": Hand(
        (0.24, 0.12, -0.18), fingers=(0.7, 0.5, 0.4), palm=(-0.4, 0.6, 0.8), curl=45, elbow=(-0.2, 0.5, -1)
    ),
    "head_turn": (0, 32, 3),
}
PUSHING: dict[str, Any] = {
    "left_hand": Hand(
        (0.36, 0.05, -0.3), fingers=(0.9, -0.3, -0.3), palm=(-0.3, 0, -1), curl=62, elbow=(-1, 0.5, -0.4)
    ),
    "right_hand": Hand(
        (0.4, -0.05, -0.3), fingers=(0.9, 0.3, -0.3), palm=(-0.3, 0, -1), curl=62, elbow=(-1, 0.5, -0.4)
    ),
    "chest_turn": (0, 9, 0),
}
DIG = Pose(
    Foot((0.22, 0.16, 0.08), yaw=15),
    Foot((-0.22, -0.14, 0.085), pitch=4, yaw=20),
    Hand(
        (0.62, 0.1, 0.5),
        fingers=(0.3, -0.9, -0.2),
        palm=(-0.5, 0, -1),
        curl=66,
        world=True,
        elbow=(-0.3, 1, -0.2),
    ),
    Hand(
        (0.26, -0.2, 0.9),
        fingers=(0.3, 0.9, -0.2),
        palm=(-0.5, 0, -1),
        curl=66,
        world=True,
        elbow=(-0.6, 0.8, 0.2),
    ),
    pelvis=(-0.08, 0, 0.87),
    pelvis_turn=(0, 28, 4),
    chest_turn=(6, 52, -8),
    head_turn=(0, 40, 0),
)
ASTRIDE = Pose(
    Foot((0.06, 0.36, 0.86), pitch=-6, yaw=12, knee=(1, 0.55, 0.35)),
    Foot((0.06, -0.36, 0.86), pitch=-6, yaw=12, knee=(1, 0.55, 0.35)),
    Hand(
        (0.3, 0.1, 1.72),
        fingers=(1, -0.5, 0),
        palm=(-0.2, -0.3, -1),
        curl=62,
        world=True,
        elbow=(-1, 0.4, -0.8),
    ),
    Hand(
        (0.3, -0.1, 1.72),
        fingers=(1, 0.5, 0),
        palm=(-0.2, 0.3, -1),
        curl=62,
        world=True,
        elbow=(-1, 0.4, -0.8),
    ),
    pelvis=(-0.07, 0, 1.56),
    pelvis_turn=(0, 4, 0),
    chest_turn=(0, 8, 0),
    head_turn=(0, 6, 0),
)

MOTO = Pose(
    Foot((-0.1, 0.2, 0.44), pitch=4, yaw=8, knee=(1, 0.5, 0.5)),
    Foot((-0.1, -0.2, 0.44), pitch=4, yaw=8, knee=(1, 0.5, 0.5)),
    Hand(
        (0.345, 0.32, 1.07),
        fingers=(1, -0.1, -0.4),
        palm=(-0.4, 0, -1),
        curl=60,
        world=True,
        elbow=(-0.4, 1, -0.5),
    ),
    Hand(
        (0.345, -0.32, 1.07),
        fingers=(1, 0.1, -0.4),
        palm=(-0.4, 0, -1),
        curl=60,
        world=True,
        elbow=(-0.4, 1, -0.5),
    ),
    pelvis=(-0.24, 0, 0.96),
    pelvis_turn=(0, 10, 0),
    chest_turn=(0, 24, 0),
    head_turn=(0, 4, 0),
)
MOPED = Pose(
    Foot((0.15, 0.13, 0.42), yaw=6, knee=(1, 0.4, 0.6)),
    Foot((0.15, -0.13, 0.42), yaw=6, knee=(1, 0.4, 0.6)),
    Hand(
        (0.2, 0.29, 1.04),
        fingers=(1, -0.1, -0.4),
        palm=(-0.4, 0, -1),
        curl=60,
        world=True,
        elbow=(-0.6, 0.7, -0.7),
    ),
    Hand(
        (0.2, -0.29, 1.04),
        fingers=(1, 0.1, -0.4),
        palm=(-0.4, 0, -1),
        curl=60,
        world=True,
        elbow=(-0.6, 0.7, -0.7),
    ),
    pelvis=(-0.27, 0, 0.9),
    pelvis_turn=(0, 0, 0),
    chest_turn=(0, 10, 0),
    head_turn=(0, 2, 0),
)
GLIDE = Pose(
    Foot((0.06, 0.02, 0.24), yaw=4),
    Foot((-0.27, -0.03, 0.24), yaw=-12, knee=(1, 0.3, 0)),
    Hand(
        (0.27, 0.23, 1.15),
        fingers=(1, -0.1, -0.4),
        palm=(-0.4, 0, -1),
        curl=60,
        world=True,
        elbow=(-0.6, 0.7, -0.7),
    ),
    Hand(
        (0.27, -0.23, 1.15),
        fingers=(1, 0.1, -0.4),
        palm=(-0.4, 0, -1),
        curl=60,
        world=True,
        elbow=(-0.6, 0.7, -0.7),
    ),
    pelvis=(-0.11, 0, 1.05),
    pelvis_turn=(0, 4, 0),
    chest_turn=(0, 7, 0),
    head_turn=(0, 4, 0),
)
#: Astride, both feet on the road; the last with one, the other on the deck.
HALTED_MOTO = replace(
    MOTO,
    left_foot=Foot((-0.06, 0.33, 0.12), pitch=14, yaw=12, knee=(1, 0.4, 0)),
    right_foot=Foot((-0.06, -0.33, 0.12), pitch=14, yaw=12, knee=(1, 0.4, 0)),
    pelvis=(-0.2, 0, 0.94),
    chest_turn=(0, 16, 0),
)
HALTED_MOPED = replace(
    MOPED,
    left_foot=Foot((-0.05, 0.32, 0.085), yaw=14, knee=(1, 0.5, 0)),
    right_foot=Foot((-0.05, -0.32, 0.085), yaw=14, knee=(1, 0.5, 0)),
    pelvis=(-0.22, 0, 0.89),
)
HALTED_SCOOTER = replace(
    GLIDE,
    left_foot=Foot((-0.06, 0.21, 0.08), yaw=10),
    right_foot=Foot((0.04, -0.02, 0.24), yaw=0, knee=(1, 0.1, 0)),
    pelvis=(-0.08, 0.06, 0.94),
    pelvis_turn=(-2, 3, 0),
)
SEATED = Pose(
    Foot((0.5, 0.1, 0.21), yaw=4, knee=(1, 0.1, 1)),
    Foot((0.5, -0.1, 0.21), yaw=4, knee=(1, 0.1, 1)),
    Hand(
        (0.0, 0.37, 0.66), fingers=(0.5, -0.1, -0.8), palm=(0, -1, 0), curl=40, world=True, elbow=(-1, 0.5, 0)
    ),
    Hand(
        (0.0, -0.37, 0.66), fingers=(0.5, 0.1, -0.8), palm=(0, 1, 0), curl=40, world=True, elbow=(-1, 0.5, 0)
    ),
    pelvis=(-0.03, 0, 0.62),
    pelvis_turn=(0, -8, 0),
    chest_turn=(0, 10, 0),
    head_turn=(0, 4, 0),
)


def walking(phase: int | None, stride: float = STRIDE, **held: Any) -> Pose:
    """A quarter of the gait: 0 has the left foot forward, in 1 the right swings past it, 2 and 3 mirror them; None
    stands. `held` replaces what the upper body does."""
    pose = STAND if phase is None else _shortened(_mirrored((WALK, PASS), phase), stride / STRIDE)
    return replace(pose, **held)


def running(phase: int | None, stride: float = BOUND) -> Pose:
    """A quarter of a run, as `walking` counts them."""
    return STAND if phase is None else _shortened(_mirrored((RUN, SWING), phase), stride / BOUND)


def _mirrored(step: tuple[Pose, Pose], phase: int) -> Pose:
    return step[phase % 2].mirrored() if phase >= 2 else step[phase % 2]


def _shortened(pose: Pose, share: float) -> Pose:
    """The pose with its feet and hands at `share` of their reach, and the hips as high as that lets them."""

    def foot(f: Foot) -> Foot:
        x, y, z = f.ankle
        return replace(f, ankle=(x * share, y, 0.08 + (z - 0.08) * share), pitch=f.pitch * share)

    def hand(h: Hand) -> Hand:
        x, y, z = h.wrist
        return replace(h, wrist=(x * share, y, z - 0.03 * (1 - share)))

    x, y, z = pose.pelvis
    hips = 0.955 if z > 0.9 else z  # who runs stays low
    return replace(
        pose,
        left_foot=foot(pose.left_foot),
        right_foot=foot(pose.right_foot),
        left_hand=hand(pose.left_hand),
        right_hand=hand(pose.right_hand),
        pelvis=(x, y, z + (hips - z) * (1 - share**2)),
    )
