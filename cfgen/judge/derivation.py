"""Stored verdicts derived again: by measurement where no model judged, else from the votes and the replies in them."""

from collections.abc import Callable, Iterator
from functools import partial

from cfgen.core.errors import CfgenError, StoreError
from cfgen.core.files import read_each
from cfgen.judge.offline.judge import OfflineJudge
from cfgen.judge.protocol import VerdictKey
from cfgen.judge.rubrics.registry import RUBRICS, Rubric, create_rubric
from cfgen.judge.run import judge_item, stored_pair
from cfgen.judge.stored_verdicts import rescored
from cfgen.records import DIMENSIONS, JudgeRun, Rollout, Verdict
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.rollouts.queries import RolloutInput
from cfgen.storage.store import Store

Pair = tuple[Rollout, Rollout]


def contradictions(
    store: Store, judge: str = "*", planner: str = "*", rubric: Rubric | None = None
) -> Iterator[str]:
    """One line for each stored verdict that is not what derives from stored answers, frames and replies.

    A model's replies are believed. Damaged records are passed: :mod:`cfgen.benchmark.verifying` names them.

    Args:
        judge, planner: names of folders. rubric: by which replies are read, where it is no installed one.
    """
    for path, run in read_each(sorted(store.root.glob(f"verdicts/{judge}/judge.json")), JudgeRun):
        if isinstance(run, StoreError):
            continue
        if wrong := wrong_options(run):
            yield f"{path}: {wrong}"
        derive = _derivation(store, run, rubric)
        for file, verdict in read_each(store.verdict_paths(run.judge, planner), Verdict):
            if isinstance(verdict, StoreError):
                continue
            try:
                wrong = contradiction(verdict, stored_pair(store, VerdictKey.of(verdict)), derive)
            except CfgenError as error:
                wrong = f"cannot be derived again ({error})"
            if wrong:
                yield f"{file}: {wrong}; delete the file and judge it again: cfgen judge run {store.root}"


def wrong_options(run: JudgeRun) -> str:
    """Options that a judge without a model never has, or ""."""
    wrong = run.spec == _OFFLINE and run.options
    return (
        f"expected judge '{run.spec}' without options, found {str(wrong)[:80]}: it was changed"
        if wrong
        else ""
    )


def contradiction(verdict: Verdict, pair: Pair, derive: Callable[[Verdict, Pair], Verdict]) -> str:
    """Expected and found outcome of ``verdict`` on ``pair``, in words; "" where they are the same."""
    if verdict.fault or any(answer.fault for answer in pair):
        return ""
    failed = any(answer.status == "failed" for answer in pair)
    if failed != (verdict.status == "planner_failed"):
        expected = "planner_failed" if failed else "a judgement of two plans"
    else:
        expected = outcome(verdict if failed else derive(verdict, pair))
    return "" if expected == outcome(verdict) else f"expected {expected}, found {outcome(verdict)}"


def outcome(verdict: Verdict) -> str:
    """All that figures are made of, in words."""
    scores = (f"{name} {verdict.scores[name]}" for name in DIMENSIONS if name in verdict.scores)
    return "; ".join((verdict.status, *scores, *verdict.flags))


_OFFLINE = OfflineJudge().run_record().spec


def _derivation(store: Store, run: JudgeRun, rubric: Rubric | None) -> Callable[[Verdict, Pair], Verdict]:
    """How verdicts of ``run`` are derived."""
    if run.spec == _OFFLINE:
        return partial(_measured, RolloutInputs(store, seed=0))  # seeds are for planners
    if rubric is None and run.rubric in RUBRICS.names():
        rubric = create_rubric(run.rubric)
    return partial(read_again, rubric if rubric and rubric.id.hash == run.rubric_hash else None)


def _measured(inputs: RolloutInputs, verdict: Verdict, pair: Pair) -> Verdict:
    """The offline judge's, given again."""
    key, verdicts = VerdictKey.of(verdict), list[Verdict]()
    question = RolloutInput(inputs.store.case(key.case_id), key.arm, key.repeat)
    OfflineJudge(verdict.judge).judge([(key, lambda: judge_item(inputs, question, *pair))], verdicts.append)
    return verdicts[0]


def read_again(rubric: Rubric | None, verdict: Verdict, _: Pair) -> Verdict:
    """That of its own votes, replies read by ``rubric``; where there is none, it stands."""
    return rescored(verdict, rubric) if rubric else verdict
