"""Who puts the questions of a run: copies of the planner on this machine; :mod:`cfgen.rollouts.remote` has others.

Also under which name the answers are kept: the planner's own, or, once it has changed, ``name@fingerprint`` beside it.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from cfgen.core.errors import InputError, StoreError, warn
from cfgen.core.files import read_record
from cfgen.core.locks import turn
from cfgen.core.paths import scenarios_dir
from cfgen.metrics.intervals import Rate
from cfgen.options import ScoreOptions
from cfgen.planners.fingerprint import changes
from cfgen.planners.outputs import EXPORTS
from cfgen.planners.registry import OpenPlanner, open_planner
from cfgen.planners.retries import Replica, RetryingPlanner, heartbeat, start_replicas
from cfgen.planners.runtime import Runtime, default_memory, python_of
from cfgen.records import PlannerRun
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.rollouts.interventions import intervene
from cfgen.rollouts.queries import Queries
from cfgen.rollouts.runner import roll_out
from cfgen.storage.store import MARKER, Store

# --- names of runs --------------------------------------------------------------------------------

#: of a hash, hexadecimal digits in a name
_DIGITS = 8
#: changes that are named
_MOST = 5


def named_run(store: Store, planner: OpenPlanner) -> OpenPlanner:
    """``planner`` under the name of its run: that which it has, or a new one beside the run of what it was before.

    Raises:
        StoreError: its name is that of another planner, or of the same with other options.
    """
    path = store.planner_run_path(planner.name)
    if not path.is_file():
        return planner
    stored = read_record(path, PlannerRun)
    if stored.planner_hash == planner.hash:
        return planner
    other_options = stored.fingerprint.get("options", "") != planner.fingerprint.get("options", "")
    if stored.spec != planner.spec or (stored.fingerprint and other_options) or not planner.fingerprint:
        raise StoreError(
            f"{path}: '{planner.name}' has answers of another version of this planner (its file, code or options "
            f"differ); score it under another name with --name, or delete {path.parent}"
        )
    digest = planner.hash.partition(":")[2][:_DIGITS]
    new_run = replace(planner, name=f"{planner.name[: 118 - _DIGITS]}@{digest}")
    if not store.planner_run_path(new_run.name).is_file():
        latest = _latest(store, planner, stored)
        edits = (
            changes(latest.fingerprint, planner.fingerprint)
            if latest.fingerprint
            else ["its file, code or options"]
        )
        further = f" and {len(edits) - _MOST} more" if len(edits) > _MOST else ""
        warn(
            f"planner '{planner.name}' is not what it was when it was scored: {', '.join(edits[:_MOST])}{further}; its "
            f"answers are kept as they are, and a new run begins beside them, '{new_run.name}'"
        )
    return new_run


def _latest(store: Store, planner: OpenPlanner, first: PlannerRun) -> PlannerRun:
    """The run of this planner that was written last."""
    paths = [store.planner_run_path(planner.name), *store.root.glob(f"runs/{planner.name}@*/planner.json")]
    latest = max(paths, key=lambda path: path.stat().st_mtime_ns)
    return first if latest == paths[0] else read_record(latest, PlannerRun)


# --- copies on this machine -----------------------------------------------------------------------


class LocalWorkers:
    """Copies of the planner, started by this process; :class:`cfgen.rollouts.remote.RemoteWorkers` has others."""

    def __init__(self, store: Store, options: ScoreOptions, replicas: Sequence[Replica]) -> None:
        self._store, self._options, self._replicas = store, options, replicas

    @property
    def planner(self) -> OpenPlanner:
        return self._replicas[0].planner

    def roll_out(self, inputs: RolloutInputs, questions: Queries) -> None:
        roll_out(self._store, inputs, self._replicas, questions, self._options)

    def intervene(self, inputs: RolloutInputs, questions: Queries) -> Mapping[str, Rate]:
        return intervene_in_turn(self._store, inputs, self.planner, questions, self._options)


@contextlib.contextmanager
def local_workers(store: Store, options: ScoreOptions) -> Iterator[LocalWorkers]:
    """The planner, as often as it is to work side by side."""
    if options.engine == "serial" and (options.workers or len(options.devices)) not in (None, 0, 1):
        raise InputError("--engine serial: one copy of the planner works; leave --workers and --devices out")
    log = planner_log(store)
    log_size = log.stat().st_size if log.is_file() else 0
    with heartbeat("the planner to start", options.quiet):
        replicas = start_replicas(
            opener(store, options), options.workers or len(options.devices) or 1, options.devices
        )
    try:
        named = named_run(store, replicas[0].planner)
        yield LocalWorkers(
            store,
            options,
            [replace(m, planner=replace(m.planner, name=named.name, hash=named.hash)) for m in replicas],
        )
    finally:
        with contextlib.ExitStack() as stack:  # every one of them, also where one cannot be closed
            for replica in replicas:
                stack.callback(replica.planner.close)
        _tell_of_log(log, log_size, options.quiet)


def planner_log(store: Store) -> Path:
    """Where the stderr of planners goes."""
    return store.work / "planner-stderr.log"


def _tell_of_log(log: Path, start: int, quiet: bool) -> None:
    """How many lines were added to it since it had ``start`` bytes."""
    if quiet or not log.is_file() or log.stat().st_size == start:
        return
    with log.open("rb") as file:
        file.seek(start)
        count = sum(1 for _ in file)
    print(f"cfgen: the planner wrote {count} lines on stderr: {log}", file=sys.stderr)


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


def intervene_in_turn(
    store: Store, inputs: RolloutInputs, planner: OpenPlanner, questions: Queries, options: ScoreOptions
) -> dict[str, Rate]:
    """By one command at a time, and one copy of the planner."""

    def wait() -> None:
        if not options.quiet:
            print(f"cfgen: another command intervenes with '{planner.name}'; waiting for it", file=sys.stderr)

    retrying = RetryingPlanner(planner, options.planner_retries, options.strict, options.quiet)
    with turn(store.root, f"intervening.{planner.name}", wait):
        return intervene(store, inputs, planner, retrying, questions, options)


def runtime_of(options: ScoreOptions) -> Runtime:
    """Where the planner runs.

    Raises:
        InputError: ``python`` cannot be started, or a folder is not there.
    """
    bench = options.bench.resolve()
    _check_paths(bench, options)
    store = Store(bench) if (bench / MARKER).is_file() else None
    sources = store.scenes_source if store else None
    named = (Path(value) for value in options.planner_options.values() if isinstance(value, str))
    return Runtime(
        python=python_of(options.python) if options.python else (),
        hidden=(bench, Path(f"{bench}-report"), scenarios_dir() / "scenes", *([sources] if sources else [])),
        writable=options.writable,
        paths=options.planner_path,
        options_paths=tuple(path for path in named if path.name and path.exists()),
        variables=options.planner_env,
        network=(options.planner_network and not options.offline) or bool(options.allow_hosts),
        memory=int(options.planner_memory * 1e9) if options.planner_memory else default_memory(),
        log=planner_log(store) if store else None,
    )


def _check_paths(bench: Path, options: ScoreOptions) -> None:
    """
    Raises:
        InputError: a path that a planner is to be given is not there, or shows the benchmark.
    """
    for folder in options.writable:
        if not folder.is_dir():
            raise InputError(f"--writable {folder}: expected a folder, found none; make it first")
        _check_beside(bench, folder, f"--writable {folder}")
    for path in options.planner_path:
        if not path.exists():
            raise InputError(f"--planner-path {path}: expected a file or folder, found none")
        _check_beside(bench, path, f"--planner-path {path}")


def _check_beside(bench: Path, path: Path, option: str) -> None:
    """
    Raises:
        InputError: ``path`` shows the benchmark.
    """
    place = path.resolve()
    if place.is_relative_to(bench) or bench.is_relative_to(place):
        where = "is the benchmark, or lies in it" if place.is_relative_to(bench) else "holds the benchmark"
        raise InputError(f"{option}: {where} ({bench}), which planners must not see; name a folder beside it")
