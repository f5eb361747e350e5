"""questions x planner -> rollouts: one for each question, on disk as soon as it is there.

What goes wrong with one answer stays there: the planner's failure is a recorded failure, an exception in cfgen a
recorded fault.
"""

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

from cfgen.core.errors import Shortfall
from cfgen.core.faults import contained
from cfgen.core.files import read_record
from cfgen.core.progress import Progress
from cfgen.core.warn import warn
from cfgen.planners.answer import PlanFaultError, Received, received, to_plan
from cfgen.planners.registry import OpenPlanner
from cfgen.planners.retries import Answer, PlannerGoneError, Retrying
from cfgen.records import Fault, Rollout
from cfgen.rollouts.inputs import RolloutInput, RolloutInputs
from cfgen.rollouts.options import ScoreOptions
from cfgen.store import Store


def roll_out(
    store: Store,
    inputs: RolloutInputs,
    planner: OpenPlanner,
    retrying: Retrying,
    questions: Sequence[RolloutInput],
    options: ScoreOptions,
) -> None:
    """Ask what has no answer yet and, where that is wanted, what failed.

    Raises:
        InputError: no scene has what the planner needs.
        Shortfall: the planner cannot be reached any more; what was not asked has no rollout.
    """
    inputs.check(questions, planner.needs)
    todo = [q for q in questions if _wanted(store, planner.name, q, options)]
    random.Random(store.benchmark.seed).shuffle(todo)
    progress = Progress(f"{planner.name}: plans", len(todo), options.quiet)
    desk = _Desk(inputs, planner, retrying, options.strict)
    failed, reason = 0, ""
    for start in range(0, len(todo), planner.needs.batch_size):
        batch = todo[start : start + planner.needs.batch_size]
        rollouts, gone = desk.ask(batch)
        if start == 0 and planner.needs.deterministic and gone is None:
            _warn_if_it_wavers(desk, planner, batch[0], rollouts[0])
        for rollout in rollouts:
            _keep(store, rollout)
            if rollout.status == "failed":
                failed, reason = failed + 1, rollout.reason
            progress.step(f"({failed} failed: {reason[:60]})" if failed else "")
        if gone is not None:
            raise gone_short(planner, gone, progress)


def gone_short(planner: OpenPlanner, gone: PlannerGoneError, progress: Progress) -> Shortfall:
    """What ends the run when there is nobody left to ask."""
    return Shortfall(
        f"planner '{planner.spec}' cannot be reached any more ({gone}): {progress.done} of {progress.total} questions "
        "were asked and their answers kept; start it again, and run the same command to go on"
    )


def _wanted(store: Store, planner: str, question: RolloutInput, options: ScoreOptions) -> bool:
    path = store.rollout_path(planner, question.arm, question.case.case_id, question.repeat)
    if not path.is_file():
        return True
    if not (options.retry_failed or options.retry_all):
        return False
    found = read_record(path, Rollout)
    return found.status == "failed" and (found.mendable or options.retry_all)


def _keep(store: Store, rollout: Rollout) -> None:
    """What was made of an answer goes before another one takes its place: killed between, it is made again."""
    if store.rollout_path(rollout.planner, rollout.arm, rollout.case_id, rollout.repeat).is_file():
        store.forget_judged(rollout.planner, rollout.arm, rollout.case_id, rollout.repeat)
    store.write_rollout(rollout)


def _warn_if_it_wavers(desk: "_Desk", planner: OpenPlanner, question: RolloutInput, first: Rollout) -> None:
    """A planner that calls itself deterministic answers the same question under the same seed the same way."""
    if first.status == "failed":
        return
    again = desk.ask([question])[0]
    if again and again[0].status == "ok" and (again[0].text, again[0].plan) != (first.text, first.plan):
        warn(
            f"'{planner.name}' declares needs.deterministic but answers one question in two ways: use "
            "observation.seed, or set it to False"
        )


class _Desk:
    """Puts questions to a planner and writes down what comes back."""

    def __init__(self, inputs: RolloutInputs, planner: OpenPlanner, retrying: Retrying, strict: bool) -> None:
        self._asker, self._planner, self._retrying, self._strict = inputs, planner, retrying, strict

    def ask(self, batch: Sequence[RolloutInput]) -> tuple[list[Rollout], PlannerGoneError | None]:
        """A rollout for each question, or, from a planner that is gone, for those that it answered before."""
        needs, replays = self._planner.needs, self._planner.replays_log
        answers, gone = self._retrying.put(
            [partial(self._asker.observation, q, needs, replays) for q in batch]
        )
        pairs = zip(batch, answers, strict=True)
        return [self._rollout(q, a) for q, a in pairs if a is not None], gone

    def _rollout(self, question: RolloutInput, answer: Answer) -> Rollout:
        if isinstance(answer, Fault):
            return self._failed(question, answer)
        made = contained(
            lambda: self._read(question, answer), "reading the answer", self._inputs(question), self._strict
        )
        return self._failed(question, made) if isinstance(made, Fault) else made

    def _read(self, question: RolloutInput, answer: str | Any) -> Rollout:
        kept: dict[str, Any] = {"latency_s": round(self._retrying.latency_s, 6)}
        try:
            found: Received = received(answer)
            kept |= {"text": found.text, "report": found.report, "notes": found.notes}
            _, plan = to_plan(found)
        except PlanFaultError as fault:
            return self._record(question, status="failed", reason=str(fault), failure=fault.kind, **kept)
        return self._record(question, status="ok", plan=plan, **kept)

    def _failed(self, question: RolloutInput, fault: Fault) -> Rollout:
        fault = fault.model_copy(update={"inputs": {**self._inputs(question), **fault.inputs}})
        reason = f"cfgen broke: {fault}"
        return self._record(question, status="failed", reason=reason, failure="fault", fault=fault)

    def _record(self, question: RolloutInput, **fields: Any) -> Rollout:
        return Rollout(
            planner=self._planner.name,
            planner_hash=self._planner.hash,
            case_id=question.case.case_id,
            arm=question.arm,
            repeat=question.repeat,
            seed=self._asker.seed(question),
            **fields,
        )

    def _inputs(self, question: RolloutInput) -> dict[str, Any]:
        """What reproduces it."""
        return {
            "planner": self._planner.spec,
            "case_id": question.case.case_id,
            "arm": question.arm,
            "repeat": question.repeat,
            "seed": self._asker.seed(question),
        }
