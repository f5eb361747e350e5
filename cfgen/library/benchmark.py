"""A benchmark directory as an object, and each planner's run on it under a judge: cases, answers, verdicts, figures."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfgen import records
from cfgen.benchmark.plan import shard_in
from cfgen.core.errors import InputError, did_you_mean
from cfgen.core.files import read_record
from cfgen.judge.stored_verdicts import stored_verdicts
from cfgen.library import html
from cfgen.library.cases import BenchmarkCase
from cfgen.metrics.success import SuccessRow, dimensions_scored, success_row
from cfgen.records import (
    DIMENSIONS,
    BuildReport,
    Dimension,
    Fault,
    JudgeRun,
    Planned,
    PlannerRun,
    Rejection,
    Rollout,
    Verdict,
    faults_in,
    judged_as,
)
from cfgen.reporting.section import Table
from cfgen.reporting.sections.success import leaderboard
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.storage.store import Store

if TYPE_CHECKING:
    from cfgen.rollouts.summary import ScoreSummary


class Benchmark:
    """One benchmark directory. Nothing is kept of what is read, so that it shows what is there now.

    Iterating gives :class:`BenchmarkCase` in the order of their ids; ``bench[0]`` and ``bench["<case id>"]`` one.

    Raises:
        StoreError: ``path`` is no benchmark directory.
    """

    def __init__(self, path: str | Path) -> None:
        self.store = Store(Path(path).expanduser())
        self._inputs = RolloutInputs(self.store, self.store.benchmark.seed)

    @property
    def path(self) -> Path:
        return self.store.root

    @property
    def record(self) -> records.BenchmarkRecord:
        """What it was built with: seed, scenes, inpainter, controls, ..."""
        return self.store.benchmark

    @property
    def built(self) -> BuildReport | None:
        """What came of the last build; None where none has ended yet."""
        return self.store.build_report()

    @property
    def shortfall(self) -> str:
        """What the last build fell short of, in words; "" when it has what was asked for."""
        built = self.built
        if built is None:
            return "no build has ended here yet; run it again"
        if built.stopped:
            return f"{built.accepted} of {built.wanted} cases, the rest is open: {built.stopped}"
        if built.accepted < built.wanted:
            losses = (
                f"{built.lost} pairs were lost to faults (--retry-faults tries them again) and "
                f"{sum(built.reasons.values())} refused"
            )
            why = losses if built.lost else "the others were refused, or no scene had a place left"
            return (
                f"{built.accepted} of {built.wanted} cases; {why}. Add scenes, or allow more hazards or another "
                "--decel-band band, and run it again"
            )
        return ""

    @property
    def part_done(self) -> bool:
        """Whether it is a shard of a build, with all its pairs tried."""
        shard = shard_in(self.store)
        return shard is not None and shard.done

    @property
    def cases(self) -> list[BenchmarkCase]:
        return [BenchmarkCase(self.store, self._inputs, case) for case in self.store.cases()]

    @property
    def planned(self) -> tuple[Planned, ...]:
        return self.store.planned

    @property
    def rejections(self) -> list[Rejection]:
        """Planned cases that are none, each with its reason and attempts."""
        return self.store.rejections()

    @property
    def faults(self) -> list[Fault]:
        """Everything that broke in a build, in accepted cases and in refused ones."""
        return faults_in([*self.store.cases(), *self.store.rejections()])

    @property
    def planners(self) -> list[str]:
        """Names of those that were scored."""
        return sorted(path.name for path in self.path.glob("runs/*") if path.is_dir())

    @property
    def judges(self) -> list[str]:
        """Names of those that gave verdicts."""
        return sorted(path.name for path in self.path.glob("verdicts/*") if path.is_dir())

    def verdict_counts(self, planner: str) -> dict[str, int]:
        """How many verdicts each judge gave on a planner, of those that gave any."""
        counts = {name: len(self.store.verdict_paths(name, planner)) for name in self.judges}
        return {name: count for name, count in counts.items() if count}

    def run(self, planner: str, judge: str | None = None) -> "Run":
        """What ``planner`` answered and how ``judge`` judged it; None takes the judge with the most verdicts.

        Raises:
            InputError: no such planner here, or no verdict of that judge on it.
        """
        return Run.open(self, planner, judge)

    @property
    def runs(self) -> "list[Run]":
        return [self.run(planner) for planner in self.planners]

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict a case, for ``pandas.DataFrame``."""
        return [case.row() for case in self]

    def __iter__(self) -> Iterator[BenchmarkCase]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.store.case_ids())

    def __contains__(self, which: object) -> bool:
        """Whether it is the id of a case here, or one of the cases."""
        return (which.case_id if isinstance(which, BenchmarkCase) else which) in self.store.case_ids()

    def __getitem__(self, which: int | str) -> BenchmarkCase:
        ids = self.store.case_ids()
        if isinstance(which, str) and which not in ids:
            raise InputError(f"{self.path}: expected one of its {len(ids)} case ids, found '{which}'")
        case = self.store.case(which if isinstance(which, str) else ids[which])
        return BenchmarkCase(self.store, self._inputs, case)

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Benchmark({str(self.path)!r}): {len(self)} cases, {len(self.rejections)} refused"

    def _repr_html_(self) -> str:
        cases = self.cases
        pictures = [(case.augmented, case.hazard.name) for case in cases[: html.SHOWN]]
        return html.benchmark(repr(self), pictures, len(cases))


