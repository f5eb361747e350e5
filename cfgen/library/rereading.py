"""What can be asked of answers and replies that are stored: whether a trace hangs together, what a reply says now."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cfgen.core.errors import InputError, StoreError
from cfgen.core.faults import contained
from cfgen.core.files import read_each
from cfgen.core.network import Network, limited
from cfgen.library.arguments import Names, Options, Place, checked, names
from cfgen.records import Fault, TraceVerdict, Verdict

if TYPE_CHECKING:
    from cfgen.judge.checker import Checker
    from cfgen.library.benchmark import Run


@dataclass(frozen=True)
class TraceCheck:
    """Every trace that was checked by ``judge``, now or before; ``damaged``: rollouts that cannot be read, and why."""

    judge: str
    verdicts: tuple[TraceVerdict, ...]
    damaged: tuple[str, ...]

    def __iter__(self) -> Iterator[TraceVerdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)


@checked
def check_traces(
    bench: Place,
    planner: str,
    judge: str | None = None,
    *,
    critic: Place | None = None,
    judge_options: Options = None,
    rubric: str = "faithfulness",
    arms: Names = ("original", "hazard"),
    engine: str = "",
    engine_options: Options = None,
    retry_failed: bool = False,
    strict: bool = False,
    offline: bool = False,
    allow_hosts: Names = (),
    quiet: bool = False,
) -> TraceCheck:
    """Check a planner's answers edge by edge for consistency; those that were checked are not asked again.

    Args:
        planner: one that was scored. judge: a model judge. critic: in its place, the folder of a local model.
        rubric: one about traces. retry_failed: ask again where there was no usable reply.
        engine: "ray": a critic, or a client of a judge, on each card or machine of a cluster.

    Raises:
        InputError: no such planner, judge, rubric or engine, both a judge and a critic, or neither.
    """
    from cfgen.core.engines.registry import create_engine
    from cfgen.traces.check import Workers
    from cfgen.traces.check import check_traces as check

    root, who = Path(bench), create_engine(engine, engine_options)
    with limited(Network(offline, names(allow_hosts))):
        make = partial(checker_of, root.absolute(), judge, critic, judge_options, rubric)
        checker, by = make(), Workers(who, make) if who.elsewhere else None
        found, damaged = check(root, planner, checker, names(arms), quiet, retry_failed, strict, by)
    return TraceCheck(checker.name, tuple(found), tuple(damaged))


def checker_of(
    root: Path, judge: str | None, critic: Place | None, options: Options, rubric: str
) -> "Checker":
    """A judge model or a critic, made ready for a rubric about traces."""
    from cfgen.judge.checker import CriticChecker
    from cfgen.judge.critic import expect_model
    from cfgen.judge.edges import ModelChecker
    from cfgen.judge.rubrics.faithfulness import FaithfulnessRubric
    from cfgen.judge.rubrics.registry import create_trace_rubric
    from cfgen.storage.store import Store

    if (judge is None) == (critic is None):
        raise InputError(f"judge: expected a judge or a critic, found {'both' if judge else 'neither'}")
    asked = create_trace_rubric(rubric)
    if judge is not None:
        return ModelChecker(judge, dict(options or {}), Store(root).reply_cache, asked)
    if not isinstance(asked, FaithfulnessRubric):
        raise InputError(
            f"critic: answers the faithfulness rubric only, or faithfulness-scene; found rubric {rubric}"
        )
    expect_model(str(critic))
    return CriticChecker(str(critic), rubric=asked)


@checked
def judge_answers(
    bench: Place,
    planners: Names = ("all",),
    *,
    judge: str = "offline",
    judge_options: Options = None,
    votes: int | None = None,
    rubric: str | Path = "cfgen",
    retry_failed: bool = False,
    strict: bool = False,
    offline: bool = False,
    allow_hosts: Names = (),
    quiet: bool = False,
) -> "list[Run]":
    """Judge answers that are stored and have no verdict of this judge; no planner is asked anything.

    Args:
        planners: names of runs, or "all". The others are as in :func:`cfgen.score`.

    Raises:
        InputError: no such planner, judge or rubric, or a judge without its key.
        StoreError: not a benchmark. Shortfall: a budget is spent; the verdicts so far are kept.
    """
    given = dict(locals())
    from cfgen.judge.run import JudgeOptions, judge_stored
    from cfgen.library import with_votes
    from cfgen.library.benchmark import Benchmark, Run

    given["judge_options"] = with_votes(given["judge_options"], given.pop("votes"))
    found = judge_stored(JudgeOptions(**given))
    return [Run(Benchmark(given["bench"]), one.planner, one.judge, one) for one in found]


@dataclass(frozen=True)
class Rescoring:
    """``verdicts`` that were read again, those that ``changed`` as they were and as they are, and what ``broke``."""

    verdicts: int
    changed: tuple[tuple[Verdict, Verdict], ...]
    broke: tuple[str, ...]


@checked
def rescore(bench: Place, judge: str, *, rubric: str | Path | None = None, strict: bool = False) -> Rescoring:
    """Read the stored replies of a judge again, without a call: after a parser or the combining rules have changed.

    Args:
        judge: its folder under ``verdicts/``. rubric: that of its verdicts where none is named.

    Raises:
        InputError: no verdicts of that judge here.
    """
    from cfgen.judge.registry import stored_judge
    from cfgen.judge.rescore import rescored
    from cfgen.storage.store import Store

    store = Store(Path(bench))
    name, read_by = stored_judge(store, judge, None if rubric is None else str(rubric))
    paths = store.verdict_paths(name, "*")
    if not paths:
        raise InputError(f"{store.root}: judge '{name}' has no verdicts here")

    def reread(old: Verdict) -> Verdict:
        new = rescored(old, read_by)
        if new != old:
            store.write_verdict(new)
        return new

    changed, broke = [], []
    for path, old in read_each(paths, Verdict):
        if isinstance(old, StoreError):
            broke.append(str(old))
            continue
        new = contained(partial(reread, old), str(path.relative_to(store.root)), strict=strict)
        if isinstance(new, Fault):
            broke.append(str(new))
        elif new != old:
            changed.append((old, new))
    return Rescoring(len(paths) - len(broke), tuple(changed), tuple(broke))
