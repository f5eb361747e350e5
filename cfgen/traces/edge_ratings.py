"""What people say of the edges of a trace: kept one file a person and trace, or brought from a table."""

import csv
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from cfgen.core.errors import InputError
from cfgen.core.files import read_record, write_record
from cfgen.core.hashing import derive_id
from cfgen.judge.rubrics.faithfulness import QUESTIONS
from cfgen.metrics.faithfulness import OTHER_READING
from cfgen.records import Edge, EdgeRating, EdgeRatingFile
from cfgen.storage.store import Store

RUBRICS = ("faithfulness", OTHER_READING)
_SAID = {"CONSISTENT": True, "INCONSISTENT": False} | dict.fromkeys(("UNKNOWN", "X", "CANNOT TELL", ""))


def rate_edges(
    store: Store,
    rubric: str,
    rater: str,
    planner: str,
    case_id: str,
    arm: str,
    repeat: int,
    edges: Mapping[Edge, bool | None],
    note: str = "",
) -> bool:
    """One more entry in a person's history of a trace; False where it says what the last one says.

    Raises:
        InputError: not all five edges, or a name that can be none of a file.
    """
    path = store.edge_rating_path(rubric, rater, planner, case_id, arm, repeat)
    entry = _entry(edges, note)
    with store.held(f"edges-{derive_id(rubric, rater, planner, path.stem)}"):
        earlier = read_record(path, EdgeRatingFile).history if path.is_file() else ()
        if earlier and (earlier[-1].edges, earlier[-1].note) == (entry.edges, entry.note):
            return False
        try:
            file = EdgeRatingFile(
                rater=rater,
                rubric=rubric,
                planner=planner,
                case_id=case_id,
                arm=arm,
                repeat=repeat,
                history=(*earlier, entry),
            )
        except ValueError as error:
            raise InputError(
                "rater, planner or arm: expected letters, digits and _ . -, and an arm of the benchmark; found others"
            ) from error
        write_record(path, file, store.work)
    return True


def _entry(edges: Mapping[Edge, bool | None], note: str) -> EdgeRating:
    if set(edges) != set(QUESTIONS) or not all(v is None or isinstance(v, bool) for v in edges.values()):
        raise InputError(
            "edges: expected true, false or null for each of E1, E2, E3, E4 and E5, found "
            f"{str(dict(edges))[:80]}"
        )
    return EdgeRating(at=datetime.now(UTC).isoformat(timespec="seconds"), edges=dict(edges), note=note)


def import_edges(bench: Path, file: Path, rubric: str = "faithfulness") -> int:
    """Add ratings from a CSV with the columns rater, planner, case_id, arm, E1 to E5 [, repeat, note].

    A verdict is CONSISTENT, INCONSISTENT, or UNKNOWN, X or "cannot tell" (or empty). All rows are read before any
    is kept.

    Returns how many were added.

    Raises:
        InputError: the file cannot be read, a column is missing, or a row holds something else; names the row.
    """
    if rubric not in RUBRICS:
        raise InputError(f"--rubric: expected {' or '.join(RUBRICS)}, found '{rubric}'")
    store, columns = Store(bench), ("rater", "planner", "case_id", "arm", *QUESTIONS)
    try:
        with file.open(newline="", encoding="utf-8-sig") as source:
            reader = csv.DictReader(source)
            table = [
                (f"{file}, line {reader.line_num}", {k: (v or "").strip() for k, v in row.items()})
                for row in reader
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: cannot read it as CSV ({error})") from error
    if missing := [c for c in columns if c not in (reader.fieldnames or ())]:
        raise InputError(f"{file}: expected the columns {', '.join(columns)}; missing: {', '.join(missing)}")
    rows = [_read({k: (v or "").strip() for k, v in row.items()}, where, store) for where, row in table]
    return sum(rate_edges(store, rubric, *row) for row in rows)


def _read(
    row: Mapping[str, str], where: str, store: Store
) -> tuple[str, str, str, str, int, dict[Edge, bool | None], str]:
    repeat = row.get("repeat") or "0"
    answer = (row["planner"], row["arm"], row["case_id"])
    if not repeat.isdecimal() or not all(answer) or not store.rollout_path(*answer, int(repeat)).is_file():
        raise InputError(
            f"{where}: expected a stored answer, found none of {', '.join(answer)}, repeat {repeat}"
        )
    for edge in QUESTIONS:
        if row[edge].upper() not in _SAID:
            raise InputError(
                f"{where}: {edge}: expected CONSISTENT, INCONSISTENT or UNKNOWN, found '{row[edge][:40]}'"
            )
    edges: dict[Edge, bool | None] = {edge: _SAID[row[edge].upper()] for edge in QUESTIONS}
    note = row.get("note", "")
    return row["rater"], row["planner"], row["case_id"], row["arm"], int(repeat), edges, note
