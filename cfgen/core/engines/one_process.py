"""One process that does one piece of work at a time."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from cfgen.core import processes
from cfgen.core.engines import asking
from cfgen.core.engines.protocol import WorkerDiedError
from cfgen.core.engines.told import Told, answer, question
from cfgen.core.errors import CfgenError
from cfgen.core.network import obey

T = TypeVar("T")

_SPAWN = processes.context()


class StillbornError(WorkerDiedError):
    """Before it began with anything."""


class Worker:
    """One process, which does one item at a time."""

    def __init__(self, line: Connection | None = None, environment: Mapping[str, str] | None = None) -> None:
        """``line``: to those that hold a model. ``environment``: besides this process's own."""
        self._pipe, theirs = _SPAWN.Pipe()
        self.process = _SPAWN.Process(
            target=_serve, args=(theirs, line, dict(environment or {})), daemon=False
        )
        self.process.start()
        theirs.close()
        if line is not None:
            line.close()
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
        """None: it has started."""
        try:
            if not self._pipe.poll():  # what it forked may hold the pipe open
                raise EOFError
            told: Told | None = self._pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            self.dead = True
            if not self._started:
                return StillbornError(_how(self.process.exitcode))
            return WorkerDiedError(f"worker process died ({_how(self.process.exitcode)})")
        self._started = True
        self.busy = self.busy and told is None
        return told

    def dismiss(self) -> None:
        """It ends when what it has in hand is done."""
        self._pipe.close()


def ready(workers: Iterable[Worker]) -> list[Worker]:
    """Those that have something to say, waited for."""
    by_sign = {sign: worker for worker in workers for sign in worker.speaks}
    return list(dict.fromkeys(by_sign[sign] for sign in connection.wait(list(by_sign))))  # type: ignore[index]


def _serve(pipe: Connection, line: Connection | None, environment: Mapping[str, str]) -> None:
    os.environ.update(environment)
    obey()
    if line is not None:
        asking.connect(partial(_asked, line))
    with contextlib.suppress(EOFError, OSError):  # nobody listens any more
        pipe.send(None)
        while True:
            pipe.send_bytes(answer(pipe.recv_bytes()))


def _asked(line: Connection, data: bytes) -> bytes:
    """
    Raises:
        CfgenError: nobody is there any more.
    """
    try:
        line.send_bytes(data)
        return line.recv_bytes()
    except (EOFError, OSError) as error:
        raise CfgenError(
            "processes that hold a model cannot be started or asked any more; use one process (--jobs 1)"
        ) from error


def _how(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"signal {-code}"
