"""``--engine``: the engines by their names."""

from collections.abc import Mapping
from typing import Any

from cfgen.core.engines.protocol import Engine
from cfgen.core.registry import Extra, Registry

#: what is used unless told
DEFAULT = "processes"

ENGINES = Registry(
    "engine",
    "cfgen.engines",
    {
        "serial": "cfgen.core.engines.processes:Serial",
        "processes": "cfgen.core.engines.processes:Processes",
        "ray": "cfgen.core.engines.ray_pool:Ray",
    },
    extras={"ray": Extra("ray", "ray")},
)


def create_engine(name: str, options: Mapping[str, Any] | None = None) -> Engine:
    """
    Raises:
        InputError: an unknown name, or options that it does not take.
        MissingExtraError: the package that it works with is not installed.
    """
    made: Engine = ENGINES.create(name or DEFAULT, dict(options or {}))
    return made
