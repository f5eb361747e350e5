"""The door for what comes from outside, a planner or a model: afterwards it is UTF-8 text, JSON or float64.

Nothing here raises for a value that it is given but :func:`plain_numbers`; what had to be changed is told in notes.
Shipped to planners' environments, so it keeps to Python 3.9 and NumPy.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_CUT = "only the first"
#: control characters, and those that turn the direction of what follows
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

#: what Markdown reads as more than text
_MARKS = re.compile(r"([\\`*_\[\]<>|])")

#: of text, characters
MAX_CHARS = 1_000_000
#: values in one JSON value, and levels of it
_MOST_VALUES = 20_000
_DEEPEST = 40
#: numbers in one array of numbers
_MOST_NUMBERS = 200_000
#: of the ``repr`` of what is no JSON, characters
_LONGEST_REPR = 500
_MOST_NOTES = 10

Notes = tuple[str, ...]


def plain_text(text: str | bytes, limit: int = MAX_CHARS) -> tuple[str, Notes]:
    """``text`` as a plain ``str`` that UTF-8 can hold, at most ``limit`` characters of it, and what was changed.

    Halves of surrogate pairs that stand together are joined; one alone becomes visible as ``\\ud83d``. Bytes are
    read as UTF-8; what is none becomes U+FFFD.
    """
    notes = []
    length = len(text)
    short = text[:limit]
    if isinstance(short, (bytes, bytearray)):
        short = short.decode("utf-8", "replace")
        notes.append("bytes, read as UTF-8")
    else:
        short = str.__str__(short)
    if length > limit:
        notes.append(f"{length} characters, {_CUT} {limit} are kept")
    if not _encodable(short):
        joined = short.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        surrogates = sum("\ud800" <= c <= "\udfff" for c in joined)
        short = joined.encode("utf-8", "backslashreplace").decode()
        notes.append(
            f"{surrogates} lone surrogates, made visible" if surrogates else "surrogate pairs, joined"
        )
    return short, tuple(notes)


def was_cut(notes: Iterable[str]) -> bool:
    """Whether one of an answer's notes tells that its text was too long."""
    return any(note.startswith("text: ") and _CUT in note for note in notes)


def visible(text: str) -> str:
    """``text`` with control characters other than tabs and ends of lines written out: a terminal obeys none."""
    return _UNSEEN.sub(lambda c: c[0].encode("unicode_escape").decode(), text)


def one_line(text: str, limit: int = 0) -> str:
    """``text`` in one line; above 0, ``most`` characters of it."""
    line = " ".join(visible(text).split())
    return line if not 0 < limit < len(line) else f"{line[: limit - 3]}..."


def markdown_line(text: str) -> str:
    """``text`` in one line of Markdown that means what it says: no table, heading, link or HTML of its own."""
    return _MARKS.sub(r"\\\1", one_line(text))


def plain_json(value: Any, limit: int = MAX_CHARS) -> tuple[Any, Notes]:
    """``value`` as JSON (dicts with text keys, lists, finite numbers, plain text), and what was changed.

    Scalars, arrays and tensors of any library with ``tolist`` become numbers and lists; dataclasses and records
    dicts; sets lists; NaN, infinities and integers beyond 64 bits text; what is none of these its ``repr``. Beyond
    20,000 values, 40 levels or ``limit`` characters in all, the rest is left out.
    """
    return _ValueReader(limit).read(value)


def plain_numbers(value: Any) -> np.ndarray:
    """``value`` as a new float64 array; nested sequences, arrays, tensors will do; None and what is masked become NaN.

    Raises:
        TypeError, ValueError, OverflowError: it holds something else than numbers, is ragged, or too large.
    """
    import numpy as np  # not for the texts of a command that only helps

    if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "fiu":
        value = np.ma.filled(value.astype(float), np.nan)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu":
        value = _nested(value, 0)
    if np.size(value) > _MOST_NUMBERS:
        raise ValueError(f"expected at most {_MOST_NUMBERS} numbers, found {np.size(value)}")
    return np.array(value, float)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _nested(value: Any, depth: int) -> Any:
    if depth > 4:
        raise ValueError("expected at most 2 levels of lists, found more")
    if value is None:
        return math.nan
    if isinstance(value, (bool, str, bytes, complex)):
        raise TypeError(f"found {type(value).__name__}")
    if isinstance(value, (int, float, Decimal, Fraction)):
        return float(value)
    if isinstance(value, (list, tuple)):
        if len(value) > _MOST_NUMBERS:
            raise ValueError(f"expected at most {_MOST_NUMBERS} numbers, found {len(value)}")
        return [_nested(v, depth + 1) for v in value]
    if callable(getattr(value, "tolist", None)):
        if _size(value) > _MOST_NUMBERS:
            raise ValueError(f"expected at most {_MOST_NUMBERS} numbers, found {_size(value)}")
        return _nested(value.tolist(), depth + 1)
    raise TypeError(f"found {type(value).__name__}")


