"""Judges by name."""

import inspect
from pathlib import Path
from typing import Any

from cfgen.core.registry import Extra, Registry
from cfgen.judge.protocol import Judge

JUDGES = Registry(
    "judge",
    "cfgen.judges",
    {
        "gemini": "cfgen.judge.providers:gemini",
        "local": "cfgen.judge.providers:local",
        "offline": "cfgen.judge.offline.judge:OfflineJudge",
        "openai": "cfgen.judge.providers:openai",
        "panel": "cfgen.judge.panel:panel",
        "scripted": "cfgen.judge.providers:scripted",
    },
    {
        "gemini": Extra("gemini", "google.genai"),
        "local": Extra("local", "transformers"),
        "openai": Extra("openai", "httpx"),
    },
)


def create_judge(judge: str, /, cache_dir: Path | None = None, **options: Any) -> Judge:
    """A judge by its registered name; ``options`` go to its factory.

    ``cache_dir`` is where model judges keep replies unless their option ``cache`` says otherwise.

    Raises:
        InputError: no such judge, or an option that it does not take.
    """
    factory = JUDGES.get(judge)
    takes = inspect.signature(factory).parameters
    if cache_dir is not None and any(p.kind is p.VAR_KEYWORD for p in takes.values()):
        options.setdefault("cache", str(cache_dir))
    made: Judge = JUDGES.create(judge, options)
    return made
