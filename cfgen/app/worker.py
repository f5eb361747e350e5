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

from cfgen.core.child import Child
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
        self._child: Child | None = None

    def run(self, work: Work, say: Say, stop: threading.Event) -> Any:
        """What ``work`` returned. It, and what it returns, must pickle.

        Raises:
            CancelledError: ``stop`` was set; the process was ended.
            CfgenError: the work failed, or its process died.
        """
        child = self._started()
        try:
            child.connection.send(work)
            while not stop.is_set():
                if child.connection.poll(_LOOK_S):
                    kind, *told = child.receive()
                    if kind == "done":
                        return told[0]
                    if kind == "failed":
                        raise CfgenError(told[0])
                    say(*told)
        except (EOFError, OSError) as error:
            how = child.exit_words()
            self.end()
            raise CfgenError(
                f"the process that did it died ({how}), perhaps for want of memory; try again"
            ) from error
        self.end()
        raise CancelledError

    def end(self) -> None:
        """End the process and whatever it has started."""
        child, self._child = self._child, None
        if child is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.process.pid, signal.SIGKILL)
        child.process.kill()
        child.process.wait()
        child.connection.close()

    def _started(self) -> Child:
        if self._child is None or self._child.process.poll() is not None:
            self._child = Child(f"{serve.__module__}:{serve.__name__}")
        return self._child


def serve(connection: Connection) -> None:
    """In the process: does what it is sent."""
    os.setsid()  # a group of its own: what the work starts ends with it
    while True:
        try:
            work = connection.recv()
        except EOFError:  # the app has ended
            return
        connection.send(_answer(work, lambda words, share: connection.send(("said", words, share))))


def _answer(work: Work, say: Say) -> tuple[str, Any]:
    try:
        return "done", work(say)
    except CfgenError as error:
        return "failed", str(error)
    except Exception as error:  # work that ends in silence would look as if it ran for ever
        return "failed", f"{type(error).__name__}: {error}"
