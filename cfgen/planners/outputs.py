"""A file of outputs made elsewhere: one JSON object a line.

Each line names its question, either by ``"id"`` (the token that ``cfgen score export-inputs`` wrote) or by
``"case_id"`` and ``"arm"`` (and ``"repeat"``, default 0), and holds ``"text"`` and/or ``"waypoints"`` (T x 2 or 3)
with optional ``"t"`` (T).
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cfgen.errors import InputError
from cfgen.hashing import derive_id
from cfgen.planners.answer import PlanFaultError
from cfgen.planners.protocol import Needs, Observation, Response


def token_of(case_id: str, arm: str, repeat: int) -> str:
    """The opaque name of one question; the same for every planner."""
    return derive_id("question", case_id, arm, repeat)


class Outputs:
    """Answers from ``path``.

    Raises:
        InputError: a missing or empty file, a line that is not JSON or names no question.
    """

    needs = Needs(cameras=(), frame_times=())

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            lines = self.path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path}: cannot read the planner outputs ({error}); expected JSON lines"
            ) from error
        self._rows: dict[str, dict[str, Any]] = {}
        for number, line in enumerate(lines, 1):
            if line.strip():
                token, row = self._read(number, line)
                self._rows[token] = row
        if not self._rows:
            raise InputError(f"{path}: expected one JSON object a line, found an empty file")

    def plan(self, observations: Sequence[Observation]) -> list[Response]:
        return [self._one(o) for o in observations]

    def _read(self, number: int, line: str) -> tuple[str, dict[str, Any]]:
        place = f"{self.path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place}: expected a JSON object, found something else ({error})") from error
        if not isinstance(row, dict):
            raise InputError(f"{place}: expected a JSON object, found {type(row).__name__}")
        if isinstance(row.get("id"), str):
            return row["id"], row
        if isinstance(row.get("case_id"), str) and isinstance(row.get("arm"), str):
            return token_of(row["case_id"], row["arm"], row.get("repeat", 0)), row
        raise InputError(f"{place}: expected 'id', or 'case_id' and 'arm', found fields {sorted(row)[:8]}")

    def _one(self, observation: Observation) -> Response:
        row = self._rows.get(observation.token)
        if row is None:
            raise PlanFaultError(f"{self.path.name}: no line for this question (id {observation.token})")
        text, points, times = row.get("text", ""), row.get("waypoints"), row.get("t")
        if not isinstance(text, str):
            raise PlanFaultError(f"{self.path.name}: 'text' of id {observation.token} is not a string")
        try:
            return Response(
                text,
                None if points is None else np.array(points, float),
                None if times is None else np.array(times, float),
            )
        except (TypeError, ValueError) as error:
            raise PlanFaultError(
                f"{self.path.name}: id {observation.token}: bad waypoints or t ({error})"
            ) from error
