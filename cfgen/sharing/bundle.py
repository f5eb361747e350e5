"""``cfgen share bundle``: what one planner answered and one judge said of it, to recheck, judge again, and rank.

One archive of records: answers, verdicts, the judge with its wording and probe, the planner with its fingerprint,
hashes of the cases, and the figures that follow. No pixel: who holds the benchmark has those, and its hash says whether
it is the same.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from cfgen.core.errors import InputError, StoreError, did_you_mean
from cfgen.core.files import explain, must_be_new, read_each, read_record
from cfgen.core.hashing import canonical_json, hash_bytes, hash_json
from cfgen.core.machine import environment
from cfgen.judge.derivation import contradictions
from cfgen.judge.registry import stored_judge
from cfgen.judge.rubrics.hazard import HazardRubric
from cfgen.judge.rubrics.registry import Rubric, bounds_overall
from cfgen.judge.stored_verdicts import scored_as, stored_verdicts, unscored
from cfgen.metrics.intervals import Difference, Rate, blocks_of
from cfgen.metrics.success import dimensions_scored, response, success_row, successes
from cfgen.records import (
    CONTROLS,
    DIMENSIONS,
    PLAN_DT,
    Arm,
    Case,
    Dimension,
    Identifier,
    JudgeRun,
    PlannerRun,
    ProbeRun,
    Record,
    Rollout,
    Sha256,
    Stored,
    Verdict,
    judged_as,
)
from cfgen.scenes.folder import load_scene
from cfgen.sharing.archive import new_archive, read_files, undated
from cfgen.sharing.definitions import case_hash
from cfgen.storage.store import Store
from cfgen.version import __version__


class Share(Record):
    """A share or a difference over ``n`` cases with its 95% interval; all three None without cases."""

    n: int
    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, estimate: Rate | Difference) -> Self:
        return cls(n=estimate.n, value=estimate.value, low=estimate.low, high=estimate.high)


class Figures(Record):
    """One row of a leaderboard; see :class:`cfgen.metrics.success.SuccessRow` and its ``ResponseRates``.

    Attributes:
        leading: the last score that the judge gives, of which ``above`` is hit rate minus false-alarm rate, -1..1.
    """

    n: int
    excluded: int
    judge_failed: int
    planner_failed: int
    rates: dict[Dimension, Share]
    leading: Dimension
    above: Share
    controls: dict[str, Share]

    @classmethod
    def of(
        cls,
        verdicts: Sequence[Verdict],
        blocks: Mapping[str, str],
        scores: Collection[Dimension],
    ) -> Self:
        """
        Args:
            verdicts: of one planner by one judge, in every pair. blocks: of every case, for the intervals.
            scores: what the judge scores.
        """
        by_pair: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            by_pair.setdefault(verdict.arm, []).append(verdict)
        row = success_row("", "", "hazard", by_pair.get("hazard", []), list(blocks), blocks, scores)
        leading = next((d for d in reversed(DIMENSIONS) if row.rates[d].n), DIMENSIONS[-1])

        def of(arm: str) -> dict[str, float]:
            return successes(by_pair.get(judged_as(arm), ()), leading, scores)

        rates = response(of("hazard"), {arm: of(arm) for arm in CONTROLS}, blocks)
        return cls(
            n=row.n,
            excluded=row.excluded,
            judge_failed=row.judge_failed,
            planner_failed=row.planner_failed,
            rates={d: Share.of(row.rates[d]) for d in DIMENSIONS},
            leading=leading,
            above=Share.of(rates.difference),
            controls={arm: Share.of(rate) for arm, rate in rates.controls.items()},
        )

    def differs(self, claimed: "Figures") -> str:
        """Which figure is told otherwise by more than machines round otherwise; "" where all are the same."""
        mine, theirs = dict(_flat(self.model_dump())), dict(_flat(claimed.model_dump()))
        for name in {**mine, **theirs}:
            own, claim = mine.get(name), theirs.get(name)
            rounded = (
                isinstance(own, float) and isinstance(claim, float) and isclose(own, claim, abs_tol=1e-9)
            )
            if own != claim and not rounded:
                return f"{name} {claim}, but its verdicts give {own}"
        return ""


def _flat(content: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, object]]:
    """Each value by its path."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name} ")
        else:
            yield above + name, value


