"""A process that does long work, one piece at a time, and can be stopped at any point.

A process and not a thread: work with a model cannot be stopped otherwise, and nobody's clicks wait for it. It keeps
what it loaded for the next piece of work.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from cfgen.core import processes
from cfgen.core.errors import CfgenError

#: How far the work is: words, and the share that is done or None.
Say = Callable[[str, float | None], None]
Work = Callable[[Say], Any]
_LOOK_S = 0.1


class CancelledError(Exception):
    """The work was asked to stop; what it had finished is kept."""


class Worker:
    """Starts its process when first needed and ends it with this one."""

    def __init__(self) -> None:
        self._pipe: Connection | None = None
        self._process: Any = None

    def run(self, work: Work, say: Say, stop: threading.Event) -> Any:
        """What ``work`` returned. It, and what it returns, must pickle.

        Raises:
            CancelledError: ``stop`` was set; the process was ended.
            CfgenError: the work failed, or its process died.
        """
        pipe = self._started()
        try:
            pipe.send(work)
            while not stop.is_set():
                if pipe.poll(_LOOK_S):
                    kind, *told = pipe.recv()
                    if kind == "done":
                        return told[0]
                    if kind == "failed":
                        raise CfgenError(told[0])
                    say(*told)
        except (EOFError, OSError) as error:
            self._process.join(1)
            code = self._process.exitcode
            self.end()
            raise CfgenError(
                f"the process that did it died (exit code {code}), perhaps for want of memory; try again"
            ) from error
        self.end()
        raise CancelledError

    def end(self) -> None:
        """End the process and whatever it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.join()
        if self._pipe is not None:
            self._pipe.close()

    def _started(self) -> Connection:
        if self._process is None or not self._process.is_alive():
            context = processes.context()
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        assert self._pipe is not None
        return self._pipe


def _serve(pipe: Connection) -> None:
    os.setsid()  # a group of its own: what the work starts ends with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            work = pipe.recv()
        except EOFError:  # the app has ended
            return
        pipe.send(_answer(work, lambda words, share: pipe.send(("said", words, share))))


def _answer(work: Work, say: Say) -> tuple[str, Any]:
    try:
        return "done", work(say)
    except CfgenError as error:
        return "failed", str(error)
    except Exception as error:  # work that ends in silence would look as if it ran for ever
        return "failed", f"{type(error).__name__}: {error}"
