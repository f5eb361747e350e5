"""The one way to call a model: cache, rate, retries, budget, ledger and network limits around every call."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cfgen.core.errors import SetupError, Shortfall, StoreError
from cfgen.core.files import read_json, write_bytes
from cfgen.core.hashing import canonical_json, hash_json
from cfgen.core.network import current
from cfgen.models.base import Ask, EmptyReplyError, Model, ModelError, Picture, Reply
from cfgen.models.limits import BudgetSpentError, Ledger, Limits, Meter, with_retries

#: Questions in a row without an answer after which a service is given up: fewer end a run for a hiccup, more let one
#: wait for hours
UNANSWERED = 8

#: What is known of each call, in order: what for, how it ended, what it cost.
Calls = list[dict[str, Any]]


class Client:
    """Asks models on behalf of one judge, planner or inpainter.

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
        self.limits = limits
        folder = Path(limits.cache) if limits.cache else None
        self.replies, self.ledger = Replies(folder), Ledger(folder, account)
        self.meter = Meter(self.limits, owner)
        self.meter.others = lambda: self.ledger.of_others(limits)
        #: questions in a row that no try got an answer to, for the service's fault
        self._unanswered = 0
        self.pictures = 0
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
        if any(model is opened for opened in self._opened):
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

    def is_cached(self, model: Model, ask: Ask, vote: int) -> bool:
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
        cached = self.replies.get(key) if cacheable else None
        if cached is not None:
            self.meter.cached += 1
            if calls is not None:
                calls[:] = cached.calls
            return cached.reply
        await self.open(model)
        log: Calls = [] if calls is None else calls
        try:
            reply = await with_retries(
                lambda: self._call(model, ask, prices or self.limits, log, note or {}), self.meter
            )
        except ModelError as error:
            if error.kind == "fatal":
                raise SetupError(f"{self.owner}: {error}") from None
            self._count_unanswered(error)
            raise
        self._unanswered = 0
        if cacheable and reply.finish == "complete" and fits(reply.text):
            self.replies.put(key, reply, log)
        return reply

    def _count_unanswered(self, error: ModelError) -> None:
        """
        Raises:
            Shortfall: so many questions in a row got no answer that no other will.
        """
        if not error.transient or isinstance(error, EmptyReplyError):
            return
        self._unanswered += 1
        if self._unanswered >= UNANSWERED:
            raise Shortfall(
                f"{self.owner}: {self._unanswered} questions in a row got no answer, after {self.limits.retries + 1} "
                f"tries each, the last: {error}; what is done is kept: run the same command once the service works"
            ) from None

    def broke(self, after: str = "") -> str:
        """What to say when the budget is spent. ``after``: what was done with it."""
        return (
            f"{self.owner}: the budget is spent {self.meter.note}{after and ' after ' + after}; what is done is kept: "
            f"run the same command with a larger {self._raised_by} to go on"
        )

    async def _call(
        self, model: Model, ask: Ask, prices: Limits, log: Calls, note: Mapping[str, Any]
    ) -> Reply:
        slot = self._slots.setdefault(id(model), asyncio.Semaphore(model.at_once or self.limits.concurrency))
        purpose = str(note.get("for", self.account))
        try:
            async with slot:
                reply = await model.ask(ask)
        except ModelError as error:
            log.append({**note, "outcome": f"failed: {error.kind}", "reason": str(error)})
            self.ledger.add(model.id, purpose, False, {}, failed=error.kind)
            raise
        usage = dict(reply.usage)
        if usd := prices.cost(usage):
            usage["usd"] = round(usd, 6)
        reply = replace(reply, usage=usage)
        log.append({**note, **_log_entry(reply)})
        self.pictures += len(reply.pictures)
        self.ledger.add(model.id, purpose, reply.finish == "complete" and not reply.empty, usage)
        return reply


def _log_entry(reply: Reply) -> dict[str, Any]:
    """A reply in a report: how it ended, its words if it had any, what it cost."""
    outcome = "answered" if reply.finish == "complete" else reply.finish
    entry: dict[str, Any] = {"outcome": outcome, "usage": dict(reply.usage)}
    if reply.reason:
        entry["reason"] = reply.reason
    if reply.text:
        entry["words"] = reply.text[:300]
    return entry


__all__ = ["BudgetSpentError", "Calls", "Client"]


# --- cache -------------------------------------------------------------------------------------
# Replies that need not be paid for twice: one JSON file each, named by the hash of everything that decides it.

_ENDING = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


@dataclass(frozen=True)
class CachedReply:
    """A reply and the calls it took, those before it that were declined among them."""

    reply: Reply
    calls: Calls


class Replies:
    """``folder``: None keeps nothing. Only complete replies that could be read belong in here."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @staticmethod
    def key(identity: Mapping[str, Any], ask: Ask, vote: int) -> str:
        """Everything that changes the answer: model, wording, pictures in their order, and which vote or seed."""
        return hash_json({"model": dict(identity), "ask": ask.hash, "vote": vote})

    def has(self, key: str) -> bool:
        path = self._path(key)
        return path is not None and path.is_file()

    def get(self, key: str) -> CachedReply | None:
        """None when there is none, or none that can be read."""
        path = self._path(key)
        if path is None or not path.is_file():
            return None
        try:
            record = read_json(path)
            named = record.get("pictures", [])
            pictures = tuple(Picture((path.parent / name).read_bytes(), mime) for name, mime in named)
            reply = Reply(record["text"], usage=record.get("usage", {}), pictures=pictures)
            return CachedReply(reply, [dict(call) for call in record.get("calls", [])])
        except (StoreError, KeyError, OSError, ModelError, TypeError, ValueError):
            return None

    def put(self, key: str, reply: Reply, calls: Sequence[Mapping[str, Any]] = ()) -> None:
        """Pictures first, then the JSON file whose existence makes it count."""
        path = self._path(key)
        if path is None:
            return
        names = []
        for number, picture in enumerate(reply.pictures):
            name = f"{path.stem}.{number}.{_ENDING.get(picture.mime, 'bin')}"
            write_bytes(path.parent / name, picture.data)
            names.append([name, picture.mime])
        content = {"text": reply.text, "usage": dict(reply.usage), "pictures": names, "calls": list(calls)}
        write_bytes(path, canonical_json(content))

    def _path(self, key: str) -> Path | None:
        digest = key.removeprefix("sha256:")
        return None if self.folder is None else self.folder / digest[:2] / f"{digest}.json"
