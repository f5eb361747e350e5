"""The same work, serial or in processes: results come as they are ready; an interrupt loses only work in hand."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from cfgen.core import processes
from cfgen.core.engines.protocol import Wanted, WorkerDiedError, default_jobs
from cfgen.core.engines.told import Told, answer, question
from cfgen.core.errors import CfgenError
from cfgen.core.network import obey

T = TypeVar("T")
R = TypeVar("R")

_SPAWN = processes.context()


class Serial:
    """one piece of work after another, in this process"""

    elsewhere = False

    def pool(self, wanted: Wanted) -> "Workers":
        return Workers(1)


class Processes:
    """processes of this machine, one a core"""

    elsewhere = False

    def pool(self, wanted: Wanted) -> "Workers":
        jobs = wanted.jobs or (1 if wanted.model else default_jobs())  # a model takes the whole machine
        return Workers(min(jobs, wanted.most or jobs))


class Workers:
    """Worker processes, kept from one :meth:`run` to the next until the block ends; with ``jobs`` 1, none.

    On interrupt, waiting items are dropped and running ones end first; a second one ends those too.
    """

    def __init__(self, jobs: int = 1) -> None:
        self.jobs = jobs
        self._workers: list[_Worker] = []

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
        for item, result in self._done(work, iter(items), self.jobs):
            if isinstance(result, WorkerDiedError):
                suspects.append(item)
            else:
                yield result
        for item, result in self._done(work, iter(suspects), 1):
            yield lost(item, result) if isinstance(result, WorkerDiedError) else result

    def _done(
        self, work: Callable[[T], R], queue: Iterator[T], abreast: int
    ) -> Iterator[tuple[T, R | WorkerDiedError]]:
        """Each item with its result, or with the death of the worker that had it in hand."""
        in_hand: dict[_Worker, T] = {}
        while True:
            self._workers = [worker for worker in self._workers if not worker.dead]
            while len(self._workers) < self.jobs + sum(w.busy and w not in in_hand for w in self._workers):
                self._workers.append(_Worker())
            for worker in [w for w in self._workers if not w.busy][: abreast - len(in_hand)]:
                for item in queue:
                    in_hand[worker] = item
                    worker.give(work, item)
                    break
            if not in_hand:
                return
            for worker in _ready(in_hand):
                told = worker.hear()
                if told is not None:
                    yield in_hand.pop(worker), told if isinstance(told, WorkerDiedError) else told.result()

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


class _Worker:
    """One process, which does one item at a time."""

    def __init__(self) -> None:
        self._pipe, theirs = _SPAWN.Pipe()
        self.process = _SPAWN.Process(target=_serve, args=(theirs,), daemon=False)
        self.process.start()
        theirs.close()
        self.busy = self.dead = self._started = False

    @property
    def speaks(self) -> tuple[Connection, int]:
        """One of them is ready when it has something to say, or has died."""
        return self._pipe, self.process.sentinel

    def give(self, work: Callable[[T], Any], item: T) -> None:
        self.busy = True
        data = question(work, item)
        with contextlib.suppress(OSError):  # it has died: heard of next
            self._pipe.send_bytes(data)

    def hear(self) -> Told | WorkerDiedError | None:
        """None: it has started.

        Raises:
            CfgenError: it could not start.
        """
        try:
            if not self._pipe.poll():  # what it forked may hold the pipe open
                raise EOFError
            told: Told | None = self._pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            self.dead = True
            if not self._started:
                raise CfgenError(
                    f"worker processes cannot start ({_how(self.process.exitcode)}); use one process (--jobs 1)"
                ) from None
            return WorkerDiedError(f"worker process died ({_how(self.process.exitcode)})")
        self._started = True
        self.busy = self.busy and told is None
        return told

    def dismiss(self) -> None:
        """It ends when what it has in hand is done."""
        self._pipe.close()


def _ready(workers: Iterable[_Worker]) -> list[_Worker]:
    """Those that have something to say, waited for."""
    by_sign = {sign: worker for worker in workers for sign in worker.speaks}
    return list(dict.fromkeys(by_sign[sign] for sign in connection.wait(list(by_sign))))  # type: ignore[index]


def _serve(pipe: Connection) -> None:
    obey()
    with contextlib.suppress(EOFError, OSError):  # nobody listens any more
        pipe.send(None)
        while True:
            pipe.send_bytes(answer(pipe.recv_bytes()))


def _how(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"signal {-code}"
