"""Asking a paid service from one event loop: cache, rate, retries, budget and ledger around every call."""

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cfgen.inpaint.gemini_image.cache import Answers
from cfgen.models.base import Ask, Model, ModelError, Reply
from cfgen.models.ledger import Ledger
from cfgen.models.limits import Limits, Meter, with_retries

Calls = list[dict[str, Any]]
#: s between lines on a batch job that is waited for
_SAY_S = 30.0


@dataclass(frozen=True)
class Service:
    """One model, what it is asked for, and the prices of its tokens and pictures."""

    model: Model
    what: str
    prices: Limits


class Till:
    """What all calls of an inpainter share, over all its batches: what was spent here before counts as well."""

    def __init__(self, limits: Limits) -> None:
        folder = Path(limits.cache) if limits.cache else None
        self.limits, self.answers, self.ledger = limits, Answers(folder), Ledger(folder)
        self.meter = Meter(limits)
        self.pictures = 0
        before = self.ledger.total()
        if before is not None:
            self.pictures = before.images
            self.meter.requests = before.requests
            self.meter.tokens_in, self.meter.tokens_out = before.tokens_in, before.tokens_out
            self.meter.usd = self.ledger.usd(limits)


class Asker:
    """One batch's way to the service. Models are opened at the first call that is not in the cache."""

    def __init__(self, till: Till) -> None:
        self.till = till
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._opened: list[Model] = []
        self._opening = asyncio.Lock()
        self._scouting = asyncio.Lock()

    async def __aenter__(self) -> "Asker":
        return self

    async def __aexit__(self, *_: object) -> None:
        for model in self._opened:
            await model.close()

    async def ask(self, service: Service, ask: Ask, seed: int, calls: Calls, **note: Any) -> Reply:
        """A kept answer, or a new one. ``calls`` gets a line for every call, with ``note`` in it.

        Raises:
            ModelError: no answer. BudgetSpentError: no budget for one.
        """
        key = Answers.key(service.model.identity, ask, seed)
        kept = self.till.answers.get(key)
        if kept is not None:
            calls[:] = kept.calls
            return kept.reply
        await self._open(service.model)
        reply = await self._paid(lambda: self._call(service, ask, calls, note))
        calls.append({"for": service.what, **note, **_told(reply)})
        good = reply.finish == "complete"
        if good:
            self.till.answers.put(key, reply, calls)
        self.till.pictures += len(reply.pictures)
        self.till.ledger.add(service.model.id, service.what, good, reply.usage)
        return reply

    def kept(self, service: Service, ask: Ask, seed: int) -> bool:
        return self.till.answers.has(Answers.key(service.model.identity, ask, seed))

    async def _open(self, model: Model) -> None:
        async with self._opening:
            if model not in self._opened:
                await model.open()
                self._opened.append(model)

    async def _paid(self, call: Callable[[], Any]) -> Reply:
        limits, meter = self.till.limits, self.till.meter
        if limits.max_usd and not limits.usd_image and not meter.usd:
            async with self._scouting:  # one at a time until an answer has shown what one costs
                if not meter.usd:
                    return await with_retries(call, meter)
        return await with_retries(call, meter)

    async def _call(self, service: Service, ask: Ask, calls: Calls, note: Mapping[str, Any]) -> Reply:
        model = service.model
        slot = self._slots.setdefault(
            model.id, asyncio.Semaphore(model.at_once or self.till.limits.concurrency)
        )
        try:
            async with slot:
                reply = await model.ask(ask)
        except ModelError as error:
            calls.append(
                {"for": service.what, **note, "outcome": f"failed: {error.kind}", "reason": str(error)}
            )
            raise
        usage = dict(reply.usage)
        if usd := service.prices.cost(usage):
            usage["usd"] = round(usd, 6)
        return replace(reply, usage=usage)


def _told(reply: Reply) -> dict[str, Any]:
    """A reply in the report: how it ended, its words if it had any, what it cost."""
    outcome = "answered" if reply.finish == "complete" else reply.finish
    told: dict[str, Any] = {"outcome": outcome, "usage": dict(reply.usage)}
    if reply.reason:
        told["reason"] = reply.reason
    if reply.text:
        told["words"] = reply.text[:300]
    return told


def sayer(quiet: bool) -> Callable[[str], None] | None:
    """Prints a line now and then on stderr; None when quiet."""
    shown = -_SAY_S

    def say(text: str) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown >= _SAY_S:
            shown = now
            print(text, file=sys.stderr, flush=True)

    return None if quiet else say
