"""Errors a user can act on. Each message names the place, what was expected, what was found, what to do next.

Shipped to planners' environments, so it keeps to Python 3.9.
"""

from __future__ import annotations

import errno
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

#: numbers of system errors that tell of the machine: the next piece of work would meet them as well
MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE})


class CfgenError(Exception):
    """A mistake in input or usage. The command line prints it as one line and exits with code 2."""


class InputError(CfgenError):
    """A file, field or value that cfgen was given is not what it needs."""


class SetupError(InputError):
    """What all of the work needs is not there: a key, a model, a device. Nothing else would fare better."""


class StoreError(CfgenError):
    """A benchmark directory is missing, damaged, or of another kind than asked for."""


def install_command(extra: str) -> str:
    """What a user types to install ``extra``: in the copy of cfgen, which is on no index."""
    return f'pip install ".[{extra}]" (in your copy of cfgen)'


class MissingExtraError(CfgenError):
    """A backend needs packages that the base install leaves out."""

    def __init__(self, what: str, extra: str, cause: ImportError) -> None:
        super().__init__(
            f"{what} needs the package '{cause.name}', which is not installed; "
            f"install it with: {install_command(extra)}"
        )

    def __reduce__(self) -> tuple[type[CfgenError], tuple[str]]:
        """Crosses process borders as its message."""
        return CfgenError, (str(self),)


class InpaintRefusedError(CfgenError):
    """An inpainter declined or returned nothing usable; the reason is recorded and the attempt counts.

    ``report``: JSON values on how it came to that, kept with the attempt.
    """

    def __init__(self, reason: str, report: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.report = dict(report or {})


class InpaintPutOffError(CfgenError):
    """An inpainter did not get to it: its budget is spent, or its service is out of reach.

    Nothing is recorded; a later build asks again.
    """


class Shortfall(Exception):  # noqa: N818 - not a mistake: the job ran and fell short
    """The job ran to its end but produced less than was asked. The command line exits with code 1."""


class ShortfallWarning(UserWarning):
    """A job of the library ran to its end but produced less than was asked; the words say what and why."""


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """`` (did you mean '...'?)`` with the nearest of ``known``; "" where none is near."""
    import difflib  # not on the way of `import cfgen`

    near = difflib.get_close_matches(word, list(names), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""


# --- warn --------------------------------------------------------------------------------------
# Warnings that point at the line of the caller's own code, however deep in cfgen they come up.


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """As ``warnings.warn``, at the line that called cfgen."""
    warnings.warn(message, category, stacklevel=_outside(sys._getframe(1)))


def _outside(frame: FrameType | None) -> int:
    """How many frames lie between :func:`warn` and the caller of the outermost one of cfgen's."""
    package = str(Path(__file__).resolve().parents[1])
    level, outside = 1, 2
    while frame is not None:
        level += 1
        if frame.f_code.co_filename.startswith(package):
            outside = level + 1
        frame = frame.f_back
    return outside
