"""A judge x known answers -> how far it can be trusted. Readable top to bottom.

Scripted responders answer every case in ways whose right scores follow by construction, in our words. Free answers are
other people's words (:mod:`cfgen.judge.free_answers`). The judge sees all as it sees any planner's answers, shuffled.
Only free answers that nothing was tuned on make it tested.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cfgen.core.errors import InputError, StoreError
from cfgen.core.faults import contained
from cfgen.core.files import write_record
from cfgen.core.progress import Progress
from cfgen.judge.containment import judge_each
from cfgen.judge.free_answers import FreeAnswer, Half, cases_for, free_answers, unfit
from cfgen.judge.protocol import Judge, JudgeItem, VerdictKey, asked_now
from cfgen.judge.run import item_of
from cfgen.metrics.agreement import comparison
from cfgen.planners.answer import to_plan
from cfgen.planners.protocol import Observation, Truth
from cfgen.planners.responders import KINDS, Baseline, Responder, Target
from cfgen.records import (
    DIMENSIONS,
    Case,
    Dimension,
    Fault,
    ProbeKind,
    ProbeMiss,
    ProbeRun,
    RaterAgreement,
    Verdict,
)
from cfgen.records.judge_validation import FREE
from cfgen.rollouts.inputs import RolloutInputs
from cfgen.storage.store import Store

#: what is counted of each kind and dimension
_COUNTED = ("right", "unjudged", "false_two", "missed_two", "due_two")
Scores = tuple[int | None, int | None, int | None]
UNKNOWN: Scores = (None, None, None)


@dataclass(frozen=True)
class Known:
    """One kind of known answer.

    Attributes:
        expected: right scores of reasoning, waypoints, overall; UNKNOWN where there is nothing to see.
        after: how the responder answers the second frame. before: the first; "" drives on.
        arm: what the second frame shows; "original" shows the first one again.
    """

    expected: Scores
    after: str
    before: str = ""
    arm: str = "hazard"


KNOWN: dict[str, Known] = {
    **{
        kind: Known(expected, kind)
        for kind, expected in {
            "ignores": (0, 0, 0),
            "notices_and_brakes": (2, 2, 2),
            "notices_and_keeps_going": (1, 0, 0),
            "promises_to_brake_and_keeps_going": (2, 0, 1),
            "brakes_without_a_reason": (0, 2, 1),
            "brakes_too_late": (2, 1, 1),
            "says_brake_and_speeds_up": (2, 1, 1),
            "speaks_vaguely_and_brakes": (1, 2, 1),
            "names_a_wrong_object": (1, 2, 1),
            "names_a_lookalike": (1, 2, 1),
            "names_a_wrong_side": (1, 2, 1),
            "steers_towards_it": (2, 1, 1),
            "steers_round_it": (2, 2, 2),
            "says_brake_and_steers_round": (2, 2, 1),
        }.items()
    },
    "reacts_the_same_on_both_frames": Known((0, 0, 0), "notices_and_brakes", before="notices_and_brakes"),
    "same_frame_twice": Known(UNKNOWN, "notices_and_brakes", arm="original"),
    "edit_without_an_object": Known(UNKNOWN, "notices_and_brakes", arm="null"),
    "harmless_object_ignored": Known((0, 0, 0), "ignores", arm="nuisance"),
}


@dataclass(frozen=True)
class Probe:
    """One kind on one case; ``unfit`` says why it cannot be asked there, or "". ``free``: in whose words."""

    case: Case
    kind: str
    unfit: str = ""
    free: FreeAnswer | None = None

    @property
    def known(self) -> Known:
        return Known(self.free.due, "") if self.free else KNOWN[self.kind]


def probe(
    bench: Path,
    judge: Judge,
    kinds: Sequence[str] = (),
    limit: int | None = None,
    quiet: bool = False,
    strict: bool = False,
    half: Half = "test",
) -> ProbeRun:
    """Ask ``judge`` about every kind of known answer on every case (or the first ``limit`` in a fixed shuffle).

    Writes ``verdicts/<judge>/probe.json`` and returns it. ``strict`` lets what breaks through, with its traceback.

    Args:
        kinds: only these, scripted or free. half: which free answers; only "test" can make the judge tested.

    Raises:
        StoreError: not a benchmark, or one without cases. InputError: an unknown kind.
    """
    store = Store(bench)
    cases = store.cases()
    if not cases:
        raise StoreError(f"{bench}: holds no accepted case to probe with; run: cfgen build --out {bench}")
    free = free_answers((half,))
    every = (*KNOWN, *dict.fromkeys(FREE + a.kind for a in free))
    strange = sorted(set(kinds) - set(every))
    if strange:
        raise InputError(f"probe kind '{strange[0]}' is not known; expected some of: {', '.join(every)}")
    seed = store.benchmark.seed
    random.Random(seed).shuffle(cases)
    inputs = RolloutInputs(store, seed)
    chosen = tuple(k for k in KNOWN if k in kinds or not kinds)
    candidates, faults = _scripted_probes(inputs, cases[:limit], chosen, strict)
    chosen_answers = [a for a in free if not kinds or FREE + a.kind in kinds]
    for answer in chosen_answers:
        ask = partial(_free_probe, inputs, answer, cases[:limit], seed)
        candidate = contained(ask, f"free answer {answer.id}", strict=strict)
        if isinstance(candidate, Fault):
            faults.append(candidate)
        else:
            candidates.append(candidate)
    probes = [p for p in candidates if not p.unfit]
    random.Random(seed).shuffle(probes)
    store.register_judge(asked_now(judge))
    verdicts = _judge(inputs, judge, probes, quiet, strict)
    run = summarize(judge, probes, verdicts, [p for p in candidates if p.unfit])
    faults += [v.fault for v in verdicts if v and v.fault]
    run = run.model_copy(update={"faults": tuple(faults), "half": half if chosen_answers else ""})
    write_record(store.probe_path(judge.name), run, store.work)
    return run


def _scripted_probes(
    inputs: RolloutInputs, cases: Sequence[Case], kinds: Sequence[str], strict: bool
) -> tuple[list[Probe], list[Fault]]:
    """Every kind on every case; where a case breaks, its fault, and its kinds as not asked."""
    probes: list[Probe] = []
    faults: list[Fault] = []
    for case in cases:
        work = partial(_probes, inputs, case, kinds)
        case_probes = contained(work, f"known answers of {case.case_id}", strict=strict)
        if isinstance(case_probes, Fault):
            faults.append(case_probes)
            case_probes = [Probe(case, kind, f"fault: {case_probes.kind}") for kind in kinds]
        probes += case_probes
    return probes, faults


def _probes(inputs: RolloutInputs, case: Case, kinds: Sequence[str]) -> list[Probe]:
    """Every kind, and why not where the case has no frame for it or its geometry does not let it be acted out."""
    base = Baseline.of(*inputs.motion(case))
    target = Target.of(case.placement, base)
    probes = []
    for kind in kinds:
        kind_spec = KNOWN[kind]
        if kind_spec.arm not in ("original", *case.arms):
            probes.append(Probe(case, kind, f"the case has no {kind_spec.arm} arm"))
            continue
        acts = (KINDS[act].unfit(base, target) for act in (kind_spec.before, kind_spec.after) if act)
        probes.append(Probe(case, kind, next(filter(None, acts), "")))
    return probes


def _free_probe(inputs: RolloutInputs, answer: FreeAnswer, cases: Sequence[Case], seed: int) -> Probe:
    """On one of the cases that show what it is about, and where its motion can be acted out."""
    kind = FREE + answer.kind
    fitting = cases_for(answer, cases)
    random.Random(f"{seed} {answer.id}").shuffle(fitting)
    for case in fitting:
        base = Baseline.of(*inputs.motion(case))
        if not unfit(answer, base, Target.of(case.placement, base)):
            return Probe(case, kind, free=answer)
    why = "the car cannot act it out there" if fitting else "no case shows what it is about, where it says"
    return Probe(fitting[0] if fitting else cases[0], kind, why, answer)


def _judge(
    inputs: RolloutInputs, judge: Judge, probes: Sequence[Probe], quiet: bool, strict: bool
) -> list[Verdict | None]:
    progress = Progress(f"{judge.name}: known answers", len(probes), quiet)
    verdicts: list[Verdict | None] = [None] * len(probes)

    def done(verdict: Verdict) -> None:
        verdicts[verdict.repeat] = verdict
        progress.step(judge.note)

    items: list[tuple[VerdictKey, Callable[[], JudgeItem]]] = [
        (VerdictKey("probe", p.case.case_id, "hazard", i), partial(_item, inputs, p))
        for i, p in enumerate(probes)
    ]
    judge_each(judge, items, done, strict)
    return verdicts


def known_answers(inputs: RolloutInputs, case: Case, spec: Known) -> tuple[str, str]:
    """What the responders say of the first and of the second frame, in the papers' format."""
    history, logged = inputs.motion(case)

    def answer(kind: str) -> str:
        truth = Truth(case.hazard, case.placement) if kind else Truth(None, None)
        question = Observation(
            token="", seed=case.seed, images={}, cameras={}, history=history, truth=truth, logged=logged
        )
        return Responder(kind or "ignores").plan([question])[0]

    return answer(spec.before), answer(spec.after)


