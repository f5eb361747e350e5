"""cases x planner -> rollouts -> verdicts. Readable top to bottom.

Every arm of every case is asked in a shuffled order under a token that tells nothing. What is on disk is not
asked again unless that is wanted; what goes wrong with an answer is recorded with it.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial

import numpy as np

from cfgen.core.errors import InputError, StoreError
from cfgen.core.faults import contained
from cfgen.core.files import read_record, write_record
from cfgen.core.hashing import hash_json
from cfgen.core.network import within_its_network
from cfgen.core.plain import plain_text
from cfgen.core.progress import Progress
from cfgen.core.warn import warn
from cfgen.judge.combine import faulted
from cfgen.judge.each import judge_each
from cfgen.judge.protocol import Judge, JudgeItem, RubricId, VerdictKey, asked_now
from cfgen.judge.registry import create_judge
from cfgen.judge.rubrics.registry import DEFAULT
from cfgen.planners.registry import OpenPlanner, open_planner
from cfgen.planners.retries import Retrying
from cfgen.planners.waiting import waiting
from cfgen.records import (
    Calibration,
    Fault,
    JudgeRun,
    Plan,
    PlannerRun,
    ProbeRun,
    Rollout,
    Trace,
    Verdict,
)
from cfgen.render.bev import bev
from cfgen.render.delta import delta_table
from cfgen.render.speed import speed_plot
from cfgen.rollouts.inputs import RolloutInput, RolloutInputs, arm_inputs
from cfgen.rollouts.interventions import intervene
from cfgen.rollouts.options import ScoreOptions
from cfgen.rollouts.runner import roll_out
from cfgen.rollouts.summary import ScoreSummary, summary
from cfgen.store import Store

#: a hazard whose box covers fewer pixels at the planner's own image size is reported
SMALL_PX = 150


@within_its_network
def score(options: ScoreOptions) -> ScoreSummary:
    """Ask the planner what it has not been asked, judge what has not been judged.

    A judge that cannot work is refused before the planner is asked anything.

    Raises:
        InputError: unknown planner, judge, rubric or arm, a judge without its key; no scene has what the planner needs.
        StoreError: not a benchmark, or the planner's name is taken by another one.
        Shortfall: the planner cannot be reached any more.
    """
    store = Store(options.bench)
    questions = arm_inputs(store, options.arms, options.repeats)
    inputs = RolloutInputs(store, store.benchmark.seed)
    judge = create_judge(options.judge, store.reply_cache, options.rubric, **options.judge_options)
    store.check_judge(judge.run_record())
    with waiting("the planner to start", options.quiet):
        planner = open_planner(
            options.planner,
            options.planner_options,
            options.name,
            options.timeout_s,
            options.max_answer_chars,
            options.startup_timeout_s,
            store.reply_cache,
        )
    try:
        _register(store, planner, options)
        _warn_of_small_hazards(inputs, planner, questions)
        retrying = Retrying(planner, options.planner_retries, options.strict, options.quiet)
        roll_out(store, inputs, planner, retrying, questions, options)
        followed = (
            intervene(store, inputs, planner, retrying, questions, options) if options.intervene else {}
        )
    finally:
        planner.close()
    _warn_if_untested(store, judge, options.rubric)
    calibrated = _calibrated(store, judge)
    _judge(store, inputs, judge, planner.name, questions, options)
    return summary(store, planner.name, judge.name, questions, followed, calibrated)


def _warn_of_small_hazards(
    inputs: RolloutInputs, planner: OpenPlanner, questions: Sequence[RolloutInput]
) -> None:
    """Said before the first question: what a planner cannot see, it cannot answer to."""
    area = min(planner.needs.max_pixels or math.inf, planner.needs.input_pixels or math.inf)
    if not planner.needs.cameras or math.isinf(area):
        return
    small = []
    for case in {q.case.case_id: q.case for q in questions}.values():
        camera = inputs.front_camera(case)
        x0, y0, x1, y1 = case.placement.box_px
        covered = (x1 - x0) * (y1 - y0) * min(1.0, area / (camera.width * camera.height))
        if covered < SMALL_PX:
            small.append(case.case_id)
    if small:
        warn(
            f"{len(small)} hazards cover less than {SMALL_PX} pixels at the {area:.0f} that '{planner.name}' sees: "
            f"{', '.join(small[:8])}{' ...' if len(small) > 8 else ''}"
        )


def _register(store: Store, planner: OpenPlanner, options: ScoreOptions) -> None:
    path = store.planner_run_path(planner.name)
    arms, repeats = dict.fromkeys(("original", *options.arms)), options.repeats
    network = [planner.network]
    if path.is_file():
        found = read_record(path, PlannerRun)
        if found.planner_hash != planner.hash:
            raise StoreError(
                f"{path}: '{planner.name}' has answers of another version of this planner (its file, code or options "
                f"differ); score it under another name with --name, or delete {path.parent}"
            )
        arms = dict.fromkeys((*found.arms, *arms))
        repeats = max(repeats, found.repeats)
        network = [*found.network, *network]
    run = PlannerRun(
        planner=planner.name,
        planner_hash=planner.hash,
        spec=planner.spec,
        arms=tuple(arms),
        repeats=repeats,
        seed=store.benchmark.seed,
        needs=asdict(planner.needs),
        isolation=planner.isolation,
        network=tuple(dict.fromkeys(network)),
    )
    write_record(path, run, store.work)


def _warn_if_untested(store: Store, judge: Judge, rubric: str) -> None:
    path, run = store.probe_path(judge.name), judge.run_record()
    probe = read_record(path, ProbeRun) if path.is_file() else None
    if probe is None or probe.rubric_hash != run.rubric_hash or not probe.enough:
        how = "on all kinds of known answers" if probe else "on known answers"
        warn(
            f"judge '{judge.name}' has not been tested {how} here with this wording; run: "
            f"cfgen judge probe {store.root} --judge {(run.spec or judge.name).split()[0]}"
            f"{'' if rubric == DEFAULT else f' --rubric {rubric}'}"
            f"{'' if run.spec == judge.name else ' with the same options'}"
        )


def _calibrated(store: Store, judge: Judge) -> int:
    """How many answers the judge was calibrated on; 0, with a warning, where that does not count here."""
    path = store.calibration_path(judge.name)
    if not path.is_file():
        return 0
    found = read_record(path, Calibration)
    shared = found.shared_with(store.benchmark.scenes)
    if not shared:
        return found.n
    warn(
        f"judge '{judge.name}' does not count as calibrated on {store.root}: people rated {len(shared)} of its scenes "
        f"for that, for example '{shared[0]}'; calibrate it on others: "
        f"cfgen judge calibrate RATED --judge {judge.name} --benchmark {store.root}"
    )
    return 0


# --- verdicts -------------------------------------------------------------------------------------------


def _judge(
    store: Store,
    inputs: RolloutInputs,
    judge: Judge,
    planner: str,
    questions: Sequence[RolloutInput],
    options: ScoreOptions,
) -> None:
    run = asked_now(judge)
    store.register_judge(run)
    todo = [
        q
        for q in questions
        if q.arm != "original" and not _has_verdict(store, judge.name, planner, q, options.retry_failed)
    ]
    random.Random(store.benchmark.seed + 1).shuffle(todo)
    progress = Progress(f"{judge.name}: verdicts", len(todo), options.quiet)

    def done(verdict: Verdict) -> None:
        store.write_verdict(verdict)
        progress.step(judge.note)

    items: list[tuple[VerdictKey, Callable[[], JudgeItem]]] = []
    for question in todo:
        key = VerdictKey(planner, question.case.case_id, question.arm, question.repeat)
        pair = contained(partial(_pair, store, planner, question), key.words, asdict(key), options.strict)
        fault = pair if isinstance(pair, Fault) else next((r.fault for r in pair if r.fault), None)
        if fault is not None:
            done(faulted(key, RubricId.of(run), run.judge, fault))
            continue
        assert not isinstance(pair, Fault)
        failed = next((f"{r.arm}: {r.reason}" for r in pair if r.status == "failed"), None)
        if failed is not None:
            done(_planner_failed(run, key, failed))
        else:
            items.append((key, partial(judge_item, inputs, question, *pair)))
    judge_each(judge, items, done, options.strict)


def _pair(store: Store, planner: str, question: RolloutInput) -> tuple[Rollout, Rollout]:
    """What the planner answered to the original and to the arm.

    Raises:
        InputError: a record is missing or damaged.
    """
    try:
        return _stored(store, planner, question, "original"), _stored(store, planner, question, question.arm)
    except StoreError as error:
        raise InputError(str(error)) from error


def _has_verdict(store: Store, judge: str, planner: str, question: RolloutInput, retry_failed: bool) -> bool:
    """Whether there is a verdict that stands.

    A damaged one does not, nor one on a planner's failure that has since been made good.
    """
    path = store.verdict_path(judge, planner, question.arm, question.case.case_id, question.repeat)
    try:
        if not path.is_file():
            return False
        found = read_record(path, Verdict)
    except StoreError:
        return False
    if found.status == "planner_failed":
        return not _answered(store, planner, question)
    return not (retry_failed and found.status == "failed")


def _answered(store: Store, planner: str, question: RolloutInput) -> bool:
    """Whether the planner has a plan for both frames."""
    try:
        return all(r.status == "ok" for r in _pair(store, planner, question))
    except InputError:
        return False


def _planner_failed(run: JudgeRun, key: VerdictKey, reason: str) -> Verdict:
    reason = plain_text(reason)[0]
    return Verdict(
        judge=run.judge,
        rubric=run.rubric,
        rubric_version=run.rubric_version,
        rubric_hash=run.rubric_hash,
        planner=key.planner,
        case_id=key.case_id,
        arm=key.arm,
        repeat=key.repeat,
        status="planner_failed",
        reason=reason,
        input_hash=hash_json(reason),
    )


def _stored(store: Store, planner: str, question: RolloutInput, arm: str) -> Rollout:
    return read_record(store.rollout_path(planner, arm, question.case.case_id, question.repeat), Rollout)


def judge_item(inputs: RolloutInputs, question: RolloutInput, before: Rollout, after: Rollout) -> JudgeItem:
    """The judge's inputs for one arm against the original; both rollouts hold a plan.

    Raises:
        InputError: one of them holds none, or the case's or the scene's files are damaged.
    """
    if before.plan is None or after.plan is None:
        raise InputError(f"case '{question.case.case_id}': nothing to judge, a rollout holds no plan")
    original, modified = np.array(before.plan.waypoints), np.array(after.plan.waypoints)
    try:
        frames = [inputs.front_file(question.case, arm) for arm in ("original", question.arm)]
        camera = inputs.front_camera(question.case)
    except StoreError as error:
        raise InputError(str(error)) from error
    return JudgeItem(
        key=f"{question.case.case_id}.{question.repeat}",
        original=frames[0],
        modified=frames[1],
        bev=bev(original, modified),
        speed=speed_plot(original, modified),
        delta=delta_table(original, modified),
        original_text=plain_text(before.text)[0],
        modified_text=plain_text(after.text)[0],
        original_plan=_plain(before.plan),
        modified_plan=_plain(after.plan),
        camera=camera,
    )


def _plain(plan: Plan) -> Plan:
    """With words that UTF-8 can hold: records made elsewhere may have others."""
    words = {name: plain_text(said)[0] for name, said in plan.trace.model_dump().items()}
    return plan.model_copy(update={"trace": Trace(**words)})
