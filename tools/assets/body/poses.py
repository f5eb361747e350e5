"""How people hold themselves. Feet and hands in metres for a 1.75 m adult; turns in degrees."""

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
    Foot((0.3, 0.07, 0.33), pitch=-8),
    Foot((-0.5, -0.07, 0.36), pitch=70),
    Hand((-0.24, 0.1, -0.3), curl=60, fingers=(0.5, 0, -0.5)),
    Hand((0.24, 0.04, -0.22), curl=60, fingers=(0.4, 0, 0.7)),
    pelvis=(0, 0, 0.95),
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
