"""Contain what breaks: run a piece of work, and record the exception that nobody expected."""

import json
import traceback
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field

from cfgen.core.errors import MACHINE, CfgenError, InpaintRefusedError, InputError, SetupError, Shortfall
from cfgen.core.interrupts import by_the_user
from cfgen.core.record import Record


class Fault(Record):
    """An unexpected exception, recorded with the piece of work in which it happened.

    A refusal says that a piece of work will not do; a fault says that cfgen, or something it called, broke on it.
    """

    #: the piece of work, for example "control arm nuisance" or "history frame front@-500"
    where: str
    #: qualified name of the exception, for example "cv2.error"
    exception: str
    message: str
    #: "cfgen/inpaint/composite/reproject.py:88 in _splat", innermost of our own code last
    frames: tuple[str, ...] = ()
    #: JSON values that reproduce it
    inputs: dict[str, Any] = Field(default_factory=dict)

    @property
    def kind(self) -> str:
        """What happened and in which function, without numbers of lines or of the case: equal causes are equal."""
        file, _, function = self.frames[-1].partition(" in ") if self.frames else ("", "", "")
        return f"{self.exception} in {file.rpartition(':')[0]} {function}" if file else self.exception

    def within(self, where: str, **inputs: Any) -> "Fault":
        """The same, told from the piece of work around it, with what else reproduces it (JSON values)."""
        return self.model_copy(
            update={"where": f"{where}: {self.where}", "inputs": {**inputs, **self.inputs}}
        )

    def __str__(self) -> str:
        at = f" at {self.frames[-1]}" if self.frames else ""
        return f"{self.where}: {self.exception}: {self.message.splitlines()[0] if self.message else ''}{at}"


def faults_in(record: Any) -> list[Fault]:
    """Every fault that a record, or a list of them, holds anywhere, each once."""
    if isinstance(record, Fault):
        return [record]
    values = dict(record).values() if isinstance(record, BaseModel | Mapping) else record
    faults: list[Fault] = []
    if isinstance(values, Iterable) and not isinstance(values, str):
        for fault in chain.from_iterable(map(faults_in, values)):
            if fault not in faults:
                faults.append(fault)
    return faults


# --- faults ------------------------------------------------------------------------------------
# Containment, in one place: what breaks in one piece of work is recorded there, and the rest goes on.
#
# A piece of work is a case, a control arm, a history frame, an answer, a verdict, a drive of an import, a section of a
# report. :func:`contained` runs one; what comes back is its result or a :class:`~cfgen.records.Fault`.

T = TypeVar("T")

_PACKAGE = Path(__file__).resolve().parents[1]
_LONGEST = 2000
_FRAMES = 4


def contained(
    work: Callable[[], T], where: str, inputs: Mapping[str, Any] | None = None, strict: bool = False
) -> T | Fault:
    """The result of ``work()``, or the fault that ended it.

    Args:
        where: the piece of work in words.
        inputs: what reproduces it; values that are not JSON are kept as their ``repr``.
        strict: let every exception through, with its traceback.

    Raises:
        BaseException: ``strict``, or one after which no further work makes sense (:func:`ends_the_run`).
    """
    try:
        return work()
    except BaseException as error:
        if strict or ends_the_run(error):
            raise
        return fault_of(error, where, inputs)


def ends_the_run(error: BaseException) -> bool:
    """Whether all further work would meet the same: the user's interrupt, a full disk, a missing package, a wrong
    key, a spent budget.

    ``sys.exit`` or a ``KeyboardInterrupt`` within a piece of work that no signal raised is that piece's fault. Of our
    own errors an :class:`~cfgen.core.errors.InputError` speaks of one thing among many, unless it is a
    :class:`~cfgen.core.errors.SetupError`, and a refusal of one edit.
    """
    if isinstance(error, OSError):
        return error.errno in MACHINE
    if isinstance(error, CfgenError):
        return isinstance(error, SetupError) or not isinstance(error, (InputError, InpaintRefusedError))
    if isinstance(error, KeyboardInterrupt):
        return by_the_user(error)
    return isinstance(error, (Shortfall, GeneratorExit, CancelledError))


def fault_of(error: BaseException, where: str, inputs: Mapping[str, Any] | None = None) -> Fault:
    """What is kept of ``error``: its cause, the innermost frames of our own code, what reproduces it."""
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return Fault(
        where=where,
        exception=f"{module}{kind.__qualname__}",
        message=_text(words(error))[:_LONGEST],
        frames=_own_frames(error),
        inputs={name: _plain(value) for name, value in (inputs or {}).items()},
    )


def _own_frames(error: BaseException) -> tuple[str, ...]:
    """The innermost frames within cfgen; without any, those of the caller, whoever that is."""
    stack = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in stack if Path(frame.filename).is_relative_to(_PACKAGE)]
    return tuple(f"{_short(f.filename)}:{f.lineno} in {f.name}" for f in (own or list(stack))[-_FRAMES:])


def _short(filename: str) -> str:
    path = Path(filename)
    return path.relative_to(_PACKAGE.parent).as_posix() if path.is_relative_to(_PACKAGE) else path.name


def _plain(value: Any) -> Any:
    """``value`` if it is JSON, else its ``repr``, shortened."""
    try:
        return json.loads(json.dumps(value, allow_nan=False, ensure_ascii=False).encode())
    except (TypeError, ValueError, RecursionError):
        return _text(repr(value))[:_LONGEST]


def words(error: BaseException) -> str:
    """``str(error)`` of an exception of anybody."""
    try:
        return str(error)
    except Exception:  # it breaks while saying what broke
        return ""


def _text(text: str) -> str:
    """Lone surrogates made visible, so that it can be stored as UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
