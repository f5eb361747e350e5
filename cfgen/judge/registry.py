"""Judges by name."""

import inspect
from pathlib import Path
from typing import Any

from cfgen.core.registry import Registry
from cfgen.judge.protocol import Judge
from cfgen.models.registry import MODELS

JUDGES = Registry(
    "judge",
    "cfgen.judges",
    {
        "offline": "cfgen.judge.offline.judge:OfflineJudge",
        "panel": "cfgen.judge.panel:panel",
    },
    MODELS,
    "cfgen.judge.panel:model_judge",
)


def create_judge(judge: str, /, cache_dir: Path | None = None, **options: Any) -> Judge:
    """A judge by its registered name, or by that of a model provider; ``options`` go to its factory.

    ``cache_dir`` is where model judges keep replies unless their option ``cache`` says otherwise.

    Raises:
        InputError: no such judge, or an option that it does not take.
        CfgenError: its models cannot be asked: no key, a package that is missing, a host that may not be reached.
    """
    factory = JUDGES.get(judge)
    takes = inspect.signature(factory).parameters
    if cache_dir is not None and any(p.kind is p.VAR_KEYWORD for p in takes.values()):
        options.setdefault("cache", str(cache_dir))
    made: Judge = JUDGES.create(judge, options)
    if check := getattr(made, "check", None):
        check()
    return made
