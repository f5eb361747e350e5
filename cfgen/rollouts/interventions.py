"""``cfgen score --intervene``: is the reasoning load-bearing, or told alongside?

For planners that accept a given trace, one stage is overwritten and the later ones left for the planner to redo:
do(z_k = z'_k), Eq. 3 of the Pinocchio paper. A meta-action swap is followed when the new waypoints do what the new
action says and the old ones did not; a justification swap (with that of the other arm) is followed when the new
waypoints lie nearer to the other arm's than to the planner's own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from cfgen.core.errors import InputError
from cfgen.core.faults import contained
from cfgen.core.files import read_record
from cfgen.core.progress import Progress
from cfgen.geometry.manoeuvre import Manoeuvre, keeps_lateral, keeps_longitudinal
from cfgen.metrics.intervals import Rate
from cfgen.options import ScoreOptions
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.protocol import Observation
from cfgen.planners.registry import OpenPlanner
from cfgen.planners.responders import Baseline
from cfgen.planners.retries import Answer, RetryingPlanner
from cfgen.records import MENDABLE, Fault, Intervention, Plan, Rollout, Swap, Trace
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.rollouts.queries import Memory, Queries, RolloutInput, query_order
from cfgen.rollouts.runner import gone_short
from cfgen.rollouts.settings import FOLLOWING
from cfgen.storage.store import Store

_SLOWING = ("stop", "yield", "speed adapt", "follow lead vehicle", "gap search")


@dataclass(frozen=True)
class Swapped:
    """One question with one stage overwritten. ``target``: the plan it should move towards, if there is one."""

    question: RolloutInput
    swap: Swap
    trace: Trace
    own: Plan
    target: Plan | None


def intervene(
    store: Store,
    inputs: RolloutInputs,
    planner: OpenPlanner,
    retrying: RetryingPlanner,
    questions: Queries,
    options: ScoreOptions,
) -> dict[str, Rate]:
    """Ask what has not been asked and, where that is wanted, what failed; the share of swaps that the trajectory
    follows, by stage.

    Raises:
        InputError: the planner does not accept a given trace.
        Shortfall: the planner cannot be reached any more.
    """
    if not planner.needs.accepts_trace:
        raise InputError(
            f"planner '{planner.name}': --intervene needs one that plans for a given trace; set "
            "needs.accepts_trace and read observation.trace"
        )
    swaps = [s for q in questions if q.repeat == 0 for s in _swaps(store, planner.name, q)]
    todo = [s for s in swaps if _wanted(_path(store, planner.name, s), options)]
    progress = Progress(f"{planner.name}: interventions", len(todo), options.quiet)
    planner.renew()
    memory = Memory(planner)
    for batch in _batches(query_order(todo, _shown), planner.needs.batch_size):
        memory.admit(map(_shown, batch))
        answers, gone = retrying.ask_prepared([partial(_observation, inputs, planner, s) for s in batch])
        for swapped, answer in zip(batch, answers, strict=True):
            if answer is not None:
                store.write_intervention(_read(inputs, planner, swapped, answer, options.strict))
                progress.step()
        if gone is not None:
            raise gone_short(planner, gone, progress)
    return shares([read_record(_path(store, planner.name, s), Intervention) for s in swaps])


def _shown(swapped: Swapped) -> tuple[str, tuple[str, str]]:
    """Its scene, and what is shown of it: case and arm."""
    case = swapped.question.case
    return case.scene_id, (case.case_id, swapped.question.arm)


def _batches(swaps: Sequence[Swapped], size: int) -> Iterator[list[Swapped]]:
    """No batch with two arms of a scene."""
    batch: list[Swapped] = []
    for swapped in swaps:
        arms = dict(map(_shown, batch))
        scene, key = _shown(swapped)
        if len(batch) == size or arms.get(scene, key) != key:
            yield batch
            batch = []
        batch.append(swapped)
    if batch:
        yield batch


def shares(records: Sequence[Intervention]) -> dict[str, Rate]:
    """By stage and ``all``: followed swaps out of those that could be asked; no plan counts as not followed.

    What cfgen broke on was not asked.
    """
    records = [r for r in records if r.fault is None]
    groups = {"all": list(records)}
    for record in records:
        groups.setdefault(record.swap, []).append(record)
    return {name: Rate.of(sum(r.followed is True for r in rows), len(rows)) for name, rows in groups.items()}


def _swaps(store: Store, planner: str, question: RolloutInput) -> list[Swapped]:
    own = _plan(store, planner, question, question.arm)
    if own is None:
        return []
    trace = own.trace
    swaps = []
    opposites: tuple[tuple[Swap, str], ...] = (
        ("longitudinal", "set speed tracking" if trace.longitudinal in _SLOWING else "stop"),
        ("lateral", "lane change right" if trace.lateral.endswith("left") else "lane change left"),
    )
    for stage, action in opposites:
        if getattr(trace, stage):
            swaps.append(Swapped(question, stage, trace.model_copy(update={stage: action}), own, None))
    counterpart = _plan(store, planner, question, "hazard" if question.arm == "original" else "original")
    if counterpart is not None and _told_apart(own, counterpart):
        overwritten = Trace(scene=trace.scene, justification=counterpart.trace.justification)
        swaps.append(Swapped(question, "justification", overwritten, own, counterpart))
    return swaps


def _told_apart(own: Plan, counterpart: Plan) -> bool:
    words = (own.trace.justification, counterpart.trace.justification)
    return all(words) and words[0] != words[1] and _apart(own, counterpart) > FOLLOWING.telling_m


def _wanted(path: Path, options: ScoreOptions) -> bool:
    if not path.is_file():
        return True
    if not (options.retry_failed or options.retry_all):
        return False
    stored = read_record(path, Intervention)
    return stored.followed is None and (stored.failure in MENDABLE or options.retry_all)


def _observation(inputs: RolloutInputs, planner: OpenPlanner, swapped: Swapped) -> Observation:
    observation = inputs.observation(swapped.question, planner.needs, planner.replays_log)
    token = f"{observation.token}.{swapped.swap}" if planner.trusted else observation.token
    return replace(observation, token=token, trace=swapped.trace)


def _read(
    inputs: RolloutInputs, planner: OpenPlanner, swapped: Swapped, answer: Answer, strict: bool
) -> Intervention:
    def read() -> Intervention:
        if isinstance(answer, Fault):
            return _broken(planner.name, swapped, answer)
        try:
            plan = to_plan(answer)[1]
        except PlanFaultError as fault:
            return _record(planner.name, swapped, followed=None, reason=str(fault), failure=fault.kind)
        return _judged(planner.name, swapped, plan, Baseline.of(*inputs.motion(swapped.question.case)))

    where = {"case_id": swapped.question.case.case_id, "arm": swapped.question.arm}
    result = contained(read, f"reading the answer to the {swapped.swap} swap", where, strict)
    return _broken(planner.name, swapped, result) if isinstance(result, Fault) else result


def _broken(planner: str, swapped: Swapped, fault: Fault) -> Intervention:
    return _record(
        planner, swapped, followed=None, reason=f"cfgen broke: {fault}", failure="fault", fault=fault
    )


def _judged(planner: str, swapped: Swapped, plan: Plan, baseline: Baseline) -> Intervention:
    moved = _apart(plan, swapped.own)
    if swapped.target is not None:
        to_target = _apart(plan, swapped.target)
        followed, further = to_target < moved, {"from_target_m": to_target}
    else:
        does, did = (_does(swapped, p, baseline) for p in (plan, swapped.own))
        followed, further = does and not did, {}
    return _record(planner, swapped, followed=followed, from_own_m=moved, plan=plan, **further)


def _record(planner: str, swapped: Swapped, **fields: object) -> Intervention:
    return Intervention(
        planner=planner,
        case_id=swapped.question.case.case_id,
        arm=swapped.question.arm,
        swap=swapped.swap,
        given=swapped.trace,
        **fields,  # type: ignore[arg-type]
    )


def _does(swapped: Swapped, plan: Plan, baseline: Baseline) -> bool:
    """Whether the waypoints do what the swapped meta-action says; where that cannot be told, they do not."""
    driven = Manoeuvre.of(np.array(plan.waypoints), baseline.speed, baseline.path)
    if swapped.swap == "longitudinal":
        return keeps_longitudinal(swapped.trace.longitudinal, driven).kept is True
    return keeps_lateral(swapped.trace.lateral, driven).kept is True


def _apart(a: Plan, b: Plan) -> float:
    """Mean distance of corresponding waypoints, m, as far as both plans go."""
    n = min(len(a.waypoints), len(b.waypoints))
    gaps = np.array(a.waypoints)[:n, :2] - np.array(b.waypoints)[:n, :2]
    return float(np.hypot(*gaps.T).mean())


def _plan(store: Store, planner: str, question: RolloutInput, arm: str) -> Plan | None:
    path = store.rollout_path(planner, arm, question.case.case_id, question.repeat)
    return read_record(path, Rollout).plan if path.is_file() else None


def _path(store: Store, planner: str, swapped: Swapped) -> Path:
    return store.intervention_path(planner, swapped.swap, swapped.question.arm, swapped.question.case.case_id)
