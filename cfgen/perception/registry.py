"""Perceivers by name."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from cfgen.core.errors import CfgenError
from cfgen.core.registry import Registry
from cfgen.perception.protocol import Perceiver

#: Who sees the road where nobody else is asked for.
DEFAULT = "road-net"

PERCEIVERS = Registry(
    "perception",
    "cfgen.perception",
    {
        "road-net": "cfgen.perception.networks:RoadNet",
        "twinlitenet": "cfgen.perception.networks:TwinLiteNet",
        "colour": "cfgen.perception.road_by_colour:ColourGround",
    },
)


def create_perceiver(name: str, options: Mapping[str, Any] | None = None) -> Perceiver:
    """A perceiver with its options, "" for the default one; refuses at once what it cannot work on.

    Raises:
        InputError: unknown name, an option that it does not take, or a model file that is missing, damaged or another.
    """
    perceiver: Perceiver = PERCEIVERS.create(name or DEFAULT, options or {})
    return perceiver


def seen_by(name: str, roads: Collection[str] = ()) -> str:
    """Who saw the frames, and whence their road is known, in words for reports; one that guesses from colours is named
    as weaker.

    Args:
        roads: whence the road of each case is known: "annotated", "map", "network" or "color heuristic".
    """
    words = (
        f"{name} (the weaker test: it guesses the road from its colour)" if about(name, "weaker") else name
    )
    counts = [f"{road} in {n}" for road, n in Counter(roads).most_common()]
    return f"{words}; road {', '.join(counts)} of {len(roads)} cases" if counts else words


def about(name: str, what: str) -> bool:
    """A flag of a perceiver, as :class:`Perceiver` has them; False where it has none, or is not here."""
    try:
        return bool(getattr(PERCEIVERS.get(name), what, False))
    except CfgenError:  # a third party's that is not here
        return False
