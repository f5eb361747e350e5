"""ONNX files in OpenCV's own ``cv2.dnn``: read, tried once, and every way in which they can be wrong as one line."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import cv2
import numpy as np

from cfgen.core.errors import InputError

T = TypeVar("T")
Answers = list[list[np.ndarray]]


class Runtime(Protocol):
    """A network that was read: pictures in, of each its outputs.

    Attributes:
        at_once: how many pictures it is best given together.
    """

    at_once: int

    def forward(self, blobs: Sequence[np.ndarray]) -> Answers:
        """Of each picture, (1, 3, h, w) float32, the outputs in the order in which they were asked for."""
        ...


class OpenCv:
    """``cv2.dnn`` on this processor. ``names``: of all its outputs; ``outputs``: those that are asked for.

    Raises:
        cv2.error: it cannot read the file.
    """

    at_once = 1

    def __init__(self, data: bytes) -> None:
        self._net = cv2.dnn.readNetFromONNX(np.frombuffer(data, np.uint8))
        self.names: list[str] = list(self._net.getUnconnectedOutLayersNames())
        self.outputs = self.names

    def forward(self, blobs: Sequence[np.ndarray]) -> Answers:
        answers: Answers = []
        for blob in blobs:
            self._net.setInput(blob)
            answers.append(list(self._net.forward(self.outputs)))
        return answers


class OnnxNetwork:
    """A network of one picture in and some arrays out.

    Args:
        what: it is, for messages: "perception 'twinlitenet'". data: the file.
        size: width and height of its input. outputs: shape by name.
        advice: what a user does about a file that does not serve.
        device: "" for ``cv2.dnn``, else torch's name of where it runs (:mod:`cfgen.perception.torch_network`).

    Raises:
        InputError: ``cv2.dnn`` cannot read or run it, its outputs are others, or the device is not there.
        MissingExtraError: a device without torch and onnx2torch.
    """

    def __init__(
        self,
        what: str,
        data: bytes,
        size: tuple[int, int],
        outputs: Mapping[str, tuple[int, ...]],
        advice: str,
        device: str = "",
    ) -> None:
        expected = " and ".join(f"{name} {_words(shape)}" for name, shape in outputs.items())
        wrong = f"{what}: expected an ONNX file with outputs {expected}, found "
        found: dict[str, tuple[int, ...]] = {}
        try:
            with silent():
                net = OpenCv(data)
                if set(net.names) == set(outputs):
                    net.outputs = list(outputs)
                    [tried] = net.forward([np.zeros((1, 3, *size[::-1]), np.float32)])
                    found = {name: array.shape for name, array in zip(outputs, tried, strict=True)}
        except (cv2.error, ValueError) as error:
            raise InputError(f"{wrong}one that cv2.dnn cannot read ({len(data)} bytes); {advice}") from error
        if found != dict(outputs):
            told = ", ".join(f"{name} {_words(shape)}" for name, shape in found.items())
            raise InputError(f"{wrong}{told or ', '.join(sorted(net.names)) or 'none'}; {advice}")
        self._net = on_device(what, data, net, size, device)
        self.at_once = self._net.at_once

    def forward(self, pictures: Sequence[np.ndarray]) -> Answers:
        """Of each picture its outputs, in the order in which they were named.

        Args:
            pictures: (h, w, 3) uint8 of the input's size, channels as the network wants them; it gets them / 255.
        """
        return self._net.forward([cv2.dnn.blobFromImage(picture, 1 / 255.0) for picture in pictures])


def on_device(what: str, data: bytes, net: OpenCv, size: tuple[int, int], device: str) -> Runtime:
    """``net``, or the same file where the user wants it."""
    if not device:
        return net
    from cfgen.perception.torch_network import TorchNetwork  # torch takes seconds to load

    return TorchNetwork(what, data, net, size, device)


def in_groups(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Up to ``size`` of them at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def read_file(path: Path, what: str, advice: str) -> bytes:
    """
    Raises:
        InputError: missing or unreadable.
    """
    try:
        if not path.is_file():
            raise InputError(f"{what}: expected a file, found none at {path}; {advice}")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{what}: {path}: cannot read ({error.strerror}); {advice}") from error


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Without OpenCV's own words on stderr: what is wrong is told once."""
    logging = cv2.utils.logging
    before = logging.getLogLevel()
    logging.setLogLevel(logging.LOG_LEVEL_SILENT)
    try:
        yield
    finally:
        logging.setLogLevel(before)


def _words(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))
