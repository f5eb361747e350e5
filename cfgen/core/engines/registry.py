"""``--engine``: who does the pieces of work of a build or a score, and what an engine is."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from cfgen.core.errors import InputError
from cfgen.core.registry import Extra, Registry

T = TypeVar("T")
R = TypeVar("R")

#: what is used unless the user names another
DEFAULT = "processes"

ENGINES = Registry(
    "engine",
    "cfgen.engines",
    {
        "serial": "cfgen.core.engines.processes:Serial",
        "processes": "cfgen.core.engines.processes:Processes",
        "ray": "cfgen.core.engines.ray_engine:Ray",
    },
    extras={"ray": Extra("ray", "ray")},
)


class WorkerDiedError(Exception):
    """A worker ended in the middle of a piece of work: killed for want of memory, crashed, or with its machine."""


@dataclass(frozen=True)
class WorkerNeeds:
    """The workers that some work needs.

    Attributes:
        jobs: how many; 0: as many as the machines have cores for, or cards where each loads a model.
        most: more would have nothing to do, or may not be; 0: no limit.
        model: each loads a model, which wants a card to itself.
        folders: that every worker must see; the first is written to.
        same: what must be the same at every worker as in this process; asked for there too.
        serve: what model workers do with what a worker hands to :func:`cfgen.core.engines.pool.ask_model` in the
            middle of its work; None: each worker does all. An engine may do without model workers: then no worker is
            connected to one.
    """

    jobs: int = 0
    most: int = 0
    model: bool = False
    folders: tuple[Path, ...] = ()
    same: Callable[[], Mapping[str, str]] | None = None
    serve: Callable[[Any], Any] | None = None


class Pool(Protocol):
    """Workers that live from one :meth:`run` to the next."""

    def run(
        self, work: Callable[[T], R], items: Iterable[T], on_death: Callable[[T, WorkerDiedError], R]
    ) -> Iterator[R]:
        """``work(item)`` for every item, in any order; both must pickle. Few items are taken ahead of their turn.

        A worker's exception is raised here. An item whose worker died is tried again by another one when the others are
        done; what kills several of them is given to ``on_death``, in this process, for its result.

        Raises:
            CfgenError: workers cannot start at all.
        """
        ...


class Engine(Protocol):
    """Created with its options; its first docstring line is what a list says of it.

    ``elsewhere``: its workers may be on other machines, so that what a process holds open is of no use to them.
    """

    elsewhere: bool

    def pool(self, needs: WorkerNeeds) -> AbstractContextManager[Pool]:
        """
        Raises:
            CfgenError: workers cannot be had, or not such that they may work together.
        """
        ...


def create_engine(name: str, options: Mapping[str, Any] | None = None) -> Engine:
    """
    Raises:
        InputError: an unknown name, or options that it does not take.
        MissingExtraError: the package that it works with is not installed.
    """
    engine: Engine = ENGINES.create(name or DEFAULT, dict(options or {}))
    return engine


def default_jobs() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def importable(thing: Any) -> str:
    """``module:name`` by which a worker finds a class or function.

    Raises:
        InputError: it was defined in a script, a notebook or another function, where no worker can find it.
    """
    module, name = str(thing.__module__), str(thing.__qualname__)
    if module == "__main__":  # that of ``python -m package.module`` has a name of its own
        module = getattr(getattr(sys.modules["__main__"], "__spec__", None), "name", module)
    if module == "__main__" or "<locals>" in name:
        raise InputError(
            f"class '{name}' is defined in the script, notebook or function that runs now, and a process of its own "
            f"cannot import it from there: pass an instance, {thing.__name__}(), to run it in this process, or move "
            "it to a module"
        )
    return f"{module}:{name}"


# --- shard -------------------------------------------------------------------------------------
# ``--shard I/N``: the I-th of N parts.


def shard_of(text: str) -> tuple[int, int] | None:
    """ "2/8" is (2, 8): the second of eight parts; "" is None.

    Raises:
        InputError: something else.
    """
    if not text:
        return None
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise InputError(f"--shard: expected I/N with 1 <= I <= N, such as 2/8, found '{text}'")
    return int(index), int(count)
