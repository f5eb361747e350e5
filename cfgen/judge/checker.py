"""Checkers of traces: whatever answers the faithfulness rubric."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cfgen.core.faults import contained
from cfgen.judge.protocol import RubricId
from cfgen.judge.rubrics.faithfulness import FAITHFULNESS, FaithfulnessRubric
from cfgen.judge.rubrics.trace import TraceItem, TraceReply
from cfgen.models.quote import cut_notes
from cfgen.records import Fault

if TYPE_CHECKING:
    from cfgen.judge.critic import LocalCritic

#: An opaque key, and what builds the item when its turn comes.
Item = tuple[str, Callable[[], TraceItem]]
Items = Sequence[Item]
#: Takes the key and the answer.
Done = Callable[[str, TraceReply], None]


class Checker(Protocol):
    """Gives every item an answer, with a fault where it broke; ``name`` is the folder of its verdicts.

    ``model`` is what decides its verdicts: a model's id, or the hash of a critic's weights. ``strict`` lets what breaks
    through, with its traceback.
    """

    name: str
    rubric: RubricId

    @property
    def model(self) -> str: ...

    def check(self, items: Items, done: Done, strict: bool = False) -> None: ...


class CriticChecker:
    """A local critic (Eq. 9): an edge is consistent where its probability reaches ``threshold``."""

    def __init__(
        self,
        path: str,
        name: str = "",
        threshold: float = 0.5,
        device: str = "cpu",
        rubric: FaithfulnessRubric = FAITHFULNESS,
    ) -> None:
        own = f"critic-{Path(path).name}"
        self.name = name or (own if rubric.name == FAITHFULNESS.name else f"{own}-{rubric.name}")
        self.rubric = rubric.id
        self._questions = rubric.questions
        self._path, self._threshold, self._device = path, threshold, device

    @property
    def model(self) -> str:
        """What decides its verdicts: the weights."""
        from cfgen.judge.critic import fingerprint

        return fingerprint(self._path)

    def check(self, items: Items, done: Done, strict: bool = False) -> None:
        from cfgen.judge.critic import LocalCritic

        critic, model = LocalCritic.load(self._path, device=self._device), self.model
        for key, build in items:
            found = contained(partial(self._one, critic, model, build), f"trace {key}", strict=strict)
            done(key, broken(model, found) if isinstance(found, Fault) else found)

    def _one(self, critic: "LocalCritic", model: str, build: Callable[[], TraceItem]) -> TraceReply:
        shown = build()
        found = critic.probabilities(shown, self._questions)
        edges = {edge: p >= self._threshold for edge, p in found.items()}
        return TraceReply(model=model, edges=edges, probabilities=found, notes=cut_notes(shown.words))


def broken(model: str, fault: Fault) -> TraceReply:
    """The answer where ``fault`` came in the way of one."""
    return TraceReply(model=model, reason=f"fault: {fault}", fault=fault)