# --- bundle ------------------------------------------------------------------------------------
FORMAT = "cfgen bundle 1"
#: bytes of one answer or verdict: of its words cfgen keeps a million characters, of what it reports as many
MOST_RECORD = 2**25
INDEX, PLANNER, JUDGE, PROBE = "bundle.json", "planner.json", "judge.json", "probe.json"
ANSWERS, VERDICTS = "answers.jsonl", "verdicts.jsonl"
#: file -> whether every bundle has it
FILES = {INDEX: True, PLANNER: True, JUDGE: True, PROBE: False, ANSWERS: True, VERDICTS: True}
#: (case, arm or judged pair, repeat)
Key = tuple[str, str, int]
R = TypeVar("R", bound=BaseModel)


class RubricText(Record):
    """What a model judge was told, and what of it makes the rubric again where the rubric is one's own file."""

    name: str
    version: str
    hash: Sha256
    #: form of the answer -> the instructions
    system: dict[str, str]
    again: str
    answer: dict[str, Any]
    bounds_overall: bool
    #: opening, steps and scales of a rubric of our shape
    own: dict[str, Any] | None = None


class BundledCase(Record):
    """``hash``: as in definitions; ``block``: for intervals; ``arms``: that it has, besides the original."""

    hash: Sha256
    block: str
    arms: tuple[Arm, ...]


class Index(Record):
    """``bundle.json``. ``files``: of the others in the archive; ``figures``: as claimed; readers derive them again."""

    format: str
    cfgen_version: str
    planner: Identifier
    judge: Identifier
    benchmark: Sha256
    cases: dict[Identifier, BundledCase]
    #: in words, what a block is
    blocks: str
    arms: tuple[Arm, ...]
    #: of the shortest plan, s
    horizon_s: float
    #: what the judge scores, by its verdicts on all planners
    scores: tuple[Dimension, ...]
    wording: RubricText
    #: of who wrote it: versions of Python, cfgen and what computes
    environment: dict[str, str]
    figures: Figures
    files: dict[str, Sha256]


