"""What a judge sees and what it answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from cfgen.core.files import FrameFile, FrameLike
from cfgen.core.network import current
from cfgen.geometry.driving import CarState
from cfgen.perception.view import SceneView
from cfgen.records import Camera, JudgeRun, Plan, Polygon, Verdict

#: under which verdicts speak of the planner's words
ANSWER_NAMES = ("original answer", "modified answer")


@dataclass(frozen=True)
class PastFrame:
    """Both versions of a front frame, (H, W, 3) uint8 RGB, at ``t``, s before t0, and the camera then, which takes
    points of the ego frame at t0."""

    t: float
    original: np.ndarray
    modified: np.ndarray
    camera: Camera


@dataclass(frozen=True)
class JudgeItem:
    """The seven inputs of the hazard rubric for one arm of one case, with nothing that names the hazard.

    ``key`` is opaque and only routes the answer. ``original`` and ``modified`` are the two frames; images are
    (H, W, 3) uint8 RGB. ``bev``, ``speed`` and ``delta`` are drawn from the two plans by :mod:`cfgen.render`.
    ``camera`` is the front camera of both frames, ``start`` the car at t0, ``road`` what perception saw in the original
    frame, where that was kept, ``drivable`` where the scene says that cars may drive, polygons (P, 2) m in the ego frame
    at t0; ``past`` gives the front frames before t0 that the version changes, from which a judge that measures knows
    how the change moves. These and the plans serve judges that measure (offline) and are not shown to language models.
    """

    key: str
    original: FrameLike
    modified: FrameLike
    bev: np.ndarray
    speed: np.ndarray
    delta: str
    original_text: str
    modified_text: str
    original_plan: Plan
    modified_plan: Plan
    camera: Camera
    start: CarState | None = None
    road: SceneView | None = None
    drivable: tuple[Polygon, ...] | None = None
    past: Callable[[], Sequence[PastFrame]] = tuple

    @property
    def answers(self) -> dict[str, str]:
        """The planner's words by the names under which verdicts speak of them."""
        return dict(zip(ANSWER_NAMES, (self.original_text, self.modified_text), strict=True))

    @property
    def original_image(self) -> np.ndarray:
        return self.original.pixels if isinstance(self.original, FrameFile) else self.original

    @property
    def modified_image(self) -> np.ndarray:
        return self.modified.pixels if isinstance(self.modified, FrameFile) else self.modified


@dataclass(frozen=True)
class VerdictKey:
    """Where a verdict belongs; the judge copies it into the record and looks at nothing in it."""

    planner: str
    case_id: str
    arm: str
    repeat: int

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        return cls(verdict.planner, verdict.case_id, verdict.arm, verdict.repeat)

    @property
    def words(self) -> str:
        """For messages."""
        return f"verdict on {self.planner}, {self.arm} of case {self.case_id}, repeat {self.repeat}"


@dataclass(frozen=True)
class RubricId:
    """Which wording judged: ``hash`` covers every word and the answer's schema."""

    name: str
    version: str
    hash: str

    @classmethod
    def of(cls, run: JudgeRun) -> Self:
        return cls(run.rubric, run.rubric_version, run.rubric_hash)


class Judge(Protocol):
    """A judge gives every item one verdict; ``done`` is called as each one is ready.

    What it raises on one item is contained by :func:`cfgen.judge.containment.judge_each`.

    ``name`` is the folder of its verdicts. ``run_record`` says who judges with which wording and options, and
    never holds a key. ``note`` is a word on cost so far for the progress line, or "". It may have a method ``check()``,
    called before anything is asked, that raises a CfgenError when it cannot work: no key, a missing package.
    """

    name: str
    note: str

    def run_record(self) -> JudgeRun: ...

    def judge(
        self,
        items: Sequence[tuple[VerdictKey, Callable[[], JudgeItem]]],
        on_verdict: Callable[[Verdict], None],
    ) -> None: ...


def asked_now(judge: Judge) -> JudgeRun:
    """Its record, with what can be reached now and how that is held."""
    network = current().words("models elsewhere refused, and Python's sockets in this process")
    return judge.run_record().model_copy(update={"network": (network,)})
