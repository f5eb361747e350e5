"""TFRecord files and the Protocol Buffers messages in them, without TensorFlow: only what is asked for is read."""

import mmap
import struct
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cfgen.core.files import check_no_pipe

_CASTAGNOLI = 0x82F63B78  # reflected
#: Bytes of a stretch; data shorter than two is taken byte by byte.
_STRETCH = 512

Words = NDArray[np.uint32]


def masked_crc32c(data: bytes | memoryview) -> int:
    """As TFRecord files store it (tensorflow/core/lib/hash/crc32c.h)."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c(data: bytes | memoryview) -> int:
    octets = np.frombuffer(data, np.uint8)
    lanes = len(octets) // _STRETCH
    if lanes < 2:
        return _of_bytes(0xFFFFFFFF, octets) ^ 0xFFFFFFFF
    parts = _of_stretches(octets[: lanes * _STRETCH].reshape(lanes, _STRETCH))
    return _of_bytes(_joined(parts), octets[lanes * _STRETCH :]) ^ 0xFFFFFFFF


def _of_bytes(crc: int, data: NDArray[np.uint8]) -> int:
    table = _table()
    for byte in data.tolist():
        crc = crc >> 8 ^ int(table[(crc ^ byte) & 0xFF])
    return crc


def _of_stretches(rows: NDArray[np.uint8]) -> Words:
    """The register after each row (lanes, bytes); the first row's starts with ones, the others' with zeros."""
    table = _table()
    crc = np.zeros(len(rows), np.uint32)
    crc[0] = 0xFFFFFFFF
    for column in np.ascontiguousarray(rows.T):
        crc = crc >> 8 ^ table[(crc ^ column) & 0xFF]
    return crc


def _joined(parts: Words) -> int:
    """One register for all stretches: neighbours are joined until one is left. Zeros in front change nothing."""
    level = 0
    while len(parts) > 1:
        if len(parts) % 2:
            parts = np.concatenate([np.zeros(1, np.uint32), parts])
        tables = _moved(level)
        before, after = parts[0::2], parts[1::2]
        moved = tables[0][before & 0xFF]
        for i in range(1, 4):
            moved = moved ^ tables[i][before >> np.uint32(8 * i) & 0xFF]
        parts = moved ^ after
        level += 1
    return int(parts[0])


@cache
def _table() -> Words:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(_CASTAGNOLI), table >> 1).astype(np.uint32)
    return table


@cache
def _moved(level: int) -> Words:
    """(4, 256): what each byte of a register becomes behind 2**level stretches of zeros; xor joins the four."""
    if level:
        half = _moved(level - 1)
        out = np.zeros((4, 256), np.uint32)
        for i in range(4):
            out ^= half[i][half >> np.uint32(8 * i) & 0xFF]
        return out
    crc = (np.arange(256, dtype=np.uint32)[None, :] << np.array([[0], [8], [16], [24]], np.uint32)).astype(
        np.uint32
    )
    for _ in range(_STRETCH):
        crc = crc >> 8 ^ _table()[crc & 0xFF]
    return crc


# --- records and messages ---

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Message:
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

    def message(self, number: int) -> "Message":
        """The (first) message in a field; an empty one where it is left out."""
        return Message(next((v for v in self.all(number) if isinstance(v, memoryview)), memoryview(b"")))

    def messages(self, number: int) -> list["Message"]:
        return [Message(value) for value in self.all(number) if isinstance(value, memoryview)]

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
    """A TFRecord file without compression."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checked: set[int] = set()

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: int) -> Message:
        """A record whose bytes are as they were written.

        Raises:
            ValueError: they are not.
        """
        if index not in self._checked:
            start, length = self._places[index]
            (checksum,) = struct.unpack("<I", self._data[start + length : start + length + 4])
            if masked_crc32c(self._data[start : start + length]) != checksum:
                raise ValueError(f"damaged bytes: the checksum of record {index} does not match")
            self._checked.add(index)
        return self.unchecked(index)

    def unchecked(self, index: int) -> Message:
        """The record as it lies there: reading a few of its fields does not read all of it."""
        start, length = self._places[index]
        return Message(self._data[start : start + length])

    @cached_property
    def _data(self) -> memoryview:
        check_no_pipe(self.path)
        with self.path.open("rb") as file:
            if not self.path.stat().st_size:
                raise ValueError("an empty file")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        """Start and length of each record: 8 bytes of length, 4 of its checksum, the record, 4 of its checksum."""
        places, at, data = [], 0, self._data
        while at < len(data):
            head = bytes(data[at : at + 12])
            length, checksum = struct.unpack("<QI", head) if len(head) == 12 else (0, -1)
            if masked_crc32c(head[:8]) != checksum:
                raise ValueError(f"a damaged one, from byte {at} of {len(data)} on")
            if at + 16 + length > len(data):
                raise ValueError(f"one that was cut off at byte {len(data)}")
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
