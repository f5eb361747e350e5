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
        "gemini": "cfgen.judge.models.gemini:judge",
        "local": "cfgen.judge.models.local:judge",
        "offline": "cfgen.judge.offline.judge:OfflineJudge",
        "openai": "cfgen.judge.models.openai:judge",
        "panel": "cfgen.judge.panel:panel",
        "scripted": "cfgen.judge.models.scripted:judge",
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
