"""Everything a report needs of a benchmark; records that are many lie in a file of their own."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from sys import intern
from typing import Any, TypeVar

import numpy as np

from cfgen.core.disk_backed import DiskCache, DiskMap, DiskStore
from cfgen.geometry.coherence import incoherent
from cfgen.geometry.driving import Drive, Start, drive
from cfgen.judge.stored import each_verdict
from cfgen.metrics.kinematics import Encounter, encounter
from cfgen.metrics.paired import blocks_of
from cfgen.metrics.success import dimensions_scored, successes
from cfgen.records import (
    DIMENSIONS,
    Benchmark,
    Calibration,
    Case,
    Dimension,
    EdgeProbe,
    EdgeRatingFile,
    Fault,
    FloorKind,
    Intervention,
    Placement,
    PlannerRun,
    ProbeRun,
    RatingFile,
    Rejection,
    Rollout,
    Scene,
    TraceVerdict,
    Verdict,
    answer_in,
    judged_as,
)
from cfgen.reporting.answers import Answers, Key
from cfgen.reporting.main_judge import Judges
from cfgen.reporting.samples import Select, medoids, selected
from cfgen.storage.store import Store

T = TypeVar("T")


@dataclass(frozen=True)
class ReportData:
    """The content of a benchmark directory. Of many records each is read anew whenever it is looked at: one pass over
    them is better than three, and a list of them all does not fit into memory.

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
    cases: Sequence[Case]
    rejections: Sequence[Rejection]
    scenes: DiskMap[str, Scene]
    planners: tuple[str, ...]
    judges: tuple[str, ...]
    rollouts: dict[str, Answers[Rollout]]
    verdicts: dict[tuple[str, str], Answers[Verdict]]
    ratings: tuple[RatingFile, ...]
    traces: dict[str, Sequence[TraceVerdict]]
    interventions: dict[str, Sequence[Intervention]]
    probes: dict[str, ProbeRun]
    #: how checkers of traces did on known answers; the largest of a checker first
    edge_probes: tuple[EdgeProbe, ...]
    edge_ratings: tuple[EdgeRatingFile, ...]
    calibrations: dict[str, Calibration]
    #: planner -> what it was asked, of those that have it on record
    runs: dict[str, PlannerRun]
    #: of the whole benchmark: planners that are not shown too
    bench_judges: Judges
    #: where records lie that are many
    disk: DiskStore
    #: which of several samples of an answer counts; "mean": all of them
    select: Select = "mean"
    #: what is wrong with records that could not be read
    damaged: tuple[str, ...] = ()
    #: cases that are there but cannot be shown
    lost: tuple[str, ...] = ()
    #: what breaks is let through
    strict: bool = False

    @property
    def case_ids(self) -> list[str]:
        """Of every case that was built: one that is lost stays in what should have been judged."""
        return [*self.by_id, *self.lost]

    @cached_property
    def blocks(self) -> tuple[dict[str, str], str]:
        """The block of every case, and in words what a block is."""
        return blocks_of(DiskMap.joined(self.scene_of, self.scenes))

    @cached_property
    def scene_of(self) -> dict[str, str]:
        """case -> its scene."""
        return {case.case_id: case.scene_id for case in self.cases}

    @cached_property
    def seen_by(self) -> list[str]:
        """Of every case, by whom its road was seen."""
        return [intern(case.seen_by) for case in self.cases]

    @cached_property
    def lost_kinds(self) -> Counter[str]:
        """Kinds of what broke in what was refused."""
        return Counter(r.fault.kind for r in self.rejections if r.fault)

    @cached_property
    def faults(self) -> list[Fault]:
        """What cfgen broke on while planners were asked and judged."""
        rollouts = [r.fault for found in self.rollouts.values() for r in found if r.fault]
        verdicts = [v.fault for found in self.verdicts.values() for v in found if v.fault]
        traces = [v.fault for found in self.traces.values() for v in found if v.fault]
        return [*rollouts, *verdicts, *traces]

    def floor(self, planner: str) -> FloorKind:
        """What its response is held against, as declared."""
        run = self.runs.get(planner)
        return (run and run.floor) or "mean"

    def told(self, planner: str) -> bool:
        """Whether it is told what was added where: a scripted one, that measures the scale and competes with nobody."""
        run = self.runs.get(planner)
        return bool(run and run.needs.get("truth"))

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """Those that compete: all planners but the scripted ones, unless there are no others."""
        return tuple(p for p in self.planners if not self.told(p)) or self.planners

    def sample(self, planner: str) -> str:
        """In words, which sample of how many was graded."""
        count = 1 + max((k for _, k in self.rollouts[planner].places.get("hazard", {})), default=0)
        return "the only one" if count == 1 else f"{self.select} of {count}"

    def arms(self, planner: str) -> list[str]:
        """Arms besides the original that the planner was asked, hazard first."""
        found = self.rollouts[planner].places.keys() - {"original"}
        return sorted(found, key=lambda arm: (arm != "hazard", arm))

    @property
    def main_judge(self) -> str:
        """The benchmark's, whichever planners are shown; where it has no verdict on them, the one with the most."""
        return self.bench_judges.main if self.bench_judges.main in self.judges else self._shown.main

    @cached_property
    def _shown(self) -> Judges:
        return Judges(self.verdicts)

    def judge_of(self, planner: str) -> str:
        """Whose verdicts on it are shown where there is room for one judge's: the main one's, else its own."""
        own = {judge: len(v) for (judge, p), v in self.verdicts.items() if p == planner}
        return self.main_judge if self.main_judge in own else max(own, key=own.__getitem__, default="")

    def scores(self, judge: str) -> tuple[Dimension, ...]:
        """What a judge scores, by all of its verdicts: a planner that always failed has no score in the others."""

        def look() -> tuple[Dimension, ...]:
            shown = (v for (j, _), found in self.verdicts.items() if j == judge for v in found)
            return dimensions_scored(shown, each_verdict(self.store, judge, "*"))

        return self.once(("scores", judge), look)

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """Planners, the one with the most overall success under the main judge first; scripted ones last."""

        def success(planner: str) -> list[float]:
            verdicts = self.verdicts_of(self.main_judge, planner, "hazard")
            scores = self.scores(self.main_judge)
            found = [successes(verdicts, dimension, scores).values() for dimension in reversed(DIMENSIONS)]
            return [sum(hits) / len(hits) if hits else -1.0 for hits in found]

        return tuple(sorted(self.planners, key=lambda p: (not self.told(p), success(p)), reverse=True))

    def plans(self, planner: str, arm: str) -> DiskMap[Key, np.ndarray | None]:
        """(case, repeat) -> waypoints (N, 3) in the ego frame at t0, None where the planner failed; without faults."""
        return self.once(
            ("plans", planner, arm),
            lambda: DiskMap(
                self.disk,
                (
                    (key, np.array(r.plan.waypoints) if r.plan else None)
                    for key, r in self.rollouts[planner].by_key(arm).items()
                    if not r.fault
                ),
            ),
        )

    def drives(self, planner: str, arm: str) -> DiskMap[Key, Drive | None]:
        """(case, repeat) -> what comes of following its plan, None where the planner failed; without faults."""
        return self.once(
            ("drives", planner, arm),
            lambda: DiskMap(
                self.disk,
                (
                    (key, None if plan is None else drive(plan, self._starts[key[0]]))
                    for key, plan in self.plans(planner, arm).items()
                ),
            ),
        )

    def met(self, planner: str, arm: str, key: Key) -> Encounter:
        """What of :meth:`drives` does about the hazard, or about its place where the arm shows none."""

        def look() -> Encounter:
            driven = self.drives(planner, arm)[key]
            assert driven is not None
            return encounter(driven.poses, self.place(key[0], "hazard" if arm == "nuisance" else arm))

        kept = self.once(("met", planner, arm), lambda: DiskCache[Key, Encounter](self.disk))
        return kept.get(key, look)

    def place(self, case_id: str, arm: str) -> Placement:
        """What an arm of a case is measured against: its own object, else where the hazard is or would be."""
        of_arms = self._places[case_id]
        return of_arms.get(arm, of_arms["hazard"])

    def graded(self, planner: str, arm: str) -> dict[str, int] | None:
        """case -> the sample that counts, the first in cases that are absent; None where all of them do.

        The best are those that the main judge found best.
        """
        if self.select == "mean":
            return None
        if self.select == "best":
            verdicts = self.verdicts_of(self.main_judge, planner, judged_as(arm))
            return {v.case_id: v.repeat for v in verdicts}
        return medoids(self.plans(planner, arm)) if self.select == "medoid" else {}

    def shown(self, planner: str, arm: str, case_id: str) -> int:
        """The sample that is shown where one stands for all: the one that counts, the first where all do."""
        graded = self.once(("graded", planner, arm), lambda: self.graded(planner, arm) or {})
        return graded.get(case_id, 0)

    def answers(self, planner: str, arm: str) -> DiskMap[Key, Drive | None]:
        """:meth:`drives`, of the samples that count."""
        found, graded = self.drives(planner, arm), self.graded(planner, arm)
        return (
            found if graded is None else found.only({key for key in found if key[1] == graded.get(key[0], 0)})
        )

    def pairs(self, planner: str, arm: str) -> dict[tuple[str, int], tuple[str, int]]:
        """Answers that count, with a plan -> the original's of that repeat, or its first, where that has a plan."""
        originals = self.drives(planner, "original")
        bases = {key: key if key in originals else (key[0], 0) for key in self.answers(planner, arm)}
        found = self.drives(planner, arm)
        return {key: base for key, base in sorted(bases.items()) if found.has(key) and originals.has(base)}

    def incoherent(self, planner: str, arm: str) -> dict[tuple[str, int], str]:
        """(case, repeat) -> why its plan is no motion of a car, of those that are none."""

        def look() -> dict[tuple[str, int], str]:
            drives = self.drives(planner, arm)
            found = {
                key: incoherent(plan, self._starts[key[0]], drives[key])
                for key, plan in self.plans(planner, arm).items()
                if plan is not None
            }
            return {key: why for key, why in found.items() if why}

        return self.once(("incoherent", planner, arm), look)

    def once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """What ``make`` gives, kept for as long as the report is made: not to be changed."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @cached_property
    def _made(self) -> dict[tuple[Any, ...], Any]:
        return {}

    @cached_property
    def by_id(self) -> Mapping[str, Case]:
        return DiskMap.of(self.cases, {case_id: i for i, case_id in enumerate(self.scene_of)})

    @cached_property
    def _places(self) -> DiskMap[str, dict[str, Placement]]:
        """case -> its :func:`placements`."""
        return DiskMap(self.disk, ((case.case_id, placements(case)) for case in self.cases))

    @cached_property
    def _starts(self) -> dict[str, Start]:
        """The car at t0 of every case."""
        by_scene = {scene_id: Start.of(scene.history) for scene_id, scene in self.scenes.items()}
        return {case_id: by_scene[scene_id] for case_id, scene_id in self.scene_of.items()}

    def verdicts_of(self, judge: str, planner: str, arm: str) -> Sequence[Verdict]:
        """Of one judged pair, on the samples that count."""

        def look() -> Sequence[Verdict]:
            found = self.verdicts[judge, planner].of_arm(arm)
            plans = self.plans(planner, answer_in(arm)) if self.select == "medoid" else {}
            return selected(found, self.select, plans)

        return self.once(("verdicts", judge, planner, arm), look) if (judge, planner) in self.verdicts else ()


def placements(case: Case) -> dict[str, Placement]:
    """Arm -> what stands there, of the hazard and of the arms with something of their own."""
    own = {"nuisance": case.nuisance_placement} if case.nuisance_placement else {}
    return {"hazard": case.placement, **case.distance_placements, **own}
