"""The user's interrupt, told from a ``KeyboardInterrupt`` that something raised: only the first ends a run."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any, NoReturn, TypeVar

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """The signal ``number`` arrived: Ctrl-C or a wish to end."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.number = number


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within the block SIGINT and SIGTERM raise :class:`Interrupted`, once: the next one ends the process there.

    Signals that are ignored, as behind ``nohup``, stay so; outside the main thread nothing changes.
    """
    was = {}
    received: list[int] = []

    def hear(number: int, frame: FrameType | None) -> NoReturn:
        received.append(number)
        if (
            len(received) > 1
        ):  # winding down takes too long for the user; what is on disk is whole at any moment
            _end_now(number)
        raise Interrupted(number)

    if threading.current_thread() is threading.main_thread():
        defaults = (signal.SIG_DFL, signal.default_int_handler)
        was = {number: signal.getsignal(number) for number in _SIGNALS}
        was = {number: handler for number, handler in was.items() if handler in defaults}
    hear.__dict__["tells"] = True
    for number in was:
        signal.signal(number, hear)
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as error:
        # ours, in the words of a library that caught it on its way
        if received and not isinstance(error, Interrupted):
            raise Interrupted(received[0]) from error
        raise
    finally:
        for number, handler in was.items():
            signal.signal(number, handler)


def by_the_user(error: KeyboardInterrupt) -> bool:
    """Whether a signal raised it. Where they are ignored, or in :func:`interruptible`, all others are faults."""
    handler = signal.getsignal(signal.SIGINT)
    told_apart = handler is signal.SIG_IGN or getattr(handler, "tells", False)
    return isinstance(error, Interrupted) or not told_apart


@contextlib.contextmanager
def sigterm_restored() -> Iterator[None]:
    """What is done within may set a handler for SIGTERM that exits; afterwards ours is back.

    Raises:
        Interrupted: SIGTERM came meanwhile.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    ours = signal.getsignal(signal.SIGTERM) if in_main_thread else None
    try:
        yield
    except SystemExit as error:
        raise Interrupted(signal.SIGTERM) from error
    finally:
        if ours is not None:
            signal.signal(signal.SIGTERM, ours)


def _end_now(number: int) -> NoReturn:
    with contextlib.suppress(OSError):
        os.write(
            sys.__stderr__.fileno() if sys.__stderr__ else 2,
            b"\ncfgen: ended at once; what is done is kept\n",
        )
    os._exit(128 + number)


# --- loop --------------------------------------------------------------------------------------
# ``asyncio.run`` that also works where a loop is running already, as in a notebook.

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
