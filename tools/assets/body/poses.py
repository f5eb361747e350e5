"""How people hold themselves. Feet and hands in metres for a 1.75 m adult; turns in degrees."""

from dataclasses import replace

from body.skeleton import Foot, Hand, Pose

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
    Foot((0.3, 0.07, 0.3), pitch=-6),
    Foot((-0.46, -0.07, 0.165), pitch=56),
    Hand((-0.24, 0.1, -0.3), curl=60, fingers=(0.5, 0, -0.5)),
    Hand((0.24, 0.04, -0.22), curl=60, fingers=(0.4, 0, 0.7)),
    pelvis=(0, 0, 0.885),
    pelvis_turn=(0, 12, -10),
    chest_turn=(0, 15, 10),
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
LYING = Pose(
    Foot((-0.62, -0.16, 0.09), pitch=55, yaw=10, knee=(0.3, 0.6, 0.3), roll=60),
    Foot((-0.78, 0.2, 0.06), pitch=70, knee=(0.2, -0.6, 0.0), roll=60),
    Hand((0.62, 0.42, 0.05), world=True, elbow=(0.2, 1, 0)),
    Hand((0.3, 0.42, 0.06), world=True, elbow=(-0.6, 0.6, 0.4)),
    pelvis=(0, 0, 0.165),
    pelvis_turn=(75, 84, 0),
    chest_turn=(55, 84, 12),
    head_turn=(40, 78, 10),
)
SITTING = Pose(
    Foot((0.62, 0.16, 0.09), pitch=-28, yaw=12, knee=(0.3, 0.1, 1)),
    Foot((0.42, -0.14, 0.08), knee=(0.4, 0.0, 1)),
    Hand((-0.32, 0.3, 0.06), world=True, fingers=(-0.6, 0.6, -0.1), palm=(0, 0, -1), curl=8),
    Hand((0.3, -0.16, 0.44), world=True, fingers=(0.8, 0.2, -0.4), palm=(0, 0, -1)),
    pelvis=(0, 0, 0.12),
    pelvis_turn=(0, -24, 0),
    chest_turn=(-4, 2, 8),
    head_turn=(0, 16, -14),
)

STOOP = replace(
    PASS, pelvis_turn=(0, 6, 0), chest_turn=(0, 17, 0), head_turn=(0, 6, 0), pelvis=(-0.02, 0, 0.945)
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
        (0.12, 0.4, 0.2), fingers=(0.3, 0.3, 1), palm=(1, -0.2, 0), curl=14, elbow=(-0.2, 0.6, -1)
    ),
)
CALL = replace(
    PASS,
    right_hand=Hand(
        (0.24, 0.12, -0.18), fingers=(0.7, 0.5, 0.4), palm=(-0.4, 0.6, 0.8), curl=45, elbow=(-0.2, 0.5, -1)
    ),
    head_turn=(0, 32, 3),
)
PUSH = replace(
    WALK,
    left_hand=Hand(
        (0.36, 0.05, -0.3), fingers=(0.9, -0.3, -0.3), palm=(-0.3, 0, -1), curl=62, elbow=(-1, 0.5, -0.4)
    ),
    right_hand=Hand(
        (0.4, -0.05, -0.3), fingers=(0.9, 0.3, -0.3), palm=(-0.3, 0, -1), curl=62, elbow=(-1, 0.5, -0.4)
    ),
    chest_turn=(0, 9, 0),
)
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
FALLEN = Pose(
    Foot((-0.8, 0.17, 0.07), pitch=-62, knee=(0, 0.5, 1), roll=-20),
    Foot((-0.5, -0.3, 0.09), pitch=-40, knee=(0.3, -0.6, 0.9), roll=30),
    Hand((0.28, 0.62, 0.05), world=True, fingers=(0.5, 0.8, 0), palm=(0, 0, 1), curl=30, elbow=(0, 1, -0.2)),
    Hand(
        (0.12, -0.12, 0.24),
        world=True,
        fingers=(-0.4, 0.9, -0.1),
        palm=(0, 0, -1),
        curl=20,
        elbow=(0.2, -1, 0.2),
    ),
    pelvis=(0, 0, 0.125),
    pelvis_turn=(8, -88, 180),
    chest_turn=(-6, -86, 180),
    head_turn=(0, -80, 150),
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
KICK = Pose(
    Foot((0.0, 0.27, 0.215), yaw=6, knee=(1, 0.4, 0)),
    Foot((0.0, -0.25, 0.215), yaw=10, knee=(1, 0.4, 0)),
    Hand((0.12, 0.4, -0.24), fingers=(0.3, 1, 0.1), elbow=(-0.6, 0.2, -1)),
    Hand((0.16, -0.36, -0.3), fingers=(0.4, -1, -0.1), elbow=(-0.6, 0.2, -1)),
    pelvis=(-0.1, 0, 0.94),
    pelvis_turn=(0, 14, -20),
    chest_turn=(0, 24, -32),
    head_turn=(0, 6, -72),
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
