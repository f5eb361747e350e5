"""CRC-32C (Castagnoli) with NumPy, over many stretches of the data at once."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

_CASTAGNOLI = 0x82F63B78  # reflected
#: Bytes of a stretch; data shorter than two is taken byte by byte.
_STRETCH = 512

Words = NDArray[np.uint32]


def masked_crc32c(data: bytes | memoryview) -> int:
    """As TFRecord files store it (tensorflow/core/lib/hash/crc32c.h)."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c(data: bytes | memoryview) -> int:
    whole = np.frombuffer(data, np.uint8)
    lanes = len(whole) // _STRETCH
    if lanes < 2:
        return _of_bytes(0xFFFFFFFF, whole) ^ 0xFFFFFFFF
    parts = _of_stretches(whole[: lanes * _STRETCH].reshape(lanes, _STRETCH))
    return _of_bytes(_joined(parts), whole[lanes * _STRETCH :]) ^ 0xFFFFFFFF


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
