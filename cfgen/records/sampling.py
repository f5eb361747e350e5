"""Which scenes a benchmark was drawn from, and how."""

from pydantic import Field

from cfgen.core.record import Record
from cfgen.records.base import Identifier


class Stratum(Record):
    """Scenes that are drawn from together: those that meet ``condition`` and none of the strata before."""

    condition: str
    #: scenes that meet it
    scenes: int = Field(ge=0)
    #: accepted cases to end with
    cases: int = Field(ge=0)
    #: how much more often a scene of it is drawn than one of weight 1; None: a fixed number of cases
    weight: float | None = None
    #: scenes drawn from it, by chance alone, and those of them that load: the build tries these
    drawn: int = Field(default=0, ge=0)
    usable: tuple[Identifier, ...] = ()


class Sampling(Record):
    """The frame: how many scenes there were, how many matched, and the strata they fall into."""

    where: str = ""
    #: folders with a scene.json, and those of them that cannot be read
    found: int = Field(ge=0)
    unreadable: int = Field(default=0, ge=0)
    matched: int = Field(ge=0)
    #: where a condition asks for what frames show: the perceiver that looked, and a hash of its identity
    seen_by: str = ""
    strata: tuple[Stratum, ...]


class StratumOutcome(Record):
    """What came of a stratum: scenes tried, those with an accepted case, and cases."""

    condition: str
    scenes: int
    drawn: int
    usable: int
    tried: int
    with_case: int
    cases: int
    wanted: int
    #: that a scene of it was tried, and that one that was tried gave no case; None where none was
    p_selected: float | None = None
    p_refused: float | None = None
