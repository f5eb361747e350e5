"""What came of scoring a planner: counts, failures and faults in words, and whether the run fell short."""

from collections import Counter
from dataclasses import dataclass, field

from cfgen.core.files import read_record
from cfgen.core.sanitize import was_cut
from cfgen.metrics.intervals import Rate
from cfgen.records import (
    CONTROLS,
    DIMENSIONS,
    FAILURES,
    MENDABLE,
    Dimension,
    Failure,
    Rollout,
    Verdict,
    frame_in,
)
from cfgen.rollouts.queries import Queries
from cfgen.storage.store import Store


@dataclass(frozen=True)
class Failures:
    """Answers that failed in one way, apart from faults of cfgen. ``mendable``: by asking again."""

    words: str
    count: int
    example: str
    mendable: bool


@dataclass(frozen=True)
class ScoreSummary:
    planner: str
    judge: str
    rollouts: int
    failures: tuple[Failures, ...]
    #: by status, of the hazard's arms
    verdicts: dict[str, int]
    #: what cfgen broke on, in words; such answers are not the planner's failures
    faults: tuple[str, ...] = ()
    #: answers whose words were longer than is kept
    cut: int = 0
    #: share of interventions that the trajectory followed, by stage
    followed: dict[str, Rate] = field(default_factory=dict)
    #: answers that the judge was compared on with people, on scenes kept out of this benchmark; 0: it does not count
    calibrated: int = 0
    #: verdicts on sham pairs by status
    shams: dict[str, int] = field(default_factory=dict)
    #: what the judge scored; empty where it scored nothing
    judged: tuple[Dimension, ...] = ()

    @property
    def unjudged(self) -> list[Dimension]:
        """What the judge leaves out."""
        return [d for d in DIMENSIONS if self.judged and d not in self.judged]

    def short(self) -> str:
        """Why the run fell short, or "": faults, the network or the machine left answers or verdicts missing, or
        nothing at all came of it. Some failures of the planner's own are a result."""
        if self.faults:
            return (
                f"cfgen broke on {len(self.faults)} answers, for example {self.faults[0]}; please report "
                "it, and once it is mended run the same command with --retry-failed"
            )
        failed = sum(f.count for f in self.failures)
        if failed == self.rollouts:
            words = "; ".join(f"{f.count} times it {f.words} ({f.example})" for f in self.failures[:3])
            return f"every answer of planner '{self.planner}' failed: {words}"
        verdicts = Counter(self.verdicts) + Counter(self.shams)
        if verdicts and not verdicts.keys() - {"failed", "planner_failed"}:
            words = ", ".join(f"{n} {s.replace('_', ' ')}" for s, n in sorted(verdicts.items()))
            return f"no answer of planner '{self.planner}' could be judged by '{self.judge}': {words}"
        mendable = [f for f in self.failures if f.mendable]
        if mendable:
            return (
                f"{sum(f.count for f in mendable)} of {self.rollouts} answers of planner '{self.planner}' were lost, "
                f"for example to: {mendable[0].example}; run the same command with --retry-failed"
            )
        if "failed" in verdicts:
            count = f"{verdicts['failed']} of {verdicts.total()}"
            return (
                f"{count} verdicts of judge '{self.judge}' failed; run the same command with --retry-failed"
            )
        return ""


def summary(
    store: Store,
    planner: str,
    judge: str,
    questions: Queries,
    followed: dict[str, Rate],
    calibrated: int,
) -> ScoreSummary:
    """What is on disk for these questions, counted record by record."""
    faults: list[str] = []
    reasons: dict[Failure, Counter[str]] = {}
    cut = 0
    for key in questions.each_key():
        rollout = read_record(store.rollout_path(planner, key.arm, key.case_id, key.repeat), Rollout)
        cut += was_cut(rollout.notes)
        if rollout.fault:
            faults.append(f"case {key.case_id}, arm {key.arm}: {rollout.fault}")
        elif rollout.status == "failed":
            reasons.setdefault(rollout.failure, Counter())[rollout.reason] += 1
    faults += [
        f"case {swap.case_id}, arm {swap.arm}: {swap.fault}"
        for swap in store.interventions(planner)
        if swap.fault
    ]
    failures = [
        Failures(FAILURES[kind], count.total(), count.most_common(1)[0][0], kind in MENDABLE)
        for kind, count in reasons.items()
    ]
    verdicts = [read_record(path, Verdict) for path in store.verdict_paths(judge, planner)]
    verdicts = [v for v in verdicts if v.arm not in CONTROLS]
    scored = {dimension for v in verdicts for dimension in v.scores}
    return ScoreSummary(
        planner=planner,
        judge=judge,
        rollouts=len(questions),
        failures=tuple(sorted(failures, key=lambda f: -f.count)),
        verdicts=dict(Counter(v.status for v in verdicts if frame_in(v.arm) == v.arm)),
        shams=dict(Counter(v.status for v in verdicts if frame_in(v.arm) != v.arm)),
        faults=tuple(faults),
        cut=cut,
        followed=followed,
        calibrated=calibrated,
        judged=tuple(d for d in DIMENSIONS if d in scored),
    )
