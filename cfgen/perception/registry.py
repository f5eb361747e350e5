"""Perceivers by name."""

from collections.abc import Mapping
from typing import Any

from cfgen.core.registry import Registry
from cfgen.perception.protocol import Perceiver

#: Who sees the road where nobody else is asked for.
DEFAULT = "colour"

PERCEIVERS = Registry(
    "perception",
    "cfgen.perception",
    {
        "twinlitenet": "cfgen.perception.networks:TwinLiteNet",
        "colour": "cfgen.perception.colour_ground:ColourGround",
    },
)


def create_perceiver(name: str, options: Mapping[str, Any] | None = None) -> Perceiver:
    """A perceiver with its options; refuses at once what it cannot work on.

    Raises:
        InputError: unknown name, an option that it does not take, or a model file that is missing, damaged or another.
    """
    made: Perceiver = PERCEIVERS.create(name, options or {})
    return made
