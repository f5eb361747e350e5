"""Everything a report needs from a benchmark directory, read once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from cfgen.errors import InputError
from cfgen.files import read_record
from cfgen.metrics.success import successes
from cfgen.records import (
    DIMENSIONS,
    Benchmark,
    Calibration,
    Case,
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
class Gathered:
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

    @property
    def case_ids(self) -> list[str]:
        return [case.case_id for case in self.cases]

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
        """(case, repeat) -> waypoints (24, 3) in the ego frame at t0, or None where the planner failed."""
        return {
            (r.case_id, r.repeat): np.array(r.plan.waypoints) if r.plan else None
            for r in self.rollouts[planner]
            if r.arm == arm
        }

    def verdicts_of(self, judge: str, planner: str, arm: str) -> list[Verdict]:
        return [v for v in self.verdicts.get((judge, planner), ()) if v.arm == arm]


def gather(store: Store, wanted: Sequence[str] | None = None) -> Gathered:
    """Read a benchmark directory.

    Args:
        wanted: planners to report on; None takes all that were scored.

    Raises:
        InputError: a wanted planner was never scored here.
        StoreError: a record is damaged.
    """
    scored = sorted({p.name for p in store.root.glob("runs/*") if p.is_dir()})
    planners = list(dict.fromkeys(wanted)) if wanted else scored
    unknown = [p for p in planners if p not in scored]
    if unknown:
        raise InputError(
            f"planner '{unknown[0]}' was not scored in {store.root}; expected one of: "
            f"{', '.join(scored) or 'none yet'}. Score it with: cfgen score {store.root} --planner {unknown[0]}"
        )
    cases = tuple(store.cases())
    known = {case.case_id for case in cases}
    verdicts = {}
    for judge in sorted(p.name for p in store.root.glob("verdicts/*") if p.is_dir()):
        for planner in planners:
            found = tuple(v for v in store.verdicts(judge, planner) if v.case_id in known)
            if found:
                verdicts[judge, planner] = found
    judges = tuple(sorted({judge for judge, _ in verdicts}))
    data = Gathered(
        store=store,
        benchmark=store.benchmark,
        cases=cases,
        rejections=tuple(store.rejections()),
        scenes={
            scene_id: load_scene(store.scene_dir(scene_id)).scene
            for scene_id in sorted({case.scene_id for case in cases})
        },
        planners=tuple(planners),
        judges=judges,
        rollouts={p: tuple(r for r in store.rollouts(p) if r.case_id in known) for p in planners},
        verdicts=verdicts,
        ratings=tuple(store.ratings()),
        traces={p: tuple(store.trace_verdicts(p)) for p in planners},
        interventions={p: tuple(store.interventions(p)) for p in planners},
        probes=_of_judges(judges, store.probe_path, ProbeRun),
        calibrations=_of_judges(judges, store.calibration_path, Calibration),
    )
    return data if wanted else replace(data, planners=data.ranked)


def _of_judges(judges: Sequence[str], path: Callable[[str], Path], kind: type[S]) -> dict[str, S]:
    """The record that lies beside a judge's verdicts, of the judges that have one."""
    return {judge: read_record(path(judge), kind) for judge in judges if path(judge).is_file()}
