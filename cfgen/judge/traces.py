"""rollouts -> trace verdicts: does each answer of a planner hang together? Readable top to bottom."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from cfgen.core.errors import InputError, StoreError
from cfgen.core.faults import contained
from cfgen.core.files import read_each, read_record
from cfgen.core.progress import Progress
from cfgen.judge.checker import Checker, broken
from cfgen.judge.rubrics.trace import TraceItem, TraceReply
from cfgen.judge.stored import scored_as, unscored
from cfgen.records import Case, Rollout, TraceVerdict
from cfgen.render.bev import bev
from cfgen.render.speed import speed_plot
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.store import Store


def check_traces(
    bench: Path,
    planner: str,
    checker: Checker,
    arms: Sequence[str] = ("original", "hazard"),
    quiet: bool = False,
    retry_failed: bool = False,
    strict: bool = False,
) -> tuple[list[TraceVerdict], list[str]]:
    """Check what has not been checked; a rollout without a plan has no edges and is left out.

    Args:
        retry_failed: ask again where there was no usable reply. strict: let what breaks through, with its traceback.

    Returns:
        The verdicts that there are now, and what is wrong with rollouts that cannot be read.

    Raises:
        InputError: the planner has no rollout in these arms.
    """
    store = Store(bench)
    planner = scored_as(store, planner)
    found = [one for arm in arms for _, one in read_each(store.rollout_paths(planner, arm), Rollout)]
    damaged = [str(one) for one in found if isinstance(one, StoreError)]
    rollouts = [one for one in found if isinstance(one, Rollout) and one.plan is not None]
    if not rollouts:
        raise InputError(
            f"planner '{planner}' has no plan in {store.root} for the arms {', '.join(arms)}; "
            f"{unscored(store, planner)}"
        )
    cases = {case.case_id: case for case in store.cases()}
    inputs = RolloutInputs(store, store.benchmark.seed)
    todo = {_key(r): r for r in rollouts if r.case_id in cases and not _kept(store, checker, r, retry_failed)}
    progress = Progress(f"{checker.name}: traces", len(todo), quiet)

    def write(key: str, reply: TraceReply) -> None:
        store.write_trace_verdict(_verdict(checker, todo[key], reply))

    def done(key: str, reply: TraceReply) -> None:
        fault = contained(lambda: write(key, reply), f"trace {key}", strict=strict)
        if fault is not None:
            write(key, broken(checker.name, fault))
        progress.step()

    items = [(key, _builder(inputs, cases[r.case_id], r)) for key, r in todo.items()]
    checker.check(items, done, strict)
    kept = (_kept(store, checker, r) for r in rollouts)
    return [verdict for verdict in kept if verdict is not None], damaged


def trace_item(inputs: RolloutInputs, case: Case, rollout: Rollout) -> TraceItem:
    """What a checker sees of one rollout: its own frame, its plan drawn alone, and its words."""
    assert rollout.plan is not None
    plan, trace = np.array(rollout.plan.waypoints), rollout.plan.trace
    return TraceItem(
        frame=inputs.front(case, rollout.arm),
        bev=bev(plan),
        speed=speed_plot(plan),
        scene=trace.scene,
        justification=trace.justification,
        action=f"Longitudinal: {trace.longitudinal}\nLateral: {trace.lateral}",
        waypoints=plan,
    )


def _builder(inputs: RolloutInputs, case: Case, rollout: Rollout) -> Callable[[], TraceItem]:
    return lambda: trace_item(inputs, case, rollout)


def _key(rollout: Rollout) -> str:
    return f"{rollout.arm}.{rollout.case_id}.{rollout.repeat}"


def _kept(store: Store, checker: Checker, r: Rollout, retry_failed: bool = False) -> TraceVerdict | None:
    """What is there already; a damaged record is as good as none."""
    path = store.trace_path(checker.name, r.planner, r.arm, r.case_id, r.repeat)
    try:
        found = read_record(path, TraceVerdict) if path.is_file() else None
    except StoreError:
        return None
    return None if found and retry_failed and found.status == "failed" else found


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
        model=reply.model,
        status="checked" if reply.usable else "failed",
        edges=reply.edges,
        consistent=reply.consistent,
        claims=reply.claims,
        probabilities=reply.probabilities,
        why=reply.why,
        confidence=reply.confidence,
        reason=reply.reason,
        transient=reply.transient,
        fault=reply.fault,
        notes=reply.notes,
        raw=reply.raw,
    )