@dataclass(frozen=True)
class Bundle:
    """A bundle's content, where it has the right shape; `cfgen.sharing.bundle_checks.prove` says whether it holds."""

    path: Path
    index: Index
    run: PlannerRun
    judge: JudgeRun
    probe: ProbeRun | None
    answers: tuple[Rollout, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def judge_hash(self) -> Sha256:
        """Of who judged with which options, whatever its folder is called."""
        return hash_json([self.judge.spec, self.judge.options, self.judge.rubric_hash])


def expected(
    cases: "Mapping[str, BundledCase | Case]", run: PlannerRun, arms: Iterable[str]
) -> Iterator[Key]:
    """Every question of these arms that the planner was asked."""
    answered = [arm for arm in arms if arm in run.arms]
    for case_id, case in cases.items():
        for arm in answered:
            if arm in ("original", "rerun", *case.arms):
                yield from ((case_id, arm, repeat) for repeat in range(run.repeats))


# --- writing ----------------------------------------------------------------------------------------------


def export_bundle(
    store: Store,
    planner: str,
    judge: str,
    out: Path,
    rubric: str | None = None,
    hashes: Mapping[str, Sha256] | None = None,
) -> Bundle:
    """Write ``out``, whole or not at all.

    Args:
        judge: its folder under ``verdicts/``. rubric: the file of its wording, where that is no installed one.
        hashes: of the cases, where they were derived from these files already.

    Raises:
        InputError: no such planner or judge here, or ``out`` is there.
        StoreError: answers or verdicts are missing or damaged, cfgen broke on some, or a verdict is not what derives
            from the answers: names how to get them.
    """
    must_be_new(out)
    run, judged, wording = _run_and_judge(store, planner, judge, rubric)
    name, folder = run.planner, judged.judge
    cases = {case.case_id: case for case in store.cases()}
    answers, verdicts = _records(store, run, folder, cases)
    if wrong := next(contradictions(store, folder, name, wording), ""):
        raise StoreError(wrong)
    blocks, in_words = blocks_of({i: load_scene(store.scene_dir(c.scene_id)).scene for i, c in cases.items()})
    hashes = hashes or {}
    bundled = {
        i: BundledCase(hash=hashes.get(i) or case_hash(store, case), block=blocks[i], arms=case.arms)
        for i, case in cases.items()
    }
    files: dict[str, bytes] = {
        # its salt would tell which seed belonged to which arm
        PLANNER: canonical_json(run.model_copy(update={"salt": ""})),
        JUDGE: canonical_json(judged),
        ANSWERS: _lines(answers),
        VERDICTS: _lines(verdicts),
    }
    if store.probe_path(folder).is_file():
        files[PROBE] = canonical_json(read_record(store.probe_path(folder), ProbeRun, check=True))
    scores = dimensions_scored(stored_verdicts(store, folder, "*"))
    index = Index(
        format=FORMAT,
        cfgen_version=__version__,
        planner=name,
        judge=folder,
        benchmark=benchmark_hash({case_id: case.hash for case_id, case in bundled.items()}),
        cases=bundled,
        blocks=in_words,
        arms=run.arms,
        horizon_s=horizon_of(answers),
        scores=scores,
        wording=wording_of(wording),
        environment=environment(),
        figures=Figures.of(verdicts, blocks, scores),
        files={file: hash_bytes(content) for file, content in files.items()},
    )
    with new_archive(out) as archive:
        for file, content in {INDEX: canonical_json(index), **files}.items():
            archive.writestr(undated(file), content)
    return read_bundle(out)


def _run_and_judge(
    store: Store, planner: str, judge: str, rubric: str | None
) -> tuple[PlannerRun, JudgeRun, Rubric]:
    name = scored_as(store, planner)
    if not store.planner_run_path(name).is_file():
        raise InputError(f"planner '{planner}': has no answers in {store.root}; {unscored(store, planner)}")
    folder, wording = stored_judge(store, judge, rubric)
    if not store.judge_run_path(folder).is_file():
        judges = sorted(run.judge for run in store.judge_runs())
        raise InputError(
            f"judge '{judge}': has no verdicts in {store.root}; expected one of: {', '.join(judges) or 'none yet'}"
            f"{did_you_mean(judge, judges)}; or judge first: cfgen judge run {store.root} --planners {name} "
            "--judge NAME"
        )
    run = read_record(store.planner_run_path(name), PlannerRun, check=True)
    judged = read_record(store.judge_run_path(folder), JudgeRun, check=True)
    if wording.id.hash != judged.rubric_hash:
        raise StoreError(
            f"{store.judge_run_path(folder)}: '{folder}' judged by {judged.rubric} {judged.rubric_version} in other "
            "words than it has here; give its file with --rubric, or judge again with this cfgen"
        )
    return run, judged, wording


def benchmark_hash(cases: Mapping[str, Sha256]) -> Sha256:
    """Over what definitions tell of every case: scene, hazard, placement and the pixels of all arms."""
    return hash_json(dict(cases))


def horizon_of(answers: Iterable[Rollout]) -> float:
    """Of the shortest plan, s; 0 without any."""
    return PLAN_DT * min((len(answer.plan.waypoints) for answer in answers if answer.plan), default=0)


def _records(
    store: Store, run: PlannerRun, judge: str, cases: Mapping[str, Case]
) -> tuple[list[Rollout], list[Verdict]]:
    """All that were expected, in order.

    Raises:
        StoreError: one is missing or damaged, or asking again could mend it.
    """
    again = f"cfgen score {store.root} --planner {run.spec} --judge {judge} --retry-failed"
    questions = list(expected(cases, run, run.arms))
    pairs = [(case, judged_as(arm), k) for case, arm, k in questions if arm != "original"]
    answers = _read([store.rollout_path(run.planner, arm, c, k) for c, arm, k in questions], Rollout, again)
    verdicts = _read(
        [store.verdict_path(judge, run.planner, arm, c, k) for c, arm, k in pairs], Verdict, again
    )
    if not questions:
        raise StoreError(f"{store.root}: holds no accepted case; run: cfgen build --out {store.root}")
    unfinished = [a for a in answers if a.fault] + [v for v in verdicts if v.fault or v.transient]
    if unfinished:
        raise StoreError(
            f"{store.root}: {len(unfinished)} answers or verdicts failed by what is no doing of planner or judge "
            f"({unfinished[0].reason[:120]}); ask these again first: {again}"
        )
    return answers, verdicts


def _read(paths: Sequence[Path], kind: type[Any], again: str) -> list[Any]:
    if missing := [path for path in paths if not path.is_file()]:
        raise StoreError(
            f"{missing[0]}: is missing, as are {len(missing) - 1} of the other {len(paths) - 1}: a bundle is of a "
            f"finished run; finish it first: {again.removesuffix(' --retry-failed')}"
        )
    records = []
    for _, record in read_each(paths, kind):
        if isinstance(record, StoreError):
            raise record
        records.append(record)
    return records


def wording_of(rubric: Rubric) -> RubricText:
    """What a bundle holds of it."""
    own = None
    if isinstance(rubric, HazardRubric):
        words = rubric.wording
        scales = {name: {str(k): v for k, v in scale.items()} for name, scale in words.scales.items()}
        own = {"opening": words.opening, "steps": dict(words.steps), "scales": scales}
    return RubricText(
        name=rubric.id.name,
        version=rubric.id.version,
        hash=rubric.id.hash,
        system={"tags": rubric.system("tags"), "json": rubric.system("json")},
        again=rubric.again("{problem}"),
        answer=dict(rubric.schema),
        bounds_overall=bounds_overall(rubric),
        own=own,
    )


def _lines(records: Iterable[Stored]) -> bytes:
    return b"".join(canonical_json(record) + b"\n" for record in records)


# --- reading ----------------------------------------------------------------------------------------------


def read_bundle(path: Path) -> Bundle:
    """One from a stranger: bounded, whole, and of records that have the right shape.

    Raises:
        InputError: names ``path`` and what is wrong with it.
    """
    files = read_files(path, "a bundle of 'cfgen share bundle'", FILES)
    index = _record_of(path, INDEX, files[INDEX], Index)
    if index.format != FORMAT:
        raise InputError(
            f"{path}: expected format '{FORMAT}', found {index.format[:40]!r}; read it with cfgen "
            f"{index.cfgen_version[:20]}"
        )
    hashes = {name: hash_bytes(content) for name, content in files.items() if name != INDEX}
    if wrong := sorted({*hashes.items()} ^ {*index.files.items()}):
        raise InputError(f"{path}: {wrong[0][0][:80]}: is not the file that {INDEX} tells of; fetch it again")
    return Bundle(
        path,
        index,
        _record_of(path, PLANNER, files[PLANNER], PlannerRun),
        _record_of(path, JUDGE, files[JUDGE], JudgeRun),
        _record_of(path, PROBE, files[PROBE], ProbeRun) if PROBE in files else None,
        tuple(_each(path, ANSWERS, files[ANSWERS], Rollout)),
        tuple(_each(path, VERDICTS, files[VERDICTS], Verdict)),
    )


def _each(path: Path, name: str, content: bytes, kind: type[R]) -> Iterator[R]:
    for number, line in enumerate(content.splitlines(), 1):
        if len(line) > MOST_RECORD:
            raise InputError(
                f"{path}: {name}, line {number}: expected a record of at most {MOST_RECORD >> 20} MiB, found "
                f"{len(line) >> 20} MiB; refused"
            )
        yield _record_of(path, f"{name}, line {number}", line, kind)


def _record_of(path: Path, name: str, content: bytes, kind: type[R]) -> R:
    """Of canonical JSON: no number in it that is none, no key twice."""
    try:
        value = json.loads(content)
        if canonical_json(value) != content:
            raise ValueError("not as cfgen writes it")
        return kind.model_validate(value)
    except RecursionError:
        raise InputError(f"{path}: {name}: expected a record, found one that is nested too deep") from None
    except ValueError as error:
        why = explain(error) if isinstance(error, ValidationError) else str(error)[:120]
        raise InputError(f"{path}: {name}: expected a record, found one that is none ({why})") from error
