"""A part of the report: what it says, shows and keeps as figures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cfgen.records import Fault
from cfgen.reporting.table import Table
from cfgen.reporting.vector import Drawing

#: Widths at which plots are drawn, CSS pixels: for a screen or a paper, and for a phone.
WIDE, NARROW = 560.0, 350.0


@dataclass(frozen=True)
class Plot:
    """``name`` is its file name; ``draw`` makes it in a given width.

    Plots that share a ``group`` are alternatives, chosen by ``choice``.
    """

    name: str
    title: str
    draw: Callable[[float], Drawing]
    group: str = ""
    choice: str = ""
    #: whose verdicts of what it shows: below it on the page, and in its files
    note: str = ""


@dataclass(frozen=True)
class Section:
    """``lead`` are sentences; ``figures`` JSON values, unrounded; a long list of them may be a DiskList."""

    id: str
    title: str
    lead: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()
    #: tables too long for the page: written as CSV only
    files: tuple[Table, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)
    #: set large, above the lead: value, its unit, and a sentence
    headline: tuple[tuple[str, str, str], ...] = ()
    #: what broke on the way and was left out
    faults: tuple[Fault, ...] = ()

    @property
    def empty(self) -> bool:
        return not (self.headline or self.lead or any(t.rows for t in self.tables) or self.plots)
