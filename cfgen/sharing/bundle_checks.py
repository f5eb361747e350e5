"""Whether a bundle holds: its figures are derived again from its verdicts, its scores from the judge's own replies.

Whoever writes a whole new bundle, replies and all, is not found out; each row of a leaderboard says who vouches for it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from cfgen.core.errors import CfgenError, InputError
from cfgen.core.network import without_secrets
from cfgen.judge.derivation import contradiction, read_again, wrong_options
from cfgen.judge.rubrics.hazard import HazardRubric, Wording
from cfgen.judge.rubrics.registry import RUBRICS, Rubric, create_rubric
from cfgen.records import Rollout, Verdict, answer_in, judged_as
from cfgen.sharing.bundle import (
    Bundle,
    Figures,
    Key,
    RubricText,
    benchmark_hash,
    expected,
    horizon_of,
    wording_of,
)


@dataclass(frozen=True)
class Proof:
    """What was derived again.

    Attributes:
        figures: out of the verdicts. rubric: whether the judge's own was there to read replies by.
        reread: verdicts that follow from stored replies of the judge; the others rest on the word of who wrote the
            bundle, of so many ``scored``.
    """

    figures: Figures
    rubric: bool
    reread: int
    scored: int


def prove(bundle: Bundle) -> Proof:
    """
    Raises:
        InputError: names the bundle and the first claim that does not hold.
    """
    rubric = rubric_of(bundle.index.wording)
    if wrong := next(_contradictions(bundle, rubric), ""):
        raise InputError(
            f"{bundle.path}: {wrong}; it does not verify: ask whoever wrote it for the one that cfgen wrote"
        )
    reread = sum(_has_reply(verdict) for verdict in bundle.verdicts) if rubric else 0
    scored = sum(v.status in ("scored", "unknown", "failed") for v in bundle.verdicts)
    return Proof(_figures(bundle), rubric is not None, reread, scored)


def _figures(bundle: Bundle) -> Figures:
    index = bundle.index
    blocks = {case_id: case.block for case_id, case in index.cases.items()}
    return Figures.of(bundle.verdicts, blocks, index.scores)


def rubric_of(wording: RubricText) -> Rubric | None:
    """The installed rubric of this name and hash, or else what the words in the bundle make; None where neither is."""
    if wording.name in RUBRICS.names():
        with suppress(CfgenError):
            if (installed := create_rubric(wording.name)).id.hash == wording.hash:
                return installed
    if wording.own is None or set(wording.own) != {"opening", "steps", "scales"}:
        return None
    try:
        own = wording.own
        scales = {name: {int(k): v for k, v in scale.items()} for name, scale in own["scales"].items()}
        words = Wording(own["opening"], own["steps"], scales, wording.again)  # type: ignore[arg-type]
        rubric = HazardRubric(wording.name, wording.version, words, bounds_overall=wording.bounds_overall)
        return rubric if wording_of(rubric) == wording else None
    except (AttributeError, TypeError, ValueError, KeyError):
        return None


def _contradictions(bundle: Bundle, rubric: Rubric | None) -> Iterator[str]:
    """Each claim that does not hold, in words."""
    index, run, judge = bundle.index, bundle.run, bundle.judge
    hashes = {case_id: case.hash for case_id, case in index.cases.items()}
    if benchmark_hash(hashes) != index.benchmark:
        yield f"names benchmark {index.benchmark[:19]}, but its cases give {benchmark_hash(hashes)[:19]}"
    if (run.planner, judge.judge) != (index.planner, index.judge):
        yield f"is of '{index.planner}' by '{index.judge}', but holds '{run.planner}' by '{judge.judge}'"
    wording = (index.wording.name, index.wording.version, index.wording.hash)
    if (judge.rubric, judge.rubric_version, judge.rubric_hash) != wording:
        yield f"the rubric is not the one that the judge names: {wording[0]} {wording[1]} ({wording[2][:19]})"
    if run.arms != index.arms:
        yield "arms are not those that the planner was asked with"
    for who, secret in (("judge", [judge.options, judge.spec]), ("planner", [run.fingerprint, run.spec])):
        if _leaks(secret):
            yield (
                f"its {who} has an address with a password or a query, which may hold a key: nobody should publish it; "
                "run it again with the key in the environment"
            )
    yield from _wrong_records(bundle)
    if wrong := wrong_options(judge):
        yield wrong
    yield from _wrong_scores(bundle, rubric)
    if abs(horizon_of(bundle.answers) - index.horizon_s) > 1e-9:
        yield f"claims plans of {index.horizon_s:g} s, but its shortest is of {horizon_of(bundle.answers):g} s"
    if differs := _figures(bundle).differs(index.figures):
        yield f"claims {differs}"


def _leaks(value: object) -> bool:
    """Whether an address in it holds more than a place."""
    if isinstance(value, Mapping):
        return any(map(_leaks, (*value, *value.values())))
    if isinstance(value, (list, tuple)):
        return any(map(_leaks, value))
    return isinstance(value, str) and without_secrets(value) != value


def _wrong_records(bundle: Bundle) -> Iterator[str]:
    """Each question was answered and judged once, by this planner, judge and rubric."""
    run, judge = bundle.run, bundle.judge
    answered = list(expected(bundle.index.cases, run, run.arms))
    judged = ((c, judged_as(arm), k) for c, arm, k in answered if arm != "original")
    records: tuple[tuple[str, tuple[Rollout | Verdict, ...], Iterable[Key]], ...] = (
        ("answer to", bundle.answers, answered),
        ("verdict on", bundle.verdicts, judged),
    )
    for what, given, questions in records:
        counts = Counter((r.case_id, r.arm, r.repeat) for r in given)
        for key in questions:
            if (n := counts.pop(key, 0)) != 1:
                yield f"holds {n or 'no'} {what} {_words(key)}, expected one"
        if counts:
            yield f"holds an {what} {_words(min(counts))}, which is no question of it"
    if any((a.planner, a.planner_hash) != (run.planner, run.planner_hash) for a in bundle.answers):
        yield f"holds an answer that is not by this '{run.planner}'"
    own = (judge.judge, judge.rubric, judge.rubric_version, judge.rubric_hash, run.planner)
    for v in bundle.verdicts:
        if (v.judge, v.rubric, v.rubric_version, v.rubric_hash, v.planner) != own:
            key = (v.case_id, v.arm, v.repeat)
            yield f"the verdict on {_words(key)} is not by this judge and rubric, or on another planner"


def _wrong_scores(bundle: Bundle, rubric: Rubric | None) -> Iterator[str]:
    """Verdicts that do not follow from the answers, the judge's stored replies, or its votes."""
    answers = {(a.case_id, a.arm, a.repeat): a for a in bundle.answers}
    for v in bundle.verdicts:
        pair = (answers[v.case_id, "original", v.repeat], answers[v.case_id, answer_in(v.arm), v.repeat])
        if wrong := contradiction(v, pair, partial(read_again, rubric)):
            where = _words((v.case_id, v.arm, v.repeat))
            yield f"the verdict on {where}: {wrong}; run cfgen judge rescore, and export it again"


def _has_reply(verdict: Verdict) -> bool:
    return any(vote.raw for vote in verdict.votes)


def _words(key: Key) -> str:
    return f"{key[1]} of case {key[0]}, repeat {key[2]}"
