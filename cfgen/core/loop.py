"""``asyncio.run`` that also works where a loop is running already, as in a notebook."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

R = TypeVar("R")


def run(work: Coroutine[Any, Any, R]) -> R:
    """What ``work`` returns. Within a running loop it gets a loop and a thread of its own, and is waited for.

    An interrupt cancels it, in either case.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[R]]] = []

    async def known() -> R:
        task = asyncio.ensure_future(work)
        started.append((asyncio.get_running_loop(), task))
        return await task

    with ThreadPoolExecutor(1, "loop") as pool:
        future = pool.submit(asyncio.run, known())
        try:
            return future.result()
        except BaseException:
            if started and not future.done():
                loop, task = started[0]
                loop.call_soon_threadsafe(task.cancel)
            raise
