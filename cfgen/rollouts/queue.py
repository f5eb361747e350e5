"""Questions for any number of askers, here and in other commands on the same benchmark: each is put once."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Self

from cfgen.core.locks import Claims
from cfgen.rollouts.questions import QuestionKey
from cfgen.storage.store import Store

#: s between two looks at what another command has in hand
_LOOK_S = 0.2
#: batches' worth of questions that are looked through for one of another scene
_AHEAD = 8


class Queue:
    """Hands out ``keys`` in their order, claimed for as long as they are in hand.

    Args:
        wanted: whether a question is still open; asked again once it is claimed, as another command may have put it.
        passed: told of each that another command has put. wait: told once how many others have in hand, when nothing
            else is left. scene: that of a case; each has one of its own unless told.
    """

    def __init__(
        self,
        store: Store,
        planner: str,
        keys: Iterator[QuestionKey],
        wanted: Callable[[QuestionKey], bool],
        passed: Callable[[], None],
        wait: Callable[[int], None],
        scene: Callable[[str], str] = str,
    ) -> None:
        self._store, self._planner = store, planner
        self._claims = Claims(store.root, f"asking.{planner}")
        self._keys, self._wanted, self._passed, self._wait = keys, wanted, passed, wait
        self._scene = scene
        self._aside: deque[QuestionKey] = deque()
        self._elsewhere: list[QuestionKey] = []
        self._told = self._closed = False
        self._lock = threading.RLock()
        self.stopped = threading.Event()

    def take(self, size: int) -> list[QuestionKey]:
        """Up to ``size`` questions, each of another scene, so that no batch holds two arms of one; empty at the end.

        Waits for those that other commands have in hand: should one of these end, they are handed out here.
        """
        while not self.stopped.is_set():
            with self._lock:
                if self._closed:
                    break
                batch = self._fresh(size) or self._freed(size)
                left = len(self._elsewhere)
                if batch or not left:
                    return batch
                if not self._told:
                    self._told = True
                    self._wait(left)
            self.stopped.wait(_LOOK_S)
        return []

    def done(self, key: QuestionKey) -> None:
        """Its answer is stored, or it is not asked after all."""
        with self._lock:
            if not self._closed:
                self._claims.release(_name(key))

    def stop(self) -> None:
        self.stopped.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        with self._lock:
            self._closed = True
            self._claims.__exit__()

    def _fresh(self, size: int) -> list[QuestionKey]:
        batch: dict[str, QuestionKey] = {}
        put_off: list[QuestionKey] = []
        while len(batch) < size and len(put_off) < _AHEAD * size and (key := self._next()) is not None:
            if (scene := self._scene(key.case_id)) in batch:
                put_off.append(key)
            elif not self._claims.take(_name(key)):
                self._elsewhere.append(key)
            elif self._open(key):
                batch[scene] = key
        self._aside.extendleft(reversed(put_off))
        return list(batch.values())

    def _freed(self, size: int) -> list[QuestionKey]:
        """Of what others had in hand: what they did not put after all."""
        batch: dict[str, QuestionKey] = {}
        still: list[QuestionKey] = []
        for key in self._elsewhere:
            scene = self._scene(key.case_id)
            if len(batch) == size or scene in batch or not self._claims.take(_name(key)):
                still.append(key)
            elif self._open(key):
                batch[scene] = key
        self._elsewhere = still
        return list(batch.values())

    def _open(self, key: QuestionKey) -> bool:
        self._store.look_again(self._store.rollout_path(self._planner, key.arm, key.case_id, key.repeat))
        if self._wanted(key):
            return True
        self.done(key)
        self._passed()
        return False

    def _next(self) -> QuestionKey | None:
        return self._aside.popleft() if self._aside else next(self._keys, None)


def _name(key: QuestionKey) -> str:
    return f"{key.arm}/{key.case_id}.{key.repeat}"
