"""Verdicts as they are stored: damaged ones keep their place, and failures are counted by their reason."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cfgen.core.disk_backed import indexed, with_mtime_keys
from cfgen.core.errors import StoreError, did_you_mean
from cfgen.core.faults import fault_of
from cfgen.core.files import read_each
from cfgen.core.hashing import hash_json
from cfgen.judge.combine import SUPERSEDED, combine, faulted
from cfgen.judge.protocol import RubricId, VerdictKey
from cfgen.judge.rubrics.registry import Rubric, bounds_overall
from cfgen.records import Dimension, Score, Verdict, Vote
from cfgen.storage.store import Store

#: but the status of a reply, which tells one cause from another
_NUMBER = re.compile(r"(?i)(?<!answered )(?<!http )(?<![\d.])\d+(?:\.\d+)?")
_NO_RUBRIC = RubricId("", "", hash_json(None))
#: changes with :class:`ShortVerdict`
_VERDICTS = "verdicts 1"


@dataclass(frozen=True)
class ShortVerdict:
    """What counts and lists need of a :class:`Verdict`. ``broke``: the kind of its fault, or ""."""

    planner: str
    case_id: str
    arm: str
    repeat: int
    status: str
    scores: Mapping[Dimension, Score | None]
    reason: str
    transient: bool
    broke: str

    @classmethod
    def of(cls, verdict: Verdict) -> "ShortVerdict":
        key = (verdict.planner, verdict.case_id, verdict.arm, verdict.repeat)
        broke = verdict.fault.kind if verdict.fault else ""
        return cls(*key, verdict.status, verdict.scores, verdict.reason, verdict.transient, broke)


def short_verdicts(store: Store, judge: str, planner: str) -> list[ShortVerdict]:
    """Every verdict of a judge on one planner, in the order of their paths, damaged ones as :func:`stored_verdicts`.

    Read again only where a file changed (:mod:`cfgen.core.disk_backed`).
    """
    folder = store.root / "verdicts" / judge / planner

    def learn(names: Sequence[str]) -> Iterator[dict[str, Any]]:
        for path, verdict in read_each((folder / name for name in names), Verdict):
            readable = _damaged(path, verdict, judge) if isinstance(verdict, StoreError) else verdict
            yield asdict(ShortVerdict.of(readable))

    stamps = with_mtime_keys(
        (f"{path.parent.name}/{path.name}", str(path)) for path in store.verdict_paths(judge, planner)
    )
    return [ShortVerdict(**fields) for fields in indexed(folder, _VERDICTS, stamps, learn).values()]


def stored_verdicts(store: Store, judge: str, planner: str, arm: str = "*") -> list[Verdict]:
    """Every verdict, in the order of their paths; where the record is damaged, one that failed, with the fault."""
    return list(each_verdict(store, judge, planner, arm))


def each_verdict(store: Store, judge: str, planner: str, arm: str = "*") -> Iterator[Verdict]:
    """As :func:`stored_verdicts`, one at a time."""
    for path, verdict in read_each(store.verdict_paths(judge, planner, arm), Verdict):
        yield _damaged(path, verdict, judge) if isinstance(verdict, StoreError) else verdict


def scored_as(store: Store, planner: str) -> str:
    """The name under which a planner is stored here: its own, or the one that ends in it ("my_module.MyPlanner")."""
    scored = [path.name for path in store.root.glob("runs/*") if path.is_dir()]
    meant = planner.replace(":", ".")
    matches = [name for name in scored if name == meant or name.endswith(f".{meant}")]
    return planner if planner in scored or len(matches) != 1 else matches[0]


def unscored(store: Store, planner: str) -> str:
    """What to do about a planner that has no answer here: the name that was meant, or the command that scores it."""
    scored = sorted(path.name for path in store.root.glob("runs/*") if path.is_dir())
    if planner in scored or not scored:
        return f"score it first: cfgen score {store.root} --planner {planner}"
    near = next((name for name in scored if name.endswith(f".{planner}")), "")
    meant = f" (did you mean '{near}'?)" if near else did_you_mean(planner, scored)
    return f"scored here: {', '.join(scored)}{meant}; score it first: cfgen score {store.root} --planner {planner}"


def _damaged(path: Path, error: StoreError, judge: str) -> Verdict:
    """In the place that its path names."""
    case_id, _, repeat = path.stem.rpartition(".")
    planner, arm = path.parts[-3:-1]
    key = VerdictKey(planner, case_id or path.stem, arm, int(repeat) if repeat.isdecimal() else 0)
    return faulted(key, _NO_RUBRIC, judge, fault_of(error, key.words))


@dataclass(frozen=True)
class JudgeFailures:
    """Why verdicts are missing.

    Attributes:
        asked: verdicts that the judge was asked for: all but those on a planner's failure.
        reasons: why it gave no usable reply, one reason for all that differ in numbers -> how many. faults: the same of
            what broke.
        transient: failures, not faults, that asking again could mend.
    """

    asked: int
    reasons: dict[str, int]
    faults: dict[str, int]
    transient: int

    @property
    def failed(self) -> int:
        return sum(self.reasons.values()) + sum(self.faults.values())

    @property
    def short(self) -> bool:
        """Whether the job fell short: verdicts are missing."""
        return self.failed > 0

    def lines(self, command: str) -> list[str]:
        """For a terminal; ``command`` asks again."""
        lines = [f"{count:>6}  no usable reply: {reason}" for reason, count in _most(self.reasons)]
        lines += [f"{count:>6}  fault: {kind}" for kind, count in _most(self.faults)]
        if 0 < self.asked == self.failed:
            lines.append(f"Nothing was judged: all {self.asked} verdicts failed.")
        if self.transient:
            lines.append(f"{self.transient} of {self.failed} could be mended by asking again: {command}")
        elif self.failed:
            lines.append(f"Once the cause is mended, ask again: {command}")
        return lines


def judge_failures(verdicts: Iterable[ShortVerdict]) -> JudgeFailures:
    """Of verdicts by one judge on one planner."""
    answered = [v for v in verdicts if v.status != "planner_failed"]
    failed = [v for v in answered if v.status == "failed"]
    replies = [v for v in failed if not v.broke]
    return JudgeFailures(
        asked=len(answered),
        reasons=_examples([v.reason for v in replies]),
        faults=dict(Counter(v.broke for v in failed if v.broke)),
        transient=sum(v.transient for v in replies),
    )


def _examples(reasons: Iterable[str]) -> dict[str, int]:
    """Reasons that differ in numbers alone are counted together, under the first of them as it was given."""
    kinds: dict[str, Counter[str]] = {}
    for reason in reasons:
        line = " ".join(reason.split())
        kinds.setdefault(_NUMBER.sub("#", line)[:160], Counter())[line] += 1
    return {max(lines, key=lines.__getitem__)[:300]: lines.total() for lines in kinds.values()}


def _most(counts: dict[str, int]) -> list[tuple[str, int]]:
    return Counter(counts).most_common(8)


# --- rescore -----------------------------------------------------------------------------------
# Stored replies read again, without a call: after a parser or the combining rules have changed.


def rescored(verdict: Verdict, rubric: Rubric) -> Verdict:
    """The verdict that its own raw replies give now, read by ``rubric``. Votes without a raw reply stay as they are.

    The rubric's version and hash stay those of the wording that was asked.
    """
    if verdict.status == "planner_failed" or not verdict.votes:
        return verdict
    key = VerdictKey(verdict.planner, verdict.case_id, verdict.arm, verdict.repeat)
    rubric_id = RubricId(verdict.rubric, verdict.rubric_version, verdict.rubric_hash)
    votes = [_reread(v, rubric) for v in verdict.votes]
    combined = combine(key, rubric_id, verdict.judge, votes, verdict.input_hash, bounds_overall(rubric))
    return combined.model_copy(update={"notes": verdict.notes})


def _reread(vote: Vote, rubric: Rubric) -> Vote:
    cut_or_refused = vote.status == "failed" and vote.reason.startswith(("cut off", "refused"))
    if not vote.raw or cut_or_refused:
        return vote
    parsed = rubric.parse(vote.raw, vote.model)
    flags = tuple(f for f in vote.flags if f == SUPERSEDED)
    return parsed.model_copy(update={"usage": vote.usage, "flags": (*parsed.flags, *flags)})