#: arm and repeat
Asked = tuple[str, int]


@dataclass(frozen=True)
class RunCase:
    """What became of one case: answers by (arm, repeat), and verdicts by (judged pair, repeat).

    A control's answer is judged as if it were the answer to the hazard, under "sham_rerun" and so on.
    """

    case: BenchmarkCase
    rollouts: dict[Asked, Rollout]
    verdicts: dict[Asked, Verdict]

    def rollout(self, arm: str = "hazard", repeat: int = 0) -> Rollout | None:
        return self.rollouts.get((arm, repeat))

    def verdict(self, arm: str = "hazard", repeat: int = 0) -> Verdict | None:
        return self.verdicts.get((arm, repeat))

    def __repr__(self) -> str:
        judged = [d for d in DIMENSIONS if any(d in v.scores for v in self.verdicts.values())]
        name = judged[-1] if judged else DIMENSIONS[-1]
        scores = {f"{arm}.{k}" if k else arm: v.scores.get(name) for (arm, k), v in self.verdicts.items()}
        words = ", ".join(f"{arm} {'-' if score is None else score}" for arm, score in scores.items())
        return f"RunCase({self.case!r}): {len(self.rollouts)} answers; {name} {words or 'not judged'}"

    def _repr_html_(self) -> str:
        return self.case._repr_html_() + html.answers(self.rollouts, self.verdicts)


