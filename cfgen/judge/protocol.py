"""What a judge sees and what it answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cfgen.records import Camera, JudgeRun, Plan, Verdict


@dataclass(frozen=True)
class JudgeItem:
    """The seven inputs of the hazard rubric for one arm of one case, with nothing that names the hazard.

    ``key`` is opaque and only routes the answer. Images are (H, W, 3) uint8 RGB. ``bev``, ``speed`` and
    ``delta`` are drawn from the two plans by :mod:`cfgen.render`. ``camera`` is the front camera of both
    frames; it and the plans serve judges that measure (offline) and are not shown to language models.
    """

    key: str
    original_image: np.ndarray
    modified_image: np.ndarray
    bev: np.ndarray
    speed: np.ndarray
    delta: str
    original_text: str
    modified_text: str
    original_plan: Plan
    modified_plan: Plan
    camera: Camera


@dataclass(frozen=True)
class VerdictKey:
    """Where a verdict belongs; the judge copies it into the record and looks at nothing in it."""

    planner: str
    case_id: str
    arm: str
    repeat: int


@dataclass(frozen=True)
class RubricId:
    """Which wording judged: ``hash`` covers every word and the answer's schema."""

    name: str
    version: str
    hash: str


class Judge(Protocol):
    """A judge gives every item one verdict, whatever happens; ``done`` is called as each one is ready.

    ``name`` is the folder of its verdicts. ``run_record`` says who judges with which wording and options, and
    never holds a key. ``note`` is a word on cost so far for the progress line, or "". ``blind_to`` names kinds of
    known answers that it cannot tell, and why.
    """

    name: str
    note: str
    blind_to: Mapping[str, str]

    def run_record(self) -> JudgeRun: ...

    def judge(
        self,
        items: Sequence[tuple[VerdictKey, Callable[[], JudgeItem]]],
        done: Callable[[Verdict], None],
    ) -> None: ...
