"""Questions gathered into batch jobs: half the price, up to a day's wait, and nothing else changed."""

import asyncio
import contextlib
import sys
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from cfgen.core.errors import StoreError
from cfgen.core.files import read_json, write_bytes
from cfgen.core.hashing import canonical_json, hash_json
from cfgen.models.base import Ask, JobEndedError, Model, ModelError, Reply

#: A job starts when it is full, or when nothing more has come for this long, s.
LULL_S = 2.0
#: Polls in a row that may fail before a job is left for a later run.
POLL_FAULTS = 20
#: s between lines on a batch job that is waited for
_SAY_S = 30.0

Answer = asyncio.Future[Reply]


class BatchModel(Model, Protocol):
    """A model that takes jobs."""

    async def submit(self, asks: Sequence[Ask]) -> str: ...

    async def collect(self, name: str, count: int) -> list[Reply | ModelError] | None: ...


@dataclass
class _Job:
    """A job under way: the hashes of its questions by row, "" where the answer was delivered."""

    name: str
    asks: list[str]
    path: Path | None


class Batcher:
    """Looks like a model that answers one question at a time.

    A job's name and questions are kept under ``folder`` until they are answered: a run that was interrupted picks up
    every answer that it still wants from the same job instead of paying for it twice.
    """

    def __init__(
        self,
        model: BatchModel,
        size: int,
        poll_s: float,
        folder: str,
        quiet: bool = True,
    ) -> None:
        self.id, self.form = model.id, model.form
        self.identity: Mapping[str, Any] = model.identity
        self.at_once: int | None = size
        self.host = model.host
        self._model, self._size, self._poll_s = model, size, poll_s
        self._quiet, self._said = quiet, -_SAY_S
        self._folder = Path(folder) / "jobs" if folder else None
        self._waiting: list[tuple[Ask, Answer]] = []
        self._work: set[asyncio.Task[None]] = set()
        self._ours: set[str] = set()
        self._lull: asyncio.TimerHandle | None = None

    def check(self) -> None:
        self._model.check()

    async def open(self) -> None:
        await self._model.open()

    async def close(self) -> None:
        for work in self._work:
            work.cancel()
        await self._model.close()

    async def ask(self, ask: Ask) -> Reply:
        loop = asyncio.get_running_loop()
        answer: Answer = loop.create_future()
        self._waiting.append((ask, answer))
        if self._lull is not None:
            self._lull.cancel()
        if len(self._waiting) >= self._size:
            self._start()
        else:
            self._lull = loop.call_later(LULL_S, self._start)
        return await answer

    def sent(self) -> list[str]:
        """Hashes of the questions in jobs that nobody here waits for: they will be paid for all the same."""
        return [ask for job in self._earlier_jobs() for ask in job.asks if ask]

    # --- from questions to jobs -----------------------------------------------------------------------------

    def _start(self) -> None:
        waiting, self._waiting, self._lull = self._waiting, [], None
        try:
            self._share(waiting)
        except Exception as error:  # nobody else would tell those who wait
            _fail(dict(enumerate(answer for _, answer in waiting)), error)

    def _share(self, waiting: list[tuple[Ask, Answer]]) -> None:
        """Questions go to jobs of earlier runs that answer them, the others to a new one."""
        for job in self._earlier_jobs():
            rows: dict[str, list[int]] = {}
            for row, question in enumerate(job.asks):
                rows.setdefault(question, []).append(row)
            matched = {rows[ask.hash].pop(0): answer for ask, answer in waiting if rows.get(ask.hash)}
            if matched:
                matched_ids = set(map(id, matched.values()))
                waiting = [pair for pair in waiting if id(pair[1]) not in matched_ids]
                self._ours.add(job.name)
                self._say(f"{job.name}: picked up, {len(matched)} of its answers are wanted")
                self._spawn(self._deliver(job, matched, resumed=True), matched)
        if waiting:
            self._spawn(self._submit(waiting), dict(enumerate(answer for _, answer in waiting)))

    def _spawn(self, work: Coroutine[Any, Any, None], answers: Mapping[int, Answer]) -> None:
        async def guarded() -> None:
            try:
                await work
            except Exception as error:
                _fail(answers, error)

        task = asyncio.get_running_loop().create_task(guarded())
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _submit(self, batch: list[tuple[Ask, Answer]]) -> None:
        asks = [ask for ask, _ in batch]
        answers = dict(enumerate(answer for _, answer in batch))
        name = await self._model.submit(asks)
        self._ours.add(name)
        job = _Job(name, [ask.hash for ask in asks], self._path(name))
        self._keep(job)
        await self._deliver(job, answers)

    async def _deliver(self, job: _Job, answers: Mapping[int, Answer], resumed: bool = False) -> None:
        try:
            results = await self._collected(job, resumed)
        except Exception:
            self._ours.discard(job.name)
            raise
        for row, answer in answers.items():
            result = results[row]
            job.asks[row] = ""
            if answer.done():
                continue
            if isinstance(result, ModelError):
                answer.set_exception(result)
            else:
                answer.set_result(result)
        self._keep(job)
        self._ours.discard(job.name)

    async def _collected(self, job: _Job, resumed: bool) -> list[Reply | ModelError]:
        """Polls until the job ends; a poll that fails in passing is no reason to give up a job that is paid for.

        A resumed job that the service no longer knows is forgotten, and its questions are asked again.
        """
        failed, start = 0, time.monotonic()
        while True:
            try:
                results = await self._model.collect(job.name, len(job.asks))
                failed = 0
            except JobEndedError:
                self._forget(job)
                raise
            except ModelError as error:
                if resumed and error.kind == "fatal":
                    self._forget(job)
                    raise ModelError("transient", f"batch job {job.name} is gone ({error})") from None
                failed += 1
                if error.kind not in ("rate", "transient") or failed > POLL_FAULTS:
                    raise
                results = None
            if results is not None:
                return results
            minutes = (time.monotonic() - start) / 60
            self._say(
                f"{job.name}: {len(job.asks)} questions, waited for {minutes:.0f} min; interrupt and run again to "
                "wait later"
            )
            await asyncio.sleep(self._poll_s)

    def _say(self, text: str) -> None:
        """A line now and then on stderr."""
        now = time.monotonic()
        if not self._quiet and now - self._said >= _SAY_S:
            self._said = now
            print(text, file=sys.stderr, flush=True)

    # --- what is kept on disk ---------------------------------------------------------------------------------

    def _earlier_jobs(self) -> list[_Job]:
        """Jobs of earlier runs with the same model."""
        jobs = []
        for path in sorted(self._folder.glob("*.json")) if self._folder is not None else []:
            with contextlib.suppress(StoreError, KeyError, TypeError):
                record = read_json(path)
                if record["model"] == hash_json(dict(self.identity)) and record["job"] not in self._ours:
                    jobs.append(_Job(str(record["job"]), list(record["asks"]), path))
        return jobs

    def _keep(self, job: _Job) -> None:
        """Note what of the job is still to come; nothing when all is delivered."""
        if job.path is None:
            return
        if any(job.asks):
            model = hash_json(dict(self.identity))
            write_bytes(job.path, canonical_json({"job": job.name, "model": model, "asks": job.asks}))
        else:
            self._forget(job)

    def _forget(self, job: _Job) -> None:
        if job.path is not None:
            job.path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path | None:
        digest = hash_json(name).removeprefix("sha256:")
        return None if self._folder is None else self._folder / f"{digest}.json"


def _fail(answers: Mapping[int, Answer], error: Exception) -> None:
    for answer in answers.values():
        if not answer.done():
            answer.set_exception(error)