def _item(inputs: RolloutInputs, probe: Probe) -> JudgeItem:
    case, spec = probe.case, probe.known
    history, logged = inputs.motion(case)
    if probe.free:
        base = Baseline.of(history, logged)
        texts = probe.free.answers(base, Target.of(case.placement, base))
    else:
        texts = known_answers(inputs, case, spec)
    (before_text, before), (after_text, after) = map(to_plan, texts)
    return item_of(inputs, case, spec.arm, probe.kind, (before_text, after_text), (before, after))


# --- what came back ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KnownScore:
    """One score of one answer, and the right one; ``unjudged``: the judge scored, but not this dimension."""

    kind: str
    dimension: Dimension
    due: int | None
    score: int | None
    usable: bool
    unjudged: bool

    @property
    def counts(self) -> dict[str, bool]:
        """Whether it counts under each count of a :class:`ProbeKind`; what is unjudged under no other."""
        return {
            "right": self.usable and self.score == self.due and not self.unjudged,
            "unjudged": self.unjudged,
            "false_two": self.score == 2 != self.due,
            "missed_two": self.score != 2 == self.due and not self.unjudged,
            "due_two": self.due == 2 and not self.unjudged,
        }


def _outcomes(probe: Probe, verdict: Verdict | None) -> list[KnownScore]:
    """By dimension, in the order of DIMENSIONS."""
    status = verdict.status if verdict else "failed"
    scores = verdict.scores if verdict and status == "scored" else {}
    usable = status in ("scored", "unknown")
    return [
        KnownScore(probe.kind, d, due, scores.get(d), usable, status == "scored" and d not in scores)
        for d, due in zip(DIMENSIONS, probe.known.expected, strict=True)
    ]


