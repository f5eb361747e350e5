"""What does not fit into memory, or was read before, in SQLite databases: lists, mappings and an index of files."""

import contextlib
import hashlib
import json
import os
import pickle
import sqlite3
import threading
import time
import zlib
from abc import abstractmethod
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from cfgen.core.errors import StoreError
from cfgen.core.hashing import hash_json
from cfgen.core.paths import cache_dir
from cfgen.version import __version__

#: items of a list that are held in memory before all of them go to the database
IN_MEMORY = 1000
#: files from which on an index is faster than reading them
WORTH_AN_INDEX = 500
#: files that are read, and then written down, at a time: a killed command has not read them for nothing
_AT_ONCE = 2000
#: s that another process's writing is waited for
_TIMEOUT_S = 1.0
#: s after which an index that was not read is deleted
_EXPIRY_S = 90 * 86400.0
#: fast; records become half as large
_ZLIB_LEVEL = 1
_ABSENT = -1

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

# --- lists and mappings ---------------------------------------------------------------------------------


class DiskStore:
    """A database without a name, where SQLite keeps temporary files, for as long as somebody holds this.

    What is read from it is a copy: not to be changed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("CREATE TABLE items (row INTEGER PRIMARY KEY, content BLOB NOT NULL)")

    def put(self, item: object) -> int:
        """Its row.

        Raises:
            StoreError: no room.
        """
        content = zlib.compress(pickle.dumps(item, pickle.HIGHEST_PROTOCOL), _ZLIB_LEVEL)
        try:
            with self._lock:
                row = self._connection.execute("INSERT INTO items (content) VALUES (?)", (content,)).lastrowid
        except sqlite3.Error as error:
            raise StoreError(
                f"cannot keep what does not fit into memory ({error}); make room in /var/tmp and /tmp, or set "
                "SQLITE_TMPDIR to a folder elsewhere"
            ) from error
        return row or 0

    def get(self, row: int) -> Any:
        with self._lock:
            (content,) = self._connection.execute(
                "SELECT content FROM items WHERE row = ?", (row,)
            ).fetchone()
        return pickle.loads(zlib.decompress(content))


class _Sliceable(Sequence[T]):
    """A slice of it is a view, no copy."""

    @abstractmethod
    def _item(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return ListView(self, range(len(self))[index])
        return self._item(index)


class DiskList(_Sliceable[T]):
    """A sequence that can be read again and again; on disk from :data:`IN_MEMORY` items on."""

    def __init__(self, store: DiskStore, items: Iterable[T] = ()) -> None:
        self._store = store
        self._in_memory: list[T] | None = []
        self._rows = array("q")
        for item in items:
            self.append(item)

    def append(self, item: T) -> None:
        if self._in_memory is None:
            self._rows.append(self._store.put(item))
            return
        self._in_memory.append(item)
        if len(self._in_memory) > IN_MEMORY:
            self._rows.extend(map(self._store.put, self._in_memory))
            self._in_memory = None

    def __len__(self) -> int:
        return len(self._rows) if self._in_memory is None else len(self._in_memory)

    def _item(self, index: int) -> T:
        if self._in_memory is not None:
            return self._in_memory[index]
        item: T = self._store.get(self._rows[index])
        return item


class ListView(_Sliceable[T]):
    """Some items of a sequence, by their places in it."""

    def __init__(self, items: Sequence[T], places: Iterable[int]) -> None:
        self._items = items
        self._places: Sequence[int] = places if isinstance(places, range) else array("q", places)

    def __len__(self) -> int:
        return len(self._places)

    def _item(self, index: int) -> T:
        return self._items[self._places[index]]


class DiskMap(Mapping[K, T]):
    """A mapping in the order of its items; its keys, and which of its values are None, stay in memory."""

    def __init__(self, store: DiskStore, items: Iterable[tuple[K, T]] = ()) -> None:
        self._values: Sequence[Any] = (values := DiskList[Any](store))
        self._places: dict[K, int] = {}
        for key, value in items:
            self._places[key] = _ABSENT if value is None else len(values)
            if value is not None:
                values.append(value)

    @classmethod
    def of(cls, values: Sequence[T], places: Mapping[K, int]) -> "DiskMap[K, T]":
        """A view of a sequence."""
        view = cls.__new__(cls)
        view._values, view._places = values, dict(places)
        return view

    @classmethod
    def joined(cls, by: Mapping[K, Any], values: "DiskMap[Any, T]") -> "DiskMap[K, T]":
        """Other keys for the same values: ``by`` says whose each key's is."""
        return cls.of(values._values, {key: values._places[of] for key, of in by.items()})

    def only(self, keys: Collection[K]) -> "DiskMap[K, T]":
        """A part of it, in its own order."""
        return self.of(self._values, {key: place for key, place in self._places.items() if key in keys})

    def has(self, key: K) -> bool:
        """Whether there is something but None, without reading it."""
        return self._places.get(key, _ABSENT) != _ABSENT

    def __getitem__(self, key: K) -> T:
        place = self._places[key]
        return None if place == _ABSENT else self._values[place]  # type: ignore[return-value]

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[K]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class DiskCache(Generic[K, T]):
    """What was worked out once, by its key; for several threads."""

    def __init__(self, store: DiskStore) -> None:
        self._values, self._places = DiskList[T](store), dict[K, int]()
        self._lock = threading.Lock()

    def get(self, key: K, compute: Callable[[], T]) -> T:
        with self._lock:
            if (place := self._places.get(key)) is not None:
                return self._values[place]
        value = compute()
        with self._lock:
            self._places[key] = len(self._values)
            self._values.append(value)
        return value


