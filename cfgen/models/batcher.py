"""Questions gathered into batch jobs: half the price, up to a day's wait, and nothing else changed."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from cfgen.files import read_json, write_bytes
from cfgen.hashing import canonical_json, hash_json
from cfgen.models.base import Ask, JobEndedError, Model, ModelError, Reply

#: A job starts when it is full, or when nothing more has come for this long, s.
LULL_S = 2.0
#: Polls in a row that may fail before a job is left for a later run.
POLL_FAULTS = 20


class Jobs(Model, Protocol):
    """A model that takes jobs."""

    async def submit(self, asks: Sequence[Ask]) -> str: ...

    async def collect(self, name: str, count: int) -> list[Reply | ModelError] | None: ...


class Batcher:
    """Looks like a model that answers one question at a time.

    A job's name is kept under ``folder`` until it is collected: a run that was interrupted picks the same job up
    again instead of paying for it twice.
    """

    def __init__(
        self,
        model: Jobs,
        size: int,
        poll_s: float,
        folder: str,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.id, self.form = model.id, model.form
        self.identity: Mapping[str, Any] = model.identity
        self.at_once: int | None = size
        self._model, self._size, self._poll_s = model, size, poll_s
        self._say = say or (lambda _: None)
        self._folder = Path(folder) / "jobs" if folder else None
        self._waiting: list[tuple[Ask, asyncio.Future[Reply]]] = []
        self._jobs: set[asyncio.Task[None]] = set()
        self._lull: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        await self._model.open()

    async def close(self) -> None:
        for job in self._jobs:
            job.cancel()
        await self._model.close()

    async def ask(self, ask: Ask) -> Reply:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()
        self._waiting.append((ask, answer))
        if self._lull is not None:
            self._lull.cancel()
        if len(self._waiting) >= self._size:
            self._start()
        else:
            self._lull = loop.call_later(LULL_S, self._start)
        return await answer

    def _start(self) -> None:
        # in a fixed order, so that the same questions are the same job after an interruption
        batch = sorted(self._waiting, key=lambda pair: pair[0].hash)
        self._waiting, self._lull = [], None
        if batch:
            job = asyncio.get_running_loop().create_task(self._work(batch))
            self._jobs.add(job)
            job.add_done_callback(self._jobs.discard)

    async def _work(self, batch: list[tuple[Ask, "asyncio.Future[Reply]"]]) -> None:
        try:
            found = await self._results([ask for ask, _ in batch])
        except Exception as error:
            found = [error if isinstance(error, ModelError) else ModelError("bad", repr(error))] * len(batch)
        for (_, answer), one in zip(batch, found, strict=True):
            if answer.cancelled():
                continue
            if isinstance(one, ModelError):
                answer.set_exception(one)
            else:
                answer.set_result(one)

    async def _results(self, asks: list[Ask]) -> list[Reply | ModelError]:
        kept = self._kept(asks)
        if kept is not None and kept.is_file():
            name = str(read_json(kept)["job"])
        else:
            name = await self._model.submit(asks)
            if kept is not None:
                write_bytes(kept, canonical_json({"job": name}))
        found = await self._collected(name, len(asks), kept)
        if kept is not None:
            kept.unlink(missing_ok=True)
        return found

    async def _collected(self, name: str, count: int, kept: Path | None) -> list[Reply | ModelError]:
        """Polls until the job ends; a poll that fails in passing is no reason to give up a job that is paid for."""
        failed, start = 0, time.monotonic()
        while True:
            try:
                found = await self._model.collect(name, count)
                failed = 0
            except JobEndedError:
                if kept is not None:
                    kept.unlink(missing_ok=True)
                raise
            except ModelError as error:
                failed += 1
                if error.kind not in ("rate", "transient") or failed > POLL_FAULTS:
                    raise
                found = None
            if found is not None:
                return found
            minutes = (time.monotonic() - start) / 60
            self._say(
                f"{name}: {count} questions, waited for {minutes:.0f} min; it may be left and picked up later"
            )
            await asyncio.sleep(self._poll_s)

    def _kept(self, asks: list[Ask]) -> Path | None:
        digest = hash_json([dict(self.identity), [a.hash for a in asks]]).removeprefix("sha256:")
        return None if self._folder is None else self._folder / f"{digest}.json"
