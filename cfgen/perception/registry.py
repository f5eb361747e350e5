"""Perceivers by name."""

from collections.abc import Mapping
from typing import Any

from cfgen.core.errors import CfgenError
from cfgen.core.registry import Registry
from cfgen.perception.protocol import Perceiver

#: Who sees the road where nobody else is asked for.
DEFAULT = "colour"

PERCEIVERS = Registry(
    "perception",
    "cfgen.perception",
    {
        "road-net": "cfgen.perception.networks:RoadNet",
        "twinlitenet": "cfgen.perception.networks:TwinLiteNet",
        "colour": "cfgen.perception.colour_ground:ColourGround",
    },
)


def create_perceiver(name: str, options: Mapping[str, Any] | None = None) -> Perceiver:
    """A perceiver with its options, "" for the default one; refuses at once what it cannot work on.

    Raises:
        InputError: unknown name, an option that it does not take, or a model file that is missing, damaged or another.
    """
    made: Perceiver = PERCEIVERS.create(name or DEFAULT, options or {})
    return made


def seen_by(name: str) -> str:
    """Who saw the road, in words for reports; one that guesses from colours is named as weaker."""
    try:
        weaker = bool(getattr(PERCEIVERS.get(name), "weaker", False))
    except CfgenError:  # a third party's that is not here
        weaker = False
    return f"{name} (the weaker test: it guesses the road from its colour)" if weaker else name
