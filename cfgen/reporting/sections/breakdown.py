"""Where success comes from: by hazard, place, distance, and so on."""

from dataclasses import asdict
from functools import partial

from cfgen.metrics.breakdown import Group, axes_of, breakdown, partial_reasons
from cfgen.metrics.intervals import Events, Rate
from cfgen.records import DIMENSIONS, Dimension
from cfgen.reporting.data import ReportData, judged
from cfgen.reporting.drawing import Series, SvgCanvas, curve_chart, rows_chart
from cfgen.reporting.section import Plot, Section, Table

#: (planner, score) -> its groups along one axis
Groups = dict[tuple[str, str], list[Group]]
_MEASURED = ("distance", "required deceleration", "speed")
#: A group needs this many cases to be drawn; the tables hold all.
_LEAST_CASES, _MOST_ROWS = 3, 24


def groups_section(data: ReportData) -> Section:
    """Success by hazard, place, distance and so on."""
    labels_of = axes_of(data.cases, {scene_id: scene.speed for scene_id, scene in data.scenes.items()})
    events = _shared(data)
    # a judge that leaves a score out gets no empty plot of it
    scores = [d for d in DIMENSIONS if any(events[p, d] for p in data.planners)]
    plots: list[Plot] = []
    tables: list[Table] = []
    figures = {}
    for axis in labels_of:
        groups_of: Groups = {
            (p, d): breakdown(labels_of[axis], events[p, d]) for p in data.planners for d in DIMENSIONS
        }
        labels = _labels(groups_of)
        if len(labels) < 2:
            continue
        name = axis.replace(" ", "-")
        if axis in _MEASURED or len(_large(labels, groups_of)) > 1:
            for d in scores:
                draw = partial(_chart, axis, labels, groups_of, d)
                plots.append(Plot(f"by-{name}-{d}", f"By {axis}", draw, f"by-{name}", d))
        tables += _table(axis, name, labels, groups_of)
        figures[axis] = [
            {"planner": p, "score": d, "groups": [{"label": g.label, **asdict(g.rate)} for g in groups]}
            for (p, d), groups in groups_of.items()
        ]
    return Section(
        id="breakdown",
        title="Breakdown",
        plots=tuple(plots),
        tables=(*tables, *_partial_table(data)),
        figures={"breakdown": figures},
    )


def _shared(data: ReportData) -> dict[tuple[str, Dimension], Events]:
    """(planner, score) -> its events, over the cases that every planner with events has one of."""
    events_of = {(p, d): judged(data, p, "hazard", d) for p in data.planners for d in DIMENSIONS}
    cases = {
        d: [set(events) for (_, of), events in events_of.items() if of == d and events] for d in DIMENSIONS
    }
    shared = {d: set.intersection(*sets) if sets else set() for d, sets in cases.items()}
    return {
        (p, d): {case: hit for case, hit in events.items() if case in shared[d]}
        for (p, d), events in events_of.items()
    }


def _labels(groups_of: Groups) -> list[str]:
    """All labels in the order of the groups, largest first where they have no order of their own."""
    groups = [g for axis_groups in groups_of.values() for g in axis_groups]
    order: dict[str, tuple[float, int]] = {}
    for group in groups:
        n = max(group.rate.n, -order.get(group.label, (0.0, 0))[1])
        order[group.label] = (group.order, -n)
    return sorted(order, key=lambda label: (*order[label], label))


def _large(labels: list[str], groups_of: Groups) -> list[str]:
    large = {g.label for axis_groups in groups_of.values() for g in axis_groups if g.rate.n >= _LEAST_CASES}
    return [label for label in labels if label in large][:_MOST_ROWS]


def _rates(groups_of: Groups, planner: str, score: str, labels: list[str]) -> list[Rate | None]:
    by_label = {g.label: g.rate for g in groups_of[planner, score]}
    return [by_label.get(label) for label in labels]


def _chart(axis: str, labels: list[str], groups_of: Groups, score: str, width: float) -> SvgCanvas:
    visible = labels if axis in _MEASURED else _large(labels, groups_of)
    planners = list(dict.fromkeys(p for p, _ in groups_of))
    series = [Series(p, _rates(groups_of, p, score, visible)) for p in planners]
    title = f"Strict success by {axis}, {score}"
    if axis in _MEASURED:
        return curve_chart(title, axis, visible, series, width)
    return rows_chart(title, visible, series, width)


def _table(axis: str, name: str, labels: list[str], groups_of: Groups) -> tuple[Table, ...]:
    rows = []
    for planner in dict.fromkeys(p for p, _ in groups_of):
        rates = {d: _rates(groups_of, planner, d, labels) for d in DIMENSIONS}
        for i, label in enumerate(labels):
            overall = next((r for d in reversed(DIMENSIONS) if (r := rates[d][i])), None)
            if overall is not None:
                shares = {f"{d} %": r.percent() if (r := rates[d][i]) else "-" for d in DIMENSIONS}
                interval = {"95% interval (the last of these)": overall.interval(), "N": str(overall.n)}
                rows.append({axis: label, "planner": planner, **shares, **interval})
    note = "" if axis in _MEASURED else _left_out(labels, groups_of)
    return Table.of(f"by-{name}", f"Strict success by {axis}", rows, 2, note)


def _left_out(labels: list[str], groups_of: Groups) -> str:
    """How many groups the plot of an axis leaves out."""
    hidden = len(labels) - len(_large(labels, groups_of))
    why = f"under {_LEAST_CASES} cases, or beyond the first {_MOST_ROWS}"
    return f"In this table and in no plot ({why}): {hidden} of {len(labels)} groups." if hidden else ""


def _partial_table(data: ReportData) -> tuple[Table, ...]:
    rows = [
        {"planner": planner, "reason": reason, "cases": str(count)}
        for planner in data.planners
        for reason, count in partial_reasons(data.verdicts_of(data.main_judge, planner, "hazard"))[:20]
    ]
    return Table.of("partial", "Cases with a score of 1, by reason", rows, 2)
