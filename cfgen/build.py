"""scenes x hazards -> accepted cases. Readable top to bottom; one case is made in :mod:`cfgen.benchmark.builder`.

A build surveys where hazards can stand in its scenes, assigns hazards to them, writes that plan down, and works it off
slot by slot (:mod:`cfgen.benchmark.plan`). What it comes to follows from the seed and from what is on disk, so that an
interrupted build goes on to the same end.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cfgen.benchmark.build_report import ProgressNote, spending, tally
from cfgen.benchmark.builder import Outcome, make_cases, record_failure
from cfgen.benchmark.context import (
    WorkerSettings,
    can_draw_hazard,
    paint,
    save_folder_index,
    survey_scenes,
    taxonomy_identity,
)
from cfgen.benchmark.folders import check_settings_match, cleanup_on_failure, open_store
from cfgen.benchmark.gates import extra_gates
from cfgen.benchmark.masks import MaskPipeline
from cfgen.benchmark.plan import BuildPlan, Slot, Survey, broken, check_part, next_part
from cfgen.benchmark.scene_choice import Chosen, choose
from cfgen.core.engines.registry import Engine, Pool, WorkerDiedError, WorkerNeeds, create_engine, shard_of
from cfgen.core.errors import InputError
from cfgen.core.faults import fault_of
from cfgen.core.files import read_yaml
from cfgen.core.hashing import canonical_json
from cfgen.core.network import within_its_network
from cfgen.core.paths import scenarios_dir
from cfgen.core.progress import Progress
from cfgen.hazards.taxonomy import Taxonomy, load_taxonomy, merge_taxonomy
from cfgen.inpaint.protocol import Inpainter
from cfgen.inpaint.registry import create_guide, create_inpainter
from cfgen.options import BuildOptions
from cfgen.perception.registry import create_perceiver
from cfgen.records import BenchmarkRecord, BuildReport, Fault, Hazard, Planned
from cfgen.storage.listing import short_cases
from cfgen.storage.store import MARKER, Store
from cfgen.version import __version__

#: s between looks at what another build has in hand
_POLL_S = 0.5


@within_its_network
def build(options: BuildOptions) -> BuildReport:
    """Make or continue the benchmark in ``options.out``.

    Raises:
        InputError: no usable scene, an unknown hazard or inpainter, a bad taxonomy.
        StoreError: the folder holds something else, or a benchmark made with other settings.
    """
    engine, part = create_engine(options.engine, options.engine_options), _shard(options)
    resumed, request = (options.out / MARKER).is_file(), _resolve(options)
    inpainters, folders = request.inpainters, request.folders
    if not resumed:
        request.check()
    store = _open_store(options, request.benchmark)
    settings = WorkerSettings(
        store.root.absolute(),
        save_folder_index(store, folders).absolute(),
        options.attempts,
        canonical_json(inpainters.terms).decode(),
        canonical_json(options.perception_options).decode(),
        tuple(request.hazards),
        options.strict,
    )
    progress = Progress("cases", options.n, options.quiet)
    note, stopped = ProgressNote(), ""
    with cleanup_on_failure(
        engine.pool(_workers(engine, options, inpainters, settings)), store, resumed
    ) as workers:
        retry = broken(store) if options.retry_faults else []
        plan = BuildPlan(store, sorted(folders), request.hazards, partial(_survey, settings, workers), retry)
        while not stopped and (todo := next_part(plan, part) if part else plan.next_slots()):
            progress.done = plan.accepted()
            stopped = _work_off(
                settings, plan, todo, inpainters.inpainter.needs.batch_size, workers, progress, note
            )
    if part and not stopped:
        stopped = f"shard {options.shard} is done; merge all of them: cfgen bench merge OUT SHARD..."
    if not part:
        _store_scene_hashes(store)
    report = tally(
        store, options.n, request.unusable, plan.barren, request.unasked, request.undrawable, stopped
    )
    store.write_build_report(report)
    return report


@within_its_network
def check_build(options: BuildOptions) -> None:
    """Refuse what :func:`build` would refuse, a missing key or weights too; writes nothing.

    Raises:
        As :func:`build`.
    """
    create_engine(options.engine, options.engine_options)
    _shard(options)
    request = _resolve(options)
    if (options.out / MARKER).is_file():
        check_settings_match(
            options.out, open_store(options.out, any_version=True).benchmark, request.benchmark
        )
    else:
        Store.check_new(options.out)
        request.check()


@dataclass(frozen=True, eq=False)
class _Request:
    """What options come to: scenes by their folders, who draws which hazards, and the record that says so.

    ``unusable``, ``undrawable`` and ``unasked``: scenes and hazards that are left out.
    """

    folders: dict[str, str]
    unusable: dict[str, str | Fault]
    inpainters: "_Inpainters"
    hazards: list[str]
    undrawable: tuple[str, ...]
    unasked: dict[str, Fault]
    benchmark: BenchmarkRecord
    masks: MaskPipeline

    def check(self) -> None:
        """Before a benchmark is begun. Raises SetupError: somebody lacks a key, a package or weights."""
        used = (self.inpainters.inpainter, self.inpainters.guide, self.masks.segmenter, self.masks.detector)
        for model in filter(None, used):
            if check := getattr(model, "check", None):  # most need nothing
                check()


def _resolve(options: BuildOptions) -> _Request:
    chosen = choose(
        options.scenes or scenarios_dir() / "scenes", options.where, options.strict, bool(options.shard)
    )
    inpainters = _create_inpainters(options)
    taxonomy = _taxonomy(options)
    hazards, undrawable, unasked = _drawable_hazards(options, inpainters, taxonomy)
    benchmark = _benchmark(options, inpainters, chosen, taxonomy)
    masks = MaskPipeline.of(benchmark)  # its mistakes are told before anything is written
    return _Request(
        chosen.folders, chosen.unusable, inpainters, hazards, undrawable, unasked, benchmark, masks
    )


@dataclass(frozen=True, eq=False)
class _Inpainters:
    """Who draws, and the inpainter's options: what decides its pixels, and the terms it works on."""

    inpainter: Inpainter
    guide: Inpainter | None
    fixed: dict[str, Any]
    terms: dict[str, Any]


