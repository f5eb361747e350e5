"""What could not be read, scored or shown: counted and named, and never taken for success."""

from collections import Counter
from collections.abc import Sequence

from cfgen.records import Fault
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section
from cfgen.reporting.table import Table

_NAMED = 12


def left_out(section: str, title: str, fault: Fault) -> Section:
    """In the place of a section that broke."""
    return Section(id=section, title=title, lead=(f"This section was left out: {fault}",))


def faults_section(data: ReportData, own: Sequence[Fault]) -> Section:
    """``own``: what broke while this report was made."""
    groups = {
        "in planners' answers and verdicts": [(f.kind, str(f)) for f in data.faults],
        "in this report": [(f.kind, str(f)) for f in own],
        "records that cannot be read": [("damaged record", words) for words in data.damaged],
    }
    rows = [
        (where, kind, next(words for k, words in found if k == kind), str(count))
        for where, found in groups.items()
        for kind, count in Counter(kind for kind, _ in found).most_common(_NAMED)
    ]
    table = Table(
        name="faults",
        title="Faults, by where they happened and what broke",
        columns=("where", "cause", "for example", "N"),
        rows=tuple(rows),
        words=3,
        note="A fault is neither the planner's nor the judge's: cfgen, or something it called, broke. The answers "
        "and verdicts count in no rate, and in the column 'faults' of the leaderboard.",
    )
    return Section(
        id="faults",
        title="Faults",
        lead=tuple(f"{len(found)} {where}." for where, found in groups.items() if found),
        tables=(table,) if rows else (),
        figures={
            "faults": [f.model_dump(mode="json") for f in data.faults],
            "report_faults": [f.model_dump(mode="json") for f in own],
            "damaged": list(data.damaged),
        },
    )
