"""PNG made by libdeflate: smaller than OpenCV's at the same time. ``benchmarks/png.py`` compares the ways."""

import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec

import cv2
import numpy as np

LEVEL = 6
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: how a PNG begins, depth to interlacing of 8-bit RGB in its first chunk, and where that ends
_BEGINS, _RGB, _HEAD = _SIGNATURE + b"\0\0\0\rIHDR", bytes([8, 2, 0, 0, 0]), 33
#: of pictures with so many planes
_COLOUR_TYPE = {3: 2, 4: 6}
_PAETH = 4
#: bytes of pixels that are laid open at most
_MOST = 1 << 28
#: rows filtered at once: what is worked out of so many fits a processor's own memory
_ROWS = 96


@lru_cache(maxsize=1)
def has_libdeflate() -> bool:
    """Where there is no wheel for this machine, OpenCV writes what is stored."""
    return find_spec("deflate") is not None


def libdeflate_png(pixels: np.ndarray) -> bytes:
    """Lossless PNG without metadata from (H, W, 3) RGB or (H, W, 4) RGBA uint8; every row by the Paeth filter."""
    from deflate import zlib_compress

    height, width, planes = pixels.shape
    head = struct.pack(">2I5B", width, height, 8, _COLOUR_TYPE[planes], 0, 0, 0)
    data = bytes(zlib_compress(filtered(pixels).tobytes(), LEVEL))
    return _SIGNATURE + _chunk(b"IHDR", head) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def inflated(data: bytes) -> bytes:
    """A PNG of 8-bit RGB with its pixels laid open, for decoders that would inflate them by zlib, which takes longer
    than libdeflate and this together; as it came where it is something else, or damaged."""
    if not has_libdeflate() or data[:16] != _BEGINS or data[24:29] != _RGB:
        return data
    from deflate import DeflateError, zlib_decompress

    width, height = struct.unpack(">2I", data[16:24])
    if (size := height * (1 + 3 * width)) > _MOST:
        return data
    try:
        rows = zlib_decompress(b"".join(_deflated(data)), size)
    except (DeflateError, struct.error):
        return data
    return data[:_HEAD] + _chunk(b"IDAT", zlib.compress(rows, 0)) + _chunk(b"IEND", b"")


def _deflated(data: bytes) -> Iterator[memoryview]:
    """What is in the IDAT chunks of a PNG."""
    place, whole = _HEAD, memoryview(data)
    while place < len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        if kind == b"IDAT":
            yield whole[place + 8 : place + 8 + length]
        place += 12 + length


def filtered(pixels: np.ndarray) -> np.ndarray:
    """(H, 1 + W * planes) uint8: the filter's number, and each byte less what Paeth foretells of it."""
    height, width, planes = pixels.shape
    # with a row above and a pixel before that are 0
    around = np.zeros((height + 1, (width + 1) * planes), np.uint8)
    around[1:, planes:] = pixels.reshape(height, width * planes)
    rows = np.empty((height, 1 + width * planes), np.uint8)
    rows[:, 0] = _PAETH
    for top in range(0, height, _ROWS):
        part = around[top : top + _ROWS + 1]
        left, above, corner = part[1:, :-planes], part[:-1, planes:], part[:-1, :-planes]
        np.subtract(part[1:, planes:], _foretold(left, above, corner), out=rows[top : top + _ROWS, 1:])
    return rows


def _foretold(left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Whichever of the three is nearest to left + above - corner, the first of equals; in bytes alone, as that is
    quick."""
    of_left, of_above = cv2.absdiff(above, corner), cv2.absdiff(left, corner)
    rises = cv2.compare(left, corner, cv2.CMP_GE), cv2.compare(above, corner, cv2.CMP_GE)
    # where both lie on one side the corner is the sum of both away, so never nearest
    of_corner = cv2.bitwise_or(cv2.absdiff(of_left, of_above), cv2.bitwise_not(cv2.bitwise_xor(*rises)))
    found = corner.copy()
    cv2.copyTo(above, cv2.compare(of_above, of_corner, cv2.CMP_LE), found)
    cv2.copyTo(left, cv2.compare(of_left, cv2.min(of_above, of_corner), cv2.CMP_LE), found)
    return found


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