def summarize(
    judge: Judge,
    probes: Sequence[Probe],
    verdicts: Sequence[Verdict | None],
    left_out: Sequence[Probe] = (),
) -> ProbeRun:
    """Counts by kind, accuracy and agreement by dimension. No verdict and no usable reply count as wrong."""
    answers = [_outcomes(p, v) for p, v in zip(probes, verdicts, strict=True)]
    by_dimension = {d: [outcomes[i] for outcomes in answers] for i, d in enumerate(DIMENSIONS)}
    blank = [v for p, v in zip(probes, verdicts, strict=True) if p.known.expected == UNKNOWN]
    per_case = Counter({p.case.case_id: 0 for p in left_out if not p.free})
    per_case.update(p.case.case_id for p in probes if not p.free)
    run = judge.run_record()
    return ProbeRun(
        judge=judge.name,
        rubric=run.rubric,
        rubric_version=run.rubric_version,
        rubric_hash=run.rubric_hash,
        code=getattr(judge, "code", ""),
        n=len(probes),
        failed=sum(not outcomes[0].usable for outcomes in answers),
        cases=len(per_case),
        fewest_kinds=min(per_case.values(), default=0),
        free=sum(p.free is not None for p in probes),
        kinds=_kinds(probes, answers, left_out),
        accuracy=_accuracy(by_dimension),
        agreement={d: _agreement(outcomes) for d, outcomes in by_dimension.items()},
        unknown_found=sum(v is not None and v.status == "unknown" for v in blank) / len(blank)
        if blank
        else None,
        misses=_misses(probes, verdicts, answers),
    )


def _accuracy(by_dimension: Mapping[Dimension, Sequence[KnownScore]]) -> dict[Dimension, float]:
    """Share of the scores that were judged which are right; no entry where none was."""
    judged = {d: [o for o in outcomes if not o.unjudged] for d, outcomes in by_dimension.items()}
    return {
        d: sum(o.counts["right"] for o in outcomes) / len(outcomes)
        for d, outcomes in judged.items()
        if outcomes
    }


def _kinds(
    probes: Sequence[Probe], answers: Sequence[Sequence[KnownScore]], left_out: Sequence[Probe]
) -> dict[str, ProbeKind]:
    """Scripted kinds in their order, then free ones."""
    n = Counter(p.kind for p in probes)
    reasons = Counter((p.kind, p.unfit) for p in left_out)
    counted = Counter(
        (o.kind, name, o.dimension)
        for outcomes in answers
        for o in outcomes
        for name, holds in o.counts.items()
        if holds
    )
    free = sorted({k for k in (*n, *(kind for kind, _ in reasons)) if k not in KNOWN})
    return {
        kind: ProbeKind(
            n=n[kind],
            left_out={why: count for (name, why), count in reasons.items() if name == kind},
            **{name: {d: counted[kind, name, d] for d in DIMENSIONS} for name in _COUNTED},
        )
        for kind in (*KNOWN, *free)
        if n[kind] or any(name == kind for name, _ in reasons)
    }


def _agreement(outcomes: Sequence[KnownScore]) -> RaterAgreement:
    """Where the right answer is a score and one was given."""
    pairs = [(o.due, o.score) for o in outcomes if o.due is not None and o.score is not None]
    return comparison([due for due, _ in pairs], [score for _, score in pairs])


def _misses(
    probes: Sequence[Probe], verdicts: Sequence[Verdict | None], answers: Sequence[Sequence[KnownScore]]
) -> tuple[ProbeMiss, ...]:
    """Where no reply could be used, or a score that the judge gives is not the due one."""
    return tuple(
        ProbeMiss(
            case_id=probe.case.case_id,
            kind=probe.kind,
            expected=probe.known.expected,
            found=(outcomes[0].score, outcomes[1].score, outcomes[2].score),
            status=verdict.status if verdict else "failed",
        )
        for probe, verdict, outcomes in zip(probes, verdicts, answers, strict=True)
        if not all(o.unjudged or o.counts["right"] for o in outcomes)
    )
