"""How judges and checkers made of models work through their items: within limits, and nothing asked twice."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from cfgen.core import interrupts
from cfgen.core.engines.registry import default_jobs
from cfgen.core.errors import Shortfall
from cfgen.core.faults import ends_the_run
from cfgen.judge.payload import Pictures
from cfgen.models.base import Ask, Model, Reply
from cfgen.models.client import Client
from cfgen.models.limits import BudgetSpentError, Limits

T = TypeVar("T")
R = TypeVar("R")


class Asking:
    """One judge's client and pictures, for all of its models and runs."""

    def __init__(self, name: str, limits: Limits, role: str = "judge") -> None:
        self.limits = limits
        self.client = Client(f"{role} '{name}'", limits, f"{role} {name}")
        cache = Path(limits.cache) if limits.cache else None
        self.pictures = Pictures(cache / "frames" if cache else None)
        #: let an exception on one item through, with its traceback
        self.strict = False
        self._pool: ThreadPoolExecutor
        #: questions that a model takes in one go; those that are being prepared, and those that wait for them
        self._together, self._preparing = 1, 0
        self._ready: list[asyncio.Future[None]] = []

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
            interrupts.run(self._run(models, items, work, broke, what))

    async def _run(
        self,
        models: Sequence[Model],
        items: Sequence[T],
        work: Callable[[T], Awaitable[None]],
        broke: Callable[[T, Exception], None],
        what: str,
    ) -> None:
        self._together = max((m.at_once or 1 for m in models), default=1)
        self._preparing, self._ready = 0, []
        async with self.client:
            with ThreadPoolExecutor(max(2, min(8, default_jobs())), "render") as self._pool:
                # a batch job takes more than may be under way otherwise
                most = max(2 * self.limits.concurrency, *(m.at_once or 0 for m in models), 0)
                done = await self._pull(items, work, broke, min(len(items), most))
        if done < len(items):
            raise Shortfall(self.client.broke(f"{done} of {len(items)} {what}"))

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
        """Drawing and encoding, off the event loop.

        Where a model takes several questions in one go, what is prepared goes on when that many are, or no other is
        being prepared: how long each took decides nothing.
        """
        interrupts = asyncio.get_running_loop()
        self._preparing += 1
        try:
            made = await interrupts.run_in_executor(self._pool, prepare)
            ready = interrupts.create_future()
            self._ready.append(ready)
        finally:
            self._preparing -= 1
            if len(self._ready) >= self._together or not self._preparing:
                interrupts.call_soon(_release, self._ready)
                self._ready = []
        await ready
        return made

    async def reply(self, model: Model, ask: Ask, vote: int, fits: Callable[[str], bool]) -> Reply:
        """See :meth:`cfgen.models.client.Client.reply`."""
        return await self.client.reply(model, ask, vote, fits)


def _release(ready: "list[asyncio.Future[None]]") -> None:
    for one in ready:
        if not one.done():
            one.set_result(None)
