"""Long work in the background: one job at a time for everybody, with words on how far it is, and a way to stop it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cfgen.errors import CfgenError, InputError


@dataclass
class Job:
    """``state``: running, done, failed or cancelled. ``result`` is what the work returned."""

    words: str
    state: str = "running"
    result: Any = None
    stop: threading.Event = field(default_factory=threading.Event)

    def say(self, words: str) -> None:
        """Progress; raises :class:`CancelledError` once somebody has asked to stop."""
        if self.stop.is_set():
            raise CancelledError
        self.words = words


class CancelledError(Exception):
    """The job was asked to stop; what it had finished is kept."""


class Jobs:
    """The bench that jobs are done at."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.job: Job | None = None

    def start(self, words: str, work: Callable[[Job], Any]) -> Job:
        """Begin ``work`` in a thread of its own.

        Raises:
            InputError: another job is running.
        """
        with self._lock:
            if self.job is not None and self.job.state == "running":
                raise InputError(
                    f"somebody's job is running ({self.job.words}); wait for it, or stop it first"
                )
            job = self.job = Job(words)
        threading.Thread(target=_run, args=(job, work), daemon=True).start()
        return job

    def cancel(self) -> None:
        if self.job is not None:
            self.job.stop.set()


def _run(job: Job, work: Callable[[Job], Any]) -> None:
    try:
        job.result = work(job)
        job.state = "done"
    except CancelledError:
        job.words, job.state = f"stopped ({job.words})", "cancelled"
    except CfgenError as error:
        job.words, job.state = str(error), "failed"
    except Exception as error:  # a job that ends in silence would look as if it ran for ever
        job.words, job.state = f"failed: {error!r}", "failed"
