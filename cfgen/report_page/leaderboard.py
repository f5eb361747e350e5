"""The table of the paper's Table 5: strict success with everything that was left out in the same row."""

from cfgen.metrics.success import SuccessRow, success_row
from cfgen.records import DIMENSIONS
from cfgen.report_page.gather import Gathered
from cfgen.report_page.table import Table


def success_rows(data: Gathered) -> list[SuccessRow]:
    """One row per judge, planner and edited arm that was judged, the hazard arm's first."""
    return [
        success_row(planner, judge, arm, verdicts, data.case_ids)
        for judge in data.judges
        for arm in sorted({a for p in data.planners for a in data.arms(p)}, key=lambda a: (a != "hazard", a))
        for planner in data.planners
        if (verdicts := data.verdicts_of(judge, planner, arm))
    ]


def leaderboard(rows: list[SuccessRow]) -> Table:
    """The hazard arm, best overall first."""
    ranked = sorted(
        (row for row in rows if row.arm == "hazard"),
        key=lambda r: (
            r.judge,
            -(r.rates["overall"].value or 0),
            -(r.rates["waypoints"].value or 0),
            r.planner,
        ),
    )
    columns = ["planner", "judge"]
    for name in DIMENSIONS:
        columns += [f"{name} %", "95% interval"]
    columns += ["N", "excluded", "judge failed", "planner failed", "missing"]
    return Table(
        name="leaderboard",
        title="Strict success: share of cases scored 2",
        columns=tuple(columns),
        rows=tuple(_words(row) for row in ranked),
        words=2,
        note="N holds scored cases and planner failures, which count as no success. Excluded: the judge could not "
        "name the change. Judge failed and missing cases have no verdict. Intervals: Wilson.",
    )


def _words(row: SuccessRow) -> tuple[str, ...]:
    rates = [text for name in DIMENSIONS for text in (row.rates[name].percent(), row.rates[name].interval())]
    counts = (row.n, row.excluded, row.judge_failed, row.planner_failed, row.missing)
    return (row.planner, row.judge, *rates, *map(str, counts))
