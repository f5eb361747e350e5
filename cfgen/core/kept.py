"""What was learnt of many files, kept in the user's cache folder, so that only those that changed are read again.

An SQLite database for each folder and kind. It may be deleted at any time; one that is damaged, of another version or
in use by somebody else is no fault: then all is read anew.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cfgen.core.hashing import hash_json
from cfgen.core.paths import cache_dir
from cfgen.version import __version__

#: Fewer are read faster than looked up.
WORTH_IT = 500
#: So many are learnt, and then written down, at a time: a killed command has not looked at them for nothing.
_AT_ONCE = 2000
#: s that another process's writing is waited for
_PATIENCE_S = 1.0
#: s after which one that was not read is deleted
_KEPT_S = 90 * 86400.0
_TABLE = "CREATE TABLE learnt (name TEXT PRIMARY KEY, stamp TEXT NOT NULL, told TEXT NOT NULL) WITHOUT ROWID"
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NOTHING = ("", None)

#: name -> stamp and what was told
Memory = dict[str, tuple[str, Any]]
#: From names, one answer each that JSON can hold, in their order.
Learn = Callable[[Sequence[str]], Iterable[Any]]


def stamp_of(at: os.stat_result) -> str:
    """What changes with a file's content: records are replaced, never written into."""
    return f"{at.st_size}-{at.st_mtime_ns}-{at.st_ino}"


def stamped(files: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Names of files with their stamps, in place of their paths; what is not there is left out."""
    for name, path in files:
        try:
            at = os.stat(path)  # noqa: PTH116 - paths as objects take four times as long
        except OSError:
            continue
        yield name, stamp_of(at)


def stamp_of_folder(folder: str) -> str:
    """What changes with any file in a folder, however deep."""
    told = hashlib.blake2b(digest_size=12)
    below = [folder]
    while below:
        here = below.pop()
        try:
            with os.scandir(here) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
            for entry in inside:
                if entry.is_dir():
                    below.append(entry.path)
                else:
                    told.update(f"{entry.path}/{stamp_of(entry.stat())}".encode("utf-8", "surrogateescape"))
        except OSError:
            told.update(b"?")
    return told.hexdigest()


def learn_changed(
    folder: Path,
    kind: str,
    found: Iterable[tuple[str, str]],
    learn: Learn,
    memory: Memory | None = None,
    whole: bool = True,
) -> dict[str, Any]:
    """What ``learn`` tells of every name, in the order of ``found``; asked only of those whose stamp changed.

    None is not kept: it is asked again.

    Args:
        found: names of things in ``folder`` with their stamps.
        kind: what is told of them; changes with what ``learn`` does.
        memory: of whoever asks again and again; looked into first, and brought up to date.
        whole: ``found`` is all that there is: of anything else nothing is kept.
    """
    stamps = dict(found)
    memory = {} if memory is None else memory
    if any(memory.get(name, _NOTHING)[0] != stamp for name, stamp in stamps.items()):
        _update(memory, folder, kind, stamps, learn, whole)
    for name in memory.keys() - stamps.keys():
        del memory[name]
    return {name: memory[name][1] for name in stamps}


def _update(
    memory: Memory, folder: Path, kind: str, stamps: dict[str, str], learn: Learn, whole: bool
) -> None:
    database = _Database(folder, kind) if len(stamps) >= WORTH_IT else None
    with contextlib.closing(database) if database else contextlib.nullcontext():
        if database and not memory:
            memory |= database.read()
        new = [name for name, stamp in stamps.items() if memory.get(name, _NOTHING)[0] != stamp]
        for i in range(0, len(new), _AT_ONCE):
            names = new[i : i + _AT_ONCE]
            learnt = [(name, stamps[name], told) for name, told in zip(names, learn(names), strict=True)]
            memory |= {name: (stamp, told) for name, stamp, told in learnt}
            if database:
                database.add(row for row in learnt if row[2] is not None)
        if database and whole:
            database.drop([name for name in memory if name not in stamps])


class _Database:
    """Reads and writes as long as it can; after the first fault it holds nothing and takes nothing."""

    def __init__(self, folder: Path, kind: str) -> None:
        at, where = folder.stat(), str(folder.resolve())
        key = hash_json([where, at.st_dev, at.st_ino, kind, __version__]).removeprefix("sha256:")
        self._about = json.dumps([where, kind, __version__])
        self.path = cache_dir() / "index" / f"{key[:24]}.sqlite"
        self._connection: sqlite3.Connection | None = None

    def read(self) -> dict[str, tuple[str, Any]]:
        """name -> its stamp and what was told of it."""
        for attempt in (1, 2):
            try:
                self._connection = self._open()
                rows = self._connection.execute("SELECT name, stamp, told FROM learnt")
                found: Memory = {}
                while some := rows.fetchmany(_AT_ONCE):
                    told = json.loads(
                        f"[{','.join(row[2] for row in some)}]"
                    )  # one by one takes twice as long
                    found |= {name: (stamp, one) for (name, stamp, _), one in zip(some, told, strict=True)}
                return found
            except (sqlite3.Error, ValueError, TypeError, OSError) as error:
                self.close()
                if getattr(error, "sqlite_errorcode", 0) in _BUSY or attempt == 2:
                    return {}
                self._throw_away()
        return {}

    def add(self, rows: Iterable[tuple[str, str, Any]]) -> None:
        self._write(
            "INSERT OR REPLACE INTO learnt VALUES (?, ?, ?)",
            ((name, stamp, json.dumps(told, ensure_ascii=False)) for name, stamp, told in rows),
        )

    def drop(self, names: Sequence[str]) -> None:
        if names:
            self._write("DELETE FROM learnt WHERE name = ?", ((name,) for name in names))

    def _open(self) -> sqlite3.Connection:
        """
        Raises:
            ValueError: it is of something else.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_PATIENCE_S)
        try:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                    self._forget_old()
                    connection.execute("CREATE TABLE about (told TEXT)")
                    connection.execute("INSERT INTO about VALUES (?)", (self._about,))
                    connection.execute(_TABLE)
                if connection.execute("SELECT told FROM about").fetchone() != (self._about,):
                    raise ValueError(f"{self.path}: of something else")
        except BaseException:
            connection.close()
            raise
        return connection

    def _write(self, statement: str, rows: Iterator[tuple[Any, ...]]) -> None:
        if self._connection is None:
            return
        try:
            with self._connection:
                self._connection.executemany(statement, rows)
        except (sqlite3.Error, UnicodeError, OSError):  # full, read-only, or somebody else writes: then not
            self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _forget_old(self) -> None:
        """Databases of folders that nobody asked about for long: most of them are gone."""
        for path in self.path.parent.glob("*.sqlite"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_atime > _KEPT_S:
                    path.unlink()

    def _throw_away(self) -> None:
        for ending in ("", "-journal", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
