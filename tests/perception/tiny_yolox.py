"""YOLOX's head on a network without a body, as its exporter leaves it: red things of 16-pixel cells are boxed."""

import struct

from tests.perception.tiny_onnx import _number, _part, _tensor, _text, _value


def tiny_yolox(side: int, wide: float, tall: float, classes: int = 80, red: int = 2) -> bytes:
    """Answers, for each cell of the grids of stride 8, 16 and 32, with (1, n, 5 + classes).

    Objectness is the cell's redness on the middle grid and none on the others, every box's centre is a quarter of a
    cell right of and half a cell below its cell's corner, sizes are ``wide`` and ``tall`` logarithms of cells. Class
    ``red`` is red, class 0 green.
    """
    graph, joined = b"", []
    for stride in (8, 16, 32):
        graph += _node("Conv", ["images", f"w{stride}", f"b{stride}"], f"c{stride}", _square(stride))
        graph += _node("Reshape", [f"c{stride}", f"s{stride}"], f"r{stride}")
        joined.append(f"r{stride}")
    graph += _node("Concat", joined, "all", _int_attribute("axis", 2))
    graph += _node("Transpose", ["all"], "output", _ints_attribute("perm", (0, 2, 1)))
    graph += _text(2, "tiny")
    for stride in (8, 16, 32):
        weights, bias = _weights(stride, wide, tall, classes, red)
        graph += _tensor(f"w{stride}", (5 + classes, 3, stride, stride), weights)
        graph += _tensor(f"b{stride}", (5 + classes,), bias)
        graph += _shape(f"s{stride}", (1, 5 + classes, (side // stride) ** 2))
    cells = sum((side // s) ** 2 for s in (8, 16, 32))
    graph += _part(11, _value("images", (1, 3, side, side)))
    graph += _part(12, _value("output", (1, cells, 5 + classes)))
    return _number(1, 8) + _part(7, graph) + _part(8, _number(2, 13))


def _weights(
    stride: int, wide: float, tall: float, classes: int, red: int
) -> tuple[list[float], list[float]]:
    """Means over a cell of blue, green, red (YOLOX's order), 0 to 255."""
    one = 1 / (255 * stride**2)
    rows = [(0.0, 0.0, 0.0)] * (5 + classes)
    rows[4] = (-one / 2, -one / 2, one) if stride == 16 else (0.0, 0.0, 0.0)
    rows[5 + red], rows[5] = (0.0, 0.0, one), (0.0, one, 0.0)
    bias = [0.25, 0.5, wide, tall] + [0.0] * (1 + classes)
    return [w for row in rows for w in row for _ in range(stride**2)], bias


def _node(kind: str, inputs: list[str], output: str, attributes: bytes = b"") -> bytes:
    return _part(
        1, b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, kind) + attributes
    )


def _square(stride: int) -> bytes:
    return _ints_attribute("kernel_shape", (stride, stride)) + _ints_attribute("strides", (stride, stride))


def _ints_attribute(name: str, values: tuple[int, ...]) -> bytes:
    return _part(5, _text(1, name) + b"".join(_number(8, v) for v in values) + _number(20, 7))


def _int_attribute(name: str, value: int) -> bytes:
    return _part(5, _text(1, name) + _number(3, value) + _number(20, 2))


def _shape(name: str, shape: tuple[int, ...]) -> bytes:
    data = struct.pack(f"<{len(shape)}q", *shape)
    return _part(5, _number(1, len(shape)) + _number(2, 7) + _text(8, name) + _part(9, data))
