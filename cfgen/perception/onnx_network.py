"""ONNX files in OpenCV's own ``cv2.dnn``, or in torch on a card that the user names: read, and tried once."""

import contextlib
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import cv2
import numpy as np

from cfgen.core.errors import CfgenError, InputError, MissingExtraError, SetupError

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
        device: "" for ``cv2.dnn``, else torch's name of where it runs (:class:`TorchNetwork`).

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
        shapes: dict[str, tuple[int, ...]] = {}
        try:
            with silent():
                net = OpenCv(data)
                if set(net.names) == set(outputs):
                    net.outputs = list(outputs)
                    [answer] = net.forward([np.zeros((1, 3, *size[::-1]), np.float32)])
                    shapes = {name: array.shape for name, array in zip(outputs, answer, strict=True)}
        except (cv2.error, ValueError) as error:
            raise InputError(f"{wrong}one that cv2.dnn cannot read ({len(data)} bytes); {advice}") from error
        if shapes != dict(outputs):
            listing = ", ".join(f"{name} {_words(shape)}" for name, shape in shapes.items())
            raise InputError(f"{wrong}{listing or ', '.join(sorted(net.names)) or 'none'}; {advice}")
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


# --- torch network -----------------------------------------------------------------------------
# ONNX files in torch, several pictures together: for a card, where the user names one.
#
# onnx2torch makes the module; its shapes are those of one picture, so batches are ``torch.vmap`` over it. Numbers are
# float32 throughout (no TF32): views must not hang on who looks.

#: What cv2.dnn and torch may differ by on the trial picture, of what is largest in the answer.
ALIKE = 1e-3
_DEVICE = re.compile(r"cpu|cuda(:\d{1,3})?")


class TorchNetwork:
    """What ``net`` has read, on another device.

    onnx2torch makes the module; its shapes are those of one picture, so batches are ``torch.vmap`` over it. Numbers are
    float32 throughout (no TF32): views must not hang on who looks.

    Args:
        what: it is, for messages. data: the file. net: its answer to a trial picture is held against this one's.
        size: width and height of the input. device: "cpu", "cuda", "cuda:1", ...

    Raises:
        InputError: another device, one that is not there, or a file of which torch makes something else.
        SetupError: torch cannot run it there.
        MissingExtraError: without torch, onnx or onnx2torch.
    """

    at_once = 8

    def __init__(self, what: str, data: bytes, net: OpenCv, size: tuple[int, int], device: str) -> None:
        self._what, self._device = f"{what}: device={device}", device
        self._torch = _torch(self._what, device)
        module, names = _module(self._what, data)
        self._order = [names.index(name) for name in net.outputs]
        self._try(module.eval(), net, size)

    def forward(self, blobs: Sequence[np.ndarray]) -> Answers:
        """As :class:`Runtime`; one by one where the memory does not hold them all.

        Raises:
            SetupError: it does not hold one.
        """
        try:
            return self._run(blobs)
        except self._torch.OutOfMemoryError:
            pass  # what the fault holds is let go with it
        self._torch.cuda.empty_cache()
        return [self._on_device(self._run, [blob])[0] for blob in blobs]

    def _run(self, blobs: Sequence[np.ndarray]) -> Answers:
        torch = self._torch
        exact = torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False)
        with torch.inference_mode(), exact, warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="onnx2torch")  # of torch's versions to come
            output = self._many(torch.from_numpy(np.stack(blobs)).to(self._device))
            every = output if isinstance(output, tuple | list) else (output,)
            arrays = [every[i].cpu().numpy() for i in self._order]
        return [[array[k] for array in arrays] for k in range(len(blobs))]

    def _on_device(self, work: Any, argument: Any) -> Any:
        try:
            return work(argument)
        except self._torch.OutOfMemoryError as error:
            raise SetupError(
                f"{self._what}: expected room for one picture, found its memory full "
                f"({_first_line(error)}); end what else runs there, or take another device"
            ) from error

    def _try(self, module: Any, net: OpenCv, size: tuple[int, int]) -> None:
        """Puts it there and looks once.

        Raises:
            InputError: it does not run, or answers otherwise than ``net``.
        """
        trial = np.random.default_rng(0).random((1, 3, *size[::-1]), np.float32)
        [expected] = net.forward([trial])
        try:
            self._many = self._torch.vmap(self._on_device(module.to, self._device))
            [answer] = self.forward([trial])
        except CfgenError:
            raise
        except Exception as error:  # of torch and onnx2torch, each its own
            raise SetupError(
                f"{self._what}: expected torch {self._torch.__version__} to run the network there, found "
                f"{_first_line(error)}; take another device, or leave the option out for cv2.dnn"
            ) from error
        off = max(_apart(*pair) for pair in zip(expected, answer, strict=True))
        if not off <= ALIKE:
            raise InputError(
                f"{self._what}: expected the answer of cv2.dnn to a trial picture, found one that is off by "
                f"{off:.2g} of its size (at most {ALIKE}); leave the option out for cv2.dnn"
            )


def _torch(what: str, device: str) -> Any:
    """torch, where it has that device."""
    if not _DEVICE.fullmatch(device):
        raise InputError(f"{what}: expected cpu, cuda or cuda:N with the number of a card, found {device!r}")
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(what, "road-gpu", error) from error
    number, cards = int(device.partition(":")[2] or 0), torch.cuda.device_count()
    if device != "cpu" and number >= cards:
        raise SetupError(
            f"{what}: expected card {number}, found {cards or 'no'} card{'s' * (cards > 1)} that torch "
            f"{torch.__version__} sees; use another, device=cpu, or leave the option out for cv2.dnn"
        )
    return torch


def _module(what: str, data: bytes) -> tuple[Any, list[str]]:
    """The network, and its outputs' names in their order."""
    try:
        import onnx
        import onnx2torch
    except ImportError as error:
        raise MissingExtraError(what, "road-gpu", error) from error
    try:
        graph = onnx.load_model_from_string(data)
        return onnx2torch.convert(graph), [output.name for output in graph.graph.output]
    except Exception as error:  # of protobuf, onnx and onnx2torch, each its own
        raise InputError(
            f"{what}: expected an ONNX file that onnx2torch converts, found {_first_line(error)}; leave the option "
            "out for cv2.dnn"
        ) from error


def _apart(expected: np.ndarray, answer: np.ndarray) -> float:
    """What they differ by, of what is largest; infinite for other shapes."""
    if expected.shape != answer.shape:
        return float("inf")
    return float(np.abs(expected - answer).max() / max(np.abs(expected).max(), 1e-6))


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]
