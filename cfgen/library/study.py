"""The preliminary study: two checkpoints' stored answers, by changed and grounded reasoning."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StrictBool, ValidationError

from cfgen.core.errors import InputError
from cfgen.core.files import explain, read_each, write_bytes
from cfgen.reporting.drawing import Series, rows_chart
from cfgen.reporting.section import Table
from cfgen.reporting.settings import DRAWING
from cfgen.traces.study import ERRORS, Sample, Stratum, displacement, strata, words_changed


class _Sample(BaseModel):
    """One sample of a file; ``waypoints`` and ``future``: T x [x, y] in m."""

    model_config = ConfigDict(coerce_numbers_to_str=True, allow_inf_nan=False)

    id: str = Field(min_length=1, validation_alias=AliasChoices("id", "clip_id", "case_id", "token"))
    reasoning: str = Field(default="", validation_alias=AliasChoices("reasoning", "cot", "text"))
    waypoints: list[list[float]]
    future: list[list[float]] | None = None
    grounded: StrictBool | None = None
    changed: StrictBool | None = None


class _Samples(BaseModel):
    name: str = ""
    samples: list[_Sample] = Field(min_length=1)


@dataclass(frozen=True)
class Study:
    """B against A by stratum.

    Attributes:
        only_a, only_b: samples without a partner. unlabelled: pairs without grounding. odd: pairs whose reasoning is
            said to be unchanged and yet grounded in one only; both are in no stratum.
        changed_by: who said whether reasoning changed: "labels", or "words" where somebody did not.
    """

    names: tuple[str, str]
    strata: tuple[Stratum, ...]
    only_a: int
    only_b: int
    unlabelled: int
    odd: tuple[str, ...]
    changed_by: str

    @property
    def table(self) -> Table:
        """Win rates of B by stratum, as in the paper's Figure 2, with mean errors."""
        rows = []
        for stratum in self.strata:
            wins = [w for e in ERRORS for w in _win(stratum, e)]
            means = [_mean(stratum, e) for e in ERRORS]
            rows.append((stratum.name, str(stratum.n), *wins, *means))
        columns = ["stratum", "n"]
        columns += [c for e in ERRORS for c in (f"B nearer, {e} %", "95% interval", "ties")]
        columns += [f"{e} A, B, B-A (m)" for e in ERRORS]
        note = (
            f"A: {self.names[0]}. B: {self.names[1]}. B nearer: of the samples that are no tie. Lateral and "
        )
        note += "longitudinal in the ego frame at t0. Whether reasoning changed: by "
        note += "labels." if self.changed_by == "labels" else "the words it shares, where no label says it."
        excluded = {"only in A": self.only_a, "only in B": self.only_b, "without grounding": self.unlabelled}
        excluded["unchanged, yet grounded in one only"] = len(self.odd)
        reasons = ", ".join(f"{n} {why}" for why, n in excluded.items() if n)
        note += f" Left out: {reasons}." if reasons else ""
        return Table("study", "Reasoning and driving, by stratum", tuple(columns), tuple(rows), note=note)

    def __str__(self) -> str:
        return self.table.markdown()

    def write(self, folder: Path) -> list[Path]:
        """``study.md``, ``.csv``, ``.json`` and ``.svg``."""
        a, b = self.names
        rows = [f"{stratum.name} (n = {stratum.n})" for stratum in self.strata]
        series = [Series(error, [stratum.wins[error] for stratum in self.strata]) for error in ERRORS]
        drawing = rows_chart(f"How often {b} is nearer than {a}", rows, series, DRAWING.wide)
        drawing.caption(
            f"Right of 50%: {b} is nearer more often; left of it: {a}. In brackets: samples that are no tie."
        )
        figures = {
            "a": self.names[0],
            "b": self.names[1],
            "changed_by": self.changed_by,
            "odd": list(self.odd),
            "left_out": {"only_a": self.only_a, "only_b": self.only_b, "unlabelled": self.unlabelled},
            "strata": [asdict(stratum) for stratum in self.strata],
        }
        files = {
            "study.md": self.table.markdown().encode(),
            "study.csv": self.table.csv().encode(),
            "study.json": (json.dumps(figures, indent=1, allow_nan=False) + "\n").encode(),
            "study.svg": drawing.svg().encode(),
        }
        for name, data in files.items():
            write_bytes(folder / name, data)
        return [folder / name for name in files]


def compare_checkpoints(a: str, b: str, checker: str) -> Study:
    """See :func:`cfgen.study`."""
    first, second = _read(a, checker), _read(b, checker)
    shared = [i for i in first.samples if i in second.samples]
    if not shared:
        raise InputError(f"study: expected samples with the same ids in {a} and {b}, found none in common")
    pairs, by_words = [], 0
    for i in shared:
        x, y = _paired(i, first, second)
        changed = second.changed.get(i, first.changed.get(i))
        if changed is None:
            by_words, changed = by_words + 1, words_changed(x.words, y.words)
        pairs.append((x, y, changed))
    stratified, odd = strata(pairs)
    if not any(stratum.n for stratum in stratified) and not odd:
        raise InputError(
            f"study: expected 'grounded' for the samples of {a} and {b}, found it for none in both; give it in "
            "the files, or --checker for BENCH:PLANNER"
        )
    return Study(
        (first.name, second.name),
        tuple(stratified),
        len(first.samples) - len(shared),
        len(second.samples) - len(shared),
        sum(x.grounded is None or y.grounded is None for x, y, _ in pairs),
        tuple(odd),
        "words" if by_words else "labels",
    )


