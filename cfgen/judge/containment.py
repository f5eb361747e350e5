"""Judging item by item: whatever breaks on one is recorded as its verdict, and the rest goes on."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial

from cfgen.core.errors import CfgenError
from cfgen.core.faults import contained
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
    """``judge.judge``, with a verdict that holds a fault wherever it, an item or ``on_verdict`` broke.

    Judges made of models contain their items themselves, as they ask many at once; others get one item at a time.

    Raises:
        Shortfall, CfgenError: the judge cannot go on at all; verdicts so far were handed to ``on_verdict``.
        Exception: ``strict``, and something broke.
    """
    rubric = RubricId.of(judge.run_record())

    def attempt(key: VerdictKey, work: Callable[[], None]) -> None:
        fault = contained(work, key.words, asdict(key), strict)
        if isinstance(fault, Fault):
            on_verdict(faulted(key, rubric, judge.name, fault))

    def take(verdict: Verdict) -> None:
        attempt(VerdictKey.of(verdict), lambda: on_verdict(verdict))

    if isinstance(judge, Panel):
        judge.asking.strict = strict
        judge.judge(items, take)
        return
    for key, build in items:
        unable: list[CfgenError] = []
        attempt(key, partial(_judge_one, judge, key, build, take, unable))
        if unable:
            raise unable[0]


def _judge_one(
    judge: Judge,
    key: VerdictKey,
    build: Build,
    take: Callable[[Verdict], None],
    unable: list[CfgenError],
) -> None:
    """``unable`` takes what the judge itself says it cannot go on for."""
    item, verdicts = build(), list[Verdict]()
    try:
        judge.judge([(key, lambda: item)], verdicts.append)
    except CfgenError as error:
        unable.append(error)
        return
    if not verdicts:
        raise RuntimeError(f"judge '{judge.name}' gave no verdict")
    take(verdicts[0])
