"""Base classes, vocabularies and field types of every record."""

import math
from typing import Annotated, Literal

from pydantic import Field

#: The papers' plan: 24 waypoints, 0.25 s apart, 6 s.
PLAN_STEPS = 24
PLAN_DT = 0.25
#: The shortest plan that is scored, on its own horizon: 2 s.
PLAN_LEAST_STEPS = 8

Dimension = Literal["reasoning", "waypoints", "overall"]
#: Typed, so that a loop over it may index a dict of Dimension.
DIMENSIONS: tuple[Dimension, ...] = ("reasoning", "waypoints", "overall")

LONGITUDINAL = (
    "stop",
    "yield",
    "follow lead vehicle",
    "gap search",
    "pass",
    "speed adapt",
    "set speed tracking",
)
LATERAL = (
    "turn left",
    "turn right",
    "lane change left",
    "lane change right",
    "merge",
    "out-of-lane nudge left",
    "out-of-lane nudge right",
    "in-lane nudge left",
    "in-lane nudge right",
    "pull over",
    "lane keeping",
)

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@-]{0,119}$")]
#: "original", "hazard", "rerun", "null", "nuisance", or a hazard at another distance, e.g. "hazard_d0.7".
Arm = Annotated[str, Field(pattern=r"^(original|hazard|rerun|null|nuisance|hazard_d\d+\.\d+)$")]
#: What is judged: a pair of an arm's frame and answer with the original's, or a sham pair, e.g. "sham_null".
JudgedPair = Annotated[
    str, Field(pattern=r"^(original|hazard|rerun|null|nuisance|hazard_d\d+\.\d+|sham_(rerun|null|nuisance))$")
]
CONTROLS = ("rerun", "null", "nuisance")
_SHAM = "sham_"
Zone = Literal["ego_lane", "crossing", "oncoming", "adjacent", "shoulder"]
Score = Literal[0, 1, 2]
Count = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Point2 = tuple[float, float]
Point3 = tuple[float, float, float]


def judged_as(arm: str) -> str:
    """The pair in which an arm's answer is judged: a control's as if it were the answer to the hazard."""
    return f"{_SHAM}{arm}" if arm in CONTROLS else arm


def answer_in(pair: str) -> str:
    """The arm whose answer a pair holds."""
    return pair.removeprefix(_SHAM)


def frame_in(pair: str) -> str:
    """The arm whose frame a pair shows beside the original's: the hazard's in every sham pair."""
    return "hazard" if pair.startswith(_SHAM) else pair


def wrap_angle(theta: float) -> float:
    """Radians into (-pi, pi]."""
    return math.pi - (math.pi - theta) % (2 * math.pi)
