"""stored answers x judge -> verdicts: what ``cfgen score`` does when the planner is gone, or ``cfgen judge run`` later.

A verdict needs the planner's answers and the case's frames, never the planner: the two rarely fit one card together.
"""

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np

from cfgen.benchmark.folders import open_store
from cfgen.core.errors import InputError, StoreError, did_you_mean, warn
from cfgen.core.faults import contained
from cfgen.core.files import read_record, write_bytes, write_record
from cfgen.core.hashing import hash_json
from cfgen.core.locks import turn
from cfgen.core.network import within_its_network
from cfgen.core.paths import scenarios_dir
from cfgen.core.progress import Progress
from cfgen.core.sanitize import plain_text
from cfgen.judge.asking import Pictures
from cfgen.judge.combine import combine, faulted
from cfgen.judge.containment import judge_each
from cfgen.judge.protocol import Judge, JudgeItem, PastFrame, RubricId, VerdictKey, asked_now
from cfgen.judge.registry import create_judge
from cfgen.judge.rubrics.registry import Rubric
from cfgen.judge.settings import CHANGE
from cfgen.judge.stored_verdicts import scored_as
from cfgen.models.base import Form
from cfgen.options import ALL, DEFAULT_RUBRIC, NOBODY, JudgeOptions, JudgingOptions
from cfgen.records import (
    Calibration,
    Case,
    Fault,
    JudgeRun,
    Plan,
    PlannerRun,
    ProbeRun,
    Rollout,
    Trace,
    Verdict,
    answer_in,
    frame_in,
    judged_as,
)
from cfgen.render.bev import bev
from cfgen.render.delta import delta_table
from cfgen.render.speed import speed_plot
from cfgen.rollouts.inputs import RolloutInput, RolloutInputs, arm_inputs
from cfgen.rollouts.queries import Queries, QueryKey
from cfgen.rollouts.summary import ScoreSummary, summary
from cfgen.storage.store import Store


@within_its_network
def judge_stored(options: JudgeOptions, named: Path | None = None) -> list[ScoreSummary]:
    """Judge every answer that is stored and has no verdict of this judge; no planner is asked anything.

    Args:
        named: the benchmark in warnings, where ``options.bench`` is a passing view of it.

    Raises:
        InputError: no such planner, judge or rubric, no answers at all, or a judge without its key.
        StoreError: not a benchmark, or the judge's name has verdicts of another wording.
        Shortfall: a budget is spent; the verdicts so far are kept.
    """
    if options.judge == NOBODY:
        raise InputError("judge: expected who judges, found 'none'; see: cfgen list judges")
    store = open_store(options.bench, named)
    names = _stored_planners(store, options.planners)
    judge = create_judge(options.judge, store.reply_cache, options.rubric, **options.judge_settings)
    store.check_judge(judge.run_record())
    inputs = RolloutInputs(store, store.benchmark.seed)
    calibrated = trusted(store, judge, options.rubric, named)
    summaries = []
    for name in names:
        run = read_record(store.planner_run_path(name), PlannerRun)
        arms = [arm for arm in run.arms if arm != "original"]
        questions = arm_inputs(store, arms, run.repeats).only(partial(_has_pair, store, name))
        give_verdicts(store, inputs, judge, name, questions, options)
        summaries.append(summary(store, name, judge.name, questions, {}, calibrated))
    return summaries


def write_request(
    bench: Path, case_id: str, out: Path, rubric: Rubric, form: Form, planner: str = "", arm: str = "hazard"
) -> list[Path]:
    """One whole request as a judge model gets it: ``request.txt`` with all words in their order, and the pictures that
    it names, in the new folder ``out``.

    Args:
        planner: whose answers, the first that answered where none is named. arm: the version that is judged.

    Raises:
        InputError: no such case, planner or answer. StoreError: not a benchmark.
    """
    store = open_store(bench)
    if not (store.case_dir(case_id) / "case.json").is_file():
        raise InputError(f"case: expected the id of a case in {store.root / 'cases'}, found '{case_id}'")
    name = _stored_planners(store, (planner or ALL,))[0]
    inputs = RolloutInputs(store, store.benchmark.seed)
    key = VerdictKey(name, case_id, judged_as(arm), 0)
    item = judge_item(inputs, RolloutInput(store.case(case_id), key.arm, 0), *stored_pair(store, key))
    ask = Pictures().ask(item, rubric, form)
    parts = [ask.system, "\n"]
    written: list[Path] = []
    for part in ask.turns[0].parts:
        if isinstance(part, str):
            parts.append(part)
            continue
        written.append(out / f"picture_{len(written) + 1}.jpg")
        write_bytes(written[-1], part.data)
        parts.append(f"[picture: {written[-1].name}]\n")
    write_bytes(out / "request.txt", "".join(parts).encode())
    return [out / "request.txt", *written]


