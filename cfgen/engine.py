"""The same work, serial or in processes: results come as they are ready; an interrupt loses only work in hand."""

import itertools
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from cfgen.errors import CfgenError

T = TypeVar("T")
R = TypeVar("R")


def default_jobs() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(work: Callable[[T], R], items: Iterable[T], jobs: int = 1) -> Iterator[R]:
    """``work(item)`` for every item, in any order. ``work`` and items must pickle when ``jobs`` > 1.

    A worker's exception ends the run and is raised here. On interrupt, waiting items are dropped and running
    ones end first.
    """
    if jobs <= 1:
        yield from map(work, items)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_leave_interrupts_to_parent)
    try:
        queue = iter(items)
        pending: set[Future[R]] = {pool.submit(work, item) for item in itertools.islice(queue, 2 * jobs)}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
                pending |= {pool.submit(work, item) for item in itertools.islice(queue, 1)}
    except BrokenProcessPool as error:
        raise CfgenError(
            "a worker process died, most likely for want of memory; what is done is kept: "
            "run the same command with fewer --jobs"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
