"""Whether the reasoning carries the trajectory: swaps of a trace, and what selection by verification costs."""

from functools import partial
from statistics import mean, median

from cfgen.metrics.rates import Rate
from cfgen.metrics.success import success_row
from cfgen.records import DIMENSIONS, Rollout
from cfgen.reporting.charts import points_chart
from cfgen.reporting.data import ReportData
from cfgen.reporting.section import Plot, Section
from cfgen.reporting.sections.selection import selection_table
from cfgen.reporting.table import Table

_SWAPS = ("longitudinal", "lateral", "justification")


def swaps_section(data: ReportData) -> Section:
    """Share of replaced stages of a trace that the trajectory followed (Pinocchio, Eq. 3)."""
    rows, figures = [], []
    for planner in data.planners:
        for swap in _SWAPS:
            tried = [i for i in data.interventions[planner] if i.swap == swap]
            answered = [i.followed for i in tried if i.followed is not None]
            if tried:
                rate = Rate.of(sum(answered), len(answered))
                failed = len(tried) - len(answered)
                rows.append((planner, swap, rate.percent(), rate.interval(), str(rate.n), str(failed)))
                figures.append(
                    {"planner": planner, "swap": swap, "followed": rate.hits, "n": rate.n, "failed": failed}
                )
    table = Table(
        name="interventions",
        title="Share of swaps that the trajectory follows",
        columns=("planner", "swapped", "followed %", "95% interval", "N", "no plan"),
        rows=tuple(rows),
        words=2,
        note="One stage of the planner's own trace is replaced and it plans again: reasoning that carries the action "
        "moves the trajectory.",
    )
    return Section(
        id="swaps",
        title="Is the reasoning load-bearing?",
        tables=(table,) if rows else (),
        figures={"interventions": figures},
    )


def budget_section(data: ReportData) -> Section:
    """Success against calls and seconds, where a planner reports its calls (verified selection)."""
    rows, points = [], []
    for planner in data.planners:
        asked = [(r.latency_s, _calls(r)) for r in data.rollouts[planner].of_arm("hazard")]
        calls = [c for _, c in asked if c is not None]
        if asked:
            judge = data.main_judge
            verdicts = data.verdicts_of(judge, planner, "hazard")
            row = success_row(planner, judge, "hazard", verdicts, scores=data.scores(judge))
            count = f"{mean(calls):.1f}" if calls else "1"
            shares = (row.rates[d].percent() for d in DIMENSIONS)
            rows.append(
                (planner, f"{median(seconds for seconds, _ in asked):.3g}", count, *shares, str(row.n))
            )
            points.append((planner, mean(calls) if calls else 1.0, row))
    plots = [
        Plot(
            f"budget-{d}",
            "Success against budget",
            partial(
                points_chart,
                f"Success against budget, {d}",
                "calls an answer (mean)",
                [(planner, cost, row.rates[d]) for planner, cost, row in points],
            ),
            "budget",
            d,
        )
        for d in DIMENSIONS
        if any(row.rates[d].n for *_, row in points)
    ]
    table = Table(
        name="budget",
        title="What an answer costs",
        columns=("planner", "seconds (median)", "calls (mean)", *(f"{d} %" for d in DIMENSIONS), "N"),
        rows=tuple(rows),
        note="Calls of the base planner and of its verifier together; 1 where a planner reports none.",
    )
    selects = len({cost for _, cost, _ in points}) > 1
    return Section(
        id="budget",
        title="Budget",
        tables=tuple(t for t in (table, selection_table(data)) if t.rows),
        plots=tuple(plots) if selects else (),
    )


def _calls(rollout: Rollout) -> float | None:
    found = rollout.report.get("verified")
    if not isinstance(found, dict):
        return None
    return float(found.get("plan_calls", 0)) + float(found.get("verifier_calls", 0))
