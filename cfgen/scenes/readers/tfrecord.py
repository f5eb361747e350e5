"""TFRecord files and the Protocol Buffers messages in them, without TensorFlow: only what is asked for is read."""

import mmap
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfgen.core.files import check_no_pipe

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class ProtoMessage:
    """An encoded message. Fields are taken by their numbers; those that are not asked for are skipped.

    Raises (all methods):
        ValueError: the bytes are no message.
    """

    def __init__(self, data: memoryview) -> None:
        self._data = data

    def all(self, number: int) -> Iterator[memoryview | int]:
        """Every value of a field: bytes, or an integer."""
        for field, value in self._fields():
            if field == number:
                yield value

    def message(self, number: int) -> "ProtoMessage":
        """The (first) message in a field; an empty one where it is left out."""
        return ProtoMessage(next((v for v in self.all(number) if isinstance(v, memoryview)), memoryview(b"")))

    def messages(self, number: int) -> list["ProtoMessage"]:
        return [ProtoMessage(value) for value in self.all(number) if isinstance(value, memoryview)]

    def integer(self, number: int) -> int:
        """0 where it is left out."""
        return next((value for value in self.all(number) if isinstance(value, int)), 0)

    def data(self, number: int) -> bytes:
        return next((bytes(value) for value in self.all(number) if isinstance(value, memoryview)), b"")

    def numbers(self, number: int, kind: str) -> NDArray[np.float64]:
        """A repeated float ("<f4") or double ("<f8"), packed or not."""
        parts = [value for value in self.all(number) if isinstance(value, memoryview)]
        return np.frombuffer(b"".join(parts), kind).astype(float)

    def _fields(self) -> Iterator[tuple[int, memoryview | int]]:
        """Number and value of each; four and eight bytes come as bytes."""
        at, data = 0, self._data
        while at < len(data):
            key, at = _varint(data, at)
            kind = key & 7
            if kind == _VARINT:
                value, at = _varint(data, at)
                yield key >> 3, value
                continue
            if kind == _BYTES:
                length, at = _varint(data, at)
            else:
                length = {_FIXED64: 8, _FIXED32: 4}.get(kind, -1)
            if length < 0 or at + length > len(data):
                raise ValueError("bytes that are no Protocol Buffers message")
            yield key >> 3, data[at : at + length]
            at += length


class RecordFile:
    """A TFRecord file without compression: 8 bytes of length, 4 of its checksum, the record, 4 of its checksum.
    Checksums are not looked at."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: int) -> ProtoMessage:
        start, length = self._places[index]
        return ProtoMessage(self._data[start : start + length])

    @cached_property
    def _data(self) -> memoryview:
        check_no_pipe(self.path)
        with self.path.open("rb") as file:
            if not self.path.stat().st_size:
                raise ValueError("an empty file")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """Start and length of each record."""
        places, at, data = [], 0, self._data
        while at < len(data):
            length = int.from_bytes(data[at : at + 8], "little")
            if at + 16 + length > len(data):
                raise ValueError(f"one that is cut off or damaged, from byte {at} of {len(data)} on")
            places.append((at + 12, length))
            at += 16 + length
        return places


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """The value and where it ends."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("bytes that are no Protocol Buffers message")
