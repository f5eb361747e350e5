"""A benchmark directory read into what its report is made of."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from cfgen.core.disk_backed import DiskList, DiskMap, DiskStore, ListView
from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import read_each
from cfgen.judge.stored_verdicts import each_verdict
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
    Verdict,
)
from cfgen.reporting.data import Answers, Judges, ReportData
from cfgen.scenes.folder import load_scene
from cfgen.storage.store import Store

S = TypeVar("S", bound=Stored)
A = TypeVar("A", Rollout, Verdict)


def read_report_data(store: Store, requested: Sequence[str] | None = None) -> ReportData:
    """Read a benchmark directory.

    Args:
        requested: planners to report on; None takes all that were scored.

    Raises:
        InputError: a requested planner was never scored here.
        StoreError: the benchmark's own record is damaged; any other is left out and named in ``damaged``.
    """
    reader = _Reader(store)
    scored = reader.folders("runs")
    planners = _chosen(store, scored, requested)
    cases, scenes = reader.cases()
    every = reader.verdicts(dict.fromkeys([*planners, *scored]))
    verdicts = {key: answers for key, answers in every.items() if key[1] in planners}
    judges = tuple(sorted({judge for judge, _ in verdicts}))
    runs = {run.planner: run for run in reader.beside(scored, store.planner_run_path, PlannerRun)}
    edge_probes = reader.many("traces/*/probes/*.json", EdgeProbe)
    data = ReportData(
        store=store,
        benchmark=store.benchmark,
        cases=cases,
        rejections=DiskList(reader.disk, store.each_rejection()),
        scenes=scenes,
        planners=planners,
        judges=judges,
        rollouts={planner: reader.rollouts(planner) for planner in planners},
        verdicts=verdicts,
        ratings=tuple(reader.records(store.rating_paths(), RatingFile)),
        traces={p: reader.many(f"traces/*/{p}/*/*.json", TraceVerdict) for p in planners},
        interventions={p: reader.many(f"interventions/{p}/*/*/*.json", Intervention) for p in planners},
        probes={p.judge: p for p in reader.beside(judges, store.probe_path, ProbeRun)},
        runs=runs,
        disk=reader.disk,
        bench_judges=Judges(every, [p for p, run in runs.items() if run.needs.get("truth")]),
        edge_probes=tuple(sorted(edge_probes, key=lambda p: (p.checker, -p.n))),
        edge_ratings=tuple(f for f in reader.many("edge_ratings/*/*/*/*.json", EdgeRatingFile) if f.history),
        calibrations={c.judge: c for c in reader.beside(judges, store.calibration_path, Calibration)},
        lost=tuple(sorted(reader.unreadable)),
        strangers=dict(reader.strangers),
    )
    broken = [str(v.fault) for answers in verdicts.values() for v in answers if v.fault and not v.rubric]
    data = replace(data, damaged=(*reader.damaged, *broken))
    return data if requested else replace(data, planners=data.ranked)


def _chosen(store: Store, scored: list[str], requested: Sequence[str] | None) -> tuple[str, ...]:
    planners = tuple(dict.fromkeys(requested or scored))
    if unknown := next((p for p in planners if p not in scored), None):
        raise InputError(
            f"planner '{unknown}' was not scored in {store.root}; expected one of: "
            f"{', '.join(scored) or 'none yet'}. Score it with: cfgen score {store.root} --planner {unknown}"
        )
    return planners


class _Reader:
    """Reads the records of a benchmark; ``damaged`` says what is wrong with those that cannot be read."""

    def __init__(self, store: Store) -> None:
        self.store, self.disk = store, DiskStore()
        self.damaged: list[str] = []
        #: cases that can be shown, and others
        self.readable: set[str] = set()
        self.unreadable: set[str] = set()
        #: accepted or rejected; and planner -> answers to cases that never were
        self.built: set[str] = set()
        self.strangers: Counter[str] = Counter()

    def records(self, paths: Iterable[Path], kind: type[S]) -> Iterator[S]:
        for _, record in read_each(paths, kind):
            if isinstance(record, StoreError):
                self.damaged.append(str(record))
            else:
                yield record

    def beside(self, names: Iterable[str], path: Callable[[str], Path], kind: type[S]) -> Iterator[S]:
        """The record that lies beside a planner's answers or a judge's verdicts, of those that have one."""
        return self.records([path(name) for name in names if path(name).is_file()], kind)

    def folders(self, name: str) -> list[str]:
        """Planners under "runs", judges under "verdicts"."""
        return sorted(p.name for p in self.store.root.glob(f"{name}/*") if p.is_dir())

    def many(self, pattern: str, kind: type[S]) -> Sequence[S]:
        """Those below the benchmark, on disk."""
        return DiskList(self.disk, self.records(sorted(self.store.root.glob(pattern)), kind))

    def cases(self) -> tuple[Sequence[Case], DiskMap[str, Scene]]:
        """The cases whose scene can be read, and these scenes by their ids."""
        paths = sorted(self.store.root.glob("cases/*/*/case.json"))
        built = DiskList(self.disk, self.records(paths, Case))
        scene_of = {case.case_id: case.scene_id for case in built}
        scenes = DiskMap(self.disk, self._scenes(scene_of.values()))
        self.readable = {case_id for case_id, scene_id in scene_of.items() if scene_id in scenes}
        self.unreadable = {path.parent.name for path in paths} - self.readable
        self.built = self.readable | self.unreadable | {r.case_id for r in self.store.each_rejection()}
        if len(self.readable) == len(built):
            return built, scenes
        places = (i for i, case_id in enumerate(scene_of) if case_id in self.readable)
        return ListView(built, places), scenes

    def verdicts(self, planners: Iterable[str]) -> dict[tuple[str, str], Answers[Verdict]]:
        """(judge, planner) -> its verdicts, where there are some."""
        by_both = {
            (judge, planner): self._answers(each_verdict(self.store, judge, planner))
            for judge in self.folders("verdicts")
            for planner in planners
        }
        return {key: answers for key, answers in by_both.items() if answers}

    def rollouts(self, planner: str) -> Answers[Rollout]:
        def counted() -> Iterator[Rollout]:
            for rollout in self.records(self.store.rollout_paths(planner), Rollout):
                self.strangers[planner] += rollout.case_id not in self.built
                yield rollout

        return self._answers(counted())

    def _answers(self, records: Iterable[A]) -> Answers[A]:
        return Answers(self.disk, (r for r in records if r.case_id in self.readable))

    def _scenes(self, scene_ids: Iterable[str]) -> Iterator[tuple[str, Scene]]:
        """With their ids, in order."""
        for scene_id in sorted(set(scene_ids)):
            try:
                yield scene_id, load_scene(self.store.scene_dir(scene_id)).scene
            except (InputError, StoreError) as error:
                self.damaged.append(str(error))
