"""Judges by name."""

import inspect
from typing import Any

from cfgen.errors import InputError
from cfgen.judge.protocol import Judge
from cfgen.registry import Registry

JUDGES = Registry(
    "judge",
    "cfgen.judges",
    {
        "offline": "cfgen.judge.offline.judge:OfflineJudge",
    },
)


def create_judge(name: str, **options: Any) -> Judge:
    """A judge by its registered name; ``options`` go to its factory.

    Raises:
        InputError: no such judge, or an option that it does not take.
    """
    factory = JUDGES.get(name)
    try:
        inspect.signature(factory).bind(**options)
    except TypeError as error:
        known = ", ".join(inspect.signature(factory).parameters)
        raise InputError(f"judge '{name}': {error}; it takes: {known}") from error
    judge: Judge = factory(**options)
    return judge
