"""A pool of workers, whatever these are: one thread of this process looks after each; deaths cost single items."""

import contextlib
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from functools import partial
from itertools import islice
from typing import Any, Literal, Protocol, TypeVar

from cfgen.core.engines.registry import WorkerDiedError
from cfgen.core.errors import CfgenError
from cfgen.core.faults import words

T = TypeVar("T")
R = TypeVar("R")
_State = Literal["starting", "idle", "busy"]

#: s between two looks at how many workers there may be
_LOOK_S = 1.0
#: workers that an item may have in a row before that counts as its own doing; some die of what others do
MAX_DEATHS = 5
#: workers that may fail to start, one after the other
MAX_FAILED_STARTS = 5


class Worker(Protocol):
    """One worker, looked after by one thread."""

    def start(self) -> None:
        """Waits until it is ready.

        Raises:
            WorkerDiedError: it ended before that.
            CfgenError: it cannot be used, nor any other.
        """
        ...

    def work(self, request: bytes, ask_model: Callable[[bytes], bytes]) -> bytes:
        """The reply to a question, one at a time. Raises: WorkerDiedError."""
        ...

    def end(self) -> None:
        """It has nothing in hand and ends."""
        ...

    def kill(self) -> None: ...


class WorkerPool:
    """See :class:`cfgen.core.engines.registry.Pool`.

    Args:
        create: a worker, not started, of a number.
        size: how many there may be now.
        retry_alone: an item whose worker died is tried again with nothing beside it.
        patient: on an interrupt running items end first; a second interrupt ends these too.
        model: workers that hold a model, for those that ask in the middle of their work.
        start_limit: s for which there may be no worker at all, and what is raised then.
    """

    def __init__(
        self,
        create: Callable[[int], Worker],
        size: Callable[[], int],
        retry_alone: bool = True,
        patient: bool = True,
        model: "ModelPool | None" = None,
        start_limit: tuple[float, Callable[[], CfgenError]] | None = None,
    ) -> None:
        self._create, self._size, self._retry_alone, self._patient = create, size, retry_alone, patient
        self._model, self._start_limit = model, start_limit
        self._tasks: queue.SimpleQueue[tuple[bytes, Future[bytes]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._growing = threading.Lock()
        self._workers: dict[Worker, _State] = {}
        self._failed_starts, self._closing = 0, False
        self._failure: CfgenError | None = None
        self._last_ready = time.monotonic()

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        if interrupted and self._patient and "busy" in self._workers.values():
            print(
                "\ncfgen: interrupted; ending what is in hand, interrupt again to drop it",
                file=sys.stderr,
                flush=True,
            )
        self.close(at_once=kind is not None and not self._patient)

    def close(self, at_once: bool = False) -> None:
        """Items that wait are dropped.

        Raises:
            KeyboardInterrupt: an interrupt while running items end.
        """
        self._closing = True
        try:
            self._drop_tasks(CancelledError())
            for _ in self._threads:
                self._tasks.put(None)
            for worker, state in list(self._workers.items()):
                if at_once or state == "starting":
                    worker.kill()
            for thread in self._threads:
                thread.join()
        except BaseException:
            for worker in list(self._workers):
                worker.kill()
            raise
        finally:
            if self._model is not None:
                self._model.close(at_once)

    def run(
        self, work: Callable[[T], R], items: Iterable[T], on_death: Callable[[T, WorkerDiedError], R]
    ) -> Iterator[R]:
        """See :meth:`cfgen.core.engines.registry.Pool.run`."""
        remaining = iter(items)
        for deaths in range(1, MAX_DEATHS + 1):
            suspects: list[T] = []
            for item, future in self._completed(work, remaining, deaths > 1 and self._retry_alone):
                try:
                    reply = future.result()
                except WorkerDiedError as death:
                    if deaths == MAX_DEATHS:
                        yield on_death(item, death)
                    else:
                        suspects.append(item)
                    continue
                yield result_of(reply)
            if not suspects:
                return
            remaining = iter(suspects)

    def _completed(
        self, work: Callable[[T], Any], items: Iterator[T], alone: bool
    ) -> Iterator[tuple[T, Future[bytes]]]:
        in_hand: dict[Future[bytes], T] = {}
        try:
            while True:
                abreast = 1 if alone else self._size()
                for item in islice(items, max(0, abreast - len(in_hand))):
                    in_hand[self.submit(question(work, item))] = item
                if not in_hand:
                    return
                for future in self.wait(in_hand):
                    yield in_hand.pop(future), future
        finally:  # a run that is left early
            for future in in_hand:
                future.cancel()

    def submit(self, request: bytes) -> "Future[bytes]":
        """A reply to a question; or a WorkerDiedError."""
        future: Future[bytes] = Future()
        self._tasks.put((request, future))
        return future

    def wait(self, futures: Iterable["Future[bytes]"]) -> "set[Future[bytes]]":
        """Those that are done, at least one.

        Raises:
            CfgenError: workers cannot start.
        """
        while True:
            self._grow()
            completed = wait(futures, timeout=_LOOK_S, return_when=FIRST_COMPLETED).done
            if completed:
                return completed
            if self._failure:
                raise self._failure
            if not {"idle", "busy"}.isdisjoint(self._workers.values()):
                self._last_ready = time.monotonic()
            elif self._start_limit and time.monotonic() - self._last_ready > self._start_limit[0]:
                raise self._start_limit[1]()

    def _grow(self) -> None:
        with self._growing:
            while len(self._threads) < self._size():
                number = len(self._threads)
                thread = threading.Thread(target=self._look_after_worker, args=(number,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _drop_tasks(self, error: BaseException) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                task = self._tasks.get_nowait()
                if task is not None and task[1].set_running_or_notify_cancel():
                    task[1].set_exception(error)

    # --- in the thread of a worker ------------------------------------------------------------------------

    def _look_after_worker(self, number: int) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})  # the main thread's
        worker: Worker | None = None
        while not (self._closing or self._failure):
            worker = worker or self._started(number)
            if worker is None:
                continue
            task = self._tasks.get()
            if task is None:
                break
            request, future = task
            if not future.set_running_or_notify_cancel():
                continue
            self._workers[worker] = "busy"
            try:
                reply = worker.work(request, self._ask_model)
            except BaseException as error:
                del self._workers[worker]
                worker = None
                future.set_exception(error)
            else:
                self._workers[worker] = "idle"
                future.set_result(reply)
        if worker is not None:
            worker.end()
            self._workers.pop(worker, None)

    def _started(self, number: int) -> Worker | None:
        """A worker; None: it did not start. Where no other would, those that wait are told."""
        worker = None
        try:
            worker = self._create(number)
            self._workers[worker] = "starting"
            worker.start()
        except Exception as error:
            if worker is not None:
                del self._workers[worker]
                worker.kill()
            self._failed_starts += 1  # one that is killed by chance is no sign of anything
            if isinstance(error, CfgenError):
                self._fail(error)
            elif self._failed_starts >= MAX_FAILED_STARTS:
                self._fail(CfgenError(f"workers cannot start ({error}); use one process (--jobs 1)"))
            return None
        self._workers[worker], self._failed_starts = "idle", 0
        return worker

    def _fail(self, error: CfgenError) -> None:
        self._failure = error
        self._drop_tasks(error)

    def _ask_model(self, data: bytes) -> bytes:
        assert self._model is not None, "workers are connected only where there is a model"
        return self._model.ask(data)


class ModelPool(WorkerPool):
    """Workers that hold a model and do ``serve``; they start when the first thing is asked."""

    def __init__(self, serve: Callable[[Any], Any], *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._serve = partial(serve_pickled, serve)

    def ask(self, data: bytes) -> bytes:
        """The reply to what a worker asks, from any thread; who dies of it is replaced and asked again."""
        request = question(self._serve, data)
        death: Exception = WorkerDiedError()
        for _ in range(MAX_DEATHS):
            try:
                (future,) = self.wait([self.submit(request)])
                return future.result()
            except WorkerDiedError as error:
                death = error
            except CfgenError as error:
                death = CfgenError(f"model workers: {error}")
                break
        return pickle.dumps(WorkerReply(error=death))


# --- messages ----------------------------------------------------------------------------------
# What crosses the border between this process and its workers, as bytes: questions, replies, and what workers ask.


class _TraceInWorker(Exception):  # noqa: N818 - not raised: the cause of what is
    """Where it was raised in the worker."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class WorkerReply:
    """What came of one piece of work: a result, or an error with its traceback."""

    def __init__(self, result: Any = None, error: Exception | None = None, trace: str = "") -> None:
        self._result, self._error, self._trace = result, error, trace

    def result(self) -> Any:
        if self._error is not None:
            raise self._error from _TraceInWorker(self._trace)
        return self._result


def question(work: Callable[[Any], Any], item: Any) -> bytes:
    return pickle.dumps((work, item))


def answer(request: bytes) -> bytes:
    """At a worker: a :class:`WorkerReply` to a :func:`question`."""
    try:
        work, item = pickle.loads(request)
    except Exception as error:
        refusal = CfgenError(
            f"worker processes cannot start ({error}): what they do must come from a module that can be imported; or "
            "use one process (--jobs 1)"
        )
        return pickle.dumps(WorkerReply(error=refusal))
    try:
        return pickle.dumps(WorkerReply(work(item)))
    except BaseException as error:
        return pickle.dumps(WorkerReply(error=_portable(error), trace=traceback.format_exc()))


def result_of(reply: bytes) -> Any:
    """Raises what the work raised."""
    loaded: WorkerReply = pickle.loads(reply)
    return loaded.result()


def _portable(error: BaseException) -> Exception:
    """The error; what cannot cross to another process, or would end that one, as a RuntimeError that describes it."""
    with contextlib.suppress(Exception):
        if isinstance(error, Exception) and isinstance(pickle.loads(pickle.dumps(error)), type(error)):
            return error
    return RuntimeError(f"{type(error).__qualname__}: {words(error)}")


# --- a worker asks those that hold a model, in the middle of its work -------------------------------------

#: sends a pickled thing to a model worker and waits for the reply
ModelLine = Callable[[bytes], bytes]
_model_line: list[ModelLine] = []


def connect_model(line: ModelLine) -> None:
    """In a worker, for good."""
    _model_line[:] = [line]


def has_model_workers() -> bool:
    """Whether a model worker can be asked; otherwise a worker holds what it needs itself."""
    return bool(_model_line)


def ask_model(thing: Any) -> Any:
    """What ``WorkerNeeds.serve`` makes of it. Raises what that raises, or WorkerDiedError."""
    return result_of(_model_line[0](pickle.dumps(thing)))


def serve_pickled(serve: Callable[[Any], Any], data: bytes) -> Any:
    """At a model worker."""
    return serve(pickle.loads(data))
