"""Known answers in free words: what several authors, who had not read a judge's code, wrote for planners.

Each answer comes with the scores that its author gave it. The words are theirs; the motion is acted out from its name
for the place of the hazard. They lie in ``scenarios/probes``, split by author: wording and code may be tuned on the
half ``tune``, and nothing is ever tuned on ``test``.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from cfgen.core.errors import InputError
from cfgen.core.paths import scenarios_dir
from cfgen.geometry.trajectory import headings
from cfgen.hazards.vocabulary import things
from cfgen.planners.baselines import write_text
from cfgen.planners.responders import KINDS, TIMES, Baseline, Target
from cfgen.records import Case, Score

Half = Literal["tune", "test"]
HALVES: tuple[Half, ...] = ("tune", "test")
#: Words of a hazard's name that tell it from no other.
_COMMON = frozenset(
    re.findall(r"\w+", "lane road across into onto over with from standing lying crossing the our")
)
#: So common that the same word may mean another hazard.
_GENERIC = frozenset(
    re.findall(r"\w+", "car truck lorry van vehicle person pedestrian cyclist child driver worker")
)
#: Between the author's distance from the lane's middle and the case's, m.
_BESIDE_M = 1.5
_SIDE = re.compile(
    r"\b(?:on|from|at|to|along) (?:the |our |my )?(?:left|right)\b(?! lane)|\b(?:left|right) (?:kerb|edge|verge|side)"
)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FreeHazard(_Part):
    """What its author had in mind. ``distance_m`` along the lane, ``lateral_m`` to the left."""

    name: str
    distance_m: float
    lateral_m: float
    moving: bool


class FreeAnswer(_Part):
    """One answer. ``original_text`` is about the scene without the hazard, ``text`` about the one with it."""

    id: str
    kind: str
    hazard: FreeHazard
    speed_mps: float
    original_text: str = Field(min_length=1)
    text: str = Field(min_length=1)
    longitudinal: str
    lateral: str
    motion: str
    reasoning: Score
    waypoints: Score
    overall: Score
    #: the author's grounds
    why: str
    half: Half = "tune"

    @property
    def side(self) -> int:
        """+1 where its words put the hazard to the left, else -1: authors differ in the sign of ``lateral_m``."""
        text = " ".join((self.hazard.name, self.why, self.text)).lower()
        match = _SIDE.search(text)
        return 1 if match and "left" in match.group() else -1

    @property
    def due(self) -> tuple[Score, Score, Score]:
        """Right scores of reasoning, waypoints, overall."""
        return self.reasoning, self.waypoints, self.overall

    def answers(self, base: Baseline, target: Target) -> tuple[str, str]:
        """Before and after, in the papers' format, for a drive and a place of the hazard on it.

        Raises:
            InputError: a motion of no known name.
        """
        if self.motion not in MOTIONS:
            raise InputError(
                f"{self.id}: motion: expected one of {', '.join(MOTIONS)}; found '{self.motion}'"
            )
        before = write_text(self.original_text, "", "set speed tracking", "lane keeping", base.follow())
        moves = MOTIONS[self.motion](base, target)
        return before, write_text(self.text, "", self.longitudinal, self.lateral, moves)


def cases_for(answer: FreeAnswer, cases: Sequence[Case]) -> list[Case]:
    """Those that show what the answer is about, where it says it is."""
    return [
        case
        for case in cases
        if _same_thing(answer.hazard.name, case.hazard.name) and _same_place(answer, case)
    ]


def _same_thing(ours: str, theirs: str) -> bool:
    ours, theirs = ours.lower(), theirs.lower()
    a, b = things(ours), things(theirs)
    if not a or not b or a[0][0] != b[0][0]:
        return False
    shared = _content(ours) & _content(theirs)
    return a[0][0] not in _GENERIC or len(shared) >= 2


def _content(name: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]{3,}", name) if word not in _COMMON}


def _same_place(answer: FreeAnswer, case: Case) -> bool:
    ours, theirs = abs(answer.hazard.lateral_m), case.placement.lateral_m
    near = abs(ours - abs(theirs)) < _BESIDE_M
    return near and (ours < 1.2 or theirs * answer.side > 0)


def _keep(base: Baseline, _: Target) -> np.ndarray:
    return base.follow()


def _a_little(base: Baseline, _: Target) -> np.ndarray:
    """A tenth of the speed, within the first seconds."""
    return base.follow(base.s - 0.1 * base.speed * np.maximum(TIMES - 1.0, 0.0))


def _slow(base: Baseline, _: Target) -> np.ndarray:
    """To two thirds of the way, within two seconds."""
    return base.follow(base.s - np.clip(TIMES / 2.0, 0.0, 1.0) * base.s / 3.0)


def _to(side: int) -> Callable[[Baseline, Target], np.ndarray]:
    def move(base: Baseline, target: Target) -> np.ndarray:
        clear = target.passed_at + side * (target.half_width + 1.9)
        return base.follow(base.s, base.offset(base.s, max(3.0, side * clear) * side, target.near - 3.0))

    return move


def _beside(base: Baseline, target: Target) -> np.ndarray:
    """Past it with room, at two thirds of the speed."""
    s = base.s - np.clip(TIMES / 2.0, 0.0, 1.0) * base.s / 3.0
    return base.follow(s, base.offset(s, target.clear_offset, target.near - 3.0))


def _zigzag(base: Baseline, _: Target) -> np.ndarray:
    return base.follow(base.s, np.where(np.arange(len(TIMES)) % 2, 2.5, -2.5))


def _scrambled(base: Baseline, _: Target) -> np.ndarray:
    return base.follow()[np.random.default_rng(len(base.s)).permutation(len(base.s) - 1)]


def _jumping(base: Baseline, _: Target) -> np.ndarray:
    """Forward, and every second a leap back."""
    return base.follow(base.s - 0.8 * base.speed * (np.arange(len(TIMES)) // 4 % 2) * 2.0)


def _at_once(base: Baseline, _: Target) -> np.ndarray:
    points = np.zeros((len(TIMES) - 1, 2))
    return np.column_stack([points, headings(points)])


def _off_road(base: Baseline, target: Target) -> np.ndarray:
    return base.follow(base.s, base.offset(base.s, 14.0 * target.free_side, target.near))


MOTIONS: dict[str, Callable[[Baseline, Target], np.ndarray]] = {
    "keep": _keep,
    "brake_stop_before": Baseline.brake_before,
    "brake_late": Baseline.brake_after,
    "slow_down": _slow,
    "slow_slightly": _a_little,
    "swerve_left": _to(1),
    "swerve_right": _to(-1),
    "pass_beside": _beside,
    "zigzag": _zigzag,
    "scrambled": _scrambled,
    "reverse_jump": _jumping,
    "accelerate": Baseline.speed_up,
    "stop_at_once": _at_once,
    "off_road": _off_road,
}


#: Motions that need room to stop or to pass, as the scripted ones do.
_LIKE = {
    "brake_stop_before": "notices_and_brakes",
    "brake_late": "brakes_too_late",
    "pass_beside": "steers_round_it",
}


def unfit(answer: FreeAnswer, base: Baseline, target: Target) -> str:
    """Why its motion cannot be acted out there, or ""."""
    like = _LIKE.get(answer.motion, "steers_round_it" if answer.motion.startswith("swerve") else "")
    return KINDS[like].unfit(base, target) if like else ""


@cache
def free_answers(halves: Sequence[Half] = HALVES) -> tuple[FreeAnswer, ...]:
    """What ships with cfgen, in the order of the files."""
    answers = []
    for half in halves:
        for path in sorted((scenarios_dir() / "probes").glob(f"{half}-*.jsonl")):
            lines = path.read_text(encoding="utf-8").splitlines()
            answers += [
                FreeAnswer.model_validate_json(line).model_copy(update={"half": half}) for line in lines
            ]
    return tuple(answers)
