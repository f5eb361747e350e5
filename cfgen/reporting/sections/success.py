"""The table of the paper's Table 5: strict success with everything that was left out in the same row."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial

from cfgen.metrics.floor import Floor
from cfgen.metrics.success import SuccessRow, success_row
from cfgen.records import DIMENSIONS, judged_as
from cfgen.reporting.charts import Series, rows_chart
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Plot, Section
from cfgen.reporting.sections.floor import floor_of, rank, signed
from cfgen.reporting.table import Table

#: (judge, planner) -> its response above the floor
Above = Mapping[tuple[str, str], Floor]
_RANKED = (
    "Ranked by points above the floor (overall where it is judged, else waypoints); below them those that have no "
    "such figure, by their shares. "
)


def success_section(data: ReportData) -> Section:
    """Strict success by planner and judge."""
    rows = success_rows(data)
    board, above = ranked_rows(data, rows)
    ranked = [row for row in board if row.planner in data.ranking]
    scripted = [row for row in board if row.planner not in data.ranking]
    samples = {planner: data.sample(planner) for planner in data.planners}
    names = [row.planner if len(data.judges) == 1 else f"{row.planner} ({row.judge})" for row in ranked]
    judged = [d for d in DIMENSIONS if any(row.rates[d].n for row in ranked)]
    series = [Series(d, [row.rates[d] for row in ranked]) for d in judged]
    chart = partial(rows_chart, "Strict success by planner", names, series)
    return Section(
        id="leaderboard",
        title="Leaderboard",
        lead=(f"Intervals are {data.blocks[1]}.",) if ranked else (),
        tables=(
            leaderboard(ranked, samples, above),
            *([_scripted(scripted, samples, above)] if scripted else []),
        ),
        plots=(Plot("success", "Strict success with 95% intervals", chart),) if ranked else (),
        figures={"success": [asdict(row) for row in rows], "select": data.select},
    )


def success_rows(data: ReportData) -> list[SuccessRow]:
    """One row per judge, planner and judged pair, the hazard arm's first."""
    return [
        success_row(planner, judge, arm, verdicts, data.case_ids, data.blocks[0], data.scores(judge))
        for judge in data.judges
        for arm in sorted(
            {judged_as(a) for p in data.planners for a in data.arms(p)}, key=lambda a: (a != "hazard", a)
        )
        for planner in data.planners
        if (verdicts := data.verdicts_of(judge, planner, arm))
    ]


def _above(data: ReportData, row: SuccessRow) -> Floor:
    """What the row's planner has above its floor, of the last score that its judge gives."""
    given = [d for d in DIMENSIONS if row.rates[d].n]
    return floor_of(data, row.planner, given[-1] if given else DIMENSIONS[-1], row.judge)


def ranked_rows(data: ReportData, rows: list[SuccessRow]) -> tuple[list[SuccessRow], Above]:
    """The hazard arm, by what is above the floor; then those that have none, best overall first."""
    hazard = [row for row in rows if row.arm == "hazard"]
    above = {(row.judge, row.planner): _above(data, row) for row in hazard}

    def order(row: SuccessRow) -> tuple[object, ...]:
        floor, shares = above[row.judge, row.planner], [row.rates[d].value or 0 for d in reversed(DIMENSIONS)]
        return (row.judge, *rank(floor), *(-share for share in shares), row.planner)

    return sorted(hazard, key=order), above


def _scripted(rows: list[SuccessRow], samples: Mapping[str, str], above: Above) -> Table:
    """Told the truth: what the scale shows for answers whose scores are known."""
    return replace(
        leaderboard(rows, samples, above),
        name="scripted",
        title="Scripted planners, told what was added where: no competitors",
    )


def leaderboard(
    ranked: list[SuccessRow], samples: Mapping[str, str] | None = None, above: Above | None = None
) -> Table:
    """``samples``: which sample of an answer counts, by planner; None: there is one. ``above``: None shows none."""
    columns = ["planner", "judge", *([] if above is None else ["above floor", "95% interval of that"])]
    for name in DIMENSIONS:
        columns += [f"{name} %", f"{name} 95% interval"]
    columns += ["N", "excluded", "judge failed", "planner failed", "missing", "faults", "sample"]
    return Table(
        name="leaderboard",
        title="Strict success: share of cases scored 2",
        columns=tuple(columns),
        rows=tuple(
            (
                row.planner,
                row.judge,
                *([] if above is None else signed(above[row.judge, row.planner].headline)),
                *_words(row),
                (samples or {}).get(row.planner, "the only one"),
            )
            for row in ranked
        ),
        words=2,
        note=("" if above is None else _RANKED)
        + "N holds scored cases and planner failures, which count as no success. "
        "Excluded: the judge could not "
        "name the change. Judge failed and missing cases have no verdict. Faults: cfgen broke on them. Intervals: "
        "Wilson. Sample: which of several answers to one question counts.",
    )


def _words(row: SuccessRow) -> tuple[str, ...]:
    rates = [
        text
        for name in DIMENSIONS
        for text in (
            (row.rates[name].percent(), row.rates[name].interval())
            if row.rates[name].n or not row.n
            else ("not scored", "-")
        )
    ]
    counts = (row.n, row.excluded, row.judge_failed, row.planner_failed, row.missing, row.faults)
    return (*rates, *map(str, counts))
