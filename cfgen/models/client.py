"""The one way to call a model: cache, rate, retries, budget, ledger and network limits around every call."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cfgen.core.errors import SetupError
from cfgen.core.network import current
from cfgen.models.base import Ask, Model, ModelError, Reply
from cfgen.models.batcher import Batcher
from cfgen.models.cache import Calls, Replies
from cfgen.models.ledger import Ledger
from cfgen.models.limits import BudgetSpentError, Limits, Meter, with_retries


class Client:
    """Asks models on behalf of one judge, planner, verifier or inpainter.

    What was spent before, as the ledger in ``limits.cache`` tells, counts towards the budget; what comes from the
    cache there costs nothing. Models are opened at the first call that is not in the cache, unless :meth:`open` did.
    One event loop at a time uses it, as ``async with client:``.

    Args:
        owner: whose client this is, for messages: "judge 'gemini'".
        account: whose lines in the ledger count towards the budget; "" takes all.
        raised_by: the options that raise the budget, for messages.
    """

    def __init__(
        self, owner: str, limits: Limits, account: str = "", raised_by: str = "max_usd or max_requests"
    ) -> None:
        self.owner, self.account, self._raised_by = owner, account, raised_by
        # a batch job is one request to the service, however many questions it holds
        self.limits = replace(limits, rpm=0.0, tpm=0.0) if limits.batch else limits
        folder = Path(limits.cache) if limits.cache else None
        self.replies, self.ledger = Replies(folder), Ledger(folder, account)
        self.meter = Meter(self.limits, owner)
        self.meter.owed = self._owed
        self.pictures = 0
        #: hashes of the questions that somebody waits for
        self._wanted: Counter[str] = Counter()
        if before := self.ledger.total():
            self.pictures = before.images
            self.meter.resume(before, self.ledger.usd(limits))
        self._slots: dict[int, asyncio.Semaphore] = {}
        self._opened: list[Model] = []
        self._opening: dict[int, asyncio.Future[None]] = {}

    async def __aenter__(self) -> "Client":
        self._slots, self._opened, self._opening = {}, [], {}
        return self

    async def __aexit__(self, *_: object) -> None:
        opened, self._opened = self._opened, []
        for model in opened:
            await model.close()

    def check(self, models: Sequence[Model]) -> None:
        """Whether the models could be asked, without a call and without loading weights.

        Raises:
            SetupError: a key, a package or the model is missing, or its host may not be reached.
        """
        for model in models:
            current().require(getattr(model, "host", None), self.owner)
            if check := getattr(model, "check", None):  # third parties need not have one
                check()

    async def open(self, model: Model) -> None:
        """Connect or load, once; all who wait for it go on together.

        Raises:
            SetupError: as :meth:`check`, or the model cannot be loaded.
        """
        if any(model is one for one in self._opened):
            return
        opening = self._opening.get(id(model))
        if opening is None:
            opening = self._opening[id(model)] = asyncio.ensure_future(self._open(model))
        await opening

    async def _open(self, model: Model) -> None:
        try:
            self.check([model])
            await model.open()
            self._opened.append(model)
        finally:
            del self._opening[id(model)]

    def kept(self, model: Model, ask: Ask, vote: int) -> bool:
        """Whether the answer is in the cache."""
        return self.replies.has(Replies.key(model.identity, ask, vote))

    async def reply(
        self,
        model: Model,
        ask: Ask,
        vote: int = 0,
        fits: Callable[[str], bool] = lambda _: True,
        calls: Calls | None = None,
        prices: Limits | None = None,
        note: Mapping[str, Any] | None = None,
    ) -> Reply:
        """From the cache or the model. Only a complete reply that ``fits`` is kept for another time.

        Args:
            vote: which of several answers to the same question, or the seed. fits: whether the text can be used.
            calls: gets a line for every call. prices: other ones than the limits'. note: is in each of these lines;
                its "for" goes into the ledger instead of the account.

        Raises:
            ModelError: there is none. SetupError: nor will there be one. BudgetSpentError: no budget to ask.
        """
        key = Replies.key(model.identity, ask, vote)
        cacheable = getattr(model, "cacheable", True)
        kept = self.replies.get(key) if cacheable else None
        if kept is not None:
            self.meter.cached += 1
            if calls is not None:
                calls[:] = kept.calls
            return kept.reply
        await self.open(model)
        told: Calls = [] if calls is None else calls
        self._wanted[ask.hash] += 1
        try:
            reply = await with_retries(
                lambda: self._call(model, ask, prices or self.limits, told, note or {}), self.meter
            )
        except ModelError as error:
            if error.kind == "fatal":
                raise SetupError(f"{self.owner}: {error}") from None
            raise
        finally:
            self._wanted[ask.hash] -= 1
        if cacheable and reply.finish == "complete" and fits(reply.text):
            self.replies.put(key, reply, told)
        return reply

    def _owed(self) -> int:
        """Questions in batch jobs of earlier runs that are not asked again now."""
        sent = (asked for model in self._opened if isinstance(model, Batcher) for asked in model.sent())
        return sum(not self._wanted[asked] for asked in sent)

    def broke(self, after: str = "") -> str:
        """What to say when the budget is spent. ``after``: what was done with it."""
        return (
            f"{self.owner}: the budget is spent {self.meter.note}{after and ' after ' + after}; what is done is kept: "
            f"run the same command with a larger {self._raised_by} to go on"
        )

    async def _call(
        self, model: Model, ask: Ask, prices: Limits, told: Calls, note: Mapping[str, Any]
    ) -> Reply:
        slot = self._slots.setdefault(id(model), asyncio.Semaphore(model.at_once or self.limits.concurrency))
        purpose = str(note.get("for", self.account))
        try:
            async with slot:
                reply = await model.ask(ask)
        except ModelError as error:
            told.append({**note, "outcome": f"failed: {error.kind}", "reason": str(error)})
            self.ledger.add(model.id, purpose, False, {}, failed=error.kind)
            raise
        usage = dict(reply.usage)
        if usd := prices.cost(usage):
            usage["usd"] = round(usd, 6)
        reply = replace(reply, usage=usage)
        told.append({**note, **_told(reply)})
        self.pictures += len(reply.pictures)
        self.ledger.add(model.id, purpose, reply.finish == "complete" and not reply.empty, usage)
        return reply


def _told(reply: Reply) -> dict[str, Any]:
    """A reply in a report: how it ended, its words if it had any, what it cost."""
    outcome = "answered" if reply.finish == "complete" else reply.finish
    told: dict[str, Any] = {"outcome": outcome, "usage": dict(reply.usage)}
    if reply.reason:
        told["reason"] = reply.reason
    if reply.text:
        told["words"] = reply.text[:300]
    return told


__all__ = ["BudgetSpentError", "Calls", "Client"]