def _stored_planners(store: Store, requested: Sequence[str]) -> list[str]:
    stored = [run.planner for run in store.planner_runs()]
    if not stored:
        raise InputError(
            f"{store.root}: no planner has answered here; ask one: cfgen score {store.root} --planner NAME --judge none"
        )
    if ALL in requested:
        return stored
    requested = [scored_as(store, name) for name in requested]
    for name in requested:
        if name not in stored:
            raise InputError(
                f"planner '{name}': expected one that has answers in {store.root} ({', '.join(stored)}), or 'all'"
                f"{did_you_mean(name, stored)}"
            )
    return list(dict.fromkeys(requested))


def _has_pair(store: Store, planner: str, key: QueryKey) -> bool:
    """Whether an answer is there, and the one to the original as well, against which it is judged."""
    arms = {"original", key.arm}
    return all(store.rollout_path(planner, arm, key.case_id, key.repeat).is_file() for arm in arms)


# --- what a judge is worth here ---------------------------------------------------------------------------


def trusted(store: Store, judge: Judge, rubric: str, named: Path | None = None) -> int:
    """How many answers the judge was calibrated on; 0, with a warning, where that does not count here.

    Warns also of a judge that has not been tested here with this wording.
    """
    named = named or store.root
    _warn_if_untested(store, judge, rubric, named)
    path = store.calibration_path(judge.name)
    if not path.is_file():
        return 0
    calibration = read_record(path, Calibration)
    if calibration.rubric_hash != judge.run_record().rubric_hash:
        warn(
            f"judge '{judge.name}' does not count as calibrated on {named}: that was with another wording of its "
            f"rubric; calibrate this one: cfgen judge calibrate RATED --judge {judge.name} --benchmarks {named}"
        )
        return 0
    shared = calibration.shared_with(store.benchmark.scenes)
    if not shared:
        return calibration.n
    warn(
        f"judge '{judge.name}' does not count as calibrated on {named}: people rated {len(shared)} of its scenes "
        f"for that, for example '{shared[0]}'; calibrate it on others: "
        f"cfgen judge calibrate RATED --judge {judge.name} --benchmarks {named}"
    )
    return 0


def _warn_if_untested(store: Store, judge: Judge, rubric: str, named: Path) -> None:
    path, run = store.probe_path(judge.name), judge.run_record()
    if not path.is_file() and (released := _released_validation(judge)):
        write_record(path, released, store.work)
    probe = read_record(path, ProbeRun) if path.is_file() else None
    if probe is None or probe.rubric_hash != run.rubric_hash or not probe.enough:
        again = probe is not None and probe.rubric_hash == run.rubric_hash
        lacks = f" (it was tried; that takes {'; '.join(probe.lacks)})" if again and probe else ""
        warn(
            f"judge '{judge.name}' has not been tested on known answers here with this wording{lacks}; run: "
            f"cfgen judge validate {named} --judge {(run.spec or judge.name).split()[0]}"
            f"{'' if rubric == DEFAULT_RUBRIC else f' --rubric {rubric}'}"
            f"{'' if run.spec == judge.name else ' with the same options'}"
        )


def _released_validation(judge: Judge) -> ProbeRun | None:
    """The validation that ships with cfgen, where it is of this judge's very code and wording."""
    run, code = judge.run_record(), getattr(judge, "code", "")
    path = scenarios_dir() / "judges" / f"{run.spec}.json"
    if not code or not path.is_file():
        return None
    probe = read_record(path, ProbeRun)
    same = (probe.code, probe.rubric_hash) == (code, run.rubric_hash)
    return probe.model_copy(update={"judge": judge.name}) if same else None


# --- verdicts -------------------------------------------------------------------------------------------


def give_verdicts(
    store: Store,
    inputs: RolloutInputs,
    judge: Judge,
    planner: str,
    questions: Queries,
    options: JudgingOptions,
) -> None:
    """Judge each pair that has no verdict that stands. Commands that would judge the same take turns."""

    def wait() -> None:
        if not options.quiet:
            print(
                f"cfgen: another command judges '{planner}' by '{judge.name}'; waiting for it",
                file=sys.stderr,
            )

    with turn(store.root, f"judging.{judge.name}.{planner}", wait):
        run = asked_now(judge)
        store.register_judge(run)
        pairs = (VerdictKey(planner, k.case_id, judged_as(k.arm), k.repeat) for k in questions.each_key())
        todo = [
            k
            for k in pairs
            if k.arm != "original" and not _stands(store, judge.name, k, options.retry_failed)
        ]
        random.Random(store.benchmark.seed + 1).shuffle(todo)
        progress = Progress(f"{judge.name}: verdicts", len(todo), options.quiet)

        def done(verdict: Verdict) -> None:
            store.write_verdict(verdict)
            progress.step(judge.note)

        items: list[tuple[VerdictKey, Callable[[], JudgeItem]]] = []
        for key in todo:
            pair = contained(partial(stored_pair, store, key), key.words, asdict(key), options.strict)
            fault = pair if isinstance(pair, Fault) else next((r.fault for r in pair if r.fault), None)
            if fault is not None:
                done(faulted(key, RubricId.of(run), run.judge, fault))
                continue
            assert not isinstance(pair, Fault)
            failed = next((f"{r.arm}: {r.reason}" for r in pair if r.status == "failed"), None)
            if failed is not None:
                done(planner_failed(run, key, failed))
            else:
                items.append((key, partial(_item, store, inputs, questions, key)))
        judge_each(judge, items, done, options.strict)


