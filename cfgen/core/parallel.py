"""The same work, serial or in processes: results come as they are ready; an interrupt loses only work in hand."""

import contextlib
import itertools
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from cfgen.core import processes
from cfgen.core.errors import CfgenError
from cfgen.core.network import obey

T = TypeVar("T")
R = TypeVar("R")

_SPAWN = processes.context()


class WorkerDiedError(Exception):
    """The process that did a piece of work ended in the middle of it: killed for want of memory, or crashed."""


def default_jobs() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers:
    """Worker processes, kept from one :meth:`run` to the next until the block ends; with ``jobs`` 1, none.

    On interrupt, waiting items are dropped and running ones end first.
    """

    def __init__(self, jobs: int = 1) -> None:
        self.jobs = jobs
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(
        self, work: Callable[[T], R], items: Iterable[T], lost: Callable[[T, WorkerDiedError], R]
    ) -> Iterator[R]:
        """``work(item)`` for every item, in any order. ``work`` and items must pickle when ``jobs`` > 1.

        A worker's exception is raised here. When a worker dies, each item that was in hand is tried alone in a fresh
        process; what kills that one too is given to ``lost``, here, for its result.

        Raises:
            CfgenError: workers cannot start at all.
        """
        if self.jobs <= 1:
            yield from map(work, items)
            return
        queue = iter(items)
        while suspects := (yield from self._until_a_death(work, queue)):
            for item in suspects:
                try:
                    result = _alone(work, item)
                except WorkerDiedError as error:
                    result = lost(item, error)
                yield result

    def _until_a_death(self, work: Callable[[T], R], queue: Iterator[T]) -> Generator[R, None, list[T]]:
        """Returns the items that were in hand when a worker died; none when all is done."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.jobs, _SPAWN, _begin)
        pending: dict[Future[R], T] = {}
        suspects: list[T] = []
        while True:
            free = 0 if suspects else 2 * self.jobs - len(pending)
            for item in itertools.islice(queue, free):
                try:
                    pending[self._pool.submit(_portable, work, item)] = item
                except BrokenProcessPool:
                    suspects.append(item)
            if not pending:
                break
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                item = pending.pop(future)
                if isinstance(future.exception(), BrokenProcessPool):
                    suspects.append(item)
                else:
                    yield future.result()
        if suspects:
            self._end()
        return suspects

    def _end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)


def _alone(work: Callable[[T], R], item: T) -> R:
    """``work(item)`` in a process of its own.

    Raises:
        WorkerDiedError: it died of it. CfgenError: it did not even start.
    """
    ours, theirs = _SPAWN.Pipe(duplex=False)
    process = _SPAWN.Process(target=_serve, args=(theirs, work, item), daemon=False)
    process.start()
    theirs.close()
    told: list[Any] = []
    with ours, contextlib.suppress(EOFError):
        while len(told) < 2:  # that it has started, and what came of it
            told.append(ours.recv())
    process.join()
    if not told:
        raise CfgenError(
            f"worker processes cannot start (exit code {process.exitcode}): what they do must come from a module "
            "that can be imported; or use one process (--jobs 1)"
        )
    if len(told) == 1:
        raise WorkerDiedError(f"worker process died ({_how(process.exitcode)})")
    result, error = told[1]
    if error is not None:
        raise error
    return result


def _serve(pipe: Connection, work: Callable[[Any], Any], item: Any) -> None:
    _begin()
    pipe.send(None)
    told: tuple[Any, BaseException | None]
    try:
        told = _portable(work, item), None
    except BaseException as error:
        error.add_note(traceback.format_exc())
        told = None, error
    with contextlib.suppress(OSError):  # nobody listens any more
        pipe.send(told)


def _portable(work: Callable[[T], R], item: T) -> R:
    """``work(item)``; an exception that cannot cross to another process is told in words."""
    try:
        return work(item)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            raise RuntimeError(f"{type(error).__qualname__}: {error}") from error
        raise


def _how(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"signal {-code}"


def _begin() -> None:
    """In a worker: interrupts are the parent's, and so are limits of the network."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    obey()
