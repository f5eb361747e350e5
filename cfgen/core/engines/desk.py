"""Between the workers of this machine and those processes of it that hold a model.

A worker asks one thing at a time and waits, so that at most as many things wait here as there are workers.
"""

import contextlib
import os
import pickle
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pipe, connection
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from cfgen.core.engines.asking import served
from cfgen.core.engines.one_process import StillbornError, Worker
from cfgen.core.engines.protocol import DEATHS, STARTS, WorkerDiedError
from cfgen.core.engines.told import Told
from cfgen.core.errors import CfgenError


@dataclass(eq=False)
class _Asked:
    """By whom, what, and how many died of it."""

    line: Connection
    data: bytes
    deaths: int = 0


class Desk:
    """``size`` processes that do ``serve``; they start when the first thing is asked."""

    def __init__(self, serve: Callable[[Any], Any], size: int) -> None:
        self._serve, self._size = partial(served, serve), size
        self._cards = cards() if size > 1 else ()
        self._lines: list[Connection] = []
        self._waiting: deque[_Asked] = deque()
        self._busy: dict[int, tuple[Worker, _Asked]] = {}
        self._free: dict[int, Worker] = {}
        self._stillborn = 0
        self._closing = False
        self._heard, self._bell = Pipe(duplex=False)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def line(self) -> Connection:
        """By which a new worker asks."""
        ours, theirs = Pipe()
        self._lines.append(ours)
        self._bell.send_bytes(b"new")
        if not self._thread.is_alive():
            ours.close()
        return theirs

    def close(self) -> None:
        """Once no worker lives that asks."""
        self._closing = True
        self._bell.send_bytes(b"end")
        self._thread.join()

    def _run(self) -> None:
        try:
            self._attend()
        finally:  # whatever ended it, nobody waits for ever
            for line in list(self._lines):
                line.close()

    def _attend(self) -> None:
        while not self._closing:
            by_sign = {sign: number for number, (one, _) in self._busy.items() for sign in one.speaks}
            asking = {one.line for _, one in self._busy.values()} | {one.line for one in self._waiting}
            quiet = [line for line in self._lines if line not in asking]
            ready = connection.wait([self._heard, *quiet, *by_sign])
            for sign in ready:
                if sign is self._heard:
                    self._heard.recv_bytes()
                elif sign in quiet:
                    self._ask(sign)
            for number in {by_sign[sign] for sign in ready if sign in by_sign}:
                self._hear(number)
            self._hand_out()
        for worker in [*self._free.values(), *(one for one, _ in self._busy.values())]:
            worker.dismiss()
            worker.process.join()

    def _ask(self, line: Connection) -> None:
        try:
            self._waiting.append(_Asked(line, line.recv_bytes()))
        except (EOFError, OSError):  # it has died or ended
            self._lines.remove(line)
            line.close()

    def _hand_out(self) -> None:
        while self._waiting and len(self._busy) < self._size:
            number = next((n for n in self._free), None)
            if number is None:
                number = next(n for n in range(self._size) if n not in self._busy)
            worker = self._free.pop(number, None) or Worker(environment=self._card(number))
            asked = self._waiting.popleft()
            self._busy[number] = worker, asked
            worker.give(self._serve, asked.data)

    def _hear(self, number: int) -> None:
        worker, asked = self._busy[number]
        told = worker.hear()
        if told is None:
            self._stillborn = 0
            return
        del self._busy[number]
        if not isinstance(told, WorkerDiedError):
            self._free[number] = worker
            self._tell(asked, told)
        elif isinstance(told, StillbornError):
            self._stillborn += 1
            if self._stillborn >= STARTS:
                why = f"processes that hold a model cannot start ({told}); use one process (--jobs 1)"
                self._tell(asked, Told(error=CfgenError(why)))
            else:
                self._waiting.appendleft(asked)
        else:
            asked.deaths += 1
            if asked.deaths >= DEATHS:
                self._tell(asked, Told(error=told))
            else:
                self._waiting.append(asked)

    def _tell(self, asked: _Asked, told: Told) -> None:
        with contextlib.suppress(OSError):  # it has died: nobody wants it any more
            asked.line.send_bytes(pickle.dumps(told))

    def _card(self, number: int) -> Mapping[str, str]:
        if not self._cards:
            return {}
        card = self._cards[number % len(self._cards)]
        return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": card}


def cards(folder: Path = Path("/dev")) -> tuple[str, ...]:
    """Of this process, as CUDA_VISIBLE_DEVICES names them. ``folder``: of the machine's device files."""
    told = os.environ.get("CUDA_VISIBLE_DEVICES")
    if told is not None:
        return tuple(name.strip() for name in told.split(",") if name.strip())
    there = sorted(int(m[1]) for p in folder.glob("nvidia*") if (m := re.fullmatch(r"nvidia(\d+)", p.name)))
    return tuple(map(str, there))
