"""verdicts -> leaderboard and page. Readable top to bottom."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cfgen.errors import InputError
from cfgen.files import write_bytes
from cfgen.metrics.success import SuccessRow
from cfgen.report_page.gather import Gathered, gather
from cfgen.report_page.leaderboard import leaderboard, success_rows
from cfgen.report_page.page import write_page
from cfgen.report_page.table import Table
from cfgen.store import Store

_MARKER = "report.json"


@dataclass(frozen=True)
class Report:
    """What was written where, and the table worth printing."""

    out: Path
    leaderboard: Table
    cases: int


def report(bench: Path, out: Path | None = None, planners: Sequence[str] | None = None) -> Report:
    """Summarize a benchmark directory in a folder that stands on its own.

    Args:
        out: an empty, new, or earlier report folder; by default beside the benchmark, ``<bench>-report``.
        planners: those to show; None shows all.

    Raises:
        StoreError: not a benchmark, or a damaged record.
        InputError: an unknown planner, or ``out`` holds something else.
    """
    store = Store(bench)
    out = out or store.root.with_name(f"{store.root.resolve().name}-report")
    _check_target(out)
    data = gather(store, planners)
    rows = success_rows(data)
    tables = [leaderboard(rows)]
    _write_tables(out, tables)
    write_page(out, data, tables)
    _write_json(out, data, rows)
    return Report(out, tables[0], len(data.cases))


def _check_target(out: Path) -> None:
    if out.exists() and not (out.is_dir() and ((out / _MARKER).is_file() or not any(out.iterdir()))):
        raise InputError(
            f"{out}: expected an empty folder or an earlier report, found other files; choose --out"
        )


def _write_tables(out: Path, tables: list[Table]) -> None:
    for table in tables:
        write_bytes(out / f"{table.name}.csv", table.csv().encode())
        write_bytes(out / f"{table.name}.tex", table.latex().encode())
    write_bytes(out / "report.md", "\n".join(table.markdown() for table in tables).encode())


def _write_json(out: Path, data: Gathered, rows: list[SuccessRow]) -> None:
    """The figures as they are, not rounded."""
    content = {
        "cfgen_version": data.benchmark.cfgen_version,
        "cases": len(data.cases),
        "rejected": len(data.rejections),
        "success": [asdict(row) for row in rows],
    }
    write_bytes(out / _MARKER, (json.dumps(content, indent=1) + "\n").encode())
