"""Things in memory as long as they are few, in a file without a name in the user's cache folder when they are many."""

import errno
import pickle
import tempfile
import threading
import weakref
import zlib
from abc import abstractmethod
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Generic, TypeVar, overload

from cfgen.core.errors import StoreError
from cfgen.core.paths import cache_dir

#: So many of a kind are held in memory.
FEW = 1000
#: Fast; records become half as large.
_LEVEL = 1
_NOTHING = -1
_FULL = (errno.ENOSPC, errno.EDQUOT)

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class Spill:
    """A file that is there as long as somebody holds this. What is read from it is a copy: not to be changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._end = 0

    def put(self, thing: object) -> tuple[int, int]:
        """Where it lies, and how long it is.

        Raises:
            StoreError: no room.
        """
        content = zlib.compress(pickle.dumps(thing, pickle.HIGHEST_PROTOCOL), _LEVEL)
        with self._lock:
            at = self._end
            try:
                self._open().seek(at)
                self._open().write(content)
                self._open().flush()
            except OSError as error:
                why = "it is full" if error.errno in _FULL else str(error.strerror)
                raise StoreError(
                    f"{cache_dir()}: cannot keep what does not fit into memory ({why}); make room there, or set "
                    "XDG_CACHE_HOME to a folder elsewhere"
                ) from error
            self._end = at + len(content)
        return at, len(content)

    def get(self, at: int, size: int) -> Any:
        with self._lock:
            self._open().seek(at)
            content = self._open().read(size)
        return pickle.loads(zlib.decompress(content))

    def _open(self) -> IO[bytes]:
        if self._file is None:
            cache_dir().mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=cache_dir())  # noqa: SIM115 - for as long as we are there
            weakref.finalize(self, self._file.close)
        return self._file


class _Placed(Sequence[T]):
    """A part of it is a look at it, no copy."""

    @abstractmethod
    def _one(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        return Part(self, range(len(self))[place]) if isinstance(place, slice) else self._one(place)


class Spilled(_Placed[T]):
    """A sequence that can be read again and again; in the file from :data:`FEW` things on."""

    def __init__(self, spill: Spill, things: Iterable[T] = ()) -> None:
        self._spill = spill
        self._held: list[T] | None = []
        self._at, self._sizes = array("q"), array("q")
        for thing in things:
            self.append(thing)

    def append(self, thing: T) -> None:
        if self._held is None:
            self._put(thing)
            return
        self._held.append(thing)
        if len(self._held) > FEW:
            for one in self._held:
                self._put(one)
            self._held = None

    def _put(self, thing: T) -> None:
        at, size = self._spill.put(thing)
        self._at.append(at)
        self._sizes.append(size)

    def __len__(self) -> int:
        return len(self._at) if self._held is None else len(self._held)

    def _one(self, place: int) -> T:
        found: T = (
            self._spill.get(self._at[place], self._sizes[place]) if self._held is None else self._held[place]
        )
        return found


class Part(_Placed[T]):
    """Some of a sequence, by their places in it."""

    def __init__(self, whole: Sequence[T], places: Iterable[int]) -> None:
        self._whole = whole
        self._places: Sequence[int] = places if isinstance(places, range) else array("q", places)

    def __len__(self) -> int:
        return len(self._places)

    def _one(self, place: int) -> T:
        return self._whole[self._places[place]]


class SpilledMap(Mapping[K, T]):
    """A mapping in the order in which it was made; its keys, and which of its values are None, stay in memory."""

    def __init__(self, spill: Spill, items: Iterable[tuple[K, T]] = ()) -> None:
        self._values: Sequence[Any] = (values := Spilled[Any](spill))
        self._places: dict[K, int] = {}
        for key, value in items:
            self._places[key] = _NOTHING if value is None else len(values)
            if value is not None:
                values.append(value)

    @classmethod
    def of(cls, values: Sequence[T], places: Mapping[K, int]) -> "SpilledMap[K, T]":
        """A look at a sequence."""
        found = cls.__new__(cls)
        found._values, found._places = values, dict(places)
        return found

    @classmethod
    def joined(cls, by: Mapping[K, Any], values: "SpilledMap[Any, T]") -> "SpilledMap[K, T]":
        """Other keys for the same values: ``by`` says whose each key's is."""
        return cls.of(values._values, {key: values._places[of] for key, of in by.items()})

    def only(self, keys: Collection[K]) -> "SpilledMap[K, T]":
        """A part of it, in its own order."""
        return self.of(self._values, {key: place for key, place in self._places.items() if key in keys})

    def has(self, key: K) -> bool:
        """Whether there is something but None, without looking at it."""
        return self._places.get(key, _NOTHING) != _NOTHING

    def __getitem__(self, key: K) -> T:
        place = self._places[key]
        return None if place == _NOTHING else self._values[place]  # type: ignore[return-value]

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[K]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class SpilledOnce(Generic[K, T]):
    """What was worked out once, by its key; for several threads."""

    def __init__(self, spill: Spill) -> None:
        self._values, self._places = Spilled[T](spill), dict[K, int]()
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], T]) -> T:
        with self._lock:
            if (place := self._places.get(key)) is not None:
                return self._values[place]
        made = make()
        with self._lock:
            self._places[key] = len(self._values)
            self._values.append(made)
        return made
