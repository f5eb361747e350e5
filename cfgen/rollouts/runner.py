"""questions x planner -> rollouts: one for each question, on disk as soon as it is there.

What goes wrong with one answer stays there: the planner's failure is a recorded failure, an exception in cfgen a
recorded fault. Any number of workers share the questions, here and in other commands on the same benchmark.
"""

import contextvars
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from cfgen.core.errors import InputError, Shortfall, StoreError, warn
from cfgen.core.faults import contained
from cfgen.core.files import read_record
from cfgen.core.progress import Progress
from cfgen.options import ScoreOptions
from cfgen.planners import runtime
from cfgen.planners.answer import CheckedResponse, PlanFaultError, check_response, to_plan
from cfgen.planners.protocol import Observation
from cfgen.planners.registry import OpenPlanner
from cfgen.planners.retries import Answer, PlannerGoneError, Replica, RetryingPlanner
from cfgen.records import Fault, Rollout
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.rollouts.queries import Memory, Queries, QueryKey, Queue
from cfgen.storage.store import Store

Made = Callable[[], Observation]


def roll_out(
    store: Store,
    inputs: RolloutInputs,
    replicas: Sequence[Replica],
    questions: Queries,
    options: ScoreOptions,
) -> None:
    """Ask what has no answer yet and, where that is wanted, what failed; each question by one of the ``replicas``.

    Raises:
        InputError: no scene has what the planner needs.
        Shortfall: the planner cannot be reached any more; what was not asked has no rollout.
    """
    planner = replicas[0].planner
    inputs.check(questions, planner.needs)
    is_open = partial(is_wanted, store, planner.name, options, time.time())
    todo = questions.only(is_open).apart()
    progress = SharedProgress(Progress(f"{planner.name}: plans", len(todo), options.quiet))

    def wait(count: int) -> None:
        if not options.quiet:
            print(f"cfgen: waiting for {count} answers that another command has in hand", file=sys.stderr)

    with Queue(store, planner.name, todo.each_key(), is_open, progress.step, wait, todo.scene) as queue:
        workers = [
            PlannerWorker(store, inputs, replica, todo, queue, progress, options) for replica in replicas
        ]
        if len(workers) == 1:
            workers[0].run(tests_determinism=True)
        else:
            _together(workers, queue)


