"""How judges and checkers made of models work through their items: within limits, and nothing asked twice."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

import cv2
import numpy as np

from cfgen.core import interrupts
from cfgen.core.engines.registry import default_jobs
from cfgen.core.errors import InputError, Shortfall
from cfgen.core.faults import ends_the_run
from cfgen.core.files import FrameFile, FrameLike, file_bytes
from cfgen.judge.protocol import JudgeItem
from cfgen.judge.rubrics.registry import Rubric
from cfgen.models.base import Ask, ChatTurn, Form, Model, Picture
from cfgen.models.client import Client
from cfgen.models.limits import BudgetSpentError, Limits

T = TypeVar("T")
R = TypeVar("R")


class Asking:
    """One judge's client and pictures, for all of its models and runs."""

    def __init__(self, name: str, limits: Limits, role: str = "judge") -> None:
        self.limits = limits
        self.client = Client(f"{role} '{name}'", limits, f"{role} {name}")
        self.pictures = Pictures()
        #: let an exception on one item through, with its traceback
        self.strict = False
        self._pool: ThreadPoolExecutor
        #: questions that a model takes in one go; those that are being prepared, and those that wait for them
        self._together, self._preparing = 1, 0
        self._ready: list[asyncio.Future[None]] = []

    def run(
        self,
        models: Sequence[Model],
        items: Sequence[T],
        work: Callable[[T], Awaitable[None]],
        broke: Callable[[T, Exception], None],
        what: str,
    ) -> None:
        """``work`` on every item, and ``broke`` where it raised. Workers pull, so that no more is prepared than can
        soon be sent.

        Raises:
            Shortfall: the budget is spent; ``what`` names in plural what the items become.
            CfgenError: a key, a package or a model is missing or refused, or nothing can be written.
        """
        if items:
            interrupts.run(self._run(models, items, work, broke, what))

    async def _run(
        self,
        models: Sequence[Model],
        items: Sequence[T],
        work: Callable[[T], Awaitable[None]],
        broke: Callable[[T, Exception], None],
        what: str,
    ) -> None:
        self._together = max((m.at_once or 1 for m in models), default=1)
        self._preparing, self._ready = 0, []
        queue: Iterator[T] = iter(items)
        count = 0

        async def worker() -> None:
            nonlocal count
            for item in queue:
                try:
                    await work(item)
                except BudgetSpentError:
                    return
                except Exception as error:
                    if self.strict or ends_the_run(error):
                        raise
                    broke(item, error)
                count += 1

        # a model may take more questions in one go than may be under way otherwise
        concurrency = max(2 * self.limits.concurrency, *(m.at_once or 0 for m in models), 0)
        async with self.client:
            with ThreadPoolExecutor(max(2, min(8, default_jobs())), "render") as self._pool:
                tasks = [asyncio.create_task(worker()) for _ in range(min(len(items), concurrency))]
                try:
                    await asyncio.gather(*tasks)
                finally:
                    for task in tasks:
                        task.cancel()
        if count < len(items):
            raise Shortfall(self.client.broke(f"{count} of {len(items)} {what}"))

    async def aside(self, prepare: Callable[[], R]) -> R:
        """Drawing and encoding, off the event loop.

        Where a model takes several questions in one go, what is prepared goes on when that many are, or no other is
        being prepared: how long each took decides nothing.
        """
        loop = asyncio.get_running_loop()
        self._preparing += 1
        try:
            result = await loop.run_in_executor(self._pool, prepare)
            ready = loop.create_future()
            self._ready.append(ready)
        finally:
            self._preparing -= 1
            if len(self._ready) >= self._together or not self._preparing:
                loop.call_soon(_release, self._ready)
                self._ready = []
        await ready
        return result


def _release(ready: "list[asyncio.Future[None]]") -> None:
    for batch in ready:
        if not batch.done():
            batch.set_result(None)


# --- payload -----------------------------------------------------------------------------------
# From a judge item to what is sent: encoded once, off the event loop, with nothing that names the case.

#: Larger frames are shrunk: models see no more than this, px.
MAX_SIDE = 1536
JPEG_QUALITY = 92
#: Encoded frames kept in memory; about 0.6 MB each.
_AT_HAND = 256


class Pictures:
    """Encodes pictures; a stored frame once for all planners, arms and repeats while it is at hand."""

    def __init__(self) -> None:
        # by content, so that a picture is also hashed and put into text once
        self._frame = lru_cache(maxsize=_AT_HAND)(_read)

    def ask(self, item: JudgeItem, rubric: Rubric, form: Form) -> Ask:
        """The rubric's question about one item. Pictures are JPEG without metadata, in the rubric's order."""
        parts = tuple(p if isinstance(p, str) else self.picture(p) for p in rubric.prompt(item))
        return Ask(rubric.system(form), (ChatTurn("user", parts),), form, rubric.schema, item.key)

    def picture(self, frame: FrameLike) -> Picture:
        """An image or a stored frame as JPEG."""
        return picture(frame) if isinstance(frame, np.ndarray) else self._frame(frame)


def picture(pixels: np.ndarray) -> Picture:
    """(H, W, 3) uint8 RGB as JPEG, shrunk to MAX_SIDE."""
    return _jpeg(cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))


def _read(frame: FrameFile) -> Picture:
    """A stored frame as JPEG; OpenCV lets other threads run while it decodes, and knows no words for a broken file."""
    stored = None
    if frame.source is None:
        with contextlib.suppress(OSError, InputError, cv2.error):
            stored = cv2.imdecode(np.frombuffer(file_bytes(frame.path), np.uint8), cv2.IMREAD_COLOR)
    return picture(frame.read()) if stored is None else _jpeg(stored)


def _jpeg(bgr: np.ndarray) -> Picture:
    longest = max(bgr.shape[:2])
    if longest > MAX_SIDE:
        size = tuple(max(1, round(side * MAX_SIDE / longest)) for side in bgr.shape[1::-1])
        bgr = cv2.resize(bgr, size, interpolation=cv2.INTER_AREA)
    encoded, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not encoded:
        raise InputError(f"cannot encode a picture of shape {bgr.shape} as JPEG")
    return Picture(data.tobytes())
