"""Every question of a benchmark: which there are, in what order they are asked, and who asks which.

A planner sees of a scene one arm of one case in a batch, and in the life of a process: cases of a scene share its
frames, and two edits of them beside each other tell as much as an edit beside the original.
"""

import random
import secrets
import threading
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Self, TypeVar, overload

from cfgen.core.locks import NameClaims
from cfgen.planners.registry import OpenPlanner
from cfgen.records import Case
from cfgen.storage.store import Store

Q = TypeVar("Q")
#: case and arm
Shown = tuple[str, str]
#: scene of a question, and what is shown of it
Key = Callable[[Q], tuple[str, Shown]]


def query_order(questions: Iterable[Q], key: Key[Q]) -> list[Q]:
    """``questions`` in passes that hold of each scene one arm at most of one case, with all its repeats.

    Which comes when is chance, scene by scene, and so is the order within a pass, from the system's own source: what
    a planner sees in one pass tells nothing of the next, and no seed that it could know gives the order.
    """
    chance = secrets.SystemRandom()
    scenes: dict[str, dict[Shown, list[Q]]] = {}
    for question in questions:
        scene, case_and_arm = key(question)
        scenes.setdefault(scene, {}).setdefault(case_and_arm, []).append(question)
    passes: list[list[Q]] = [[] for _ in range(max(map(len, scenes.values()), default=0))]
    for arms in scenes.values():
        for place, same in zip(chance.sample(range(len(passes)), len(arms)), arms.values(), strict=True):
            passes[place] += same
    for batch in passes:
        chance.shuffle(batch)
    return [question for batch in passes for question in batch]


class Memory:
    """What one copy of a planner may remember; it starts anew before it would see a second arm of a scene."""

    def __init__(self, planner: OpenPlanner) -> None:
        self._planner, self._seen = planner, dict[str, Shown]()

    def admit(self, keys: Iterable[tuple[str, Shown]]) -> None:
        """Before the questions with these keys (see :func:`apart`) are put, each of another scene."""
        batch = dict(keys)
        if any(self._seen.get(scene, case_and_arm) != case_and_arm for scene, case_and_arm in batch.items()):
            self._planner.renew()
            self._seen.clear()
        self._seen |= batch


# --- which there are ------------------------------------------------------------------------------


class QueryKey(NamedTuple):
    """What tells one question of a benchmark from the others."""

    case_id: str
    arm: str
    repeat: int


@dataclass(frozen=True)
class RolloutInput:
    """One arm of one case, asked for the ``repeat``-th time."""

    case: Case
    arm: str
    repeat: int

    @property
    def key(self) -> QueryKey:
        return QueryKey(self.case.case_id, self.arm, self.repeat)


class Queries(Sequence[RolloutInput]):
    """Questions in the order of the cases, of their arms and of the repeats; or some of these, in another order.

    Args:
        load: a case by its id; the last ones are kept.
        cases: id -> the arms of that case that are asked.
        scenes: id of a case -> that of its scene; None where every case has one of its own.
        picked: numbers of questions, in the order wanted; None is all of them.
    """

    def __init__(
        self,
        load: Callable[[str], Case],
        cases: dict[str, tuple[str, ...]],
        repeats: int,
        scenes: Mapping[str, str] | None = None,
        picked: "array[int] | None" = None,
    ) -> None:
        self._load, self._cases, self._repeats, self._scenes = load, cases, repeats, scenes
        self._ids = list(cases)
        #: where the questions of each case begin
        self._starts: array[int] = array("q")
        total = 0
        for arms in cases.values():
            self._starts.append(total)
            total += len(arms) * repeats
        self._picked = array("q", range(total)) if picked is None else picked
        self.case = lru_cache(maxsize=64)(load)

    def key(self, place: int) -> QueryKey:
        """Of the question at ``place`` in this order; reads nothing."""
        number = self._picked[place]
        at = bisect_right(self._starts, number) - 1
        arm, repeat = divmod(number - self._starts[at], self._repeats)
        return QueryKey(self._ids[at], self._cases[self._ids[at]][arm], repeat)

    def scene(self, case_id: str) -> str:
        return self._scenes[case_id] if self._scenes is not None else case_id

    def shown(self, key: QueryKey) -> tuple[str, tuple[str, str]]:
        """Its scene, and what is shown of it: case and arm."""
        return self.scene(key.case_id), (key.case_id, key.arm)

    def each_key(self) -> Iterator[QueryKey]:
        return map(self.key, range(len(self)))

    def question(self, key: QueryKey) -> RolloutInput:
        return RolloutInput(self.case(key.case_id), key.arm, key.repeat)

    def only(self, condition: Callable[[QueryKey], bool]) -> "Queries":
        """Those that fulfil the ``condition``, in the same order."""
        places = (place for place in range(len(self)) if condition(self.key(place)))
        return self._pick(array("q", (self._picked[place] for place in places)))

    def apart(self) -> "Queries":
        """In an order in which no planner need see two arms of a scene; see :func:`query_order`."""
        in_order = sorted(range(len(self)), key=self._picked.__getitem__)
        places = query_order(in_order, lambda place: self.shown(self.key(place)))
        return self._pick(array("q", (self._picked[place] for place in places)))

    def shuffled(self, seed: int) -> "Queries":
        picked = self._picked[:]
        random.Random(seed).shuffle(picked)
        return self._pick(picked)

    def shard(self, index: int, count: int) -> "Queries":
        """The ``index``-th of ``count`` parts, from 1 on; a case is in one part with all its arms."""
        mine = set(self._ids[index - 1 :: count])
        return self.only(lambda key: key.case_id in mine)

    def _pick(self, picked: "array[int]") -> "Queries":
        return Queries(self._load, self._cases, self._repeats, self._scenes, picked)

    def __len__(self) -> int:
        return len(self._picked)

    @overload
    def __getitem__(self, place: int) -> RolloutInput: ...
    @overload
    def __getitem__(self, place: slice) -> list[RolloutInput]: ...
    def __getitem__(self, place: int | slice) -> RolloutInput | list[RolloutInput]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        return self.question(self.key(place))


