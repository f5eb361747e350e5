"""The order in which a planner is asked: of a scene one arm of one case in a batch, and in the life of a process.

Cases of a scene share its frames: two edits of them beside each other tell as much as an edit beside the original.
"""

import secrets
from collections.abc import Callable, Iterable
from typing import TypeVar

from cfgen.planners.registry import OpenPlanner

Q = TypeVar("Q")
#: case and arm
Shown = tuple[str, str]
#: scene of a question, and what is shown of it
Key = Callable[[Q], tuple[str, Shown]]


def apart(questions: Iterable[Q], key: Key[Q]) -> list[Q]:
    """``questions`` in passes that hold of each scene one arm at most of one case, with all its repeats.

    Which comes when is chance, scene by scene, and so is the order within a pass, from the system's own source: what
    a planner sees in one pass tells nothing of the next, and no seed that it could know gives the order.
    """
    chance = secrets.SystemRandom()
    scenes: dict[str, dict[Shown, list[Q]]] = {}
    for question in questions:
        scene, shown = key(question)
        scenes.setdefault(scene, {}).setdefault(shown, []).append(question)
    passes: list[list[Q]] = [[] for _ in range(max(map(len, scenes.values()), default=0))]
    for arms in scenes.values():
        for place, same in zip(chance.sample(range(len(passes)), len(arms)), arms.values(), strict=True):
            passes[place] += same
    for one in passes:
        chance.shuffle(one)
    return [question for one in passes for question in one]


class Memory:
    """What one copy of a planner may remember; it starts anew before it would see a second arm of a scene."""

    def __init__(self, planner: OpenPlanner) -> None:
        self._planner, self._seen = planner, dict[str, Shown]()

    def admit(self, keys: Iterable[tuple[str, Shown]]) -> None:
        """Before the questions with these keys (see :func:`apart`) are put, each of another scene."""
        asked = dict(keys)
        if any(self._seen.get(scene, shown) != shown for scene, shown in asked.items()):
            self._planner.renew()
            self._seen.clear()
        self._seen |= asked
