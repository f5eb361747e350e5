"""A judge x people's ratings -> how far they agree. Readable top to bottom.

Calibration cases serve to tune the rubric's wording. They must not be in a benchmark that the rubric then scores.
"""

import csv
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from cfgen.core.errors import InputError, StoreError
from cfgen.core.files import faults_of, read_each, read_record, told, write_record
from cfgen.core.hashing import hash_json
from cfgen.judge.stored_verdicts import stored_verdicts
from cfgen.metrics.agreement import comparison, consensus
from cfgen.records import (
    ADJUDICATED,
    DIMENSIONS,
    Calibration,
    Dimension,
    Identifier,
    JudgedPair,
    JudgeRun,
    RaterAgreement,
    Rating,
    RatingFile,
    Score,
    Verdict,
)
from cfgen.storage.store import Store

#: planner, case, arm, repeat
Key = tuple[str, str, str, int]
Scores = Mapping[Dimension, Score | None]
Ratings = dict[str, dict[Key, Scores]]

#: arms whose frames show nothing new; they are rated and judged no more, but older records are
_UNCHANGED = ("null", "rerun")
_SAID: dict[str, Score | None] = {"0": 0, "1": 1, "2": 2, "": None, "UNKNOWN": None}


def calibrate(bench: Path, judge: str, benchmarks: Sequence[Path] = ()) -> Calibration:
    """Compare ``judge``'s stored verdicts in ``bench`` with the ratings there.

    Writes ``verdicts/<judge>/calibration.json`` in ``bench`` and in ``benchmarks``, and returns it.

    Args:
        benchmarks: directories that the calibrated judge is to score; none may hold a rated scene.

    Raises:
        InputError: no ratings, no verdicts on rated answers, or a rated scene in one of ``benchmarks``.
        StoreError: one of ``benchmarks`` has verdicts of that name by another wording, model or options.
    """
    store, benchmark_stores = Store(bench), [Store(b) for b in benchmarks]
    damaged: list[str] = []
    everybody = _people(store, damaged)
    people = {rater: answers for rater, answers in everybody.items() if rater != ADJUDICATED}
    decided = everybody.get(ADJUDICATED, {})
    scenes = _rated_scenes(store, people)
    kept_from = [_kept_apart(scenes, benchmark) for benchmark in benchmark_stores]
    verdicts = _verdicts(store, judge, people)
    run = read_record(store.judge_run_path(judge), JudgeRun)
    scored = {k: v.scores for k, v in verdicts.items() if v.status == "scored"}
    raters: dict[str, Mapping[Key, Scores]] = {**people, judge: scored}
    against = {d: _against_majority(people, decided, raters[judge], d) for d in DIMENSIONS}
    calibration = Calibration(
        judge=judge,
        rubric_hash=run.rubric_hash,
        raters=tuple(people),
        n=len(verdicts),
        unscored=sum(_lacks_scores(v) for v in verdicts.values()),
        against_people={d: calibration for d, (calibration, _) in against.items()},
        split={d: split for d, (_, split) in against.items()},
        pairs={
            d: {f"{a} ~ {b}": _pair(raters[a], raters[b], d) for a, b in combinations(raters, 2)}
            for d in DIMENSIONS
        },
        scenes=tuple(sorted(scenes)),
        kept_from=tuple(kept_from),
        damaged=tuple(damaged + [str(v.fault) for v in verdicts.values() if v.fault]),
    )
    write_record(store.calibration_path(judge), calibration, store.work)
    for benchmark in benchmark_stores:
        benchmark.register_judge(run)
        write_record(benchmark.calibration_path(judge), calibration, benchmark.work)
    return calibration


