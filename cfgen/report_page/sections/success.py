"""The table of the paper's Table 5: strict success with everything that was left out in the same row."""

from dataclasses import asdict
from functools import partial

from cfgen.metrics.success import SuccessRow, success_row
from cfgen.records import DIMENSIONS
from cfgen.report_page.charts import Series, rows_chart
from cfgen.report_page.data import ReportData
from cfgen.report_page.section import Plot, Section
from cfgen.report_page.table import Table


def success_section(data: ReportData) -> Section:
    """Strict success by planner and judge."""
    rows = success_rows(data)
    ranked = _ranked(rows)
    names = [row.planner if len(data.judges) == 1 else f"{row.planner} ({row.judge})" for row in ranked]
    series = [Series(d, [row.rates[d] for row in ranked]) for d in DIMENSIONS]
    chart = partial(rows_chart, "Strict success by planner", names, series)
    return Section(
        id="leaderboard",
        title="Leaderboard",
        tables=(leaderboard(ranked),),
        plots=(Plot("success", "Strict success with 95% intervals", chart),) if ranked else (),
        figures={"success": [asdict(row) for row in rows]},
    )


def success_rows(data: ReportData) -> list[SuccessRow]:
    """One row per judge, planner and edited arm that was judged, the hazard arm's first."""
    return [
        success_row(planner, judge, arm, verdicts, data.case_ids)
        for judge in data.judges
        for arm in sorted({a for p in data.planners for a in data.arms(p)}, key=lambda a: (a != "hazard", a))
        for planner in data.planners
        if (verdicts := data.verdicts_of(judge, planner, arm))
    ]


def _ranked(rows: list[SuccessRow]) -> list[SuccessRow]:
    """The hazard arm, best overall first."""
    return sorted(
        (row for row in rows if row.arm == "hazard"),
        key=lambda r: (r.judge, *(-(r.rates[d].value or 0) for d in reversed(DIMENSIONS)), r.planner),
    )


def leaderboard(ranked: list[SuccessRow]) -> Table:
    columns = ["planner", "judge"]
    for name in DIMENSIONS:
        columns += [f"{name} %", f"{name} 95% interval"]
    columns += ["N", "excluded", "judge failed", "planner failed", "missing", "faults"]
    return Table(
        name="leaderboard",
        title="Strict success: share of cases scored 2",
        columns=tuple(columns),
        rows=tuple(_words(row) for row in ranked),
        words=2,
        note="N holds scored cases and planner failures, which count as no success. Excluded: the judge could not "
        "name the change. Judge failed and missing cases have no verdict. Faults: cfgen broke on them. Intervals: "
        "Wilson.",
    )


def _words(row: SuccessRow) -> tuple[str, ...]:
    rates = [text for name in DIMENSIONS for text in (row.rates[name].percent(), row.rates[name].interval())]
    counts = (row.n, row.excluded, row.judge_failed, row.planner_failed, row.missing, row.faults)
    return (row.planner, row.judge, *rates, *map(str, counts))
