"""What records tell of themselves, held against each other: a judge's models, its votes, its known answers; answers."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from inspect import signature
from math import isclose

import numpy as np

from cfgen.core.hashing import canonical_json
from cfgen.core.network import without_secrets
from cfgen.core.plain import MAX_CHARS
from cfgen.judge.combine import SUPERSEDED
from cfgen.judge.free import free_answers
from cfgen.judge.registry import JUDGES
from cfgen.metrics.agreement import kappa
from cfgen.models.registry import MODELS
from cfgen.planners.answer import MAX_FAULTS, MAX_HEADING, MAX_RANGE_M, PlanFaultError, to_plan
from cfgen.planners.parser import parse
from cfgen.planners.registry import PLANNERS
from cfgen.planners.told import told as options_of
from cfgen.records import (
    DIMENSIONS,
    Dimension,
    JudgeRun,
    PlannerRun,
    ProbeMiss,
    ProbeRun,
    Rollout,
    Verdict,
)
from cfgen.records.trust import FREE

#: characters of all options of a judge: a panel of some models has about 1,000
MOST_OPTIONS = 10_000
#: characters of one part of a planner's record, and of all: 5,000 files with their hashes have some 700,000
MOST_WORDS, MOST_RUN = 2_000, 2**20
_LEAK = (
    "an address with a password or a query, which may hold a key: nobody should publish it; run it again with the key "
    "in the environment"
)
_USABLE = ("scored", "unknown")
#: planners of cfgen's whose text holds their waypoints
_BY_TEXT = ("cruise", "reactive")


def models_of(judge: JudgeRun) -> tuple[str, ...]:
    """The models that its options tell of, in words; () where it asks none."""
    return tuple(
        " ".join(str(one[name]) for name in ("provider", "model") if name in one) or "unnamed"
        for one in _models(judge)
    )


def _models(judge: JudgeRun) -> list[dict[str, object]]:
    told = judge.options.get("models")
    return [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []


def _asks_models(judge: JudgeRun) -> bool:
    kind = judge.spec.split(" ")[0]
    return "models" in judge.options or kind == "panel" or JUDGES.adapts(kind)


def _names(judge: JudgeRun) -> list[str]:
    """By which votes call the models; [] where one of them is not told by name."""
    names = [str(one.get("model", "")) for one in _models(judge)]
    return names if all(names) else []


def wrong_options(judge: JudgeRun) -> Iterator[str]:
    """Where a judge tells more than any judge has."""
    if (found := len(canonical_json(judge.options))) > MOST_OPTIONS:
        yield f"its judge has options of {found} characters, where at most {MOST_OPTIONS} are a judge's"
    if judge.spec == "offline" and judge.options:
        yield f"its judge 'offline' has no options, found {canonical_json(judge.options).decode()[:80]}"
    if _leaks(judge.options) or _leaks(judge.spec):
        yield f"its judge has {_LEAK}"
    told = {"spec": judge.spec, "rubric": judge.rubric, "rubric_version": judge.rubric_version}
    if name := next((name for name, words in told.items() if len(words) > 200), ""):
        yield f"its judge has a {name} of more than 200 characters"


def wrong_planner(run: PlannerRun) -> Iterator[str]:
    """Where a planner's run tells what no run does."""
    words = [run.spec, *run.network, *run.sight, *run.fingerprint, *run.fingerprint.values()]
    if (longest := max(map(len, words))) > MOST_WORDS:
        yield f"its planner tells something in {longest} characters, where at most {MOST_WORDS} are a planner's"
    if (found := len(canonical_json(run))) > MOST_RUN:
        yield f"its planner's record has {found} characters, where at most {MOST_RUN} are a planner's"
    if _leaks(run.fingerprint) or _leaks(run.spec):
        yield f"its planner has {_LEAK}"


def _leaks(told: object) -> bool:
    """Whether an address in it holds more than a place."""
    if isinstance(told, Mapping):
        return any(map(_leaks, (*told, *told.values())))
    if isinstance(told, (list, tuple)):
        return any(map(_leaks, told))
    return isinstance(told, str) and without_secrets(told) != told


