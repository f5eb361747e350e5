"""Rubrics about traces put to a judge model: any model that judges hazards can also check traces."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.faults import fault_of
from cfgen.judge.checker import Done, Item, Items, broken
from cfgen.judge.panel import Panel
from cfgen.judge.payload import picture
from cfgen.judge.registry import create_judge
from cfgen.judge.rubrics.faithfulness import FAITHFULNESS
from cfgen.judge.rubrics.trace import TraceReply, TraceRubric
from cfgen.models.base import Ask, Form, ModelError, Picture
from cfgen.models.quote import cut_notes
from cfgen.models.registry import MODELS


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

    def check(self, items: Items, done: Done, strict: bool = False) -> None:
        """See :class:`cfgen.judge.checker.Checker`.

        Raises:
            Shortfall: the budget is spent; answers so far were handed to ``done``.
            CfgenError: a key, a package or the model is missing or refused.
        """

        async def work(item: Item) -> None:
            key, build = item
            shown = await self.asking.aside(build)
            found = await self._rubric.check_trace(self, key, shown)
            done(key, replace(found, notes=cut_notes(shown.words)))

        def broke(item: Item, error: Exception) -> None:
            done(item[0], broken(self._model.id, fault_of(error, f"trace {item[0]}")))

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
            reply = await self.asking.reply(self._model, ask, 0, fits)
        except ModelError as error:
            return "", TraceReply(self._model.id, reason=str(error), transient=error.transient)
        if reply.finish != "complete":
            return "", TraceReply(self._model.id, reason=f"{reply.finish}: {reply.reason}")
        return reply.text, TraceReply(self._model.id)