def _together(workers: Sequence["PlannerWorker"], queue: Queue) -> None:
    """Each in a thread of its own; what one raises stops the others once they have the answers they wait for."""
    raised: list[BaseException] = []

    def work(worker: "PlannerWorker", first: bool) -> None:
        try:
            worker.run(tests_determinism=first)
        except BaseException as error:
            raised.append(error)
            queue.stop()

    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(work, worker, i == 0), daemon=True)
        for i, worker in enumerate(workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():  # in short steps, so that an interrupt is heard
            thread.join(0.1)
    if raised:
        raise raised[0]


class SharedProgress:
    """Progress that several workers share."""

    def __init__(self, progress: Progress) -> None:
        self.counts, self._lock = progress, threading.Lock()
        self._failed, self._reason = 0, ""

    def step(self, rollout: Rollout | None = None) -> None:
        with self._lock:
            if rollout is not None and rollout.status == "failed":
                self._failed, self._reason = self._failed + 1, rollout.reason
            self.counts.step(f"({self._failed} failed: {self._reason[:60]})" if self._failed else "")


class PlannerWorker:
    """Asks one copy of a planner, question after question; the next frames are read while it thinks."""

    def __init__(
        self,
        store: Store,
        inputs: RolloutInputs,
        replica: Replica,
        questions: Queries,
        queue: Queue,
        progress: SharedProgress,
        options: ScoreOptions,
        memory: Memory | None = None,
    ) -> None:
        planner = replica.planner
        retrying = RetryingPlanner(
            planner, options.planner_retries, options.strict, options.quiet, queue.stopped
        )
        self._store, self._inputs, self._replica = store, inputs, replica
        self._questions, self._queue, self._progress = questions, queue, progress
        self._memory = memory or Memory(planner)
        self._runner = QueryRunner(inputs, planner, retrying, options.strict)

    def run(self, tests_determinism: bool) -> None:
        """Until no question is left.

        Raises:
            Shortfall: the planner cannot be reached any more.
        """
        planner = self._replica.planner
        untested = tests_determinism and planner.needs.deterministic
        with runtime.use_device(self._replica.device), ThreadPoolExecutor(1) as reader:
            try:
                upcoming = reader.submit(self._prepared)
                while (batch := upcoming.result()) and not self._queue.stopped.is_set():
                    upcoming = reader.submit(self._prepared)
                    self._memory.admit(self._questions.shown(key) for key, _ in batch)
                    rollouts, gone = self._runner.ask(batch)
                    if untested and rollouts and gone is None:
                        untested = False
                        _warn_if_it_wavers(self._runner, planner, batch[0], rollouts[0])
                    for rollout in rollouts:
                        _keep(self._store, rollout)
                        self._progress.step(rollout)
                    for key, _ in batch:
                        self._queue.done(key)
                    if gone is not None:
                        raise gone_short(planner, gone, self._progress.counts)
            except BaseException:
                self._queue.stop()  # else what reads ahead might wait for other commands
                raise

    def _prepared(self) -> list[tuple[QueryKey, Made]]:
        """The next batch, with its frames read."""
        return [
            (key, _read(partial(self._observation, key)))
            for key in self._queue.take(self._replica.planner.needs.batch_size)
        ]

    def _observation(self, key: QueryKey) -> Observation:
        planner = self._replica.planner
        try:
            return self._inputs.observation(self._questions.question(key), planner.needs, planner.replays_log)
        except StoreError as error:  # of one case: it was moved away, or its file is damaged
            raise InputError(str(error)) from error


def _read(make: Made) -> Made:
    """``make`` done now; what it raised is raised where the result is asked for."""
    result: Future[Observation] = Future()
    try:
        result.set_result(make())
    except BaseException as error:
        result.set_exception(error)
    return result.result


def gone_short(planner: OpenPlanner, gone: PlannerGoneError, progress: Progress) -> Shortfall:
    """What ends the run when there is nobody left to ask."""
    return Shortfall(
        f"planner '{planner.spec}' cannot be reached any more ({gone}): {progress.done} of {progress.total} questions "
        "were asked and their answers kept; start it again, and run the same command to go on"
    )


def is_wanted(store: Store, planner: str, options: ScoreOptions, since: float, key: QueryKey) -> bool:
    """Whether a question is to be asked.

    Args:
        since: when this run began, s; an answer that came after that is another command's and not asked again.
    """
    path = store.rollout_path(planner, key.arm, key.case_id, key.repeat)
    if not path.is_file():
        return True
    if not (options.retry_failed or options.retry_all) or path.stat().st_mtime > since:
        return False
    stored = read_record(path, Rollout)
    return stored.status == "failed" and (stored.mendable or options.retry_all)


def _keep(store: Store, rollout: Rollout) -> None:
    """What was made of an answer goes before another one takes its place: killed between, it is made again."""
    if store.rollout_path(rollout.planner, rollout.arm, rollout.case_id, rollout.repeat).is_file():
        store.forget_judged(rollout.planner, rollout.arm, rollout.case_id, rollout.repeat)
    store.write_rollout(rollout)


def _warn_if_it_wavers(
    runner: "QueryRunner", planner: OpenPlanner, question: tuple[QueryKey, Made], first: Rollout
) -> None:
    """A planner that calls itself deterministic answers the same question under the same seed the same way."""
    if first.status == "failed":
        return
    again = runner.ask([question])[0]
    if again and again[0].status == "ok" and (again[0].text, again[0].plan) != (first.text, first.plan):
        warn(
            f"'{planner.name}' answers one question in two ways: use observation.seed, or set needs.deterministic to "
            "False (it is True unless told)"
        )


class QueryRunner:
    """Puts questions to a planner and writes down what comes back."""

    def __init__(
        self, inputs: RolloutInputs, planner: OpenPlanner, retrying: RetryingPlanner, strict: bool
    ) -> None:
        self._asker, self._planner, self._retrying, self._strict = inputs, planner, retrying, strict

    def ask(self, batch: Sequence[tuple[QueryKey, Made]]) -> tuple[list[Rollout], PlannerGoneError | None]:
        """A rollout for each question, or, from a planner that is gone, for those that it answered before."""
        answers, gone = self._retrying.ask_prepared([make for _, make in batch])
        pairs = zip(batch, answers, strict=True)
        return [self._rollout(key, a) for (key, _), a in pairs if a is not None], gone

    def _rollout(self, key: QueryKey, answer: Answer) -> Rollout:
        if isinstance(answer, Fault):
            return self.failed(key, answer)
        result = contained(
            lambda: self._read(key, answer), "reading the answer", self._inputs(key), self._strict
        )
        return self.failed(key, result) if isinstance(result, Fault) else result

    def _read(self, key: QueryKey, answer: str | Any) -> Rollout:
        fields: dict[str, Any] = {"latency_s": round(self._retrying.latency_s, 6)}
        try:
            response: CheckedResponse = check_response(answer)
            fields |= {"text": response.text, "report": response.report, "notes": response.notes}
            _, plan = to_plan(response)
        except PlanFaultError as fault:
            return self._record(key, status="failed", reason=str(fault), failure=fault.kind, **fields)
        return self._record(key, status="ok", plan=plan, **fields)

    def failed(self, key: QueryKey, fault: Fault) -> Rollout:
        fault = fault.model_copy(update={"inputs": {**self._inputs(key), **fault.inputs}})
        reason = f"cfgen broke: {fault}"
        return self._record(key, status="failed", reason=reason, failure="fault", fault=fault)

    def _record(self, key: QueryKey, **fields: Any) -> Rollout:
        return Rollout(
            planner=self._planner.name,
            planner_hash=self._planner.hash,
            seed=self._asker.seed(key),
            **key._asdict(),
            **fields,
        )

    def _inputs(self, key: QueryKey) -> dict[str, Any]:
        """What reproduces it."""
        return {"planner": self._planner.spec, **key._asdict(), "seed": self._asker.seed(key)}