# --- who asks which -------------------------------------------------------------------------------

#: s between two looks at what another command has in hand
_LOOK_S = 0.2
#: batches' worth of questions that are looked through for one of another scene
_AHEAD = 8


class Queue:
    """Hands out ``keys`` in their order, claimed for as long as they are in hand.

    Args:
        is_open: whether a question is still to be put; asked once it is claimed, as another command may have put it.
        passed: told of each that another command has put. wait: told once how many others have in hand, when nothing
            else is left. scene: that of a case; each has one of its own unless told.
    """

    def __init__(
        self,
        store: Store,
        planner: str,
        keys: Iterator[QueryKey],
        is_open: Callable[[QueryKey], bool],
        passed: Callable[[], None],
        wait: Callable[[int], None],
        scene: Callable[[str], str] = str,
    ) -> None:
        self._store, self._planner = store, planner
        self._claims = NameClaims(store.root, f"asking.{planner}")
        self._keys, self._wanted, self._passed, self._wait = keys, is_open, passed, wait
        self._scene = scene
        self._aside: deque[QueryKey] = deque()
        self._elsewhere: list[QueryKey] = []
        self._told = self._closed = False
        self._lock = threading.RLock()
        self.stopped = threading.Event()

    def take(self, size: int) -> list[QueryKey]:
        """Up to ``size`` questions, each of another scene, so that no batch holds two arms of one; empty at the end.

        Waits for those that other commands have in hand: should one of these end, they are handed out here.
        """
        while not self.stopped.is_set():
            with self._lock:
                if self._closed:
                    break
                batch = self._fresh(size)
                if not batch:  # what others had in hand and did not put after all
                    self._aside.extend(self._elsewhere)
                    self._elsewhere.clear()
                    batch = self._fresh(size)
                count = len(self._elsewhere)
                if batch or not count:
                    return batch
                if not self._told:
                    self._told = True
                    self._wait(count)
            self.stopped.wait(_LOOK_S)
        return []

    def done(self, key: QueryKey) -> None:
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

    def _fresh(self, size: int) -> list[QueryKey]:
        batch: dict[str, QueryKey] = {}
        put_off: list[QueryKey] = []
        while len(batch) < size and len(put_off) < _AHEAD * size and (key := self._next()) is not None:
            if (scene := self._scene(key.case_id)) in batch:
                put_off.append(key)
            elif not self._claims.take(_name(key)):
                self._elsewhere.append(key)
            elif self._open(key):
                batch[scene] = key
        self._aside.extendleft(reversed(put_off))
        return list(batch.values())

    def _open(self, key: QueryKey) -> bool:
        self._store.look_again(self._store.rollout_path(self._planner, key.arm, key.case_id, key.repeat))
        if self._wanted(key):
            return True
        self.done(key)
        self._passed()
        return False

    def _next(self) -> QueryKey | None:
        return self._aside.popleft() if self._aside else next(self._keys, None)


def _name(key: QueryKey) -> str:
    return f"{key.arm}/{key.case_id}.{key.repeat}"