#: As own classes are named too.
_PROVIDER = re.compile(r"[\w.:-]{1,80}")


def wrong_models(judge: JudgeRun) -> Iterator[str]:
    """Where what the judge was given as and the models of its options are not the same."""
    if not _asks_models(judge):
        return
    if not _models(judge):
        yield f"its judge '{judge.spec[:80]}' asks models, but its options tell of none"
    names, providers = _names(judge), [str(model.get("provider", "")) for model in _models(judge)]
    if judge.spec == "panel":
        if len(providers) < 2:
            yield f"its judge is given as a panel, but its options tell of {len(providers)} models"
        if strange := next((one for one in providers if not _PROVIDER.fullmatch(one)), None):
            yield f"its judge's options say provider {strange[:40]!r}, which is no name of one"
        return
    if len(names) != 1:
        return
    kind = judge.spec.split(" ")[0]
    if not judge.spec.endswith(f" {names[0]}"):
        yield f"its judge is given as '{judge.spec[:80]}', but its options say model '{names[0][:80]}'"
    elif kind in MODELS.builtin and providers[0] != kind:
        yield f"its judge is given as '{judge.spec[:80]}', but its options say provider '{providers[0][:80]}'"


def wrong_votes(judge: JudgeRun, verdict: Verdict) -> str:
    """Why a verdict cannot be what this judge's models replied; "" where it can."""
    if not _asks_models(judge) or verdict.status in ("failed", "planner_failed"):
        return ""
    counted = [vote for vote in verdict.votes if vote.status in _USABLE]
    if not counted or not all(vote.raw for vote in counted):
        return f"says {verdict.status}, but a reply of its model is missing: it cannot be read again"
    names = _names(judge)
    if strange := next((vote.model for vote in verdict.votes if names and vote.model not in names), ""):
        return f"is by model '{strange[:80]}', but the judge's options say {', '.join(names)[:80]}"
    return _wrong_count(judge, verdict)


def _wrong_count(judge: JudgeRun, verdict: Verdict) -> str:
    """Why there are more or fewer votes than ``votes`` of its options; "" where it has no such option."""
    if "votes" not in judge.options:
        return ""
    due = judge.options["votes"]
    if not isinstance(due, int) or isinstance(due, bool):
        return f"is by a judge whose options say votes {str(due)[:40]!r}, which is no number"
    names = [str(one.get("model", "")) for one in _models(judge)]
    counted = Counter(vote.model for vote in verdict.votes if SUPERSEDED not in vote.flags)
    asked = Counter({model: due * n for model, n in Counter(names).items()})
    if counted.total() != asked.total() or (all(names) and counted != asked):
        return f"holds {counted.total()} votes, but the judge's options say {due} of each model"
    return ""


# --- answers ------------------------------------------------------------------------------------------------


def wrong_answer(answer: Rollout) -> str:
    """Why no planner's answer is kept like this; "" where it can be."""
    if len(answer.text) > MAX_CHARS:
        return f"has {len(answer.text)} characters, where at most {MAX_CHARS} are kept"
    farthest = (
        max((abs(v) for point in answer.plan.waypoints for v in point[:2]), default=0.0)
        if answer.plan
        else 0.0
    )
    if not farthest <= MAX_RANGE_M:
        return f"has a waypoint {farthest:.3g} m away, where at most {MAX_RANGE_M:g} m are a plan"
    turned = max((abs(point[2]) for point in answer.plan.waypoints), default=0.0) if answer.plan else 0.0
    if not turned <= MAX_HEADING:
        return f"has a heading of {turned:.3g} rad, where at most {MAX_HEADING:g} are a plan"
    return ""