@dataclass(frozen=True)
class _Side:
    """One checkpoint: its samples by id, (words, plan, recorded or None, grounded), and what it says of changes."""

    name: str
    where: str
    samples: dict[str, tuple[str, np.ndarray, np.ndarray | None, bool | None]]
    changed: dict[str, bool]


def _paired(i: str, first: _Side, second: _Side) -> tuple[Sample, Sample]:
    """Both samples, measured against what was recorded, which either file may tell."""
    (words_a, plan_a, logged_a, grounded_a), (words_b, plan_b, logged_b, grounded_b) = (
        first.samples[i],
        second.samples[i],
    )
    logged = logged_a if logged_a is not None else logged_b
    if logged is None:
        raise InputError(
            f"{first.where}: sample '{i}': 'future': expected what was recorded, found none in either file"
        )
    if logged_a is not None and logged_b is not None:
        same = logged_a.shape == logged_b.shape and np.allclose(logged_a[:, :2], logged_b[:, :2], atol=0.01)
        if not same:
            raise InputError(
                f"{second.where}: sample '{i}': 'future': expected the one of {first.where}, found another; are the "
                "ids of the same inputs?"
            )
    try:
        return (
            Sample(i, words_a, displacement(plan_a, logged), grounded_a),
            Sample(i, words_b, displacement(plan_b, logged), grounded_b),
        )
    except ValueError as error:
        raise InputError(
            f"{second.where}: sample '{i}': {error}; give all of them at the same times"
        ) from error


def _read(which: str, checker: str) -> _Side:
    bench, colon, planner = which.rpartition(":")
    if colon and Path(bench).is_dir():
        return _from_bench(Path(bench), planner, checker)
    try:
        content = json.loads(Path(which).read_text(encoding="utf-8-sig"))
        content = content if isinstance(content, dict) else {"samples": content}
        parsed = _Samples.model_validate(content)
    except (OSError, ValueError, RecursionError) as error:
        why = explain(error) if isinstance(error, ValidationError) else str(error)
        raise InputError(f"{which}: expected a JSON file of samples, or BENCH:PLANNER ({why})") from error
    side = _Side(parsed.name or Path(which).stem, which, {}, {})
    for row in parsed.samples:
        if row.id in side.samples:
            raise InputError(f"{which}: id '{row.id}': expected it once, found it again")
        where = f"{which}: sample '{row.id}'"
        future = None if row.future is None else _points(row.future, f"{where}: 'future'")
        side.samples[row.id] = (
            row.reasoning,
            _points(row.waypoints, f"{where}: 'waypoints'"),
            future,
            row.grounded,
        )
        if row.changed is not None:
            side.changed[row.id] = row.changed
    return side


def _points(value: list[list[float]], where: str) -> np.ndarray:
    if not value or len({len(point) for point in value}) > 1 or len(value[0]) < 2:
        raise InputError(f"{where}: expected T x [x, y] in m, found something else")
    return np.array(value)


def _from_bench(root: Path, planner: str, checker: str) -> _Side:
    """A planner's answers to originals whose drive was recorded."""
    from cfgen.geometry.trajectory import resample
    from cfgen.judge.stored_verdicts import scored_as
    from cfgen.records import Rollout
    from cfgen.rollouts.inputs import RolloutInputs
    from cfgen.storage.store import Store

    store = Store(root)
    planner = scored_as(store, planner)
    inputs = RolloutInputs(store, store.benchmark.seed)
    cases = {case.case_id: case for case in store.cases()}
    side = _Side(planner, f"{root}:{planner}", {}, {})
    verdicts = {
        (v.case_id, v.repeat): v.edges
        for v in store.trace_verdicts(planner)
        if v.arm == "original" and v.checker == checker
    }
    for _, rollout in read_each(store.rollout_paths(planner, "original"), Rollout):
        if (
            not isinstance(rollout, Rollout)
            or rollout.plan is None
            or rollout.repeat
            or rollout.case_id not in cases
        ):
            continue
        _, future = inputs.motion(cases[rollout.case_id])
        plan = np.array(rollout.plan.waypoints)
        if future is None or future.t[-1] < 0.25 * len(plan) - 1e-6:
            continue
        edges = verdicts.get((rollout.case_id, 0), {})
        grounded = (edges["E1"] and edges["E2"]) if edges else None
        trace = rollout.plan.trace
        words = f"{trace.scene} {trace.justification}".strip()
        side.samples[rollout.case_id] = (words, plan, resample(future.t, future.poses, n=len(plan)), grounded)
    if not side.samples:
        raise InputError(f"{side.where}: expected plans for originals whose drive was recorded, found none")
    return side


def _win(stratum: Stratum, error: str) -> tuple[str, str, str]:
    rate = stratum.wins[error]
    return rate.percent(), rate.interval(), str(stratum.ties[error])


def _mean(stratum: Stratum, error: str) -> str:
    if error not in stratum.means:
        return "-"
    (a, b), (gap, low, high) = stratum.means[error], stratum.differences[error]
    interval = f" [{low:+.2f}, {high:+.2f}]" if low is not None and high is not None else ""
    return f"{a:.2f}, {b:.2f}, {gap:+.2f}{interval}"
