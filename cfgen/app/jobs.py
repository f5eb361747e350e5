"""Long work in the background: one worker process for each kind, with progress and a way to stop.

A process and not a thread: work with a model cannot be stopped otherwise, and nobody's clicks wait for it. It keeps
what it loaded for the next piece of work.
"""

import contextlib
import os
import secrets
import signal
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Literal

from cfgen.core.child_process import Child
from cfgen.core.errors import CfgenError, InputError

#: How far the work is: words, and the share that is done or None.
Say = Callable[[str, float | None], None]
Work = Callable[[Say], Any]
_LOOK_S = 0.1


class CancelledError(Exception):
    """The work was asked to stop; what it had finished is kept."""


class JobProcess:
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
                    kind, *content = child.receive()
                    if kind == "done":
                        return content[0]
                    if kind == "failed":
                        raise CfgenError(content[0])
                    say(*content)
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


# --- jobs -----------------------------------------------------------------------------------------

State = Literal["waiting", "running", "done", "failed", "cancelled"]
_OPEN = ("waiting", "running")
_KEPT = 200


@dataclass
class Job:
    """``share`` is how much is done, 0 to 1, or None where nobody knows; ``result`` is what the work returned."""

    kind: str
    who: str
    worker: str
    words: str
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    state: State = "waiting"
    share: float | None = None
    result: Any = None
    started_s: float = field(default_factory=time.monotonic)
    ended_s: float | None = None
    #: whether somebody has learnt how it ended
    reported: bool = False
    stop: threading.Event = field(default_factory=threading.Event)

    def say(self, words: str, share: float | None = None) -> None:
        self.words, self.share = words, share

    def shown(self) -> dict[str, Any]:
        """What the page learns of it."""
        seconds = (self.ended_s or time.monotonic()) - self.started_s
        return {
            "id": self.id,
            "kind": self.kind,
            "state": self.state,
            "words": self.words,
            "share": self.share,
            "seconds": round(seconds, 1),
            "result": self.result,
        }


class JobQueue:
    """The workers, and the jobs of this run of the app."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._workers: dict[str, JobProcess] = {}
        self._jobs: dict[str, Job] = {}
        self._ending = weakref.finalize(self, _end, self._jobs, self._workers)

    def start(
        self,
        kind: str,
        who: str,
        worker: str,
        words: str,
        work: Work,
        on_done: Callable[[Any], Any] = lambda result: result,
    ) -> Job:
        """Begin ``work`` in the process of ``worker``, behind what waits there; ``on_done`` gets its result, here."""
        job = Job(kind, who, worker, words)
        with self._lock:
            queued = [j for j in self._jobs.values() if j.worker == worker and j.state in _OPEN]
            if queued:
                job.words = f"waiting for {queued[-1].who or 'somebody'} ({queued[-1].kind})"
            self._jobs[job.id] = job
            for old in [j for j in self._jobs.values() if j.state not in _OPEN][:-_KEPT]:
                del self._jobs[old.id]
            turn = self._turns.setdefault(worker, threading.Lock())
            runner = self._workers.setdefault(worker, JobProcess())
        threading.Thread(target=_run, args=(job, turn, runner, words, work, on_done), daemon=True).start()
        return job

    def find(self, job_id: str) -> Job:
        """
        Raises:
            InputError: no such job; the app was started again since.
        """
        with self._lock:
            if job_id not in self._jobs:
                raise InputError("job: it is no longer known, the app was started again; begin it once more")
            return self._jobs[job_id]

    def look_at(self, job_id: str) -> Job:
        """The job, whose end is then known. Raises as :meth:`find`."""
        job = self.find(job_id)
        job.reported = job.state not in _OPEN
        return job

    def news(self, who: str) -> list[Job]:
        """What this person has waiting or running, and what failed without anybody's having learnt of it: said once."""
        with self._lock:
            listed = [
                j
                for j in self._jobs.values()
                if j.who == who and (j.state in _OPEN or (j.state == "failed" and not j.reported))
            ]
        for job in listed:
            job.reported = job.state == "failed"
        return listed

    def cancel(self, job_id: str) -> None:
        self.find(job_id).stop.set()

    def end(self) -> None:
        """Stop everything. It also happens when nobody uses these any more, and when the app ends."""
        self._ending()


def _end(jobs: dict[str, Job], workers: dict[str, JobProcess]) -> None:
    for job in list(jobs.values()):
        job.stop.set()
    for worker in workers.values():
        worker.end()


def _run(
    job: Job, turn: threading.Lock, worker: JobProcess, words: str, work: Work, on_done: Callable[[Any], Any]
) -> None:
    try:
        while not turn.acquire(timeout=0.1):
            if job.stop.is_set():
                raise CancelledError
        try:
            job.state, job.started_s = "running", time.monotonic()
            job.say(words)
            job.result = on_done(worker.run(work, job.say, job.stop))
            job.state = "done"
        finally:
            turn.release()
    except CancelledError:
        job.words, job.state = "stopped", "cancelled"
    except CfgenError as error:
        job.words, job.state = str(error), "failed"
    except Exception as error:  # in silence it would look as if it ran for ever
        job.words, job.state = f"{type(error).__name__}: {error}", "failed"
    finally:
        job.ended_s = time.monotonic()
