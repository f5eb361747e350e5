"""A benchmark directory read into what its report is made of."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from cfgen.core.disk_backed import DiskList, DiskMap, DiskStore, ListView
from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import read_each
from cfgen.judge.stored import each_verdict
from cfgen.records import (
    Calibration,
    Case,
    EdgeProbe,
    EdgeRatingFile,
    Intervention,
    PlannerRun,
    ProbeRun,
    RatingFile,
    Rollout,
    Scene,
    Stored,
    TraceVerdict,
)
from cfgen.reporting.data import Answers, Judges, ReportData, Select
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store

S = TypeVar("S", bound=Stored)


def read_report_data(
    store: Store, requested: Sequence[str] | None = None, select: Select = "mean"
) -> ReportData:
    """Read a benchmark directory.

    Args:
        wanted: planners to report on; None takes all that were scored.
        select: which of several samples of an answer counts.

    Raises:
        InputError: a wanted planner was never scored here.
        StoreError: the benchmark's own record is damaged; any other is left out and named in ``damaged``.
    """
    scored = sorted({p.name for p in store.root.glob("runs/*") if p.is_dir()})
    planners = list(dict.fromkeys(requested)) if requested else scored
    unknown = [p for p in planners if p not in scored]
    if unknown:
        raise InputError(
            f"planner '{unknown[0]}' was not scored in {store.root}; expected one of: "
            f"{', '.join(scored) or 'none yet'}. Score it with: cfgen score {store.root} --planner {unknown[0]}"
        )
    damaged: list[str] = []
    disk = DiskStore()

    def each(paths: Iterable[Path], kind: type[S]) -> Iterator[S]:
        for _, record in read_each(paths, kind):
            if isinstance(record, StoreError):
                damaged.append(str(record))
            else:
                yield record

    def whole(paths: Iterable[Path], kind: type[S]) -> tuple[S, ...]:
        return tuple(each(paths, kind))

    paths = sorted(store.root.glob("cases/*/*/case.json"))
    built = DiskList(disk, each(paths, Case))
    scene_of = {case.case_id: case.scene_id for case in built}
    scenes = DiskMap(disk, _scenes(store, scene_of.values(), damaged))
    readable = {case_id for case_id, scene_id in scene_of.items() if scene_id in scenes}
    places = (i for i, (case_id, _) in enumerate(scene_of.items()) if case_id in readable)
    cases = built if len(readable) == len(built) else ListView(built, places)
    every = {}
    for judge in sorted(p.name for p in store.root.glob("verdicts/*") if p.is_dir()):
        for planner in dict.fromkeys([*planners, *scored]):
            answers = Answers(disk, (v for v in each_verdict(store, judge, planner) if v.case_id in readable))
            if answers:
                every[judge, planner] = answers
    verdicts = {key: answers for key, answers in every.items() if key[1] in planners}
    runs = {run.planner: run for run in whole(_beside(scored, store.planner_run_path), PlannerRun)}
    judges = tuple(sorted({judge for judge, _ in verdicts}))
    data = ReportData(
        store=store,
        select=select,
        benchmark=store.benchmark,
        cases=cases,
        rejections=DiskList(disk, store.each_rejection()),
        scenes=scenes,
        planners=tuple(planners),
        judges=judges,
        rollouts={
            p: Answers(disk, (r for r in each(store.rollout_paths(p), Rollout) if r.case_id in readable))
            for p in planners
        },
        verdicts=verdicts,
        ratings=whole(store.rating_paths(), RatingFile),
        traces={
            p: DiskList(disk, each(sorted(store.root.glob(f"traces/*/{p}/*/*.json")), TraceVerdict))
            for p in planners
        },
        interventions={
            p: DiskList(disk, each(sorted(store.root.glob(f"interventions/{p}/*/*/*.json")), Intervention))
            for p in planners
        },
        probes={p.judge: p for p in whole(_beside(judges, store.probe_path), ProbeRun)},
        runs={planner: run for planner, run in runs.items() if planner in planners},
        disk=disk,
        bench_judges=Judges(every, [p for p, run in runs.items() if run.needs.get("truth")]),
        edge_probes=tuple(
            sorted(
                whole(
                    [
                        p
                        for at in ("probes/*", "probe")
                        for p in sorted(store.root.glob(f"traces/*/{at}.json"))
                    ],
                    EdgeProbe,
                ),
                key=lambda p: (p.checker, -p.n),
            )
        ),
        edge_ratings=tuple(
            f
            for f in whole(sorted(store.root.glob("edge_ratings/*/*/*/*.json")), EdgeRatingFile)
            if f.history
        ),
        calibrations={c.judge: c for c in whole(_beside(judges, store.calibration_path), Calibration)},
    )
    unreadable = {path.parent.name for path in paths} - readable
    broken = [str(v.fault) for answers in verdicts.values() for v in answers if v.fault and not v.rubric]
    data = replace(data, damaged=tuple(damaged + broken), lost=tuple(sorted(unreadable)))
    return data if requested else replace(data, planners=data.ranked)


def _beside(names: Sequence[str], path: Callable[[str], Path]) -> list[Path]:
    """The record that lies beside a planner's answers or a judge's verdicts, of those that have one."""
    return [path(name) for name in names if path(name).is_file()]


def _scenes(store: Store, scene_ids: Iterable[str], damaged: list[str]) -> Iterator[tuple[str, Scene]]:
    """With their ids, in order; one that cannot be read is noted in ``damaged``."""
    for scene_id in sorted(set(scene_ids)):
        try:
            yield scene_id, load_scene(store.scene_dir(scene_id)).scene
        except (InputError, StoreError) as error:
            damaged.append(str(error))