def _create_inpainters(options: BuildOptions) -> _Inpainters:
    """
    Raises:
        InputError: an unknown inpainter or option, or a budget for an inpainter that costs nothing.
    """
    inpainter_options = dict(options.inpainter_options)
    inpainter = create_inpainter(options.inpainter, inpainter_options)
    term_names = inpainter.needs.terms
    if options.budget and "max_usd" not in term_names:
        raise InputError(f"--budget: inpainter '{options.inpainter}' costs nothing; leave it out")
    ours: dict[str, Any] = {"max_usd": options.budget} if options.budget else {}
    if options.quiet and "quiet" in term_names:
        ours["quiet"] = True
    if ours:  # refuses what it cannot work on, before anything is written
        inpainter = create_inpainter(options.inpainter, {**inpainter_options, **ours})
    return _Inpainters(
        inpainter,
        create_guide(options.guide, inpainter),
        {name: value for name, value in inpainter_options.items() if name not in term_names},
        {**ours, **{name: value for name, value in inpainter_options.items() if name in term_names}},
    )


def _shard(options: BuildOptions) -> tuple[int, int] | None:
    """
    Raises:
        InputError: no part, or one together with what goes over the rounds of all parts.
    """
    part = shard_of(options.shard)
    if part and options.retry_faults:
        raise InputError("--shard: leave --retry-faults out; give it to the merged benchmark")
    if part and options.budget:
        raise InputError("--shard: leave --budget out: it holds for one folder, and the parts are several")
    return part


def _taxonomy(options: BuildOptions) -> Taxonomy:
    """As asked for; a benchmark that is begun holds its own hazards."""
    if options.taxonomy is None and not options.taxonomy_only and (options.out / MARKER).is_file():
        existing = Store(options.out).benchmark
        return merge_taxonomy(existing.own_hazards, existing.own_hazards_only)
    return load_taxonomy(options.taxonomy, options.taxonomy_only)


