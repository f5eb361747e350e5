"""Answers and verdicts of a report: where each lies is held, the records themselves only as long as they are few."""

from collections.abc import Iterable
from sys import intern
from typing import Protocol, TypeVar

from cfgen.core.disk_backed import DiskList, DiskMap, DiskStore, ListView

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


class Answers(DiskList[R]):
    """Records about answers in the order in which they were read. ``places``: arm -> key -> which of them."""

    def __init__(self, disk: DiskStore, records: Iterable[R] = ()) -> None:
        self.places: dict[str, dict[Key, int]] = {}
        self._of_arm: dict[str, list[int]] = {}
        super().__init__(disk, records)

    def append(self, thing: R) -> None:
        arm, place = intern(thing.arm), len(self)
        self.places.setdefault(arm, {})[intern(thing.case_id), thing.repeat] = place
        self._of_arm.setdefault(arm, []).append(place)
        super().append(thing)

    def get(self, arm: str, key: Key) -> R | None:
        """The last one about this answer."""
        place = self.places.get(arm, {}).get(key)
        return None if place is None else self[place]

    def of_arm(self, arm: str) -> ListView[R]:
        return ListView(self, self._of_arm.get(arm, ()))

    def by_key(self, arm: str) -> DiskMap[Key, R]:
        return DiskMap.of(self, self.places.get(arm, {}))