class Run:
    """Read once, when first asked for. Iterating gives a :class:`RunCase` for each case of the benchmark.

    Attributes:
        bench, planner, judge: whose answers on what, judged by whom; ``judge`` is "" before any verdict.
        summary: what :func:`cfgen.score` counted; None where a run was opened.
    """

    def __init__(
        self, bench: "Benchmark", planner: str, judge: str, summary: "ScoreSummary | None" = None
    ) -> None:
        self.bench, self.planner, self.judge, self.summary = bench, planner, judge, summary

    @classmethod
    def open(cls, bench: "Benchmark", planner: str, judge: str | None = None) -> "Run":
        """See :meth:`cfgen.Benchmark.run`."""
        if planner not in bench.planners:
            raise InputError(
                f"planner '{planner}' was not scored in {bench.path}; expected one of: "
                f"{', '.join(bench.planners) or 'none yet'}. Score it with: cfgen score {bench.path} "
                f"--planner {planner}"
            )
        counts = bench.verdict_counts(planner)
        if judge is not None and judge not in counts:
            raise InputError(
                f"judge '{judge}' gave no verdict on '{planner}' in {bench.path}; expected one of: "
                f"{', '.join(counts) or 'none yet'}"
            )
        return cls(bench, planner, judge or max(counts, key=lambda name: counts[name], default=""))

    def is_same(self, run: "Run") -> bool:
        """Whether it is of the same planner in the same folder."""
        return self.planner == run.planner and self.bench.path.resolve() == run.bench.path.resolve()

    @cached_property
    def record(self) -> PlannerRun:
        """What it was asked, its fingerprint, and where it ran (``isolation``)."""
        return read_record(self.bench.store.planner_run_path(self.planner), PlannerRun)

    @cached_property
    def judge_record(self) -> JudgeRun | None:
        """Rubric, wording and options of the judge."""
        path = self.bench.store.judge_run_path(self.judge)
        return read_record(path, JudgeRun) if self.judge and path.is_file() else None

    @cached_property
    def cases(self) -> list[BenchmarkCase]:
        return self.bench.cases

    @cached_property
    def rollouts(self) -> list[Rollout]:
        """Every answer of every arm, failed ones too."""
        case_ids = {case.case_id for case in self.cases}
        return [r for r in self.bench.store.rollouts(self.planner) if r.case_id in case_ids]

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """Of this judge, of every judged pair."""
        case_ids = {case.case_id for case in self.cases}
        stored = self.bench.store.verdicts(self.judge, self.planner) if self.judge else []
        return [v for v in stored if v.case_id in case_ids]

    @cached_property
    def scored(self) -> tuple[Dimension, ...]:
        """What the judge scores, by its verdicts on all planners: one that always failed has no score in the others."""
        if not self.judge or any(v.status == "scored" for v in self.verdicts):
            return dimensions_scored(self.verdicts)
        return dimensions_scored(stored_verdicts(self.bench.store, self.judge, "*"))

    @property
    def failures(self) -> list[Rollout]:
        """Answers that are no plan, each with its reason."""
        return [r for r in self.rollouts if r.status == "failed"]

    @property
    def faults(self) -> list[Fault]:
        """Everything that broke, in answers and in verdicts."""
        return faults_in([*self.rollouts, *self.verdicts])

    def success(self, arm: str = "hazard") -> SuccessRow:
        """Strict success of one arm with its denominator and everything that is not in it.

        Args:
            arm: of the hazard, or a sham pair ("sham_rerun"): a control's answer judged as that to the hazard.

        Raises:
            InputError: no case has such an arm.
        """
        arms = {judged_as(arm) for arm in {"hazard", "rerun"}.union(*(c.record.arms for c in self.cases))}
        if arm not in arms:
            raise InputError(
                f"arm '{arm}'{did_you_mean(arm, arms)}: expected one of {', '.join(sorted(arms))}, which are judged "
                f"against the original in {self.bench.path}"
            )
        ids = [case.case_id for case in self.cases]
        verdicts = [v for v in self.verdicts if v.arm == arm]
        return success_row(self.planner, self.judge, arm, verdicts, ids, scores=self.scored)

    def table(self) -> Table:
        """The leaderboard's row of this run; prints as Markdown."""
        return leaderboard([self.success()])

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict for each answer, with its verdict where there is one, for ``pandas.DataFrame``."""
        verdicts = {(v.case_id, v.arm, v.repeat): v for v in self.verdicts}
        return [
            _row(self.judge, r, verdicts.get((r.case_id, judged_as(r.arm), r.repeat))) for r in self.rollouts
        ]

    def __iter__(self) -> Iterator[RunCase]:
        rollouts: dict[str, dict[tuple[str, int], Rollout]] = defaultdict(dict)
        verdicts: dict[str, dict[tuple[str, int], Verdict]] = defaultdict(dict)
        for r in self.rollouts:
            rollouts[r.case_id][r.arm, r.repeat] = r
        for v in self.verdicts:
            verdicts[v.case_id][v.arm, v.repeat] = v
        for case in self.cases:
            yield RunCase(case, rollouts[case.case_id], verdicts[case.case_id])

    def __len__(self) -> int:
        return len(self.cases)

    def __repr__(self) -> str:
        rates = self.success().rates
        name, rate = next(
            ((d, r) for d in reversed(DIMENSIONS) if (r := rates[d]).n), ("overall", rates["overall"])
        )
        return (
            f"Run({self.planner!r} on {str(self.bench.path)!r}, judge {self.judge!r}): {name} {rate.percent()}% of "
            f"{rate.n} cases (95% {rate.interval()}), {len(self.failures)} of {len(self.rollouts)} answers failed"
        )

    def _repr_html_(self) -> str:
        return html.page(self.table().html())


def _row(judge: str, rollout: Rollout, verdict: Verdict | None) -> dict[str, Any]:
    return {
        "planner": rollout.planner,
        "judge": judge,
        "case_id": rollout.case_id,
        "arm": rollout.arm,
        "repeat": rollout.repeat,
        "status": rollout.status,
        "reason": rollout.reason,
        "latency_s": rollout.latency_s,
        "text": rollout.text,
        "verdict": verdict.status if verdict else None,
        **{name: verdict.scores.get(name) if verdict else None for name in DIMENSIONS},
        "explanation": (verdict.explanation or verdict.reason) if verdict else None,
    }