def _size(array: Any) -> int:
    """How many numbers an array or a tensor holds, by its shape."""
    return math.prod(int(n) for n in getattr(array, "shape", ()))


class _ValueReader:
    """Reads one value, within a budget."""

    def __init__(self, limit: int) -> None:
        self._chars, self._values = limit, _MOST_VALUES
        self._notes: dict[str, None] = {}
        self._above: list[int] = []

    def read(self, value: Any) -> tuple[Any, Notes]:
        value_read = self._read(value, "")
        notes = list(self._notes)
        others_note = [f"and {len(notes) - _MOST_NOTES} more"] if len(notes) > _MOST_NOTES else []
        return value_read, tuple(notes[:_MOST_NOTES] + others_note)

    def _note(self, place: str, words: str) -> None:
        self._notes[f"{place}: {words}" if place else words] = None

    def _read(self, value: Any, place: str) -> Any:
        self._values -= 1
        try:
            return self._plain(value, place)
        except Exception as error:  # a property, a conversion or a repr of somebody else's
            self._note(place, f"{_kind(value)} that cannot be read ({_kind(error)})")
            return f"<{_kind(value)}>"

    def _plain(self, value: Any, place: str) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (str, bytes, bytearray)):
            return self._text(value, place)
        if isinstance(value, int):
            return self._integer(int.__int__(value), place)
        if isinstance(value, float):
            return self._float(float.__float__(value), place)
        if isinstance(value, (Decimal, Fraction)):
            return self._float(float(value), place)
        if id(value) in self._above or len(self._above) >= _DEEPEST:
            self._note(place, f"a {_kind(value)} within itself or too deep, left out")
            return None
        self._above.append(id(value))
        try:
            return self._container(value, place)
        finally:
            self._above.pop()

    def _container(self, value: Any, place: str) -> Any:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        if isinstance(value, Mapping):
            return self._mapping(value, place)
        if isinstance(value, (list, tuple, set, frozenset)):
            items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
            return self._list(items, len(value), place)
        if callable(getattr(value, "tolist", None)):  # NumPy, PyTorch, JAX, whatever the device
            if _size(value) > self._values:
                self._note(place, f"an array of {_size(value)} numbers, left out")
                return None
            return self._read(value.tolist(), place)
        if callable(getattr(value, "model_dump", None)):
            return self._read(value.model_dump(), place)
        self._note(place, f"expected JSON, found {_kind(value)}, kept as its repr")
        return self._text(repr(value)[:_LONGEST_REPR], place)

    def _text(self, value: str | bytes | bytearray, place: str) -> str:
        text, notes = plain_text(bytes(value) if isinstance(value, bytearray) else value, max(self._chars, 0))
        self._chars -= len(text)
        for note in notes:
            self._note(place, note)
        return text

    def _integer(self, value: int, place: str) -> int | str:
        if value.bit_length() <= 64:
            return value
        self._note(place, f"an integer of {value.bit_length()} bits, kept as text")
        return str(value) if value.bit_length() <= 4096 else f"an integer of {value.bit_length()} bits"

    def _float(self, value: float, place: str) -> float | str:
        if math.isfinite(value):
            return value
        self._note(place, f"{value}, kept as text")
        return str(value)

    def _list(self, items: Iterable[Any], count: int, place: str) -> list[Any]:
        values = []
        for number, item in enumerate(items):
            if self._values <= 0:
                self._note(place, f"{count - number} of {count} values left out")
                break
            values.append(self._read(item, f"{place}[{number}]"))
        return values

    def _mapping(self, items: Mapping[Any, Any], place: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for number, (key, item) in enumerate(items.items()):
            if self._values <= 0:
                self._note(place, f"{len(items) - number} of {len(items)} fields left out")
                break
            name = self._text(key, place) if isinstance(key, (str, bytes)) else self._key(key, place)
            if name in values:
                self._note(place, f"two fields '{name}', the last one counts")
            values[name] = self._read(item, f"{place}.{name}" if place else name)
        return values

    def _key(self, key: Any, place: str) -> str:
        self._note(place, f"a field whose name is {_kind(key)}, kept as text")
        return self._text(str(key)[:_LONGEST_REPR], place)


def _kind(value: Any) -> str:
    return type(value).__name__
