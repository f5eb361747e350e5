"""``--devices``: which of the machine's cards a planner's process sees, told to what is started in this thread."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path

from cfgen.core.errors import InputError

_DEVICE: ContextVar[str] = ContextVar("device", default="")


@contextlib.contextmanager
def on(device: str) -> Iterator[None]:
    """Planners that start within the block, or start again, see this card alone; "" leaves it to the environment."""
    before = _DEVICE.set(device)
    try:
        yield
    finally:
        _DEVICE.reset(before)


def environment() -> dict[str, str]:
    """What to add to the environment of a planner's process. Cards are numbered as ``nvidia-smi`` does."""
    device = _DEVICE.get()
    return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": device} if device else {}


def check_devices(devices: Sequence[str], folder: Path = Path("/dev")) -> None:
    """
    Args:
        devices: numbers; names of other forms (``GPU-...``, ``MIG-...``) are left to the driver. folder: of the
            machine's device files.

    Raises:
        InputError: a number that this machine does not show.
    """
    cards = sorted(int(m[1]) for p in folder.glob("nvidia*") if (m := re.fullmatch(r"nvidia(\d+)", p.name)))
    for device in devices:
        if device.isdecimal() and int(device) not in cards:
            shown_cards = f"only {', '.join(map(str, cards))}" if cards else "no NVIDIA card"
            raise InputError(
                f"--devices {device}: expected cards of this machine, found {shown_cards}; see nvidia-smi, or "
                "leave it out"
            )