# --- an index of files ----------------------------------------------------------------------------------

#: name -> mtime key and what was read of it, as JSON holds it
FileIndex = dict[str, tuple[str, Any]]
_MISSING = ("", None)


def mtime_key(status: os.stat_result) -> str:
    """What changes with a file's content: records are replaced, never written into."""
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"


def with_mtime_keys(files: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Names of files with their mtime keys, in place of their paths; missing files are left out."""
    for name, path in files:
        try:
            status = os.stat(path)  # noqa: PTH116 - paths as objects take four times as long
        except OSError:
            continue
        yield name, mtime_key(status)


def folder_mtime_key(folder: str) -> str:
    """What changes with any file in a folder, however deep."""
    digest = hashlib.blake2b(digest_size=12)
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
            for entry in inside:
                if entry.is_dir():
                    folders.append(entry.path)
                else:
                    digest.update(
                        f"{entry.path}/{mtime_key(entry.stat())}".encode("utf-8", "surrogateescape")
                    )
        except OSError:
            digest.update(b"?")
    return digest.hexdigest()


def indexed(
    folder: Path,
    kind: str,
    keys: Iterable[tuple[str, str]],
    read: Callable[[Sequence[str]], Iterable[Any]],
    memory: FileIndex | None = None,
    complete: bool = True,
) -> dict[str, Any]:
    """What ``read`` says of every name, in the order of ``keys``; called only for those whose mtime key changed.

    The index lies in the user's cache folder, a database for each folder and kind. It may be deleted at any time; where
    it is damaged or somebody else writes it, all is read anew. None is not kept: it is read again.

    Args:
        keys: names of things in ``folder`` with their mtime keys.
        kind: what is read of them; changes with what ``read`` does.
        read: from names, one answer each that JSON can hold, in their order.
        memory: of whoever asks again and again; looked into first, and brought up to date.
        complete: ``keys`` are all that there is: of anything else nothing is kept.
    """
    current, memory = dict(keys), {} if memory is None else memory
    if _changed(memory, current):
        database = _IndexFile(folder, kind, current)
        if not memory:
            memory |= database.load()
        changed = _changed(memory, current)
        for i in range(0, len(changed), _AT_ONCE):
            names = changed[i : i + _AT_ONCE]
            entries = {n: (current[n], value) for n, value in zip(names, read(names), strict=True)}
            memory |= entries
            database.save(entries)
        database.close(memory.keys() - current.keys() if complete else ())
    for name in memory.keys() - current.keys():
        del memory[name]
    return {name: memory[name][1] for name in current}


def _changed(index: FileIndex, keys: Mapping[str, str]) -> list[str]:
    return [name for name, key in keys.items() if index.get(name, _MISSING)[0] != key]


class _IndexFile:
    """Reads and writes as long as it can; after the first fault, or where ``keys`` are few, it holds nothing."""

    def __init__(self, folder: Path, kind: str, keys: Collection[str]) -> None:
        self._worth_it = len(keys) >= WORTH_AN_INDEX
        status = folder.stat()
        identity = [str(folder.resolve()), status.st_dev, status.st_ino, kind, __version__]
        name = hash_json(identity).removeprefix("sha256:")[:24]
        self.path = cache_dir() / "index" / f"{name}.sqlite"
        self._connection: sqlite3.Connection | None = None

    def load(self) -> FileIndex:
        for _ in range(2 if self._worth_it else 0):
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                if not self.path.exists():
                    self._delete_expired()
                self._connection = sqlite3.connect(self.path, timeout=_TIMEOUT_S)
                with self._connection as connection:
                    connection.execute(
                        "CREATE TABLE IF NOT EXISTS entries (name TEXT PRIMARY KEY, key TEXT, content TEXT)"
                    )
                    rows = connection.execute("SELECT name, key, content FROM entries").fetchall()
                contents = json.loads(
                    f"[{','.join(row[2] for row in rows)}]"
                )  # one by one takes twice as long
                return {row[0]: (row[1], content) for row, content in zip(rows, contents, strict=True)}
            except sqlite3.OperationalError:  # somebody writes it, or the folder cannot be written
                self._connection = None
                return {}
            except (sqlite3.Error, ValueError, TypeError, OSError):
                self._connection = None
                with contextlib.suppress(OSError):
                    self.path.unlink()
        return {}

    def save(self, entries: FileIndex) -> None:
        rows = [(n, k, json.dumps(v, ensure_ascii=False)) for n, (k, v) in entries.items() if v is not None]
        self._write("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows)

    def close(self, gone: Iterable[str]) -> None:
        self._write("DELETE FROM entries WHERE name = ?", [(name,) for name in gone])
        if self._connection is not None:
            self._connection.close()

    def _write(self, statement: str, rows: Sequence[tuple[str, ...]]) -> None:
        if self._connection is None:
            return
        try:
            with self._connection:
                self._connection.executemany(statement, rows)
        except (sqlite3.Error, UnicodeError, OSError):  # full, read-only, or somebody else writes: then not
            self._connection.close()
            self._connection = None

    def _delete_expired(self) -> None:
        """Indexes of folders that nobody asked about for long: most of these folders are gone."""
        for path in self.path.parent.glob("*.sqlite"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_atime > _EXPIRY_S:
                    path.unlink()
