"""ONNX files in OpenCV's own ``cv2.dnn``: read, tried once, and every way in which they can be wrong as one line."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import cv2
import numpy as np

from cfgen.core.errors import InputError


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
        self._outputs = list(outputs)
        expected = " and ".join(f"{name} {_words(shape)}" for name, shape in outputs.items())
        wrong = f"{what}: expected an ONNX file with outputs {expected}, found "
        found: dict[str, tuple[int, ...]] = {}
        try:
            with silent():
                self._net = cv2.dnn.readNetFromONNX(np.frombuffer(data, np.uint8))
                if set(self._net.getUnconnectedOutLayersNames()) == set(outputs):
                    width, height = size
                    tried = self.forward(np.zeros((height, width, 3), np.uint8))
                    found = {name: array.shape for name, array in zip(outputs, tried, strict=True)}
        except (cv2.error, ValueError) as error:
            raise InputError(f"{wrong}one that cv2.dnn cannot read ({len(data)} bytes); {advice}") from error
        if found != dict(outputs):
            told = ", ".join(f"{name} {_words(shape)}" for name, shape in found.items())
            others = ", ".join(sorted(self._net.getUnconnectedOutLayersNames()))
            raise InputError(f"{wrong}{told or others or 'none'}; {advice}")

    def forward(self, picture: np.ndarray) -> list[np.ndarray]:
        """Its outputs, in the order in which they were named.

        Args:
            picture: (h, w, 3) uint8 of the input's size, channels as the network wants them; it gets them / 255.
        """
        self._net.setInput(cv2.dnn.blobFromImage(picture, 1 / 255.0))
        return list(self._net.forward(self._outputs))


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