def _people(store: Store, damaged: list[str]) -> Ratings:
    """rater -> answer -> scores; the last entry of each history counts. What cannot be read goes to ``damaged``."""
    people: Ratings = {}
    for _, file in read_each(store.rating_paths(), RatingFile):
        if isinstance(file, StoreError):
            damaged.append(str(file))
        elif file.history:
            answer = (file.planner, file.case_id, file.arm, file.repeat)
            people.setdefault(file.rater, {})[answer] = file.history[-1].scores
    if not people:
        raise InputError(
            f"{store.root}: holds no ratings; rate answers in the app (cfgen app), or add a file of them: "
            "cfgen campaign import"
        )
    return people


def _rated_scenes(store: Store, people: Ratings) -> dict[str, str]:
    """Content hash -> scene id of every scene behind a rated answer."""
    rated = {case_id for answers in people.values() for _, case_id, _, _ in answers}
    return {c.provenance.scene_hash: c.scene_id for c in store.cases() if c.case_id in rated}


def _kept_apart(scenes: Mapping[str, str], benchmark: Store) -> str:
    """Hash of the other benchmark's scenes, none of which was rated."""
    hashes = benchmark.benchmark.scenes
    shared = sorted(scenes[h] for h in hashes.values() if h in scenes)
    if shared:
        raise InputError(
            f"{benchmark.root}: holds {len(shared)} of the scenes that the judge is calibrated on, for example "
            f"'{shared[0]}'; build it from other scenes, or calibrate on others"
        )
    return hash_json(dict(hashes))


def _verdicts(store: Store, judge: str, people: Ratings) -> dict[Key, Verdict]:
    rated = {answer for answers in people.values() for answer in answers}
    verdicts = {
        (v.planner, v.case_id, v.arm, v.repeat): v
        for planner in sorted({planner for planner, *_ in rated})
        for v in stored_verdicts(store, judge, planner)
        if (v.planner, v.case_id, v.arm, v.repeat) in rated
    }
    if not verdicts:
        raise InputError(
            f"{store.root}: judge '{judge}' has no verdict on a rated answer; run first: "
            f"cfgen score {store.root} --planner ... --judge {judge}"
        )
    return verdicts


def _lacks_scores(verdict: Verdict) -> bool:
    """Where nothing was added, UNKNOWN is the answer and lacks nothing."""
    return verdict.status != "scored" and (verdict.status, verdict.arm in _UNCHANGED) != ("unknown", True)


def _against_majority(
    people: Ratings, decided: Mapping[Key, Scores], judged: Mapping[Key, Scores], dimension: Dimension
) -> tuple[RaterAgreement, int]:
    """And how many answers are left out since people are split. What was ``decided`` counts before any majority."""
    answers = sorted(judged)
    scores_by_rater = [[r.get(a, {}).get(dimension) for a in answers] for r in people.values()]
    due = [
        decided[a].get(dimension) if a in decided else m
        for m, a in zip(consensus(scores_by_rater), answers, strict=True)
    ]
    pairs = [
        (majority, score)
        for majority, a in zip(due, answers, strict=True)
        if majority is not None and (score := judged[a].get(dimension)) is not None
    ]
    split = sum(
        m is None and judged[a].get(dimension) is not None and any(v is not None for v in votes)
        for m, a, votes in zip(due, answers, zip(*scores_by_rater, strict=True), strict=True)
    )
    return comparison([m for m, _ in pairs], [s for _, s in pairs]), split


def _pair(first: Mapping[Key, Scores], second: Mapping[Key, Scores], dimension: Dimension) -> RaterAgreement:
    pairs = [
        (a, b)
        for answer in sorted(first.keys() & second.keys())
        if (a := first[answer].get(dimension)) is not None
        and (b := second[answer].get(dimension)) is not None
    ]
    return comparison([a for a, _ in pairs], [b for _, b in pairs])


# --- ratings made elsewhere -----------------------------------------------------------------------------------


