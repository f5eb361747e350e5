"""The engines of one machine: this process, or processes beside it; an interrupt loses only work in hand."""

import contextlib
import os
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from cfgen.core.child_process import Child
from cfgen.core.engines.pool import ModelPool, WorkerPool, WorkerReply, answer, connect_model
from cfgen.core.engines.registry import Pool, WorkerDiedError, WorkerNeeds, default_jobs
from cfgen.core.errors import CfgenError, InputError
from cfgen.core.network import obey

T = TypeVar("T")
R = TypeVar("R")


class Serial:
    """one piece of work after another, in this process"""

    elsewhere = False

    def pool(self, needs: WorkerNeeds) -> AbstractContextManager[Pool]:
        return nullcontext(InProcess())


class InProcess:
    """A pool without workers: see :class:`cfgen.core.engines.registry.Pool`."""

    def run(
        self, work: Callable[[T], R], items: Iterable[T], on_death: Callable[[T, WorkerDiedError], R]
    ) -> Iterator[R]:
        return map(work, items)


class Processes:
    """processes of this machine, one a core"""

    elsewhere = False

    def __init__(self, model_workers: int = 1) -> None:
        """``model_workers``: processes that hold a model where others do the rest, each on a card in turn."""
        if model_workers < 1:
            raise InputError(f"engine 'processes': model_workers: expected 1 or more, found {model_workers}")
        self._model_workers = model_workers

    def pool(self, needs: WorkerNeeds) -> AbstractContextManager[Pool]:
        jobs = needs.jobs or (1 if needs.model else default_jobs())  # a model takes the whole machine
        jobs = min(jobs, needs.most or jobs)
        return process_pool(jobs, needs.serve, self._model_workers)


def process_pool(
    jobs: int, serve: Callable[[Any], Any] | None = None, model_workers: int = 1
) -> AbstractContextManager[Pool]:
    """``jobs`` processes and, if they ask for ``serve``, those that hold a model; with ``jobs`` 1, none."""
    if jobs <= 1:
        return nullcontext(InProcess())
    if serve is None:
        return WorkerPool(lambda _: ProcessWorker(work), lambda: jobs)
    cards = visible_gpus() if model_workers > 1 else ()

    def create_model_worker(number: int) -> ProcessWorker:
        card = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": cards[number % len(cards)]}
        return ProcessWorker(work, card)

    model = ModelPool(
        serve, create_model_worker if cards else lambda _: ProcessWorker(work), lambda: model_workers
    )
    return WorkerPool(lambda _: ProcessWorker(work_with_model), lambda: jobs, model=model)


class ProcessWorker:
    """See :class:`cfgen.core.engines.pool.Worker`. ``main``: what its process does."""

    def __init__(
        self, main: Callable[[Connection], None], environment: Mapping[str, str] | None = None
    ) -> None:
        self._child = Child(f"{main.__module__}:{main.__name__}", environment)

    def start(self) -> None:
        try:
            self._child.receive()
        except EOFError as error:
            raise WorkerDiedError(self._child.exit_words()) from error

    def work(self, request: bytes, ask_model: Callable[[bytes], bytes]) -> bytes:
        with contextlib.suppress(OSError):  # it has died: noticed next
            self._child.connection.send_bytes(request)
        try:
            while (message := self._child.receive())[0] == "ask":
                self._child.connection.send_bytes(ask_model(message[1]))
        except (EOFError, OSError) as error:
            raise WorkerDiedError(f"worker process died ({self._child.exit_words()})") from error
        reply: bytes = message[1]
        return reply

    def end(self) -> None:
        self._child.connection.close()
        self._child.process.wait()

    def kill(self) -> None:
        self._child.process.kill()
        self._child.process.wait()


# --- in a worker process --------------------------------------------------------------------------------


def work(connection: Connection, with_model: bool = False) -> None:
    """Answers questions until nobody is connected any more."""
    obey()
    if with_model:
        connect_model(partial(_ask_parent, connection))
    with contextlib.suppress(EOFError, OSError):
        connection.send(("ready", b""))
        while True:
            connection.send(("done", answer(connection.recv_bytes())))


def work_with_model(connection: Connection) -> None:
    work(connection, with_model=True)


def _ask_parent(connection: Connection, data: bytes) -> bytes:
    try:
        connection.send(("ask", data))
        return connection.recv_bytes()
    except (EOFError, OSError) as error:
        return pickle.dumps(
            WorkerReply(error=CfgenError(f"model workers cannot be asked any more ({error})"))
        )


def visible_gpus(devices: Path = Path("/dev")) -> tuple[str, ...]:
    """Those that this process may use, as CUDA_VISIBLE_DEVICES names them. ``devices``: the machine's device files."""
    variable = os.environ.get("CUDA_VISIBLE_DEVICES")
    if variable is not None:
        return tuple(name.strip() for name in variable.split(",") if name.strip())
    matches = (re.fullmatch(r"nvidia(\d+)", path.name) for path in devices.glob("nvidia*"))
    return tuple(map(str, sorted(int(match[1]) for match in matches if match)))
