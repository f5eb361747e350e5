"""The faithfulness rubric put to a judge model: any model that judges hazards can also check traces."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from cfgen.errors import CfgenError, InputError, Shortfall
from cfgen.judge.checker import Done, Items
from cfgen.judge.limits import BudgetSpentError, with_retries
from cfgen.judge.models.base import Ask, ModelError, Reply, Turn
from cfgen.judge.panel import Panel
from cfgen.judge.payload import picture
from cfgen.judge.registry import create_judge
from cfgen.judge.rubrics.faithfulness import FAITHFULNESS, EdgeReply, TraceItem


class ModelChecker:
    """The first model of a judge, with that judge's limits, budget and cache.

    Raises:
        InputError: the judge has no model (offline).
    """

    def __init__(self, judge: str, options: dict[str, Any]) -> None:
        panel = create_judge(judge, **options)
        if not isinstance(panel, Panel):
            raise InputError(
                f"judge '{judge}' has no model to ask about traces; use gemini, openai, local or scripted"
            )
        self.name = panel.name
        self.rubric = FAITHFULNESS.id
        self._panel, self._model = panel, panel.models[0]

    def check(self, items: Items, done: Done) -> None:
        """See :class:`cfgen.judge.checker.Checker`.

        Raises:
            Shortfall: the budget is spent; answers so far were handed to ``done``.
            InputError: a key, a package or the model is missing or refused.
        """
        if items:
            asyncio.run(self._check(items, done))

    async def _check(self, items: Items, done: Done) -> None:
        queue: Iterator[tuple[str, Callable[[], TraceItem]]] = iter(items)
        checked = 0

        async def work() -> None:
            nonlocal checked
            for key, build in queue:
                try:
                    reply = await self._one(key, build)
                except BudgetSpentError:
                    return
                done(key, reply)
                checked += 1

        at_once = self._model.at_once or self._panel.limits.concurrency
        await self._model.open()
        try:
            await asyncio.gather(*(work() for _ in range(min(len(items), at_once))))
        finally:
            await self._model.close()
        if checked < len(items):
            raise Shortfall(
                f"judge '{self.name}': the budget is spent {self._panel.note} after {checked} of {len(items)} traces; "
                "run the same command again to go on"
            )

    async def _one(self, key: str, build: Callable[[], TraceItem]) -> EdgeReply:
        """Asked a second time when the first reply cannot be read."""
        try:
            ask = await asyncio.to_thread(lambda: self._ask(key, build()))
        except CfgenError as error:
            return EdgeReply(model=self._model.id, reason=f"could not be shown: {error}")
        first = await self._answer(ask)
        if first.edges or not first.raw:
            return first
        turns = (*ask.turns, Turn("model", (first.raw,)), Turn("user", (FAITHFULNESS.again(first.reason),)))
        second = await self._answer(Ask(ask.system, turns, ask.form, ask.schema, key))
        return second if second.edges else first

    def _ask(self, key: str, item: TraceItem) -> Ask:
        parts = tuple(p if isinstance(p, str) else picture(p) for p in FAITHFULNESS.prompt(item))
        return Ask(FAITHFULNESS.system(), (Turn("user", parts),), self._model.form, FAITHFULNESS.schema, key)

    async def _answer(self, ask: Ask) -> EdgeReply:
        panel, model = self._panel, self._model
        key = panel.replies.key(model.identity, ask, 0)
        reply = panel.replies.get(key)
        if reply is not None:
            return FAITHFULNESS.parse(reply.text, model.id)
        try:
            reply = await with_retries(lambda: model.ask(ask), panel.meter)
        except ModelError as error:
            if error.kind == "fatal":
                raise InputError(f"judge '{self.name}': {error}") from error
            return EdgeReply(model=model.id, reason=str(error))
        found = self._read(reply)
        if found.edges:
            panel.replies.put(key, reply)
        return found

    def _read(self, reply: Reply) -> EdgeReply:
        """A refusal or a cut reply is no answer, whatever it holds."""
        if reply.finish != "complete":
            return EdgeReply(model=self._model.id, reason=f"{reply.finish}: {reply.reason}", raw="")
        return FAITHFULNESS.parse(reply.text, self._model.id)
