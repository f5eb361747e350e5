"""Who rates what: a campaign, and what each rater did in it."""

from typing import Literal

from pydantic import Field

from cfgen.core.record import Record, Stored
from cfgen.records.base import Count, Identifier, JudgedPair, Score

#: The rater under whose name a manager's last word on a disputed answer is kept; it counts before any majority.
ADJUDICATED = "adjudicated"
ItemKind = Literal["answer", "gold", "training"]
ItemScores = dict[Literal["reasoning", "waypoints", "overall"], Score | None]


class CampaignItem(Record):
    """One thing to rate: a planner's answer, or one whose right scores are known, mixed in or for training."""

    id: Identifier
    kind: ItemKind
    case_id: Identifier
    planner: Identifier = "known"
    arm: JudgedPair = "hazard"
    repeat: Count = 0
    #: of a known answer: which, and its right scores
    known: str = ""
    #: of a known answer: the planner whose answer to the original frame it is made of; empty: all is scripted
    words_of: Identifier | Literal[""] = ""
    expected: ItemScores = Field(default_factory=dict)
    #: seats that rate it; empty: all
    seats: tuple[Identifier, ...] = ()


class Campaign(Stored):
    """What is to be rated, by how many."""

    name: Identifier
    seed: int
    #: one for each rater; a person takes a seat at the first visit, or has that of the same name
    seats: tuple[Identifier, ...] = Field(min_length=1)
    overlap: float = Field(ge=0, le=1)
    arms: tuple[JudgedPair, ...]
    repeats: int = Field(default=1, gt=0)
    items: tuple[CampaignItem, ...]


class CampaignEntry(Record):
    """One saving of scores; of several for one item the last counts."""

    item: Identifier
    at: str
    scores: ItemScores
    note: str = ""
    seconds: float | None = None
    paused: float | None = None
    #: kept though the rater was told that the rubric excludes the three together
    sure: bool = False


class CampaignLog(Stored):
    """``campaigns/<campaign>/<rater>.json``: everything that a rater saved, in order."""

    campaign: Identifier
    rater: Identifier
    seat: Identifier
    entries: tuple[CampaignEntry, ...] = ()
