"""rollouts -> trace verdicts: does each answer of a planner hang together? Readable top to bottom."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from cfgen.errors import InputError
from cfgen.judge.checker import Checker
from cfgen.judge.rubrics.faithfulness import TraceItem, TraceReply
from cfgen.progress import Progress
from cfgen.questions import Questions
from cfgen.records import Case, Rollout, TraceVerdict
from cfgen.render.bev import bev
from cfgen.render.speed import speed_plot
from cfgen.store import Store


def check_traces(
    bench: Path,
    planner: str,
    checker: Checker,
    arms: Sequence[str] = ("original", "hazard"),
    quiet: bool = False,
) -> dict[str, int]:
    """Check what has not been checked; a rollout without a plan has no edges and is left out.

    Returns:
        How many verdicts there are now, by status.

    Raises:
        InputError: the planner has no rollout in these arms.
    """
    store = Store(bench)
    rollouts = [r for arm in arms for r in store.rollouts(planner, arm) if r.plan is not None]
    if not rollouts:
        raise InputError(
            f"planner '{planner}' has no plan in {store.root} for the arms {', '.join(arms)}; "
            f"score it first: cfgen score {store.root} --planner {planner}"
        )
    cases = {case.case_id: case for case in store.cases()}
    asker = Questions(store, store.benchmark.seed)
    todo = {_key(r): r for r in rollouts if r.case_id in cases and not _path(store, checker, r).is_file()}
    progress = Progress(f"{checker.name}: traces", len(todo), quiet)

    def done(key: str, reply: TraceReply) -> None:
        store.write_trace_verdict(_verdict(checker, todo[key], reply))
        progress.step()

    checker.check([(key, _builder(asker, cases[r.case_id], r)) for key, r in todo.items()], done)
    found = [v for v in store.trace_verdicts(planner) if v.checker == checker.name and v.arm in arms]
    return dict(Counter(v.status for v in found))


def trace_item(asker: Questions, case: Case, rollout: Rollout) -> TraceItem:
    """What a checker sees of one rollout: its own frame, its plan drawn alone, and its words."""
    assert rollout.plan is not None
    plan, trace = np.array(rollout.plan.waypoints), rollout.plan.trace
    return TraceItem(
        frame=asker.front(case, rollout.arm),
        bev=bev(plan),
        speed=speed_plot(plan),
        scene=trace.scene,
        justification=trace.justification,
        action=f"Longitudinal: {trace.longitudinal}\nLateral: {trace.lateral}",
        waypoints=plan,
    )


def _builder(asker: Questions, case: Case, rollout: Rollout) -> Callable[[], TraceItem]:
    return lambda: trace_item(asker, case, rollout)


def _key(rollout: Rollout) -> str:
    return f"{rollout.arm}.{rollout.case_id}.{rollout.repeat}"


def _path(store: Store, checker: Checker, r: Rollout) -> Path:
    return store.trace_path(checker.name, r.planner, r.arm, r.case_id, r.repeat)


def _verdict(checker: Checker, rollout: Rollout, reply: TraceReply) -> TraceVerdict:
    return TraceVerdict(
        checker=checker.name,
        rubric=checker.rubric.name,
        rubric_version=checker.rubric.version,
        rubric_hash=checker.rubric.hash,
        planner=rollout.planner,
        case_id=rollout.case_id,
        arm=rollout.arm,
        repeat=rollout.repeat,
        status="checked" if reply.usable else "failed",
        edges=reply.edges,
        consistent=reply.consistent,
        claims=reply.claims,
        probabilities=reply.probabilities,
        why=reply.why,
        confidence=reply.confidence,
        reason=reply.reason,
        raw=reply.raw,
    )
