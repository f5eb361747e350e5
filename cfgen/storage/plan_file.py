"""``plan.jsonl``: the pairs that builds decided to try, in that order. It only grows.

One line a pair, and after those that were decided together one with their number and a hash over them and all before.
Pairs without that line were not decided: their writer was killed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from cfgen.core.errors import StoreError
from cfgen.core.files import explain
from cfgen.core.hashing import hash_bytes
from cfgen.core.object_store import bucket_of
from cfgen.records import Planned

PLAN_FILE = "plan.jsonl"
_CLOSES = b'{"pairs":'
Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class _Read:
    """What stands in it up to its last closing line."""

    stamp: Stamp = (0, 0, 0)
    pairs: tuple[Planned, ...] = ()
    size: int = 0
    hash: str = ""


class PlanFile:
    """The plan beside a ``benchmark.json``; read again only where it changed."""

    def __init__(self, root: Path) -> None:
        self.path = root / PLAN_FILE
        self._known = _Read()

    def pairs(self) -> tuple[Planned, ...]:
        """
        Raises:
            StoreError: it was changed after cfgen wrote it.
        """
        return self._read().pairs

    def add(self, pairs: Sequence[Planned]) -> None:
        """Only while nobody else does.

        Raises:
            StoreError: it cannot be written, or was changed after cfgen wrote it.
        """
        if not pairs:
            return
        planned = self._read()
        lines = b"".join(pair.model_dump_json(exclude_defaults=True).encode() + b"\n" for pair in pairs)
        chained = _chained(planned.hash, lines)
        added = lines + _closing(len(pairs), chained)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("r+b" if self.path.is_file() else "xb") as file:
                file.truncate(planned.size)  # of a writer that was killed
                file.seek(planned.size)
                file.write(added)
            if bucket := bucket_of(self.path):
                bucket.send(self.path, self.path.read_bytes())
            stamp = _stamp(self.path)
        except OSError as error:
            raise StoreError(
                f"{self.path}: cannot write ({error.strerror or error}); free space or fix permissions and run the "
                "same command again: what is already there is kept"
            ) from error
        self._known = _Read(stamp, (*planned.pairs, *pairs), planned.size + len(added), chained)

    def _read(self) -> _Read:
        try:
            stamp = _stamp(self.path)
            if stamp != self._known.stamp:
                self._known = self._parsed(self.path.read_bytes(), stamp)
        except FileNotFoundError:
            self._known = _Read()
        except OSError as error:
            raise StoreError(f"{self.path}: cannot read ({error.strerror})") from error
        return self._known

    def _parsed(self, content: bytes, stamp: Stamp) -> _Read:
        pairs: list[Planned] = []
        closed, size, end, chained = 0, 0, 0, ""
        for number, line in enumerate(content.splitlines(keepends=True), start=1):
            start, end = end, end + len(line)
            if not line.endswith(b"\n"):
                break
            if not line.startswith(_CLOSES):
                pairs.append(self._pair(line, number))
                continue
            chained = _chained(chained, content[size:start])
            if line != _closing(len(pairs) - closed, chained):
                raise StoreError(
                    f"{self.path}: line {number}: does not match the lines before it: they were changed after cfgen "
                    "wrote them; restore the file from a copy"
                )
            closed, size = len(pairs), end
        return _Read(stamp, tuple(pairs[:closed]), size, chained)

    def _pair(self, line: bytes, number: int) -> Planned:
        try:
            return Planned.model_validate_json(line)
        except ValidationError as error:
            raise StoreError(
                f"{self.path}: line {number}: {explain(error)}; restore the file from a copy"
            ) from error


def _stamp(path: Path) -> Stamp:
    at = path.stat()
    return at.st_size, at.st_mtime_ns, at.st_ino


def _closing(count: int, chained: str) -> bytes:
    return _CLOSES + b" %d, " % count + f'"sha256": "{chained}"}}\n'.encode()


def _chained(before: str, lines: bytes) -> str:
    return hash_bytes(before.encode() + b"\n" + lines)
