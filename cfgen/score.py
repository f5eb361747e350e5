"""cases x planner -> rollouts -> verdicts. Readable top to bottom.

Every arm of every case is asked in a shuffled order under a token that tells nothing. What is on disk is not
asked again unless that is wanted; what goes wrong with an answer is recorded with it.
"""

import math
import secrets
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import attrs

from cfgen.benchmark.folders import open_store
from cfgen.core.engines.registry import create_engine, shard_of
from cfgen.core.errors import StoreError, warn
from cfgen.core.files import read_record, write_record
from cfgen.core.network import within_its_network, without_secrets
from cfgen.judge.registry import create_judge
from cfgen.judge.run import give_verdicts, trusted
from cfgen.options import NOBODY, ScoreOptions
from cfgen.planners.outputs import EXPORTS, check_lines
from cfgen.planners.registry import OpenPlanner
from cfgen.records import PlannerRun
from cfgen.rollouts.inputs import RolloutInputs, arm_inputs, arms_of_cases
from cfgen.rollouts.queries import Queries
from cfgen.rollouts.remote import remote_workers
from cfgen.rollouts.summary import ScoreSummary, summary
from cfgen.rollouts.workers import local_workers
from cfgen.storage.store import Store

#: a hazard whose box covers fewer pixels at the planner's own image size is reported
SMALL_PX = 150
#: cases that are looked through for such
_LOOKED_AT = 1000


@within_its_network
def score(options: ScoreOptions) -> ScoreSummary:
    """Ask the planner what it has not been asked, judge what has not been judged.

    A judge that cannot work is refused before the planner is asked anything; judge "none" leaves the answers to
    :func:`cfgen.judge.run.judge_stored`.

    Raises:
        InputError: unknown planner, judge, rubric or arm, a judge without its key; no scene has what the planner needs.
        StoreError: not a benchmark, or the planner's name is taken by another one.
        Shortfall: the planner cannot be reached any more.
    """
    engine = create_engine(options.engine, options.engine_options)
    store = open_store(options.bench)
    built = {arm for _, _, arms, _ in arms_of_cases(store) for arm in arms}
    options = attrs.evolve(options, arms=options.arms_of(built))
    questions = arm_inputs(store, options.arms, options.repeats)
    if isinstance(options.planner, str) and options.planner.endswith(".jsonl"):
        check_lines(Path(options.planner), store.root / EXPORTS, questions.each_key())
    if part := shard_of(options.shard):
        questions = questions.shard(*part)
    inputs = RolloutInputs(store, store.benchmark.seed)
    judge = None
    if options.judge != NOBODY:
        judge = create_judge(options.judge, store.reply_cache, options.rubric, **options.judge_settings)
        store.check_judge(judge.run_record())
    with (
        remote_workers(store, options, engine)
        if engine.elsewhere
        else local_workers(store, options) as workers
    ):
        planner = workers.planner
        inputs.salt = _register(store, planner, options)
        _warn_of_small_hazards(inputs, planner, questions)
        workers.roll_out(inputs, questions)
        followed = dict(workers.intervene(inputs, questions)) if options.intervene else {}
    if judge is None:
        return summary(store, planner.name, NOBODY, questions, followed, 0)
    calibrated = trusted(store, judge, options.rubric)
    give_verdicts(store, inputs, judge, planner.name, questions, options)
    return summary(store, planner.name, judge.name, questions, followed, calibrated)


def _warn_of_small_hazards(inputs: RolloutInputs, planner: OpenPlanner, questions: Queries) -> None:
    """Said before the first question: what a planner cannot see, it cannot answer to."""
    area = min(planner.needs.max_pixels or math.inf, planner.needs.input_pixels or math.inf)
    if not planner.needs.cameras or math.isinf(area):
        return
    small = []
    for case_id in islice(dict.fromkeys(key.case_id for key in questions.each_key()), _LOOKED_AT):
        case = questions.case(case_id)
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


def _register(store: Store, planner: OpenPlanner, options: ScoreOptions) -> str | None:
    """Say who is asked what; what is mixed into the seeds of its questions, None for a planner that may know them."""
    with store.held(f"registering.{planner.name}"):
        run = _write_run(store, planner, options)
    return None if planner.trusted else run.salt


def _write_run(store: Store, planner: OpenPlanner, options: ScoreOptions) -> PlannerRun:
    path = store.planner_run_path(planner.name)
    arms, repeats = dict.fromkeys(("original", *options.arms)), options.repeats
    network, sight = [planner.network], [planner.sight]
    salt = "" if planner.trusted else secrets.token_hex(16)
    if path.is_file():
        stored = read_record(path, PlannerRun)
        if stored.planner_hash != planner.hash:
            raise StoreError(
                f"{path}: another command has just begun with another version of '{planner.name}'; run this one again"
            )
        arms = dict.fromkeys((*stored.arms, *arms))
        repeats = max(repeats, stored.repeats)
        network, sight, salt = [*stored.network, *network], [*stored.sight, *sight], stored.salt
    run = PlannerRun(
        planner=planner.name,
        planner_hash=planner.hash,
        spec=without_secrets(planner.spec),
        arms=tuple(arms),
        repeats=repeats,
        seed=store.benchmark.seed,
        needs=asdict(planner.needs),
        isolation=planner.isolation,
        network=tuple(dict.fromkeys(network)),
        sight=tuple(dict.fromkeys(filter(None, sight))),
        fingerprint=dict(planner.fingerprint),
        salt=salt,
    )
    write_record(path, run, store.work)
    return run
