"""Rubrics about traces put to a judge model: any model that judges hazards can also check traces."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from cfgen.errors import CfgenError, InputError, Shortfall
from cfgen.judge.checker import Done, Items
from cfgen.judge.panel import Panel
from cfgen.judge.payload import picture
from cfgen.judge.protocol import RubricId
from cfgen.judge.registry import create_judge
from cfgen.judge.rubrics.faithfulness import FAITHFULNESS, TraceItem, TraceReply
from cfgen.models.base import Ask, ModelError, Turn
from cfgen.models.limits import BudgetSpentError, with_retries


class ModelChecker:
    """The faithfulness rubric put to the first model of a judge, with that judge's limits, budget and cache.

    Raises:
        InputError: the judge has no model (offline).
    """

    rubric: RubricId = FAITHFULNESS.id

    def __init__(self, judge: str, options: dict[str, Any]) -> None:
        panel = create_judge(judge, **options)
        if not isinstance(panel, Panel):
            raise InputError(
                f"judge '{judge}' has no model to ask about traces; use gemini, openai, local or scripted"
            )
        self.name = panel.name
        self.panel, self.model = panel, panel.models[0]

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

        at_once = self.model.at_once or self.panel.limits.concurrency
        await self.model.open()
        try:
            await asyncio.gather(*(work() for _ in range(min(len(items), at_once))))
        finally:
            await self.model.close()
        if checked < len(items):
            raise Shortfall(
                f"judge '{self.name}': the budget is spent {self.panel.note} after {checked} of {len(items)} traces; "
                "run the same command again to go on"
            )

    async def _one(self, key: str, build: Callable[[], TraceItem]) -> TraceReply:
        try:
            item = await asyncio.to_thread(build)
        except CfgenError as error:
            return TraceReply(model=self.model.id, reason=f"could not be shown: {error}")
        return await self.reply(key, item)

    async def reply(self, key: str, item: TraceItem) -> TraceReply:
        """All five edges at once; asked a second time when the first reply cannot be read."""
        parts = tuple(p if isinstance(p, str) else picture(p) for p in FAITHFULNESS.prompt(item))
        asked = Turn("user", parts)
        first = await self._edges(key, (asked,))
        if first.usable or not first.raw:
            return first
        again = Turn("user", (FAITHFULNESS.again(first.reason),))
        second = await self._edges(key, (asked, Turn("model", (first.raw,)), again))
        return second if second.usable else first

    async def _edges(self, key: str, turns: tuple[Turn, ...]) -> TraceReply:
        def read(text: str) -> TraceReply:
            return FAITHFULNESS.parse(text, self.model.id)

        ask = Ask(FAITHFULNESS.system(), turns, self.model.form, FAITHFULNESS.schema, key)
        text, reason = await self.answer(ask, lambda text: read(text).usable)
        return read(text) if text else TraceReply(self.model.id, reason=reason)

    async def answer(self, ask: Ask, fits: Callable[[str], bool]) -> tuple[str, str]:
        """The text of the reply, or "" and why there is none.

        A refused or cut reply is none, whatever it holds. Only what ``fits`` is kept for another time.
        """
        panel, model = self.panel, self.model
        key = panel.replies.key(model.identity, ask, 0)
        reply = panel.replies.get(key)
        if reply is not None:
            return reply.text, ""
        try:
            reply = await with_retries(lambda: model.ask(ask), panel.meter)
        except ModelError as error:
            if error.kind == "fatal":
                raise InputError(f"judge '{self.name}': {error}") from error
            return "", str(error)
        if reply.finish != "complete":
            return "", f"{reply.finish}: {reply.reason}"
        if fits(reply.text):
            panel.replies.put(key, reply)
        return reply.text, "" if reply.text else "an empty reply"
