"""How judges and checkers made of models work through their items: within limits, and nothing asked twice."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from cfgen.core import loop
from cfgen.core.errors import CfgenError, Shortfall
from cfgen.core.faults import ends_the_run
from cfgen.core.parallel import default_jobs
from cfgen.judge.cache import Replies
from cfgen.judge.payload import Pictures
from cfgen.models.base import Ask, Model, ModelError, Reply
from cfgen.models.limits import BudgetSpentError, Limits, Meter, with_retries

T = TypeVar("T")
R = TypeVar("R")


class Asking:
    """One judge's limits, budget and cache, for all of its models and runs."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.name, self.limits = name, limits
        self.meter = Meter(limits)
        cache = Path(limits.cache) if limits.cache else None
        self.replies = Replies(cache)
        self.pictures = Pictures(cache / "frames" if cache else None)
        #: let an exception on one item through, with its traceback
        self.strict = False
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._pool: ThreadPoolExecutor

    def run(
        self,
        models: Sequence[Model],
        items: Sequence[T],
        work: Callable[[T], Awaitable[None]],
        broke: Callable[[T, Exception], None],
        what: str,
    ) -> None:
        """``work`` on every item, and ``broke`` where it raised. Workers pull, so that no more is prepared than can
        soon be sent.

        Raises:
            Shortfall: the budget is spent; ``what`` names in plural what the items become.
            CfgenError: a key, a package or a model is missing or refused, or nothing can be written.
        """
        if items:
            loop.run(self._run(models, items, work, broke, what))

    async def _run(
        self,
        models: Sequence[Model],
        items: Sequence[T],
        work: Callable[[T], Awaitable[None]],
        broke: Callable[[T, Exception], None],
        what: str,
    ) -> None:
        self._slots = {m.id: asyncio.Semaphore(m.at_once or self.limits.concurrency) for m in models}
        try:
            for model in models:
                await model.open()
            with ThreadPoolExecutor(max(2, min(8, default_jobs())), "render") as self._pool:
                # a batch job takes more than may be under way otherwise
                most = max(2 * self.limits.concurrency, *(m.at_once or 0 for m in models), 0)
                done = await self._pull(items, work, broke, min(len(items), most))
        finally:
            for model in models:
                await model.close()
        if done < len(items):
            raise Shortfall(
                f"judge '{self.name}': the budget is spent {self.meter.note} after {done} of {len(items)} {what}; "
                "run the same command again to go on"
            )

    async def _pull(
        self,
        items: Sequence[T],
        work: Callable[[T], Awaitable[None]],
        broke: Callable[[T, Exception], None],
        workers: int,
    ) -> int:
        queue: Iterator[T] = iter(items)
        done = 0

        async def worker() -> None:
            nonlocal done
            for item in queue:
                try:
                    await work(item)
                except BudgetSpentError:
                    return
                except Exception as error:
                    if self.strict or ends_the_run(error):
                        raise
                    broke(item, error)
                done += 1

        tasks = [asyncio.create_task(worker()) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        return done

    async def aside(self, prepare: Callable[[], R]) -> R:
        """Drawing and encoding, off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, prepare)

    async def reply(self, model: Model, ask: Ask, vote: int, fits: Callable[[str], bool]) -> Reply:
        """From the cache or the model. Only a complete reply that ``fits`` is kept for another time.

        Raises:
            ModelError: there is none. CfgenError: nor will there be one. BudgetSpentError: no budget to ask.
        """
        key = self.replies.key(model.identity, ask, vote)
        kept = self.replies.get(key)
        if kept is not None:
            self.meter.cached += 1
            return kept
        try:
            reply = await with_retries(lambda: self._call(model, ask), self.meter)
        except ModelError as error:
            if error.kind == "fatal":
                raise CfgenError(f"judge '{self.name}': {error}") from error
            raise
        if reply.finish == "complete" and fits(reply.text):
            self.replies.put(key, reply)
        return reply

    async def _call(self, model: Model, ask: Ask) -> Reply:
        async with self._slots[model.id]:
            return await model.ask(ask)
