"""Planners on real obstacles, held against what inserts of the same class, distance and speed would have said."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from cfgen.benchmark.real_pairs import CLEAR
from cfgen.core.errors import InputError
from cfgen.library.stability import events_of
from cfgen.metrics.breakdown import DISTANCE_M, SPEED_KMH, bin_of
from cfgen.metrics.intervals import Rate
from cfgen.metrics.validity import Validity, validity
from cfgen.records import Dimension
from cfgen.reporting.data import ReportData
from cfgen.reporting.footnotes import describe_judge
from cfgen.reporting.reading import read_report_data
from cfgen.reporting.section import Table, points, with_interval
from cfgen.storage.store import Store

#: what counts as an answer to the obstacle: the drive alone, or a judge's strict success
Event = Dimension | Literal["trajectory"]
#: what has to be alike in a real obstacle and an insert besides distance and speed
Match = Literal["hazard", "cluster"]


@dataclass(frozen=True)
class RealValidity:
    """Agreement by planner, and what it rests on.

    Attributes:
        unprovoked: planner -> (real, inserts): the same event where no obstacle was added: on the pairs' controls and
            reruns, and in the benchmark's null and rerun arms.
    """

    real: ReportData
    inserts: ReportData | None
    event: Event
    match: Match
    planners: dict[str, Validity]
    rates: dict[str, Rate]
    unprovoked: dict[str, tuple[Rate, Rate]]

    def table(self) -> Table:
        """One row a planner; prints as Markdown."""
        rows = []
        for planner, result in self.planners.items():
            without, inserts_without = self.unprovoked[planner]
            rows.append(
                (
                    planner,
                    _rate(self.rates[planner]),
                    _rate(without),
                    _rate(result.real),
                    _rate(result.inserts),
                    _rate(inserts_without),
                    with_interval(result.difference),
                    str(result.unmatched),
                    f"{with_interval(result.paired)}; {result.paired.n}",
                )
            )
        return Table(
            name="validity",
            title="Real obstacles against inserts",
            columns=(
                *("planner", "real, all %", "real, no obstacle %", "real, matched %", "inserts %"),
                *("inserts, no hazard %", "real - inserts", "unmatched", "paired difference"),
            ),
            rows=tuple(rows),
            note=f"{self._basis()} Matched: real obstacles that share {self.match}, distance band and speed band with "
            "inserts, which are weighted alike. No obstacle: the same event on clear frames (control and rerun) and in "
            "the null and rerun arms. Intervals: Wilson's, joined for independent cases (Newcombe). Pairs: an insert "
            "on the same clear scene. In brackets: its 95% interval; cases or pairs.",
        )

    def cells(self) -> Table:
        """One row for each planner and cell that holds both."""
        rows = tuple(
            (planner, *cell, _rate(c.real), _rate(c.inserts), *points(c.difference))
            for planner, result in self.planners.items()
            for cell, c in result.cells.items()
        )
        columns = (
            "planner",
            self.match,
            "distance",
            "speed",
            "real %",
            "inserts %",
            "real - inserts",
            "95% interval",
        )
        return Table("validity-cells", "By cell", columns, rows, words=4, note=self._basis())

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict a planner, shares unrounded."""
        return [
            {
                "planner": planner,
                "event": self.event,
                "match": self.match,
                "all_real": asdict(self.rates[planner]),
                "unprovoked": [asdict(rate) for rate in self.unprovoked[planner]],
                **{k: asdict(getattr(result, k)) for k in ("real", "inserts", "difference", "paired")},
                "unmatched": result.unmatched,
                "cells": [{"cell": list(cell), **asdict(c)} for cell, c in result.cells.items()],
            }
            for planner, result in self.planners.items()
        ]

    def __str__(self) -> str:
        tables = [self.table(), *([self.cells()] if any(v.cells for v in self.planners.values()) else [])]
        return "\n".join(table.markdown() for table in tables)

    def _basis(self) -> str:
        if self.event == "trajectory":
            return "Event: the drive is held back or leaves more room than on the clear frame; no judge."
        sides = [describe_judge(data, data.main_judge) for data in (self.real, self.inserts) if data]
        return f"Event: strict success, {self.event}; " + "; inserts: ".join(sides) + "."


def real_validity(
    real: Store,
    inserts: Store | None,
    planners: list[str],
    event: Event = "trajectory",
    match: Match = "hazard",
) -> RealValidity:
    """Hold what planners did on pairs of real frames against what they did on a benchmark's inserts.

    Args:
        real: see :func:`cfgen.benchmark.real_pairs.pairs_benchmark`. inserts: None reports the real side alone.

    Raises:
        InputError: a planner was not scored on one of them, or no judge gave verdicts on ``event``.
    """
    ours = read_report_data(real, planners)
    theirs = read_report_data(inserts, planners) if inserts else None
    results, rates, unprovoked = {}, {}, {}
    for planner in planners:
        events = events_of(ours, planner, "hazard", event)
        inserted = events_of(theirs, planner, "hazard", event) if theirs else {}
        if not events:
            raise InputError(
                f"{real.root}: no {event} event of '{planner}' there; choose another event, or a judge"
            )
        rates[planner] = Rate.of(sum(events.values()), len(events))
        results[planner] = validity(
            events,
            inserted,
            _cells(ours, match),
            _cells(theirs, match) if theirs else {},
            _same_scene(ours, theirs) if theirs else {},
            ours.blocks[0],
            theirs.blocks[0] if theirs else None,
        )
        unprovoked[planner] = (_unprovoked(ours, planner, event), _unprovoked(theirs, planner, event))
    return RealValidity(ours, theirs, event, match, results, rates, unprovoked)


def _unprovoked(data: ReportData | None, planner: str, event: Event) -> Rate:
    """Share of cases with the event where no obstacle is: in the null arm where a case has one, else in a rerun."""
    if data is None:
        return Rate.of(0, 0)
    events = {**events_of(data, planner, "rerun", event), **events_of(data, planner, "null", event)}
    return Rate.of(sum(events.values()), len(events))


def _cells(data: ReportData, match: Match) -> dict[str, tuple[str, str, str]]:
    return {
        case.case_id: (
            case.hazard.id if match == "hazard" else case.hazard.cluster,
            bin_of(case.placement.distance_m, DISTANCE_M, "m")[0],
            bin_of(3.6 * data.scenes[case.scene_id].speed, SPEED_KMH, "km/h")[0],
        )
        for case in data.cases
    }


def _same_scene(ours: ReportData, theirs: ReportData) -> Mapping[str, list[str]]:
    inserts: dict[str, list[str]] = defaultdict(list)
    for case in theirs.cases:
        inserts[case.scene_id].append(case.case_id)
    clear = {case.case_id: str(ours.scenes[case.scene_id].extra.get(CLEAR, "")) for case in ours.cases}
    return {case_id: inserts[scene] for case_id, scene in clear.items() if scene in inserts}


def _rate(rate: Rate) -> str:
    return "-" if rate.value is None else f"{rate.percent()} ({rate.interval()}; {rate.n})"
