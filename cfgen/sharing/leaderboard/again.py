"""What a board's maintainer does anew: judge stored answers, or ask a planner on scenes that nobody else has."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from cfgen.core.errors import CfgenError, InputError, did_you_mean
from cfgen.core.files import write_bytes, write_record
from cfgen.judge.run import judge_stored
from cfgen.options import NOBODY, JudgeOptions, ScoreOptions
from cfgen.records import Sha256
from cfgen.score import score
from cfgen.sharing.bundle import benchmark_hash, export_bundle
from cfgen.sharing.definitions import case_hash
from cfgen.sharing.leaderboard.board import Added, Board, Done, Row
from cfgen.storage.plan_file import PLAN_FILE
from cfgen.storage.store import MARKER, VIEWS, Store

#: what of a benchmark a view of it shares
_SHARED = (MARKER, PLAN_FILE, "build.json", "scenes", "cases", VIEWS)


def rejudge(board: Board, options: JudgeOptions, entries: Sequence[str] = ()) -> Done:
    """Judge the answers of entries by the judge of ``options`` on ``options.bench``; no planner is asked.

    Args:
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
    return Done(tuple(added), tuple(failed))


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
    with _view(bench, row) as view:
        planner = row.bundle.run.planner
        (run,) = judge_stored(attrs.evolve(options, bench=view.root, planners=(planner,)), named=bench.root)
        out = view.root / "bundle"
        hashes = {case_id: case.hash for case_id, case in row.bundle.index.cases.items()}
        export_bundle(view, planner, run.judge, out, options.rubric, hashes)
        return board.add(out, "rejudged", row.entry.entry)


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
