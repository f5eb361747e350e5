"""ONNX files of one layer, written by hand: each output is a weighted sum of a pixel's colours."""

import struct
from collections.abc import Sequence

Weights = Sequence[Sequence[float]]


def tiny_onnx(size: tuple[int, int], outputs: dict[str, tuple[Weights, Sequence[float]]]) -> bytes:
    """
    Args:
        size: width and height. outputs: by name, weights of red, green, blue for each channel, and what is added.
    """
    width, height = size
    graph = b""
    for name in outputs:
        graph += _part(
            1, _text(1, "x") + _text(1, f"{name}_w") + _text(1, f"{name}_b") + _text(2, name) + _CONV
        )
    graph += _text(2, "tiny")
    for name, (weights, bias) in outputs.items():
        graph += _tensor(f"{name}_w", (len(weights), 3, 1, 1), [w for row in weights for w in row])
        graph += _tensor(f"{name}_b", (len(bias),), bias)
    graph += _part(11, _value("x", (1, 3, height, width)))
    for name, (_, bias) in outputs.items():
        graph += _part(12, _value(name, (1, len(bias), height, width)))
    return _number(1, 8) + _part(7, graph) + _part(8, _number(2, 13))


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _part(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(field: int, text: str) -> bytes:
    return _part(field, text.encode())


def _tensor(name: str, shape: Sequence[int], values: Sequence[float]) -> bytes:
    dims = b"".join(_number(1, n) for n in shape)
    return _part(
        5, dims + _number(2, 1) + _text(8, name) + _part(9, struct.pack(f"<{len(values)}f", *values))
    )


def _value(name: str, shape: Sequence[int]) -> bytes:
    dims = b"".join(_part(1, _number(1, n)) for n in shape)
    return _text(1, name) + _part(2, _part(1, _number(1, 1) + _part(2, dims)))


_CONV = _text(4, "Conv") + _part(5, _text(1, "kernel_shape") + _number(8, 1) * 2 + _number(20, 7))
