"""Checkers of traces: whatever answers the faithfulness rubric."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.faults import contained, fault_of
from cfgen.judge.asking import picture
from cfgen.judge.panel import Panel
from cfgen.judge.protocol import RubricId
from cfgen.judge.registry import create_judge
from cfgen.judge.rubrics.faithfulness import FAITHFULNESS, FaithfulnessRubric
from cfgen.judge.rubrics.trace import TraceItem, TraceReply, TraceRubric
from cfgen.models.base import Ask, Form, ModelError, Picture
from cfgen.models.registry import MODELS
from cfgen.models.untrusted_text import cut_notes
from cfgen.records import Fault

if TYPE_CHECKING:
    from cfgen.traces.critic import LocalCritic

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

    def check(self, items: Items, on_reply: Done, strict: bool = False) -> None: ...


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
        from cfgen.traces.critic import fingerprint

        return fingerprint(self._path)

    def check(self, items: Items, on_reply: Done, strict: bool = False) -> None:
        from cfgen.traces.critic import LocalCritic

        critic, model = LocalCritic.load(self._path, device=self._device), self.model
        for key, build in items:
            reply = contained(partial(self._ask_critic, critic, model, build), f"trace {key}", strict=strict)
            on_reply(key, broken(model, reply) if isinstance(reply, Fault) else reply)

    def _ask_critic(self, critic: "LocalCritic", model: str, build: Callable[[], TraceItem]) -> TraceReply:
        item = build()
        probabilities = critic.probabilities(item, self._questions)
        edges = {edge: p >= self._threshold for edge, p in probabilities.items()}
        return TraceReply(model=model, edges=edges, probabilities=probabilities, notes=cut_notes(item.words))


def broken(model: str, fault: Fault) -> TraceReply:
    """The answer where ``fault`` came in the way of one."""
    return TraceReply(model=model, reason=f"fault: {fault}", fault=fault)


# --- edges -------------------------------------------------------------------------------------
# Rubrics about traces put to a judge model: any model that judges hazards can also check traces.


class ModelChecker:
    """A rubric about traces put to the first model of a judge, with that judge's limits, budget and cache.

    Raises:
        InputError: the judge has no model (offline).
    """

    def __init__(
        self,
        judge: str,
        options: dict[str, Any],
        cache_dir: Path | None = None,
        rubric: TraceRubric = FAITHFULNESS,
    ) -> None:
        panel = create_judge(judge, cache_dir, **options)
        if not isinstance(panel, Panel):
            raise InputError(
                f"judge '{judge}' has no model to ask about traces; use one of: {', '.join(MODELS.names())}"
            )
        name = rubric.id.name
        self.name = panel.name if name == FAITHFULNESS.name else f"{panel.name}-{name}"
        self.rubric = rubric.id
        self.asking, self._model = panel.asking, panel.models[0]
        self._rubric = rubric

    @property
    def id(self) -> str:
        return self._model.id

    @property
    def model(self) -> str:
        return self._model.id

    @property
    def form(self) -> Form:
        return self._model.form

    def check(self, items: Items, on_reply: Done, strict: bool = False) -> None:
        """See :class:`cfgen.traces.checker.Checker`.

        Raises:
            Shortfall: the budget is spent; answers so far were handed to ``done``.
            CfgenError: a key, a package or the model is missing or refused.
        """

        async def work(item: Item) -> None:
            key, build = item
            trace = await self.asking.aside(build)
            reply = await self._rubric.check_trace(self, key, trace)
            on_reply(key, replace(reply, notes=cut_notes(trace.words)))

        def broke(item: Item, error: Exception) -> None:
            on_reply(item[0], broken(self._model.id, fault_of(error, f"trace {item[0]}")))

        self.asking.strict = strict
        self.asking.run([self._model], items, work, broke, "traces")

    async def shown(self, parts: Sequence[str | np.ndarray]) -> tuple[str | Picture, ...]:
        """Words as they are, images (H, W, 3) uint8 RGB encoded."""
        return await self.asking.aside(lambda: tuple(p if isinstance(p, str) else picture(p) for p in parts))

    async def answer(self, ask: Ask, fits: Callable[[str], bool]) -> tuple[str, TraceReply]:
        """The text of the reply, or "" and an answer that says why there is none.

        A refused or cut reply is none, whatever it holds.
        """
        try:
            reply = await self.asking.client.reply(self._model, ask, 0, fits)
        except ModelError as error:
            return "", TraceReply(self._model.id, reason=str(error), transient=error.transient)
        if reply.finish != "complete":
            return "", TraceReply(self._model.id, reason=f"{reply.finish}: {reply.reason}")
        return reply.text, TraceReply(self._model.id)
