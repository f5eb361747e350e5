"""Judging item by item: whatever breaks on one is recorded as its verdict, and the rest goes on."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

from cfgen.core.errors import CfgenError
from cfgen.core.faults import contained, ends_the_run
from cfgen.judge.combine import faulted
from cfgen.judge.panel import Panel
from cfgen.judge.protocol import Judge, JudgeItem, RubricId, VerdictKey
from cfgen.records import Fault, Verdict

Build = Callable[[], JudgeItem]


def judge_each(
    judge: Judge,
    items: Sequence[tuple[VerdictKey, Build]],
    on_verdict: Callable[[Verdict], None],
    strict: bool = False,
) -> None:
    """``judge.judge``, with a verdict that holds a fault wherever it, an item or ``done`` broke.

    Judges made of models contain their items themselves, as they ask many at once. Another judge that raised goes on
    with one item at a time.

    Raises:
        Shortfall, CfgenError: the judge cannot go on at all; verdicts so far were handed to ``done``.
        Exception: ``strict``, and something broke.
    """
    rubric = RubricId.of(judge.run_record())
    pending = dict(items)
    unbuilt: list[Exception] = []

    def fault_verdict(key: VerdictKey, work: Callable[[], None]) -> None:
        verdict = contained(work, key.words, asdict(key), strict)
        if isinstance(verdict, Fault):
            pending.pop(key, None)
            on_verdict(faulted(key, rubric, judge.name, verdict))

    def take(verdict: Verdict) -> None:
        key = VerdictKey.of(verdict)
        pending.pop(key, None)
        fault_verdict(key, lambda: on_verdict(verdict))

    if isinstance(judge, Panel):
        judge.asking.strict = strict
        judge.judge(items, take)
        return
    try:
        judge.judge([(key, _watched(build, unbuilt)) for key, build in items], take)
    except Exception as error:
        its_own = isinstance(error, CfgenError) and error not in unbuilt
        if strict or its_own or ends_the_run(error):
            raise
    for key, build in list(pending.items()):
        fault_verdict(key, lambda: _one(judge, key, build, take, pending))  # noqa: B023 - called at once


def _one(
    judge: Judge,
    key: VerdictKey,
    build: Build,
    take: Callable[[Verdict], None],
    pending: dict[VerdictKey, Build],
) -> None:
    judge.judge([(key, build)], take)
    if key in pending:
        raise RuntimeError(f"judge '{judge.name}' gave no verdict")


def _watched(build: Build, unbuilt: list[Exception]) -> Build:
    """Notes what ``build`` raises: an item that cannot be shown is no fault of the judge."""

    def watched() -> JudgeItem:
        try:
            return build()
        except Exception as error:
            unbuilt.append(error)
            raise

    return watched
