"""What the trajectories themselves do about the hazard."""

from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np

from cfgen.metrics.kinematics import Encounter, displacement_errors, encounter
from cfgen.metrics.rates import Rate
from cfgen.report_page.data import ReportData
from cfgen.report_page.section import Section
from cfgen.report_page.table import Table


def motion_section(data: ReportData) -> Section:
    """Plans measured against the hazard's place."""
    rows, figures = [], []
    for planner in data.planners:
        errors = _errors(data, planner)
        for arm in ("original", "hazard"):
            met = encounters(data, planner, arm)
            if met:
                rows.append((planner, arm, *_words(met, errors if arm == "original" else [])))
                figures += [{"planner": planner, "arm": arm, "case": c, **asdict(e)} for c, e in met]
    return Section(
        id="motion",
        title="Motion",
        tables=(_table(rows),) if rows else (),
        figures={"encounters": figures},
    )


def encounters(data: ReportData, planner: str, arm: str) -> list[tuple[str, Encounter]]:
    """The first repeat of every case with a plan, against the hazard's place; in the original arm none stands there."""
    plans = data.plans(planner, arm)
    found = []
    for case in data.cases:
        plan = plans.get((case.case_id, 0))
        if plan is not None:
            found.append((case.case_id, encounter(plan, case.placement)))
    return found


def _errors(data: ReportData, planner: str) -> list[tuple[float, float]]:
    """ADE and FDE of the original arm where the drive recorded what it did."""
    plans = data.plans(planner, "original")
    found = []
    for case in data.cases:
        plan, future = plans.get((case.case_id, 0)), data.scenes[case.scene_id].future
        if plan is not None and future is not None and (errors := displacement_errors(plan, future)):
            found.append(errors)
    return found


def _words(met: list[tuple[str, Encounter]], errors: list[tuple[float, float]]) -> tuple[str, ...]:
    each = [e for _, e in met]

    def share(of: Callable[[Encounter], bool]) -> str:
        return Rate.of(sum(map(of, each)), len(each)).percent()

    return (
        share(lambda e: e.collides),
        share(lambda e: e.stops_short),
        _median([e.min_gap_m for e in each]),
        _median([e.ttc_s for e in each if e.ttc_s is not None]),
        _median([e.lateral_clearance_m for e in each if e.lateral_clearance_m is not None]),
        _median([e.required_decel for e in each]),
        _median([e.planned_decel for e in each]),
        share(lambda e: e.comfortable),
        f"{np.mean([e[0] for e in errors]):.2f}" if errors else "-",
        f"{np.mean([e[1] for e in errors]):.2f}" if errors else "-",
        str(len(each)),
    )


def _median(values: Sequence[float]) -> str:
    return f"{np.median(values):.1f}" if values else "-"


def _table(rows: list[tuple[str, ...]]) -> Table:
    return Table(
        name="motion",
        title="Plans measured against the hazard's place",
        columns=(
            "planner",
            "arm",
            "contact %",
            "stops short %",
            "gap m",
            "TTC s",
            "side clearance m",
            "required m/s²",
            "planned m/s²",
            "comfortable %",
            "ADE m",
            "FDE m",
            "N",
        ),
        rows=tuple(rows),
        words=2,
        note="Boxes of the car and of the hazard over 6 s; medians. The original arm is measured against the place "
        "where the hazard will be, so its contact rate says how many plans have to change. Gap: the smallest. TTC: the "
        "smallest, where it is on course. Planned: the hardest braking. ADE, FDE: to the recorded drive.",
    )
