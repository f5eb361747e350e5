"""One of several folders that become one benchmark."""

from pydantic import Field

from cfgen.core.record import Stored
from cfgen.records.base import Sha256


class Shard(Stored):
    """``shard.json``: which part of a plan is built in this folder; the others are planned here and built elsewhere.

    ``plan``: hash of the pairs that the shards share out; ``done``: every pair of this part is accepted or refused.
    """

    index: int = Field(ge=1)
    count: int = Field(ge=1)
    plan: Sha256
    done: bool = False
