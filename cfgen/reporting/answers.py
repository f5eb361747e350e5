"""Answers and verdicts of a report: where each lies is held, the records themselves only as long as they are few."""

from collections.abc import Iterable
from sys import intern
from typing import Protocol, TypeVar

from cfgen.core.spill import Part, Spill, Spilled, SpilledMap

#: case id, repeat
Key = tuple[str, int]


class OfAnswer(Protocol):
    """A record about one answer."""

    @property
    def case_id(self) -> str: ...
    @property
    def arm(self) -> str: ...
    @property
    def repeat(self) -> int: ...


R = TypeVar("R", bound=OfAnswer)


class Answers(Spilled[R]):
    """Records about answers in the order in which they were read. ``places``: arm -> key -> which of them."""

    def __init__(self, spill: Spill, records: Iterable[R] = ()) -> None:
        self.places: dict[str, dict[Key, int]] = {}
        self._of_arm: dict[str, list[int]] = {}
        super().__init__(spill, records)

    def append(self, thing: R) -> None:
        arm, place = intern(thing.arm), len(self)
        self.places.setdefault(arm, {})[intern(thing.case_id), thing.repeat] = place
        self._of_arm.setdefault(arm, []).append(place)
        super().append(thing)

    def get(self, arm: str, key: Key) -> R | None:
        """The last one about this answer."""
        place = self.places.get(arm, {}).get(key)
        return None if place is None else self[place]

    def of_arm(self, arm: str) -> Part[R]:
        return Part(self, self._of_arm.get(arm, ()))

    def by_key(self, arm: str) -> SpilledMap[Key, R]:
        return SpilledMap.of(self, self.places.get(arm, {}))
