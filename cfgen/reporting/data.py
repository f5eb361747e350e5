"""Everything a report needs of a benchmark.

Records that are many lie in a file of their own; of answers and verdicts only where each lies is held.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from sys import intern
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from cfgen.core.disk_backed import DiskCache, DiskList, DiskMap, DiskStore, ListView
from cfgen.geometry.coherence import incoherent
from cfgen.geometry.driving import CarState, DrivenPlan, drive
from cfgen.judge.stored_verdicts import each_verdict
from cfgen.metrics.intervals import blocks_of
from cfgen.metrics.kinematics import Encounter, encounter, responds
from cfgen.metrics.success import dimensions_scored, successes
from cfgen.planners.settings import BASELINES
from cfgen.records import (
    DIMENSIONS,
    BenchmarkRecord,
    Calibration,
    Case,
    Dimension,
    EdgeProbe,
    EdgeRatingFile,
    Fault,
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
    judged_as,
    recording_of,
)
from cfgen.storage.store import Store

#: case id, repeat
Key = tuple[str, int]


class OfAnswer(Protocol):
    """A record about one answer."""

    @property
    def case_id(self) -> str: ...
    @property
    def arm(self) -> str: ...
    @property
    def repeat(self) -> int: ...


R = TypeVar("R", bound=OfAnswer)


class Answers(DiskList[R]):
    """Records about answers in the order in which they were read. ``places``: arm -> key -> which of them."""

    def __init__(self, disk: DiskStore, records: Iterable[R] = ()) -> None:
        self.places: dict[str, dict[Key, int]] = {}
        self._of_arm: dict[str, list[int]] = {}
        super().__init__(disk, records)

    def append(self, thing: R) -> None:
        arm, place = intern(thing.arm), len(self)
        self.places.setdefault(arm, {})[intern(thing.case_id), thing.repeat] = place
        self._of_arm.setdefault(arm, []).append(place)
        super().append(thing)

    def get(self, arm: str, key: Key) -> R | None:
        """The last one about this answer."""
        place = self.places.get(arm, {}).get(key)
        return None if place is None else self[place]

    def of_arm(self, arm: str) -> ListView[R]:
        return ListView(self, self._of_arm.get(arm, ()))

    def by_key(self, arm: str) -> DiskMap[Key, R]:
        return DiskMap.of(self, self.places.get(arm, {}))


# --- which judge's verdicts the headline is made of, whichever planners are shown -------------------------

#: (judge, planner) -> verdicts
Verdicts = Mapping[tuple[str, str], Sequence[Verdict]]


@dataclass(frozen=True)
class Judges:
    """The judges of a benchmark, by all of their verdicts.

    Attributes:
        verdicts: on every planner that was scored, shown or not.
        apart: planners that compete with nobody, so that a judge may lack them.
    """

    verdicts: Verdicts
    apart: Collection[str] = ()

    @cached_property
    def main(self) -> str:
        """One that reads words and has every hazard pair of every planner that competes; else the one with the most
        verdicts, one that reads pictures before the offline stand-in; "" without any.
        """

        def weight(judge: str) -> tuple[bool, int, bool]:
            complete = self.reads_words(judge) and not self.lacks(judge)
            return (
                complete,
                sum(len(v) for (j, _), v in self.verdicts.items() if j == judge),
                judge != "offline",
            )

        return max(self._names, key=weight, default="")

    def reads_words(self, judge: str) -> bool:
        """Whether it scores the answer as a whole."""
        of_judge = (v for (j, _), verdicts in self.verdicts.items() if j == judge for v in verdicts)
        return "overall" in dimensions_scored(of_judge, otherwise=())

    def lacks(self, judge: str) -> dict[str, int]:
        """Planner that competes -> hazard pairs that another judge has and this one has not, where there are some."""
        lacking: dict[str, int] = {}
        for planner in self._planners:
            judged_pairs = {judge: self._hazards.get((judge, planner), set()) for judge in self._names}
            if missing := set().union(*judged_pairs.values()) - judged_pairs[judge]:
                lacking[planner] = len(missing)
        return lacking

    def passed_over(self) -> list[str]:
        """Where the main judge reads no words: who does, what it lacks, and what to do about it."""
        if not self.main or self.reads_words(self.main):
            return []
        lines = []
        for judge in filter(self.reads_words, self._names):
            lacks = self.lacks(judge)
            lines.append(
                f"{judge} reads the words, but lacks {sum(lacks.values())} hazard pairs of "
                f"{len(lacks)} of {len(self._planners)} planners ({', '.join(lacks)}): the headline is {self.main}'s. "
                f"To make it {judge}'s, have it judge those: cfgen judge run BENCH --judge {judge} --planners "
                f"{','.join(lacks)}"
            )
        return lines

    @cached_property
    def _names(self) -> list[str]:
        return sorted({judge for judge, _ in self.verdicts})

    @cached_property
    def _planners(self) -> list[str]:
        names = {planner for _, planner in self.verdicts}
        return sorted(names - set(self.apart) or names)

    @cached_property
    def _hazards(self) -> dict[tuple[str, str], Set[tuple[str, int]]]:
        """(judge, planner) -> case and repeat of the hazard pairs."""
        return {key: _asked(verdicts) for key, verdicts in self.verdicts.items()}


def _asked(verdicts: Sequence[Verdict]) -> Set[tuple[str, int]]:
    if isinstance(verdicts, Answers):
        return verdicts.places.get("hazard", {}).keys()
    return {(v.case_id, v.repeat) for v in verdicts if v.arm == "hazard"}


# --- everything a report needs of a benchmark; records that are many lie in a file of their own -----------

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
    benchmark: BenchmarkRecord
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
    #: planner, shown or not -> what it was asked, of those that have it on record
    runs: dict[str, PlannerRun]
    #: of the whole benchmark: planners that are not shown too
    bench_judges: Judges
    #: where records lie that are many
    disk: DiskStore
    #: what is wrong with records that could not be read
    damaged: tuple[str, ...] = ()
    #: planner -> answers to cases that are not there
    strangers: Mapping[str, int] = field(default_factory=dict)
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
    def roads_from(self) -> list[str]:
        """Of every case, whence its road is known."""
        return [intern(case.road_from) for case in self.cases]

    @cached_property
    def lost_kinds(self) -> Counter[str]:
        """Kinds of what broke in what was refused."""
        return Counter(r.fault.kind for r in self.rejections if r.fault)

    @cached_property
    def faults(self) -> list[Fault]:
        """What cfgen broke on while planners were asked and judged."""
        rollouts = [r.fault for records in self.rollouts.values() for r in records if r.fault]
        verdicts = [v.fault for records in self.verdicts.values() for v in records if v.fault]
        traces = [v.fault for records in self.traces.values() for v in records if v.fault]
        return [*rollouts, *verdicts, *traces]

    @cached_property
    def baselines(self) -> frozenset[str]:
        """Those that a planner should beat: they do not look, or look without understanding."""
        return frozenset(p for p, run in self.runs.items() if run.spec in BASELINES)

    def label(self, planner: str) -> str:
        """Its name in a table, where baselines are marked."""
        return f"{planner} (baseline)" if planner in self.baselines else planner

    @property
    def labels(self) -> dict[str, str]:
        """Every planner's name in a table."""
        return {planner: self.label(planner) for planner in self.planners}

    @property
    def samples(self) -> str:
        """In words, what of several answers to one question counts; "" where there is one."""
        return " or the ".join(
            dict.fromkeys(s for p in self.planners if (s := self.sample(p)) != "the only one")
        )

    @cached_property
    def recordings(self) -> int:
        """Recordings that the cases are of."""
        return len({recording_of(self.scenes[scene_id]) for scene_id in set(self.scene_of.values())})

    @property
    def caveats(self) -> tuple[str, ...]:
        """What is wrong with answers that were read, by planner."""
        return tuple(
            f"{planner}: {count} answers are to cases that this benchmark does not hold, such as those of an older "
            "build; they are left out."
            for planner, count in self.strangers.items()
            if count
        )

    def told(self, planner: str) -> bool:
        """Whether it is told what was added where: a scripted one, that measures the scale and competes with nobody."""
        run = self.runs.get(planner)
        return bool(run and run.needs.get("truth"))

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """Those that compete: all planners but the scripted ones, unless there are no others."""
        return tuple(p for p in self.planners if not self.told(p)) or self.planners

    def sample(self, planner: str) -> str:
        """In words, how many samples of each answer are graded."""
        count = 1 + max((k for _, k in self.rollouts[planner].places.get("hazard", {})), default=0)
        return "the only one" if count == 1 else f"mean of {count}"

    def arms(self, planner: str) -> list[str]:
        """Arms besides the original that the planner was asked, hazard first."""
        names = self.rollouts[planner].places.keys() - {"original"}
        return sorted(names, key=lambda arm: (arm != "hazard", arm))

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
            of_judge = (v for (j, _), verdicts in self.verdicts.items() if j == judge for v in verdicts)
            return dimensions_scored(of_judge, each_verdict(self.store, judge, "*"))

        return self.once(("scores", judge), look)

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """Planners, the one with the most overall success under the main judge first; scripted ones last."""

        def success(planner: str) -> list[float]:
            verdicts = self.verdicts_of(self.main_judge, planner, "hazard")
            scores = self.scores(self.main_judge)
            hits_of = [successes(verdicts, dimension, scores).values() for dimension in reversed(DIMENSIONS)]
            return [sum(hits) / len(hits) if hits else -1.0 for hits in hits_of]

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

    def drives(self, planner: str, arm: str) -> DiskMap[Key, DrivenPlan | None]:
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

        encounters = self.once(("met", planner, arm), lambda: DiskCache[Key, Encounter](self.disk))
        return encounters.get(key, look)

    def place(self, case_id: str, arm: str) -> Placement:
        """What an arm of a case is measured against: its own object, else where the hazard is or would be."""
        placements = self._places[case_id]
        return placements.get(arm, placements["hazard"])

    def pairs(self, planner: str, arm: str) -> dict[tuple[str, int], tuple[str, int]]:
        """Answers with a plan -> the original's of that repeat, or its first, where that has a plan."""
        originals, drives = self.drives(planner, "original"), self.drives(planner, arm)
        bases = {key: key if key in originals else (key[0], 0) for key in drives}
        return {key: base for key, base in sorted(bases.items()) if drives.has(key) and originals.has(base)}

    def incoherent(self, planner: str, arm: str) -> dict[tuple[str, int], str]:
        """(case, repeat) -> why its plan is no motion of a car, of those that are none."""

        def look() -> dict[tuple[str, int], str]:
            drives = self.drives(planner, arm)
            reasons = {
                key: incoherent(plan, self._starts[key[0]], drives[key])
                for key, plan in self.plans(planner, arm).items()
                if plan is not None
            }
            return {key: why for key, why in reasons.items() if why}

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
        """case -> arm -> what stands there, of the hazard and of the arms with something of their own."""

        def of_arms(case: Case) -> dict[str, Placement]:
            own = {"nuisance": case.nuisance_placement} if case.nuisance_placement else {}
            return {"hazard": case.placement, **case.distance_placements, **own}

        return DiskMap(self.disk, ((case.case_id, of_arms(case)) for case in self.cases))

    @cached_property
    def _starts(self) -> dict[str, CarState]:
        """The car at t0 of every case."""
        by_scene = {scene_id: CarState.of(scene.history) for scene_id, scene in self.scenes.items()}
        return {case_id: by_scene[scene_id] for case_id, scene_id in self.scene_of.items()}

    def verdicts_of(self, judge: str, planner: str, arm: str) -> Sequence[Verdict]:
        """Of one judged pair."""
        records = self.verdicts.get((judge, planner))
        return records.of_arm(arm) if records is not None else ()