def differs(answer: Rollout) -> str:
    """What of its plan its text, read again, does not say: "words", "faults", "waypoints", "no waypoints"; "": all."""
    if answer.plan is None:
        return ""
    read = parse(answer.text)
    if read.trace != answer.plan.trace:
        return "words"
    beside = [fault for fault in read.faults if not fault.startswith("<wp>")]
    if [*answer.plan.faults] not in ([*read.faults][:MAX_FAULTS], beside[:MAX_FAULTS]):
        return "faults"
    try:
        way = to_plan(answer.text)[1].waypoints
    except PlanFaultError:
        return "no waypoints"
    mine, told = (np.array(one) for one in (way, answer.plan.waypoints))
    return "" if mine.shape == told.shape and np.allclose(mine, told, rtol=1e-9, atol=1e-6) else "waypoints"


def wrong_text(run: PlannerRun, answer: Rollout) -> str:
    """Why this planner never gave both this text and this plan; "" where it can have."""
    found = differs(answer)
    ours = run.spec in _BY_TEXT or (
        PLANNERS.adapts(run.spec) and not {"prompt", "parser"} & {*options_of(run)}
    )
    refused = {
        "words": "has a text that says otherwise than its plan",
        "faults": "has a text with other faults than its plan tells",
        "waypoints": "has a text with other waypoints than its plan" if ours else "",
        "no waypoints": "has a text without the waypoints of its plan" if ours and _in_tags(run) else "",
    }
    return refused.get(found, "")


def _in_tags(run: PlannerRun) -> bool:
    """Whether it is on record that its answers are in the papers' format, waypoints and all."""
    if run.spec in _BY_TEXT:
        return True
    if not options_of(run):
        return False  # of before options were kept
    made = MODELS.get(run.spec)
    takes = signature(made).parameters
    usual = takes["form"].default if "form" in takes else getattr(made, "form", "")
    return bool(options_of(run).get("form", usual) == "tags")


# --- known answers ----------------------------------------------------------------------------------------


def wrong_probe(probe: ProbeRun) -> str:
    """The first total that does not follow from the probe's own kinds and misses; "" where all do."""
    return next(_wrong_probe(probe), "") or _wrong_half(probe)


