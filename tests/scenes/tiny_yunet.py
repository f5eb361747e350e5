"""YuNet's outputs on a network without a body: every bright cell of 32 pixels is a face that fills it."""

from tests.perception.tiny_onnx import _number, _part, _tensor, _text, _value
from tests.perception.tiny_yolox import _ints_attribute, _node, _shape, _square

#: output -> its channels
_KINDS = {"cls": 1, "obj": 1, "bbox": 4, "kps": 10}
_SIDE = 640


def tiny_yunet() -> bytes:
    graph, tensors, outputs = b"", b"", b""
    for stride in (8, 16, 32):
        for kind, channels in _KINDS.items():
            name = f"{kind}_{stride}"
            graph += _node("Conv", ["input", f"w{name}", f"b{name}"], f"c{name}", _square(stride))
            graph += _node("Reshape", [f"c{name}", f"s{name}"], f"r{name}")
            graph += _node("Transpose", [f"r{name}"], name, _ints_attribute("perm", (0, 2, 1)))
            lit = 1 / (3 * 255 * stride**2) if kind in ("cls", "obj") and stride == 32 else 0.0
            bias = [0.5, 0.5, 0.0, 0.0] if kind == "bbox" else [0.0] * channels
            tensors += _tensor(f"w{name}", (channels, 3, stride, stride), [lit] * (channels * 3 * stride**2))
            tensors += _tensor(f"b{name}", (channels,), bias)
            tensors += _shape(f"s{name}", (1, channels, -1))
            outputs += _part(12, _value(name, (1, (_SIDE // stride) ** 2, channels)))
    graph += _text(2, "tiny") + tensors + _part(11, _value("input", (1, 3, _SIDE, _SIDE))) + outputs
    return _number(1, 8) + _part(7, graph) + _part(8, _number(2, 13))
