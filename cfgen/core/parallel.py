"""The same work, serial or in processes: results come as they are ready; an interrupt loses only work in hand."""

import contextlib
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from cfgen.core import processes
from cfgen.core.errors import CfgenError
from cfgen.core.faults import words
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
        """``work(item)`` for every item, in any order. ``work`` and items must pickle when ``jobs`` > 1.

        A worker's exception is raised here. An item whose worker died is tried again when all others are done, with
        nothing beside it; what kills that one too is given to ``lost``, here, for its result.

        Raises:
            CfgenError: workers cannot start at all.
        """
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


class _There(Exception):  # noqa: N818 - not raised: the cause of what is
    """Where it was raised in the worker."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class _Told:
    """What came of one item, across the border between processes: a result, or an error with its traceback."""

    def __init__(self, result: Any = None, error: Exception | None = None, trace: str = "") -> None:
        self._result, self._error, self._trace = result, error, trace

    def result(self) -> Any:
        if self._error is not None:
            raise self._error from _There(self._trace)
        return self._result


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
        data = pickle.dumps((work, item))
        with contextlib.suppress(OSError):  # it has died: heard of next
            self._pipe.send_bytes(data)

    def hear(self) -> _Told | WorkerDiedError | None:
        """None: it has started.

        Raises:
            CfgenError: it could not start.
        """
        try:
            if not self._pipe.poll():  # what it forked may hold the pipe open
                raise EOFError
            told: _Told | None = self._pipe.recv()
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
            pipe.send_bytes(_answer(pipe.recv_bytes()))


def _answer(asked: bytes) -> bytes:
    try:
        work, item = pickle.loads(asked)
    except Exception as error:
        refusal = CfgenError(
            f"worker processes cannot start ({error}): what they do must come from a module that can be imported; or "
            "use one process (--jobs 1)"
        )
        return pickle.dumps(_Told(error=refusal))
    try:
        return pickle.dumps(_Told(work(item)))
    except BaseException as error:
        return pickle.dumps(_Told(error=_portable(error), trace=traceback.format_exc()))


def _portable(error: BaseException) -> Exception:
    """The error; what cannot cross to another process, or would end that one, is told in words."""
    with contextlib.suppress(Exception):
        if isinstance(error, Exception) and isinstance(pickle.loads(pickle.dumps(error)), type(error)):
            return error
    return RuntimeError(f"{type(error).__qualname__}: {words(error)}")


def _how(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"signal {-code}"
