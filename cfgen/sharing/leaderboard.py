"""A leaderboard's folder: bundles as they were given, each with a record of where it came from.

board/board.json                         title; its existence makes the folder a board
board/entries/<entry>/bundle.cfgen-bundle   as it was given, byte for byte
board/entries/<entry>/entry.json         written last: hash of the bundle, and who vouches for it
"""

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path
from typing import Literal

import attrs

from cfgen.core.errors import CfgenError, InputError, StoreError, did_you_mean
from cfgen.core.files import read_record, write_bytes, write_record
from cfgen.core.hashing import hash_bytes, hash_json
from cfgen.core.locks import hold
from cfgen.judge.derivation import outcome
from cfgen.judge.protocol import VerdictKey
from cfgen.judge.registry import make_judge
from cfgen.judge.rubrics.registry import RUBRICS
from cfgen.judge.run import judge_stored
from cfgen.models.registry import MODELS
from cfgen.options import DEFAULT_RUBRIC, NOBODY, JudgeOptions, ScoreOptions
from cfgen.records import Identifier, Sha256, Stored
from cfgen.score import score
from cfgen.sharing.bundle import Bundle, benchmark_hash, export_bundle, read_bundle
from cfgen.sharing.bundle_checks import Proof, prove
from cfgen.sharing.definitions import case_hash
from cfgen.storage.plan_file import PLAN_FILE
from cfgen.storage.store import MARKER, VIEWS, Store

BOARD, ENTRIES, ENTRY, BUNDLE = "board.json", "entries", "entry.json", "bundle.cfgen-bundle"
#: Who vouches for a row, and what was done again by whoever keeps the board.
Kind = Literal["self-reported", "rejudged", "rerun"]
KINDS: dict[Kind, str] = {
    "self-reported": "answers and verdicts as they were handed in",
    "rejudged": "answers as they were handed in, judged by the board's maintainer",
    "rerun": "asked and judged by the board's maintainer",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,119}")


class BoardRecord(Stored):
    """``board.json``"""

    title: str


class BoardEntry(Stored):
    """``entry.json``. ``bundle``: hash of the whole file; ``of``: the entry whose answers were judged again;
    ``contradicted``: in words, how the maintainer's verdicts by the same judge differ."""

    entry: Identifier
    bundle: Sha256
    kind: Kind
    of: str = ""
    added: str
    contradicted: str = ""


@dataclass(frozen=True)
class Row:
    """An entry that verifies."""

    entry: BoardEntry
    bundle: Bundle
    proof: Proof

    @property
    def like(self) -> Sha256:
        """Equal for rows that may stand in one table: benchmark, drives, rubric, judge, horizon and arms."""
        index = self.bundle.index
        cases = {case_id: case.model_dump(mode="json") for case_id, case in index.cases.items()}
        rubric = [index.wording.name, index.wording.version, index.wording.hash]
        asked = [index.horizon_s, sorted(index.arms)]
        return hash_json([cases, index.blocks, rubric, self.bundle.judge_hash, *asked])


@dataclass(frozen=True)
class Added:
    """``before``: who vouched for it when it was there already; "" for a new one."""

    entry: BoardEntry
    before: Kind | Literal[""] = ""


@dataclass(frozen=True)
class BoardUpdate:
    """``failed``: what of the rest could not be added, each in words."""

    added: tuple[Added, ...]
    failed: tuple[str, ...]


