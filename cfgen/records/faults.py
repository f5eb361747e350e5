"""What is kept of an exception that nobody expected."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from pydantic import BaseModel, Field

from cfgen.records.base import Record


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
    found: list[Fault] = []
    if isinstance(values, Iterable) and not isinstance(values, str):
        for fault in chain.from_iterable(map(faults_in, values)):
            if fault not in found:
                found.append(fault)
    return found
