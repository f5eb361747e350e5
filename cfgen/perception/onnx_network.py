"""ONNX files in OpenCV's own ``cv2.dnn``: read, and tried once."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import cv2
import numpy as np

from cfgen.core.errors import InputError


class OpenCv:
    """``cv2.dnn`` on this processor. ``names``: of all its outputs; ``outputs``: those that are asked for.

    Raises:
        cv2.error: it cannot read the file.
    """

    def __init__(self, data: bytes) -> None:
        self._net = cv2.dnn.readNetFromONNX(np.frombuffer(data, np.uint8))
        self.names: list[str] = list(self._net.getUnconnectedOutLayersNames())
        self.outputs = self.names

    def forward(self, blob: np.ndarray) -> list[np.ndarray]:
        """Its outputs for a picture, (1, 3, h, w) float32, in the order in which they were asked for."""
        self._net.setInput(blob)
        return list(self._net.forward(self.outputs))


class OnnxNetwork:
    """A network of one picture in and some arrays out.

    Args:
        what: it is, for messages: "perception 'twinlitenet'". data: the file.
        size: width and height of its input. outputs: shape by name.
        advice: what a user does about a file that does not serve.

    Raises:
        InputError: ``cv2.dnn`` cannot read or run it, or its outputs are others.
    """

    def __init__(
        self,
        what: str,
        data: bytes,
        size: tuple[int, int],
        outputs: Mapping[str, tuple[int, ...]],
        advice: str,
    ) -> None:
        expected = " and ".join(f"{name} {_words(shape)}" for name, shape in outputs.items())
        wrong = f"{what}: expected an ONNX file with outputs {expected}, found "
        shapes: dict[str, tuple[int, ...]] = {}
        try:
            with silent():
                net = OpenCv(data)
                if set(net.names) == set(outputs):
                    net.outputs = list(outputs)
                    answer = net.forward(np.zeros((1, 3, *size[::-1]), np.float32))
                    shapes = {name: array.shape for name, array in zip(outputs, answer, strict=True)}
        except (cv2.error, ValueError) as error:
            raise InputError(f"{wrong}one that cv2.dnn cannot read ({len(data)} bytes); {advice}") from error
        if shapes != dict(outputs):
            listing = ", ".join(f"{name} {_words(shape)}" for name, shape in shapes.items())
            raise InputError(f"{wrong}{listing or ', '.join(sorted(net.names)) or 'none'}; {advice}")
        self._net = net

    def forward(self, picture: np.ndarray) -> list[np.ndarray]:
        """Its outputs, in the order in which they were named.

        Args:
            picture: (h, w, 3) uint8 of the input's size, channels as the network wants them; it gets them / 255.
        """
        return self._net.forward(cv2.dnn.blobFromImage(picture, 1 / 255.0))


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
