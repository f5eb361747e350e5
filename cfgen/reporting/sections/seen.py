"""Is it possible to see that? A table of claims that geometry refutes, by planner and topic."""

from dataclasses import asdict
from typing import Any

from cfgen.core.disk_backed import DiskList
from cfgen.judge.seen.answers import SeenClaims, answers_of
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Section
from cfgen.reporting.table import Table

_NOTE = (
    "Plain statements about the present, read from the words and held against the cameras' fields, the placed hazard "
    "and the recorded motion, with room for estimates by eye. Unknown: nothing is known of that thing."
)


def seen_section(data: ReportData) -> Section:
    """What planners claim to see and geometry refutes; every refuted claim is in a file of its own."""
    rows: list[tuple[str, ...]] = []
    each: list[tuple[str, ...]] = []
    figures: list[dict[str, Any]] = []
    for planner in data.planners:
        run = data.runs.get(planner)
        answers = (r for r in data.rollouts[planner] if r.arm in ("original", "hazard") and r.text)
        found = SeenClaims(DiskList(data.disk, answers_of(answers, data.by_id, data.scenes, run)))
        counts = found.counts()
        for topic, (refuted, possible, unknown) in counts.items():
            rows.append((planner, topic, *map(str, (refuted, possible, unknown))))
            figures.append(
                {
                    "planner": planner,
                    "topic": topic,
                    "refuted": refuted,
                    "possible": possible,
                    "unknown": unknown,
                }
            )
        each += [
            (a.planner, a.arm, a.case_id, str(a.repeat), one.claim.topic, one.claim.words, one.why)
            for a in found
            for one in a.refuted
        ]
        if rows and counts:
            figures.append({"planner": planner, "refuted_share": asdict(found.rate())})
    return Section(
        id="seen",
        title="Is it possible to see that?",
        tables=(Table("seen", "Claims held against geometry", _COLUMNS, tuple(rows), words=2, note=_NOTE),)
        if rows
        else (),
        files=(Table("seen-refuted", "Refuted claims", _EACH, tuple(each), words=7),) if each else (),
        figures={"seen": figures},
    )


_COLUMNS = ("planner", "about", "refuted", "possible", "unknown")
_EACH = ("planner", "arm", "case", "repeat", "about", "words", "what refutes it")