def _wrong_probe(probe: ProbeRun) -> Iterator[str]:
    kinds = probe.kinds
    scripted = {name: kind for name, kind in kinds.items() if not name.startswith(FREE)}
    free = sum(kind.n for name, kind in kinds.items() if name.startswith(FREE))
    for name, told, found in (
        ("n", probe.n, sum(kind.n for kind in kinds.values())),
        ("free", probe.free, free),
        ("failed", probe.failed, sum(miss.status not in _USABLE for miss in probe.misses)),
        *(("cases", probe.cases, kind.n + sum(kind.left_out.values())) for kind in scripted.values()),
    ):
        if told != found:
            yield f"{name} {told}, but its kinds and misses give {found}"
    asked = sum(kind.n for kind in scripted.values())
    most = min(asked // probe.cases, sum(kind.n > 0 for kind in scripted.values())) if probe.cases else 0
    if not 0 <= probe.fewest_kinds <= most:
        yield f"fewest_kinds {probe.fewest_kinds}, but its kinds allow at most {most}"
    if not max(probe.as_ruled, probe.as_labelled) <= probe.contradicted <= free:
        yield f"contradicted {probe.contradicted} of {free} free answers"
    if strange := next((miss.kind for miss in probe.misses if miss.kind not in kinds), ""):
        yield f"a miss of kind '{strange[:60]}', which was not asked"
    for name in kinds:
        yield from _wrong_kind(probe, name)
    for i, dimension in enumerate(DIMENSIONS):
        yield from _wrong_accuracy(probe, dimension)
        yield from _wrong_agreement(probe, i, dimension)


def _wrong_kind(probe: ProbeRun, name: str) -> Iterator[str]:
    kind = probe.kinds[name]
    misses = [miss for miss in probe.misses if miss.kind == name]
    for i, d in enumerate(DIMENSIONS):
        wrong = sum(_miss(miss, i) for miss in misses)
        false = sum(m.found[i] == 2 != m.expected[i] for m in misses)
        missed = sum(_miss(m, i) and m.expected[i] == 2 for m in misses)
        counted = {"right": kind.right, "false_two": kind.false_two, "missed_two": kind.missed_two}
        unjudged = kind.unjudged.get(d, 0)
        due = {"right": kind.n - wrong - unjudged, "false_two": false, "missed_two": missed}
        for what, by_dimension in counted.items():
            if by_dimension.get(d, 0) != due[what]:
                yield f"{what} {by_dimension.get(d, 0)} for {d} of '{name}', but its misses give {due[what]}"
        if not 0 <= unjudged <= kind.n or not missed <= kind.due_two.get(d, 0) <= kind.n:
            yield f"more counts for {d} of '{name}' than its {kind.n} answers"


def _miss(miss: ProbeMiss, index: int) -> bool:
    """Whether this dimension of it was judged, and wrongly."""
    if miss.status == "scored" and miss.found[index] is None:
        return False  # left out
    return miss.status not in _USABLE or miss.found[index] != miss.expected[index]


def _wrong_accuracy(probe: ProbeRun, dimension: Dimension) -> Iterator[str]:
    judged = max(probe.n, 1) - sum(kind.unjudged.get(dimension, 0) for kind in probe.kinds.values())
    right = sum(kind.right.get(dimension, 0) for kind in probe.kinds.values())
    told = probe.accuracy.get(dimension)
    due = right / judged if judged else None
    if (told is None) != (due is None) or (told is not None and due is not None and not isclose(told, due)):
        yield f"accuracy {told} for {dimension}, but its kinds give {due}"


def _wrong_agreement(probe: ProbeRun, index: int, dimension: Dimension) -> Iterator[str]:
    told = probe.agreement.get(dimension)
    if told is None or [len(row) for row in told.confusion] != [3, 3, 3]:
        yield f"no table of agreement on {dimension}"
        return
    table = np.array(told.confusion)
    off = np.zeros((3, 3), int)
    for miss in probe.misses:
        due, said = miss.expected[index], miss.found[index]
        if due is not None and said is not None and due != said:
            off[due, said] += 1
    twos = sum(k.due_two.get(dimension, 0) - k.missed_two.get(dimension, 0) for k in probe.kinds.values())
    right = sum(k.right.get(dimension, 0) for k in probe.kinds.values())
    if (
        (table - np.diag(table.diagonal()) != off).any()
        or table[2, 2] != twos
        or not 0 <= table.trace() <= right
    ):
        yield f"a table of agreement on {dimension} that its kinds and misses do not give"
        return
    rows = [(table[i, i] / n if (n := table[i].sum()) else None) for i in range(3)]
    n = int(table.sum())
    due_of = {
        "n": (told.n, n),
        "accuracy": (told.accuracy, table.trace() / n if n else None),
        "kappa": (told.kappa, kappa(table)),
        "quadratic": (told.quadratic, kappa(table, quadratic=True)),
        **{f"recall of {i}": pair for i, pair in enumerate(zip(told.recall, rows, strict=False))},
    }
    for name, (claimed, given) in due_of.items():
        if not _same(claimed, given):
            yield f"{name} {claimed} in the agreement on {dimension}, but its table gives {given}"


def _same(found: float | None, due: float | None) -> bool:
    return found is due or (found is not None and due is not None and isclose(found, due, abs_tol=1e-9))


def _wrong_half(probe: ProbeRun) -> str:
    """Where the free answers that were asked are not those of the half that is named."""
    asked = {
        name: kind.n + sum(kind.left_out.values())
        for name, kind in probe.kinds.items()
        if name.startswith(FREE)
    }
    there = Counter(FREE + one.kind for one in free_answers((probe.half,))) if probe.half else Counter()
    wrong = next((name for name, n in asked.items() if n != there[name]), "")
    if not wrong or (probe.faults and probe.half):
        return ""
    return f"{asked[wrong]} answers of '{wrong}', but half '{probe.half}' has {there[wrong]}"