def _chosen_hazards(options: BuildOptions, taxonomy: Taxonomy) -> list[Hazard]:
    """Those named; else those that are drawn by default; else all."""
    named = [taxonomy.get(name) for name in options.hazards]
    return named or [h for h in taxonomy.hazards if h.by_default] or list(taxonomy.hazards)


def _drawable_hazards(
    options: BuildOptions, inpainters: _Inpainters, taxonomy: Taxonomy
) -> tuple[list[str], tuple[str, ...], dict[str, Fault]]:
    """Hazards to plan with, those left out for want of a model, and those on which the inpainter broke."""
    chosen = _chosen_hazards(options, taxonomy)
    inpainter, guide = inpainters.inpainter, inpainters.guide
    answers = {h.id: can_draw_hazard(h, inpainter, guide, options.strict) for h in chosen}
    unasked = {name: answer for name, answer in answers.items() if isinstance(answer, Fault)}
    drawable = [h.id for h in chosen if answers[h.id] is True]
    if not drawable:
        names = ", ".join(h.id for h in chosen)
        by = f" guided by '{guide.name}'" if guide else ""
        why = f" ({next(iter(unasked.values()))})" if unasked else ""
        raise InputError(
            f"inpainter '{options.inpainter}'{by} can draw none of: {names}{why}; choose others or another inpainter"
        )
    return drawable, tuple(h.id for h in chosen if answers[h.id] is False), unasked


def _benchmark(
    options: BuildOptions, inpainters: _Inpainters, chosen: Chosen, taxonomy: Taxonomy
) -> BenchmarkRecord:
    perceiver = create_perceiver(
        options.perception or _stored_perception(options.out), options.perception_options
    )
    return BenchmarkRecord(
        cfgen_version=__version__,
        n=options.n,
        seed=options.seed,
        taxonomy_hash=taxonomy.hash,
        own_hazards=taxonomy.own,
        own_hazards_only=taxonomy.only,
        scenes=chosen.hashes,
        sampling=chosen.sampling,
        hazards=options.hazards,
        inpainter=options.inpainter,
        inpainter_options=inpainters.fixed,
        guide=options.guide,
        masks=options.masks,
        masks_options=options.masks_options,
        detector=options.detector,
        detector_options=options.detector_options,
        perception=perceiver.name,
        perception_identity=dict(perceiver.identity),
        gates=extra_gates(),
        decel_band=options.decel_band,
        horizon=options.horizon,
        protocol=options.protocol,
        hazard_weights=_weights(options, taxonomy),
        controls=options.control_arms,
        distances=tuple(d for d in options.distances if d != 1.0),
    )


def _weights(options: BuildOptions, taxonomy: Taxonomy) -> dict[str, float]:
    """
    Raises:
        InputError: no mapping from hazards of the taxonomy to numbers from 0 on.
    """
    path = options.hazard_weights
    weights = read_yaml(path) if path else {}
    where = f"--hazard-weights '{path}'"
    if not isinstance(weights, dict):
        raise InputError(f"{where}: expected a mapping from hazard to weight, found {str(weights)[:80]!r}")
    for name, weight in weights.items():
        taxonomy.get(str(name))
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
            raise InputError(f"{where}: {name}: expected a number from 0 on, found {weight!r}")
    return {str(name): float(weight) for name, weight in weights.items()}


def _open_store(options: BuildOptions, requested: BenchmarkRecord) -> Store:
    exists = (options.out / MARKER).is_file()
    store = open_store(options.out, any_version=True) if exists else Store.create(options.out, requested)
    check_settings_match(options.out, store.benchmark, requested)
    check_part(store, shard_of(options.shard))
    store.change_benchmark(lambda b: b.model_copy(update={"n": max(b.n, requested.n)}))
    store.remember_scenes(options.scenes)
    return store


def _store_scene_hashes(store: Store) -> None:
    """Of scenes that were looked at when their cases were made."""
    unknown = {scene_id for scene_id, scene_hash in store.benchmark.scenes.items() if not scene_hash}
    if unknown:
        hash_by_scene = {case["scene_id"]: case["scene_hash"] for case in short_cases(store).values()}
        new_hashes = {
            scene_id: scene_hash for scene_id, scene_hash in hash_by_scene.items() if scene_id in unknown
        }
        store.change_benchmark(lambda b: b.model_copy(update={"scenes": {**b.scenes, **new_hashes}}))


