"""rollouts -> trace verdicts: does each answer of a planner hang together? Readable top to bottom."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from cfgen.benchmark.folders import open_store
from cfgen.core.errors import InputError, StoreError
from cfgen.core.faults import contained
from cfgen.core.files import read_each, read_record
from cfgen.core.progress import Progress
from cfgen.judge.rubrics.trace import TraceItem, TraceReply
from cfgen.judge.stored_verdicts import scored_as, unscored
from cfgen.records import Case, PlannerRun, Rollout, TraceVerdict
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.storage.store import Store
from cfgen.traces.checker import Checker, broken


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
    store = open_store(bench)
    planner = scored_as(store, planner)
    records = [record for arm in arms for _, record in read_each(store.rollout_paths(planner, arm), Rollout)]
    damaged = [str(record) for record in records if isinstance(record, StoreError)]
    rollouts = [record for record in records if isinstance(record, Rollout) and record.plan is not None]
    if not rollouts:
        raise InputError(
            f"planner '{planner}' has no plan in {store.root} for the arms {', '.join(arms)}; "
            f"{unscored(store, planner)}"
        )
    case_ids = {*store.case_ids()}
    todo = [
        r for r in rollouts if r.case_id in case_ids and not _stored_verdict(store, checker, r, retry_failed)
    ]
    progress = Progress(f"{checker.name}: traces", len(todo), quiet)
    _check(store, checker, todo, progress.step, strict)
    verdicts = (_stored_verdict(store, checker, r) for r in rollouts)
    return [verdict for verdict in verdicts if verdict is not None], damaged


def _check(
    store: Store, checker: Checker, todo: Sequence[Rollout], step: Callable[[], None], strict: bool
) -> None:
    inputs, by_key = RolloutInputs(store, store.benchmark.seed), {_key(r): r for r in todo}

    def write(key: str, reply: TraceReply) -> None:
        store.write_trace_verdict(_verdict(checker, by_key[key], reply))

    def done(key: str, reply: TraceReply) -> None:
        fault = contained(lambda: write(key, reply), f"trace {key}", strict=strict)
        if fault is not None:
            write(key, broken(checker.name, fault))
        step()

    checker.check([(key, _builder(store, inputs, r)) for key, r in by_key.items()], done, strict)


def trace_item(inputs: RolloutInputs, case: Case, rollout: Rollout) -> TraceItem:
    """What a checker sees of one rollout: its own frame, its plan drawn alone, and its words."""
    assert rollout.plan is not None
    return TraceItem.of(
        inputs.front(case, rollout.arm),
        rollout.plan.trace,
        np.array(rollout.plan.waypoints),
        inputs.cameras(case, needed_cameras(inputs.store, rollout.planner)),
        inputs.start(case).speed,
    )


def needed_cameras(store: Store, planner: str) -> tuple[str, ...]:
    """What the planner saw through, by its record; without one, the front camera."""
    path = store.planner_run_path(planner)
    needs = read_record(path, PlannerRun).needs if path.is_file() else {}
    return tuple(map(str, needs.get("cameras") or ("front",)))


def _builder(store: Store, inputs: RolloutInputs, rollout: Rollout) -> Callable[[], TraceItem]:
    return lambda: trace_item(inputs, store.case(rollout.case_id), rollout)


def _key(rollout: Rollout) -> str:
    return f"{rollout.arm}.{rollout.case_id}.{rollout.repeat}"


def _stored_verdict(
    store: Store, checker: Checker, r: Rollout, retry_failed: bool = False
) -> TraceVerdict | None:
    """What is there already; a damaged record is as good as none."""
    path = store.trace_path(checker.name, r.planner, r.arm, r.case_id, r.repeat)
    try:
        verdict = read_record(path, TraceVerdict) if path.is_file() else None
    except StoreError:
        return None
    return None if verdict and retry_failed and verdict.status == "failed" else verdict


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
