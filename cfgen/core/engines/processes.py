"""The same work, serial or in processes: results come as they are ready; an interrupt loses only work in hand."""

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeVar

from cfgen.core.engines.desk import Desk
from cfgen.core.engines.one_process import StillbornError, Worker, ready
from cfgen.core.engines.protocol import DEATHS, STARTS, Wanted, WorkerDiedError, default_jobs
from cfgen.core.errors import CfgenError, InputError

T = TypeVar("T")
R = TypeVar("R")


class Serial:
    """one piece of work after another, in this process"""

    elsewhere = False

    def pool(self, wanted: Wanted) -> "Workers":
        return Workers(1)


class Processes:
    """processes of this machine, one a core"""

    elsewhere = False

    def __init__(self, model_workers: int = 1) -> None:
        """``model_workers``: processes that hold a model where others do the rest, each on a card in turn."""
        if model_workers < 1:
            raise InputError(f"engine 'processes': model_workers: expected 1 or more, found {model_workers}")
        self._model_workers = model_workers

    def pool(self, wanted: Wanted) -> "Workers":
        jobs = wanted.jobs or (1 if wanted.model else default_jobs())  # a model takes the whole machine
        jobs = min(jobs, wanted.most or jobs)
        staged = wanted.serve is not None and jobs > 1
        return Workers(jobs, Desk(wanted.serve, self._model_workers) if staged and wanted.serve else None)


class Workers:
    """Worker processes, kept from one :meth:`run` to the next until the block ends; with ``jobs`` 1, none.

    ``desk``: who answers what they ask of a model.

    On interrupt, waiting items are dropped and running ones end first; a second one ends those too.
    """

    def __init__(self, jobs: int = 1, desk: Desk | None = None) -> None:
        self.jobs, self._desk = jobs, desk
        self._workers: list[Worker] = []
        self._stillborn = 0

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, KeyboardInterrupt) and any(worker.busy for worker in self._workers):
            print(
                "\ncfgen: interrupted; ending what is in hand, interrupt again to drop it",
                file=sys.stderr,
                flush=True,
            )
        self._end()

    def run(
        self, work: Callable[[T], R], items: Iterable[T], lost: Callable[[T, WorkerDiedError], R]
    ) -> Iterator[R]:
        """See :meth:`cfgen.core.engines.protocol.Pool.run`. An item is tried again with nothing beside it."""
        if self.jobs <= 1:
            yield from map(work, items)
            return
        suspects: list[T] = []
        for deaths in range(1, DEATHS + 1):
            again: list[T] = []
            for item, result in self._done(work, iter(suspects or items), 1 if suspects else self.jobs):
                if not isinstance(result, WorkerDiedError):
                    yield result
                elif deaths < DEATHS:
                    again.append(item)
                else:
                    yield lost(item, result)
            if not (suspects := again):
                return

    def _done(
        self, work: Callable[[T], R], queue: Iterator[T], abreast: int
    ) -> Iterator[tuple[T, R | WorkerDiedError]]:
        """Each item with its result, or with the death of the worker that had it in hand."""
        in_hand: dict[Worker, T] = {}
        while True:
            self._workers = [worker for worker in self._workers if not worker.dead]
            while len(self._workers) < self.jobs + sum(w.busy and w not in in_hand for w in self._workers):
                self._workers.append(Worker(self._desk.line() if self._desk else None))
            for worker in [w for w in self._workers if not w.busy][: abreast - len(in_hand)]:
                for item in queue:
                    in_hand[worker] = item
                    worker.give(work, item)
                    break
            if not in_hand:
                return
            for worker in ready(in_hand):
                told = worker.hear()
                if isinstance(told, StillbornError):
                    queue = chain([in_hand.pop(worker)], queue)
                    self._again(told)
                elif told is None:
                    self._stillborn = 0
                else:
                    yield in_hand.pop(worker), told if isinstance(told, WorkerDiedError) else told.result()

    def _again(self, told: StillbornError) -> None:
        """
        Raises:
            CfgenError: no worker lives long enough to start, which one that is killed by chance is no sign of.
        """
        self._stillborn += 1
        if self._stillborn >= STARTS:
            raise CfgenError(f"worker processes cannot start ({told}); use one process (--jobs 1)") from None

    def _end(self) -> None:
        """
        Raises:
            KeyboardInterrupt: another interrupt while running items end.
        """
        workers, self._workers = self._workers, []
        try:
            for worker in workers:
                worker.dismiss()
            for worker in workers:
                worker.process.join()
        except BaseException:
            for worker in workers:
                worker.process.kill()
            raise
        finally:
            if self._desk is not None:
                self._desk.close()
