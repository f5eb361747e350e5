"""Questions to a planner on other machines: each worker of an engine opens a copy of it and asks piece after piece."""

import atexit
import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import attrs

from cfgen.benchmark.context import taxonomy_identity
from cfgen.core.engines.registry import Engine, Pool, WorkerDiedError, WorkerNeeds, importable, shard_of
from cfgen.core.errors import CfgenError, InputError
from cfgen.core.faults import fault_of
from cfgen.core.files import read_record
from cfgen.core.progress import Progress
from cfgen.metrics.intervals import Rate
from cfgen.options import ScoreOptions
from cfgen.planners.registry import Answers, OpenPlanner, is_weightless
from cfgen.planners.retries import RetryingPlanner
from cfgen.records import PlannerRun, Rollout
from cfgen.rollouts.inputs import RolloutInputs, arm_inputs
from cfgen.rollouts.queries import Memory, Queries, QueryKey, Queue
from cfgen.rollouts.runner import PlannerWorker, QueryRunner, SharedProgress, is_wanted
from cfgen.rollouts.workers import Replica, intervene_in_turn, named_run, opener
from cfgen.storage.store import Store

#: questions of a piece, or a planner's batch where that is more
PIECE = 4


@dataclass(frozen=True)
class RemoteJob:
    """What a worker needs to know to ask. ``name``, ``hash``: under which answers are kept; ``since``: as in
    :func:`cfgen.rollouts.runner.is_wanted`."""

    options: ScoreOptions
    name: str = ""
    hash: str = ""
    since: float = 0.0


@dataclass(frozen=True)
class Piece:
    """Questions in their order, and the scenes of their cases. ``first``: of all."""

    keys: tuple[QueryKey, ...]
    scenes: dict[str, str]
    first: bool = False


class RemoteWorkers:
    """As :class:`cfgen.rollouts.workers.LocalWorkers`; the planner is opened by the workers of ``pool`` alone."""

    def __init__(self, store: Store, options: ScoreOptions, pool: Pool) -> None:
        self._store, self._options, self._pool = store, options, pool
        self._task = RemoteJob(options)
        description = self._by_one(describe)
        assert isinstance(description, OpenPlanner)
        self.planner = named_run(store, description)
        self._task = RemoteJob(options, self.planner.name, self.planner.hash, time.time())

    def roll_out(self, inputs: RolloutInputs, questions: Queries) -> None:
        """Raises: as :func:`cfgen.rollouts.runner.roll_out`."""
        planner, options = self.planner, self._options
        inputs.check(questions, planner.needs)
        is_open = partial(is_wanted, self._store, planner.name, options, self._task.since)
        todo = questions.only(is_open).apart()
        progress = SharedProgress(Progress(f"{planner.name}: plans", len(todo), options.quiet))
        postponed: list[QueryKey] = []

        def lost(piece: Piece, error: WorkerDiedError) -> list[Rollout | None]:
            """The first that has no answer was being asked; the others are put again."""
            if options.strict:
                raise error
            waiting = [key for key in piece.keys if is_open(key)]
            guilty = waiting[: planner.needs.batch_size]
            postponed.extend(waiting[len(guilty) :])
            runner = QueryRunner(inputs, planner, RetryingPlanner(planner, 0, quiet=True), options.strict)
            broken = [runner.failed(key, fault_of(error, "worker of the engine")) for key in guilty]
            for rollout in broken:
                self._store.write_rollout(rollout)
            return [*broken, *[None] * (len(piece.keys) - len(waiting))]

        keys: Iterable[QueryKey] = todo.each_key()
        while True:
            for rollouts in self._pool.run(partial(ask, self._task), self._pieces(keys, questions), lost):
                for rollout in rollouts:
                    progress.step(rollout)
            if not postponed:
                return
            keys, postponed[:] = tuple(postponed), []

    def intervene(self, inputs: RolloutInputs, questions: Queries) -> Mapping[str, Rate]:
        rates = self._by_one(intervene_there)
        assert isinstance(rates, Mapping)
        return rates

    def _pieces(self, keys: Iterable[QueryKey], questions: Queries) -> Iterator[Piece]:
        rest, first = iter(keys), True
        while part := tuple(islice(rest, max(PIECE, self.planner.needs.batch_size))):
            yield Piece(part, {key.case_id: questions.scene(key.case_id) for key in part}, first)
            first = False

    def _by_one(self, work: "object") -> object:
        """What one worker does of it.

        Raises:
            CfgenError: it killed every worker that had it.
        """

        def lost(_: RemoteJob, error: WorkerDiedError) -> object:
            raise CfgenError(
                f"planner '{self._options.planner}': every worker of engine '{self._options.engine}' died while it was "
                f"opened or asked ({error}); look at that machine's memory and Ray's logs"
            )

        return next(iter(self._pool.run(work, [self._task], lost)))  # type: ignore[arg-type]


