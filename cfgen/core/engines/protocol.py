"""What an engine is: it starts workers, which do pieces of work; results come as they are ready."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: of workers that an item may have in a row before that counts as its own doing; some die of what others do
DEATHS = 5
#: workers that may fail to start, one after the other
STARTS = 5


class WorkerDiedError(Exception):
    """Who did a piece of work ended in the middle of it: killed for want of memory, crashed, or with its machine."""


def default_jobs() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Wanted:
    """The workers that some work needs.

    Attributes:
        jobs: how many; 0: as many as the machines have cores for, or cards where each loads a model.
        most: more would have nothing to do, or may not be; 0: no limit.
        model: each loads a model, which wants a card to itself.
        folders: that every worker must see; the first is written to.
        same: what must be the same at every worker as here; asked for there too.
        serve: what those do that hold a model, with what a worker hands to :func:`cfgen.core.engines.asking.ask` in
            the middle of its work; None: each worker does all. An engine may do without: then nobody can be asked.
    """

    jobs: int = 0
    most: int = 0
    model: bool = False
    folders: tuple[Path, ...] = ()
    same: Callable[[], Mapping[str, str]] | None = None
    serve: Callable[[Any], Any] | None = None


class Pool(Protocol):
    """Workers, kept from one :meth:`run` to the next."""

    def run(
        self, work: Callable[[T], R], items: Iterable[T], lost: Callable[[T, WorkerDiedError], R]
    ) -> Iterator[R]:
        """``work(item)`` for every item, in any order; both must pickle. Few items are taken ahead of their turn.

        A worker's exception is raised here. An item whose worker died is tried again by another one when the others are
        done; what kills DEATHS of them is given to ``lost``, here, for its result.

        Raises:
            CfgenError: workers cannot start at all.
        """
        ...


class Engine(Protocol):
    """Made of its options; its first docstring line is what a list says of it.

    ``elsewhere``: its workers may be on other machines, so that what a process holds open is of no use to them.
    """

    elsewhere: bool

    def pool(self, wanted: Wanted) -> AbstractContextManager[Pool]:
        """
        Raises:
            CfgenError: workers cannot be had, or not such that they may work together.
        """
        ...
