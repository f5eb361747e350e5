"""Everything a report needs from a benchmark directory, read once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import read_each
from cfgen.judge.stored import stored_verdicts
from cfgen.metrics.success import successes
from cfgen.records import (
    DIMENSIONS,
    Benchmark,
    Calibration,
    Case,
    Fault,
    Intervention,
    ProbeRun,
    RatingFile,
    Rejection,
    Rollout,
    Scene,
    Stored,
    TraceVerdict,
    Verdict,
)
from cfgen.scenes.folder import load_scene
from cfgen.store import Store

S = TypeVar("S", bound=Stored)


@dataclass(frozen=True)
class ReportData:
    """The content of a benchmark directory.

    Attributes:
        scenes: by scene id, for the cases only.
        planners: the best first, or as asked for. judges: those with a verdict on one of the planners, sorted.
        rollouts: planner -> its rollouts of every arm.
        verdicts: (judge, planner) -> verdicts of every arm.
        traces: planner -> whether its answers hang together.
        interventions: planner -> what it did with reasoning that was not its own.
        probes, calibrations: judge -> how it did on known answers and against people, where that was tried.
    """

    store: Store
    benchmark: Benchmark
    cases: tuple[Case, ...]
    rejections: tuple[Rejection, ...]
    scenes: dict[str, Scene]
    planners: tuple[str, ...]
    judges: tuple[str, ...]
    rollouts: dict[str, tuple[Rollout, ...]]
    verdicts: dict[tuple[str, str], tuple[Verdict, ...]]
    ratings: tuple[RatingFile, ...]
    traces: dict[str, tuple[TraceVerdict, ...]]
    interventions: dict[str, tuple[Intervention, ...]]
    probes: dict[str, ProbeRun]
    calibrations: dict[str, Calibration]
    #: what is wrong with records that could not be read
    damaged: tuple[str, ...] = ()
    #: cases that are there but cannot be shown
    lost: tuple[str, ...] = ()
    #: what breaks is let through
    strict: bool = False

    @property
    def case_ids(self) -> list[str]:
        """Of every case that was built: one that is lost stays in what should have been judged."""
        return [*(case.case_id for case in self.cases), *self.lost]

    @property
    def faults(self) -> list[Fault]:
        """What cfgen broke on while planners were asked and judged."""
        rollouts = [r.fault for found in self.rollouts.values() for r in found if r.fault]
        verdicts = [v.fault for found in self.verdicts.values() for v in found if v.fault]
        traces = [v.fault for found in self.traces.values() for v in found if v.fault]
        return [*rollouts, *verdicts, *traces]

    def arms(self, planner: str) -> list[str]:
        """Arms besides the original that the planner was asked, hazard first."""
        found = {r.arm for r in self.rollouts[planner]} - {"original"}
        return sorted(found, key=lambda arm: (arm != "hazard", arm))

    @property
    def main_judge(self) -> str:
        """The judge with the most verdicts, one that reads pictures before the offline stand-in; "" without any."""

        def weight(judge: str) -> tuple[int, bool]:
            return sum(len(v) for (j, _), v in self.verdicts.items() if j == judge), judge != "offline"

        return max(self.judges, key=weight, default="")

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """Planners, the one with the most overall success under the main judge first; then by the other scores."""

        def success(planner: str) -> list[float]:
            verdicts = self.verdicts_of(self.main_judge, planner, "hazard")
            found = [successes(verdicts, dimension).values() for dimension in reversed(DIMENSIONS)]
            return [sum(hits) / len(hits) if hits else -1.0 for hits in found]

        return tuple(sorted(self.planners, key=success, reverse=True))

    def plans(self, planner: str, arm: str) -> dict[tuple[str, int], np.ndarray | None]:
        """(case, repeat) -> waypoints (24, 3) in the ego frame at t0, None where the planner failed; without faults."""
        return {
            (r.case_id, r.repeat): np.array(r.plan.waypoints) if r.plan else None
            for r in self.rollouts[planner]
            if r.arm == arm and not r.fault
        }

    def verdicts_of(self, judge: str, planner: str, arm: str) -> list[Verdict]:
        return [v for v in self.verdicts.get((judge, planner), ()) if v.arm == arm]


def read_report_data(store: Store, wanted: Sequence[str] | None = None) -> ReportData:
    """Read a benchmark directory.

    Args:
        wanted: planners to report on; None takes all that were scored.

    Raises:
        InputError: a wanted planner was never scored here.
        StoreError: the benchmark's own record is damaged; any other is left out and named in ``damaged``.
    """
    scored = sorted({p.name for p in store.root.glob("runs/*") if p.is_dir()})
    planners = list(dict.fromkeys(wanted)) if wanted else scored
    unknown = [p for p in planners if p not in scored]
    if unknown:
        raise InputError(
            f"planner '{unknown[0]}' was not scored in {store.root}; expected one of: "
            f"{', '.join(scored) or 'none yet'}. Score it with: cfgen score {store.root} --planner {unknown[0]}"
        )
    damaged: list[str] = []

    def whole(paths: Iterable[Path], kind: type[S]) -> tuple[S, ...]:
        found = [one for _, one in read_each(paths, kind)]
        damaged.extend(str(one) for one in found if isinstance(one, StoreError))
        return tuple(one for one in found if not isinstance(one, StoreError))

    paths = sorted(store.root.glob("cases/*/*/case.json"))
    built = whole(paths, Case)
    scenes = _scenes(store, built, damaged)
    cases = tuple(case for case in built if case.scene_id in scenes)
    known = {case.case_id for case in cases}
    verdicts = {}
    for judge in sorted(p.name for p in store.root.glob("verdicts/*") if p.is_dir()):
        for planner in planners:
            found = tuple(v for v in stored_verdicts(store, judge, planner) if v.case_id in known)
            if found:
                verdicts[judge, planner] = found
    judges = tuple(sorted({judge for judge, _ in verdicts}))
    data = ReportData(
        store=store,
        benchmark=store.benchmark,
        cases=cases,
        rejections=tuple(store.rejections()),
        scenes=scenes,
        planners=tuple(planners),
        judges=judges,
        rollouts={
            p: tuple(r for r in whole(store.rollout_paths(p), Rollout) if r.case_id in known)
            for p in planners
        },
        verdicts=verdicts,
        ratings=whole(store.rating_paths(), RatingFile),
        traces={p: whole(sorted(store.root.glob(f"traces/*/{p}/*/*.json")), TraceVerdict) for p in planners},
        interventions={
            p: whole(sorted(store.root.glob(f"interventions/{p}/*/*/*.json")), Intervention) for p in planners
        },
        probes={p.judge: p for p in whole(_beside(judges, store.probe_path), ProbeRun)},
        calibrations={c.judge: c for c in whole(_beside(judges, store.calibration_path), Calibration)},
    )
    lost = {path.parent.name for path in paths} - known
    broken = [str(v.fault) for found in verdicts.values() for v in found if v.fault and not v.rubric]
    data = replace(data, damaged=tuple(damaged + broken), lost=tuple(sorted(lost)))
    return data if wanted else replace(data, planners=data.ranked)


def _beside(judges: Sequence[str], path: Callable[[str], Path]) -> list[Path]:
    """The record that lies beside a judge's verdicts, of the judges that have one."""
    return [path(judge) for judge in judges if path(judge).is_file()]


def _scenes(store: Store, cases: Iterable[Case], damaged: list[str]) -> dict[str, Scene]:
    """Those of the cases, by id; one that cannot be read is noted in ``damaged``."""
    scenes = {}
    for scene_id in sorted({case.scene_id for case in cases}):
        try:
            scenes[scene_id] = load_scene(store.scene_dir(scene_id)).scene
        except (InputError, StoreError) as error:
            damaged.append(str(error))
    return scenes
