"""Every question of a benchmark, in a few bytes each: cases are read when a question is put, not before."""

import random
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, overload

from cfgen.records import Case
from cfgen.rollouts.passes import apart


class QuestionKey(NamedTuple):
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
    def key(self) -> QuestionKey:
        return QuestionKey(self.case.case_id, self.arm, self.repeat)


class Questions(Sequence[RolloutInput]):
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

    def key(self, place: int) -> QuestionKey:
        """Of the question at ``place`` in this order; reads nothing."""
        number = self._picked[place]
        at = bisect_right(self._starts, number) - 1
        arm, repeat = divmod(number - self._starts[at], self._repeats)
        return QuestionKey(self._ids[at], self._cases[self._ids[at]][arm], repeat)

    def scene(self, case_id: str) -> str:
        return self._scenes[case_id] if self._scenes is not None else case_id

    def shown(self, key: QuestionKey) -> tuple[str, tuple[str, str]]:
        """Its scene, and what is shown of it: case and arm."""
        return self.scene(key.case_id), (key.case_id, key.arm)

    def each_key(self) -> Iterator[QuestionKey]:
        return map(self.key, range(len(self)))

    def question(self, key: QuestionKey) -> RolloutInput:
        return RolloutInput(self.case(key.case_id), key.arm, key.repeat)

    def only(self, wanted: Callable[[QuestionKey], bool]) -> "Questions":
        """Those that are ``wanted``, in the same order."""
        places = (place for place in range(len(self)) if wanted(self.key(place)))
        return self._pick(array("q", (self._picked[place] for place in places)))

    def apart(self) -> "Questions":
        """In an order in which no planner need see two arms of a scene; see :func:`cfgen.rollouts.passes.apart`."""
        in_order = sorted(range(len(self)), key=self._picked.__getitem__)
        places = apart(in_order, lambda place: self.shown(self.key(place)))
        return self._pick(array("q", (self._picked[place] for place in places)))

    def shuffled(self, seed: int) -> "Questions":
        picked = self._picked[:]
        random.Random(seed).shuffle(picked)
        return self._pick(picked)

    def shard(self, index: int, count: int) -> "Questions":
        """The ``index``-th of ``count`` parts, from 1 on; a case is in one part with all its arms."""
        mine = set(self._ids[index - 1 :: count])
        return self.only(lambda key: key.case_id in mine)

    def _pick(self, picked: "array[int]") -> "Questions":
        return Questions(self._load, self._cases, self._repeats, self._scenes, picked)

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