@contextlib.contextmanager
def remote_workers(store: Store, options: ScoreOptions, engine: Engine) -> Iterator[RemoteWorkers]:
    """
    Raises:
        InputError: the planner is an object of this process, or cards are named, which the engine deals out.
    """
    if isinstance(options.planner, type):
        options = attrs.evolve(options, planner=importable(options.planner))
    if not isinstance(options.planner, str):
        raise InputError(
            f"--engine {options.engine}: expected a planner that other machines can open by its name, found an object "
            "of this process; move its class to a module and pass package.module:Class"
        )
    if options.devices:
        raise InputError(
            f"--engine {options.engine}: cards are dealt out by the cluster; leave --devices out and say how many by "
            "--workers"
        )
    options = attrs.evolve(options, bench=store.root.absolute(), quiet=True)
    worker_needs = WorkerNeeds(
        jobs=options.workers or 0,
        model=not is_weightless(str(options.planner)),
        folders=(options.bench,),
        same=partial(taxonomy_identity, options.bench),
    )
    with engine.pool(worker_needs) as pool:
        yield RemoteWorkers(store, options, pool)


# --- at a worker ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Opened:
    """One copy of the planner, for as long as its worker lives."""

    options: ScoreOptions
    planner: OpenPlanner
    memory: Memory


_opened: list[_Opened] = []


def _open(task: RemoteJob) -> _Opened:
    """
    Raises:
        InputError: it is not the planner that the others ask.
    """
    if not (_opened and _opened[0].options == task.options):
        while _opened:
            _opened.pop().planner.close()
        planner = opener(Store(task.options.bench), task.options)()
        atexit.register(planner.close)
        _opened.append(_Opened(task.options, planner, Memory(planner)))
    copy = _opened[0]
    if task.hash and task.hash != copy.planner.hash:
        raise InputError(
            f"planner '{task.name}': a worker of engine '{task.options.engine}' has another version of it (its files, "
            "packages or weights differ from those of the first); install the same on every node"
        )
    return copy


def describe(task: RemoteJob) -> OpenPlanner:
    """The planner without what only its own process can do."""
    return replace(_open(task).planner, ask=_nobody, close=_nothing, renew=_nothing)


def _nobody(_: object) -> Answers:
    raise RuntimeError("a planner of another machine is asked there")


def _nothing() -> None:
    pass


def ask(task: RemoteJob, piece: Piece) -> list[Rollout | None]:
    """What was answered; None for a question that another command has put."""
    store, planner, inputs = _prepared(task)
    questions = Queries(store.case, {}, 1, piece.scenes)
    record = _StepRecorder(len(piece.keys))
    is_open = partial(is_wanted, store, task.name, task.options, task.since)
    keys = iter(piece.keys)
    with Queue(store, task.name, keys, is_open, record.step, lambda _: None, questions.scene) as queue:
        worker = PlannerWorker(
            store, inputs, Replica(planner), questions, queue, record, task.options, _open(task).memory
        )
        worker.run(tests_determinism=piece.first)
    return record.found


def intervene_there(task: RemoteJob) -> dict[str, Rate]:
    store, planner, inputs = _prepared(task)
    questions = arm_inputs(store, task.options.arms, task.options.repeats)
    if part := shard_of(task.options.shard):
        questions = questions.shard(*part)
    return intervene_in_turn(store, inputs, planner, questions, task.options)


def _prepared(task: RemoteJob) -> tuple[Store, OpenPlanner, RolloutInputs]:
    store = Store(task.options.bench)
    planner = replace(_open(task).planner, name=task.name, hash=task.hash)
    inputs = RolloutInputs(store, store.benchmark.seed)
    if not planner.trusted:
        inputs.salt = read_record(store.planner_run_path(planner.name), PlannerRun).salt
    return store, planner, inputs


class _StepRecorder(SharedProgress):
    """Keeps what is to be told to who gave the piece."""

    def __init__(self, total: int) -> None:
        super().__init__(Progress("", total, quiet=True))
        self.found: list[Rollout | None] = []

    def step(self, rollout: Rollout | None = None) -> None:
        super().step(rollout)
        short = rollout and rollout.model_copy(update={"text": "", "plan": None, "report": {}})
        self.found.append(short)
