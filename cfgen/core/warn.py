"""Warnings that point at the line of the caller's own code, however deep in cfgen they come up."""

import sys
import warnings
from pathlib import Path
from types import FrameType

_PACKAGE = str(Path(__file__).resolve().parents[1])


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """As ``warnings.warn``, at the line that called cfgen."""
    warnings.warn(message, category, stacklevel=_outside(sys._getframe(1)))


def _outside(frame: FrameType | None) -> int:
    """How many frames lie between :func:`warn` and the caller of the outermost one of cfgen's."""
    level, outside = 1, 2
    while frame is not None:
        level += 1
        if frame.f_code.co_filename.startswith(_PACKAGE):
            outside = level + 1
        frame = frame.f_back
    return outside