class Board:
    """One folder.

    Raises:
        InputError: ``root`` is there, and no board.
    """

    def __init__(self, root: Path, title: str = "", create: bool = False) -> None:
        self.root = Path(root)
        if (self.root / BOARD).is_file():
            return
        occupied = self.root.exists() and (not self.root.is_dir() or any(self.root.iterdir()))
        if occupied or not create:
            content = "something else" if occupied else "nothing"
            raise InputError(
                f"{self.root}: expected a leaderboard (with {BOARD}), found {content}; begin one in a new folder: "
                "cfgen share leaderboard add BOARD BUNDLE"
            )
        write_record(self.root / BOARD, BoardRecord(title=title or self.root.resolve().name))

    @property
    def title(self) -> str:
        return read_record(self.root / BOARD, BoardRecord, check=True).title

    def folder(self, entry: str) -> Path:
        return self.root / ENTRIES / entry

    def names(self) -> list[str]:
        return sorted(path.name for path in (self.root / ENTRIES).glob("*") if path.is_dir())

    def add(self, bundle: Path, kind: Kind = "self-reported", of: str = "") -> Added:
        """Take a copy of a bundle that verifies; the same one twice stands once.

        Raises:
            InputError: it does not verify, or competes with nobody.
        """
        content = read_bundle(bundle)
        prove(content)
        if content.run.needs.get("truth"):
            raise InputError(
                f"{bundle}: planner '{content.run.planner}' is told what was added where: it competes with nobody"
            )
        data = bundle.read_bytes()
        file_hash = hash_bytes(data)
        name = f"{content.run.planner[:100]}-{file_hash.removeprefix('sha256:')[:12]}"
        record = self.folder(name) / ENTRY
        if record.is_file():
            return self._vouched(record, kind, of)
        entry = BoardEntry(
            entry=name, bundle=file_hash, kind=kind, of=of, added=datetime.now(UTC).strftime("%Y-%m-%d")
        )
        with hold(self.root, "adding"):
            write_bytes(self.folder(name) / BUNDLE, data)
            write_record(self.folder(name) / ENTRY, entry)
        return Added(entry)

    def _vouched(self, path: Path, kind: Kind, of: str) -> Added:
        """The same byte for byte, found by the maintainer's own judge or run: then that is who vouches for it."""
        entry = read_record(path, BoardEntry, check=True)
        ranks = list(KINDS)
        if ranks.index(kind) <= ranks.index(entry.kind):
            return Added(entry, entry.kind)
        own = "" if of == entry.entry else of
        promoted = entry.model_copy(update={"kind": kind, "of": own})
        write_record(path, promoted)
        return Added(promoted, entry.kind)

    def row(self, name: str) -> Row:
        """
        Raises:
            InputError: one line that names the entry, and what is wrong with it.
        """
        try:
            return self._row(name)
        except CfgenError as error:
            raise InputError(
                f"entry '{name}': {error}; restore its folder {self.folder(name)} from a copy, or delete it"
            ) from error

    def _row(self, name: str) -> Row:
        folder = self.folder(name)
        if not _NAME.fullmatch(name) or folder.is_symlink():
            raise InputError("expected a folder that 'cfgen share leaderboard add' made, found another")
        entry = read_record(folder / ENTRY, BoardEntry, check=True)
        path = folder / BUNDLE
        if not path.is_file():
            raise StoreError(f"{path}: is missing")
        if entry.entry != name or hash_bytes(path.read_bytes()) != entry.bundle:
            raise StoreError(f"{path}: is not the bundle that was added: it was changed since")
        bundle = read_bundle(path)
        return Row(entry, bundle, prove(bundle))

    def rows(self) -> Iterator[Row]:
        """Every entry.

        Raises:
            InputError: of the first that does not verify.
        """
        return map(self.row, self.names())

    def faults(self) -> list[str]:
        """One line for each entry that does not verify."""
        faults = []
        for name in self.names():
            try:
                self.row(name)
            except InputError as error:
                faults.append(str(error))
        return faults


# --- what a maintainer does: judge stored answers, or ask a planner on scenes that nobody else has ----------

#: what of a benchmark a view of it shares
_SHARED = (MARKER, PLAN_FILE, "build.json", "scenes", "cases", VIEWS)


def rejudge(board: Board, options: JudgeOptions, entries: Sequence[str] = ()) -> BoardUpdate:
    """Judge the answers of entries on ``options.bench``; no planner is asked.

    Args:
        options: judge "" is each entry's own with its own options; an entry that this contradicts is marked.
        entries: only these; else each self-reported one of that benchmark.

    Raises:
        InputError: no such entry, none of that benchmark, or the board does not verify.
    """
    _check_judge(options.judge)
    bench = Store(options.bench)
    benchmark_sha = hash_of(bench)
    added, failed = [], []
    for row in _chosen(board, entries, benchmark_sha, bench):
        try:
            added.append(_rejudge(board, bench, row, options))
        except CfgenError as error:
            failed.append(f"entry '{row.entry.entry}': {error}")
    return BoardUpdate(tuple(added), tuple(failed))


def rerun(board: Board, options: ScoreOptions) -> Added:
    """Ask a planner on ``options.bench`` and judge it there, as ``cfgen score`` does; what is there is not asked again.

    Raises:
        InputError: as :func:`cfgen.score.score`, or the planner is a file of answers.
    """
    _check_judge(options.judge)
    if str(options.planner).endswith(".jsonl"):
        raise InputError(
            f"planner '{options.planner}': is a file of answers, which nobody can run again; add its bundle as "
            "self-reported"
        )
    run = score(options)
    with tempfile.TemporaryDirectory(prefix="cfgen-board-") as folder:
        out = Path(folder) / "bundle"
        export_bundle(Store(options.bench), run.planner, run.judge, out, options.rubric)
        return board.add(out, "rerun")


def hash_of(store: Store) -> Sha256:
    """The benchmark's, as bundles tell it."""
    return benchmark_hash({case.case_id: case_hash(store, case) for case in store.cases()})


def _check_judge(judge: str) -> None:
    if judge == NOBODY:
        raise InputError("judge: expected who judges, found 'none'; see: cfgen list judges")


