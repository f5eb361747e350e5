"""Checkers of traces: whatever answers the faithfulness rubric."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cfgen.core.faults import contained
from cfgen.judge.protocol import RubricId
from cfgen.judge.rubrics.faithfulness import FAITHFULNESS
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

    ``strict`` lets what breaks through, with its traceback.
    """

    name: str
    rubric: RubricId

    def check(self, items: Items, done: Done, strict: bool = False) -> None: ...


class CriticChecker:
    """A local critic (Eq. 9): an edge is consistent where its probability reaches ``threshold``."""

    def __init__(self, path: str, name: str = "", threshold: float = 0.5, device: str = "cpu") -> None:
        self.name = name or f"critic-{Path(path).name}"
        self.rubric = FAITHFULNESS.id
        self._path, self._threshold, self._device = path, threshold, device

    def check(self, items: Items, done: Done, strict: bool = False) -> None:
        from cfgen.judge.critic import LocalCritic

        critic = LocalCritic.load(self._path, device=self._device)
        for key, build in items:
            found = contained(partial(self._one, critic, build), f"trace {key}", strict=strict)
            done(key, broken(self.name, found) if isinstance(found, Fault) else found)

    def _one(self, critic: "LocalCritic", build: Callable[[], TraceItem]) -> TraceReply:
        shown = build()
        found = critic.probabilities(shown)
        edges = {edge: p >= self._threshold for edge, p in found.items()}
        return TraceReply(model=self.name, edges=edges, probabilities=found, notes=cut_notes(shown.words))


def broken(model: str, fault: Fault) -> TraceReply:
    """The answer where ``fault`` came in the way of one."""
    return TraceReply(model=model, reason=f"fault: {fault}", fault=fault)
