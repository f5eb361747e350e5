"""The claims of stored answers, and what is known of the frame behind each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cfgen.judge.rubrics.grounding import sentences
from cfgen.judge.seen.check import Checked, Known, check_words
from cfgen.metrics.rates import Rate
from cfgen.records import Camera, Case, PlannerRun, Rollout, Scene


@dataclass(frozen=True)
class SeenAnswer:
    """The claims of one answer."""

    planner: str
    arm: str
    case_id: str
    repeat: int
    claims: tuple[Checked, ...]
    #: sentences, and those of them in which no claim was read
    sentences: int = 0
    unread: int = 0

    @property
    def refuted(self) -> tuple[Checked, ...]:
        return tuple(c for c in self.claims if c.verdict == "refuted")


@dataclass(frozen=True)
class SeenClaims:
    """Every answer that was read."""

    answers: Sequence[SeenAnswer]

    def __iter__(self) -> Iterator[SeenAnswer]:
        return iter(self.answers)

    def counts(self) -> dict[str, tuple[int, int, int]]:
        """By topic: refuted, possible, unknown."""
        found: dict[str, list[int]] = {}
        for answer in self.answers:
            for one in answer.claims:
                row = found.setdefault(one.claim.topic, [0, 0, 0])
                row[("refuted", "possible", "unknown").index(one.verdict)] += 1
        return {topic: (row[0], row[1], row[2]) for topic, row in sorted(found.items())}

    def unread(self) -> tuple[int, int]:
        """Sentences in which no claim was read, and all of them."""
        return sum(a.unread for a in self.answers), sum(a.sentences for a in self.answers)

    def rate(self) -> Rate:
        """Of the claims that geometry can decide, the share that it refutes."""
        counts = self.counts().values()
        refuted, possible = (sum(row[k] for row in counts) for k in (0, 1))
        return Rate.of(refuted, refuted + possible)


def answers_of(
    rollouts: Iterable[Rollout],
    cases: Mapping[str, Case],
    scenes: Mapping[str, Scene],
    run: PlannerRun | None,
) -> Iterator[SeenAnswer]:
    """The claims of every answer whose case is there."""
    for r in rollouts:
        case = cases.get(r.case_id)
        if case is not None and case.scene_id in scenes:
            known = known_of(case, scenes[case.scene_id], r.arm, run)
            words = f"{r.plan.trace.scene}\n{r.plan.trace.justification}" if r.plan else r.text
            claims = tuple(check_words(words, known))
            said = sentences(words)
            unread = sum(not any(c.claim.words == one for c in claims) for one in said)
            yield SeenAnswer(r.planner, r.arm, r.case_id, r.repeat, claims, len(said), unread)


def known_of(case: Case, scene: Scene, arm: str, run: PlannerRun | None) -> Known:
    """What is known of the frame of one arm as this planner saw it; without its record, by the front camera."""
    wanted = [str(name) for name in (run.needs.get("cameras") or ())] if run else []
    by_name: dict[str, Camera] = {c.name: c for c in scene.cameras}
    cameras = tuple(
        by_name[scene.front.name if n == "front" else n]
        for n in wanted or ["front"]
        if n in (*by_name, "front")
    )
    if arm == "hazard":
        return Known(cameras, scene.history, case.hazard, case.placement)
    if arm in case.distance_placements:
        return Known(cameras, scene.history, case.hazard, case.distance_placements[arm])
    if arm == "nuisance":
        return Known(cameras, scene.history, case.nuisance, case.nuisance_placement)
    return Known(cameras, scene.history)