def _stored_perception(out: Path) -> str:
    """The perceiver of a benchmark that is begun, else "": the default one."""
    return Store(out).benchmark.perception if (out / MARKER).is_file() else ""


def _workers(
    engine: Engine, options: BuildOptions, inpainters: "_Inpainters", settings: WorkerSettings
) -> WorkerNeeds:
    needs, guide = inpainters.inpainter.needs, inpainters.guide
    looks = bool(options.masks or options.detector or (guide and guide.needs.model))
    batches = -(-options.n // needs.batch_size)
    # one batch alone leaves nothing to do meanwhile; models that look sit with who does the rest
    staged = needs.model and not looks and batches > 1
    # a model may take a whole machine, of which elsewhere there are several
    limit = 0 if engine.elsewhere and needs.model else needs.processes
    return WorkerNeeds(
        jobs=options.jobs,
        most=batches if staged else min(limit or options.n, options.n),
        model=looks or (needs.model and not staged),
        folders=(settings.store, (options.scenes or scenarios_dir() / "scenes").absolute()),
        same=partial(taxonomy_identity, settings.store),
        serve=partial(paint, settings) if staged else None,
    )


def _work_off(
    settings: WorkerSettings,
    plan: BuildPlan,
    todo: list[Slot],
    size: int,
    workers: Pool,
    progress: Progress,
    note: ProgressNote,
) -> str:
    """Returns why it ended before its end, or ""."""
    batches = [todo[i : i + size] for i in range(0, len(todo), size)]
    elsewhere: list[Planned] = []
    ledger = spending(plan.store)
    for results in workers.run(partial(make_cases, settings), batches, partial(_record_lost_batch, settings)):
        spent = ledger.total()
        for outcome in results:
            if outcome.status == "elsewhere":
                elsewhere.append(outcome.planned)
                continue
            accepted = outcome.status == "accepted"
            note.count(outcome)
            progress.step(note.words(spent), by=accepted)
        if put_off := next((o.reason for o in results if o.status == "open"), ""):
            return put_off
    _wait_for_others(plan.store, elsewhere, progress)
    return ""


def _wait_for_others(store: Store, planned: Sequence[Planned], progress: Progress) -> None:
    """Until one of these pairs, in hand in another build, is finished there or free for this one to take up."""
    waiting = f"({len(planned)} in hand in another build of this folder: waiting for it)"
    while planned and all(_claimed_elsewhere(store, p.case_id) for p in planned):
        progress.wait(waiting)
        time.sleep(_POLL_S)


def _claimed_elsewhere(store: Store, case_id: str) -> bool:
    with store.claim(case_id) as free:
        return not free and not store.is_finished(case_id)


def _record_lost_batch(settings: WorkerSettings, batch: list[Slot], error: WorkerDiedError) -> list[Outcome]:
    """The pairs in hand of a batch that killed every worker that had it; their slots go on with the next."""
    if settings.strict:
        raise error
    store = Store(settings.store)
    inputs = [p.model_dump(mode="json") for slot in batch for p in slot]
    fault = fault_of(error, "worker process", {"benchmark_seed": store.benchmark.seed, "batch": inputs})
    tried = (next((p for p in slot if not store.is_finished(p.case_id)), None) for slot in batch)
    return [record_failure(store, planned, fault) for planned in tried if planned]


def _survey(settings: WorkerSettings, workers: Pool, scene_ids: Sequence[str]) -> list[Survey]:
    """Where hazards can stand in each scene, by the workers."""

    def lost(batch: Sequence[str], error: WorkerDiedError) -> list[Survey]:
        if settings.strict:
            raise error
        return [Survey(scene_id, str(error), {}) for scene_id in batch]

    batches = [[scene_id] for scene_id in scene_ids]
    return [s for surveys in workers.run(partial(survey_scenes, settings), batches, lost) for s in surveys]