def _chosen(board: Board, entries: Sequence[str], benchmark_sha: Sha256, bench: Store) -> list[Row]:
    rows = {row.entry.entry: row for row in board.rows()}
    for name in entries:
        if name not in rows:
            raise InputError(
                f"entry '{name}': expected one of {board.root}: {', '.join(rows)}{did_you_mean(name, list(rows))}"
            )
    candidates = [rows[name] for name in entries] or [
        row for row in rows.values() if row.entry.kind == "self-reported"
    ]
    chosen = [row for row in candidates if row.bundle.index.benchmark == benchmark_sha]
    if foreign := [row for row in candidates if row not in chosen] if entries or not chosen else []:
        raise InputError(
            f"{bench.root}: is benchmark {benchmark_sha[:19]}, but entry '{foreign[0].entry.entry}' is of "
            f"{foreign[0].bundle.index.benchmark[:19]}; give the benchmark that it was scored on"
        )
    return chosen


def _rejudge(board: Board, bench: Store, row: Row, options: JudgeOptions) -> Added:
    options = options if options.judge else _own_judge(row.bundle, options)
    with _view(bench, row) as view:
        planner = row.bundle.run.planner
        (run,) = judge_stored(attrs.evolve(options, bench=view.root, planners=(planner,)), named=bench.root)
        out = view.root / "bundle"
        hashes = {case_id: case.hash for case_id, case in row.bundle.index.cases.items()}
        export_bundle(view, planner, run.judge, out, options.rubric, hashes)
        added = board.add(out, "rejudged", row.entry.entry)
    if why := _difference(row, board.row(added.entry.entry)):
        path = board.folder(row.entry.entry) / ENTRY
        write_record(path, row.entry.model_copy(update={"contradicted": why}))
    return added


def _own_judge(bundle: Bundle, options: JudgeOptions) -> JudgeOptions:
    """``options`` with the judge of a bundle and its own options; no stranger says where a model or a file is.

    Raises:
        InputError: no judge is known by that name, or it needs more than the bundle says.
    """
    claimed, models = bundle.judge, bundle.judge.options.get("models")
    name, own = claimed.spec.partition(" ")[0], {"name": claimed.judge}
    if name in MODELS.names() and isinstance(models, list) and models and isinstance(models[0], dict):
        takes = {"votes", *signature(MODELS.get(name)).parameters} - {"base_url", "file"}
        own |= {key: value for key, value in {**claimed.options, **models[0]}.items() if key in takes}
    given = {**own, **options.judge_options}
    rubric = claimed.rubric if claimed.rubric in RUBRICS.names() else DEFAULT_RUBRIC
    rubric = rubric if options.rubric == DEFAULT_RUBRIC else options.rubric
    options = attrs.evolve(options, judge=name, judge_options=given, rubric=rubric)
    actual = make_judge(name, None, rubric, **options.judge_settings).run_record()
    if (actual.spec, actual.options, actual.rubric_hash) != (
        claimed.spec,
        claimed.options,
        claimed.rubric_hash,
    ):
        raise InputError(
            f"its judge is '{claimed.spec}' with {json.dumps(claimed.options)[:400]}, found here with "
            f"{json.dumps(actual.options)[:400]}; give what lacks (--judge-options, --rubric), or name another by "
            "--judge, whose rows are another table"
        )
    return options


def _difference(claimed: Row, derived: Row) -> str:
    """In words, what the maintainer's row of the same answers has otherwise; "" where another judge made it."""
    if claimed.bundle.judge_hash != derived.bundle.judge_hash:
        return ""
    outcomes, again = ({VerdictKey.of(v): outcome(v) for v in r.bundle.verdicts} for r in (claimed, derived))
    count = sum(again.get(key) != words for key, words in outcomes.items())
    differ = f"{count} of {len(outcomes)} verdicts" if count else "drives, horizon or cases"
    if not count and claimed.like == derived.like:
        return ""
    return f"{differ} differ: entry {derived.entry.entry}, judged by the board's maintainer"


@contextmanager
def _view(bench: Store, row: Row) -> Iterator[Store]:
    """The benchmark with the answers of a bundle alone; judges' replies are kept in the benchmark itself."""
    with tempfile.TemporaryDirectory(prefix="cfgen-board-") as folder:
        root = Path(folder)
        bench.reply_cache.mkdir(parents=True, exist_ok=True)
        for name in (*_SHARED, bench.reply_cache.relative_to(bench.root).parts[0]):
            if (bench.root / name).exists():
                (root / name).symlink_to((bench.root / name).resolve())
        view = Store(root)
        for path in (
            *bench.root.glob("verdicts/*/probe.json"),
            *bench.root.glob("verdicts/*/calibration.json"),
        ):
            write_bytes(root / path.relative_to(bench.root), path.read_bytes())
        write_record(view.planner_run_path(row.bundle.run.planner), row.bundle.run, view.work)
        for answer in row.bundle.answers:
            view.write_rollout(answer)
        yield view
