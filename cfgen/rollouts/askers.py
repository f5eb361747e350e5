"""Who puts the questions of a run: copies of the planner on this machine; :mod:`cfgen.rollouts.afar` has others."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from cfgen.core.errors import InputError
from cfgen.core.locks import turn
from cfgen.core.paths import scenarios_dir
from cfgen.metrics.rates import Rate
from cfgen.options import ScoreOptions
from cfgen.planners.crew import Member, crew
from cfgen.planners.outputs import EXPORTS
from cfgen.planners.registry import OpenPlanner, open_planner
from cfgen.planners.retries import RetryingPlanner
from cfgen.planners.runtime import Runtime, python_of
from cfgen.planners.waiting import waiting
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.rollouts.interventions import intervene
from cfgen.rollouts.questions import Questions
from cfgen.rollouts.runner import roll_out
from cfgen.rollouts.versions import settled
from cfgen.storage.store import Store


class Askers(Protocol):
    """``planner`` is described: whether it can be asked here is theirs to know."""

    @property
    def planner(self) -> OpenPlanner: ...

    def roll_out(self, inputs: RolloutInputs, questions: Questions) -> None:
        """See :func:`cfgen.rollouts.runner.roll_out`."""
        ...

    def intervene(self, inputs: RolloutInputs, questions: Questions) -> Mapping[str, Rate]:
        """See :func:`cfgen.rollouts.interventions.intervene`."""
        ...


class Here:
    """Copies of the planner, started by this process."""

    def __init__(self, store: Store, options: ScoreOptions, members: Sequence[Member]) -> None:
        self._store, self._options, self._members = store, options, members

    @property
    def planner(self) -> OpenPlanner:
        return self._members[0].planner

    def roll_out(self, inputs: RolloutInputs, questions: Questions) -> None:
        roll_out(self._store, inputs, self._members, questions, self._options)

    def intervene(self, inputs: RolloutInputs, questions: Questions) -> Mapping[str, Rate]:
        return intervene_in_turn(self._store, inputs, self.planner, questions, self._options)


@contextlib.contextmanager
def here(store: Store, options: ScoreOptions) -> Iterator[Here]:
    """The planner, as often as it is to work side by side."""
    if options.engine == "serial" and (options.workers or len(options.devices)) not in (None, 0, 1):
        raise InputError("--engine serial: one copy of the planner works; leave --workers and --devices out")
    with waiting("the planner to start", options.quiet):
        members = crew(opener(store, options), options.workers or len(options.devices) or 1, options.devices)
    try:
        named = settled(store, members[0].planner)
        yield Here(
            store,
            options,
            [replace(m, planner=replace(m.planner, name=named.name, hash=named.hash)) for m in members],
        )
    finally:
        with contextlib.ExitStack() as stack:  # every one of them, also where one cannot be closed
            for member in members:
                stack.callback(member.planner.close)


def opener(store: Store, options: ScoreOptions) -> Callable[[], OpenPlanner]:
    """What opens one copy."""
    return partial(
        open_planner,
        options.planner,
        options.planner_options,
        options.name,
        options.timeout_s,
        options.max_answer_chars,
        options.startup_timeout_s,
        store.reply_cache,
        runtime_of(options),
        store.root / EXPORTS,
    )


def runtime_of(options: ScoreOptions) -> Runtime:
    """Where the planner runs.

    Raises:
        InputError: ``python`` cannot be started, or a folder is not there.
    """
    bench = options.bench.resolve()
    for folder in options.writable:
        if not folder.is_dir():
            raise InputError(f"--writable {folder}: expected a folder, found none; make it first")
        place = folder.resolve()
        if place.is_relative_to(bench) or bench.is_relative_to(place):
            where = (
                "is the benchmark, or lies in it" if place.is_relative_to(bench) else "holds the benchmark"
            )
            raise InputError(
                f"--writable {folder}: {where} ({options.bench}), which planners must not see; name a folder beside it"
            )
    return Runtime(
        python=python_of(options.python) if options.python else (),
        hidden=(options.bench, Path(f"{bench}-report"), scenarios_dir() / "scenes"),
        writable=options.writable,
        network=(options.planner_network and not options.offline) or bool(options.allow_hosts),
        memory=int((options.planner_memory or 0) * 1e9),
    )


def intervene_in_turn(
    store: Store, inputs: RolloutInputs, planner: OpenPlanner, questions: Questions, options: ScoreOptions
) -> dict[str, Rate]:
    """By one command at a time, and one copy of the planner."""

    def wait() -> None:
        if not options.quiet:
            print(f"cfgen: another command intervenes with '{planner.name}'; waiting for it", file=sys.stderr)

    retrying = RetryingPlanner(planner, options.planner_retries, options.strict, options.quiet)
    with turn(store.root, f"intervening.{planner.name}", wait):
        return intervene(store, inputs, planner, retrying, questions, options)
