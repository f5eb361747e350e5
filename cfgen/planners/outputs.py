"""A file of outputs made elsewhere: one JSON object a line.

Each line names its question, either by ``"id"`` (the token that ``cfgen planner export-inputs`` wrote) or by
``"case_id"`` and ``"arm"`` (and ``"repeat"``, default 0), and holds ``"text"`` and/or ``"waypoints"`` (T x 2 or 3)
with optional ``"t"`` (T). Tokens are of chance: each export keeps in the benchmark what its own stand for.
"""

import codecs
import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cfgen.core.errors import InputError, StoreError, warn
from cfgen.core.files import read_json
from cfgen.core.hashing import derive_id
from cfgen.core.sanitize import MAX_CHARS, plain_text
from cfgen.planners.answer import CheckedResponse, PlanFaultError, check_response
from cfgen.planners.protocol import Observation, Requirements, Response

#: folder of a benchmark: of every export a file, token -> case, arm, repeat
EXPORTS = "exports"


def token_of(case_id: str, arm: str, repeat: int) -> str:
    """The opaque name of one question; the same for every planner."""
    return derive_id("question", case_id, arm, repeat)


class Outputs:
    """Answers from ``path``; where two lines answer one question, the last counts, with a note.

    Args:
        exports: folder with the files that tell what tokens stand for.

    Raises:
        InputError: a missing or empty file, a line that is not JSON or names no question. StoreError: a file in
            ``exports`` is damaged.
    """

    needs = Requirements(cameras=(), frame_times=())

    def __init__(self, path: str | Path, max_chars: int = MAX_CHARS, exports: Path | None = None) -> None:
        self.path = Path(path)
        self._exported = exported_tokens(exports) if exports is not None else {}
        self._rows: dict[str, tuple[int, CheckedResponse | PlanFaultError]] = {}
        twice = 0
        try:
            for number, token, row in _each_line(self.path, self._exported):
                twice += token in self._rows
                self._store_row(token, number, row, max_chars)
        except OSError as error:
            raise InputError(
                f"{path}: cannot read the planner outputs ({error}); expected JSON lines"
            ) from error
        if not self._rows:
            raise InputError(f"{path}: expected one JSON object a line, found an empty file")
        if twice:
            warn(f"{path}: {twice} lines answer a question that an earlier line answered; the last counts")

    def plan(self, observations: Sequence[Observation]) -> list[Response]:
        return [self._respond(o) for o in observations]

    def _store_row(self, token: str, number: int, row: dict[str, Any], max_chars: int) -> None:
        """Through the door at once: a long text is not kept any longer than that."""
        try:
            answer = check_response(row, max_chars)
        except PlanFaultError as fault:
            self._rows[token] = number, PlanFaultError(f"{self.path.name}, line {number}: {fault}")
            return
        if token in self._rows:
            note = f"line {number} of {self.path.name} counts, not line {self._rows[token][0]}"
            answer = replace(answer, notes=(*answer.notes, note))
        self._rows[token] = number, answer

    def _respond(self, observation: Observation) -> Response:
        row = self._rows.get(observation.token)
        if row is None:
            raise PlanFaultError(f"{self.path.name}: no line for this question")
        if isinstance(row[1], PlanFaultError):
            raise row[1]
        return row[1]


def check_lines(path: Path, exports: Path, queries: Iterable[tuple[str, str, int]]) -> None:
    """Warns of lines that answer no question.

    Args:
        queries: case, arm and repeat of every question.

    Raises:
        InputError: no line of the file at ``path`` answers any of them. What else is wrong with it is told elsewhere.
    """
    tokens = {token_of(*key) for key in queries}
    lines = count = 0
    with contextlib.suppress(OSError):
        for _, token, _ in _each_line(path, exported_tokens(exports)):
            lines += 1
            count += token not in tokens
    if 0 < count < lines:
        warn(
            f"{path}: {count} of {lines} lines answer no question that is asked; are they of another benchmark, or of "
            "arms that are not asked?"
        )
    if tokens and lines and count == lines:
        raise InputError(
            f"{path}: expected answers to this benchmark's questions, found {count} lines of which none answers one of "
            f"its {len(tokens)}; are they of another benchmark, or of arms that are not asked? Its own questions: "
            f"cfgen planner export-inputs {exports.parent} --out inputs"
        )


def _each_line(path: Path, tokens: Mapping[str, str]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Number, question and content of every line that is not empty."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.removeprefix(codecs.BOM_UTF8).strip():
                yield number, *_read(f"{path}, line {number}", line, tokens)


def _read(place: str, line: bytes, tokens: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        cut = "" if line.endswith(b"\n") else "; the file ends here, was its writer stopped?"
        raise InputError(
            f"{place}: expected a JSON object, found something else ({error}){cut}; correct or delete the line"
        ) from error
    if not isinstance(row, dict):
        raise InputError(f"{place}: expected a JSON object, found {type(row).__name__}")
    if isinstance(row.get("id"), str):
        named = str(row["id"])
        return tokens.get(named, named), row
    case_id, arm, repeat = row.get("case_id"), row.get("arm"), row.get("repeat", 0)
    if isinstance(case_id, str) and isinstance(arm, str) and isinstance(repeat, int):
        return token_of(plain_text(case_id)[0], plain_text(arm)[0], repeat), row
    raise InputError(f"{place}: expected 'id', or 'case_id' and 'arm', found fields {sorted(row)[:8]}")


def exported_tokens(folder: Path) -> dict[str, str]:
    """Tokens of all exports, and what the questions are called here.

    Raises:
        StoreError: a file that cannot be read.
    """
    tokens: dict[str, str] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            tokens |= {token: token_of(*key) for token, key in read_json(path)["questions"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise StoreError(
                f"{path}: expected what the tokens of an export stand for, found other JSON"
            ) from error
    return tokens
