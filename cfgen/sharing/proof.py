"""Whether a bundle holds: every claim in it is derived again from what it stands on, as far as that is in it."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from cfgen.core.errors import CfgenError, InputError
from cfgen.core.hashing import canonical_json
from cfgen.judge.protocol import ANSWER_NAMES
from cfgen.judge.rescore import rescored
from cfgen.judge.rubrics.hazard import HazardRubric
from cfgen.judge.rubrics.hazard import Wording as Words
from cfgen.judge.rubrics.registry import RUBRICS, Rubric, create_rubric
from cfgen.models.quote import cut_notes
from cfgen.records import Rollout, Verdict, answer_in, judged_as
from cfgen.sharing.bundle import INDEX, JUDGE, Bundle, Key, Wording, benchmark_hash, horizon_of, wording_of
from cfgen.sharing.consistent import (
    MOST_OPTIONS,
    differs,
    wrong_answer,
    wrong_models,
    wrong_options,
    wrong_planner,
    wrong_probe,
    wrong_text,
    wrong_votes,
)
from cfgen.sharing.figures import Figures
from cfgen.version import __version__


@dataclass(frozen=True)
class Proof:
    """What was found beyond the claims.

    Attributes:
        figures: out of the verdicts. said: of the answers that are ``plans``, those whose text, read again, says what
            these hold, words and waypoints; ``beside`` gave waypoints that are not in the text.
        reread: verdicts that follow from stored replies of the judge, read again; the others rest on the word of who
            wrote the bundle, of so many ``scored``.
        wording: whether the judge's words are those that its hash tells of.
    """

    figures: Figures
    plans: int
    said: int
    beside: int
    reread: int
    scored: int
    wording: bool


def prove(bundle: Bundle) -> Proof:
    """
    Raises:
        InputError: names the bundle and the first claim that does not hold.
    """
    if wrong := next(_wrong(bundle), ""):
        raise InputError(
            f"{bundle.path}: {wrong}; it does not verify: ask whoever wrote it for the one that cfgen wrote"
        )
    rubric = rubric_of(bundle.index.wording)
    reread = _reread(bundle, rubric) if rubric else 0
    scored = sum(v.status in ("scored", "unknown", "failed") for v in bundle.verdicts)
    found = Counter(map(differs, (one for one in bundle.answers if one.plan)))
    said, beside = found[""], found["no waypoints"]
    return Proof(_figures(bundle), found.total(), said, beside, reread, scored, rubric is not None)


def rubric_of(told: Wording) -> Rubric | None:
    """The rubric, where its hash is that of its words: an installed one, or one of our shape in own words."""
    made = _made_of(told)
    return made if made is not None and wording_of(made) == told else None


def _made_of(told: Wording) -> Rubric | None:
    """The installed rubric of this name and hash, or else what the words in the bundle make, if of our shape."""
    if told.name in RUBRICS.names():
        with suppress(CfgenError):
            if (here := create_rubric(told.name)).id.hash == told.hash:
                return here
    if told.own is None or set(told.own) != {"opening", "steps", "scales"}:
        return None
    try:
        scales = {name: {int(k): v for k, v in scale.items()} for name, scale in told.own["scales"].items()}
        words = Words(told.own["opening"], told.own["steps"], scales, told.again)  # type: ignore[arg-type]
        made = HazardRubric(told.name, told.version, words, bounds_overall=told.bounds_overall)
        return made if made.id else None
    except (AttributeError, TypeError, ValueError, KeyError):
        return None


def _wrong_wording(bundle: Bundle) -> str:
    """Where the rubric's words are not those of its hash; "" also where its shape is another's and nobody can tell."""
    told = bundle.index.wording
    made = _made_of(told)
    if made is None and told.own is None:
        return ""
    if made is not None and made.id.hash == told.hash and wording_of(made) == told:
        return ""
    return (
        f"holds words of the rubric '{told.name[:80]}' that are not those of its hash {told.hash[:19]}; they "
        f"were changed, or are of another cfgen than {__version__} (its own: {bundle.index.cfgen_version[:20]})"
    )


def _wrong(bundle: Bundle) -> Iterator[str]:
    """Each claim that does not hold, in words."""
    index, run, judge = bundle.index, bundle.run, bundle.judge
    hashes = {case_id: case.hash for case_id, case in index.cases.items()}
    if benchmark_hash(hashes) != index.benchmark:
        yield f"names benchmark {index.benchmark[:19]}, but its cases give {benchmark_hash(hashes)[:19]}"
    if (run.planner, judge.judge) != (index.planner, index.judge):
        yield f"is of '{index.planner}' by '{index.judge}', but holds '{run.planner}' by '{judge.judge}'"
    wording = (index.wording.name, index.wording.version, index.wording.hash)
    if (judge.rubric, judge.rubric_version, judge.rubric_hash) != wording:
        yield (
            f"the rubric is not the one that the judge names: {_rubric(*wording)} in {INDEX}, "
            f"{_rubric(judge.rubric, judge.rubric_version, judge.rubric_hash)} in {JUDGE}"
        )
    if wrong := _wrong_wording(bundle):
        yield wrong
    yield from wrong_options(judge)
    yield from wrong_models(judge)
    yield from wrong_planner(run)
    if (found := len(canonical_json([index.environment, index.cfgen_version]))) > MOST_OPTIONS:
        yield f"its environment and version have {found} characters, where {MOST_OPTIONS} are plenty"
    if (run.arms, run.floor or "mean") != (index.arms, index.floor):
        yield "arms or floor are not those that the planner was asked with"
    if bundle.probe and bundle.probe.judge != judge.judge:
        yield f"its probe is of judge '{bundle.probe.judge}', not of '{judge.judge}'"
    if bundle.probe and (wrong := wrong_probe(bundle.probe)):
        yield f"its probe contradicts itself: {wrong}"
    yield from _wrong_answers(bundle)
    yield from _wrong_verdicts(bundle)
    if abs(horizon_of(bundle.answers) - index.horizon_s) > 1e-9:
        yield f"claims plans of {index.horizon_s:g} s, but its shortest is of {horizon_of(bundle.answers):g} s"
    if differs := _figures(bundle).differs(index.figures):
        yield f"claims {differs}"


def _wrong_answers(bundle: Bundle) -> Iterator[str]:
    run, found = bundle.run, _by_key(bundle.answers)
    for key in bundle.expected(run.arms):
        if key not in found:
            yield f"holds no answer to {_words(key)}"
    if strange := set(found) - set(bundle.expected(run.arms)):
        yield f"holds an answer to {_words(min(strange))}, which is no question of it"
    if len(found) != len(bundle.answers):
        yield "holds two answers to one question"
    if any((a.planner, a.planner_hash) != (run.planner, run.planner_hash) for a in bundle.answers):
        yield f"holds an answer that is not by this '{run.planner}'"
    for key, answer in found.items():
        if wrong := wrong_answer(answer):
            yield f"the answer to {_words(key)} {wrong}"
        if wrong := wrong_text(run, answer):
            yield f"the answer to {_words(key)} {wrong}: one of them was changed"
    if any(a.fault for a in bundle.answers):
        yield "holds answers that failed by what is no doing of the planner"


def _wrong_verdicts(bundle: Bundle) -> Iterator[str]:
    judge, answers = bundle.judge, _by_key(bundle.answers)
    found = {(v.case_id, v.arm, v.repeat): v for v in bundle.verdicts}
    asked = {
        (case_id, judged_as(arm), repeat)
        for case_id, arm, repeat in bundle.expected(arm for arm in bundle.run.arms if arm != "original")
    }
    if missing := asked - set(found):
        yield f"holds no verdict on {_words(min(missing))} (of {len(asked)}, {len(missing)} are missing)"
    if strange := set(found) - asked:
        yield f"holds a verdict on {_words(min(strange))}, which is no question of it"
    if len(found) != len(bundle.verdicts):
        yield "holds two verdicts on one answer"
    own = (judge.judge, judge.rubric, judge.rubric_version, judge.rubric_hash, bundle.run.planner)
    for key, verdict in found.items():
        rubric = (verdict.rubric, verdict.rubric_version, verdict.rubric_hash)
        if (verdict.judge, *rubric, verdict.planner) != own:
            yield f"the verdict on {_words(key)} is not by this judge and rubric, or on another planner"
        if wrong := wrong_votes(judge, verdict):
            yield f"the verdict on {_words(key)} {wrong}"
        if verdict.fault or verdict.transient:
            yield f"the verdict on {_words(key)} is missing by what is no doing of the judge"
        pair = [answers.get((key[0], arm, key[2])) for arm in ("original", answer_in(key[1]))]
        texts = dict(zip(ANSWER_NAMES, (one.text if one else "" for one in pair), strict=True))
        if any(vote.raw for vote in verdict.votes) and verdict.notes != cut_notes(texts):
            yield f"the verdict on {_words(key)} has notes on what was cut that do not fit the answers"
        failed = any(one is not None and one.status == "failed" for one in pair)
        if failed != (verdict.status == "planner_failed"):
            said = "failed" if failed else "did not fail"
            yield f"the verdict on {_words(key)} says '{verdict.status}', but the planner {said} there"


def _reread(bundle: Bundle, rubric: Rubric) -> int:
    """How many verdicts follow from the judge's stored replies.

    Raises:
        InputError: one does not.
    """
    count = 0
    for verdict in bundle.verdicts:
        if not any(vote.raw for vote in verdict.votes):
            continue
        again = rescored(verdict, rubric)
        key = (verdict.case_id, verdict.arm, verdict.repeat)
        if (again.status, again.scores) != (verdict.status, verdict.scores):
            raise InputError(
                f"{bundle.path}: the verdict on {_words(key)} says "
                f"{verdict.status} {_scores(verdict)}, but its own reply reads {again.status} {_scores(again)}: "
                "it was changed, or judged by another version: run cfgen judge rescore, and export it again"
            )
        if field := next(_other_words(verdict, again), ""):
            raise InputError(
                f"{bundle.path}: '{field}' of the verdict on {_words(key)} is not what its own reply says: it was "
                "changed; ask whoever wrote the bundle for the one that cfgen wrote"
            )
        count += 1
    return count


def _other_words(verdict: Verdict, again: Verdict) -> Iterator[str]:
    """Fields in which a verdict is not that of its reply."""
    return (name for name in Verdict.model_fields if getattr(verdict, name) != getattr(again, name))


def _figures(bundle: Bundle) -> Figures:
    index = bundle.index
    blocks = {case_id: case.block for case_id, case in index.cases.items()}
    return Figures.of(bundle.verdicts, index.cases, blocks, index.scores, index.floor)


def _by_key(answers: tuple[Rollout, ...]) -> dict[Key, Rollout]:
    return {(one.case_id, one.arm, one.repeat): one for one in answers}


def _rubric(name: str, version: str, told: str) -> str:
    return f"{name} {version} ({told[:19]})"


def _words(key: Key) -> str:
    return f"{key[1]} of case {key[0]}, repeat {key[2]}"


def _scores(verdict: Verdict) -> str:
    return "/".join(str(score) for score in verdict.scores.values()) or "-"
