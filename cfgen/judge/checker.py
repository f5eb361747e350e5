"""Checkers of traces: whatever answers the faithfulness rubric."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cfgen.errors import CfgenError
from cfgen.judge.protocol import RubricId
from cfgen.judge.rubrics.faithfulness import FAITHFULNESS, TraceItem, TraceReply

if TYPE_CHECKING:
    from cfgen.judge.critic import LocalCritic

#: An opaque key, and what builds the item when its turn comes.
Items = Sequence[tuple[str, Callable[[], TraceItem]]]
#: Takes the key and the answer.
Done = Callable[[str, TraceReply], None]


class Checker(Protocol):
    """Gives every item an answer, whatever happens; ``name`` is the folder of its verdicts."""

    name: str
    rubric: RubricId

    def check(self, items: Items, done: Done) -> None: ...


class CriticChecker:
    """A local critic (Eq. 9): an edge is consistent where its probability reaches ``threshold``."""

    def __init__(self, path: str, name: str = "", threshold: float = 0.5, device: str = "cpu") -> None:
        self.name = name or f"critic-{Path(path).name}"
        self.rubric = FAITHFULNESS.id
        self._path, self._threshold, self._device = path, threshold, device

    def check(self, items: Items, done: Done) -> None:
        from cfgen.judge.critic import LocalCritic

        critic = LocalCritic.load(self._path, device=self._device)
        for key, build in items:
            done(key, self._one(critic, build))

    def _one(self, critic: "LocalCritic", build: Callable[[], TraceItem]) -> TraceReply:
        try:
            found = critic.probabilities(build())
        except (CfgenError, RuntimeError, ValueError) as error:
            return TraceReply(model=self.name, reason=f"{type(error).__name__}: {error}")
        edges = {edge: p >= self._threshold for edge, p in found.items()}
        return TraceReply(model=self.name, edges=edges, probabilities=found)
