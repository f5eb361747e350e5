"""What came of scoring a planner: counts, failures and faults in words, and whether the run fell short."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from cfgen.core.files import read_record
from cfgen.core.plain import was_cut
from cfgen.metrics.rates import Rate
from cfgen.records import FAILURES, MENDABLE, Failure, Rollout
from cfgen.rollouts.inputs import RolloutInput
from cfgen.store import Store


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
    verdicts: dict[str, int]
    #: what cfgen broke on, in words; such answers are not the planner's failures
    faults: tuple[str, ...] = ()
    #: answers whose words were longer than is kept
    cut: int = 0
    #: share of interventions that the trajectory followed, by stage
    followed: dict[str, Rate] = field(default_factory=dict)
    #: answers that the judge was compared on with people, on scenes kept out of this benchmark; 0: it does not count
    calibrated: int = 0

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
        if self.verdicts and not self.verdicts.keys() - {"failed", "planner_failed"}:
            words = ", ".join(f"{n} {s.replace('_', ' ')}" for s, n in sorted(self.verdicts.items()))
            return f"no answer of planner '{self.planner}' could be judged by '{self.judge}': {words}"
        lost = [f for f in self.failures if f.mendable]
        if lost:
            return (
                f"{sum(f.count for f in lost)} of {self.rollouts} answers of planner '{self.planner}' were lost, for "
                f"example to: {lost[0].example}; run the same command with --retry-failed"
            )
        if "failed" in self.verdicts:
            count = f"{self.verdicts['failed']} of {sum(self.verdicts.values())}"
            return (
                f"{count} verdicts of judge '{self.judge}' failed; run the same command with --retry-failed"
            )
        return ""


def summary(
    store: Store,
    planner: str,
    judge: str,
    questions: Sequence[RolloutInput],
    followed: dict[str, Rate],
    calibrated: int,
) -> ScoreSummary:
    """What is on disk for these questions."""
    rollouts = [
        read_record(store.rollout_path(planner, q.arm, q.case.case_id, q.repeat), Rollout) for q in questions
    ]
    verdicts = store.verdicts(judge, planner)
    broken = [(r.case_id, r.arm, r.fault) for r in rollouts]
    broken += [(r.case_id, r.arm, r.fault) for r in store.interventions(planner)]
    return ScoreSummary(
        planner=planner,
        judge=judge,
        rollouts=len(rollouts),
        failures=_failures(rollouts),
        verdicts=dict(Counter(v.status for v in verdicts)),
        faults=tuple(f"case {case_id}, arm {arm}: {fault}" for case_id, arm, fault in broken if fault),
        cut=sum(was_cut(r.notes) for r in rollouts),
        followed=followed,
        calibrated=calibrated,
    )


def _failures(rollouts: Sequence[Rollout]) -> tuple[Failures, ...]:
    """The kinds of failures, the most frequent first; each with its most frequent reason."""
    kinds: dict[Failure, Counter[str]] = {}
    for rollout in rollouts:
        if rollout.status == "failed" and rollout.fault is None:
            kinds.setdefault(rollout.failure, Counter())[rollout.reason] += 1
    found = [
        Failures(FAILURES[kind], reasons.total(), reasons.most_common(1)[0][0], kind in MENDABLE)
        for kind, reasons in kinds.items()
    ]
    return tuple(sorted(found, key=lambda f: -f.count))
