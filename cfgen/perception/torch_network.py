"""ONNX files in torch, several pictures together: for a card, where the user names one.

onnx2torch makes the module; its shapes are those of one picture, so batches are ``torch.vmap`` over it. Numbers are
float32 throughout (no TF32): views must not hang on who looks.
"""

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from cfgen.core.errors import CfgenError, InputError, MissingExtraError, SetupError
from cfgen.perception.onnx_network import Answers, OpenCv

#: What cv2.dnn and torch may differ by on the trial picture, of what is largest in the answer.
ALIKE = 1e-3
_DEVICE = re.compile(r"cpu|cuda(:\d{1,3})?")


class TorchNetwork:
    """What ``net`` has read, on another device.

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
        """As :class:`cfgen.perception.onnx_network.Runtime`; one by one where the memory does not hold them all.

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
            found = self._many(torch.from_numpy(np.stack(blobs)).to(self._device))
            every = found if isinstance(found, tuple | list) else (found,)
            arrays = [every[i].cpu().numpy() for i in self._order]
        return [[array[k] for array in arrays] for k in range(len(blobs))]

    def _on_device(self, work: Any, given: Any) -> Any:
        try:
            return work(given)
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
            [found] = self.forward([trial])
        except CfgenError:
            raise
        except Exception as error:  # of torch and onnx2torch, each its own
            raise SetupError(
                f"{self._what}: expected torch {self._torch.__version__} to run the network there, found "
                f"{_first_line(error)}; take another device, or leave the option out for cv2.dnn"
            ) from error
        off = max(_apart(*pair) for pair in zip(expected, found, strict=True))
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


def _apart(expected: np.ndarray, found: np.ndarray) -> float:
    """What they differ by, of what is largest; infinite for other shapes."""
    if expected.shape != found.shape:
        return float("inf")
    return float(np.abs(expected - found).max() / max(np.abs(expected).max(), 1e-6))


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]