# --- events by case: what the judge credits, and what the trajectories show -------------------------------


def judged(
    data: ReportData, planner: str, arm: str, dimension: Dimension, judge: str = ""
) -> dict[str, float]:
    """case -> strict success under ``judge``, the main one unless told; of a control arm in its sham pair."""
    judge = judge or data.main_judge
    return data.once(
        ("judged", judge, planner, arm, dimension),
        lambda: successes(data.verdicts_of(judge, planner, judged_as(arm)), dimension, data.scores(judge)),
    )


def measured(data: ReportData, planner: str, arm: str) -> dict[str, float]:
    """case -> share of the repeats whose drive reacts, measured against the original's of the same repeat.

    A planner's failure, or a plan that no car could drive, is no reaction, in every arm alike.
    """
    return data.once(("measured", planner, arm), lambda: _measured(data, planner, arm))


def _measured(data: ReportData, planner: str, arm: str) -> dict[str, float]:
    originals, answers = data.drives(planner, "original"), data.drives(planner, arm)
    nothing = data.incoherent(planner, arm)
    reactions: dict[str, list[bool]] = defaultdict(list)
    for (case_id, repeat), driven in answers.items():
        original = originals.get((case_id, repeat) if (case_id, repeat) in originals else (case_id, 0))
        if driven is not None and original is not None:
            # a control's answer is measured as if it were that to the hazard
            place = data.place(case_id, "hazard" if arm == "nuisance" else arm)
            moved = (case_id, repeat) not in nothing and responds(original.poses, driven.poses, place)
            reactions[case_id].append(moved)
        else:
            reactions[case_id].append(False)
    return {case_id: sum(hits) / len(hits) for case_id, hits in reactions.items()}


def credited_contact(data: ReportData, planner: str, event: Dimension | Literal["trajectory"]) -> str:
    """How many of the plans credited in the hazard arm run into the hazard; "" where none is credited."""
    if event == "trajectory":
        return ""
    credited, answers = judged(data, planner, "hazard", event), data.drives(planner, "hazard")
    met = [
        data.met(planner, "hazard", key).collides
        for key in answers
        if answers.has(key) and credited.get(key[0], 0.0) > 0.5
    ]
    if not met:
        return ""
    return f" Simulated, {sum(met)} of the {len(met)} plans in the cases so credited run into it."
