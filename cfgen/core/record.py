"""Base classes of everything that is stored."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

#: Of every record in a benchmark directory; another one is refused. A scene folder has a version of its own.
SCHEMA_VERSION: Literal[3] = 3


class Record(BaseModel):
    """Immutable, strict about names, no NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Stored(Record):
    """A record that is a file of its own."""

    schema_version: Literal[3] = SCHEMA_VERSION
