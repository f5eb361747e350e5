"""Put one planner's output against a case: no run is recorded, the panel and the verdict come back."""

from typing import Any

import numpy as np

from cfgen.app.case_index import place_of
from cfgen.app.pictures import data_url
from cfgen.app.reviews import identifier
from cfgen.core.errors import InputError
from cfgen.core.files import read_image, read_record
from cfgen.judge.protocol import VerdictKey
from cfgen.judge.registry import create_judge
from cfgen.judge.run import judge_item
from cfgen.planners.answer import PlanFaultError, to_plan
from cfgen.planners.protocol import Response
from cfgen.records import DIMENSIONS, PLAN_DT, PLAN_STEPS, Case, Plan, Rollout, Verdict
from cfgen.render.panel import PanelItem, case_panel
from cfgen.rollouts.inputs import RolloutInput, RolloutInputs
from cfgen.storage.store import Store

RECORDED = "the recorded drive"
_MAX_CHARS = 200_000


def baselines(store: Store) -> list[str]:
    """What can stand for the answer to the original frame: the drive itself, or a planner that was scored here."""
    return [RECORDED, *sorted(p.parent.name for p in store.root.glob("runs/*/original") if p.is_dir())]


def try_output(store: Store, case_id: str, text: str, original: str, baseline: str) -> dict[str, Any]:
    """Judge ``text``, an answer to the changed frame in the papers' format, with the offline judge.

    Args:
        original: the same planner's answer to the original frame; empty takes ``baseline``.

    Raises:
        InputError: one of the answers holds no plan; says what was expected and found.
    """
    case = read_record(place_of(store, case_id) / "case.json", Case)
    inputs = RolloutInputs(store, store.benchmark.seed)
    before = _rollout(case_id, "original", original, "original answer") if original.strip() else None
    before = before or _baseline(store, inputs, case, baseline)
    after = _rollout(case_id, "hazard", text, "answer to the changed frame")
    question = RolloutInput(case, "hazard", 0)
    verdicts: list[Verdict] = []
    judge = create_judge("offline")
    key = VerdictKey("pasted", case_id, "hazard", 0)
    judge.judge([(key, lambda: judge_item(inputs, question, before, after))], verdicts.append)
    verdict = verdicts[0]
    assert before.plan is not None
    assert after.plan is not None
    folder = store.case_dir(case_id)
    panel = case_panel(
        PanelItem(
            original_image=read_image(folder / "original.png"),
            modified_image=read_image(folder / "augmented.png"),
            original_plan=np.array(before.plan.waypoints),
            modified_plan=np.array(after.plan.waypoints),
            original_text=before.text,
            modified_text=after.text,
            scores={d: verdict.suggested.get(d) for d in DIMENSIONS},
            explanation=verdict.explanation or verdict.reason,
        )
    )
    return {
        "panel": data_url(panel),
        "status": verdict.status,
        "scores": dict(verdict.suggested),
        "explanation": verdict.explanation or verdict.reason,
        "faults": list(after.plan.faults),
        "trace": after.plan.trace.model_dump(),
    }


def example(store: Store, case_id: str) -> str:
    """A well-formed answer to edit: the recorded drive in the papers' format."""
    case = read_record(place_of(store, case_id) / "case.json", Case)
    plan = _drive(RolloutInputs(store, store.benchmark.seed), case)
    points = ", ".join(f"<wp>[{x:.2f}, {y:.2f}, {theta:.3f}]</wp>" for x, y, theta in plan.waypoints)
    return (
        '<think>{"scene": "A clear road ahead.", "move_justification": "Nothing is in the way, so I keep my speed."}'
        "</think>\n<action>Longitudinal: set speed tracking\nLateral: lane keeping</action>\n" + points
    )


def _rollout(case_id: str, arm: str, answer: str | Response, what: str) -> Rollout:
    if isinstance(answer, str) and len(answer) > _MAX_CHARS:
        raise InputError(f"{what}: expected at most {_MAX_CHARS} characters, found {len(answer)}")
    try:
        text, plan = to_plan(answer)
    except PlanFaultError as fault:
        raise InputError(
            f"{what}: {fault}. Expected <think>...</think> <action>...</action> and {PLAN_STEPS} "
            "<wp>[x, y, theta]</wp>; 'fill in an example' shows one"
        ) from fault
    return _as_rollout(case_id, arm, text, plan)


def _as_rollout(case_id: str, arm: str, text: str, plan: Plan) -> Rollout:
    return Rollout(
        planner="pasted", planner_hash="sha256:" + 64 * "0", case_id=case_id, arm=arm, repeat=0, seed=0,
        status="ok", text=text, plan=plan,
    )  # fmt: skip


def _baseline(store: Store, inputs: RolloutInputs, case: Case, baseline: str) -> Rollout:
    if baseline in ("", RECORDED):
        return _as_rollout(case.case_id, "original", "(the recorded drive)", _drive(inputs, case))
    rollout = read_record(
        store.rollout_path(identifier(baseline, "planner"), "original", case.case_id), Rollout
    )
    if rollout.plan is None:
        raise InputError(
            f"planner '{baseline}': has no plan for the original frame of this case; choose another"
        )
    return rollout


def _drive(inputs: RolloutInputs, case: Case) -> Plan:
    """The recorded future as a plan; a scene without one goes on at its speed."""
    history, future = inputs.motion(case)
    if future is None or future.t[-1] < PLAN_STEPS * PLAN_DT - 0.3:
        t = np.arange(1, PLAN_STEPS + 1) * PLAN_DT
        return to_plan(Response("", np.column_stack([history.v[-1] * t, 0 * t, 0 * t])))[1]
    return to_plan(Response("", np.array(future.poses), np.array(future.t)))[1]