def _item(store: Store, inputs: RolloutInputs, questions: Queries, key: VerdictKey) -> JudgeItem:
    """Read when its turn comes: answers and cases of a large benchmark do not fit memory."""
    question = RolloutInput(questions.case(key.case_id), key.arm, key.repeat)
    return judge_item(inputs, question, *stored_pair(store, key))


def stored_pair(store: Store, key: VerdictKey) -> tuple[Rollout, Rollout]:
    """What the planner answered to the original and in the arm whose answer the judged pair holds.

    Raises:
        InputError: a record is missing or damaged.
    """
    try:
        before, after = (
            read_record(store.rollout_path(key.planner, arm, key.case_id, key.repeat), Rollout)
            for arm in ("original", answer_in(key.arm))
        )
    except StoreError as error:
        raise InputError(str(error)) from error
    return before, after


def _stands(store: Store, judge: str, key: VerdictKey, retry_failed: bool) -> bool:
    """Whether there is a verdict that stands.

    A damaged one does not, nor one on a planner's failure that has since been made good.
    """
    path = store.verdict_path(judge, key.planner, key.arm, key.case_id, key.repeat)
    try:
        if not path.is_file():
            return False
        verdict = read_record(path, Verdict)
    except StoreError:
        return False
    if verdict.status == "planner_failed":
        return not _answered(store, key)
    return not (retry_failed and verdict.status == "failed")


def _answered(store: Store, key: VerdictKey) -> bool:
    """Whether the planner has a plan for both frames."""
    try:
        return all(r.status == "ok" for r in stored_pair(store, key))
    except InputError:
        return False


def planner_failed(run: JudgeRun, key: VerdictKey, reason: str) -> Verdict:
    """The verdict where the planner gave no plan."""
    reason = plain_text(reason)[0]
    return combine(key, RubricId.of(run), run.judge, (), hash_json(reason)).model_copy(
        update={"status": "planner_failed", "reason": reason}
    )


def judge_item(inputs: RolloutInputs, question: RolloutInput, before: Rollout, after: Rollout) -> JudgeItem:
    """The judge's inputs for one judged pair; both rollouts hold a plan.

    Raises:
        InputError: one of them holds none, or the case's or the scene's files are damaged.
    """
    if before.plan is None or after.plan is None:
        raise InputError(f"case '{question.case.case_id}': nothing to judge, a rollout holds no plan")
    texts, plans = (
        [plain_text(r.text)[0] for r in (before, after)],
        [_plain(before.plan), _plain(after.plan)],
    )
    key = f"{question.case.case_id}.{question.repeat}"
    return item_of(inputs, question.case, frame_in(question.arm), key, texts, plans)


def item_of(
    inputs: RolloutInputs, case: Case, arm: str, key: str, texts: Sequence[str], plans: Sequence[Plan]
) -> JudgeItem:
    """The judge's inputs: what an arm of a case shows, and the words and plans for the original and for it.

    Raises:
        InputError: the case's or the scene's files are damaged.
    """
    original, modified = (np.array(plan.waypoints) for plan in plans)
    try:
        frames = [inputs.front_file(case, version) for version in ("original", arm)]
        camera = inputs.front_camera(case)
    except StoreError as error:
        raise InputError(str(error)) from error
    return JudgeItem(
        key=key,
        original=frames[0],
        modified=frames[1],
        bev=bev(original, modified),
        speed=speed_plot(original, modified),
        delta=delta_table(original, modified),
        original_text=texts[0],
        modified_text=texts[1],
        original_plan=plans[0],
        modified_plan=plans[1],
        camera=camera,
        start=inputs.start(case),
        road=inputs.road(case),
        drivable=inputs.drivable(case),
        past=lambda: [PastFrame(*frame) for frame in inputs.past(case, arm, -CHANGE.past_s)],
    )


def _plain(plan: Plan) -> Plan:
    """With words that UTF-8 can hold: records made elsewhere may have others."""
    words = {name: plain_text(text)[0] for name, text in plan.trace.model_dump().items()}
    return plan.model_copy(update={"trace": Trace(**words)})