def read_csv(file: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Number of its line and content of every row.

    Raises:
        InputError: the file cannot be read, or a column is missing.
    """
    try:
        with file.open(newline="", encoding="utf-8-sig") as source:
            reader = csv.DictReader(source)
            missing = [c for c in columns if c not in (reader.fieldnames or ())]
            if missing:
                raise InputError(
                    f"{file}: expected the columns {', '.join(columns)}; missing: {', '.join(missing)}"
                )
            return [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: cannot read it as CSV ({error})") from error


def import_rows(
    bench: Path, rows: Sequence[tuple[str, Mapping[str, str]]], planned: frozenset[str] = frozenset()
) -> int:
    """Add ratings, each with the place it comes from: rater, planner, case_id, reasoning, waypoints, overall, and where
    given arm, repeat, note, at, seconds and paused.

    A score is 0, 1, 2, or UNKNOWN (or empty). Histories only grow; a row that says what is already there is skipped.
    ``planned``: cases that may be out of the benchmark by now, if it holds others of them. Returns how many were added.

    Raises:
        InputError: a row holds something else; names the row.
    """
    store = Store(bench)
    case_ids = set(store.case_ids())
    case_ids |= planned if planned & case_ids else set()
    new_ratings: dict[Path, tuple[RatingFile, list[Rating]]] = {}
    for where, row in rows:
        if row["case_id"] not in case_ids:
            raise InputError(f"{where}: case_id '{row['case_id']}' is not a case of {bench}")
        record, rating = parsed(row, where)
        path = store.rating_path(record.rater, record.planner, record.case_id, record.arm, record.repeat)
        ratings = new_ratings.setdefault(path, (record, []))[1]
        if not ratings or _said(ratings[-1]) != _said(rating):
            ratings.append(rating)
    return sum(_append(store, path, record, ratings) for path, (record, ratings) in new_ratings.items())


def _score(text: str) -> Score | None:
    """Raises ValueError."""
    if (word := text.strip().upper()) not in _SAID:
        raise ValueError("expected 0, 1, 2 or UNKNOWN")
    return _SAID[word]


_Said = Annotated[Score | None, BeforeValidator(_score)]
_Seconds = Annotated[float | None, Field(ge=0, allow_inf_nan=False)]


class _Row(BaseModel):
    """What a row of a table says; empty cells are left out."""

    rater: Identifier
    planner: Identifier
    case_id: Identifier
    arm: JudgedPair = "hazard"
    repeat: int = Field(default=0, ge=0)
    reasoning: _Said = None
    waypoints: _Said = None
    overall: _Said = None
    note: str = ""
    at: datetime | None = None
    seconds: _Seconds = None
    paused: _Seconds = None


def parsed(row: Mapping[str, str], where: str) -> tuple[RatingFile, Rating]:
    """Whose rating a row is, of what, and what it says. Raises as :func:`import_rows`."""
    try:
        read = _Row.model_validate({name: text for name, text in row.items() if text})
    except ValidationError as error:
        raise InputError(f"{where}: {told(faults_of(error, _Row))}") from error
    answer = read.model_dump(include={"rater", "planner", "case_id", "arm", "repeat"})
    return RatingFile(**answer, history=()), Rating(
        at=read.at.isoformat(timespec="microseconds")
        if read.at
        else datetime.now(UTC).isoformat(timespec="seconds"),
        scores={d: getattr(read, d) for d in DIMENSIONS},
        note=read.note,
        seconds=read.seconds,
        paused=read.paused,
    )


def _said(rating: Rating) -> tuple[Scores, str]:
    return rating.scores, rating.note


def _append(store: Store, path: Path, record: RatingFile, ratings: Sequence[Rating]) -> int:
    """Add what a file says of one answer, in its order, unless the history ends with it or has it of the same time."""
    history: list[Rating] = list(read_record(path, RatingFile).history) if path.is_file() else []
    if [_said(r) for r in history[-len(ratings) :]] == [_said(r) for r in ratings]:
        return 0
    before = len(history)
    stored = [(r.at, *_said(r)) for r in history]
    for rating in ratings:
        if (rating.at, *_said(rating)) not in stored and (not history or _said(history[-1]) != _said(rating)):
            history.append(rating)
    if len(history) > before:
        write_record(path, record.model_copy(update={"history": tuple(history)}), store.work)
    return len(history) - before
